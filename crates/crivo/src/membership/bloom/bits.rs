//! The bits of a Bloom filter, and the loops over them.

use crate::cpu::{prefetch, zeroed};
use crate::error::Result;
use crate::hash::{index, multipliers};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

const WORD: u64 = u64::BITS as u64;

/// The number of keys that are looked up together: enough for independent memory accesses to keep
/// the memory busy, and few enough for their places to stay in the first-level cache.
const CHUNK: usize = 32;

/// The number of places of a chunk that are kept at once.
const PLACES: usize = 8 * CHUNK;

/// The number of rows that every key is tested in before any branch. Most keys that are not in the
/// filter fail within these rows. Each row fails at random, so the processor would mispredict a
/// branch half of the time.
const FIRST_ROWS: usize = 2;

/// Up to this many words the array nearly fits in the second-level cache. The processor then
/// prefetches by itself, and prefetch instructions only cost time.
const CACHED_WORDS: usize = 1 << 18;

/// Runs the expression with the multipliers of the rows, one for each bit of a key. Up to ten rows,
/// the number for a rate of one in a thousand, the expression is compiled for each number of rows.
/// Then loops are unrolled and the multipliers are constants, which saves a quarter of the time of
/// an insertion.
macro_rules! with_rows {
    ($number:expr, $rows:ident => $body:expr) => {
        with_rows!(@known $number, $rows, $body, 1 2 3 4 5 6 7 8 9 10)
    };
    (@known $number:expr, $rows:ident, $body:expr, $($known:literal)*) => {
        match $number {
            $($known => {
                let $rows = const { multipliers($known) };
                $body
            })*
            number => {
                let $rows = multipliers(number);
                $body
            }
        }
    };
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bits {
    words: Vec<u64>,
    len: u64,
    hashes: u32,
}

impl Bits {
    /// Creates an array of zeros.
    pub(super) fn new(len: u64, hashes: u32) -> Result<Self> {
        Ok(Self { words: zeroed(len.div_ceil(WORD))?, len, hashes })
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn hashes(&self) -> u32 {
        self.hashes
    }

    /// Returns the words, of 64 bits each. Bits past the end are zero.
    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    pub(super) fn ones(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Replaces the words by those of `iterator`. Returns false if a bit past the end is set.
    pub(super) fn fill_from(&mut self, words: impl Iterator<Item = u64>) -> bool {
        self.words.iter_mut().zip(words).for_each(|(mine, word)| *mine = word);
        let used = self.len % WORD;
        used == 0 || self.words.last().is_none_or(|last| last >> used == 0)
    }

    /// Combines each word with the corresponding word of `other`, which has the same length.
    pub(super) fn combine(&mut self, other: &Self, operation: impl Fn(u64, u64) -> u64) {
        for (mine, &theirs) in self.words.iter_mut().zip(&other.words) {
            *mine = operation(*mine, theirs);
        }
    }

    /// Returns how many bits are set in at least one of the two arrays.
    pub(super) fn ones_in_union(&self, other: &Self) -> u64 {
        self.words
            .iter()
            .zip(&other.words)
            .map(|(mine, theirs)| u64::from((mine | theirs).count_ones()))
            .sum()
    }

    /// Returns one multiplier for each bit of a key.
    #[inline(always)]
    fn rows(&self) -> &'static [u64] {
        multipliers(self.hashes)
    }

    /// Returns the place of the bit that a row chooses.
    #[inline(always)]
    fn place(&self, hash: u64, multiplier: u64) -> u64 {
        index(hash.wrapping_mul(multiplier), self.len)
    }

    /// Returns a word whose lowest bit is the bit at a place. Its other bits are meaningless.
    #[inline(always)]
    fn bit(&self, place: u64) -> u64 {
        self.words[(place / WORD) as usize] >> (place % WORD)
    }

    /// Sets the bits of a key. Returns true if one of them was zero.
    #[inline(always)]
    pub(super) fn insert(&mut self, hash: u64) -> bool {
        with_rows!(self.hashes, rows => {
            let mut all_set = u64::MAX;
            for &multiplier in rows {
                let place = self.place(hash, multiplier);
                let word = &mut self.words[(place / WORD) as usize];
                all_set &= *word >> (place % WORD);
                *word |= 1 << (place % WORD);
            }
            all_set & 1 == 0
        })
    }

    #[inline(always)]
    pub(super) fn contains(&self, hash: u64) -> bool {
        let bit = |&multiplier: &u64| self.bit(self.place(hash, multiplier));
        with_rows!(self.hashes, rows => {
            let (first, others) = rows.split_at(rows.len().min(FIRST_ROWS));
            first.iter().fold(1, |all, row| all & bit(row)) == 1 && others.iter().all(|row| bit(row) & 1 == 1)
        })
    }

    /// Adds many keys. Same result as one by one, but all places of a chunk are prefetched before
    /// the first is written.
    pub(super) fn insert_all(&mut self, hashes: &[u64]) {
        if self.words.len() <= CACHED_WORDS {
            for &hash in hashes {
                self.insert(hash);
            }
            return;
        }
        let mut places = [0; PLACES];
        for chunk in hashes.chunks(PLACES / self.rows().len()) {
            let count = self.fetch(chunk.iter().copied(), self.rows(), &mut places);
            for &place in &places[..count] {
                self.words[(place / WORD) as usize] |= 1 << (place % WORD);
            }
        }
    }

    /// Looks up many keys. Same result as one by one, but in two steps: the first rows of a whole
    /// chunk, then the other rows of the keys that passed.
    pub(super) fn contains_all(&self, hashes: &[u64], found: &mut Vec<bool>) {
        let (first, others) = self.rows().split_at(self.rows().len().min(FIRST_ROWS));
        found.clear();
        found.resize(hashes.len(), false);
        let mut places = [0; PLACES];
        for (hashes, found) in hashes.chunks(CHUNK).zip(found.chunks_mut(CHUNK)) {
            self.fetch(hashes.iter().copied(), first, &mut places);
            let (mut keys, mut passed) = ([0_u8; CHUNK], 0);
            for (key, places) in places.chunks_exact(first.len()).take(hashes.len()).enumerate() {
                keys[passed % CHUNK] = key as u8;
                passed += usize::from(self.are_set(places));
            }
            if others.is_empty() {
                keys[..passed].iter().for_each(|&key| found[key as usize] = true);
                continue;
            }
            for keys in keys[..passed].chunks(PLACES / others.len()) {
                self.fetch(keys.iter().map(|&key| hashes[key as usize]), others, &mut places);
                for (&key, places) in keys.iter().zip(places.chunks_exact(others.len())) {
                    found[key as usize] = self.are_set(places);
                }
            }
        }
    }

    /// Returns true if the bits at all places are set, without a branch for each.
    #[inline(always)]
    fn are_set(&self, places: &[u64]) -> bool {
        places.iter().fold(1, |all, &place| all & self.bit(place)) == 1
    }

    /// Prefetches the places of the keys in the rows and writes them to `places`. Returns how many
    /// there are.
    #[inline(always)]
    fn fetch(&self, hashes: impl Iterator<Item = u64>, rows: &[u64], places: &mut [u64; PLACES]) -> usize {
        let mut count = 0;
        for hash in hashes {
            for &multiplier in rows {
                let place = self.place(hash, multiplier);
                prefetch(&self.words, (place / WORD) as usize);
                places[count % PLACES] = place;
                count += 1;
            }
        }
        count
    }
}
