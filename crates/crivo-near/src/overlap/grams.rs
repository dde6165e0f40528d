//! All n-grams of one length, and their places among the words of the items.

use crivo::similarity::winnow::gram_hashes;
use hashbrown::HashTable;

/// The bits of the filter for each n-gram, which sets two of them. The false positive rate is at
/// most 2 %.
const BITS_A_GRAM: usize = 16;

/// Marks a place that has no n-gram before it.
pub(super) const NO_GRAM: u32 = u32::MAX;

/// A place of an n-gram in an item.
#[derive(Debug, Clone, Copy)]
pub(super) struct GramPlace {
    /// The position of the n-gram's first word among the words of all items.
    pub(super) position: u32,
    /// The number of the item.
    pub(super) item: u32,
    /// The n-gram that begins one word before in the same item, or [`NO_GRAM`] if there is none.
    pub(super) before: u32,
}

/// The distinct n-grams of one length, numbered from 0.
pub(super) struct GramTable {
    pub(super) length: usize,
    /// The numbers of the n-grams, by the hash of the n-gram.
    table: HashTable<u32>,
    /// The start of each n-gram's places in `places`, and the end of the last.
    starts: Vec<u32>,
    /// The places of all n-grams, sorted by n-gram and then by the n-gram before.
    places: Vec<GramPlace>,
    /// A Bloom filter of the n-grams' hashes, because most n-grams of documents are in no item.
    filter: Vec<u64>,
}

impl GramTable {
    /// Numbers the n-grams that begin at the given words. `begins` has the position of each with
    /// its item, in ascending order.
    pub(super) fn new(length: usize, begins: &[(u32, u32)], words: &[u64]) -> Self {
        let bits = (begins.len() * BITS_A_GRAM).next_power_of_two().max(64);
        let mut filter = vec![0; bits / 64];
        // The first place of each n-gram, and the number of the n-gram at each place.
        let mut firsts: Vec<u32> = Vec::new();
        let mut numbers: Vec<u32> = Vec::with_capacity(begins.len());
        // Large enough for all n-grams, so that it never grows.
        let mut table: HashTable<u32> = HashTable::with_capacity(begins.len());
        let mut hashes = Vec::new();
        // The hashes of n-grams that begin at consecutive words of an item are computed together.
        for run in begins.chunk_by(|one, other| one.0 + 1 == other.0 && one.1 == other.1) {
            let Some(&(first, _)) = run.first() else { continue };
            gram_hashes(gram_at(words, first, run.len() - 1 + length), length, &mut hashes);
            for (&(position, _), &hash) in run.iter().zip(&hashes) {
                let gram = gram_at(words, position, length);
                let (word, bits) = slot(&filter, hash);
                filter[word] |= bits;
                let same = |other: &u32| gram_at(words, firsts[*other as usize], length) == gram;
                numbers.push(table.find(hash, same).copied().unwrap_or_else(|| {
                    let number = firsts.len() as u32;
                    firsts.push(position);
                    table.insert_unique(hash, number, |other| {
                        let mut own = Vec::new();
                        gram_hashes(gram_at(words, firsts[*other as usize], length), length, &mut own);
                        own.first().copied().unwrap_or(0)
                    });
                    number
                }));
            }
        }
        let (starts, places) = by_number(&numbers, firsts.len(), begins);
        Self { length, table, starts, places, filter }
    }

    /// Returns the number of the n-gram with this hash, or `None` if no item has it.
    #[inline]
    pub(super) fn find(&self, hash: u64, gram: &[u64], words: &[u64]) -> Option<u32> {
        let (word, bits) = slot(&self.filter, hash);
        if self.filter[word] & bits != bits {
            return None;
        }
        let same = |&number: &u32| {
            let first = self.places[self.starts[number as usize] as usize].position;
            gram_at(words, first, self.length) == gram
        };
        self.table.find(hash, same).copied()
    }

    /// Returns the number of distinct n-grams.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns all places of an n-gram.
    pub(super) fn places(&self, gram: u32) -> &[GramPlace] {
        let [start, end] = [gram as usize, gram as usize + 1].map(|at| self.starts[at] as usize);
        &self.places[start..end]
    }

    /// Returns the places of an n-gram without those directly after the n-gram `before`. Returns
    /// all places if `before` is [`NO_GRAM`].
    pub(super) fn places_not_after(&self, before: u32, gram: u32) -> impl Iterator<Item = &GramPlace> {
        let places = self.places(gram);
        let first = places.partition_point(|place| place.before < before);
        let followers = places[first..].partition_point(|place| place.before == before && before != NO_GRAM);
        places[..first].iter().chain(&places[first + followers..])
    }
}

/// Sorts places by the number of their n-gram. Returns the start of each n-gram's places, and the
/// places.
fn by_number(numbers: &[u32], different: usize, begins: &[(u32, u32)]) -> (Vec<u32>, Vec<GramPlace>) {
    let mut starts = vec![0; different + 1];
    numbers.iter().for_each(|&number| starts[number as usize + 1] += 1);
    (0..different).for_each(|number| starts[number + 1] += starts[number]);
    let mut places = vec![GramPlace { position: 0, item: 0, before: NO_GRAM }; numbers.len()];
    let mut last: Option<(u32, u32, u32)> = None;
    for (&number, &(position, item)) in numbers.iter().zip(begins) {
        let before = match last {
            Some((before, at, same)) if at + 1 == position && same == item => before,
            _ => NO_GRAM,
        };
        let next = &mut starts[number as usize];
        places[*next as usize] = GramPlace { position, item, before };
        *next += 1;
        last = Some((number, position, item));
    }
    // Each start has become its end, which is the start of the next n-gram.
    starts.rotate_right(1);
    starts[0] = 0;
    for range in starts.windows(2) {
        places[range[0] as usize..range[1] as usize].sort_by_key(|place: &GramPlace| place.before);
    }
    (starts, places)
}

/// Returns the word of the filter for a hash, and the bits of the hash in that word.
#[inline]
fn slot(filter: &[u64], hash: u64) -> (usize, u64) {
    (hash as usize & (filter.len() - 1), 1 << (hash >> 58) | 1 << (hash >> 52 & 63))
}

fn gram_at(words: &[u64], position: u32, length: usize) -> &[u64] {
    words.get(position as usize..position as usize + length).unwrap_or_default()
}
