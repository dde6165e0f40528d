//! Samples in which each row is drawn with the same probability.
//!
//! The number of rows is not known beforehand, and the sample is not kept. Each row is drawn or
//! skipped by itself, so the input can be a stream. The size of the sample is binomial.

use crate::error::{Error, Result};
use crate::hash::split_mix::mix;

/// Decides for each row of a stream whether it belongs to a sample of a given share of all rows.
///
/// The seed and the place of a row decide. So the same rows are drawn however the input is split.
///
/// ```
/// use crivo::sampling::RowShare;
/// let tenth = RowShare::new(0.1, 7)?;
/// let drawn = (0..10_000).filter(|&place| tenth.draws(place)).count();
/// assert!((800..1_200).contains(&drawn));
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowShare {
    mask: u64,
    /// Rows whose number is at most this are drawn.
    limit: u64,
}

impl RowShare {
    /// Draws each row with the probability `share`.
    ///
    /// # Errors
    /// If the share is not above 0 and at most 1.
    pub fn new(share: f64, seed: u64) -> Result<Self> {
        if !(share > 0.0 && share <= 1.0) {
            return Err(Error::parameter("share", "above 0 and at most 1", share));
        }
        // With a share of 1 the product is rounded to 2^64 and saturates at the largest integer:
        // all rows.
        Ok(Self { mask: mix(seed), limit: (share * u64::MAX as f64) as u64 })
    }

    /// Returns true if the row at this place is in the sample.
    #[inline]
    pub fn draws(self, place: u64) -> bool {
        mix(self.mask ^ place) <= self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 64 seeds × 10⁵ rows. The number of rows drawn is binomial. Five standard deviations are
    /// exceeded with a probability below 10⁻⁶, and are 0.6 % of the number at a share of 0.1.
    #[test]
    fn share_of_the_rows_is_the_one_asked_for() {
        for share in [0.01, 0.1, 0.5] {
            let rows = 64.0 * 1e5;
            let drawn: usize = (0..64)
                .map(|seed| {
                    let sample = RowShare::new(share, seed).unwrap();
                    (0..100_000).filter(|&place| sample.draws(place)).count()
                })
                .sum();
            let deviation = (drawn as f64 - rows * share) / (rows * share * (1.0 - share)).sqrt();
            assert!(deviation.abs() < 5.0, "{share}: {deviation}");
        }
    }

    #[test]
    fn a_share_of_one_draws_every_row() {
        let all = RowShare::new(1.0, 3).unwrap();
        assert!((0..10_000).chain([u64::MAX]).all(|place| all.draws(place)));
    }

    #[test]
    fn shares_that_are_none_are_refused() {
        for share in [0.0, -0.1, 1.1, f64::NAN] {
            assert_eq!(RowShare::new(share, 0).unwrap_err().field(), "share");
        }
    }
}
