// This file is long because the operations of the table share its invariants, as do their tests.

//! The table of counters.
//!
//! A hash belongs into one bucket of eight slots. If that bucket is full, the hash goes into the
//! next bucket with a free slot. So a search ends at the first bucket that is not full.
//!
//! If the bucket function were known, an attacker could forge keys that all belong into one bucket.
//! So the bucket also depends on a [secret](TableSecret) of the process. In case that fails, for
//! example for texts with one hash, a key that finds [`REACH`] buckets full becomes a
//! [stray](super::strays). Strays are kept in order beside the buckets. So a search looks at no
//! more than `REACH` buckets and `log n` strays. With keys that are not forged there are next to no
//! strays.
//!
//! A slot in use has a count above the table's threshold. Raising the threshold purges counters,
//! many at a time and without a change to those that stay (see `purge.rs`). Between two purges no
//! counter is removed.
//!
//! A table's answers depend on its keys, counts and threshold, never on the slots of the keys.

use std::hint::select_unpredictable;

use super::super::hitter::middle;
use super::HeavyHitters;
use super::bucket::{Bucket, SLOTS, lowest, slots};
use super::label::Label;
use super::names::{Name, Names, Unnamed};
use super::rounded::RoundedUp;
use super::strays::Strays;
use crate::cpu::{prefetch, zeroed};
use crate::error::Result;
use crate::hash::TableSecret;
use crate::keys::{KeyRef, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The number of hashes that are looked up together.
pub(super) const CHUNK: usize = 32;

/// The number of buckets that a key may lie in, its own included. In a table that is four fifths
/// full, the probability that a random key finds all of them taken is below
/// `e^(−0.185 · 64) = 7·10⁻⁶`.
pub(super) const REACH: usize = 64;

/// The position of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) bucket: usize,
    pub(super) slot: usize,
}

/// The bounds of a key's true count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counter {
    /// An upper bound.
    pub(super) count: u64,
    /// The largest possible difference between `count` and the true count: the threshold when the
    /// key was added.
    pub(super) error: RoundedUp,
}

/// A key that has a counter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) hash: u64,
    pub(super) key: KeyRef<'a>,
    pub(super) counter: Counter,
}

impl Counter {
    /// Returns a lower bound. It is at least 1, because a key with a counter occurred at least
    /// once, even if its rounded error is larger.
    pub(super) fn lower(self) -> u64 {
        self.count.saturating_sub(self.error.count()).max(1)
    }

    /// Returns the middle between the bounds.
    pub(super) fn middle(self) -> u64 {
        middle(self.lower(), self.count)
    }
}

#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) buckets: Vec<Bucket>,
    pub(super) names: Names,
    /// The keys that found no free slot in reach.
    pub(super) strays: Strays,
    /// The number of slots in use.
    pub(super) len: usize,
    /// The number of slots that may be in use before the table grows.
    room: usize,
    /// The largest true count that a key without a slot may have.
    threshold: u64,
    /// The threshold rounded up: the error of keys that are added now.
    error: RoundedUp,
    secret: TableSecret,
}

// ---- size ----

impl Table {
    /// Creates a table without slots, for keys of the given scheme.
    pub(super) fn new(scheme: KeyScheme) -> Self {
        Self {
            buckets: Vec::new(),
            names: Names::new(scheme),
            strays: Strays::default(),
            len: 0,
            room: 0,
            threshold: 0,
            error: RoundedUp::default(),
            secret: TableSecret::of_process(),
        }
    }

    /// Creates an empty table with room for `entries` keys. If they are texts, `bytes` is the
    /// number of bytes that they take beside their labels.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub(super) fn with_room(scheme: KeyScheme, threshold: u64, entries: usize, bytes: usize) -> Result<Self> {
        let mut table = Self::new(scheme);
        if entries > 0 {
            table.resize(Self::buckets_for(entries))?;
            table.names.reserve(bytes)?;
        }
        table.raise(threshold);
        Ok(table)
    }

    /// Returns the number of buckets for `entries` keys. At most four fifths of the slots are in
    /// use, so that few keys lie outside their own bucket.
    const fn buckets_for(entries: usize) -> usize {
        entries * 5 / 4 / SLOTS + 1
    }

    fn resize(&mut self, size: usize) -> Result<()> {
        let buckets = zeroed(size as u64)?;
        let labels = self.names.relabel(size)?;
        let old = std::mem::replace(&mut self.buckets, buckets);
        self.room = size * SLOTS * 4 / 5;
        for place in places(&old) {
            let Place { bucket, slot } = place;
            let Bucket { hashes, counts, errors, .. } = &old[bucket];
            let (hash, counter) = (hashes[slot], Counter { count: counts[slot], error: errors[slot] });
            if let Some(new) = self.free_place(hash) {
                self.buckets[new.bucket].fill(new.slot, hash, counter.count, counter.error);
                self.names.restore(new, &labels, place);
            } else {
                self.strays.insert(hash, self.names.text_before(&labels, place), counter);
                self.names.leave_gap(&labels, place);
                self.len -= 1;
            }
        }
        self.settle_strays();
        Ok(())
    }

    /// Moves strays into slots that are now free in their reach. A stray stays a stray if there is
    /// no memory for its text.
    pub(super) fn settle_strays(&mut self) {
        for (hash, text, counter) in std::mem::take(&mut self.strays) {
            let kept = self.free_place(hash).filter(|place| self.names.keep(&text, *place).is_ok());
            if let Some(Place { bucket, slot }) = kept {
                self.buckets[bucket].fill(slot, hash, counter.count, counter.error);
                self.len += 1;
            } else {
                self.strays.insert(hash, &text, counter);
            }
        }
    }

    /// Doubles the table, but only up to the size that `most` keys need.
    #[cold]
    fn grow(&mut self, most: usize) -> Result<()> {
        self.resize(Self::buckets_for(most).min(2 * self.buckets.len().max(1)))
    }

    pub(super) fn len(&self) -> usize {
        self.len + self.strays.len()
    }

    /// Returns how many keys can be added before the table has to grow.
    pub(super) fn spare(&self) -> usize {
        self.room.saturating_sub(self.len())
    }

    /// Returns how many slots may be in use before the table grows.
    pub(super) fn room(&self) -> usize {
        self.room
    }

    pub(super) fn threshold(&self) -> u64 {
        self.threshold
    }

    pub(super) fn raise(&mut self, threshold: u64) {
        self.threshold = threshold;
        self.error = RoundedUp::of(threshold);
        if threshold == u64::MAX {
            self.room = 0;
        }
    }

    /// Returns the bytes of memory behind the pointers.
    pub(super) fn memory(&self) -> usize {
        self.buckets.capacity() * size_of::<Bucket>() + self.names.memory() + self.strays.memory()
    }
}

// ---- search ----

impl Table {
    /// Returns the bucket where a hash belongs.
    #[inline]
    pub(super) fn home(&self, hash: u64) -> usize {
        home(self.secret, self.buckets.len(), hash)
    }

    #[inline]
    pub(super) fn after(&self, bucket: usize) -> usize {
        if bucket + 1 == self.buckets.len() { 0 } else { bucket + 1 }
    }

    /// Returns the place of a key. If the key is in no slot, the error is the free place for it, or
    /// `None` if all buckets in reach are full. There must be slots.
    #[inline]
    fn search<N: Name>(&self, hash: u64, name: N) -> Result<Place, Option<Place>> {
        let mut index = self.home(hash);
        for _ in 0..REACH {
            #[cfg(test)]
            tests::LOOKED.with(|looked| looked.set(looked.get() + 1));
            let bucket = &self.buckets[index];
            for slot in slots(bucket.matches(hash)) {
                let place = Place { bucket: index, slot };
                if bucket.hashes[slot] == hash && name.is_of(&self.names, place) {
                    return Ok(place);
                }
            }
            let free = bucket.free();
            if free != 0 {
                return Err(Some(Place { bucket: index, slot: lowest(free) }));
            }
            index = self.after(index);
        }
        Err(None)
    }

    /// Returns the free place for a new hash, if there is one in reach. There must be slots.
    fn free_place(&self, hash: u64) -> Option<Place> {
        let mut index = self.home(hash);
        for _ in 0..REACH {
            #[cfg(test)]
            tests::LOOKED.with(|looked| looked.set(looked.get() + 1));
            let free = self.buckets[index].free();
            if free != 0 {
                return Some(Place { bucket: index, slot: lowest(free) });
            }
            index = self.after(index);
        }
        None
    }

    /// Returns the place of a key, if it has one. The key is given by its hash and its text, which
    /// is empty if the hash identifies the key. There must be slots.
    #[inline]
    pub(super) fn place_of(&self, hash: u64, text: &[u8]) -> Option<Place> {
        match self.names {
            Names::Texts(_) => self.search(hash, text).ok(),
            _ => self.search(hash, Unnamed).ok(),
        }
    }

    /// Replaces the counter at a place.
    pub(super) fn set(&mut self, place: Place, counter: Counter) {
        let Bucket { counts, errors, .. } = &mut self.buckets[place.bucket];
        (counts[place.slot], errors[place.slot]) = (counter.count, counter.error);
    }

    pub(super) fn counter(&self, place: Place) -> Counter {
        let Bucket { counts, errors, .. } = &self.buckets[place.bucket];
        Counter { count: counts[place.slot], error: errors[place.slot] }
    }

    /// Returns the counter of a key, if it has one.
    pub(super) fn get(&self, hash: u64, key: KeyRef<'_>) -> Option<Counter> {
        if self.len() == 0 {
            return None;
        }
        let (found, text) = match key {
            KeyRef::Bytes(text) => (self.search(hash, text), text),
            KeyRef::Integer(_) | KeyRef::Hash(_) => (self.search(hash, Unnamed), &[][..]),
        };
        match found {
            Ok(place) => Some(self.counter(place)),
            Err(_) => self.strays.get(hash, text),
        }
    }

    /// Returns every key that has a counter, in no meaningful order.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let in_slots = places(&self.buckets).map(|place| {
            let hash = self.buckets[place.bucket].hashes[place.slot];
            Entry { hash, key: self.names.key(place, hash), counter: self.counter(place) }
        });
        let strays = self.strays.iter();
        in_slots.chain(strays.map(|(hash, text, counter)| Entry {
            hash,
            key: self.names.key_of(hash, text),
            counter,
        }))
    }
}

/// Returns the places of all slots in use.
pub(super) fn places(buckets: &[Bucket]) -> impl Iterator<Item = Place> {
    let buckets = buckets.iter().enumerate();
    buckets.flat_map(|(index, bucket)| slots(bucket.used()).map(move |slot| Place { bucket: index, slot }))
}

// ---- update ----

impl Table {
    /// Adds to the counter of a key that its hash identifies. A new key's counter begins at the
    /// threshold; the table grows up to the size that `most` keys need.
    ///
    /// A processor cannot predict whether a key is known, so both cases take the same instructions.
    /// Only cases that the key's own bucket cannot decide take a branch.
    ///
    /// # Errors
    /// If there is not enough memory; the weight is not added then.
    #[inline]
    #[allow(clippy::needless_bitwise_bool)] // the lazy operator would be a branch
    pub(super) fn add_hash(&mut self, hash: u64, weight: u64, most: usize) -> Result<()> {
        if self.len < self.room {
            let index = self.home(hash);
            let bucket = &mut self.buckets[index];
            let (matches, free) = (bucket.matches(hash), bucket.free());
            let known = matches != 0;
            let slot = lowest(select_unpredictable(known, matches, free));
            let same = bucket.hashes[slot] == hash;
            // If there are strays, a key without a slot here may be one of them.
            let is_new = (free != 0) & self.strays.is_empty();
            if select_unpredictable(known, same, is_new) {
                let before = select_unpredictable(known, bucket.counts[slot], self.threshold);
                let error = select_unpredictable(known, bucket.errors[slot], self.error);
                bucket.fill(slot, hash, before.saturating_add(weight), error);
                self.len += usize::from(!known);
                return Ok(());
            }
        }
        self.add_anywhere(hash, Unnamed, weight, most)
    }

    /// Adds to the counter of a text, like [`add_hash`](Self::add_hash).
    ///
    /// # Errors
    /// If a new text is too long, or there is not enough memory; the weight is not added then.
    #[inline]
    pub(super) fn add_text(&mut self, hash: u64, text: &[u8], weight: u64, most: usize) -> Result<()> {
        if self.len < self.room {
            let index = self.home(hash);
            let bucket = &mut self.buckets[index];
            let (matches, free) = (bucket.matches(hash), bucket.free());
            if matches != 0 {
                let slot = lowest(matches);
                if bucket.hashes[slot] == hash && text.is_of(&self.names, Place { bucket: index, slot }) {
                    bucket.counts[slot] = bucket.counts[slot].saturating_add(weight);
                    return Ok(());
                }
            } else if free != 0 && self.strays.is_empty() {
                // No key with this hash has a counter, because a search ends at the first bucket
                // that is not full.
                let slot = lowest(free);
                text.keep(&mut self.names, Place { bucket: index, slot })?;
                bucket.fill(slot, hash, self.threshold.saturating_add(weight), self.error);
                self.len += 1;
                return Ok(());
            }
        }
        self.add_anywhere(hash, text, weight, most)
    }

    /// Adds to a counter in any bucket or among the strays, or adds a new counter.
    ///
    /// # Errors
    /// The errors of [`add_text`](Self::add_text).
    #[inline(never)]
    pub(super) fn add_anywhere<N: Name>(
        &mut self,
        hash: u64,
        name: N,
        weight: u64,
        most: usize,
    ) -> Result<()> {
        if self.len() >= self.room {
            // At the highest threshold no count can exceed it, so keys cannot be distinguished any
            // more.
            if self.threshold == u64::MAX {
                return Ok(());
            }
            self.grow(most)?;
        }
        match self.search(hash, name) {
            Ok(Place { bucket, slot }) => {
                let count = &mut self.buckets[bucket].counts[slot];
                *count = count.saturating_add(weight);
                Ok(())
            }
            Err(Some(place)) if self.strays.is_empty() => {
                name.keep(&mut self.names, place)?;
                let count = self.threshold.saturating_add(weight);
                self.buckets[place.bucket].fill(place.slot, hash, count, self.error);
                self.len += 1;
                Ok(())
            }
            Err(free) => self.add_beside_strays(free, hash, name, weight),
        }
    }

    /// Adds to the counter of a stray, or adds a new counter to a table that has strays.
    #[cold]
    fn add_beside_strays<N: Name>(
        &mut self,
        free: Option<Place>,
        hash: u64,
        name: N,
        weight: u64,
    ) -> Result<()> {
        if let Some(counter) = self.strays.get_mut(hash, name.text()) {
            counter.count = counter.count.saturating_add(weight);
            return Ok(());
        }
        let counter = Counter { count: self.threshold.saturating_add(weight), error: self.error };
        self.fill(free, hash, name, counter)
    }

    /// Puts a new key into its free place, or among the strays if there is none.
    fn fill<N: Name>(&mut self, free: Option<Place>, hash: u64, name: N, counter: Counter) -> Result<()> {
        if let Some(place) = free {
            name.keep(&mut self.names, place)?;
            self.buckets[place.bucket].fill(place.slot, hash, counter.count, counter.error);
            self.len += 1;
        } else {
            HeavyHitters::require_length(name.text().len())?;
            self.strays.insert(hash, name.text(), counter);
        }
        Ok(())
    }

    /// Adds a counter for a key that has none. Its count must be above the threshold, and there
    /// must be room.
    ///
    /// # Errors
    /// The errors of [`add_text`](Self::add_text).
    pub(super) fn put(&mut self, entry: &Entry<'_>) -> Result<()> {
        let place = self.free_place(entry.hash);
        match entry.key {
            KeyRef::Bytes(text) => self.fill(place, entry.hash, text, entry.counter),
            KeyRef::Integer(_) | KeyRef::Hash(_) => self.fill(place, entry.hash, Unnamed, entry.counter),
        }
    }

    /// Adds a counter like [`put`](Self::put), for a key given by its hash and its text. The text
    /// is empty if the hash identifies the key.
    ///
    /// # Errors
    /// The errors of [`add_text`](Self::add_text).
    pub(super) fn put_text(&mut self, hash: u64, text: &[u8], counter: Counter) -> Result<()> {
        let place = self.free_place(hash);
        match self.names {
            Names::Texts(_) => self.fill(place, hash, text, counter),
            _ => self.fill(place, hash, Unnamed, counter),
        }
    }

    /// Adds one to the counter of each hash that its own bucket has at the first match, and returns
    /// the other hashes. No count may be at the maximum. The loop has no branch to predict, and its
    /// memory accesses overlap.
    #[inline]
    #[allow(clippy::needless_bitwise_bool)] // the lazy operator would be a branch
    pub(super) fn count_known<'a>(&mut self, hashes: &[u64], others: &'a mut [u64; CHUNK]) -> &'a [u64] {
        let mut unknown = 0;
        for &hash in hashes {
            let index = self.home(hash);
            let bucket = &mut self.buckets[index];
            let matches = bucket.matches(hash);
            let slot = lowest(matches);
            let known = (matches != 0) & (bucket.hashes[slot] == hash);
            bucket.counts[slot] += u64::from(known);
            others[unknown % CHUNK] = hash;
            unknown += usize::from(!known);
        }
        &others[..unknown]
    }

    /// Adds one to the counter of each short text that its own bucket has at the first match, and
    /// returns the positions of the others. No count may be at the maximum.
    #[inline]
    #[allow(clippy::needless_bitwise_bool)] // the lazy operator would be a branch
    pub(super) fn count_short<'a>(
        &mut self,
        hashes: &[u64],
        labels: &[Label],
        others: &'a mut [u8; CHUNK],
    ) -> &'a [u8] {
        let Names::Texts(texts) = &self.names else { return &[] };
        let mut homes = [0; CHUNK];
        for (to, &hash) in homes.iter_mut().zip(hashes) {
            *to = home(self.secret, self.buckets.len(), hash);
            self.buckets[*to].prefetch();
            let labels = &texts.labels[*to];
            prefetch(labels, 0);
            prefetch(labels, SLOTS / 2);
        }
        let mut unknown = 0;
        for (place, ((&hash, &index), label)) in hashes.iter().zip(&homes).zip(labels).enumerate() {
            let bucket = &mut self.buckets[index];
            let matches = bucket.matches(hash);
            let slot = lowest(matches);
            let known = (matches != 0) & (texts.labels[index][slot] == *label);
            bucket.counts[slot] += u64::from(known);
            others[unknown % CHUNK] = place as u8;
            unknown += usize::from(!known);
        }
        &others[..unknown]
    }

    /// Counts one occurrence of a short text that is probably new. There must be room.
    ///
    /// # Errors
    /// If there is not enough memory; the text is not counted then.
    #[inline]
    pub(super) fn add_short(&mut self, hash: u64, label: &Label, most: usize) -> Result<()> {
        let index = self.home(hash);
        let bucket = &mut self.buckets[index];
        let free = bucket.free();
        if bucket.matches(hash) == 0
            && free != 0
            && self.strays.is_empty()
            && let Names::Texts(texts) = &mut self.names
        {
            let slot = lowest(free);
            texts.labels[index][slot] = *label;
            bucket.fill(slot, hash, self.threshold.saturating_add(1), self.error);
            self.len += 1;
            return Ok(());
        }
        self.add_anywhere(hash, label.text(&[]), 1, most)
    }
}

/// Returns the bucket of a hash in a table of `size` buckets. The high bits of the hash's product
/// with the secret choose it.
#[inline]
fn home(secret: TableSecret, size: usize, hash: u64) -> usize {
    (((secret.spread(hash) >> 32) * size as u64) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;
    use std::cell::Cell;

    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;

    thread_local! {
        /// The number of buckets that searches of this thread looked at.
        pub(super) static LOOKED: Cell<usize> = const { Cell::new(0) };
    }

    /// A known secret: the high bits of the hash itself choose the bucket.
    const KNOWN: TableSecret = TableSecret::known(1);

    /// All keys belong into one bucket. They are hashes, or texts that even share one hash.
    #[test]
    fn forged_keys_are_counted_and_looked_for_in_bounded_reach() {
        const KEYS: usize = 20_000;
        for are_texts in [false, true] {
            let scheme = if are_texts { KeyScheme::bytes() } else { KeyScheme::hashes() };
            let mut table = Table { secret: KNOWN, ..Table::new(scheme) };
            let texts: Vec<String> = (0..KEYS).map(|i| format!("text {i}")).collect();
            let hash = |i: usize| if are_texts { 7 << 40 } else { 7 << 40 | i as u64 };
            let key =
                |i: usize| if are_texts { KeyRef::Bytes(texts[i].as_bytes()) } else { KeyRef::Hash(hash(i)) };
            LOOKED.set(0);
            for round in 0..2 {
                for i in 0..KEYS {
                    let weight = 1 + (i % 10) as u64 + round;
                    match key(i) {
                        KeyRef::Bytes(text) => table.add_text(hash(i), text, weight, 2 * KEYS).unwrap(),
                        _ => table.add_hash(hash(i), weight, 2 * KEYS).unwrap(),
                    }
                }
            }
            // Each of two rounds of additions looks up every key. Each doubling of the table looks
            // up every key again: once to move it from its slot, and once as a stray.
            let looked = LOOKED.get();
            assert!(looked <= 6 * KEYS * REACH, "{} buckets a key", looked / KEYS);
            assert!(looked > KEYS * REACH, "the forgery works: {} buckets a key", looked / KEYS);
            assert_eq!((table.len(), table.entries().count()), (KEYS, KEYS));
            assert!(table.strays.len() > KEYS / 2);
            let expected = |i: usize| Some(3 + 2 * (i % 10) as u64);
            let count = |table: &Table, i| table.get(hash(i), key(i)).map(|counter| counter.count);
            assert!((0..KEYS).all(|i| count(&table, i) == expected(i)));

            LOOKED.set(0);
            table.purge(KEYS / 2);
            assert_eq!((table.len(), table.threshold()), (KEYS / 2, 11));
            assert!(LOOKED.get() <= KEYS * REACH, "{} buckets a key", LOOKED.get() / KEYS);
            for i in 0..KEYS {
                assert_eq!(count(&table, i), expected(i).filter(|&count| count > 11), "key {i}");
            }
            table.purge(table.len());
            assert_eq!((table.len(), table.strays.len()), (0, 0));
        }
    }

    /// Returns a hash that belongs into one of few buckets, the last one among them, so that keys
    /// overflow and wrap around.
    fn crowded(random: &mut Xoshiro256PlusPlus) -> u64 {
        let high = [0, 1, 0x8000_0000, 0xFFFF_FFFF][random.next_u64() as usize % 4];
        high << 32 | random.next_u64() & 0x1FF
    }

    #[test]
    fn crowded_keys_are_found_through_growth_and_purges() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for most in [3, 40, 400] {
            let mut table = Table { secret: KNOWN, ..Table::new(KeyScheme::hashes()) };
            let mut model: BTreeMap<u64, u64> = BTreeMap::new();
            for _ in 0..20_000 {
                let (hash, weight) = (crowded(&mut random), 1 + random.next_u64() % 5);
                table.add_hash(hash, weight, most).unwrap();
                let threshold = table.threshold();
                *model.entry(hash).or_insert(threshold) += weight;
                if table.len() == most {
                    table.purge(1 + most / 4);
                    model.retain(|_, count| *count > table.threshold());
                }
                assert_eq!(table.len(), model.len());
            }
            for (&hash, &count) in &model {
                assert_eq!(table.get(hash, KeyRef::Hash(hash)).map(|counter| counter.count), Some(count));
            }
        }
    }

    #[test]
    fn texts_with_the_same_hash_are_different_keys() {
        let mut table = Table::new(KeyScheme::bytes());
        let texts: Vec<String> = (0..50).map(|i| format!("text {i}")).collect();
        for (i, text) in texts.iter().enumerate() {
            table.add_text(7, text.as_bytes(), 1 + i as u64, 100).unwrap();
            table.add_text(7, b"text 0", 100, 100).unwrap();
        }
        let count = |text: &str| table.get(7, KeyRef::Bytes(text.as_bytes())).map(|counter| counter.count);
        assert_eq!(count("text 0"), Some(5001));
        for (i, text) in texts.iter().enumerate().skip(1) {
            assert_eq!(count(text), Some(1 + i as u64));
        }
        assert_eq!(count("text 50"), None);
    }

    #[test]
    fn known_hashes_are_counted_as_if_one_by_one() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
        let mut table = Table { secret: KNOWN, ..Table::new(KeyScheme::hashes()) };
        (0..300).for_each(|_| table.add_hash(crowded(&mut random), 1, 5000).unwrap());
        let mut one_by_one = table.clone();
        let chunk: Vec<u64> = (0..CHUNK).map(|_| crowded(&mut random)).collect();
        chunk.iter().for_each(|&hash| one_by_one.add_hash(hash, 1, 5000).unwrap());
        let mut others = [0; CHUNK];
        for hash in table.count_known(&chunk, &mut others).to_vec() {
            table.add_anywhere(hash, Unnamed, 1, 5000).unwrap();
        }
        let sorted = |table: &Table| {
            let mut counts: Vec<_> = table.entries().map(|entry| (entry.hash, entry.counter.count)).collect();
            counts.sort_unstable();
            counts
        };
        assert_eq!(sorted(&table), sorted(&one_by_one));
    }
}
