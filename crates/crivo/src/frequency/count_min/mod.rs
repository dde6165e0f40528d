// This file is long because it contains the documentation and the examples of its public functions.

//! Count-Min: how often did this key occur, for every key at once.
//!
//! **Question.** How often did a key occur, or how much weight had it, in a stream with too many
//! different keys for a hash table?
//!
//! **Guarantee.** With `depth` rows of `width` counters, `ε = e/width`, `δ = e^−depth` and `N` the
//! weight of the whole stream, the answer is never below the truth, and above it by more than `εN`
//! with a probability of at most `δ`:
//!
//! ```text
//! truth ≤ value   for every stream          truth ≥ value − εN   with probability 1 − δ
//! ```
//!
//! The same table gives bounds at other confidences. A row exceeds the truth by more than
//! `t·N/width` with probability below `1/t` (Markov), and all rows do with probability below
//! `t^−depth`. [Inner products](CountMin::inner_product) have the same bounds, with `N` the product
//! of both weights.
//!
//! **Idea.** Each row is a hash table without keys: a key adds to one counter, and so does every
//! other key that collides with it. Every counter of a key is at least the truth, so the smallest
//! one is the closest. Rows place keys independently, so a key rarely collides in all of them.
//!
//! **Conservative update** raises a key's counters only as far as its own minimum requires. Answers
//! are never above those of the plain sketch, and on skewed streams their error is about half. But
//! counters are then no longer sums: they depend on the order of the stream. So such sketches
//! refuse [`merge`](CountMin::merge) and inner products.
//!
//! **When not to use it.** For rare keys: the error is a share of the whole stream, so it hides a
//! key that occurred less often than `εN`. To find *which* keys are frequent, use
//! [`HeavyHitters`](super::HeavyHitters), which keeps them. If the different keys fit in a hash
//! table, use that.
//!
//! **Sources.** Cormode, Muthukrishnan: *An improved data stream summary: the Count-Min sketch and
//! its applications* (2005). Conservative update: Estan, Varghese, *New directions in traffic
//! measurement and accounting* (2002).
//!
//! **Where this departs from them.** Keys are hashed once, to 64 bits, and each row remixes that
//! hash. A width need not be a prime or a power of two. Since weights are whole numbers, `εN` is
//! rounded down. An answer of 0 is exact. Some libraries, Apache DataSketches among them, state the
//! interval as `[value, value + εN]`. Their lower bound is above the truth for every key that
//! collided with another in all rows. This interval is tested against the truth.

mod inner_product;
mod stored;

use std::f64::consts::E;
use std::ops::RangeInclusive;

use super::rows::{Rows, require_weights};
use crate::codec::{Encode, Parameter, Parameters, Summary};
use crate::cpu::zeroed;
use crate::error::{Error, Result};
use crate::estimate::{Confidence, Estimate};
use crate::keys::{Key, KeyBatch, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{InsertHashes, InsertKeys};

/// Counts how often each key occurred; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::frequency::CountMin;
///
/// let mut words = CountMin::for_bound(0.001, 0.01)?;
/// for word in "the cat and the dog and the bird".split(' ') {
///     words.insert(word)?;
/// }
/// assert_eq!(words.frequency("the")?.value(), 3.0);
/// assert!(words.frequency("fish")?.is_exact()); // 0 is certain
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CountMin {
    scheme: KeyScheme,
    rows: Rows,
    conservative: bool,
    /// The confidence of every answer, `1 − δ`. It is stored because its exponential costs more
    /// than an answer.
    confidence: Confidence,
    /// The weight of the whole stream. It stops at the largest value of a counter.
    total: u64,
    counters: Vec<u64>,
}

// ---- limits and sizing ----

impl CountMin {
    /// The widths a sketch may have: up to 8 GiB a row, an ε of 2.5·10⁻⁹.
    pub const WIDTHS: RangeInclusive<u32> = Rows::WIDTHS;

    /// The depths a sketch may have. With 32 rows δ is 10⁻¹⁴, and other failures are more likely.
    pub const DEPTHS: RangeInclusive<u32> = Rows::DEPTHS;

    /// Returns `e/width`: the largest excess of an answer over the truth, as a share of the whole
    /// weight.
    pub fn epsilon(width: u32) -> f64 {
        E / f64::from(width)
    }

    /// Returns `e^−depth`: the probability that an answer exceeds the truth by more than
    /// [`epsilon`](Self::epsilon).
    pub fn delta(depth: u32) -> f64 {
        libm::exp(-f64::from(depth))
    }

    /// Returns the least width and depth that promise an error of at most `epsilon` times the whole
    /// weight with a probability of at least `1 − delta`: `⌈e/ε⌉` and `⌈ln 1/δ⌉`.
    ///
    /// # Errors
    /// If a number is not between 0 and 1, or so small that no table reaches it.
    ///
    /// ```
    /// use crivo::frequency::CountMin;
    /// assert_eq!(CountMin::size_for(0.001, 0.01)?, (2719, 5));
    /// assert!(CountMin::size_for(0.0, 0.01).is_err());
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn size_for(epsilon: f64, delta: f64) -> Result<(u32, u32)> {
        let least_epsilon = Self::epsilon(*Self::WIDTHS.end());
        if !(epsilon >= least_epsilon && epsilon < 1.0) {
            let allowed = format_args!("a share of the whole from {least_epsilon:.1e} to below 1");
            return Err(Error::parameter("epsilon", allowed, epsilon));
        }
        let least_delta = Self::delta(*Self::DEPTHS.end());
        if !(delta >= least_delta && delta < 1.0) {
            let allowed = format_args!("a probability from {least_delta:.1e} to below 1");
            return Err(Error::parameter("delta", allowed, delta));
        }
        // Rounding may leave the quotients off by one.
        let width = least_reaching(E / epsilon, |width| Self::epsilon(width) <= epsilon);
        let depth = least_reaching(-libm::log(delta), |depth| Self::delta(depth) <= delta);
        Ok((width, depth))
    }
}

/// Returns the least whole number next to `near` for which `reaches` returns true.
fn least_reaching(near: f64, reaches: impl Fn(u32) -> bool) -> u32 {
    let near = near as u32;
    (near.saturating_sub(1).max(1)..=near).find(|&size| reaches(size)).unwrap_or(near + 1)
}

// ---- construction ----

impl CountMin {
    /// Returns an empty sketch of `depth` rows of `width` counters for keys that are bytes or text.
    ///
    /// # Errors
    /// If a size is not in [`WIDTHS`](Self::WIDTHS) or [`DEPTHS`](Self::DEPTHS), or there is not
    /// enough memory: 8 bytes a counter.
    pub fn new(width: u32, depth: u32) -> Result<Self> {
        Self::with_scheme(width, depth, KeyScheme::bytes())
    }

    /// Returns an empty sketch for keys of the given scheme.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with_scheme(width: u32, depth: u32, scheme: KeyScheme) -> Result<Self> {
        let rows = Rows::new(width, depth)?;
        Ok(Self::assemble(scheme, rows, false, 0, zeroed(rows.cells())?))
    }

    fn assemble(scheme: KeyScheme, rows: Rows, conservative: bool, total: u64, counters: Vec<u64>) -> Self {
        // At no allowed depth is δ so small that 1 − δ rounds to 1.
        let confidence = Confidence::new(1.0 - Self::delta(rows.depth)).unwrap_or_default();
        Self { scheme, rows, conservative, confidence, total, counters }
    }

    /// Returns an empty sketch with conservative update, for keys that are bytes or text. Its
    /// answers are closer, but it has no merge and no inner product.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn conservative(width: u32, depth: u32) -> Result<Self> {
        Self::conservative_with_scheme(width, depth, KeyScheme::bytes())
    }

    /// Returns an empty sketch with conservative update for keys of the given scheme.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    ///
    /// ```
    /// use crivo::frequency::CountMin;
    /// let (width, depth) = CountMin::size_for(0.001, 0.01)?;
    /// let mut prices = CountMin::conservative(width, depth)?;
    /// prices.add("tea", 250)?;
    /// let other = prices.clone();
    /// assert_eq!(prices.merge(&other).unwrap_err().field(), "update");
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn conservative_with_scheme(width: u32, depth: u32, scheme: KeyScheme) -> Result<Self> {
        Ok(Self { conservative: true, ..Self::with_scheme(width, depth, scheme)? })
    }

    /// Returns an empty sketch, for keys that are bytes or text, of the smallest
    /// [size](Self::size_for) that promises the error.
    ///
    /// # Errors
    /// As for [`size_for`](Self::size_for) and [`new`](Self::new).
    pub fn for_bound(epsilon: f64, delta: f64) -> Result<Self> {
        Self::for_bound_with_scheme(epsilon, delta, KeyScheme::bytes())
    }

    /// Returns an empty sketch for keys of the given scheme, of the smallest [size](Self::size_for)
    /// that promises the error.
    ///
    /// # Errors
    /// As for [`for_bound`](Self::for_bound).
    pub fn for_bound_with_scheme(epsilon: f64, delta: f64, scheme: KeyScheme) -> Result<Self> {
        let (width, depth) = Self::size_for(epsilon, delta)?;
        Self::with_scheme(width, depth, scheme)
    }
}

// ---- update ----

impl CountMin {
    /// Counts one key once.
    ///
    /// # Errors
    /// If the key is not of the sketch's kind.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<()> {
        self.add(key, 1)
    }

    /// Adds a weight to one key: a number of times, bytes, cents.
    ///
    /// # Errors
    /// If the key is not of the sketch's kind.
    #[inline]
    pub fn add<K: Key + ?Sized>(&mut self, key: &K, weight: u64) -> Result<()> {
        let hash = self.scheme.hash(key)?;
        self.add_hash(hash, weight);
        Ok(())
    }

    /// Counts one key by its hash, which must come from this sketch's [`scheme`](Self::scheme).
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) {
        self.add_hash(hash, 1);
    }

    /// Adds a weight to one key by its hash.
    #[inline]
    pub fn add_hash(&mut self, hash: u64, weight: u64) {
        self.total = self.total.saturating_add(weight);
        if self.conservative {
            self.rows.raise(&mut self.counters, hash, weight);
        } else {
            self.rows.add(&mut self.counters, hash, weight);
        }
    }

    /// Counts many keys by their hashes. Same result as one by one, but faster.
    pub fn insert_hashes(&mut self, hashes: &[u64]) {
        self.total = self.total.saturating_add(hashes.len() as u64);
        self.add_all(hashes, |_| 1);
    }

    /// Adds weights to many keys by their hashes. Each weight belongs to the hash at the same
    /// position.
    ///
    /// # Errors
    /// If the numbers of weights and hashes differ; nothing is added then.
    pub fn add_hashes(&mut self, hashes: &[u64], weights: &[u64]) -> Result<()> {
        require_weights(hashes.len(), weights)?;
        self.total = weights.iter().fold(self.total, |total, &weight| total.saturating_add(weight));
        self.add_all(hashes, |i| weights[i]);
        Ok(())
    }

    /// Counts a batch of keys.
    ///
    /// # Errors
    /// If the batch was hashed under another scheme; nothing is counted then.
    pub fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        InsertKeys::insert_batch(self, batch)
    }

    /// Adds the weights to the keys of a batch.
    ///
    /// # Errors
    /// If the batch was hashed under another scheme, or the numbers of weights and keys differ;
    /// nothing is added then.
    pub fn add_batch(&mut self, batch: &KeyBatch<'_>, weights: &[u64]) -> Result<()> {
        self.scheme.require_same(batch.scheme())?;
        self.add_hashes(batch.hashes(), weights)
    }

    #[inline]
    fn add_all(&mut self, hashes: &[u64], weight: impl Fn(usize) -> u64 + Copy) {
        if self.conservative {
            self.rows.raise_all(&mut self.counters, hashes, weight);
        } else {
            self.rows.add_all(&mut self.counters, hashes, weight);
        }
    }
}

impl InsertHashes for CountMin {
    fn insert_hash(&mut self, hash: u64) {
        self.insert_hash(hash);
    }

    fn insert_hashes(&mut self, hashes: &[u64]) {
        self.insert_hashes(hashes);
    }
}

// ---- query ----

impl CountMin {
    /// Returns how often the key occurred. The answer is never below the truth, and exceeds it by
    /// at most [`margin`](Self::margin) with a confidence of `1 − δ`. An answer of 0 is certain.
    ///
    /// # Errors
    /// If the key is not of the sketch's kind.
    ///
    /// ```
    /// use crivo::{frequency::CountMin, keys::KeyScheme};
    /// let mut sales = CountMin::with_scheme(272, 5, KeyScheme::integers())?;
    /// (0..100_000_u64).for_each(|i| sales.insert_hash(i.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
    /// sales.add(&7_u32, 5_000)?;
    /// let sold = sales.frequency(&7_u32)?;
    /// assert!(sold.covers(5_000.0) && sold.upper() == sold.value());
    /// assert_eq!(sold.value() - sold.lower(), (0.009_993_7 * 105_000_f64).floor());
    /// # Ok::<(), crivo::Error>(())
    /// ```
    #[inline]
    pub fn frequency<K: Key + ?Sized>(&self, key: &K) -> Result<Estimate> {
        Ok(self.frequency_of_hash(self.scheme.hash(key)?))
    }

    /// Returns how often the key occurred, with bounds at the given confidence.
    ///
    /// # Errors
    /// If the key is not of the sketch's kind.
    pub fn frequency_at<K: Key + ?Sized>(&self, key: &K, confidence: Confidence) -> Result<Estimate> {
        Ok(self.frequency_of_hash_at(self.scheme.hash(key)?, confidence))
    }

    /// Returns how often the key of this hash occurred: see [`frequency`](Self::frequency).
    #[inline]
    pub fn frequency_of_hash(&self, hash: u64) -> Estimate {
        self.estimate(self.rows.minimum(&self.counters, hash), self.margin(), self.confidence())
    }

    /// Returns how often the key of this hash occurred, with bounds at the given confidence.
    pub fn frequency_of_hash_at(&self, hash: u64, confidence: Confidence) -> Estimate {
        self.estimate(self.rows.minimum(&self.counters, hash), self.margin_at(confidence), confidence)
    }

    /// Writes to `counts` how often each key of a batch occurred, in the order of the batch. The
    /// previous contents of `counts` are replaced. The truth lies in `count − margin ..= count` for
    /// the [`margin`](Self::margin) of the sketch.
    ///
    /// # Errors
    /// If the batch was hashed under another scheme.
    pub fn frequencies(&self, batch: &KeyBatch<'_>, counts: &mut Vec<u64>) -> Result<()> {
        self.scheme.require_same(batch.scheme())?;
        self.frequencies_of_hashes(batch.hashes(), counts);
        Ok(())
    }

    /// Writes to `counts` how often the key of each hash occurred, in the order of the hashes. The
    /// previous contents of `counts` are replaced.
    pub fn frequencies_of_hashes(&self, hashes: &[u64], counts: &mut Vec<u64>) {
        self.rows.minima(&self.counters, hashes, counts);
    }

    /// Returns the largest excess of an answer over the truth, with probability `1 − δ`: `εN`,
    /// rounded down.
    #[inline]
    pub fn margin(&self) -> u64 {
        self.margin_of(Self::epsilon(self.rows.width))
    }

    /// Returns the largest excess of an answer over the truth, at the given confidence:
    /// `t·N/width`, rounded down, where `t^−depth` is the remaining probability.
    pub fn margin_at(&self, confidence: Confidence) -> u64 {
        self.margin_of(self.share_at(confidence))
    }

    /// Returns a share of the total weight, rounded down; never more than the total.
    #[inline]
    fn margin_of(&self, share: f64) -> u64 {
        ((share * self.total as f64) as u64).min(self.total)
    }

    fn share_at(&self, confidence: Confidence) -> f64 {
        let Rows { width, depth } = self.rows;
        libm::exp(-libm::log1p(-confidence.level()) / f64::from(depth)) / f64::from(width)
    }

    /// The default confidence of answers: `1 − δ`.
    pub fn confidence(&self) -> Confidence {
        self.confidence
    }

    #[inline]
    fn estimate(&self, count: u64, margin: u64, confidence: Confidence) -> Estimate {
        if count == 0 || self.is_saturated() {
            return without_margin(count);
        }
        let value = count as f64;
        Estimate::probable(value, count.saturating_sub(margin) as f64, value, confidence)
    }

    /// The weight of the whole stream.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns true if no weight above 0 was added.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Returns true if the total has reached 2^64 − 1, where counting stops. From then on lower
    /// bounds are 0, and a key whose counters are all at their maximum has no upper bound.
    pub fn is_saturated(&self) -> bool {
        self.total == u64::MAX
    }

    /// Returns true if updates are conservative.
    pub fn is_conservative(&self) -> bool {
        self.conservative
    }

    /// The number of counters in a row.
    pub fn width(&self) -> u32 {
        self.rows.width
    }

    /// The number of rows.
    pub fn depth(&self) -> u32 {
        self.rows.depth
    }

    /// Returns how keys are hashed.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// Bytes of memory in use, the struct itself included.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.counters)
    }

    /// The sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        vec![
            ("width", Parameter::Count(self.rows.width.into())),
            ("depth", Parameter::Count(self.rows.depth.into())),
            ("update", Parameter::Name(self.update_name())),
        ]
    }

    /// Returns a summary of the sketch: its parameters, number of items, fill and memory.
    pub fn summary(&self) -> Summary {
        let total = self.total as f64;
        let used = self.counters.iter().filter(|&&counter| counter > 0).count();
        Summary {
            family: Self::FAMILY,
            parameters: [
                self.parameters(),
                vec![
                    ("epsilon", Parameter::Ratio(Self::epsilon(self.rows.width))),
                    ("delta", Parameter::Ratio(Self::delta(self.rows.depth))),
                ],
            ]
            .concat(),
            scheme: self.scheme,
            items: Estimate::certain(total, total, if self.is_saturated() { f64::INFINITY } else { total }),
            fill: Some(used as f64 / self.counters.len() as f64),
            false_positive_rate: None,
            memory: self.memory(),
        }
    }

    fn update_name(&self) -> &'static str {
        if self.conservative { "conservative" } else { "plain" }
    }
}

/// Returns an estimate with certain bounds, from 0 to the counter. It is used for a counter of 0,
/// and for sketches whose total is saturated. There the margin is unknown, because it is a share of
/// the total.
#[cold]
fn without_margin(count: u64) -> Estimate {
    let upper = if count == u64::MAX { f64::INFINITY } else { count as f64 };
    Estimate::certain(count as f64, 0.0, upper)
}
