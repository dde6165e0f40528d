//! A set of hashes: the hashes themselves, in an open-addressing table.
//!
//! Shared by what counts exactly: [`ExactDistinct`](super::ExactDistinct), small
//! [`RegisterSketch`](super::RegisterSketch)es, and the candidates of [`KMinValues`](super::KMinValues).
//!
//! **Hostile hashes.** Callers' hashes, the keys of a known seed and stored files can be forged so that all of
//! them want the same slots of a table whose function is known. So the slots of a hash depend on a
//! [secret](TableSecret) of the process too. Where that fails, hashes that find none of their [`PROBES`] slots
//! free go into an ordered set, so that a search always looks at [`PROBES`] slots and `log n` nodes at most.
//! That set stays empty or nearly so.

use std::collections::BTreeSet;

use crate::cpu::prefetch;
use crate::hash::TableSecret;

/// A set of 64-bit hashes.
#[derive(Debug, Clone)]
pub(super) struct HashTable {
    /// A power of two of slots; 0 marks an empty one.
    slots: Vec<u64>,
    /// The number of slots in use.
    used: usize,
    /// The hashes that found all their slots taken.
    crowded: BTreeSet<u64>,
    /// The hash 0 cannot be stored in a slot.
    has_zero: bool,
    secret: TableSecret,
}

const FIRST_SLOTS: usize = 2;

/// The number of slots that a hash may lie in, or all of a smaller table. In a table that is three quarters
/// full, the chance that a fair hash finds all of them taken is below `e^(−0.0377 · 256) = 6·10⁻⁵`.
const PROBES: usize = 256;

/// What a search returns if all slots of the hash are taken by others.
const CROWDED: usize = usize::MAX;

/// How many look-ups overlap where the table is larger than the cache.
const CHUNK: usize = 32;
/// From this many slots on, a look-up is likely to wait for memory.
const LARGE: usize = 1 << 15;

impl HashTable {
    /// The number of hashes that fit into `bytes` of memory: three quarters of the slots, because longer
    /// runs of used slots would slow every look-up.
    pub(super) const fn capacity(bytes: usize) -> usize {
        bytes / size_of::<u64>() * 3 / 4
    }

    pub(super) fn new() -> Self {
        Self::with_secret(TableSecret::of_process())
    }

    fn with_secret(secret: TableSecret) -> Self {
        Self { slots: Vec::new(), used: 0, crowded: BTreeSet::new(), has_zero: false, secret }
    }

    /// The bytes of the smallest table that takes `count` hashes.
    pub(super) const fn memory_for(count: usize) -> usize {
        let mut memory = FIRST_SLOTS * size_of::<u64>();
        while Self::capacity(memory) < count {
            memory *= 2;
        }
        memory
    }

    /// Creates an empty table that takes `count` hashes without growing.
    pub(super) fn with_room_for(count: usize) -> Self {
        Self { slots: vec![0; Self::memory_for(count) / size_of::<u64>()], ..Self::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.used + self.crowded.len() + usize::from(self.has_zero)
    }

    /// The bytes of memory behind the pointers. A hash in an ordered set takes about twice its size.
    pub(super) fn memory(&self) -> usize {
        (self.slots.len() + 2 * self.crowded.len()) * size_of::<u64>()
    }

    pub(super) fn contains(&self, hash: u64) -> bool {
        match hash {
            0 => self.has_zero,
            _ if self.slots.is_empty() => false,
            _ => match find(&self.slots, hash, self.secret) {
                CROWDED => self.crowded.contains(&hash),
                index => self.slots[index] == hash,
            },
        }
    }

    /// Adds a hash; returns true if it is new.
    #[inline]
    pub(super) fn insert(&mut self, hash: u64) -> bool {
        if hash == 0 {
            return !std::mem::replace(&mut self.has_zero, true);
        }
        if self.slots.is_empty() {
            self.grow();
        }
        let index = find(&self.slots, hash, self.secret);
        if index == CROWDED {
            return self.insert_crowded(hash);
        }
        let is_new = self.slots[index] != hash;
        if is_new {
            self.insert_at(index, hash);
        }
        is_new
    }

    /// Puts a new hash where its search ended, or in a larger table if this one is full.
    fn insert_at(&mut self, index: usize, hash: u64) {
        if self.is_full() {
            self.grow();
            self.place(hash);
        } else {
            self.used += 1;
            self.slots[index] = hash;
        }
    }

    #[cold]
    #[inline(never)]
    fn insert_crowded(&mut self, hash: u64) -> bool {
        if !self.is_full() {
            return self.crowded.insert(hash);
        }
        let is_new = !self.crowded.contains(&hash);
        if is_new {
            self.grow();
            self.place(hash);
        }
        is_new
    }

    /// Returns true if the table has to grow for one hash more.
    fn is_full(&self) -> bool {
        self.used + self.crowded.len() + 1 > Self::capacity(self.slots.len() * size_of::<u64>())
    }

    /// Puts a new hash, which is not 0, into a table with room for it.
    fn place(&mut self, hash: u64) {
        match find(&self.slots, hash, self.secret) {
            CROWDED => _ = self.crowded.insert(hash),
            index => {
                self.used += 1;
                self.slots[index] = hash;
            }
        }
    }

    /// The same as one by one; where the table is large, look-ups wait for memory together.
    pub(super) fn insert_all(&mut self, hashes: &[u64]) {
        for chunk in hashes.chunks(CHUNK) {
            if self.slots.len() >= LARGE {
                chunk
                    .iter()
                    .for_each(|&hash| prefetch(&self.slots, start(self.slots.len(), hash, self.secret)));
            }
            for &hash in chunk {
                self.insert(hash);
            }
        }
    }

    /// Makes room for `count` hashes in all.
    pub(super) fn reserve(&mut self, count: usize) {
        while Self::capacity(self.slots.len() * size_of::<u64>()) < count {
            self.grow();
        }
    }

    /// Forgets all hashes and takes these, which are different and fit without growing, instead.
    pub(super) fn replace(&mut self, hashes: &[u64]) {
        self.slots.fill(0);
        self.crowded.clear();
        self.used = 0;
        self.has_zero = false;
        for &hash in hashes {
            if hash == 0 {
                self.has_zero = true;
            } else {
                self.place(hash);
            }
        }
    }

    fn grow(&mut self) {
        let mut slots = vec![0; (self.slots.len() * 2).max(FIRST_SLOTS)];
        let crowded_before = self.crowded.len();
        for hash in self.slots.drain(..).filter(|&hash| hash != 0) {
            match find(&slots, hash, self.secret) {
                CROWDED => _ = self.crowded.insert(hash),
                index => slots[index] = hash,
            }
        }
        self.used += crowded_before;
        self.crowded.retain(|&hash| match find(&slots, hash, self.secret) {
            CROWDED => true,
            index => {
                slots[index] = hash;
                false
            }
        });
        self.used -= self.crowded.len();
        self.slots = slots;
    }

    /// Adds every hash of another table.
    pub(super) fn merge(&mut self, other: &Self) {
        let mut chunk = Vec::with_capacity(CHUNK);
        for hash in other.iter() {
            chunk.push(hash);
            if chunk.len() == CHUNK {
                self.insert_all(&chunk);
                chunk.clear();
            }
        }
        self.insert_all(&chunk);
    }

    /// The hashes, in passes that each go over the whole table.
    ///
    /// In the plain order of the slots they would fill another, still growing table from one end, where
    /// each then finds its slot taken and walks far: the time would be that of the square.
    pub(super) fn iter(&self) -> impl Iterator<Item = u64> {
        const PASSES: usize = 16;
        let passes = (0..PASSES).flat_map(|first| self.slots.iter().skip(first).step_by(PASSES));
        let in_slots = passes.copied().filter(|&hash| hash != 0);
        self.has_zero.then_some(0).into_iter().chain(in_slots).chain(self.crowded.iter().copied())
    }

    /// The hashes in the order of the slots: the quickest way to all of them.
    pub(super) fn unordered(&self) -> Vec<u64> {
        let mut hashes = vec![0; self.used + usize::from(self.has_zero) + 1];
        let mut count = usize::from(self.has_zero);
        for &hash in &self.slots {
            // Written in any case and kept if it is one: nothing for the processor to guess.
            hashes[count] = hash;
            count += usize::from(hash != 0);
        }
        hashes.truncate(count);
        hashes.extend(&self.crowded);
        hashes
    }

    /// The hashes in ascending order: the same whatever the order of insertion.
    pub(super) fn sorted(&self) -> Vec<u64> {
        let mut hashes = self.unordered();
        hashes.sort_unstable();
        hashes
    }
}

impl PartialEq for HashTable {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|hash| other.contains(hash))
    }
}

impl Eq for HashTable {}

/// The slot where the search for a hash begins, in a table of a power of two of at least two slots.
#[inline]
fn start(slots: usize, hash: u64, secret: TableSecret) -> usize {
    // Callers may bring hashes of their own that differ in few bits: a multiplication carries
    // every bit to the top, and as many of the top bits as the table needs are its index.
    (secret.spread(hash) >> (slots as u64 - 1).leading_zeros()) as usize
}

/// Returns the slot that holds a hash, which is not 0, or the free slot where it belongs, or [`CROWDED`].
/// Nothing is ever removed, so that a free slot ends the search.
#[inline]
fn find(slots: &[u64], hash: u64, secret: TableSecret) -> usize {
    let mask = slots.len() - 1;
    let first = start(slots.len(), hash, secret);
    // The first slot itself in a table of up to as many slots as a hash may lie in: one of them is free.
    let end = (first + PROBES) & mask;
    let mut index = first;
    while slots[index] != 0 && slots[index] != hash {
        index = (index + 1) & mask;
        if index == end {
            #[cfg(test)]
            tests::count_probes(PROBES);
            return CROWDED;
        }
    }
    #[cfg(test)]
    tests::count_probes((index.wrapping_sub(first) & mask) + 1);
    index
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        /// The number of slots that searches of this thread looked at.
        static PROBED: Cell<usize> = const { Cell::new(0) };
    }

    pub(super) fn count_probes(probes: usize) {
        PROBED.with(|probed| probed.set(probed.get() + probes));
    }

    /// A multiplier that attackers know.
    const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
    const KNOWN: TableSecret = TableSecret::known(MULTIPLIER);

    /// Its inverse, by Newton's iteration: each step doubles the bits that are right.
    fn inverse() -> u64 {
        (0..6).fold(MULTIPLIER, |inverse, _| {
            inverse.wrapping_mul(2_u64.wrapping_sub(MULTIPLIER.wrapping_mul(inverse)))
        })
    }

    /// Different hashes that all begin their search in the first slots of any table.
    fn forged(count: u64) -> Vec<u64> {
        let mut hashes: Vec<u64> = (1..=count).map(|product| product.wrapping_mul(inverse())).collect();
        assert!(hashes.iter().all(|&hash| start(1 << 30, hash, KNOWN) == 0));
        hashes.sort_unstable();
        hashes
    }

    /// Of a million fair hashes in the fullest table a search looks at 8.5 slots in the mean; growing places
    /// each hash twice more, at most. Forged ones look at all their slots each time and at no others.
    #[test]
    fn forged_hashes_are_probed_a_bounded_number_of_times() {
        const COUNT: usize = 100_000;
        let hashes = forged(COUNT as u64);
        let probed = |work: &mut dyn FnMut()| {
            PROBED.set(0);
            work();
            PROBED.get()
        };
        let mut table = HashTable::with_secret(KNOWN);
        let filling = probed(&mut || table.insert_all(&hashes));
        assert!(filling <= 4 * COUNT * PROBES, "{} a hash", filling / COUNT);
        assert!(filling > COUNT * PROBES, "the forgery works: {} a hash", filling / COUNT);
        assert_eq!((table.len(), table.sorted()), (COUNT, hashes.clone()));

        let mut decoded = HashTable { secret: KNOWN, ..HashTable::with_room_for(COUNT) };
        let decoding = probed(&mut || hashes.iter().for_each(|&hash| _ = decoded.insert(hash)));
        assert!(decoding <= COUNT * PROBES * 2, "{} a hash", decoding / COUNT);
        let comparing = probed(&mut || assert_eq!(decoded, table));
        assert!(comparing <= COUNT * PROBES, "{} a hash", comparing / COUNT);
        let again = probed(&mut || assert!(hashes.iter().all(|&hash| !decoded.insert(hash))));
        assert!(again <= COUNT * PROBES, "{} a hash", again / COUNT);
        let missing = probed(&mut || assert!(!decoded.contains(inverse().wrapping_mul(COUNT as u64 + 1))));
        assert!(missing <= PROBES);

        let mut merged = HashTable::with_secret(KNOWN);
        let merging = probed(&mut || merged.merge(&table));
        assert!(merging <= 4 * COUNT * PROBES, "{} a hash", merging / COUNT);
        assert_eq!(merged, table);
        decoded.replace(&hashes[..COUNT / 2]);
        assert_eq!(decoded.sorted(), hashes[..COUNT / 2]);
        assert!(decoded.memory() < 4 * 8 * COUNT, "{}", decoded.memory());
    }

    /// With a secret the same hashes are as quick as fair ones.
    #[test]
    fn forged_hashes_are_fair_under_a_secret() {
        const COUNT: usize = 100_000;
        let hashes = forged(COUNT as u64);
        PROBED.set(0);
        let mut table = HashTable::new();
        table.insert_all(&hashes);
        assert!(PROBED.get() < 30 * COUNT, "{} a hash", PROBED.get() / COUNT);
        assert_eq!(table.sorted(), hashes);
    }

    /// Slots that are taken by their own hashes, one after the other, are no way around the bound.
    #[test]
    fn a_long_run_of_taken_slots_is_not_walked_to_its_end() {
        let slots = 1 << 16;
        let mut table = HashTable { secret: KNOWN, ..HashTable::with_room_for(slots * 3 / 4) };
        let shift = 64 - 16;
        for slot in 0..slots as u64 / 2 {
            table.insert((slot << shift | 1).wrapping_mul(inverse()));
        }
        assert!(table.crowded.is_empty() && table.slots.len() == slots);
        PROBED.set(0);
        assert!(!table.contains(2_u64.wrapping_mul(inverse())));
        assert!(table.insert(2_u64.wrapping_mul(inverse())) && table.contains(2_u64.wrapping_mul(inverse())));
        assert!(PROBED.get() <= 4 * PROBES, "{}", PROBED.get());
        assert_eq!((table.crowded.len(), table.len()), (1, slots / 2 + 1));
    }

    #[test]
    fn fair_hashes_are_hardly_ever_crowded() {
        let mut table = HashTable::new();
        let mut state = 0_u64;
        for _ in 0..393_216 {
            // SplitMix64, up to the last hash that fits in its table.
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
            table.insert(mixed ^ mixed >> 31);
        }
        assert_eq!(table.slots.len(), 1 << 19);
        assert!(table.crowded.len() <= 24, "6·10⁻⁵ of them at most: {}", table.crowded.len());
    }

    #[test]
    fn keeps_each_hash_once_zero_included() {
        let mut table = HashTable::new();
        let new = [0, 5, 0, u64::MAX, 5, 1 << 40, 2 << 40].map(|hash| table.insert(hash));
        assert_eq!(new, [true, true, false, true, false, true, true]);
        assert_eq!(table.len(), 5);
        assert!(table.contains(0) && table.contains(u64::MAX) && !table.contains(6));
        assert_eq!(table.sorted(), [0, 5, 1 << 40, 2 << 40, u64::MAX]);
    }

    #[test]
    fn equality_ignores_the_order_of_insertion() {
        let (mut forward, mut backward) = (HashTable::new(), HashTable::new());
        for hash in 0..100 {
            forward.insert(hash << 33);
            backward.insert((99 - hash) << 33);
        }
        assert_eq!(forward, backward);
        backward.insert(7);
        assert_ne!(forward, backward);
    }

    #[test]
    fn repetitions_take_no_room() {
        for count in [3, 6, 12, 1536] {
            let mut table = HashTable::with_room_for(count);
            let memory = table.memory();
            let hashes: Vec<u64> = (1..=count as u64).map(|i| i << 20).collect();
            table.insert_all(&hashes);
            table.insert_all(&hashes);
            assert_eq!((table.len(), table.memory()), (count, memory));
            table.insert(1);
            assert_eq!(table.memory(), 2 * memory);
        }
    }

    /// Merging walks no more slots than inserting: in the order of the slots it would take minutes.
    #[test]
    fn merging_takes_linear_time() {
        let mut table = HashTable::new();
        (0..400_000_u64).for_each(|i| _ = table.insert(i.wrapping_mul(0xD6E8_FEB8_6659_FD93)));
        let (mut empty, mut other) = (HashTable::new(), HashTable::new());
        (0..200_000_u64).for_each(|i| _ = other.insert(i.wrapping_mul(0xA076_1D64_78BD_642F)));
        empty.merge(&table);
        assert_eq!(empty, table);
        other.merge(&table);
        assert!(other.len() > 599_990 && table.iter().all(|hash| other.contains(hash)));
    }

    #[test]
    fn replacing_leaves_nothing_behind() {
        let mut table = HashTable::with_room_for(12);
        table.insert_all(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        table.replace(&[3, 20, 30]);
        assert_eq!((table.len(), table.sorted()), (3, vec![3, 20, 30]));
        table.replace(&[0]);
        assert_eq!((table.len(), table.sorted()), (1, vec![0]));
        assert!(table.contains(0) && !table.contains(3));
    }

    #[test]
    fn large_tables_are_filled_the_same() {
        let hashes: Vec<u64> = (0..100_000_u64).map(|i| i.wrapping_mul(0xD6E8_FEB8_6659_FD93)).collect();
        let (mut batch, mut single) = (HashTable::new(), HashTable::new());
        batch.insert_all(&hashes);
        hashes.iter().for_each(|&hash| _ = single.insert(hash));
        assert_eq!(batch.len(), hashes.len());
        assert_eq!(batch, single);
    }
}
