//! Count-Min over ranges: how many keys lie in a range?
//!
//! **Question.** How many of a stream's integers lie in a range that is named only later? What is
//! their median, or any other quantile?
//!
//! **Guarantee.** Keys lie in the universe `[0, 2^levels)`, and `N` is the weight of the whole
//! stream. An answer is never below the truth. `s` levels are in sketches of `depth` rows of
//! `width` counters, and a range consists of `m ≤ 2s` sketched pieces. Then, for any `δ`,
//!
//! ```text
//! truth ≤ value   for every stream
//! truth ≥ value − m·t·N/width   with probability 1 − δ, where t = (m/δ)^(1/depth)
//! ```
//!
//! because each piece is too large by more than `t·N/width` with probability at most
//! `t^−depth = δ/m`. [`for_bound`](RangeCountMin::for_bound) chooses `width = ⌈2s·e/ε⌉` and
//! `depth = ⌈ln 2s/δ⌉`, so that no range is off by more than `εN` with probability `1 − δ`.
//!
//! **Idea.** Level `l` counts the prefixes `key >> l`: how many keys lie in each aligned block of
//! `2^l` keys. Every range consists of at most two blocks of each level. Coarse levels have few
//! blocks. The first level whose blocks all fit into the memory of one sketch is counted exactly,
//! as are all levels above it, in a tree. So ranges that begin and end with leaves of the tree are
//! exact. The part of a leaf that a range cuts off is never answered with more than the whole leaf.
//!
//! **When not to use it.** For single keys: an insertion changes every level, `s·depth` counters.
//! That is an order of magnitude more than [`CountMin`](super::CountMin), which answers for single
//! keys as well. For quantiles of numbers without a universe, or with an error relative to the
//! value, there are smaller sketches.
//!
//! **Signed integers** are taken in two's complement, where −1 is the largest key of 64 levels.
//! [`from_signed`](RangeCountMin::from_signed), or an offset of your own, orders them as numbers.
//!
//! **Sources.** Cormode, Muthukrishnan: *An improved data stream summary: the Count-Min sketch and
//! its applications* (2005), section 4.2, which states `2·log₂U·εN` for the error of a range.
//!
//! **Where this departs from the paper.** The top levels are an exact tree. The probability `δ` is
//! that of the whole answer, not of each piece. Errors are rounded down to whole numbers.

mod query;
mod stored;
mod tree;

use std::f64::consts::E;
use std::ops::RangeInclusive;

use self::tree::Tree;
use super::rows::{Rows, require_weights};
use crate::cpu::zeroed;
use crate::error::{Error, ErrorKind, Result};
use crate::estimate::Confidence;
use crate::keys::{Key, KeyBatch, KeyKind, KeyRef, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::InsertKeys;

/// Counts integers by range; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::frequency::RangeCountMin;
///
/// // Milliseconds up to 2^20, about 17 minutes: any range within 1 % of all, in 99 of 100 cases.
/// let mut latencies = RangeCountMin::for_bound(20, 0.01, 0.01)?;
/// (0..10_000_u64).try_for_each(|i| latencies.insert(&(i * i % 3_000)))?;
/// let slow = latencies.range(2_000..=2_999)?;
/// let truth = (0..10_000_u64).filter(|i| i * i % 3_000 >= 2_000).count() as f64;
/// assert!(slow.covers(truth) && slow.value() - truth <= 100.0);
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeCountMin {
    scheme: KeyScheme,
    levels: u32,
    /// The shape of the table of a sketched level.
    rows: Rows,
    /// The number of sketched levels. A leaf of the tree is a block of `2^sketched` keys.
    sketched: u32,
    /// One table for each sketched level, the finest first.
    tables: Vec<u64>,
    /// The exact counts of the levels above.
    tree: Tree,
}

// ---- limits and sizing ----

impl RangeCountMin {
    /// The base-2 logarithms of possible universes: from `[0, 2)` to all 64-bit integers.
    pub const LEVELS: RangeInclusive<u32> = 1..=64;

    /// The possible numbers of counters in a row: up to 8 GiB for each row of each sketched level.
    pub const WIDTHS: RangeInclusive<u32> = Rows::WIDTHS;

    /// The possible numbers of rows: more than any failure probability needs.
    pub const DEPTHS: RangeInclusive<u32> = Rows::DEPTHS;

    /// Returns how many levels are sketched: those with more blocks than a table has counters.
    ///
    /// ```
    /// use crivo::frequency::RangeCountMin;
    /// assert_eq!(RangeCountMin::sketched_levels(32, 4096, 4), 18); // the tree has 2^14 leaves
    /// assert_eq!(RangeCountMin::sketched_levels(12, 4096, 4), 0); // all is exact
    /// ```
    pub fn sketched_levels(levels: u32, width: u32, depth: u32) -> u32 {
        levels.saturating_sub(Rows { width, depth }.cells().max(1).ilog2())
    }

    /// Returns the largest share of the whole weight by which the answer for any range exceeds the
    /// truth, at the given confidence: `m·t/width` for `m` = 2 pieces of each sketched level.
    pub fn epsilon(levels: u32, width: u32, depth: u32, confidence: Confidence) -> f64 {
        let pieces = 2 * Self::sketched_levels(levels, width, depth);
        excess_of(pieces, Rows { width, depth }, confidence)
    }

    /// Returns the least width and depth with which, with a probability of at least `1 − delta`,
    /// the answer for any range exceeds the truth by at most `epsilon` times the whole weight.
    ///
    /// # Errors
    /// If `levels` is not in [`LEVELS`](Self::LEVELS), if `epsilon` or `delta` is not between 0 and
    /// 1, or if no table is large enough.
    ///
    /// ```
    /// use crivo::frequency::RangeCountMin;
    /// let (width, depth) = RangeCountMin::size_for(32, 0.01, 0.01)?;
    /// assert_eq!((width, depth, RangeCountMin::sketched_levels(32, width, depth)), (8699, 9, 16));
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn size_for(levels: u32, epsilon: f64, delta: f64) -> Result<(u32, u32)> {
        check_levels(levels)?;
        for (name, share) in [("epsilon", epsilon), ("delta", delta)] {
            if !(share > 0.0 && share < 1.0) {
                return Err(Error::parameter(name, "a number between 0 and 1, such as 0.01", share));
            }
        }
        // More sketched levels need a larger table, but a larger table leaves fewer levels to
        // sketch. So this takes the least number of levels whose table leaves no more levels to
        // sketch.
        let mut sketched = 1;
        loop {
            let (width, depth) = size_for_pieces(2 * sketched, epsilon, delta)?;
            if Self::sketched_levels(levels, width, depth) <= sketched {
                return Ok((width, depth));
            }
            sketched += 1;
        }
    }

    /// Converts a signed integer to a key, so that keys have the order of the numbers. The key is
    /// the integer's distance from the least integer. Ranges over such keys need all 64 levels.
    ///
    /// ```
    /// use crivo::frequency::RangeCountMin;
    /// let mut degrees = RangeCountMin::new(64, 500, 4)?;
    /// for degree in [-12_i64, -3, 0, 4, 19] {
    ///     degrees.insert(&RangeCountMin::from_signed(degree))?;
    /// }
    /// let frost = RangeCountMin::from_signed(-100)..=RangeCountMin::from_signed(-1);
    /// assert_eq!(degrees.range(frost)?.value(), 2.0);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub const fn from_signed(integer: i64) -> u64 {
        integer.cast_unsigned() ^ (1 << 63)
    }
}

/// Returns the width and depth with which a sum of `pieces` blocks exceeds the truth by at most
/// `epsilon` of the whole with probability `1 − delta`: then `t = (pieces/δ)^(1/depth)` is at most
/// e.
fn size_for_pieces(pieces: u32, epsilon: f64, delta: f64) -> Result<(u32, u32)> {
    let pieces = f64::from(pieces);
    let (widest, deepest) = (f64::from(*Rows::WIDTHS.end()), f64::from(*Rows::DEPTHS.end()));
    let width = (pieces * E / epsilon).ceil();
    if width > widest {
        return Err(Error::parameter(
            "epsilon",
            format_args!("at least {:.1e}", pieces * E / widest),
            epsilon,
        ));
    }
    let depth = libm::log(pieces / delta).ceil().max(1.0);
    if depth > deepest {
        let least = pieces * libm::exp(-deepest);
        return Err(Error::parameter("delta", format_args!("at least {least:.1e}"), delta));
    }
    Ok((width as u32, depth as u32))
}

/// Returns the largest share of the whole weight by which a sum of `pieces` blocks exceeds the
/// truth.
fn excess_of(pieces: u32, rows: Rows, confidence: Confidence) -> f64 {
    if pieces == 0 {
        return 0.0;
    }
    let pieces = f64::from(pieces);
    let factor = libm::exp((libm::log(pieces) - libm::log1p(-confidence.level())) / f64::from(rows.depth));
    pieces * factor / f64::from(rows.width)
}

fn check_levels(levels: u32) -> Result<()> {
    if RangeCountMin::LEVELS.contains(&levels) {
        return Ok(());
    }
    let (least, most) = RangeCountMin::LEVELS.into_inner();
    Err(Error::parameter("levels", format_args!("{least} to {most}"), levels))
}

// ---- construction ----

impl RangeCountMin {
    /// Creates an empty sketch of the universe `[0, 2^levels)`. Each sketched level has `depth`
    /// rows of `width` counters.
    ///
    /// # Errors
    /// If a size is not in [`LEVELS`](Self::LEVELS), [`WIDTHS`](Self::WIDTHS) or
    /// [`DEPTHS`](Self::DEPTHS), or there is not enough memory.
    pub fn new(levels: u32, width: u32, depth: u32) -> Result<Self> {
        Self::with_scheme(levels, width, depth, KeyScheme::integers())
    }

    /// Creates an empty sketch for integer keys under the seed of the given scheme.
    ///
    /// # Errors
    /// If the scheme's keys are not integers; otherwise as for [`new`](Self::new).
    pub fn with_scheme(levels: u32, width: u32, depth: u32, scheme: KeyScheme) -> Result<Self> {
        check_levels(levels)?;
        let rows = Rows::new(width, depth)?;
        if scheme.kind() != KeyKind::Integer {
            return Err(KeyScheme::integers().wrong_kind(scheme.kind()));
        }
        let sketched = Self::sketched_levels(levels, width, depth);
        let tables = zeroed(u64::from(sketched) * rows.cells())?;
        Ok(Self { scheme, levels, rows, sketched, tables, tree: Tree::new(levels - sketched)? })
    }

    /// Creates an empty sketch of the smallest [size](Self::size_for) with which, with a
    /// probability of `1 − delta`, the answer for any range exceeds the truth by at most `epsilon`
    /// times the whole weight.
    ///
    /// # Errors
    /// The errors of [`size_for`](Self::size_for) and [`new`](Self::new).
    pub fn for_bound(levels: u32, epsilon: f64, delta: f64) -> Result<Self> {
        let (width, depth) = Self::size_for(levels, epsilon, delta)?;
        Self::new(levels, width, depth)
    }

    /// Creates an empty sketch for keys of the given scheme, of the smallest [size](Self::size_for)
    /// that guarantees the error.
    ///
    /// # Errors
    /// The errors of [`for_bound`](Self::for_bound) and [`with_scheme`](Self::with_scheme).
    pub fn for_bound_with_scheme(levels: u32, epsilon: f64, delta: f64, scheme: KeyScheme) -> Result<Self> {
        let (width, depth) = Self::size_for(levels, epsilon, delta)?;
        Self::with_scheme(levels, width, depth, scheme)
    }
}

// ---- update ----

/// The number of keys whose prefixes are hashed together.
const CHUNK: usize = 256;

impl RangeCountMin {
    /// Counts one integer once.
    ///
    /// # Errors
    /// If the key is not an integer or lies outside the universe.
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<()> {
        self.add(key, 1)
    }

    /// Adds a weight to one integer.
    ///
    /// # Errors
    /// If the key is not an integer or lies outside the universe.
    pub fn add<K: Key + ?Sized>(&mut self, key: &K, weight: u64) -> Result<()> {
        let key = self.integer(key.to_ref())?;
        for (level, table) in self.tables.chunks_exact_mut(self.rows.cells() as usize).enumerate() {
            self.rows.add(table, self.scheme.hash_integer(key >> level), weight);
        }
        self.tree.add(leaf(key, self.sketched), weight);
        Ok(())
    }

    /// Counts a batch of integers.
    ///
    /// # Errors
    /// If the batch was hashed under another scheme, or a key lies outside the universe; no key is
    /// counted then.
    pub fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        self.add_keys(batch, |_| 1)
    }

    /// Adds `weights[i]` to integer `i` of a batch.
    ///
    /// # Errors
    /// The errors of [`insert_batch`](Self::insert_batch), and an error if the numbers of keys and
    /// weights differ.
    pub fn add_batch(&mut self, batch: &KeyBatch<'_>, weights: &[u64]) -> Result<()> {
        require_weights(batch.len(), weights)?;
        self.add_keys(batch, |i| weights[i])
    }

    fn add_keys(&mut self, batch: &KeyBatch<'_>, weight: impl Fn(usize) -> u64) -> Result<()> {
        self.scheme.require_same(batch.scheme())?;
        for (key, _) in batch.iter() {
            self.integer(key)?;
        }
        let (mut chunk, mut filled, mut done) = ([0; CHUNK], 0, 0);
        for (key, _) in batch.iter() {
            let KeyRef::Integer(key) = key else { continue };
            chunk[filled] = key;
            filled += 1;
            if filled == CHUNK {
                self.add_chunk(&chunk, |i| weight(done + i));
                done += CHUNK;
                filled = 0;
            }
        }
        self.add_chunk(&chunk[..filled], |i| weight(done + i));
        Ok(())
    }

    /// Adds at most [`CHUNK`] keys of the universe. Goes level by level, so that a table stays in
    /// the cache for all keys.
    fn add_chunk(&mut self, keys: &[u64], weight: impl Fn(usize) -> u64) {
        let mut hashes = [0; CHUNK];
        let scheme = self.scheme;
        for (level, table) in self.tables.chunks_exact_mut(self.rows.cells() as usize).enumerate() {
            for (hash, key) in hashes.iter_mut().zip(keys) {
                *hash = scheme.hash_integer(key >> level);
            }
            self.rows.add_all(table, &hashes[..keys.len()], &weight);
        }
        for (i, &key) in keys.iter().enumerate() {
            self.tree.add(leaf(key, self.sketched), weight(i));
        }
    }

    /// Returns the integer of a key, if the key is an integer of the universe.
    fn integer(&self, key: KeyRef<'_>) -> Result<u64> {
        let KeyRef::Integer(integer) = key else {
            return Err(self.scheme.wrong_kind(key.kind()));
        };
        if integer <= self.greatest() {
            return Ok(integer);
        }
        Err(Error::new(
            ErrorKind::InvalidParameter,
            "key",
            format_args!("an integer from 0 to {}, of {} levels", self.greatest(), self.levels),
            integer,
            "build the sketch with more levels; negative integers need an offset",
        ))
    }

    /// Returns the greatest integer of the universe.
    pub fn greatest(&self) -> u64 {
        u64::MAX >> (64 - self.levels)
    }
}

/// Returns the leaf of the tree that a key belongs to.
fn leaf(key: u64, sketched: u32) -> usize {
    key.checked_shr(sketched).unwrap_or(0) as usize
}

impl InsertKeys for RangeCountMin {
    fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        self.insert_batch(batch)
    }
}
