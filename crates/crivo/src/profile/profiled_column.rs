//! Everything that is kept of one column of a table.
//!
//! The command line, Python and Spark collect a column with this type, so they give the same
//! answers. Each thread or partition has its own part, and parts are merged.

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
    /// The profile of the column's values.
    pub profile: ColumnProfile,
    /// The first rows of a sample of its different values.
    pub growth: DistinctGrowth,
    /// A sample of its documents, or `None` if there was not enough memory for one.
    pub near_duplicates: Option<NearDuplicateShare>,
}

impl ProfiledColumn {
    /// Returns an empty column, whose values are hashed under the given scheme. The sample of
    /// values draws random numbers from the scheme's seed. Parts that will be merged must be
    /// [reseeded](Self::reseed).
    ///
    /// # Errors
    /// If a part cannot have its size, or if the scheme's keys are not bytes.
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

    /// Adds the values of a batch. `row` returns the row of a value by its index in the batch.
    ///
    /// # Errors
    /// As for [`ColumnProfile::insert_batch`].
    pub fn insert_batch(&mut self, batch: &KeyBatch<'_>, row: impl Fn(usize) -> u64) -> Result<()> {
        self.insert_batch_with(batch, row, &mut ())
    }

    /// Like [`insert_batch`](Self::insert_batch), and also passes each value and each finite number
    /// to `sink`.
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

    /// Returns true if every row may have a value of its own.
    pub fn could_be_key(&self) -> bool {
        self.profile.could_be_key() && !self.growth.is_repeated()
    }

    /// Returns the number of different values. If the column could be a key, the interval extends
    /// to the number of its values.
    pub fn distinct(&self) -> Estimate {
        let distinct = self.profile.distinct();
        if !self.could_be_key() {
            return distinct;
        }
        let upper = distinct.upper().max(self.profile.values() as f64);
        Estimate::probable(distinct.value(), distinct.lower(), upper, distinct.confidence())
    }

    /// Returns the share of documents with a near-duplicate, or `None` if there are no documents or
    /// no memory for them.
    pub fn near_duplicate_share(&self) -> Option<Estimate> {
        self.near_duplicates.as_ref()?.share()
    }

    /// Returns the facts about the column that are needed to compare it with others.
    ///
    /// # Errors
    /// As for [`JoinColumn::new`].
    pub fn join_column(&self) -> Result<JoinColumn> {
        JoinColumn::new(&self.profile, &self.growth)
    }

    /// Merges a part of the table that follows this one. Both parts must number their rows from 1.
    ///
    /// # Errors
    /// As for [`merge`](Self::merge).
    pub fn append(&mut self, mut later: Self) -> Result<()> {
        let before = self.profile.rows();
        later.growth.renumber(|row| row.saturating_add(before));
        self.merge(&later)
    }

    /// Merges another part of the table. The rows of both parts must be numbered continuously.
    ///
    /// # Errors
    /// If schemes or sizes differ. The column is unchanged then.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        // All parts have the scheme of the profile, so its merge refuses for all of them. Sizes are
        // compared before.
        if let (Some(mine), Some(theirs)) = (&self.near_duplicates, &other.near_duplicates) {
            mine.require_same(theirs)?;
        }
        self.profile.merge(&other.profile)?;
        self.growth.merge(&other.growth)?;
        match (&mut self.near_duplicates, &other.near_duplicates) {
            (Some(mine), Some(theirs)) => mine.merge(theirs)?,
            // A part without a sample may have seen documents that no sample has, so no share can
            // be given.
            (mine, None) => *mine = None,
            (None, Some(_)) => {}
        }
        Ok(())
    }
}
