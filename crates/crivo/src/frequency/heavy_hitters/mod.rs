// This file is long because it contains the documentation and the examples of its public functions.

//! HeavyHitters: which keys occur most often, with certain bounds for each.
//!
//! **Question.** Which keys make up most of a stream, and how often did each occur?
//!
//! **Guarantee.** With `k` counters and a total weight `N` every key has bounds that no input can
//! break. A key with a counter occurred at least `lower` and at most `upper` times. A key without
//! one occurred at most [`max_error`](HeavyHitters::max_error) times, and
//!
//! ```text
//! upper − lower ≤ 1.001 · max_error,   max_error ≤ N / (k + 1 − ⌊k/4⌋) < 4/3 · N/k
//! ```
//!
//! So every key with more than that share of the total has a counter. While at most `k` different
//! keys have occurred, `max_error` is 0 and every answer is exact. Merging keeps all of this, for
//! the total of both.
//!
//! **Idea.** Count every key until there are more than `k`. Then the smallest quarter of the
//! counters is given up, together with all that equal the largest of that quarter. That largest
//! count is the *threshold*: the highest count that a key without a counter may have had. A new key
//! begins at the threshold, which makes its counter an upper bound. It remembers the threshold as
//! its own error: what the counter rose since then is a lower bound. Keys that are truly frequent
//! occur early and stay. So their error is nearly always far below `max_error`, and often 0.
//!
//! *Why the error is bounded.* Let `c` be the excess of a counter over the threshold `t`; then
//! `Σc + t·m ≤ N` with `m = k + 1 − ⌊k/4⌋`. Adding a weight raises both sides by it. Raising `t` by
//! `d`, the `1 + ⌊k/4⌋`th smallest of `k + 1` values `c`, lowers at least `m` of them by all of
//! `d`. A merge adds both sides. If more than `k` counters remain, it raises `t` by the smallest
//! `c` that suffices, which lowers at least `k + 1` of them.
//!
//! **When not to use it.** For the count of arbitrary keys, rare ones included: a Count-Min sketch
//! bounds them better in the same memory. For data with few different keys, where a hash map is
//! exact anyway. It cannot forget.
//!
//! **Order matters.** The counters depend on the order of the keys, and on how a stream was split
//! before it was merged; the guarantee does not. The same operations in the same order always give
//! the same bytes, and a batch is the same as its keys one by one.
//!
//! **Memory.** 24 bytes a counter for integers and hashes (19 in a table at most four fifths full),
//! 44 for a text. A text of more than 15 bytes takes up to twice its length in addition. These
//! texts lie in one array, which is compacted when more than a third of it belongs to counters
//! given up. A key longer than [`MAX_KEY_BYTES`](HeavyHitters::MAX_KEY_BYTES) is refused with an
//! error, so that a few of them cannot take more memory than the capacity suggests. The table grows
//! with the number of different keys and never beyond the capacity. Compacting temporarily needs as
//! much memory again as the texts take, and a merge 56 bytes a counter.
//!
//! **Sources.** Misra, Gries: *Finding repeated elements* (1982). Metwally, Agrawal, El Abbadi:
//! *Efficient computation of frequent and top-k elements in data streams* (2005), for counters that
//! are upper bounds. Agarwal et al.: *Mergeable summaries* (2012). Anderson et al.: *A
//! high-performance algorithm for identifying frequent items in data streams* (2017), for giving up
//! many at once.
//!
//! **Where this departs from them.** A quarter is given up, not half, which makes the bound a third
//! smaller; with unit weights far more go anyway, because most equal the smallest. Nothing is
//! subtracted from the counters that stay: the threshold rises instead, and each counter keeps the
//! error it began with, as Space-Saving does. The rank is exact, not sampled, so that the bound is
//! certain and not probable.

mod bucket;
mod bytes;
mod label;
mod merge;
mod names;
mod purge;
mod rounded;
mod strays;
mod table;

use std::ops::RangeInclusive;

use self::label::{Label, len_beside};
use self::names::{SPREAD, Unnamed};
use self::table::{CHUNK, Counter, Entry, Table};
use super::hitter::{Hitter, certain};
use super::rows::require_weights;
use crate::codec::{Encode as _, Parameter, Parameters, Summary};
use crate::error::{Error, ErrorKind, Result};
use crate::estimate::Estimate;
use crate::keys::{Key, KeyBatch, KeyKind, KeyRef, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::InsertKeys;

/// Finds the most frequent keys; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::frequency::{HeavyHitters, Reading};
///
/// let mut pages = HeavyHitters::for_share(0.001)?;
/// for visit in 0..100_000_u64 {
///     // Page i is visited about half as often as page i − 1.
///     pages.insert(&format!("/page{}", visit.trailing_ones()))?;
/// }
/// let top = pages.top(2);
/// assert_eq!((top[0].key().to_string(), top[0].lower(), top[0].upper()), ("/page0".into(), 50_000, 50_000));
/// assert_eq!(pages.above(0.1, Reading::NoFalseNegatives)?.len(), 3);
/// assert!(pages.frequency("/never")?.upper() <= pages.max_error() as f64);
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct HeavyHitters {
    scheme: KeyScheme,
    capacity: usize,
    total: u64,
    table: Table,
}

/// Which keys [`HeavyHitters::above`] lists if the bounds leave open whether a key is above the
/// share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reading {
    /// Only keys that are certainly above the share. Some keys above it may be missing.
    NoFalsePositives,
    /// Every key that may be above the share. No key above it is missing, but some listed keys may
    /// not be above it.
    NoFalseNegatives,
}

// ---- limits and sizing ----

impl HeavyHitters {
    /// The numbers of counters a sketch may have. (16 million take 400 MB.)
    pub const CAPACITIES: RangeInclusive<u64> = 1..=1 << 24;

    /// The length of the longest key; longer keys are refused. Count them by their hash instead,
    /// under [`KeyScheme::hashes`].
    pub const MAX_KEY_BYTES: usize = 4096;

    /// Returns the share of the total that no error exceeds: `1/(capacity + 1 − ⌊capacity/4⌋)`.
    pub fn guaranteed_share(capacity: u64) -> f64 {
        1.0 / Self::divisor(capacity) as f64
    }

    /// Returns the least capacity that finds every key above a share of the total. No count is off
    /// by more than that share.
    ///
    /// # Errors
    /// If no capacity in [`CAPACITIES`](Self::CAPACITIES) suffices.
    ///
    /// ```
    /// use crivo::frequency::HeavyHitters;
    /// assert_eq!(HeavyHitters::capacity_for(0.001)?, 1331);
    /// assert!(HeavyHitters::capacity_for(0.0).is_err());
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn capacity_for(share: f64) -> Result<u64> {
        let least = Self::guaranteed_share(*Self::CAPACITIES.end());
        if share >= least && share < 1.0 {
            // Division rounds. For a share of `1/n` the divisor must be exactly `n`.
            let divisor = (1.0 / share).ceil();
            let divisor = if 1.0 / (divisor - 1.0) <= share { divisor - 1.0 } else { divisor };
            // The smallest k with k − ⌊k/4⌋ = others.
            let others = (divisor as u64).saturating_sub(1).max(1);
            Ok(others + (others - 1) / 3)
        } else {
            Err(Error::parameter("share", format_args!("a share from {least:.1e} to below 1"), share))
        }
    }

    /// Returns the divisor of the error bound: `m` of the module's proof.
    fn divisor(capacity: u64) -> u64 {
        capacity + 1 - capacity / 4
    }

    fn require_length(length: usize) -> Result<()> {
        if length <= Self::MAX_KEY_BYTES {
            return Ok(());
        }
        let expected = format_args!("at most {} bytes", Self::MAX_KEY_BYTES).to_string();
        let advice = "count long keys by their hash: build the sketch with KeyScheme::hashes";
        Err(Error::new(ErrorKind::InvalidParameter, "key", expected, format_args!("{length}"), advice))
    }
}

// ---- construction ----

impl HeavyHitters {
    /// Returns an empty sketch with the given number of counters, for keys that are bytes or text.
    ///
    /// # Errors
    /// If the capacity is not in [`CAPACITIES`](Self::CAPACITIES).
    pub fn new(capacity: u64) -> Result<Self> {
        Self::with_scheme(capacity, KeyScheme::bytes())
    }

    /// Returns an empty sketch for keys of the given scheme.
    ///
    /// # Errors
    /// If the capacity is not in [`CAPACITIES`](Self::CAPACITIES).
    ///
    /// ```
    /// use crivo::{frequency::HeavyHitters, keys::KeyScheme};
    /// let mut orders = HeavyHitters::with_scheme(100, KeyScheme::integers())?;
    /// orders.add(&1234_u64, 3)?;
    /// assert!(orders.add("1234", 3).is_err());
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn with_scheme(capacity: u64, scheme: KeyScheme) -> Result<Self> {
        if Self::CAPACITIES.contains(&capacity) {
            Ok(Self { scheme, capacity: capacity as usize, total: 0, table: Table::new(scheme) })
        } else {
            let (least, most) = Self::CAPACITIES.into_inner();
            Err(Error::parameter("capacity", format_args!("{least} to {most}"), capacity))
        }
    }

    /// Returns an empty sketch, for keys that are bytes or text, that certainly finds every key
    /// above a share of the total.
    ///
    /// # Errors
    /// If no capacity suffices.
    pub fn for_share(share: f64) -> Result<Self> {
        Self::new(Self::capacity_for(share)?)
    }

    /// Returns an empty sketch for keys of the given scheme that certainly finds every key above a
    /// share of the total.
    ///
    /// # Errors
    /// If no capacity suffices.
    pub fn for_share_with_scheme(share: f64, scheme: KeyScheme) -> Result<Self> {
        Self::with_scheme(Self::capacity_for(share)?, scheme)
    }
}

// ---- update ----

impl HeavyHitters {
    /// Counts one key once.
    ///
    /// # Errors
    /// If the key is not of the sketch's kind or too long, or there is no memory for a new one;
    /// nothing is counted then.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<()> {
        self.add(key, 1)
    }

    /// Counts one key `weight` times; a weight of 0 changes nothing.
    ///
    /// # Errors
    /// As for [`insert`](Self::insert).
    #[inline]
    pub fn add<K: Key + ?Sized>(&mut self, key: &K, weight: u64) -> Result<()> {
        let hash = self.scheme.hash(key)?;
        self.add_hashed(hash, key.to_ref(), weight)
    }

    /// Counts a key whose kind is known only at run time, or a hash, `weight` times.
    ///
    /// # Errors
    /// As for [`insert`](Self::insert).
    pub fn add_ref(&mut self, key: KeyRef<'_>, weight: u64) -> Result<()> {
        let hash = self.scheme.hash_ref(key)?;
        self.add_hashed(hash, key, weight)
    }

    /// Counts a key whose hash under the sketch's scheme is known.
    #[inline]
    pub(crate) fn add_hashed(&mut self, hash: u64, key: KeyRef<'_>, weight: u64) -> Result<()> {
        match key {
            _ if weight == 0 => return Ok(()),
            KeyRef::Bytes(text) => self.table.add_text(hash, text, weight, self.capacity + 1)?,
            KeyRef::Integer(_) | KeyRef::Hash(_) => {
                self.table.add_hash(table_hash(hash, key.kind()), weight, self.capacity + 1)?;
            }
        }
        self.total = self.total.saturating_add(weight);
        self.purge_if_full();
        Ok(())
    }

    #[inline]
    fn purge_if_full(&mut self) {
        if self.table.len() > self.capacity {
            self.table.purge(1 + self.capacity / 4);
        }
    }

    /// Counts every key of a batch once. Same result as one by one, but faster.
    ///
    /// # Errors
    /// If the batch was hashed under another scheme; nothing is counted then. If a key is too long,
    /// or there is no memory for a new one; only the keys before it are counted then.
    pub fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        self.scheme.require_same(batch.scheme())?;
        let kind = self.scheme.kind();
        if kind == KeyKind::Bytes {
            return self.insert_texts(batch);
        }
        let mut hashes = [0; CHUNK];
        batch.hashes().chunks(CHUNK).try_for_each(|chunk| {
            hashes.iter_mut().zip(chunk).for_each(|(to, &hash)| *to = table_hash(hash, kind));
            self.insert_chunk(&hashes[..chunk.len()])
        })
    }

    /// Counts the keys of a batch. Each weight belongs to the key at the same position.
    ///
    /// # Errors
    /// As for [`insert_batch`](Self::insert_batch), and if the numbers of weights and keys differ;
    /// nothing is counted then.
    pub fn add_batch(&mut self, batch: &KeyBatch<'_>, weights: &[u64]) -> Result<()> {
        self.scheme.require_same(batch.scheme())?;
        require_weights(batch.len(), weights)?;
        batch.iter().zip(weights).try_for_each(|((key, hash), &weight)| self.add_hashed(hash, key, weight))
    }

    /// Returns the number of new keys that fit before the table has to grow or a counter is given
    /// up.
    fn room(&self) -> usize {
        self.table.spare().min(self.capacity.saturating_sub(self.table.len()))
    }

    fn insert_texts(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        let mut labels = [Label::default(); CHUNK];
        let mut from = 0;
        while from < batch.len() {
            let mut short = 0;
            batch.slice(from..from + CHUNK).each_text_before_others_while(|text, length, _| {
                let label = Label::of_short_before_others(text, length);
                if let Some(label) = label {
                    labels[short % CHUNK] = label;
                    short += 1;
                }
                label.is_some()
            });
            self.insert_short(&batch.hashes()[from..from + short], &labels[..short])?;
            from += short;
            // Long texts are counted one by one. So if one is refused, all keys before it are
            // counted and none after it.
            while let Some(KeyRef::Bytes(text)) = batch.get(from)
                && len_beside(text.len()) > 0
            {
                self.add_hashed(batch.hashes()[from], KeyRef::Bytes(text), 1)?;
                from += 1;
            }
        }
        Ok(())
    }

    /// Counts texts that are short enough to fit in their labels.
    fn insert_short(&mut self, mut hashes: &[u64], mut labels: &[Label]) -> Result<()> {
        while let (Some(&hash), Some(label)) = (hashes.first(), labels.first()) {
            let mut count = self.room().min(hashes.len());
            match self.total.checked_add(count as u64) {
                // The order of additions does not matter as long as no counter is given up and
                // nothing overflows.
                Some(total) if count > 0 => {
                    let mut others = [0; CHUNK];
                    for &other in self.table.count_short(&hashes[..count], &labels[..count], &mut others) {
                        let (hash, label) = (hashes[usize::from(other)], &labels[usize::from(other)]);
                        self.table.add_short(hash, label, self.capacity + 1)?;
                    }
                    self.total = total;
                }
                _ => {
                    count = 1;
                    self.add_hashed(hash, KeyRef::Bytes(label.text(&[])), 1)?;
                }
            }
            (hashes, labels) = (&hashes[count..], &labels[count..]);
        }
        Ok(())
    }

    /// Counts keys that are represented by their hash. `hashes` are the table's hashes.
    fn insert_chunk(&mut self, hashes: &[u64]) -> Result<()> {
        let most = self.capacity + 1;
        let room = self.room();
        match self.total.checked_add(hashes.len() as u64) {
            // The order of additions does not matter as long as no counter is given up and nothing
            // overflows.
            Some(total) if hashes.len() <= room => {
                let mut others = [0; CHUNK];
                for &hash in self.table.count_known(hashes, &mut others) {
                    self.table.add_anywhere(hash, Unnamed, 1, most)?;
                }
                self.total = total;
            }
            _ => {
                for &hash in hashes {
                    self.table.add_hash(hash, 1, most)?;
                    self.total = self.total.saturating_add(1);
                    self.purge_if_full();
                }
            }
        }
        Ok(())
    }
}

/// Returns the hash by which the table stores a key.
#[inline]
fn table_hash(hash: u64, kind: KeyKind) -> u64 {
    if kind == KeyKind::Hash { hash.wrapping_mul(SPREAD) } else { hash }
}

impl InsertKeys for HeavyHitters {
    fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        self.insert_batch(batch)
    }
}

// ---- query ----

impl HeavyHitters {
    /// Returns how often a key occurred, with certain bounds.
    ///
    /// # Errors
    /// If the key is not of the sketch's kind.
    pub fn frequency<K: Key + ?Sized>(&self, key: &K) -> Result<Estimate> {
        self.frequency_ref(key.to_ref())
    }

    /// Returns how often a key occurred whose kind is known only at run time.
    ///
    /// # Errors
    /// If the key is not of the sketch's kind.
    pub fn frequency_ref(&self, key: KeyRef<'_>) -> Result<Estimate> {
        let hash = table_hash(self.scheme.hash_ref(key)?, key.kind());
        Ok(match self.table.get(hash, key) {
            Some(counter) => certain(counter.middle(), counter.lower(), counter.count),
            // Nearly all keys without a counter occurred rarely or never.
            None => certain(0, 0, self.max_error()),
        })
    }

    /// Returns the most frequent keys, at most `count` of them, sorted by [count](Hitter::count)
    /// and then by key. A key without a counter is not listed; it occurred at most
    /// [`max_error`](Self::max_error) times.
    pub fn top(&self, count: usize) -> Vec<Hitter> {
        self.listed(count, |_| true)
    }

    /// Returns the keys above a share of the total, in the order of [`top`](Self::top).
    ///
    /// # Errors
    /// If the share is not from 0 to below 1, or the total is [saturated](Self::is_saturated). With
    /// [`Reading::NoFalseNegatives`] also if keys above the share may be without a counter.
    pub fn above(&self, share: f64, reading: Reading) -> Result<Vec<Hitter>> {
        if !(0.0..1.0).contains(&share) {
            return Err(Error::parameter("share", "a share from 0 to below 1", share));
        }
        if self.is_saturated() {
            let kind = ErrorKind::InvalidParameter;
            let advice = "counting stopped there: no share of it is known";
            return Err(Error::new(kind, "total", "less than 2^64 − 1", self.total, advice));
        }
        let limit = share_of(share, self.total);
        match reading {
            Reading::NoFalsePositives => Ok(self.listed(usize::MAX, |counter| counter.lower() > limit)),
            Reading::NoFalseNegatives if limit < self.max_error() => {
                let least = self.max_error() as f64 / self.total as f64;
                let advice = "a larger capacity finds smaller shares: see HeavyHitters::capacity_for";
                let expected = format!("at least {least:.3e}, the error of this sketch");
                Err(Error::new(ErrorKind::InvalidParameter, "share", expected, share, advice))
            }
            Reading::NoFalseNegatives => Ok(self.listed(usize::MAX, |counter| counter.count > limit)),
        }
    }

    fn listed(&self, count: usize, wanted: impl Fn(Counter) -> bool) -> Vec<Hitter> {
        let mut entries: Vec<Entry<'_>> =
            self.table.entries().filter(|entry| wanted(entry.counter)).collect();
        let order = |a: &Entry<'_>, b: &Entry<'_>| {
            b.counter.middle().cmp(&a.counter.middle()).then_with(|| a.key.cmp(&b.key))
        };
        if count < entries.len() {
            entries.select_nth_unstable_by(count, order);
            entries.truncate(count);
        }
        entries.sort_unstable_by(order);
        let hitter = |&Entry { key, counter, .. }: &Entry<'_>| {
            Hitter::new(key.to_owned(), counter.lower(), counter.count)
        };
        entries.iter().map(hitter).collect()
    }

    /// The weight of the whole stream; [`u64::MAX`] if it is that or more.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns true if the total reached [`u64::MAX`], where counting stops. From then on shares
    /// are unknown, and a count of that size has no upper bound.
    pub fn is_saturated(&self) -> bool {
        self.total == u64::MAX
    }

    /// The highest count that a key without a counter may have; 0 while every key has one.
    pub fn max_error(&self) -> u64 {
        self.table.threshold()
    }

    /// The number of keys that have a counter.
    pub fn counters(&self) -> usize {
        self.table.len()
    }

    /// Returns true if nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// The length in bytes of the longest key with a counter, if keys are bytes.
    pub(crate) fn longest_key(&self) -> usize {
        let bytes = |key| if let KeyRef::Bytes(text) = key { text.len() } else { 0 };
        self.table.entries().map(|entry| bytes(entry.key)).max().unwrap_or(0)
    }

    /// The largest number of counters.
    pub fn capacity(&self) -> u64 {
        self.capacity as u64
    }

    /// Returns how keys are hashed.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// Bytes of memory in use, the struct itself included.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.table.memory()
    }

    /// The sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        vec![("capacity", Parameter::Count(self.capacity()))]
    }

    /// Returns a summary of the sketch: its parameters, number of items, fill and memory.
    pub fn summary(&self) -> Summary {
        Summary {
            family: Self::FAMILY,
            parameters: [
                self.parameters(),
                vec![
                    ("counters", Parameter::Count(self.counters() as u64)),
                    ("max_error", Parameter::Count(self.max_error())),
                    ("guaranteed_share", Parameter::Ratio(Self::guaranteed_share(self.capacity()))),
                ],
            ]
            .concat(),
            scheme: self.scheme,
            items: certain(self.total, self.total, self.total),
            fill: Some(self.counters() as f64 / self.capacity as f64),
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}

/// Returns `⌊share · total⌋` without rounding: a count is above the share exactly if it is above
/// this.
fn share_of(share: f64, total: u64) -> u64 {
    // A float below 1 is a whole number of at most 53 bits, over a power of two.
    let bits = share.to_bits();
    let exponent = (bits >> 52) as i32;
    let mantissa = bits & ((1 << 52) - 1) | u64::from(exponent > 0) << 52;
    let shift = 1075 - exponent.max(1);
    let product = u128::from(mantissa) * u128::from(total);
    product.checked_shr(shift as u32).unwrap_or(0) as u64
}

/// Compares the settings, the totals, and the bounds of each key. The position of keys in the table
/// does not matter.
impl PartialEq for HeavyHitters {
    fn eq(&self, other: &Self) -> bool {
        let alike = |sketch: &Self| {
            (sketch.scheme, sketch.capacity, sketch.total, sketch.max_error(), sketch.counters())
        };
        alike(self) == alike(other)
            && self.table.entries().all(|entry| other.table.get(entry.hash, entry.key) == Some(entry.counter))
    }
}

impl Eq for HeavyHitters {}
