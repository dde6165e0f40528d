//! Merging two sketches.

use super::HeavyHitters;
use super::bucket::{SLOTS, lowest, mask_of, slots};
use super::label::len_beside;
use super::names::{Names, out_of_memory};
use super::purge::ranked;
use super::rounded::RoundedUp;
use super::table::{Counter, Entry, Place, Table};
use crate::cpu::zeroed;
use crate::error::Result;
use crate::estimate::Estimate;
use crate::frequency::Hitter;
use crate::keys::{KeyBatch, KeyRef};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{AddWeights, Frequency, Merge, Top, impl_sketch};

impl HeavyHitters {
    /// Merges another sketch into this one. The guarantee holds for the total of both streams. The
    /// lower of the two capacities is kept.
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
        if !self.table.absorb(&other.table, capacity)? {
            self.table = self.joined_anew(other, capacity)?;
        }
        self.capacity = capacity;
        self.total = self.total.saturating_add(other.total);
        Ok(())
    }

    /// Builds a new table from both. It is used if a table has to grow or has
    /// [strays](super::strays).
    fn joined_anew(&self, other: &Self, capacity: usize) -> Result<Table> {
        let (mine, theirs) = (&self.table, &other.table);
        let mut threshold = mine.threshold().saturating_add(theirs.threshold());

        let mut entries = Vec::new();
        let most = mine.len() + theirs.len();
        entries.try_reserve_exact(most).map_err(|_| out_of_memory(most * size_of::<Entry<'_>>()))?;
        entries.extend(mine.entries().map(|entry| {
            let same = theirs.get(entry.hash, entry.key);
            let unknown = (theirs.threshold(), theirs.threshold());
            let other = same.map_or(unknown, |other| (other.count, other.error.count()));
            Entry { counter: entry.counter.plus(other, threshold), ..entry }
        }));
        let new = theirs.entries().filter(|entry| mine.get(entry.hash, entry.key).is_none());
        let unknown = (mine.threshold(), mine.threshold());
        entries.extend(new.map(|entry| Entry { counter: entry.counter.plus(unknown, threshold), ..entry }));

        if let Some(surplus) = entries.len().checked_sub(capacity + 1) {
            let largest = entries.select_nth_unstable_by_key(surplus, |entry| entry.counter.count).1;
            threshold = threshold.max(largest.counter.count);
        }
        entries.retain(|entry| entry.counter.count > threshold);
        let bytes = entries.iter().map(Entry::key_bytes).sum();
        let mut table = Table::with_room(self.scheme, threshold, entries.len(), bytes)?;
        entries.iter().try_for_each(|entry| table.put(entry))?;
        Ok(table)
    }
}

/// A key that both tables have a counter for: its slot in the other table and its slot here.
#[derive(Debug, Clone, Copy, Default)]
struct Meeting {
    theirs: u32,
    here: u32,
}

impl Table {
    /// Adds the counters of another table to this one in place. Then it gives up the smallest until
    /// at most `capacity` are left. Returns false, with nothing changed, if the table would have to
    /// grow, has strays or would reach the largest count.
    ///
    /// A processor cannot predict whether a key has a counter in both tables. So keys are first
    /// sorted into lists without a branch: each key is written to the end of its list, and that end
    /// then moves or not.
    ///
    /// # Errors
    /// If there is no memory; nothing is changed then.
    fn absorb(&mut self, other: &Self, capacity: usize) -> Result<bool> {
        let most = (self.len() + other.len()).min(capacity);
        let has_strays = !self.strays.is_empty() || !other.strays.is_empty();
        let Some(base) = self.threshold().checked_add(other.threshold()) else { return Ok(false) };
        if has_strays || self.buckets.is_empty() || most > self.room() || base == u64::MAX {
            return Ok(false);
        }

        // The first pass changes nothing. It finds the slots of the other table's keys here, and
        // the merged counts of all keys. Each list has one entry more than it needs, for the write
        // behind its end.
        let theirs = other.codes()?;
        let mut met: Vec<Meeting> = zeroed(theirs.len() as u64 + 1)?;
        let mut new: Vec<u32> = zeroed(theirs.len() as u64 + 1)?;
        let mut counts: Vec<u64> = zeroed((self.len() + theirs.len()) as u64 + 1)?;
        let mut matched: Vec<u64> = zeroed(self.buckets.len() as u64)?;
        let (mut met_len, mut new_len) = (0, 0);
        for &code in &theirs {
            let place = place_of_code(code);
            let hash = other.buckets[place.bucket].hashes[place.slot];
            let (is_met, here) = self.code_of(hash, other.names.text(place));
            met[met_len] = Meeting { theirs: code, here };
            new[new_len] = code;
            met_len += usize::from(is_met);
            new_len += usize::from(!is_met);
        }
        let (met, new) = (&met[..met_len], &mut new[..new_len]);
        let mut len = 0;
        for &Meeting { theirs, here } in met {
            let place = place_of_code(here);
            matched[place.bucket] |= mask_of(place.slot);
            counts[len] = self.count(place).saturating_add(other.count(place_of_code(theirs)));
            len += 1;
        }
        for &code in &*new {
            counts[len] = other.count(place_of_code(code)).saturating_add(self.threshold());
            len += 1;
        }
        for (bucket, &matched) in self.buckets.iter().zip(&matched) {
            let alone = bucket.used() & !matched;
            for (slot, &count) in bucket.counts.iter().enumerate() {
                counts[len] = count.saturating_add(other.threshold());
                len += usize::from(alone & mask_of(slot) != 0);
            }
        }
        counts.truncate(len);
        let threshold = match len.saturating_sub(capacity) {
            0 => base,
            surplus => base + ranked(|| counts.iter().map(|count| count - base), surplus),
        };
        if threshold == u64::MAX {
            return Ok(false);
        }
        let new_counts = &counts[met.len()..met.len() + new.len()];
        let mut kept = 0;
        for (index, &count) in new_counts.iter().enumerate() {
            new[kept] = new[index];
            kept += usize::from(count > threshold);
        }
        let new = || new[..kept].iter().map(|&code| place_of_code(code));
        self.names.reserve(new().map(|place| len_beside(other.names.text(place).len())).sum())?;

        // Nothing can fail from here on.
        for &Meeting { theirs, here } in met {
            let Counter { count, error } = other.counter(place_of_code(theirs));
            let here = place_of_code(here);
            let counter = self.counter(here).plus((count, error.count()), base);
            self.set(here, counter);
        }
        if other.threshold() > 0 {
            let unknown = (other.threshold(), other.threshold());
            for (bucket, matched) in self.buckets.iter_mut().zip(&matched) {
                let alone = bucket.used() & !matched;
                for (slot, count) in bucket.counts.iter_mut().enumerate() {
                    let more = if alone & mask_of(slot) == 0 { 0 } else { other.threshold() };
                    *count = count.saturating_add(more);
                }
                // Counters that are given up need no error.
                for slot in slots(alone & !bucket.fallen(threshold)) {
                    let counter = Counter { count: 0, error: bucket.errors[slot] };
                    bucket.errors[slot] = counter.plus(unknown, base).error;
                }
            }
        }
        let unknown = (self.threshold(), self.threshold());
        if threshold > self.threshold() {
            self.give_up_to(threshold);
        }
        for place in new() {
            let hash = other.buckets[place.bucket].hashes[place.slot];
            self.put_text(hash, other.names.text(place), other.counter(place).plus(unknown, base))?;
        }
        Ok(true)
    }

    /// Returns true and the code of a key's slot if the key has one. The home bucket decides for
    /// most keys, with the same instructions whether the key is known or not.
    #[inline]
    #[allow(clippy::needless_bitwise_bool)] // the lazy operator would be a branch
    fn code_of(&self, hash: u64, text: &[u8]) -> (bool, u32) {
        let index = self.home(hash);
        let bucket = &self.buckets[index];
        let matches = bucket.matches(hash);
        let slot = lowest(matches);
        let same = (matches != 0) & (bucket.hashes[slot] == hash);
        let is_unknown = (matches == 0) & (bucket.free() != 0);
        if (same | is_unknown) & matches!(self.names, Names::Hashes | Names::Integers(_)) {
            return (same, code_of_place(Place { bucket: index, slot }));
        }
        let place = self.place_of(hash, text);
        (place.is_some(), place.map_or(0, code_of_place))
    }

    fn count(&self, place: Place) -> u64 {
        self.buckets[place.bucket].counts[place.slot]
    }

    /// Returns the codes of the used slots.
    ///
    /// # Errors
    /// If there is no memory.
    fn codes(&self) -> Result<Vec<u32>> {
        let mut codes = zeroed(self.len as u64 + 1)?;
        let mut len = 0;
        for (bucket, code) in self.buckets.iter().zip((0..).step_by(SLOTS)) {
            for slot in 0..SLOTS {
                codes[len] = code + slot as u32;
                len += usize::from(bucket.used() & mask_of(slot) != 0);
            }
        }
        codes.truncate(len);
        Ok(codes)
    }
}

/// Returns the number of a slot, counted in the order of the table.
fn code_of_place(place: Place) -> u32 {
    (place.bucket * SLOTS + place.slot) as u32
}

fn place_of_code(code: u32) -> Place {
    Place { bucket: code as usize / SLOTS, slot: code as usize % SLOTS }
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

impl Counter {
    /// Returns the counter of a key for both streams. `other` is the key's count and error in the
    /// other table, or that table's threshold for both if the key has no counter there. No error
    /// exceeds `threshold`, the sum of both thresholds.
    fn plus(self, other: (u64, u64), threshold: u64) -> Self {
        let error = self.error.count().saturating_add(other.1).min(threshold);
        Self { count: self.count.saturating_add(other.0), error: RoundedUp::of(error) }
    }
}

impl Entry<'_> {
    fn key_bytes(&self) -> usize {
        if let KeyRef::Bytes(bytes) = self.key { len_beside(bytes.len()) } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;
    use crate::keys::KeyScheme;

    /// A sketch of a skewed stream: small keys are frequent.
    fn sketch(
        capacity: u64,
        scheme: KeyScheme,
        length: u64,
        random: &mut Xoshiro256PlusPlus,
    ) -> HeavyHitters {
        let mut sketch = HeavyHitters::with_scheme(capacity, scheme).unwrap();
        for _ in 0..length {
            let key = random.next_u64() >> (random.next_u64() % 64);
            let weight = 1 + (random.next_u64() % 5) * (random.next_u64() % 7 / 6);
            let text = format!("key {key}");
            let key =
                if scheme == KeyScheme::bytes() { KeyRef::Bytes(text.as_bytes()) } else { KeyRef::Hash(key) };
            sketch.add_ref(key, weight).unwrap();
        }
        sketch
    }

    #[test]
    fn merging_in_place_is_merging_anew() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut in_place = [0; 2];
        for round in 0..400 {
            let texts = round % 2;
            let scheme = [KeyScheme::hashes(), KeyScheme::bytes()][texts];
            let capacity = 1 + random.next_u64() % 300;
            let lengths = [random.next_u64() % 3_000, random.next_u64() % 3_000];
            let mut first = sketch(capacity, scheme, lengths[0], &mut random);
            let other_capacity = capacity + round as u64 % 3 * 20;
            let second = sketch(other_capacity, scheme, lengths[1], &mut random);
            let anew = first.joined_anew(&second, capacity as usize).unwrap();
            let anew = HeavyHitters { table: anew, total: first.total + second.total, ..first.clone() };
            in_place[texts] +=
                usize::from(first.clone().table.absorb(&second.table, capacity as usize).unwrap());
            first.merge(&second).unwrap();
            assert_eq!(first, anew, "round {round}");
            assert_eq!(first.encode(), anew.encode(), "round {round}");
            // The merged sketch must go on counting like the one built anew.
            let mut anew = anew;
            for key in 0..500 {
                let text = format!("key {key}");
                let key = if texts == 1 { KeyRef::Bytes(text.as_bytes()) } else { KeyRef::Hash(key) };
                first.add_ref(key, 2).unwrap();
                anew.add_ref(key, 2).unwrap();
            }
            assert_eq!(first, anew, "round {round}, later");
        }
        assert!(in_place.iter().all(|&rounds| rounds > 50), "{in_place:?} rounds were in place");
    }
}
