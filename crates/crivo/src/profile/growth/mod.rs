//! `DistinctGrowth`: how does the number of different values grow with the rows?
//!
//! **Question.** How many different values are in the first 1,000 rows, in the first 10,000, in all
//! rows? A curve that flattens belongs to a category, and one that stays straight to a key.
//!
//! **Guarantee.** At every row, an unbiased estimate with the bounds of Clopper and Pearson at the
//! given confidence. It is exact while there are fewer than `k` different values. At the last row
//! the standard error is `1/√(k − 2)`. Merging the parts of a table gives the sketch of the whole
//! table, bit for bit, in any order.
//!
//! **Idea.** Keep the values with the `k` smallest hashes, each with the first row in which it
//! occurs. Whether a value is kept depends only on its hash, so the kept values are a uniform
//! sample of the different values. The share of kept values is the same for the first `n` rows as
//! for all rows. So one small table gives the whole curve, and merging keeps the smaller row of
//! each value.
//!
//! The kept hashes are also a [`KMinValues`] sketch of the column, which tells how much of one
//! column another contains ([`JoinColumn`](super::JoinColumn)). Every kept value is also recognised
//! when it occurs again. If one value in a hundred occurs twice, a sample of a thousand has ten
//! such values, and the column is certainly no key.
//!
//! **Cost.** A value that is not among the smallest is rejected by one comparison. A value that
//! occurred again recently needs a second one. Only other values access the table.
//!
//! **When not to use it.** For only the number of different values at the end, where an
//! [`UltraLogLog`](crate::distinct::UltraLogLog) has the same error in a twentieth of the memory.
//!
//! **Sources.** As for [`k_min_values`](crate::distinct::k_min_values). Clopper and Pearson: *The
//! use of confidence or fiducial limits illustrated in the case of the binomial* (1934).

mod bytes;

use hashbrown::hash_map::Entry;
use std::ops::RangeInclusive;

use super::by_hash::ByHash;
use crate::codec::{Encode as _, Parameter, Parameters, Summary};
use crate::distinct::KMinValues;
use crate::error::{Error, Result};
use crate::estimate::{Confidence, Estimate};
use crate::keys::{FEW_PLACES, Key, KeyBatch, KeyScheme};
use crate::math::sampled_total;
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{Merge, impl_sketch};

/// The smallest hashes of a column, each with its first row. See the [module](self) for the
/// guarantee.
///
/// ```
/// use crivo::profile::DistinctGrowth;
///
/// let mut cities = DistinctGrowth::new(1024)?;
/// for (row, city) in ["Porto", "Lisboa", "Porto", "Faro"].iter().enumerate() {
///     cities.insert(*city, row as u64 + 1)?;
/// }
/// let curve: Vec<f64> = cities.growth(&[1, 2, 3, 4]).iter().map(|distinct| distinct.value()).collect();
/// assert_eq!(curve, [1.0, 2.0, 2.0, 3.0]);
/// assert!(cities.is_repeated());
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct DistinctGrowth {
    scheme: KeyScheme,
    k: u32,
    /// Every hash so far that is at most this is in `table`.
    threshold: u64,
    table: ByHash<FirstRow>,
    /// Values that occurred again recently, indexed by their low bits. This shortcut changes no
    /// answer. It is created when a value first occurs again, so that a decoded sketch takes no
    /// more memory than its bytes.
    recent: Option<Box<[Recent; RECENT]>>,
}

/// The first row of a value. The lowest bit tells whether the value occurred again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FirstRow(u64);

/// A value in the table that is known to have occurred again, and a row that is not before its
/// first row.
#[derive(Debug, Clone, Copy)]
struct Recent {
    hash: u64,
    row: u64,
}

/// Columns of categories often have at most this many different values; 4 KiB.
const RECENT: usize = 256;

impl FirstRow {
    fn new(row: u64, is_repeated: bool) -> Self {
        Self(row.min(DistinctGrowth::LAST_ROW) << 1 | u64::from(is_repeated))
    }

    fn row(self) -> u64 {
        self.0 >> 1
    }

    fn is_repeated(self) -> bool {
        self.0 & 1 == 1
    }
}

fn no_recent() -> Box<[Recent; RECENT]> {
    // Each entry has a hash that never belongs in its place, so no look-up finds it.
    Box::new(std::array::from_fn(|at| Recent { hash: (at ^ 1) as u64, row: 0 }))
}

// ---- limits and sizing ----

impl DistinctGrowth {
    /// The range of `k`, the number of hashes kept.
    pub const SIZES: RangeInclusive<u32> = 2..=1 << 20;

    /// The largest row number. Later rows count as this one.
    pub const LAST_ROW: u64 = u64::MAX >> 1;

    /// The most bytes for each of the `k` hashes. Up to 7/4 as many are collected, in a table
    /// that may be half full.
    pub const BYTES_EACH: usize = 4 * (16 + 1);

    /// The number of bytes beside the table.
    pub const BYTES: usize = 16 * RECENT;
}

// Both constants decide sizes of profiles, which are stored, so they are the same on every machine.
const _: () = assert!(size_of::<(u64, FirstRow)>() <= 16 && size_of::<Recent>() <= 16);

// ---- construction ----

impl DistinctGrowth {
    /// Returns an empty sketch of the `k` smallest hashes of values that are bytes or text.
    ///
    /// # Errors
    /// If `k` is not in [`SIZES`](Self::SIZES).
    pub fn new(k: u32) -> Result<Self> {
        Self::with_scheme(k, KeyScheme::bytes())
    }

    /// Returns an empty sketch of values that are hashed under the given scheme.
    ///
    /// # Errors
    /// If `k` is not in [`SIZES`](Self::SIZES).
    pub fn with_scheme(k: u32, scheme: KeyScheme) -> Result<Self> {
        if !Self::SIZES.contains(&k) {
            let (least, most) = Self::SIZES.into_inner();
            return Err(Error::parameter("k", format_args!("{least} to {most}"), k));
        }
        Ok(Self { scheme, k, threshold: u64::MAX, table: ByHash::default(), recent: None })
    }
}

// ---- update ----

impl DistinctGrowth {
    /// Adds the value of a row.
    ///
    /// # Errors
    /// If the value is not of the sketch's kind.
    pub fn insert<K: Key + ?Sized>(&mut self, value: &K, row: u64) -> Result<()> {
        let hash = self.scheme.hash(value)?;
        self.insert_hashes(&[hash], |_| row);
        Ok(())
    }

    /// Adds the values of a batch. `row` returns the row of a value by its index in the batch.
    ///
    /// # Errors
    /// If the batch was hashed under another scheme. Nothing is added then.
    pub fn insert_batch(&mut self, batch: &KeyBatch<'_>, row: impl Fn(usize) -> u64) -> Result<()> {
        self.scheme.require_same(batch.scheme())?;
        match batch.few_places() {
            Some(places) => self.insert_places(places, batch.hashes(), row),
            None => self.insert_hashes(batch.hashes(), row),
        }
        Ok(())
    }

    /// Adds values of a dictionary by their places in it. After its second occurrence in the batch
    /// a value is known to be repeated. From then on only a smaller row could change anything.
    fn insert_places(&mut self, places: &[u32], hashes: &[u64], row: impl Fn(usize) -> u64) {
        let mut known = [(0_u64, 0_u8); FEW_PLACES];
        for (at, (&place, &hash)) in places.iter().zip(hashes).enumerate() {
            if hash > self.threshold {
                continue;
            }
            let (least, times) = &mut known[place as usize % FEW_PLACES];
            let row = row(at);
            if *times < 2 || row < *least {
                *least = if *times == 0 { row } else { row.min(*least) };
                *times += u8::from(*times < 2);
                self.insert_hashes(&[hash], |_| row);
            }
        }
    }

    /// Adds values by their hashes, which must be computed with this sketch's
    /// [`scheme`](Self::scheme).
    #[inline]
    pub fn insert_hashes(&mut self, hashes: &[u64], row: impl Fn(usize) -> u64) {
        for (at, &hash) in hashes.iter().enumerate() {
            if hash <= self.threshold {
                let row = row(at);
                let is_new = |recent: Recent| recent.hash != hash || row < recent.row;
                if self.recent.as_ref().is_none_or(|recent| is_new(recent[hash as usize % RECENT])) {
                    self.admit(hash, FirstRow::new(row, false));
                }
            }
        }
    }

    #[inline(never)]
    fn admit(&mut self, hash: u64, new: FirstRow) {
        match self.table.entry(hash) {
            Entry::Occupied(mut known) => {
                let row = known.get().row().min(new.row());
                known.insert(FirstRow::new(row, true));
                let recent = self.recent.get_or_insert_with(no_recent);
                recent[hash as usize % RECENT] = Recent { hash, row };
            }
            Entry::Vacant(place) => {
                place.insert(new);
                // A table of this many hashes has no more slots than one of the `k` smallest alone,
                // if `k` is a power of two.
                if self.table.len() >= (self.k as usize * 7 / 4).max(self.k as usize + 1) {
                    self.keep_smallest();
                }
            }
        }
    }

    #[cold]
    fn keep_smallest(&mut self) {
        let mut hashes: Vec<u64> = self.table.keys().copied().collect();
        let (_, largest, _) = hashes.select_nth_unstable(self.k as usize - 1);
        self.threshold = *largest;
        self.table.retain(|hash, _| *hash <= self.threshold);
    }

    /// Gives every row another number. If a part of a table numbered its rows from 1, this changes
    /// them to their numbers in the whole table before it is merged.
    pub fn renumber(&mut self, number: impl Fn(u64) -> u64) {
        #[allow(clippy::iter_over_hash_type)] // each value is changed by itself
        for first in self.table.values_mut() {
            *first = FirstRow::new(number(first.row()), first.is_repeated());
        }
        self.recent = None;
    }
}

// ---- query ----

impl DistinctGrowth {
    /// Returns the number of different values up to each of these rows, with bounds at 95 %.
    pub fn growth(&self, rows: &[u64]) -> Vec<Estimate> {
        self.growth_at(rows, Confidence::P95)
    }

    /// Returns the number of different values up to each of these rows, with bounds at the given
    /// confidence. Rows are numbered from 1, so an answer is never larger than its row.
    pub fn growth_at(&self, rows: &[u64], confidence: Confidence) -> Vec<Estimate> {
        let kept = self.kept();
        // All hashes below the k-th smallest are kept. That hash itself sets the limit and is not
        // counted.
        let limit = kept.get(self.k as usize - 1).map(|(hash, _)| *hash);
        let share = limit.map_or(1.0, |limit| limit as f64 / 2_f64.powi(64));
        let below = |(hash, _): &&(u64, FirstRow)| limit.is_none_or(|limit| *hash < limit);
        let mut firsts: Vec<u64> = kept.iter().filter(below).map(|(_, first)| first.row()).collect();
        firsts.sort_unstable();
        let distinct = |&row: &u64| {
            let count = firsts.partition_point(|&first| first <= row) as u64;
            sampled_total(count, share, confidence).limited_to(count as f64, row as f64)
        };
        rows.iter().map(distinct).collect()
    }

    /// Returns true if a value certainly occurred twice. If only a share `s` of the different
    /// values is repeated, the sample misses all of them with probability `(1 − s)^k`.
    pub fn is_repeated(&self) -> bool {
        self.kept().iter().any(|(_, first)| first.is_repeated())
    }

    /// Returns a sketch of the column's different values.
    ///
    /// # Errors
    /// Never for the sizes that this sketch can have.
    pub fn keys(&self) -> Result<KMinValues> {
        let mut keys = KMinValues::with_scheme(self.k, self.scheme)?;
        self.table.keys().for_each(|&hash| keys.insert_hash(hash));
        Ok(keys)
    }

    /// Returns the `k` smallest hashes in ascending order, and the largest of them. If there are
    /// fewer, returns all hashes and `None`.
    pub(super) fn ascending(&self) -> (Box<[u64]>, Option<u64>) {
        let hashes: Box<[u64]> = self.kept().into_iter().map(|(hash, _)| hash).collect();
        let largest = hashes.get(self.k as usize - 1).copied();
        (hashes, largest)
    }

    /// Returns the `k` smallest hashes with their rows, in ascending order. Answers and bytes
    /// depend only on these.
    fn kept(&self) -> Vec<(u64, FirstRow)> {
        let mut kept: Vec<(u64, FirstRow)> = self.table.iter().map(|(&hash, &first)| (hash, first)).collect();
        kept.sort_unstable_by_key(|(hash, _)| *hash);
        kept.truncate(self.k as usize);
        kept
    }

    /// Returns true if no value was added.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// The number of smallest hashes that are kept.
    pub fn k(&self) -> u32 {
        self.k
    }

    /// The scheme under which values are hashed.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// The number of bytes of memory in use, including the struct itself.
    pub fn memory(&self) -> usize {
        let slots = self.table.capacity() * 8 / 7;
        let recent = self.recent.as_ref().map_or(0, |_| Self::BYTES);
        size_of::<Self>() + recent + slots * (size_of::<(u64, FirstRow)>() + 1)
    }

    /// Returns the sizes the sketch was built with.
    pub fn parameters(&self) -> Parameters {
        vec![("k", Parameter::Count(self.k.into()))]
    }

    /// Returns the summary that `crivo show` prints.
    pub fn summary(&self) -> Summary {
        let kept = self.kept();
        let is_exact = kept.len() < self.k as usize;
        let repeated = kept.iter().filter(|(_, first)| first.is_repeated()).count();
        let mut parameters = self.parameters();
        parameters.push(("state", Parameter::Name(if is_exact { "exact" } else { "sampling" })));
        parameters.push(("repeated", Parameter::Count(repeated as u64)));
        let items = self.growth(&[Self::LAST_ROW]).pop();
        Summary {
            family: Self::FAMILY,
            parameters,
            scheme: self.scheme,
            items: items.unwrap_or_else(|| Estimate::exact(0.0)),
            fill: Some(kept.len() as f64 / f64::from(self.k)),
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}

impl PartialEq for DistinctGrowth {
    fn eq(&self, other: &Self) -> bool {
        (self.scheme, self.k) == (other.scheme, other.k) && self.kept() == other.kept()
    }
}

// ---- merge ----

impl DistinctGrowth {
    /// Merges the sketch of another part of a table. The result is, bit for bit, the sketch of both
    /// parts. Rows keep their numbers, so all parts must be numbered continuously
    /// ([`renumber`](Self::renumber)). If the sizes differ, the smaller `k` is used.
    ///
    /// # Errors
    /// If the schemes differ. The sketch is unchanged then.
    ///
    /// ```
    /// use crivo::profile::DistinctGrowth;
    /// let (mut first, mut second) = (DistinctGrowth::new(64)?, DistinctGrowth::new(64)?);
    /// first.insert("ana", 1)?;
    /// second.insert("rui", 1)?;
    /// second.renumber(|row| row + 1);
    /// first.merge(&second)?;
    /// assert_eq!(first.growth(&[1])[0].value(), 1.0);
    /// assert_eq!(first.growth(&[2])[0].value(), 2.0);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.scheme.require_same(other.scheme)?;
        self.k = self.k.min(other.k);
        self.threshold = self.threshold.min(other.threshold);
        self.table.retain(|hash, _| *hash <= self.threshold);
        if self.table.len() >= 2 * self.k as usize {
            self.keep_smallest();
        }
        #[allow(clippy::iter_over_hash_type)] // each value is merged by itself
        for (&hash, &first) in &other.table {
            // The threshold may have fallen during this loop.
            if hash <= self.threshold {
                self.admit(hash, first);
            }
        }
        Ok(())
    }
}

impl_sketch!(DistinctGrowth);

impl Merge for DistinctGrowth {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}
