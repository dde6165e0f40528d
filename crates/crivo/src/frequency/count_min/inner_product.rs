//! The inner product of two sketches: how large is a join?
//!
//! The products of corresponding counters of a row add up to the inner product of the streams, plus
//! the products of different keys that share a counter. These collisions add `‖a‖₁‖b‖₁/width` on
//! average, so Markov's inequality bounds them as it bounds a single frequency.

use super::CountMin;
use crate::error::Result;
use crate::estimate::{Confidence, Estimate};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

impl CountMin {
    /// Returns the inner product of the frequencies of two streams, `Σ aᵢ·bᵢ` over all keys: the
    /// number of rows of their join. It is never below the truth. It exceeds the truth by at most
    /// `ε‖a‖₁‖b‖₁` with a confidence of `1 − δ`.
    ///
    /// # Errors
    /// If the two differ in size or scheme, or one has conservative updates.
    ///
    /// ```
    /// use crivo::frequency::CountMin;
    /// let (mut orders, mut visits) = (CountMin::new(1000, 5)?, CountMin::new(1000, 5)?);
    /// ["ana", "ana", "rui"].map(|customer| orders.insert(customer)).into_iter().collect::<Result<(), _>>()?;
    /// ["ana", "eva", "ana"].map(|customer| visits.insert(customer)).into_iter().collect::<Result<(), _>>()?;
    /// assert_eq!(orders.inner_product(&visits)?.value(), 4.0);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn inner_product(&self, other: &Self) -> Result<Estimate> {
        self.product_within(other, Self::epsilon(self.rows.width), self.confidence())
    }

    /// Returns the inner product with bounds at the given confidence.
    ///
    /// # Errors
    /// As for [`inner_product`](Self::inner_product).
    pub fn inner_product_at(&self, other: &Self, confidence: Confidence) -> Result<Estimate> {
        self.product_within(other, self.share_at(confidence), confidence)
    }

    fn product_within(&self, other: &Self, share: f64, confidence: Confidence) -> Result<Estimate> {
        let why_plain = "a conservative counter is less than the sum of its keys: build plain sketches";
        self.require_alike(other, why_plain)?;
        // The products of a row add up to at most the product of both totals, which fits in 128
        // bits. Only counters that have saturated may exceed it.
        let products = self.rows.of(&self.counters).zip(self.rows.of(&other.counters)).map(|(a, b)| {
            a.iter().zip(b).map(|(&a, &b)| u128::from(a) * u128::from(b)).fold(0, u128::saturating_add)
        });
        let product = products.min().unwrap_or(0);
        let value = product as f64;
        Ok(if product == 0 {
            Estimate::exact(0.0)
        } else if self.is_saturated() || other.is_saturated() {
            Estimate::certain(value, 0.0, f64::INFINITY)
        } else {
            let margin = (share * self.total as f64 * other.total as f64).floor();
            Estimate::probable(value, (value - margin).max(0.0), value, confidence)
        })
    }
}
