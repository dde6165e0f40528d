//! UltraLogLog: how many different, more sharply than HyperLogLog from the same memory.
//!
//! **Question.** How many different items are in a stream too long to remember?
//!
//! **Guarantee.** With `m = 2^precision` registers of one byte the standard error of a large
//! count is `0.7609/√m`: 1.2 % in 4 KiB, 0.15 % in 256 KiB, from one item to 2^64. Memory times
//! variance is 4.63 bits, where byte registers that keep only a maximum need 8.60 and packed ones
//! of six bits 6.45. Up to `3m/32` different items the answer is exact (two of them share a 64-bit
//! hash with probability below 2·10⁻¹¹ at the largest precision).
//!
//! **Idea.** A HyperLogLog's register keeps the highest level that its hashes reached, which takes
//! six bits; a byte has two to spare. They keep whether the next two levels below occurred too:
//! of all that the register forgets, the part that says most about the count. Repetitions still
//! change nothing, and registers are joined bit for bit.
//!
//! **When not to use it.** Where [`HyperLogLog`](super::HyperLogLog) is not to be used either: to know
//! *which* items there are or how often each, to count what two streams have in common, or to forget an
//! item. And where every nanosecond of an insert counts more than memory: it takes half as long again.
//!
//! **Sources.** Ertl: *UltraLogLog: A Practical and More Space-Efficient Alternative to HyperLogLog for
//! Approximate Distinct Counting* (arXiv 2308.16862, VLDB 2024). Likelihood: section 3 there.
//!
//! **Where this departs from the paper.** The level counts trailing zeros, as in HyperLogLog here, and
//! register values do not depend on the precision. Small counts keep the 64-bit hashes themselves. The
//! paper's fast estimator (4.94 bits) is left out: from a histogram of the registers the likelihood
//! estimate takes microseconds too. It is corrected for its first-order bias, and its bounds come from
//! the Fisher information at the estimate.

mod estimator;
mod register;
mod registers;

use std::ops::RangeInclusive;

use self::registers::Registers;
use super::hash_table::HashTable;
use crate::codec::{Decode, Encode, Family, Header, Parameter, Parameters, Reader, Summary, Writer};
use crate::error::{Error, Result};
use crate::estimate::{Confidence, Estimate};
use crate::keys::{Key, KeyBatch, KeyScheme};
use crate::sketch::{Cardinality, InsertHashes, InsertKeys, Merge, impl_sketch};

/// Counts different items; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::distinct::UltraLogLog;
///
/// let mut visitors = UltraLogLog::for_error(0.01)?;
/// for visit in 0..300_000_u32 {
///     visitors.insert(format!("user{}", visit % 100_000).as_str())?;
/// }
/// let estimate = visitors.estimate();
/// assert!(estimate.covers(100_000.0) && estimate.relative_error() < 0.02);
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UltraLogLog {
    scheme: KeyScheme,
    precision: u8,
    state: State,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    /// The hashes themselves, while they fit in the memory of the registers.
    Exact(HashTable),
    Dense(Registers),
}

// ---- limits and sizing ----

impl UltraLogLog {
    /// Below 4 the estimator's asymptotics mean nothing; above 18 the sketch leaves the second
    /// cache and 0.15 % is better than most uses need.
    pub const PRECISIONS: RangeInclusive<u8> = 4..=18;

    /// The standard error of a large count, as a share of it: `0.7609/√(2^precision)`.
    pub fn standard_error(precision: u8) -> f64 {
        estimator::ERROR_CONSTANT / f64::from(1_u32 << precision.min(31)).sqrt()
    }

    /// The smallest precision whose standard error is at most `error`.
    ///
    /// # Errors
    /// If no precision of the range has it.
    ///
    /// ```
    /// use crivo::distinct::UltraLogLog;
    /// assert_eq!(UltraLogLog::precision_for(0.01)?, 13);
    /// assert!(UltraLogLog::precision_for(0.0001).is_err());
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn precision_for(error: f64) -> Result<u8> {
        Self::PRECISIONS
            .into_iter()
            .find(|&precision| error < 1.0 && Self::standard_error(precision) <= error)
            .ok_or_else(|| {
                let least = Self::standard_error(*Self::PRECISIONS.end());
                Error::parameter("error", format_args!("a standard error from {least:.5} to below 1"), error)
            })
    }

    /// How many different items are counted exactly: as many hashes as fit, in a table at most
    /// three quarters full, into the memory of the registers.
    pub fn exact_up_to(precision: u8) -> usize {
        HashTable::capacity(1 << precision.min(31))
    }
}

// ---- construction ----

impl UltraLogLog {
    /// An empty sketch of `2^precision` bytes for keys that are bytes or text.
    ///
    /// # Errors
    /// If the precision is not in [`PRECISIONS`](Self::PRECISIONS).
    pub fn new(precision: u8) -> Result<Self> {
        Self::with_scheme(precision, KeyScheme::bytes())
    }

    /// An empty sketch for keys of the given scheme.
    ///
    /// # Errors
    /// If the precision is not in [`PRECISIONS`](Self::PRECISIONS).
    ///
    /// ```
    /// use crivo::{distinct::UltraLogLog, keys::KeyScheme};
    /// let mut orders = UltraLogLog::with_scheme(12, KeyScheme::integers().with_seed(7))?;
    /// orders.insert(&1234_u64)?;
    /// assert!(orders.insert("1234").is_err());
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn with_scheme(precision: u8, scheme: KeyScheme) -> Result<Self> {
        if Self::PRECISIONS.contains(&precision) {
            Ok(Self { scheme, precision, state: State::Exact(HashTable::new()) })
        } else {
            let (least, most) = Self::PRECISIONS.into_inner();
            Err(Error::parameter("precision", format_args!("{least} to {most}"), precision))
        }
    }

    /// An empty sketch, for bytes or text, of the smallest size with the wanted standard error.
    ///
    /// # Errors
    /// If no precision reaches the error.
    pub fn for_error(error: f64) -> Result<Self> {
        Self::new(Self::precision_for(error)?)
    }
}

// ---- update ----

impl UltraLogLog {
    /// Adds one key.
    ///
    /// # Errors
    /// If the key is not of the sketch's kind.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<()> {
        let hash = self.scheme.hash(key)?;
        self.insert_hash(hash);
        Ok(())
    }

    /// Adds one key by its hash, which must come from this sketch's [`scheme`](Self::scheme).
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) {
        match &mut self.state {
            State::Dense(registers) => registers.insert(hash),
            State::Exact(_) => self.insert_exact(hash),
        }
    }

    /// Adds many keys by their hashes; the same as one by one, and faster.
    pub fn insert_hashes(&mut self, hashes: &[u64]) {
        let mut rest = hashes;
        while let (State::Exact(_), Some((&hash, others))) = (&self.state, rest.split_first()) {
            self.insert_exact(hash);
            rest = others;
        }
        if let State::Dense(registers) = &mut self.state {
            registers.insert_all(rest);
        }
    }

    /// Adds a batch of keys.
    ///
    /// # Errors
    /// If the batch was hashed under another scheme; nothing is added then.
    pub fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        InsertKeys::insert_batch(self, batch)
    }

    #[cold]
    fn insert_exact(&mut self, hash: u64) {
        if let State::Exact(table) = &mut self.state {
            if table.len() < Self::exact_up_to(self.precision) || table.contains(hash) {
                table.insert(hash);
            } else {
                self.make_dense();
                self.insert_hash(hash);
            }
        }
    }
}

impl InsertHashes for UltraLogLog {
    fn insert_hash(&mut self, hash: u64) {
        self.insert_hash(hash);
    }

    fn insert_hashes(&mut self, hashes: &[u64]) {
        self.insert_hashes(hashes);
    }
}

// ---- query ----

impl UltraLogLog {
    /// The number of different items, with bounds at 95 %.
    pub fn estimate(&self) -> Estimate {
        self.estimate_at(Confidence::P95)
    }

    /// The number of different items, with bounds at the given confidence; exact, and certain,
    /// up to [`exact_up_to`](Self::exact_up_to). Far beyond 2^64 items every register is full:
    /// the upper bound is infinite then.
    pub fn estimate_at(&self, confidence: Confidence) -> Estimate {
        match &self.state {
            State::Exact(table) => Estimate::exact(table.len() as f64),
            State::Dense(registers) if registers.are_full() => {
                let unlikely = (1.0 - confidence.level()) / 2.0;
                let value = estimator::items_to_fill(self.precision, 0.5);
                let lower = estimator::items_to_fill(self.precision, unlikely);
                Estimate::probable(value, lower, f64::INFINITY, confidence)
            }
            State::Dense(registers) => {
                // Dense means that more different hashes came than the exact state holds.
                let least = (Self::exact_up_to(self.precision) + 1) as f64;
                estimator::estimate(&registers.histogram(), self.precision)
                    .with_bounds(confidence)
                    .limited_to(least, f64::INFINITY)
            }
        }
    }

    /// Whether nothing was inserted.
    pub fn is_empty(&self) -> bool {
        matches!(&self.state, State::Exact(table) if table.len() == 0)
    }

    /// The precision: the base-2 logarithm of the number of registers.
    pub fn precision(&self) -> u8 {
        self.precision
    }

    /// How keys are hashed.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// Bytes of memory in use, the struct itself included.
    pub fn memory(&self) -> usize {
        size_of::<Self>()
            + match &self.state {
                State::Exact(table) => table.memory(),
                State::Dense(registers) => registers.memory(),
            }
    }

    /// The sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        vec![("precision", Parameter::Count(self.precision.into()))]
    }

    /// What `crivo show` prints.
    pub fn summary(&self) -> Summary {
        let (state, fill) = match &self.state {
            State::Exact(_) => ("exact", None),
            State::Dense(registers) => {
                let used = registers.values().iter().filter(|&&value| value > 0).count();
                ("dense", Some(used as f64 / registers.values().len() as f64))
            }
        };
        Summary {
            family: Self::FAMILY,
            parameters: [
                self.parameters(),
                vec![
                    ("state", Parameter::Name(state)),
                    ("standard_error", Parameter::Ratio(Self::standard_error(self.precision))),
                ],
            ]
            .concat(),
            scheme: self.scheme,
            items: self.estimate(),
            fill,
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}

impl_sketch!(UltraLogLog, hashes, keys, cardinality; full_memory = |sketch| size_of::<UltraLogLog>() + (1 << sketch.precision));

impl Cardinality for UltraLogLog {
    fn distinct(&self) -> Estimate {
        self.estimate()
    }
}

// ---- merge ----

impl UltraLogLog {
    /// Makes this the sketch of both streams, bit for bit. Of two precisions the lower one stays,
    /// as if both streams had been counted with it.
    ///
    /// # Errors
    /// If the schemes differ; the sketch is unchanged then.
    ///
    /// ```
    /// use crivo::distinct::UltraLogLog;
    /// let (mut monday, mut tuesday) = (UltraLogLog::new(12)?, UltraLogLog::new(14)?);
    /// monday.insert("ana")?;
    /// tuesday.insert("ana")?;
    /// tuesday.insert("rui")?;
    /// monday.merge(&tuesday)?;
    /// assert_eq!(monday.estimate().value(), 2.0);
    /// assert_eq!(monday.precision(), 12);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.scheme.require_same(other.scheme)?;
        self.fold(other.precision.min(self.precision));
        match &other.state {
            State::Exact(table) => table.iter().for_each(|hash| self.insert_hash(hash)),
            State::Dense(theirs) => {
                self.make_dense();
                if let State::Dense(mine) = &mut self.state {
                    mine.merge(theirs);
                }
            }
        }
        Ok(())
    }

    /// Lowers the precision, as if it had been the lower one from the start.
    fn fold(&mut self, precision: u8) {
        if precision == self.precision {
            return;
        }
        self.precision = precision;
        match &self.state {
            State::Dense(registers) => self.state = State::Dense(registers.folded(precision)),
            State::Exact(table) if table.len() > Self::exact_up_to(precision) => self.make_dense(),
            State::Exact(_) => {}
        }
    }

    fn make_dense(&mut self) {
        if let State::Exact(table) = &self.state {
            let mut registers = Registers::new(self.precision);
            table.iter().for_each(|hash| registers.insert(hash));
            self.state = State::Dense(registers);
        }
    }
}

impl Merge for UltraLogLog {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}

// ---- bytes ----

const EXACT: u8 = 0;
const DENSE: u8 = 1;

impl UltraLogLog {
    /// The sketch as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// The sketch that the bytes hold.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of a UltraLogLog: see [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for UltraLogLog {
    const FAMILY: Family = Family::UltraLogLog;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u8(self.precision);
        match &self.state {
            State::Exact(table) => {
                writer.u8(EXACT);
                writer.u32(table.len() as u32);
                writer.u64s(table.sorted());
            }
            State::Dense(registers) => {
                writer.u8(DENSE);
                writer.bytes(registers.values());
            }
        }
    }
}

impl Decode for UltraLogLog {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let precision = reader.u8("precision")?;
        let mut sketch = Self::with_scheme(precision, header.scheme)
            .map_err(|error| Error::contents("precision", error.expected(), precision))?;
        match reader.u8("state")? {
            EXACT => {
                let count = reader.u32("number of hashes")?;
                let most = Self::exact_up_to(precision);
                if count as usize > most {
                    return Err(Error::contents("number of hashes", format_args!("at most {most}"), count));
                }
                let hashes = reader.u64s("hashes", count.into())?;
                if !hashes.clone().is_sorted_by(|a, b| a < b) {
                    return Err(Error::contents("hashes", "strictly ascending order", "another order"));
                }
                hashes.for_each(|hash| sketch.insert_hash(hash));
            }
            DENSE => {
                let values = reader.bytes("registers", 1 << precision)?;
                let registers = Registers::from_values(precision, values)
                    .filter(|registers| registers.values().iter().any(|&value| value > 0))
                    .ok_or_else(|| {
                        let highest = Registers::highest(precision);
                        Error::contents(
                            "registers",
                            format_args!("sets of levels up to {highest}, not all empty"),
                            "others",
                        )
                    })?;
                sketch.state = State::Dense(registers);
            }
            other => return Err(Error::contents("state", "0 (exact) or 1 (dense)", other)),
        }
        Ok(sketch)
    }
}
