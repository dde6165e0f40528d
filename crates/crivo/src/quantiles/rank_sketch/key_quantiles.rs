//! Rank sketches of keys: texts and integers.

use super::item::RankedKey;
use super::{Accuracy, KeyQuantiles};
use crate::codec::require_writable;
use crate::error::{Error, Result};
use crate::estimate::{Confidence, Estimate};
use crate::keys::{Key, KeyBatch, KeyRef, KeyScheme, OwnedKey};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{AddWeights, InsertKeys, impl_sketch};

/// A quantile of keys, with bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyQuantile {
    /// The answer.
    pub value: OwnedKey,
    /// The lower end of the interval.
    pub lower: OwnedKey,
    /// The upper end of the interval.
    pub upper: OwnedKey,
    /// The confidence of the interval.
    pub confidence: Confidence,
}

impl KeyQuantiles {
    /// Returns an empty sketch of texts, which draws random numbers from the seed. Sketches that
    /// will be merged need different seeds.
    ///
    /// # Errors
    /// If the size is odd or not in [`SIZES`](Self::SIZES).
    ///
    /// ```
    /// use crivo::quantiles::{Accuracy, KeyQuantiles};
    /// let mut names = KeyQuantiles::new(200, Accuracy::Uniform, 7)?;
    /// for name in ["eva", "ana", "zoe"] {
    ///     names.insert(name)?;
    /// }
    /// let median = names.quantile(0.5).expect("there are names");
    /// assert_eq!(median.value.to_string(), "eva");
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn new(size: u32, accuracy: Accuracy, seed: u64) -> Result<Self> {
        Self::with_scheme(size, accuracy, KeyScheme::bytes(), seed)
    }

    /// Returns an empty sketch of keys of the given scheme. Keys are kept, not hashed. The scheme's
    /// seed only decides which batches are accepted.
    ///
    /// # Errors
    /// If the size is odd or not in [`SIZES`](Self::SIZES).
    pub fn with_scheme(size: u32, accuracy: Accuracy, scheme: KeyScheme, seed: u64) -> Result<Self> {
        Self::empty(size, accuracy, scheme, seed)
    }

    /// Adds a key.
    ///
    /// # Errors
    /// If the key is not of the sketch's kind, or has 4 GiB or more.
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<()> {
        self.add(key, 1)
    }

    /// Adds a key `weight` times.
    ///
    /// # Errors
    /// If the key is not of the sketch's kind, or has 4 GiB or more.
    pub fn add<K: Key + ?Sized>(&mut self, key: &K, weight: u64) -> Result<()> {
        self.add_ref(key.to_ref(), weight)
    }

    /// Adds a batch of keys.
    ///
    /// # Errors
    /// If the batch was hashed under another scheme, or if a key has 4 GiB or more. Nothing is
    /// added then.
    pub fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        self.check_batch(batch)?;
        for index in 0..batch.len() {
            if let Some(key) = batch.get(index) {
                self.insert_item(RankedKey(key.to_owned()));
            }
        }
        Ok(())
    }

    fn check_batch(&self, batch: &KeyBatch<'_>) -> Result<()> {
        self.scheme.require_same(batch.scheme())?;
        (0..batch.len()).filter_map(|index| batch.get(index)).try_for_each(|key| self.check_key(key))
    }

    /// Returns the key at which this share of all keys is reached, with bounds at 95 %. Returns
    /// `None` if there are no keys, or if the share is not from 0 to 1.
    pub fn quantile(&self, share: f64) -> Option<KeyQuantile> {
        self.quantiles(&[share], Confidence::P95).pop().flatten()
    }

    /// Returns the quantile of each share, as `quantile` does, with bounds at the given confidence,
    /// in one pass over the sketch.
    pub fn quantiles(&self, shares: &[f64], confidence: Confidence) -> Vec<Option<KeyQuantile>> {
        let answer = |between: super::query::Between<RankedKey>| KeyQuantile {
            value: between.value.0,
            lower: between.lower.0,
            upper: between.upper.0,
            confidence: between.confidence,
        };
        self.values_at(shares, confidence).into_iter().map(|between| between.map(answer)).collect()
    }

    /// Returns how many keys are less than `key`, with bounds at 95 %.
    ///
    /// # Errors
    /// If the key is not of the sketch's kind, or has 4 GiB or more.
    pub fn count_below<K: Key + ?Sized>(&self, key: &K) -> Result<Estimate> {
        self.count_below_ref(key.to_ref())
    }

    /// Returns how many keys are less than `key`, whose kind is known only at run time, with bounds
    /// at 95 %.
    ///
    /// # Errors
    /// If the key is not of the sketch's kind, or has 4 GiB or more.
    pub fn count_below_ref(&self, key: KeyRef<'_>) -> Result<Estimate> {
        self.check_key(key)?;
        Ok(self.count_to(&RankedKey(key.to_owned()), false, Confidence::P95))
    }

    /// Returns how many keys are at most `key`, with bounds at 95 %.
    ///
    /// # Errors
    /// If the key is not of the sketch's kind, or has 4 GiB or more.
    pub fn count_at_most<K: Key + ?Sized>(&self, key: &K) -> Result<Estimate> {
        self.check_key(key.to_ref())?;
        Ok(self.count_to(&RankedKey(key.to_ref().to_owned()), true, Confidence::P95))
    }

    /// Returns the share of all keys that are at most `key`, with bounds at 95 %. Returns `None` if
    /// there are no keys.
    ///
    /// # Errors
    /// If the key is not of the sketch's kind, or has 4 GiB or more.
    pub fn rank<K: Key + ?Sized>(&self, key: &K) -> Result<Option<Estimate>> {
        Ok(self.share_of_all(self.count_at_most(key)?))
    }

    /// Returns the least key.
    pub fn min(&self) -> Option<KeyRef<'_>> {
        self.ends().map(|ends| ends.0.0.as_ref())
    }

    /// Returns the greatest key.
    pub fn max(&self) -> Option<KeyRef<'_>> {
        self.ends().map(|ends| ends.1.0.as_ref())
    }

    /// Returns the scheme of the keys. Only batches of this scheme are accepted.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }
}

impl_sketch!(sealed [] KeyQuantiles, keys, weights);

impl InsertKeys for KeyQuantiles {
    fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        self.insert_batch(batch)
    }
}

impl AddWeights for KeyQuantiles {
    fn add_ref(&mut self, key: KeyRef<'_>, weight: u64) -> Result<()> {
        self.check_key(key)?;
        self.add_item(&RankedKey(key.to_owned()), weight);
        Ok(())
    }

    fn add_batch(&mut self, batch: &KeyBatch<'_>, weights: &[u64]) -> Result<()> {
        self.check_batch(batch)?;
        if batch.len() != weights.len() {
            return Err(Error::parameter("weights", format_args!("{}", batch.len()), weights.len()));
        }
        for (index, &weight) in weights.iter().enumerate() {
            if let Some(key) = batch.get(index) {
                self.add_item(&RankedKey(key.to_owned()), weight);
            }
        }
        Ok(())
    }

    fn check_key(&self, key: KeyRef<'_>) -> Result<()> {
        if key.kind() != self.scheme.kind() {
            return Err(self.scheme.wrong_kind(key.kind()));
        }
        if let KeyRef::Bytes(bytes) = key { require_writable("key", bytes) } else { Ok(()) }
    }
}
