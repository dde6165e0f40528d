//! How often is a key in the filter?

use super::CountingBloom;
use crate::error::Result;
use crate::estimate::{Confidence, Estimate};
use crate::keys::Key;

impl CountingBloom {
    /// Returns how often the key is in the filter, with bounds at 95 %: see
    /// [`count_at`](Self::count_at).
    ///
    /// # Errors
    /// If the key is not of the filter's kind.
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> Result<Estimate> {
        self.count_at(key, Confidence::P95)
    }

    /// Returns how often the key is in the filter: the least of its counters.
    ///
    /// The upper bound is certain, and infinite if the counter is saturated. The lower bound holds
    /// with the given confidence over all possible keys, whether they are in the filter or not.
    /// Other keys add `j` or more to all counters of a key with probability `s^k`. Here `s` is the
    /// share of counters of at least `j`, which is at most the fill, and at most the mean counter
    /// divided by `j`. While `fill^k` is at most one minus the confidence, both bounds are the
    /// count itself.
    ///
    /// # Errors
    /// If the key is not of the filter's kind.
    pub fn count_at<K: Key + ?Sized>(&self, key: &K, confidence: Confidence) -> Result<Estimate> {
        Ok(self.count_hash_at(self.scheme.hash(key)?, confidence))
    }

    /// Returns how often the key of this hash is in the filter, with bounds at 95 %.
    pub fn count_hash(&self, hash: u64) -> Estimate {
        self.count_hash_at(hash, Confidence::P95)
    }

    /// Returns how often the key of this hash is in the filter: see [`count_at`](Self::count_at).
    pub fn count_hash_at(&self, hash: u64, confidence: Confidence) -> Estimate {
        let counters = (0..self.hashes).map(|row| self.counters.get(self.cell(hash, row)));
        let least = counters.min().unwrap_or(0);
        if least == 0 {
            return Estimate::exact(0.0);
        }
        let value = least as f64;
        let lower = (value - self.most_from_others(confidence)).max(0.0);
        let upper = if least == self.counter_bits().largest() { f64::INFINITY } else { value };
        Estimate::probable(value, lower, upper, confidence)
    }

    /// Returns an upper bound, at the given confidence, of what other keys add to the least counter
    /// of a key.
    fn most_from_others(&self, confidence: Confidence) -> f64 {
        let unlikely = 1.0 - confidence.level();
        if self.false_positive_rate() <= unlikely && !confidence.is_certain() {
            return 0.0;
        }
        // The least j with (mean/j)^k ≤ unlikely is improbable, so the bound is one less.
        let mean = self.counters.tally().sum as f64 / self.cells() as f64;
        libm::ceil(mean / libm::pow(unlikely, 1.0 / f64::from(self.hashes))) - 1.0
    }
}
