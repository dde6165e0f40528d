//! Choosing the number of bands and of rows.

use super::{Bands, curve};
use crate::error::{Error, Result};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::similarity::MinHash;

/// The number of points on each side of the threshold at which the area under a curve is measured.
const POINTS: u32 = 64;

/// The number of possible row counts that are compared, beginning with the largest.
const TRIED: usize = 32;

impl Bands {
    /// The probability at which a pair of the threshold's similarity is a candidate, for
    /// [`for_threshold`](Self::for_threshold).
    pub const RECALL: f64 = 0.99;

    /// Returns the bands with which pairs of the threshold's similarity meet with a probability of
    /// at least 99 %, and pairs above it more often. Among these bands it chooses those with the
    /// fewest pairs below the threshold that `hashes` slots allow.
    ///
    /// # Errors
    /// If the threshold is not in (0, 1], if `hashes` is 0 or more than any signature has, or if
    /// that many slots cannot reach the probability at so low a threshold.
    pub fn for_threshold(threshold: f64, hashes: u32) -> Result<Self> {
        Self::for_recall(threshold, Self::RECALL, hashes)
    }

    /// Returns the bands with which pairs of the threshold's similarity meet with at least the
    /// given probability. Among these bands it chooses those with the fewest pairs below the
    /// threshold that `hashes` slots allow.
    ///
    /// # Errors
    /// As for [`for_threshold`](Self::for_threshold), and if `recall` is not between 0 and 1.
    ///
    /// ```
    /// use crivo::similarity::Bands;
    /// assert_eq!(Bands::for_recall(0.8, 0.9999, 128)?, Bands::new(24, 5)?);
    /// assert!(Bands::for_recall(0.01, 0.99, 128).is_err());
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn for_recall(threshold: f64, recall: f64, hashes: u32) -> Result<Self> {
        check_similarity("threshold", threshold)?;
        check_probability("recall", recall)?;
        check_hashes(hashes)?;
        // For each number of rows, take the fewest bands that reach the point. More rows give a
        // steeper curve through the point, except for the rounding of the bands to a whole number.
        // So only the largest numbers of rows are compared.
        let possible: Vec<Self> = (1..=hashes)
            .filter_map(|rows| {
                let bands = least_bands(threshold, recall, rows)?;
                (bands <= hashes / rows).then_some(Self { bands, rows })
            })
            .collect();
        let below = |bands: &Self| area(0.0, threshold, |similarity| bands.probability(similarity));
        possible
            .into_iter()
            .rev()
            .take(TRIED)
            .min_by(|a, b| below(a).total_cmp(&below(b)))
            .ok_or_else(|| cannot_reach(recall, hashes, threshold))
    }

    /// Returns the bands with the least expected cost, if all similarities are equally frequent. A
    /// pair above the threshold that does not meet costs `miss_weight`, and a pair below it that
    /// meets costs `false_alarm_weight`.
    ///
    /// # Errors
    /// If the threshold is not in (0, 1], if `hashes` is 0 or more than any signature has, or if a
    /// weight is not positive.
    ///
    /// ```
    /// use crivo::similarity::Bands;
    /// let (careful, quick) = (Bands::for_weights(0.8, 128, 9.0, 1.0)?, Bands::for_weights(0.8, 128, 1.0, 9.0)?);
    /// assert!(careful.probability(0.8) > 0.86 && quick.probability(0.8) < 0.06);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn for_weights(
        threshold: f64,
        hashes: u32,
        miss_weight: f64,
        false_alarm_weight: f64,
    ) -> Result<Self> {
        check_similarity("threshold", threshold)?;
        check_hashes(hashes)?;
        for (name, weight) in [("miss_weight", miss_weight), ("false_alarm_weight", false_alarm_weight)] {
            if !(weight > 0.0 && weight.is_finite()) {
                return Err(Error::parameter(name, "a positive number", weight));
            }
        }
        let cost = |bands: Self| {
            let missed = area(threshold, 1.0, |similarity| 1.0 - bands.probability(similarity));
            let in_vain = area(0.0, threshold, |similarity| bands.probability(similarity));
            miss_weight * missed + false_alarm_weight * in_vain
        };
        let mut best = Self { bands: 1, rows: 1 };
        let mut least = f64::INFINITY;
        for rows in 1..=hashes {
            let mut bands = 1;
            while bands <= hashes / rows {
                let found = Self { bands, rows };
                let cost = cost(found);
                if cost < least {
                    (best, least) = (found, cost);
                }
                // One band more or less among hundreds changes nothing, so the steps grow.
                bands += (bands / 64).max(1);
            }
        }
        Ok(best)
    }

    /// Returns the bands with the fewest slots whose curve passes below one point and above
    /// another. A point is a similarity and the probability to meet at that similarity.
    ///
    /// # Errors
    /// If a similarity is not in (0, 1], if a probability is not between 0 and 1, if the points are
    /// not in ascending order, or if no signature has enough slots.
    ///
    /// ```
    /// use crivo::similarity::Bands;
    /// assert_eq!(Bands::for_points((0.6, 0.01), (0.9, 0.99))?, Bands::new(20, 15)?);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn for_points(low: (f64, f64), high: (f64, f64)) -> Result<Self> {
        check_similarity("low similarity", low.0)?;
        check_probability("low probability", low.1)?;
        check_similarity("high similarity", high.0)?;
        check_probability("high probability", high.1)?;
        if !(low.0 < high.0 && low.1 < high.1) {
            return Err(Error::parameter(
                "points",
                "the low point below the high one in similarity and probability",
                format_args!("{low:?} and {high:?}"),
            ));
        }
        let most = *MinHash::SIZES.end();
        (1..=most)
            .filter_map(|rows| {
                let bands = least_bands(high.0, high.1, rows)?;
                let found = Self { bands, rows };
                (bands <= most / rows && found.probability(low.0) <= low.1).then_some(found)
            })
            .min_by_key(|bands| (bands.slots(), bands.rows))
            .ok_or_else(|| {
                Error::parameter(
                    "points",
                    format_args!("a curve that {most} slots can follow: points further apart"),
                    format_args!("{low:?} and {high:?}"),
                )
            })
    }
}

/// Returns the fewest bands of `rows` rows with which a pair of the given similarity meets with at
/// least the given probability. Returns `None` if not even all slots of the largest signature are
/// enough.
fn least_bands(similarity: f64, probability: f64, rows: u32) -> Option<u32> {
    let band_equal = libm::pow(similarity, rows.into());
    if band_equal >= 1.0 {
        return Some(1);
    }
    let bands = libm::ceil(libm::log1p(-probability) / libm::log1p(-band_equal)).max(1.0);
    if bands > f64::from(*MinHash::SIZES.end()) {
        return None;
    }
    // The quotient is rounded, so the curve itself decides.
    let reaches = |bands: f64| curve(similarity, bands, rows.into()) >= probability;
    let fewer = bands - 1.0;
    Some(if fewer >= 1.0 && reaches(fewer) {
        fewer as u32
    } else if reaches(bands) {
        bands as u32
    } else {
        bands as u32 + 1
    })
}

/// Returns the area under a function, by the midpoints of equal steps.
fn area(from: f64, to: f64, function: impl Fn(f64) -> f64) -> f64 {
    let step = (to - from) / f64::from(POINTS);
    (0..POINTS).map(|point| step * function(from + step * (f64::from(point) + 0.5))).sum()
}

fn check_similarity(name: &'static str, similarity: f64) -> Result<()> {
    if similarity > 0.0 && similarity <= 1.0 {
        Ok(())
    } else {
        Err(Error::parameter(name, "a similarity above 0 and at most 1", similarity))
    }
}

fn check_probability(name: &'static str, probability: f64) -> Result<()> {
    if probability > 0.0 && probability < 1.0 {
        Ok(())
    } else {
        Err(Error::parameter(name, "a probability between 0 and 1", probability))
    }
}

fn check_hashes(hashes: u32) -> Result<()> {
    if MinHash::SIZES.contains(&hashes) {
        Ok(())
    } else {
        let (least, most) = MinHash::SIZES.into_inner();
        Err(Error::parameter("hashes", format_args!("{least} to {most}"), hashes))
    }
}

#[cold]
fn cannot_reach(recall: f64, hashes: u32, threshold: f64) -> Error {
    // With bands of one row, all slots are used: 1 − (1 − J)^hashes = recall.
    let least = -libm::expm1(libm::log1p(-recall) / f64::from(hashes));
    Error::parameter(
        "threshold",
        format_args!("at least {least:.4}, for a recall of {recall} with {hashes} hashes"),
        threshold,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every possible number of bands and rows.
    fn all(hashes: u32) -> impl Iterator<Item = Bands> {
        (1..=hashes).flat_map(move |rows| (1..=hashes / rows).map(move |bands| Bands { bands, rows }))
    }

    #[test]
    fn recall_at_the_threshold_is_reached_with_the_fewest_candidates() {
        for hashes in [16, 100, 128, 400] {
            for threshold in [0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0] {
                let chosen = Bands::for_threshold(threshold, hashes).unwrap();
                assert!(chosen.probability(threshold) >= 0.99 && chosen.slots() <= hashes);
                let candidates = |bands: Bands| area(0.0, threshold, |j| bands.probability(j));
                let least = all(hashes)
                    .filter(|bands| bands.probability(threshold) >= 0.99)
                    .map(candidates)
                    .fold(f64::INFINITY, f64::min);
                assert_eq!(candidates(chosen), least, "{threshold} with {hashes}: {chosen:?}");
            }
        }
    }

    #[test]
    fn weights_find_the_cheapest_of_all_cuts() {
        for (threshold, misses, alarms) in [(0.8, 1.0, 1.0), (0.5, 9.0, 1.0), (0.9, 1.0, 20.0)] {
            let cost = |bands: Bands| {
                misses * area(threshold, 1.0, |j| 1.0 - bands.probability(j))
                    + alarms * area(0.0, threshold, |j| bands.probability(j))
            };
            let chosen = Bands::for_weights(threshold, 64, misses, alarms).unwrap();
            assert_eq!(cost(chosen), all(64).map(cost).fold(f64::INFINITY, f64::min));
        }
    }

    #[test]
    fn two_points_take_the_fewest_slots() {
        let (low, high) = ((0.6, 0.01), (0.9, 0.99));
        let chosen = Bands::for_points(low, high).unwrap();
        assert_eq!((chosen.bands(), chosen.rows()), (20, 15));
        let fits = |bands: &Bands| bands.probability(low.0) <= low.1 && bands.probability(high.0) >= high.1;
        assert!(fits(&chosen));
        assert_eq!(all(299).filter(fits).count(), 0, "no cut of fewer slots fits");
    }

    #[test]
    fn one_slot_more_than_the_threshold_needs_is_not_asked_for() {
        let error = Bands::for_threshold(0.01, 128).unwrap_err();
        assert_eq!(
            error.to_string(),
            "threshold: expected at least 0.0353, for a recall of 0.99 with 128 hashes, found 0.01"
        );
        assert!(Bands::for_threshold(0.0354, 128).is_ok());
    }

    #[test]
    fn what_is_out_of_range_is_refused_by_name() {
        for threshold in [0.0, -0.5, 1.000_001, f64::NAN, f64::INFINITY] {
            assert_eq!(Bands::for_threshold(threshold, 128).unwrap_err().field(), "threshold");
            assert_eq!(Bands::for_weights(threshold, 128, 1.0, 1.0).unwrap_err().field(), "threshold");
        }
        assert_eq!(Bands::for_threshold(0.5, 0).unwrap_err().field(), "hashes");
        assert_eq!(Bands::for_threshold(0.5, 40_000).unwrap_err().field(), "hashes");
        assert_eq!(Bands::for_recall(0.5, 1.0, 128).unwrap_err().field(), "recall");
        assert_eq!(Bands::for_weights(0.5, 128, 0.0, 1.0).unwrap_err().field(), "miss_weight");
        assert_eq!(Bands::for_weights(0.5, 128, 1.0, f64::NAN).unwrap_err().field(), "false_alarm_weight");
        assert_eq!(Bands::for_points((0.9, 0.1), (0.6, 0.9)).unwrap_err().field(), "points");
        assert_eq!(Bands::for_points((0.799, 1e-9), (0.8, 0.999_999)).unwrap_err().field(), "points");
        assert_eq!(Bands::for_points((0.5, 0.0), (0.8, 0.9)).unwrap_err().field(), "low probability");
    }

    #[test]
    fn the_largest_signatures_are_cut_too() {
        let most = *MinHash::SIZES.end();
        assert!(Bands::for_threshold(0.8, most).unwrap().slots() <= most);
        assert_eq!(Bands::for_threshold(1.0, most), Bands::new(1, most));
    }
}
