//! How a column's memory is divided among what is kept of it.

use crate::quantiles::{Accuracy, NumberQuantiles};

use super::detail::DetailSizes;
use super::{DistinctGrowth, NearDuplicateShare, ProfileConfig};

/// The sizes of all that is kept of one column: its profile, the growth of different values, and
/// the texts that near-duplicates are looked for in. The command line, Python and Spark size a
/// column alike, so their answers agree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnSizes {
    /// Of the [`ColumnProfile`](super::ColumnProfile).
    pub profile: ProfileConfig,
    /// How many smallest hashes the [`DistinctGrowth`] has.
    pub growth: u32,
    /// How many texts the [`NearDuplicateShare`] has; none if there is no room for enough.
    pub texts: Option<u64>,
}

/// With fewer texts the share of near-duplicates would be too wide to be of use; more take too long
/// to compare.
const TEXTS: std::ops::RangeInclusive<usize> = 128..=1024;
/// How many values are drawn for show.
const SAMPLE: u32 = 20;
/// The structs themselves, with a name and lists around them.
const OVERHEAD: usize = 1 << 10;

impl ColumnSizes {
    /// The least memory that a column can be asked to stay within.
    pub const LEAST_MEMORY: usize = ProfileConfig::LEAST_MEMORY + (8 << 10);
    /// More than this a column has no use for.
    pub const MOST_MEMORY: usize = 1280 << 10;

    /// Returns the largest parts that together take at most `bytes`. Less than
    /// [`LEAST_MEMORY`](Self::LEAST_MEMORY) counts as that, and more than
    /// [`MOST_MEMORY`](Self::MOST_MEMORY) as that.
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

    /// The most memory that a column of these sizes takes, whatever its values are.
    pub fn most_memory(&self) -> usize {
        self.profile.most_memory() + memory_beside(self.growth, self.texts)
    }
}

/// The sizes of a column of a [`TableProfile`](super::TableProfile): those of its parts, of the
/// sketch of its ranks, and of its detail.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TableColumnSizes {
    /// Of all but the ranks and the detail.
    pub column: ColumnSizes,
    /// The size of the [`NumberQuantiles`].
    pub ranks: u32,
    /// The sizes of the detail; none if it is not kept.
    pub detail: Option<DetailSizes>,
}

impl TableColumnSizes {
    /// The least memory that a column can be asked to stay within.
    pub const LEAST_MEMORY: usize = ColumnSizes::LEAST_MEMORY + (18 << 10);
    /// What the columns of a table share unless told.
    pub const TABLE_MEMORY: usize = 24 << 20;

    /// The largest parts that together take at most `bytes` bytes; less than
    /// [`LEAST_MEMORY`](Self::LEAST_MEMORY) counts as that.
    ///
    /// ```
    /// use crivo::profile::TableColumnSizes;
    /// let sizes = TableColumnSizes::for_memory(200 << 10);
    /// assert!(sizes.most_memory() <= 200 << 10 && sizes.ranks == 512);
    /// ```
    pub fn for_memory(bytes: usize) -> Self {
        // A sixth of the memory at most.
        let ranks =
            [512, 256, 128].into_iter().find(|&size| memory_of_ranks(size) <= bytes / 6).unwrap_or(64);
        // An eighth, and at least what the smallest takes.
        let detail = DetailSizes::for_memory((bytes / 8).max(12 << 10));
        let beside = memory_of_ranks(ranks) + detail.most_memory();
        let column = ColumnSizes::for_memory(bytes.saturating_sub(beside));
        Self { column, ranks, detail: Some(detail) }
    }

    /// The sizes of each of `columns` columns that share `bytes` bytes. One eighth is left for
    /// columns that turn up later, if that leaves enough.
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

    /// The sizes of a column that is only compared with others: the smallest hashes that are asked
    /// for, and as little of the rest as there can be. The number of hashes is limited to those
    /// that [`DistinctGrowth`] can have.
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
        // What is frequent or drawn is not asked of such a column; different values say whether it
        // could be a key.
        column.profile.counters = column.profile.counters.min(16);
        column.profile.sample = 1;
        column.profile.precision = column.profile.precision.max(10);
        Self { column, ranks, detail: None }
    }

    /// The most memory that a column of these sizes takes, whatever its values are.
    pub fn most_memory(&self) -> usize {
        let detail = self.detail.map_or(0, DetailSizes::most_memory);
        self.column.most_memory() + memory_of_ranks(self.ranks) + detail
    }
}

/// Numbers of 8 bytes, in lists that may be half full, with what lies around them.
fn memory_of_ranks(size: u32) -> usize {
    2048 + 16 * NumberQuantiles::most_retained(size, Accuracy::Uniform, u64::MAX) as usize
}

/// The most that a column takes beside its profile.
fn memory_beside(growth: u32, texts: Option<u64>) -> usize {
    texts.unwrap_or(0) as usize * NearDuplicateShare::BYTES_EACH
        + growth as usize * DistinctGrowth::BYTES_EACH
        + DistinctGrowth::BYTES
        + OVERHEAD
}
