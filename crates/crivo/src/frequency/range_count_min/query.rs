//! Answers for ranges, and the quantiles that follow from them.

use std::ops::RangeInclusive;

use super::{RangeCountMin, excess_of, leaf};
use crate::codec::{Encode, Parameter, Parameters, Summary};
use crate::error::{Error, Result};
use crate::estimate::{Confidence, Estimate};
use crate::keys::{Key, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// A range split into aligned blocks, at most two of each sketched level, and leaves of the tree.
#[derive(Debug, Default)]
struct Pieces {
    /// The number of blocks.
    blocks: u32,
    /// The sketches' estimates of the blocks before the first leaf, and of the blocks after the
    /// last.
    before: u64,
    after: u64,
    /// The weight of the leaves between them.
    leaves: u64,
}

impl RangeCountMin {
    /// Returns how many keys lie in the range, with bounds at 95 %. The value is never less than
    /// the truth. It is exact, and certain, if the range begins and ends with leaves of the tree,
    /// or if it is 0.
    ///
    /// # Errors
    /// If the first key is greater than the last, or the range leaves the universe.
    pub fn range(&self, range: RangeInclusive<u64>) -> Result<Estimate> {
        self.range_at(range, Confidence::P95)
    }

    /// Returns how many keys lie in the range, with bounds at the given confidence.
    ///
    /// # Errors
    /// If the first key is greater than the last, or the range leaves the universe.
    ///
    /// ```
    /// use crivo::{Confidence, frequency::RangeCountMin};
    /// let mut ages = RangeCountMin::new(7, 100, 4)?; // 2^7 ages fit: all is exact
    /// [3_u8, 17, 17, 40, 99].iter().try_for_each(|age| ages.insert(age))?;
    /// assert!(ages.range(10..=50)?.is_exact());
    /// assert_eq!(ages.range_at(10..=50, Confidence::P99)?.value(), 3.0);
    /// assert!(ages.range(50..=200).is_err());
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn range_at(&self, range: RangeInclusive<u64>, confidence: Confidence) -> Result<Estimate> {
        let (first, last) = range.into_inner();
        if first > last || last > self.greatest() {
            let expected = format_args!("a first and a last key from 0 to {}", self.greatest());
            return Err(Error::parameter("range", expected, format_args!("{first} to {last}")));
        }
        let Pieces { blocks, before, after, leaves } = self.pieces(first, last);
        let sketched = before.saturating_add(after);

        // The part of a leaf that the range cuts off has no more weight than the whole leaf.
        let weight_of = |key| self.tree.leaves()[leaf(key, self.sketched)];
        let capped = if leaf(first, self.sketched) == leaf(last, self.sketched) {
            sketched.min(weight_of(first))
        } else {
            before.min(weight_of(first)).saturating_add(after.min(weight_of(last)))
        };
        let value = leaves.saturating_add(capped) as f64;
        Ok(if self.is_saturated() {
            Estimate::certain(value, 0.0, f64::INFINITY)
        } else if capped == 0 {
            Estimate::exact(value)
        } else {
            let margin = self.margin(blocks, confidence);
            let lower = leaves as f64 + (sketched as f64 - margin).max(0.0);
            Estimate::probable(value, lower, value, confidence)
        })
    }

    /// Returns how often one key occurred: the count of the range of that key alone.
    ///
    /// # Errors
    /// If the key is not an integer or lies outside the universe.
    pub fn frequency<K: Key + ?Sized>(&self, key: &K) -> Result<Estimate> {
        let key = self.integer(key.to_ref())?;
        self.range(key..=key)
    }

    /// Returns how many keys are less than or equal to this one.
    ///
    /// # Errors
    /// If the key is not an integer or lies outside the universe.
    pub fn rank<K: Key + ?Sized>(&self, key: &K) -> Result<Estimate> {
        self.range(0..=self.integer(key.to_ref())?)
    }

    /// Returns the largest amount by which a sum of `blocks` blocks exceeds the truth, rounded down
    /// to a whole number.
    fn margin(&self, blocks: u32, confidence: Confidence) -> f64 {
        (excess_of(blocks, self.rows, confidence) * self.total() as f64).floor()
    }

    /// Splits the range, from its ends inwards, into the largest blocks that fit.
    fn pieces(&self, first: u64, last: u64) -> Pieces {
        let mut pieces = Pieces::default();
        // In 128 bits even the last key has a successor.
        let (mut low, mut end) = (u128::from(first), u128::from(last) + 1);
        for level in 0..self.sketched {
            if low < end && low % 2 == 1 {
                pieces.before = pieces.before.saturating_add(self.block(level, low as u64));
                pieces.blocks += 1;
                low += 1;
            }
            if low < end && end % 2 == 1 {
                end -= 1;
                pieces.after = pieces.after.saturating_add(self.block(level, end as u64));
                pieces.blocks += 1;
            }
            low /= 2;
            end /= 2;
        }
        if low < end {
            pieces.leaves = self.tree.range(low as usize, end as usize);
        }
        pieces
    }

    /// Returns the weight of one block, as estimated by the sketch of its level.
    fn block(&self, level: u32, prefix: u64) -> u64 {
        let cells = self.rows.cells() as usize;
        let table = &self.tables[level as usize * cells..][..cells];
        self.rows.minimum(table, self.scheme.hash_integer(prefix))
    }
}

// ---- quantiles ----

impl RangeCountMin {
    /// Returns the key at the given share of all keys in ascending order, with bounds at 95 %: 0.5
    /// gives the median.
    ///
    /// # Errors
    /// If the share is not between 0 and 1, or nothing was counted.
    pub fn quantile(&self, share: f64) -> Result<Estimate> {
        self.quantile_at(share, Confidence::P95)
    }

    /// Returns the least key such that at least the given share of all keys is less than or equal
    /// to it, with bounds at the given confidence. The lower bound is certain.
    ///
    /// The search goes down the levels, and compares the rank with the weight of each block's left
    /// half. With weights that are too large it may go left too early, but never too late. With
    /// weights that are too small it may go left too late, but never too early. So two searches
    /// enclose the answer. The error depends on the left halves along the path to the true answer,
    /// one block of each sketched level.
    ///
    /// # Errors
    /// If the share is not between 0 and 1, or nothing was counted.
    ///
    /// ```
    /// use crivo::frequency::RangeCountMin;
    /// let mut lengths = RangeCountMin::for_bound(32, 0.01, 0.01)?;
    /// (0..10_000_u64).try_for_each(|i| lengths.insert(&(1_000 * i)))?;
    /// let median = lengths.quantile(0.5)?;
    /// assert!(median.covers(4_999_000.0) && median.relative_error() < 0.05);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn quantile_at(&self, share: f64, confidence: Confidence) -> Result<Estimate> {
        if !(0.0..=1.0).contains(&share) {
            return Err(Error::parameter("share", "a number from 0 to 1, such as 0.5", share));
        }
        let total = self.total();
        if total == 0 {
            return Err(Error::parameter("items", "at least one, to have a quantile", 0));
        }
        let rank = ((share * total as f64).ceil() as u64).clamp(1, total);
        // The value lies between the bounds. Both halves are too large by about the same, so their
        // ratio is about right.
        let value = self.descend(rank, |block, left, right| {
            let both = (u128::from(left) + u128::from(right)).max(1);
            (u128::from(block) * u128::from(left) / both) as u64
        }) as f64;
        if self.is_saturated() {
            return Ok(Estimate::certain(value, 0.0, self.greatest() as f64));
        }
        if self.sketched == 0 {
            return Ok(Estimate::exact(value));
        }
        let margin = (self.margin(self.sketched, confidence) / f64::from(self.sketched)) as u64;
        let lower = self.descend(rank, |_, left, _| left) as f64;
        let upper = self.descend(rank, |_, left, _| left.saturating_sub(margin)) as f64;
        Ok(Estimate::probable(value.clamp(lower, upper.max(lower)), lower, upper, confidence))
    }

    /// Returns the key of the given rank. `left` returns the weight of the left half of a block; it
    /// gets the weight of the block, and the sketch's estimates of the left and the right half.
    fn descend(&self, rank: u64, left: impl Fn(u64, u64, u64) -> u64) -> u64 {
        let (leaf, mut rank) = self.tree.find(rank);
        let mut block = self.tree.leaves()[leaf];
        let mut prefix = leaf as u64;
        for level in (0..self.sketched).rev() {
            prefix *= 2;
            let left = left(block, self.block(level, prefix), self.block(level, prefix + 1));
            if rank <= left {
                block = left;
            } else {
                rank -= left;
                block = block.saturating_sub(left);
                prefix += 1;
            }
        }
        prefix
    }
}

// ---- what it is ----

impl RangeCountMin {
    /// Returns the weight of all keys.
    pub fn total(&self) -> u64 {
        self.tree.total()
    }

    /// Returns true if no key was counted with a weight above 0.
    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }

    /// Returns true if the total has reached 2^64 − 1, where counting stops. Answers then have no
    /// bounds.
    pub fn is_saturated(&self) -> bool {
        self.total() == u64::MAX
    }

    /// Returns the base-2 logarithm of the size of the universe.
    pub fn levels(&self) -> u32 {
        self.levels
    }

    /// Returns the number of counters in a row of a sketched level.
    pub fn width(&self) -> u32 {
        self.rows.width
    }

    /// Returns the number of rows of a sketched level.
    pub fn depth(&self) -> u32 {
        self.rows.depth
    }

    /// Returns how keys are hashed.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// Returns the bytes of memory in use, the struct itself included.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.tables) + self.tree.memory()
    }

    /// Returns the sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        vec![
            ("levels", Parameter::Count(self.levels.into())),
            ("width", Parameter::Count(self.rows.width.into())),
            ("depth", Parameter::Count(self.rows.depth.into())),
        ]
    }

    /// Returns a summary of the sketch: its parameters, number of items, fill and memory.
    pub fn summary(&self) -> Summary {
        let total = self.total() as f64;
        let counters = self.tables.len() + self.tree.leaves().len();
        let used = self.tables.iter().chain(self.tree.leaves()).filter(|&&counter| counter > 0).count();
        let epsilon = Self::epsilon(self.levels, self.rows.width, self.rows.depth, Confidence::P95);
        Summary {
            family: Self::FAMILY,
            parameters: [
                self.parameters(),
                vec![
                    ("sketched_levels", Parameter::Count(self.sketched.into())),
                    ("epsilon", Parameter::Ratio(epsilon)),
                ],
            ]
            .concat(),
            scheme: self.scheme,
            items: Estimate::certain(total, total, if self.is_saturated() { f64::INFINITY } else { total }),
            fill: Some(used as f64 / counters as f64),
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}
