// This file is long because it holds the documentation and examples of its public functions.

//! The sketch of registers: the life cycle that [`HyperLogLog`](super::HyperLogLog) and
//! [`UltraLogLog`](super::UltraLogLog) share.
//!
//! A sketch begins in the exact state: it keeps the hashes themselves while they fit in the memory
//! of the registers. The next hash makes it dense: from then on each hash changes at most one of
//! `2^precision` registers, and the count is estimated from the registers. The state depends only
//! on the number of different hashes, so merging equals counting the joined stream, byte for byte.
//! A merge keeps the lower of two precisions: the more precise registers are folded as if they had
//! had it from the start.
//!
//! What a register remembers of its hashes, and how a count is estimated, is the
//! [kind](kind::RegisterKind) of the sketch. The module of each kind has the guarantee.

mod coded;
pub(super) mod histogram;
mod history;
pub(super) mod kind;
mod payload;
pub(super) mod rates;

use std::ops::RangeInclusive;

use self::history::History;
use self::kind::{RegisterArray, RegisterKind};
use super::hash_table::HashTable;
use super::precision;
use crate::codec::{Parameter, Parameters, Summary};
use crate::error::{Error, Result};
use crate::estimate::{Confidence, Estimate};
use crate::keys::{DefaultSize, Key, KeyBatch, KeyScheme};
use crate::sketch::{Cardinality, InsertHashes, InsertKeys, Merge, impl_sketch};

/// Counts different items with `2^precision` registers of one byte, and exactly while they are few.
///
/// Its kinds are [`HyperLogLog`](super::HyperLogLog) and [`UltraLogLog`](super::UltraLogLog).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisterSketch<K: RegisterKind> {
    scheme: KeyScheme,
    precision: u8,
    /// True if a history is kept, or is to begin when the exact state ends.
    keeps_history: bool,
    contents: Contents<K::Registers>,
}

// `repr(u8)` gives the enum a tag of its own. A tag hidden in the unused values of a pointer would
// save eight bytes, but cost every insert five instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[repr(u8)]
enum Contents<R> {
    /// The hashes themselves, while they fit in the memory of the registers.
    Exact(HashTable),
    Dense(R),
    /// Registers of one stream, with the count from the order of its items.
    Recorded(R, History),
}

// ---- limits and sizing ----

impl<K: RegisterKind> RegisterSketch<K> {
    /// The allowed precisions. Below 4 the estimator's asymptotics do not hold. Above 18 the sketch
    /// no longer fits in the second-level cache, and its error is smaller than most uses need.
    pub const PRECISIONS: RangeInclusive<u8> = 4..=18;

    /// Returns the standard error of a large count, as a share of it: `c/√(2^precision)`, with `c`
    /// 1.0367 for [`HyperLogLog`](super::HyperLogLog) and 0.7609 for
    /// [`UltraLogLog`](super::UltraLogLog).
    pub fn standard_error(precision: u8) -> f64 {
        precision::standard_error(K::ERROR_CONSTANT, precision)
    }

    /// Returns the standard error of a large count [with history](Self::with_history), as a share
    /// of it: `c/√(2^precision)`, with `c` 0.8326 for [`HyperLogLog`](super::HyperLogLog) and
    /// 0.6582 for [`UltraLogLog`](super::UltraLogLog).
    pub fn history_error(precision: u8) -> f64 {
        precision::standard_error(K::HISTORY_CONSTANT, precision)
    }

    /// Returns the smallest precision whose standard error is at most `error`.
    ///
    /// # Errors
    /// If no precision of the range reaches it.
    ///
    /// ```
    /// use crivo::distinct::{HyperLogLog, UltraLogLog};
    /// assert_eq!(HyperLogLog::precision_for(0.01)?, 14);
    /// assert_eq!(UltraLogLog::precision_for(0.01)?, 13);
    /// assert!(HyperLogLog::precision_for(0.0001).is_err());
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn precision_for(error: f64) -> Result<u8> {
        precision::precision_for(error, K::ERROR_CONSTANT, &Self::PRECISIONS)
    }

    /// Returns the smallest precision whose standard error [with history](Self::with_history) is at
    /// most `error`.
    ///
    /// # Errors
    /// If no precision of the range reaches it.
    pub fn history_precision_for(error: f64) -> Result<u8> {
        precision::precision_for(error, K::HISTORY_CONSTANT, &Self::PRECISIONS)
    }

    /// Returns the number of different items up to which counts are exact: the number of hashes
    /// that fit into the memory of the registers, in a table at most three quarters full.
    pub fn exact_up_to(precision: u8) -> usize {
        HashTable::capacity(1 << precision.min(31))
    }
}

// ---- construction ----

impl<K: RegisterKind> RegisterSketch<K> {
    /// Creates an empty sketch of `2^precision` bytes for keys that are bytes or text.
    ///
    /// # Errors
    /// If the precision is not in [`PRECISIONS`](Self::PRECISIONS).
    pub fn new(precision: u8) -> Result<Self> {
        Self::with_scheme(precision, KeyScheme::bytes())
    }

    /// Creates an empty sketch for keys of the given scheme.
    ///
    /// # Errors
    /// If the precision is not in [`PRECISIONS`](Self::PRECISIONS).
    ///
    /// ```
    /// use crivo::{distinct::HyperLogLog, keys::KeyScheme};
    /// let mut orders = HyperLogLog::with_scheme(12, KeyScheme::integers().with_seed(7))?;
    /// orders.insert(&1234_u64)?;
    /// assert!(orders.insert("1234").is_err());
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn with_scheme(precision: u8, scheme: KeyScheme) -> Result<Self> {
        precision::check(precision, &Self::PRECISIONS)?;
        Ok(Self { scheme, precision, keeps_history: false, contents: Contents::Exact(HashTable::new()) })
    }

    /// Creates an empty sketch, for bytes or text, of the smallest size with the wanted standard
    /// error.
    ///
    /// # Errors
    /// If no precision reaches the error.
    pub fn for_error(error: f64) -> Result<Self> {
        Self::new(Self::precision_for(error)?)
    }

    /// Creates an empty sketch for keys of the given scheme, of the smallest size with the wanted
    /// standard error.
    ///
    /// # Errors
    /// If no precision reaches the error.
    pub fn for_error_with_scheme(error: f64, scheme: KeyScheme) -> Result<Self> {
        Self::with_scheme(Self::precision_for(error)?, scheme)
    }
}

// ---- history ----

impl<K: RegisterKind> RegisterSketch<K> {
    /// Returns the sketch with a history: a sharper count for a stream that one sketch sees from
    /// beginning to end. See [`history_error`](Self::history_error). An insert that changes a
    /// register takes a few nanoseconds more, and a stored sketch 16 bytes more.
    ///
    /// A merge ends the history unless the result is still exact, because two histories do not tell
    /// which items their streams share. The registers are the same with or without a history.
    ///
    /// # Errors
    /// If the sketch is past its exact state, because the order of earlier items is not known any
    /// more.
    ///
    /// ```
    /// use crivo::distinct::UltraLogLog;
    /// let (mut plain, mut sharp) = (UltraLogLog::new(12)?, UltraLogLog::new(12)?.with_history()?);
    /// for visit in 0..100_000_u64 {
    ///     plain.insert_hash(visit.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    ///     sharp.insert_hash(visit.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    /// }
    /// assert!(sharp.estimate().relative_error() < 0.9 * plain.estimate().relative_error());
    /// plain.merge(&sharp)?;
    /// assert!(!plain.keeps_history());
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn with_history(mut self) -> Result<Self> {
        if !self.keeps_history && !matches!(self.contents, Contents::Exact(_)) {
            let most = Self::exact_up_to(self.precision);
            return Err(Error::parameter(
                "history",
                format_args!("a sketch of at most {most} different items"),
                "a sketch of more",
            ));
        }
        self.keeps_history = true;
        Ok(self)
    }

    /// Returns true if the sketch keeps a history. A merge may have ended it.
    pub fn keeps_history(&self) -> bool {
        self.keeps_history
    }

    fn end_history(&mut self) {
        self.keeps_history = false;
        if let Contents::Recorded(registers, _) = &self.contents {
            self.contents = Contents::Dense(registers.clone());
        }
    }

    /// Returns the registers, or `None` in the exact state.
    fn registers(&self) -> Option<&K::Registers> {
        match &self.contents {
            Contents::Exact(_) => None,
            Contents::Dense(registers) | Contents::Recorded(registers, _) => Some(registers),
        }
    }
}

/// The default of 16 KiB: an error of 0.8 % for a HyperLogLog, of 0.6 % for an UltraLogLog.
const DEFAULT_PRECISION: u8 = 14;

impl<K: RegisterKind> DefaultSize for RegisterSketch<K> {
    fn of_default_size(scheme: KeyScheme) -> Self {
        let contents = Contents::Exact(HashTable::new());
        Self { scheme, precision: DEFAULT_PRECISION, keeps_history: false, contents }
    }
}

// ---- update ----

impl<K: RegisterKind> RegisterSketch<K> {
    /// Adds one key.
    ///
    /// # Errors
    /// If the key is not of the sketch's kind.
    #[inline]
    pub fn insert<Q: Key + ?Sized>(&mut self, key: &Q) -> Result<()> {
        let hash = self.scheme.hash(key)?;
        self.insert_hash(hash);
        Ok(())
    }

    /// Adds one key by its hash, which must come from this sketch's [`scheme`](Self::scheme).
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) {
        match &mut self.contents {
            Contents::Dense(registers) => registers.insert(hash),
            Contents::Exact(_) => self.insert_exact(hash),
            Contents::Recorded(registers, history) => history.insert(registers, self.precision, hash),
        }
    }

    /// Adds many keys by their hashes. Same result as one by one, but faster.
    pub fn insert_hashes(&mut self, hashes: &[u64]) {
        let mut rest = hashes;
        while let (Contents::Exact(table), Some((&hash, others))) = (&mut self.contents, rest.split_first()) {
            // The next `room` hashes fit even if all are different, so they need no size check
            // between them.
            let room = Self::exact_up_to(self.precision).saturating_sub(table.len());
            if room == 0 {
                self.insert_exact(hash);
                rest = others;
            } else {
                let (fitting, later) = rest.split_at(room.min(rest.len()));
                table.insert_all(fitting);
                rest = later;
            }
        }
        match &mut self.contents {
            Contents::Exact(_) => {}
            Contents::Dense(registers) => registers.insert_all(rest),
            Contents::Recorded(registers, history) => {
                rest.iter().for_each(|&hash| history.insert(registers, self.precision, hash));
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

    #[cold]
    #[inline(never)]
    fn insert_exact(&mut self, hash: u64) {
        if let Contents::Exact(table) = &mut self.contents {
            if table.len() < Self::exact_up_to(self.precision) || table.contains(hash) {
                table.insert(hash);
            } else {
                self.make_dense();
                self.insert_hash(hash);
            }
        }
    }
}

impl<K: RegisterKind> InsertHashes for RegisterSketch<K> {
    fn insert_hash(&mut self, hash: u64) {
        self.insert_hash(hash);
    }

    fn insert_hashes(&mut self, hashes: &[u64]) {
        self.insert_hashes(hashes);
    }
}

// ---- query ----

impl<K: RegisterKind> RegisterSketch<K> {
    /// Returns the number of different items, with bounds at 95 %.
    pub fn estimate(&self) -> Estimate {
        self.estimate_at(Confidence::P95)
    }

    /// Returns the number of different items, with bounds at the given confidence. Up to
    /// [`exact_up_to`](Self::exact_up_to) it is exact and certain. Far beyond 2^64 items every
    /// register is full, and the upper bound is infinite.
    pub fn estimate_at(&self, confidence: Confidence) -> Estimate {
        match &self.contents {
            Contents::Exact(table) => Estimate::exact(table.len() as f64),
            Contents::Dense(registers) | Contents::Recorded(registers, _) if registers.are_full() => {
                let unlikely = (1.0 - confidence.level()) / 2.0;
                let value = K::items_to_fill(self.precision, 0.5);
                let lower = K::items_to_fill(self.precision, unlikely);
                Estimate::probable(value, lower, f64::INFINITY, confidence)
            }
            Contents::Dense(registers) => self.past_exact(K::estimate(registers, self.precision, confidence)),
            Contents::Recorded(_, history) => self.past_exact(history.estimate_at(confidence)),
        }
    }

    /// Raises the lower bound to what is certain past the exact state: there were more different
    /// hashes than that state holds.
    fn past_exact(&self, estimate: Estimate) -> Estimate {
        estimate.limited_to((Self::exact_up_to(self.precision) + 1) as f64, f64::INFINITY)
    }

    /// Returns true if nothing was inserted.
    pub fn is_empty(&self) -> bool {
        matches!(&self.contents, Contents::Exact(table) if table.len() == 0)
    }

    /// The precision: the base-2 logarithm of the number of registers.
    pub fn precision(&self) -> u8 {
        self.precision
    }

    /// Returns how keys are hashed.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// The bytes of memory in use, the struct itself included.
    pub fn memory(&self) -> usize {
        size_of::<Self>()
            + match &self.contents {
                Contents::Exact(table) => table.memory(),
                Contents::Dense(registers) | Contents::Recorded(registers, _) => registers.memory(),
            }
    }

    /// The sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        vec![("precision", Parameter::Count(self.precision.into()))]
    }

    /// Returns what `crivo show` prints.
    pub fn summary(&self) -> Summary {
        let state = if self.registers().is_none() { "exact" } else { "dense" };
        let fill =
            self.registers().map(|registers| registers.used() as f64 / registers.values().len() as f64);
        let mut facts = vec![("state", Parameter::Name(state))];
        if self.keeps_history {
            facts.push(("history", Parameter::Name("kept")));
            facts.push(("standard_error", Parameter::Ratio(Self::history_error(self.precision))));
        } else {
            facts.push(("standard_error", Parameter::Ratio(Self::standard_error(self.precision))));
        }
        Summary {
            family: K::FAMILY,
            parameters: [self.parameters(), facts].concat(),
            scheme: self.scheme,
            items: self.estimate(),
            fill,
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}

impl_sketch!(
    impl [K: RegisterKind] RegisterSketch<K>, hashes, keys, cardinality;
    full_memory = |sketch| size_of::<RegisterSketch<K>>() + (1 << sketch.precision)
);

impl<K: RegisterKind> Cardinality for RegisterSketch<K> {
    fn distinct(&self) -> Estimate {
        self.estimate()
    }

    fn exact_up_to(&self) -> u64 {
        Self::exact_up_to(self.precision) as u64
    }
}

// ---- merge ----

impl<K: RegisterKind> RegisterSketch<K> {
    /// Merges `other` into this sketch. The result equals the sketch of both streams, bit for bit.
    /// The lower of two precisions stays, as if both streams had been counted with it.
    ///
    /// A [history](Self::with_history) ends unless the sketch stays exact. There are two exceptions:
    /// the other sketch is empty and has no lower precision, or this one is empty, has the same
    /// precision and is to keep a history too.
    ///
    /// # Errors
    /// If the schemes differ; the sketch is unchanged then.
    ///
    /// ```
    /// use crivo::distinct::HyperLogLog;
    /// let (mut monday, mut tuesday) = (HyperLogLog::new(12)?, HyperLogLog::new(14)?);
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
        if other.is_empty() && other.precision >= self.precision {
            return Ok(());
        }
        if self.is_empty() && self.precision == other.precision && self.keeps_history == other.keeps_history {
            self.clone_from(other);
            return Ok(());
        }
        self.fold(other.precision.min(self.precision));
        match &other.contents {
            Contents::Exact(table) => {
                table.iter().for_each(|hash| self.insert_hash(hash));
                // The order of the table differs from process to process, so a history of it would
                // differ too.
                if self.registers().is_some() {
                    self.end_history();
                }
            }
            Contents::Dense(theirs) | Contents::Recorded(theirs, _) => {
                self.end_history();
                self.make_dense();
                if let Contents::Dense(mine) = &mut self.contents {
                    mine.merge(theirs);
                }
            }
        }
        Ok(())
    }

    /// Lowers the precision, as if it had been the given one from the start.
    fn fold(&mut self, precision: u8) {
        if precision == self.precision {
            return;
        }
        self.precision = precision;
        match &self.contents {
            Contents::Dense(registers) | Contents::Recorded(registers, _) => {
                self.contents = Contents::Dense(registers.folded(precision));
                self.keeps_history = false;
            }
            Contents::Exact(table) if table.len() > Self::exact_up_to(precision) => self.make_dense(),
            Contents::Exact(_) => {}
        }
    }

    fn make_dense(&mut self) {
        if let Contents::Exact(table) = &self.contents {
            let mut registers = K::Registers::new(self.precision);
            registers.insert_all(&table.unordered());
            self.contents = if self.keeps_history {
                let history = History::begin(table.len(), &registers, self.precision);
                Contents::Recorded(registers, history)
            } else {
                Contents::Dense(registers)
            };
        }
    }
}

impl<K: RegisterKind> Merge for RegisterSketch<K> {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}
