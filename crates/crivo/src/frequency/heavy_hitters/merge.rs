//! Two sketches as one.

use super::HeavyHitters;
use super::names::out_of_memory;
use super::rounded::RoundedUp;
use super::table::{Counter, Entry, Table};
use crate::error::Result;
use crate::estimate::Estimate;
use crate::frequency::Hitter;
use crate::keys::{KeyBatch, KeyRef};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{AddWeights, Frequency, Merge, Top, impl_sketch};

impl HeavyHitters {
    /// Makes this a sketch of both streams, with the guarantee for their joint total. Of two
    /// capacities the lower one stays.
    ///
    /// # Errors
    /// If the schemes differ or there is no memory; the sketch is unchanged then.
    ///
    /// ```
    /// use crivo::frequency::HeavyHitters;
    /// let (mut monday, mut tuesday) = (HeavyHitters::new(50)?, HeavyHitters::new(50)?);
    /// monday.add("ana", 5)?;
    /// tuesday.add("ana", 2)?;
    /// tuesday.add("rui", 4)?;
    /// monday.merge(&tuesday)?;
    /// assert_eq!(monday.top(1)[0].count(), 7);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.scheme.require_same(other.scheme)?;
        let capacity = self.capacity.min(other.capacity);
        let (mine, theirs) = (&self.table, &other.table);
        let mut threshold = mine.threshold().saturating_add(theirs.threshold());

        let mut entries = Vec::new();
        let most = mine.len() + theirs.len();
        entries.try_reserve_exact(most).map_err(|_| out_of_memory(most * size_of::<Entry<'_>>()))?;
        entries.extend(mine.entries().map(|entry| {
            let same = theirs.get(entry.hash, entry.key);
            let unknown = (theirs.threshold(), theirs.threshold());
            entry.plus(same.map_or(unknown, |other| (other.count, other.error.count())), threshold)
        }));
        let new = theirs.entries().filter(|entry| mine.get(entry.hash, entry.key).is_none());
        entries.extend(new.map(|entry| entry.plus((mine.threshold(), mine.threshold()), threshold)));

        if let Some(surplus) = entries.len().checked_sub(capacity + 1) {
            let largest = entries.select_nth_unstable_by_key(surplus, |entry| entry.counter.count).1;
            threshold = threshold.max(largest.counter.count);
        }
        entries.retain(|entry| entry.counter.count > threshold);
        let bytes = entries.iter().map(Entry::key_bytes).sum();
        let mut table = Table::with_room(self.scheme, threshold, entries.len(), bytes)?;
        entries.iter().try_for_each(|entry| table.put(entry))?;
        *self = Self { scheme: self.scheme, capacity, total: self.total.saturating_add(other.total), table };
        Ok(())
    }
}

impl_sketch!(HeavyHitters, keys, weights, frequency, top);

impl AddWeights for HeavyHitters {
    fn add_ref(&mut self, key: KeyRef<'_>, weight: u64) -> Result<()> {
        self.add_ref(key, weight)
    }

    fn add_batch(&mut self, batch: &KeyBatch<'_>, weights: &[u64]) -> Result<()> {
        self.add_batch(batch, weights)
    }

    #[inline]
    fn check_key(&self, key: KeyRef<'_>) -> Result<()> {
        match key {
            KeyRef::Bytes(text) if text.len() > Self::MAX_KEY_BYTES => Self::require_length(text.len()),
            _ if key.kind() != self.scheme.kind() => Err(self.scheme.wrong_kind(key.kind())),
            _ => Ok(()),
        }
    }
}

impl Frequency for HeavyHitters {
    fn frequency_ref(&self, key: KeyRef<'_>) -> Result<Estimate> {
        self.frequency_ref(key)
    }
}

impl Top for HeavyHitters {
    fn top(&self, count: usize) -> Vec<Hitter> {
        self.top(count)
    }
}

impl Merge for HeavyHitters {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}

impl<'a> Entry<'a> {
    /// The entry for both streams, given the count and the error of its key in the other: where it has no
    /// counter, both are the threshold. No error exceeds the threshold of both.
    fn plus(self, other: (u64, u64), threshold: u64) -> Entry<'a> {
        let Counter { count, error } = self.counter;
        let error = error.count().saturating_add(other.1).min(threshold);
        let counter = Counter { count: count.saturating_add(other.0), error: RoundedUp::of(error) };
        Entry { counter, ..self }
    }

    fn key_bytes(&self) -> usize {
        if let KeyRef::Bytes(bytes) = self.key { bytes.len() } else { 0 }
    }
}
