//! How many pairs were never candidates?

use super::Bands;
use crate::error::{Error, Result};
use crate::estimate::{Confidence, Estimate};
use crate::math::two_sided_quantile;

impl Bands {
    /// Estimates how many pairs exist that were not found, with bounds at 95 %. It needs the
    /// similarities of all pairs that were found: each of them represents `1/P(J)` pairs, so
    /// `1/P(J) − 1` were missed. If no pair was found, the upper bound is infinite, because nothing
    /// is known.
    ///
    /// # Errors
    /// If a similarity is not in (0, 1].
    ///
    /// ```
    /// use crivo::similarity::Bands;
    ///
    /// let found = vec![0.8; 1000];          // with 16 bands of 6 rows 992 of 1,000 such pairs meet
    /// let missed = Bands::new(16, 6)?.expected_missed(found)?;
    /// assert!((missed.value() - 7.8).abs() < 0.1 && missed.lower() >= 2.0 && missed.upper() <= 16.0);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn expected_missed(self, similarities: impl IntoIterator<Item = f64>) -> Result<Estimate> {
        self.expected_missed_at(similarities, Confidence::P95)
    }

    /// Estimates how many pairs exist that were not found, with bounds at the given confidence.
    ///
    /// # Errors
    /// As for [`expected_missed`](Self::expected_missed).
    pub fn expected_missed_at(
        self,
        similarities: impl IntoIterator<Item = f64>,
        confidence: Confidence,
    ) -> Result<Estimate> {
        let (mut missed, mut variance, mut any) = (0.0, 0.0, false);
        for similarity in similarities {
            if !(similarity > 0.0 && similarity <= 1.0) {
                return Err(Error::parameter("similarity", "above 0 and at most 1", similarity));
            }
            let probability = self.probability(similarity).max(f64::MIN_POSITIVE);
            let others = (1.0 - probability) / probability;
            missed += others;
            // The variance is Σ (1 − P)/P over all pairs that exist. Each pair that was found
            // represents 1/P of them.
            variance += others / probability;
            any = true;
        }
        if !any {
            return Ok(Estimate::probable(0.0, 0.0, f64::INFINITY, confidence));
        }
        if missed == 0.0 {
            return Ok(Estimate::probable(0.0, 0.0, 0.0, confidence));
        }
        // The variance is proportional to the true number, so the bounds solve (estimate − truth)²
        // = z² · truth · scale for the truth. The number of pairs is whole, so the bounds are
        // widened to whole numbers.
        let scale = variance / missed;
        let z = two_sided_quantile(confidence.level());
        let centre = missed + z * z * scale / 2.0;
        let width = z * libm::sqrt(missed * scale + z * z * scale * scale / 4.0);
        Ok(Estimate::probable(
            missed,
            libm::floor(centre - width).max(0.0),
            libm::ceil(centre + width),
            confidence,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_always_meet_are_never_missed() {
        let missed = Bands::new(16, 8).unwrap().expected_missed([1.0; 50]).unwrap();
        assert_eq!((missed.value(), missed.upper()), (0.0, 0.0));
    }

    #[test]
    fn nothing_found_says_nothing() {
        let missed = Bands::new(16, 8).unwrap().expected_missed([]).unwrap();
        assert_eq!((missed.value(), missed.lower(), missed.upper()), (0.0, 0.0, f64::INFINITY));
    }

    #[test]
    fn what_is_no_similarity_is_refused() {
        for wrong in [0.0, -0.1, 1.1, f64::NAN] {
            let error = Bands::new(16, 8).unwrap().expected_missed([0.5, wrong]).unwrap_err();
            assert_eq!(error.field(), "similarity");
        }
    }

    #[test]
    fn a_rare_find_stands_for_many() {
        let bands = Bands::new(1, 10).unwrap();
        let missed = bands.expected_missed([0.5]).unwrap();
        assert!((missed.value() - 1023.0).abs() < 1e-6);
        assert!(missed.upper() > 3_000.0 && missed.lower() < 200.0);
    }
}
