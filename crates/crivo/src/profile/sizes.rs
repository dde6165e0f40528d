//! Divides a column's memory among its parts.

use crate::quantiles::{Accuracy, NumberQuantiles};

use super::detail::DetailSizes;
use super::{DistinctGrowth, NearDuplicateShare, ProfileConfig};

/// The sizes of all parts of one column: its profile, the growth of different values, and the texts
/// for near-duplicates. The command line, Python and Spark choose the same sizes for a column, so
/// their answers agree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnSizes {
    /// The sizes of the [`ColumnProfile`](super::ColumnProfile).
    pub profile: ProfileConfig,
    /// The number of smallest hashes in the [`DistinctGrowth`].
    pub growth: u32,
    /// The number of texts in the [`NearDuplicateShare`], or `None` if there is not enough memory
    /// for one.
    pub texts: Option<u64>,
}

/// The useful numbers of texts. With fewer texts the interval of near-duplicates is too wide to be
/// useful. More texts take too long to compare.
const TEXTS: std::ops::RangeInclusive<usize> = 128..=1024;
/// The number of values in the sample, which are only shown.
const SAMPLE: u32 = 20;
/// The memory of the structs themselves, with a name and the lists around them.
const OVERHEAD: usize = 1 << 10;

impl ColumnSizes {
    /// The least memory that a column needs.
    pub const LEAST_MEMORY: usize = ProfileConfig::LEAST_MEMORY + (8 << 10);
    /// The most memory that a column can use.
    pub const MOST_MEMORY: usize = 1280 << 10;

    /// Returns the largest parts that together take at most `bytes`. The number is clamped to the
    /// range from [`LEAST_MEMORY`](Self::LEAST_MEMORY) to [`MOST_MEMORY`](Self::MOST_MEMORY).
    ///
    /// ```
    /// use crivo::profile::ColumnSizes;
    /// let sizes = ColumnSizes::for_memory(400 << 10);
    /// assert!(sizes.most_memory() <= 400 << 10 && sizes.texts.is_some());
    /// assert_eq!(ColumnSizes::for_memory(32 << 10).texts, None);
    /// ```
    pub fn for_memory(bytes: usize) -> Self {
        let bytes = bytes.clamp(Self::LEAST_MEMORY, Self::MOST_MEMORY);
        let texts = (bytes / 3 / NearDuplicateShare::BYTES_EACH).min(*TEXTS.end());
        let texts = Some(texts as u64).filter(|_| TEXTS.contains(&texts));
        let growth = (bytes / 16 / DistinctGrowth::BYTES_EACH).clamp(16, 1024) as u32;
        let left = bytes.saturating_sub(memory_beside(growth, texts)).max(ProfileConfig::LEAST_MEMORY);
        let mut profile = ProfileConfig::for_memory(left).unwrap_or_default();
        profile.sample = profile.sample.min(SAMPLE);
        profile.bins = profile.bins.min(2047);
        profile.counters = 1;
        let counter = ProfileConfig { counters: 2, ..profile }.most_memory() - profile.most_memory();
        profile.counters = (1 + left.saturating_sub(profile.most_memory()) / counter).min(1024) as u32;
        Self { profile, growth, texts }
    }

    /// Returns the most memory that a column of these sizes takes, whatever its values are.
    pub fn most_memory(&self) -> usize {
        self.profile.most_memory() + memory_beside(self.growth, self.texts)
    }
}

/// The sizes of a column of a [`TableProfile`](super::TableProfile): its parts, the sketch of its
/// ranks, and its detail.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TableColumnSizes {
    /// The sizes of all parts except the ranks and the detail.
    pub column: ColumnSizes,
    /// The size of the [`NumberQuantiles`].
    pub ranks: u32,
    /// The sizes of the detail, or `None` if it is not kept.
    pub detail: Option<DetailSizes>,
}

impl TableColumnSizes {
    /// The least memory that a column needs.
    pub const LEAST_MEMORY: usize = ColumnSizes::LEAST_MEMORY + (18 << 10);
    /// The memory that the columns of a table share by default.
    pub const TABLE_MEMORY: usize = 24 << 20;

    /// Returns the largest parts that together take at most `bytes`. Less than
    /// [`LEAST_MEMORY`](Self::LEAST_MEMORY) counts as that.
    ///
    /// ```
    /// use crivo::profile::TableColumnSizes;
    /// let sizes = TableColumnSizes::for_memory(200 << 10);
    /// assert!(sizes.most_memory() <= 200 << 10 && sizes.ranks == 512);
    /// ```
    pub fn for_memory(bytes: usize) -> Self {
        // At most a sixth of the memory, unless the smallest size takes more.
        let ranks =
            [512, 256, 128].into_iter().find(|&size| memory_of_ranks(size) <= bytes / 6).unwrap_or(64);
        // An eighth of the memory, but at least what the smallest detail takes.
        let detail = DetailSizes::for_memory((bytes / 8).max(12 << 10));
        let beside = memory_of_ranks(ranks) + detail.most_memory();
        let column = ColumnSizes::for_memory(bytes.saturating_sub(beside));
        Self { column, ranks, detail: Some(detail) }
    }

    /// Returns the sizes of each of `columns` columns that share `bytes` bytes. One eighth is
    /// reserved for columns that appear later, if that leaves enough.
    ///
    /// ```
    /// use crivo::profile::TableColumnSizes;
    /// let sizes = TableColumnSizes::for_table(TableColumnSizes::TABLE_MEMORY, 100);
    /// assert!(100 * sizes.most_memory() <= TableColumnSizes::TABLE_MEMORY);
    /// ```
    pub fn for_table(bytes: usize, columns: usize) -> Self {
        let part = bytes / columns.max(1);
        Self::for_memory(if part >= 2 * Self::LEAST_MEMORY { part - part / 8 } else { part })
    }

    /// Returns the sizes of a column that is only compared with others: the given number of
    /// smallest hashes, and the least sizes for most other parts. The number of hashes is clamped
    /// to the range of [`DistinctGrowth`].
    ///
    /// ```
    /// use crivo::profile::TableColumnSizes;
    /// let sizes = TableColumnSizes::for_joins(1024);
    /// assert!(sizes.column.growth == 1024 && sizes.most_memory() <= 100 << 10);
    /// ```
    pub fn for_joins(hashes: u32) -> Self {
        let Self { mut column, ranks, .. } = Self::for_memory(Self::LEAST_MEMORY);
        let (least, most) = DistinctGrowth::SIZES.into_inner();
        column.growth = hashes.clamp(least, most);
        // Frequent values and samples are not needed from such a column. The number of different
        // values tells whether it could be a key.
        column.profile.counters = column.profile.counters.min(16);
        column.profile.sample = 1;
        column.profile.precision = column.profile.precision.max(10);
        Self { column, ranks, detail: None }
    }

    /// Returns the most memory that a column of these sizes takes, whatever its values are.
    pub fn most_memory(&self) -> usize {
        let detail = self.detail.map_or(0, DetailSizes::most_memory);
        self.column.most_memory() + memory_of_ranks(self.ranks) + detail
    }
}

/// Returns the most memory of the ranks: numbers of 8 bytes, in lists that may be half full, and
/// the memory around them.
fn memory_of_ranks(size: u32) -> usize {
    2048 + 16 * NumberQuantiles::most_retained(size, Accuracy::Uniform, u64::MAX) as usize
}

/// Returns the most memory that a column takes beside its profile.
fn memory_beside(growth: u32, texts: Option<u64>) -> usize {
    texts.unwrap_or(0) as usize * NearDuplicateShare::BYTES_EACH
        + growth as usize * DistinctGrowth::BYTES_EACH
        + DistinctGrowth::BYTES
        + OVERHEAD
}
