// This file is long because the documentation and the examples of its public functions stand in it.

//! Counting Bloom filter: is it in there, how often, and can it be taken out again?
//!
//! **Question.** Was this key inserted, about how many times, and what is left when keys are
//! removed or one collection is subtracted from another?
//!
//! **Guarantee.** "No" is certain. "Yes" is wrong with probability `fill^k`: after `n` different
//! keys in `m` cells, `k` of them a key, that is `(1 − e^(−kn/m))^k`. A count is never below the
//! truth, and with probability `1 − fill^k` it is the truth.
//!
//! **Idea.** A Bloom filter with counters in place of bits. A key raises its `k` counters by one
//! when it is inserted and lowers them when it is removed; the least of them tells how often it is
//! in there, because all of them counted it and the least was disturbed least by others. Adding the
//! counters of two filters joins their streams; subtracting them takes one out of the other.
//!
//! **When not to use it.** If nothing is ever removed or counted: a [`Bloom`](super::Bloom) filter
//! is a quarter to a thirty-second of the size. For frequencies in long streams, where most keys
//! are rare: a Count-Min sketch has a bound that does not depend on the number of different keys.
//!
//! **What breaks it.** Removing a key that was never inserted. If one of its counters is 0 that is
//! noticed and refused. If none is (a false positive) it cannot be noticed: the counters of other
//! keys are lowered, and those may later be missed or counted too low. So only remove what was
//! inserted. A counter at its largest value is *saturated*: its true value is unknown, so it is
//! never lowered again, and its keys may be reported after they are gone.
//! [`CountingBloom::saturated`] says how many there are; wider counters avoid it.
//!
//! **Sources.** Bloom: *Space/time trade-offs in hash coding with allowable errors* (1970). Fan,
//! Cao, Almeida, Broder: *Summary cache* (2000), for counters, their width and their saturation.
//! Cormode, Muthukrishnan: *An improved data stream summary* (2005), for the least of several
//! counters as a count.
//!
//! **Where this departs from the papers.** The number of cells is right for the integer number of
//! indexes. A key two of whose indexes are the same cell raises it once, not twice: the least
//! counter stays the count, and removal stays exact. Counts come with bounds: see
//! [`count_at`](CountingBloom::count_at).

mod algebra;
mod count;
mod counters;

pub use self::counters::CounterBits;

use self::counters::{Counters, MOST_TOGETHER};
use super::occupancy::Occupancy;
use super::sizing;
use crate::codec::{Decode, Encode, Family, Header, Parameter, Parameters, Reader, Summary, Writer};
use crate::error::{Error, ErrorKind, Result};
use crate::estimate::{Confidence, Estimate};
use crate::hash::{index, remix};
use crate::keys::{Key, KeyBatch, KeyRef, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{ContainsHashes, Frequency, InsertHashes, InsertKeys, Merge, impl_sketch};

/// A Bloom filter that counts and forgets; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::membership::{CounterBits, CountingBloom};
///
/// let mut senders = CountingBloom::for_items(100_000, 0.001, CounterBits::Four)?;
/// senders.insert("ana@example.org")?;
/// senders.insert("ana@example.org")?;
/// assert_eq!(senders.count("ana@example.org")?.value(), 2.0);
/// assert!(!senders.contains("rui@example.org")?);
///
/// senders.remove("ana@example.org")?;
/// senders.remove("ana@example.org")?;
/// assert!(!senders.contains("ana@example.org")?);
/// assert!(senders.remove("ana@example.org").is_err());
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountingBloom {
    scheme: KeyScheme,
    hashes: u32,
    capacity: u64,
    counters: Counters,
}

// ---- limits and sizing ----

/// How many cells are fetched from memory at once.
const CHUNK: usize = 512;

/// How many keys are looked up at once.
const LOOKUPS: usize = 64;

impl CountingBloom {
    /// The fewest cells, and the number of them chosen for each key, with which `items` different
    /// keys give the false-positive rate: `m = −kn/ln(1 − p^(1/k))` for the best integer `k`.
    ///
    /// # Errors
    /// If `items` or `rate` is outside its range.
    ///
    /// ```
    /// use crivo::membership::CountingBloom;
    /// assert_eq!(CountingBloom::size_for(1_000_000, 0.01)?, (9_592_955, 7));
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn size_for(items: u64, rate: f64) -> Result<(u64, u32)> {
        sizing::cells_for(items, rate)
    }

    /// The false-positive rate that `items` different keys are expected to give:
    /// `(1 − (1 − 1/m)^(kn))^k`.
    pub fn expected_rate(cells: u64, hashes: u32, items: u64) -> f64 {
        sizing::expected_rate(cells, hashes, items)
    }
}

// ---- construction ----

impl CountingBloom {
    /// Creates an empty filter of the given size for keys that are bytes or text.
    ///
    /// # Errors
    /// If a size is outside its range, or the memory cannot be allocated.
    pub fn new(cells: u64, hashes: u32, counter_bits: CounterBits) -> Result<Self> {
        Self::with_scheme(cells, hashes, counter_bits, KeyScheme::bytes())
    }

    /// Creates an empty filter of the given size for keys of the given scheme. Its capacity is the
    /// number of items that fill half of the cells.
    ///
    /// # Errors
    /// If a size is outside its range, or the memory cannot be allocated.
    ///
    /// ```
    /// use crivo::keys::KeyScheme;
    /// use crivo::membership::{CounterBits, CountingBloom};
    ///
    /// let mut orders = CountingBloom::with_scheme(1000, 3, CounterBits::Sixteen, KeyScheme::integers())?;
    /// orders.add(&1234, 500)?;
    /// assert_eq!(orders.count(&1234)?.upper(), 500.0);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn with_scheme(
        cells: u64,
        hashes: u32,
        counter_bits: CounterBits,
        scheme: KeyScheme,
    ) -> Result<Self> {
        sizing::check_size("cells", cells, hashes)?;
        let capacity = sizing::half_full_at(cells, hashes);
        Ok(Self { scheme, hashes, capacity, counters: Counters::new(cells, counter_bits)? })
    }

    /// Creates an empty filter for keys that are bytes or text. With `items` different keys it has
    /// the false-positive rate `rate`.
    ///
    /// # Errors
    /// If `items` or `rate` is outside its range, or the memory cannot be allocated.
    pub fn for_items(items: u64, rate: f64, counter_bits: CounterBits) -> Result<Self> {
        Self::for_items_with_scheme(items, rate, counter_bits, KeyScheme::bytes())
    }

    /// Creates an empty filter, with counters of the given width, for keys of the given scheme.
    /// With `items` different keys it has the false-positive rate `rate`.
    ///
    /// # Errors
    /// If `items` or `rate` is outside its range, or the memory cannot be allocated.
    pub fn for_items_with_scheme(
        items: u64,
        rate: f64,
        counter_bits: CounterBits,
        scheme: KeyScheme,
    ) -> Result<Self> {
        let (cells, hashes) = sizing::cells_for(items, rate)?;
        Ok(Self { scheme, hashes, capacity: items, counters: Counters::new(cells, counter_bits)? })
    }
}

// ---- update ----

impl CountingBloom {
    /// Adds one key, and says whether it was certainly not in there before.
    ///
    /// # Errors
    /// If the key is not of the filter's kind.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool> {
        Ok(self.insert_hash(self.scheme.hash(key)?))
    }

    /// Adds one key by its hash, which must come from this filter's [`scheme`](Self::scheme), and
    /// says whether it was certainly not in there before.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        self.add_hash(hash, 1)
    }

    /// Adds one key many times: the same as inserting it that often.
    ///
    /// # Errors
    /// If the key is not of the filter's kind.
    pub fn add<K: Key + ?Sized>(&mut self, key: &K, times: u64) -> Result<()> {
        self.add_hash(self.scheme.hash(key)?, times);
        Ok(())
    }

    /// Adds one key by its hash many times, and says whether it was certainly not in there before.
    #[inline]
    pub fn add_hash(&mut self, hash: u64, times: u64) -> bool {
        let mut cells = [0; MOST_TOGETHER];
        let cells = self.cells_of(hash, &mut cells);
        self.counters.raise(cells, times) == 0
    }

    /// Adds many keys by their hashes. Same result as one by one, but faster.
    pub fn insert_hashes(&mut self, hashes: &[u64]) {
        let rows = self.hashes as usize;
        let mut cells = [0; CHUNK];
        for chunk in hashes.chunks(CHUNK / rows) {
            for cells in self.fetch(chunk, &mut cells).chunks_exact(rows) {
                self.counters.raise(cells, 1);
            }
        }
    }

    /// Adds a batch of keys.
    ///
    /// # Errors
    /// If the batch was hashed under another scheme; nothing is added then.
    pub fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        InsertKeys::insert_batch(self, batch)
    }

    /// Takes one key out, once. What this does to a key that was never inserted is in the
    /// [module](self): it is refused if that can be known, and does harm if it cannot.
    ///
    /// # Errors
    /// If the key is not of the filter's kind, or is certainly not in there
    /// ([`ErrorKind::Absent`]); nothing is changed then.
    #[inline]
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Result<()> {
        self.remove_hash(self.scheme.hash(key)?)
    }

    /// Takes one key out, once, by its hash.
    ///
    /// # Errors
    /// If the key is certainly not in there ([`ErrorKind::Absent`]); nothing is changed then.
    #[inline]
    pub fn remove_hash(&mut self, hash: u64) -> Result<()> {
        let mut cells = [0; MOST_TOGETHER];
        let cells = self.cells_of(hash, &mut cells);
        self.lower(cells)
    }

    /// Takes many keys out by their hashes, each as often as it occurs among them: all, or none.
    ///
    /// # Errors
    /// If one of them is certainly not in there ([`ErrorKind::Absent`]); nothing is changed then.
    pub fn remove_hashes(&mut self, hashes: &[u64]) -> Result<()> {
        let rows = self.hashes as usize;
        let (mut cells, mut removed) = ([0; CHUNK], 0);
        for chunk in hashes.chunks(CHUNK / rows) {
            for cells in self.fetch(chunk, &mut cells).chunks_exact(rows) {
                if let Err(error) = self.lower(cells) {
                    // Inserting undoes a removal exactly: saturated counters were not touched by
                    // either.
                    self.insert_hashes(&hashes[..removed]);
                    return Err(error);
                }
                removed += 1;
            }
        }
        Ok(())
    }

    /// Takes a batch of keys out, each as often as it occurs in it: all, or none.
    ///
    /// # Errors
    /// If the batch was hashed under another scheme, or one of its keys is certainly not in there
    /// ([`ErrorKind::Absent`]); nothing is changed then.
    pub fn remove_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        self.scheme.require_same(batch.scheme())?;
        self.remove_hashes(batch.hashes())
    }

    fn lower(&mut self, cells: &[u64]) -> Result<()> {
        match cells.iter().find(|&&cell| self.counters.get(cell) == 0) {
            None => {
                self.counters.lower(cells);
                Ok(())
            }
            Some(&cell) => Err(absent(cell)),
        }
    }

    /// The cell that a row of indexes gives a hash: the same as in a Bloom filter of that size.
    #[inline]
    fn cell(&self, hash: u64, row: u32) -> u64 {
        index(remix(hash, row), self.counters.cells())
    }

    /// The cells of all rows, written to the front of `cells`; some may be the same.
    #[inline]
    fn cells_of<'a>(&self, hash: u64, cells: &'a mut [u64]) -> &'a [u64] {
        let cells = &mut cells[..self.hashes as usize];
        cells.iter_mut().zip(0..).for_each(|(cell, row)| *cell = self.cell(hash, row));
        cells
    }

    /// The cells of all hashes, one hash after the other, on their way from memory.
    #[inline]
    fn fetch<'a>(&self, hashes: &[u64], cells: &'a mut [u64]) -> &'a [u64] {
        let rows = self.hashes as usize;
        let cells = &mut cells[..hashes.len() * rows];
        for (&hash, cells) in hashes.iter().zip(cells.chunks_exact_mut(rows)) {
            self.cells_of(hash, cells).iter().for_each(|&cell| self.counters.prefetch(cell));
        }
        cells
    }
}

#[cold]
fn absent(cell: u64) -> Error {
    Error::new(
        ErrorKind::Absent,
        "key",
        "one whose counters are all above 0",
        format_args!("0 in cell {cell}"),
        "it was never inserted, or was removed already",
    )
}

impl InsertHashes for CountingBloom {
    fn insert_hash(&mut self, hash: u64) {
        self.insert_hash(hash);
    }

    fn insert_hashes(&mut self, hashes: &[u64]) {
        self.insert_hashes(hashes);
    }
}

// ---- query ----

impl CountingBloom {
    /// Returns true if the key may be in the filter. `false` is certain.
    ///
    /// # Errors
    /// If the key is not of the filter's kind.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> Result<bool> {
        Ok(self.contains_hash(self.scheme.hash(key)?))
    }

    /// Returns true if the key of this hash may be in there; `false` is certain.
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        (0..self.hashes).all(|row| self.counters.get(self.cell(hash, row)) > 0)
    }

    /// Answers for many hashes, in their order, replacing what `found` held; the same as one by
    /// one, and faster if the filter is larger than the processor's caches.
    ///
    /// Row after row, the cells of all hashes that are still in question are fetched together, so
    /// that an absent key costs as few cells as it does alone.
    pub fn contains_hashes(&self, hashes: &[u64], found: &mut Vec<bool>) {
        found.clear();
        found.resize(hashes.len(), false);
        let (mut open, mut cells) = ([0; LOOKUPS], [0; LOOKUPS]);
        for (hashes, found) in hashes.chunks(LOOKUPS).zip(found.chunks_mut(LOOKUPS)) {
            let mut left = hashes.len();
            open.iter_mut().zip(0..left).for_each(|(open, position)| *open = position);
            for row in 0..self.hashes {
                for (cell, &position) in cells.iter_mut().zip(&open[..left]) {
                    *cell = self.cell(hashes[position], row);
                    self.counters.prefetch(*cell);
                }
                // Written without a branch, because whether a cell is in use is a toss.
                let mut kept = 0;
                for at in 0..left {
                    open[kept] = open[at];
                    kept += usize::from(self.counters.get(cells[at]) > 0);
                }
                left = kept;
            }
            open[..left].iter().for_each(|&position| found[position] = true);
        }
    }

    /// Returns the number of different items, with bounds at 95 %.
    pub fn items(&self) -> Estimate {
        self.items_at(Confidence::P95)
    }

    /// The number of different items, with bounds at the given confidence, from the number of cells
    /// in use. Those that saturation keeps in use are counted as if their keys were still there.
    pub fn items_at(&self, confidence: Confidence) -> Estimate {
        self.occupancy().items(self.cells() - self.counters.tally().in_use, confidence)
    }

    fn occupancy(&self) -> Occupancy {
        Occupancy { cells: self.cells(), hashes: self.hashes, word: None }
    }

    /// The share of cells in use.
    pub fn fill(&self) -> f64 {
        self.counters.tally().in_use as f64 / self.cells() as f64
    }

    /// The false-positive rate at the present fill: `fill^k`.
    pub fn false_positive_rate(&self) -> f64 {
        libm::pow(self.fill(), f64::from(self.hashes))
    }

    /// Returns how many counters are at their largest value, and so no longer know what they count.
    pub fn saturated(&self) -> u64 {
        self.counters.tally().saturated
    }

    /// Returns how many different items the filter was sized for; with more the false-positive rate
    /// is above what was asked for.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Returns how many cells there are.
    pub fn cells(&self) -> u64 {
        self.counters.cells()
    }

    /// Returns how many cells a key has.
    pub fn hashes(&self) -> u32 {
        self.hashes
    }

    /// Returns the width of a counter.
    pub fn counter_bits(&self) -> CounterBits {
        self.counters.width()
    }

    /// Returns true if every counter is zero.
    pub fn is_empty(&self) -> bool {
        self.counters.tally().in_use == 0
    }

    /// Returns how keys are hashed.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// Bytes of memory in use, the struct itself included.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.counters.memory()
    }

    /// The sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        vec![
            ("cells", Parameter::Count(self.cells())),
            ("hashes", Parameter::Count(self.hashes.into())),
            ("counter_bits", Parameter::Count(self.counter_bits().bits().into())),
            ("capacity", Parameter::Count(self.capacity)),
        ]
    }

    /// Returns a summary of the sketch: its parameters, number of items, fill and memory.
    pub fn summary(&self) -> Summary {
        Summary {
            family: Self::FAMILY,
            parameters: [self.parameters(), vec![("saturated", Parameter::Count(self.saturated()))]].concat(),
            scheme: self.scheme,
            items: self.items(),
            fill: Some(self.fill()),
            false_positive_rate: Some(self.false_positive_rate()),
            memory: self.memory(),
        }
    }
}

impl ContainsHashes for CountingBloom {
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn contains_hashes(&self, hashes: &[u64], found: &mut Vec<bool>) {
        self.contains_hashes(hashes, found);
    }
}

impl_sketch!(CountingBloom, hashes, keys, membership, frequency);
impl_membership_by_hash!(CountingBloom, can_remove);

impl Frequency for CountingBloom {
    fn frequency_ref(&self, key: KeyRef<'_>) -> Result<Estimate> {
        Ok(self.count_hash(self.scheme.hash_ref(key)?))
    }
}

// ---- merge ----

// Merging, subtracting, intersecting and comparing whole filters is in `algebra`.

impl Merge for CountingBloom {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}

// ---- bytes ----

impl CountingBloom {
    /// Returns the filter as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Returns the filter that the bytes hold.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of a counting Bloom filter: see
    /// [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for CountingBloom {
    const FAMILY: Family = Family::CountingBloom;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u64(self.cells());
        writer.u64(self.capacity);
        writer.u8(self.hashes as u8);
        writer.u8(self.counter_bits().bits() as u8);
        writer.u64s(self.counters.words().iter().copied());
    }
}

impl Decode for CountingBloom {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let cells = reader.u64("cells")?;
        let capacity = reader.u64("capacity")?;
        let hashes = reader.u8("hashes")?.into();
        let bits = reader.u8("counter bits")?;
        let contents = |error: Error| Error::contents(error.field(), error.expected(), error.found());
        sizing::check_size("cells", cells, hashes).map_err(contents)?;
        let width = CounterBits::of(bits.into()).map_err(contents)?;
        sizing::check_capacity(capacity)?;
        let words = reader.u64s("counters", Counters::words_for(cells, width))?;
        let counters = Counters::from_words(cells, width, words)?;
        Ok(Self { scheme: header.scheme, hashes, capacity, counters })
    }
}
