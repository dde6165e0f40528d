//! All that is kept of one column of a table.
//!
//! The command line, Python and Spark collect a column with this type, so they give the same
//! answers. Each thread or partition has a part of its own, and parts merge.

use super::column_profile::ValueSink;
use super::{ColumnProfile, ColumnSizes, DistinctGrowth, JoinColumn, NearDuplicateShare};
use crate::error::Result;
use crate::estimate::Estimate;
use crate::keys::{KeyBatch, KeyScheme};
use crate::sketch::Merge as _;

/// A column's profile, the growth of its different values, and the share of its near-duplicates.
///
/// ```
/// use crivo::keys::{KeyBuffer, KeyScheme, Span};
/// use crivo::profile::{ColumnSizes, ProfiledColumn};
///
/// let scheme = KeyScheme::bytes();
/// let mut city = ProfiledColumn::new(ColumnSizes::for_memory(400 << 10), scheme)?;
/// let spans = [Span::new(0..5)?, Span::new(5..11)?];
/// city.insert_batch(&KeyBuffer::new(scheme).hash_spans_of(&spans, b"PortoLisboa")?, |at| at as u64 + 1)?;
/// assert_eq!((city.distinct().value(), city.could_be_key()), (2.0, true));
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ProfiledColumn {
    /// What is in the column.
    pub profile: ColumnProfile,
    /// The first rows of some of its different values.
    pub growth: DistinctGrowth,
    /// A sample of its documents; none if there was no memory for enough of them.
    pub near_duplicates: Option<NearDuplicateShare>,
}

impl ProfiledColumn {
    /// An empty column, whose values are hashed under the scheme. The sample of values draws from
    /// the scheme's seed: parts that will be merged are told apart by [`reseed`](Self::reseed).
    ///
    /// # Errors
    /// If a part cannot have its size, or the scheme's keys are not bytes.
    pub fn new(sizes: ColumnSizes, scheme: KeyScheme) -> Result<Self> {
        let documents = |texts| NearDuplicateShare::with_scheme(texts, scheme);
        Ok(Self {
            profile: ColumnProfile::with_scheme(sizes.profile, scheme, scheme.seed())?,
            growth: DistinctGrowth::with_scheme(sizes.growth, scheme)?,
            near_duplicates: sizes.texts.map(documents).transpose()?,
        })
    }

    /// Derives a new random seed for the sample of values; see
    /// [`Merge::reseed`](crate::sketch::Merge::reseed).
    pub fn reseed(&mut self, part: u64) {
        self.profile.reseed(part);
    }

    /// Takes the values of a batch; `row` gives the row of each by its index in the batch.
    ///
    /// # Errors
    /// As for [`ColumnProfile::insert_batch`].
    pub fn insert_batch(&mut self, batch: &KeyBatch<'_>, row: impl Fn(usize) -> u64) -> Result<()> {
        self.insert_batch_with(batch, row, &mut ())
    }

    /// The same, and hands each value and each finite number on to `sink`.
    pub(super) fn insert_batch_with(
        &mut self,
        batch: &KeyBatch<'_>,
        row: impl Fn(usize) -> u64,
        sink: &mut impl ValueSink,
    ) -> Result<()> {
        let longest = self.profile.insert_batch_with(batch, sink)?;
        self.growth.insert_batch(batch, row)?;
        match &mut self.near_duplicates {
            Some(documents) if longest >= NearDuplicateShare::SHORTEST => documents.insert_batch(batch),
            _ => Ok(()),
        }
    }

    /// Returns true if all rows may have values that are all different.
    pub fn could_be_key(&self) -> bool {
        self.profile.could_be_key() && !self.growth.is_repeated()
    }

    /// The number of different values. The interval of a column that could be a key reaches the
    /// number of its rows.
    pub fn distinct(&self) -> Estimate {
        let distinct = self.profile.distinct();
        if !self.could_be_key() {
            return distinct;
        }
        let upper = distinct.upper().max(self.profile.values() as f64);
        Estimate::probable(distinct.value(), distinct.lower(), upper, distinct.confidence())
    }

    /// The share of documents with a near-duplicate; none if there are no documents or no memory
    /// for them.
    pub fn near_duplicate_share(&self) -> Option<Estimate> {
        self.near_duplicates.as_ref()?.share()
    }

    /// What has to be known of the column to compare it with others.
    ///
    /// # Errors
    /// As for [`JoinColumn::new`].
    pub fn join_column(&self) -> Result<JoinColumn> {
        JoinColumn::new(&self.profile, &self.growth)
    }

    /// Makes this the column of two parts of a table that follow each other; each numbered its rows
    /// from 1.
    ///
    /// # Errors
    /// As for [`merge`](Self::merge).
    pub fn append(&mut self, mut later: Self) -> Result<()> {
        let before = self.profile.rows();
        later.growth.renumber(|row| row.saturating_add(before));
        self.merge(&later)
    }

    /// Makes this the column of both parts of a table, whose rows are numbered through.
    ///
    /// # Errors
    /// If schemes or sizes differ; the column is unchanged then.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        // All parts have the scheme of the profile, so the first refuses for all; sizes are
        // compared before.
        if let (Some(mine), Some(theirs)) = (&self.near_duplicates, &other.near_duplicates) {
            mine.require_same(theirs)?;
        }
        self.profile.merge(&other.profile)?;
        self.growth.merge(&other.growth)?;
        match (&mut self.near_duplicates, &other.near_duplicates) {
            (Some(mine), Some(theirs)) => mine.merge(theirs)?,
            // A part without a sample has seen documents that are in none: no share can be given.
            (mine, None) => *mine = None,
            (None, Some(_)) => {}
        }
        Ok(())
    }
}
