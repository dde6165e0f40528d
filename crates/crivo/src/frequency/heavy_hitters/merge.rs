//! Two sketches as one.

use super::HeavyHitters;
use super::names::out_of_memory;
use super::rounded::RoundedUp;
use super::table::{Entry, Table};
use crate::error::Result;
use crate::keys::KeyRef;
use crate::sketch::Merge;

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
        entries.extend(
            mine.entries().map(|entry| entry.plus(theirs.get(entry.hash, entry.key), theirs, threshold)),
        );
        let new = theirs.entries().filter(|entry| mine.get(entry.hash, entry.key).is_none());
        entries.extend(new.map(|entry| entry.plus(None, mine, threshold)));

        if let Some(surplus) = entries.len().checked_sub(capacity + 1) {
            threshold =
                threshold.max(entries.select_nth_unstable_by_key(surplus, |entry| entry.count).1.count);
        }
        entries.retain(|entry| entry.count > threshold);
        let bytes = entries.iter().map(Entry::key_bytes).sum();
        let mut table = Table::with_room(self.scheme, threshold, entries.len(), bytes)?;
        entries.iter().try_for_each(|entry| table.put(entry))?;
        *self = Self { scheme: self.scheme, capacity, total: self.total.saturating_add(other.total), table };
        Ok(())
    }
}

impl Merge for HeavyHitters {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}

impl<'a> Entry<'a> {
    /// The entry for both streams, given what the other table has on the same key: if it has none, the
    /// key may have come as often as its threshold says. No error exceeds the threshold of both.
    fn plus(self, other: Option<Entry<'_>>, table: &Table, threshold: u64) -> Entry<'a> {
        let (count, error) = match other {
            Some(entry) => (entry.count, entry.error.count()),
            None => (table.threshold(), table.threshold()),
        };
        let error = self.error.count().saturating_add(error).min(threshold);
        Entry { count: self.count.saturating_add(count), error: RoundedUp::of(error), ..self }
    }

    fn key_bytes(&self) -> usize {
        if let KeyRef::Bytes(bytes) = self.key { bytes.len() } else { 0 }
    }
}
