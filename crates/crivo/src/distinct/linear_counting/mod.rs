//! Linear counting: how many different items, from the share of cells that stayed empty.
//!
//! **Question.** How many different items are there, if their number is roughly known beforehand?
//!
//! **Guarantee.** With `L` bits and `n` different items, `t = n/L`, the standard error is
//! `√(L (e^t − t − 1))/n`: for a million items 1 % in 19 KiB, 0.1 % in 97 KiB. It is small while
//! the table has room and grows without limit as the table fills. The answer is too high by
//! `(e^t − t − 1)/2` items on average, far less than the standard error.
//!
//! **Idea.** Each item sets one bit of `L`, the same bit each time it comes. A share
//! `ρ ≈ e^(−t)` of the bits stays zero, so there were `−L ln ρ` items. Near `L ln L` items all bits
//! are set, and the table tells only that there were many.
//!
//! **When not to use it.** When the number of items is not known even roughly. The memory for a
//! given error grows almost as fast as the count, whereas [`HyperLogLog`](super::HyperLogLog) needs
//! the same for every count. At an error of 1 % linear counting needs less memory than HyperLogLog
//! up to 800,000 items.
//!
//! **Source.** Whang, Vander-Zanden, Taylor: *A linear-time probabilistic counting algorithm for
//! database applications* (1990).
//!
//! **Where this departs from the paper.** The bounds are not a number of standard errors around the
//! estimate. They invert the distribution of the number of bits set. So they are whole numbers, and
//! hold from the first item to the last free bit. A full table answers with a lower bound.

mod occupancy;

use std::ops::RangeInclusive;

use self::occupancy::{least_items, most_items};
use crate::codec::{Decode, Encode, Family, Header, Parameter, Parameters, Reader, Summary, Writer};
use crate::cpu::{prefetch, zeroed};
use crate::error::{Error, Result};
use crate::estimate::{Confidence, Estimate};
use crate::hash::index;
use crate::keys::KeyScheme;
use crate::math::excess;
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{Cardinality, Merge, impl_insert_by_hash, impl_sketch};

/// Counts different items with about as many bits as items; see the [module](self).
///
/// ```
/// use crivo::distinct::LinearCounting;
///
/// let mut visitors = LinearCounting::for_items(100_000, 0.01)?;
/// for visit in 0..300_000_u32 {
///     visitors.insert(format!("user{}", visit % 100_000).as_str())?;
/// }
/// let estimate = visitors.estimate();
/// assert!(estimate.covers(100_000.0) && estimate.relative_error() < 0.03);
/// assert!(visitors.memory() < 4_000);
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinearCounting {
    scheme: KeyScheme,
    bits: u64,
    /// Bit `i` is bit `i % 64` of word `i / 64`. The bits after the last one are zero.
    words: Vec<u64>,
    /// The number of bits that are set.
    used: u64,
}

// ---- limits and sizing ----

impl LinearCounting {
    /// The allowed numbers of bits: up to 8 GiB, which count 10¹² items to 0.04 %.
    pub const BITS: RangeInclusive<u64> = 1..=1 << 36;

    /// Returns the standard error of a count of `items` with the given number of bits, as a share
    /// of the count.
    pub fn standard_error(bits: u64, items: u64) -> f64 {
        let (bits, items) = (bits as f64, items as f64);
        libm::sqrt(bits * excess(items / bits)) / items
    }

    /// Returns the fewest bits with which a count of up to `items` has at most the wanted standard
    /// error, and the table is full with a probability of less than 1 %.
    ///
    /// # Errors
    /// If `items` is 0, the error is not between 0 and 1, or no number of bits in
    /// [`BITS`](Self::BITS) reaches it.
    ///
    /// ```
    /// use crivo::distinct::LinearCounting;
    /// assert_eq!(LinearCounting::bits_for(1_000_000, 0.01)?, 154_171);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn bits_for(items: u64, error: f64) -> Result<u64> {
        if items == 0 {
            return Err(Error::parameter("items", "at least 1", items));
        }
        if !(error > 0.0 && error < 1.0) {
            return Err(Error::parameter("error", "a standard error above 0 and below 1", error));
        }
        let enough = |bits: u64| {
            // The paper's second condition: the expected number of empty cells is at least √5 times
            // its own standard deviation.
            let room = 5.0 * excess(items as f64 / bits as f64) <= bits as f64;
            room && Self::standard_error(bits, items) <= error
        };
        let (mut low, mut high) = Self::BITS.into_inner();
        if !enough(high) {
            let allowed = format_args!("one that {high} bits reach for {items} items").to_string();
            return Err(Error::parameter("error", allowed, error));
        }
        while low < high {
            let middle = low.midpoint(high);
            if enough(middle) { high = middle } else { low = middle + 1 }
        }
        Ok(high)
    }
}

// ---- construction ----

impl LinearCounting {
    /// Returns an empty sketch with the given number of bits, for keys that are bytes or text.
    ///
    /// # Errors
    /// If the number of bits is not in [`BITS`](Self::BITS), or the memory cannot be allocated.
    pub fn new(bits: u64) -> Result<Self> {
        Self::with_scheme(bits, KeyScheme::bytes())
    }

    /// Returns an empty sketch for keys of the given scheme.
    ///
    /// # Errors
    /// If the number of bits is not in [`BITS`](Self::BITS), or the memory cannot be allocated.
    pub fn with_scheme(bits: u64, scheme: KeyScheme) -> Result<Self> {
        Self::check_bits(bits)?;
        Ok(Self { scheme, bits, words: zeroed(bits.div_ceil(64))?, used: 0 })
    }

    /// Returns an empty sketch, for bytes or text, of the smallest size that counts up to `items`
    /// with the wanted standard error.
    ///
    /// # Errors
    /// As [`bits_for`](Self::bits_for), or if the memory cannot be allocated.
    pub fn for_items(items: u64, error: f64) -> Result<Self> {
        Self::new(Self::bits_for(items, error)?)
    }

    /// Returns an empty sketch for `items` different keys of the given scheme.
    ///
    /// # Errors
    /// As for [`for_items`](Self::for_items).
    pub fn for_items_with_scheme(items: u64, error: f64, scheme: KeyScheme) -> Result<Self> {
        Self::with_scheme(Self::bits_for(items, error)?, scheme)
    }

    fn check_bits(bits: u64) -> Result<()> {
        if Self::BITS.contains(&bits) {
            Ok(())
        } else {
            let (least, most) = Self::BITS.into_inner();
            Err(Error::parameter("bits", format_args!("{least} to {most}"), bits))
        }
    }
}

// ---- update ----

impl LinearCounting {
    /// Adds one key by its hash, which must come from this sketch's [`scheme`](Self::scheme).
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) {
        // The hash is uniform and only one index is needed, so it is used unchanged.
        let bit = index(hash, self.bits);
        let word = &mut self.words[(bit / 64) as usize];
        let mask = 1 << (bit % 64);
        self.used += u64::from(*word & mask == 0);
        *word |= mask;
    }

    /// Adds many keys by their hashes. Same result as one by one, but faster on large tables.
    pub fn insert_hashes(&mut self, hashes: &[u64]) {
        const CHUNK: usize = 32;
        /// The number of words that fit in the second-level cache, with room for the rest of the
        /// program.
        const SMALL: usize = 1 << 15;
        for chunk in hashes.chunks(CHUNK) {
            if self.words.len() > SMALL {
                let words = &self.words;
                chunk.iter().for_each(|&hash| prefetch(words, (index(hash, self.bits) / 64) as usize));
            }
            chunk.iter().for_each(|&hash| self.insert_hash(hash));
        }
    }
}

impl_insert_by_hash!(LinearCounting);

// ---- query ----

impl LinearCounting {
    /// Returns the number of different items, with bounds at 95 %.
    pub fn estimate(&self) -> Estimate {
        self.estimate_at(Confidence::P95)
    }

    /// Returns the number of different items, with bounds at the given confidence. The lower bound
    /// is never below the number of bits set. The upper bound of a full table is infinite, and its
    /// value is the count that fills a table of this size with probability one half.
    pub fn estimate_at(&self, confidence: Confidence) -> Estimate {
        if self.used == 0 {
            return Estimate::exact(0.0);
        }
        let (used, cells) = (self.used as f64, self.bits as f64);
        let value =
            if self.is_full() { least_items(used, cells, 0.5) } else { -cells * libm::log1p(-used / cells) };
        if confidence.is_certain() {
            return Estimate::certain(value, used, f64::INFINITY);
        }
        let unlikely = (1.0 - confidence.level()) / 2.0;
        let (lower, upper) = (least_items(used, cells, unlikely), most_items(used, cells, unlikely));
        Estimate::probable(value, lower, upper, confidence)
    }

    /// Returns true if every bit is set. A full table tells nothing about further items.
    pub fn is_full(&self) -> bool {
        self.used == self.bits
    }

    /// Returns true if nothing was inserted.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// The number of bits.
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// Returns how keys are hashed.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// Bytes of memory in use, the struct itself included.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.words.len() * size_of::<u64>()
    }

    /// The sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        vec![("bits", Parameter::Count(self.bits))]
    }

    /// Returns a summary of the sketch: its parameters, number of items, fill and memory.
    pub fn summary(&self) -> Summary {
        Summary {
            family: Self::FAMILY,
            parameters: [
                self.parameters(),
                vec![("state", Parameter::Name(if self.is_full() { "full" } else { "counting" }))],
            ]
            .concat(),
            scheme: self.scheme,
            items: self.estimate(),
            fill: Some(self.used as f64 / self.bits as f64),
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}

impl_sketch!(LinearCounting, hashes, keys, cardinality);

impl Cardinality for LinearCounting {
    fn distinct(&self) -> Estimate {
        self.estimate()
    }

    fn is_full(&self) -> bool {
        self.is_full()
    }
}

// ---- merge ----

impl LinearCounting {
    /// Merges `other` into this sketch. The result equals the sketch of both streams, bit for bit.
    ///
    /// # Errors
    /// If the schemes or the numbers of bits differ; the sketch is unchanged then.
    ///
    /// ```
    /// use crivo::distinct::LinearCounting;
    /// let (mut monday, mut tuesday) = (LinearCounting::new(10_000)?, LinearCounting::new(10_000)?);
    /// monday.insert("ana")?;
    /// tuesday.insert("ana")?;
    /// tuesday.insert("rui")?;
    /// monday.merge(&tuesday)?;
    /// assert_eq!(monday.estimate().lower(), 2.0);
    /// assert!(monday.merge(&LinearCounting::new(20_000)?).is_err());
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.scheme.require_same(other.scheme)?;
        if self.bits != other.bits {
            let advice = "build both with the same number of bits";
            return Err(Error::incompatible("bits", self.bits, other.bits, advice));
        }
        self.used = 0;
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            *mine |= theirs;
            self.used += u64::from(mine.count_ones());
        }
        Ok(())
    }
}

impl Merge for LinearCounting {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}

// ---- bytes ----

impl LinearCounting {
    /// Returns the sketch as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Returns the sketch that the bytes hold.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of a `LinearCounting`: see [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for LinearCounting {
    const FAMILY: Family = Family::LinearCounting;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u64(self.bits);
        let mut left = self.bits.div_ceil(8) as usize;
        for word in &self.words {
            let bytes = word.to_le_bytes();
            writer.bytes(&bytes[..left.min(8)]);
            left -= left.min(8);
        }
    }
}

impl Decode for LinearCounting {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let bits = reader.u64("bits")?;
        Self::check_bits(bits).map_err(|error| Error::contents("bits", error.expected(), bits))?;
        let table = reader.bytes("table", bits.div_ceil(8))?;
        let mut sketch = Self::with_scheme(bits, header.scheme)?;
        for (word, bytes) in sketch.words.iter_mut().zip(table.chunks(8)) {
            let mut array = [0; 8];
            array[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_le_bytes(array);
            sketch.used += u64::from(word.count_ones());
        }
        let spare = u32::try_from(bits % 64).unwrap_or(0);
        let past_the_end = sketch.words.last().map_or(0, |last| if spare == 0 { 0 } else { last >> spare });
        if past_the_end != 0 {
            return Err(Error::contents("table", "zeros after the last bit", "ones"));
        }
        Ok(sketch)
    }
}
