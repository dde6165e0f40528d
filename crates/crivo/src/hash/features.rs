//! Feature hashing: vectors of named features in a fixed number of slots.
//!
//! **Question.** How does a text, a mail or a row with any number of named features become a vector
//! of fixed length, without a dictionary of names?
//!
//! **Guarantee.** With `M = 2^bits` slots the dot product of two hashed vectors is unbiased over
//! the draw of the hash, with the variance
//!
//! ```text
//! E⟨φ(x), φ(y)⟩ = ⟨x, y⟩          Var = (1/M)·Σ_{i≠j} (xᵢ²yⱼ² + xᵢyᵢxⱼyⱼ)
//! ```
//!
//! So for vectors of length 1 its error is about `√(2/M)` at most: 0.3 % with 18 bits.
//!
//! **Idea.** The high bits of a name's hash choose its slot, the lowest bit a sign. Features that
//! collide in a slot are added up there. Half of them have the opposite sign, so what one adds to
//! another's product is zero on average.
//!
//! **When not to use it.** To learn which features a vector has, because slots do not keep names.
//! For fewer features than slots, where a dictionary is exact.
//!
//! **Sources.** Weinberger, Dasgupta, Langford, Smola, Attenberg: *Feature hashing for large scale
//! multitask learning* (2009). Slot and sign come from one 64-bit hash, where the paper has two.

use std::ops::RangeInclusive;

use crate::cpu::zeroed;
use crate::error::{Error, Result};
use crate::keys::hash_bytes;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// Places named features in `2^bits` slots, each with a sign; see the [module](self) for the
/// guarantee.
///
/// ```
/// use crivo::hash::FeatureHasher;
///
/// let hasher = FeatureHasher::new(18)?;
/// let [subject, body] = ["subject", "body"].map(|part| hasher.namespace(part));
/// let mut mail = hasher.sparse([("sender:ana", 1.0), ("hour:9", 1.0)]);
/// mail.add(&subject, [("cheap", 2.0)]);
/// mail.add(&body, [("cheap", 1.0), ("watches", 1.0)]);
/// assert_eq!(mail.squares(), 1.0 + 1.0 + 4.0 + 1.0 + 1.0);
///
/// let mut weights = hasher.dense()?;
/// mail.add_to(&mut weights, 0.5);
/// assert_eq!(mail.dot_dense(&weights), 4.0);
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeatureHasher {
    bits: u8,
    seed: u64,
}

impl FeatureHasher {
    /// The numbers of slot bits that are allowed: from two slots to four gigabytes of weights.
    pub const SLOT_BITS: RangeInclusive<u8> = 1..=30;

    /// Creates a hasher into `2^slot_bits` slots, with the seed 0.
    ///
    /// # Errors
    /// If the number of bits is not in [`SLOT_BITS`](Self::SLOT_BITS).
    pub fn new(slot_bits: u8) -> Result<Self> {
        if Self::SLOT_BITS.contains(&slot_bits) {
            Ok(Self { bits: slot_bits, seed: 0 })
        } else {
            let (least, most) = Self::SLOT_BITS.into_inner();
            Err(Error::parameter("slot bits", format_args!("{least} to {most}"), slot_bits))
        }
    }

    /// Returns a hasher into the same slots with another seed.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Returns a hasher into the same slots for the features of a namespace. So a word in the
    /// subject is another feature than the same word in the body. Its seed is the hash of the
    /// namespace's name, so that names do not have to be joined.
    #[must_use]
    pub fn namespace(self, name: impl AsRef<[u8]>) -> Self {
        self.with_seed(hash_bytes(name.as_ref(), self.seed))
    }

    /// The base-2 logarithm of the number of slots.
    pub fn slot_bits(self) -> u8 {
        self.bits
    }

    /// The number of slots.
    pub fn slots(self) -> u32 {
        1 << self.bits
    }

    /// Returns the slot of a feature, and its weight with the sign of the feature.
    ///
    /// The slot is the high bits of the XXH3 hash of the name under the seed. The sign is negative
    /// if the lowest bit is one.
    ///
    /// ```
    /// use crivo::hash::FeatureHasher;
    /// let hasher = FeatureHasher::new(10)?;
    /// let (slot, weight) = hasher.place("cheap", 2.0);
    /// assert!(slot < 1024 && weight.abs() == 2.0);
    /// assert_eq!(hasher.place(b"cheap", 2.0), (slot, weight));
    /// # Ok::<(), crivo::Error>(())
    /// ```
    #[inline]
    pub fn place(self, name: impl AsRef<[u8]>, weight: f32) -> (u32, f32) {
        let hash = hash_bytes(name.as_ref(), self.seed);
        let slot = hash >> (64 - u32::from(self.bits));
        (slot as u32, if hash & 1 == 1 { -weight } else { weight })
    }

    /// Returns a vector of zeros, one for each slot.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn dense(self) -> Result<Vec<f32>> {
        zeroed(self.slots().into())
    }

    /// Adds features to a vector of all slots.
    ///
    /// # Errors
    /// If the vector does not have one element for each slot. Nothing is added then.
    pub fn add_dense<N: AsRef<[u8]>>(
        self,
        features: impl IntoIterator<Item = (N, f32)>,
        dense: &mut [f32],
    ) -> Result<()> {
        if dense.len() != self.slots() as usize {
            return Err(Error::parameter(
                "dense vector",
                format_args!("{} elements", self.slots()),
                dense.len(),
            ));
        }
        for (name, weight) in features {
            let (slot, weight) = self.place(name, weight);
            dense[slot as usize] += weight;
        }
        Ok(())
    }

    /// Returns the slots of features, with the sums of their weights.
    pub fn sparse<N: AsRef<[u8]>>(self, features: impl IntoIterator<Item = (N, f32)>) -> SparseFeatures {
        let mut sparse = SparseFeatures::default();
        sparse.add(&self, features);
        sparse
    }
}

/// A sparse vector: the slots that are not zero, in ascending order.
///
/// A vector that is [cleared](Self::clear) and filled again keeps its memory, so that messages of
/// hundreds of features each cost no allocation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SparseFeatures {
    entries: Vec<(u32, f32)>,
}

impl SparseFeatures {
    /// Creates the vector of these slots and weights.
    ///
    /// # Errors
    /// If slots are not strictly ascending.
    pub fn from_entries(entries: Vec<(u32, f32)>) -> Result<Self> {
        if entries.is_sorted_by(|a, b| a.0 < b.0) {
            Ok(Self { entries })
        } else {
            Err(Error::parameter("slots", "strictly ascending order", "another order"))
        }
    }

    /// Adds features. Within one call their order does not matter: the same features give the same
    /// vector, bit for bit.
    pub fn add<N: AsRef<[u8]>>(
        &mut self,
        hasher: &FeatureHasher,
        features: impl IntoIterator<Item = (N, f32)>,
    ) {
        self.entries.extend(features.into_iter().map(|(name, weight)| hasher.place(name, weight)));
        // Sums of floats depend on their order, so the weights of one slot are sorted too.
        self.entries
            .sort_unstable_by_key(|&(slot, weight)| u64::from(slot) << 32 | u64::from(weight.to_bits()));
        self.entries.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 += later.1;
            }
            same
        });
        self.entries.retain(|&(_, weight)| weight != 0.0);
    }

    /// Removes all features and keeps the memory.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// The slots that are not zero, in ascending order, with their weights.
    pub fn entries(&self) -> &[(u32, f32)] {
        &self.entries
    }

    /// Returns true if all slots are zero.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the dot product with another vector of the same slots, which is an unbiased estimate
    /// of the dot product of the features.
    pub fn dot(&self, other: &Self) -> f64 {
        let (mut mine, mut theirs) = (self.entries.iter().peekable(), other.entries.iter().peekable());
        let mut sum = 0.0;
        while let (Some(&&(slot, weight)), Some(&&(other_slot, other_weight))) = (mine.peek(), theirs.peek())
        {
            if slot == other_slot {
                sum += f64::from(weight) * f64::from(other_weight);
            }
            if slot <= other_slot {
                mine.next();
            }
            if other_slot <= slot {
                theirs.next();
            }
        }
        sum
    }

    /// Returns the dot product with a dense vector, such as the weights of a model. If `dense` has
    /// fewer elements than there are slots, the missing ones count as zero.
    pub fn dot_dense(&self, dense: &[f32]) -> f64 {
        self.entries
            .iter()
            .filter_map(|&(slot, weight)| Some(f64::from(weight) * f64::from(*dense.get(slot as usize)?)))
            .sum()
    }

    /// Adds this vector, multiplied by a factor, to a vector of all slots, as in a step of
    /// learning. Slots past its end are left out.
    pub fn add_to(&self, dense: &mut [f32], factor: f32) {
        for &(slot, weight) in &self.entries {
            if let Some(element) = dense.get_mut(slot as usize) {
                *element += factor * weight;
            }
        }
    }

    /// The sum of the squares, which is the dot product of the vector with itself.
    pub fn squares(&self) -> f64 {
        self.entries.iter().map(|&(_, weight)| f64::from(weight) * f64::from(weight)).sum()
    }

    /// Multiplies all weights by a factor.
    pub fn scale(&mut self, factor: f32) {
        self.entries.iter_mut().for_each(|(_, weight)| *weight *= factor);
        self.entries.retain(|&(_, weight)| weight != 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_size_is_refused() {
        for bits in [0, 31, 255] {
            assert_eq!(FeatureHasher::new(bits).unwrap_err().field(), "slot bits");
        }
        let hasher = FeatureHasher::new(3).unwrap();
        assert!(hasher.add_dense([("a", 1.0)], &mut [0.0; 7]).is_err());
        assert!(SparseFeatures::from_entries(vec![(1, 1.0), (1, 2.0)]).is_err());
    }

    /// Slots and signs are stored in models: they never change.
    #[test]
    fn places_never_change() {
        let hasher = FeatureHasher::new(20).unwrap();
        // XXH3 of the empty text under seed 0 is 2D06800538D394C2.
        assert_eq!(hasher.place("", 1.5), (0x2D068, 1.5));
        assert_eq!(FeatureHasher::new(30).unwrap().place("", 1.5), (0x2D06_8005 >> 2, 1.5));
        assert_ne!(hasher.namespace("a").place("x", 1.0), hasher.namespace("b").place("x", 1.0));
    }

    #[test]
    fn order_does_not_matter_and_opposites_vanish() {
        let hasher = FeatureHasher::new(2).unwrap();
        let features: Vec<(String, f32)> = (0..40).map(|i| (format!("f{i}"), 0.1 * i as f32)).collect();
        let forwards = hasher.sparse(features.iter().map(|(name, weight)| (name, *weight)));
        let backwards = hasher.sparse(features.iter().rev().map(|(name, weight)| (name, *weight)));
        assert_eq!(forwards, backwards);
        assert!(forwards.entries().len() <= 4 && forwards.entries().is_sorted_by(|a, b| a.0 < b.0));

        let mut nothing = hasher.sparse([("a", 2.0)]);
        nothing.add(&hasher, [("a", -2.0)]);
        assert!(nothing.is_empty());
    }

    #[test]
    fn dense_and_sparse_agree() {
        let hasher = FeatureHasher::new(6).unwrap().with_seed(9);
        let names: Vec<String> = (0..100).map(|i| format!("feature {i}")).collect();
        let features = || names.iter().enumerate().map(|(i, name)| (name, (i % 7) as f32 - 3.0));
        let sparse = hasher.sparse(features());
        let mut dense = hasher.dense().unwrap();
        hasher.add_dense(features(), &mut dense).unwrap();
        let mut from_sparse = hasher.dense().unwrap();
        sparse.add_to(&mut from_sparse, 1.0);
        assert_eq!(dense, from_sparse);
        assert_eq!(sparse.dot_dense(&dense), sparse.squares());
        assert_eq!(sparse.dot(&sparse), sparse.squares());
        assert_eq!(SparseFeatures::from_entries(sparse.entries().to_vec()), Ok(sparse.clone()));

        let other = hasher.sparse(names.iter().step_by(3).map(|name| (name, 1.0)));
        assert_eq!(sparse.dot(&other), other.dot_dense(&dense));
        assert_eq!(sparse.dot(&other), other.dot(&sparse));
        let mut doubled = sparse.clone();
        doubled.scale(2.0);
        assert_eq!(doubled.squares(), 4.0 * sparse.squares());
        doubled.scale(0.0);
        assert!(doubled.is_empty());
    }
}
