//! Bounds on the number of items, from the number of their hashes below a threshold.
//!
//! Hashes are uniform, so of `n` different items `Binomial(n, x)` have a hash at or below the share
//! `x` of the hashes' range. The `r`-th smallest hash is at or below `x` exactly if at least `r`
//! hashes are. A bound is the number of items at which the observation becomes unlikely (Clopper
//! and Pearson 1934). No approximation is involved, so it holds for a single hash as well as for a
//! million.

use crate::math::{at_least, at_most, crossing, exp2, two_sided_quantile};

/// Returns the share of all 64-bit values that are at most `hash`.
pub(super) fn share(hash: u64) -> f64 {
    ((hash as f64 + 1.0) * exp2(-64)).min(1.0)
}

/// Returns the least number of items such that, with at least the given probability, `rank` of them
/// have a hash at or below `share`.
pub(crate) fn least_items(rank: f64, share: f64, probability: f64) -> f64 {
    if rank <= 0.0 || share >= 1.0 || probability <= 0.0 {
        return rank;
    }
    let target = libm::log(probability);
    items_at(rank, share, probability, |items| libm::log(at_least(rank, items, share)) - target)
}

/// Returns the largest number of items such that, with at least the given probability, fewer than
/// `rank` of them have a hash below `share`.
pub(crate) fn most_items(rank: f64, share: f64, probability: f64) -> f64 {
    if share >= 1.0 {
        return rank;
    }
    if probability <= 0.0 {
        return f64::INFINITY;
    }
    let target = libm::log(probability);
    items_at(rank, share, probability, |items| target - libm::log(at_most(rank - 1.0, items, share)))
}

/// Returns the number of items, at least `rank`, at which the increasing `function` is zero.
fn items_at(rank: f64, share: f64, probability: f64, function: impl Fn(f64) -> f64) -> f64 {
    // The search is over the logarithm of the number, because the standard deviation of the
    // logarithm is about 1/√rank at any size.
    let by_logarithm = |logarithm: f64| function(libm::exp(logarithm).max(rank)).clamp(-1e3, 1e3);
    let floor = libm::log(rank);
    let width = (two_sided_quantile(1.0 - 2.0 * probability) + 1.0) / libm::sqrt(rank);
    let centre = floor - libm::log(share);
    let (mut low, mut high) = ((centre - width).max(floor), centre + width);
    while low > floor && by_logarithm(low) > 0.0 {
        low = (low - width).max(floor);
    }
    while by_logarithm(high) < 0.0 {
        high += width;
    }
    libm::exp(crossing(low, high, by_logarithm)).max(rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_hash_spans_a_factor_of_146() {
        for hash in [1, 1 << 20, 1 << 62] {
            let x = share(hash);
            let (least, most) = (least_items(1.0, x, 0.025), most_items(1.0, x, 0.025));
            // P(h > x) = (1 − x)^n.
            let expected = |chance: f64| (libm::log(chance) / libm::log1p(-x)).max(1.0);
            assert!((least / expected(0.975) - 1.0).abs() < 1e-9, "{least} for a share of {x}");
            assert!((most / expected(0.025) - 1.0).abs() < 1e-9, "{most} for a share of {x}");
            if hash < 1 << 60 {
                assert!((most / least - 145.7).abs() < 0.1, "a factor of {}", most / least);
            }
        }
    }

    #[test]
    fn bounds_are_where_what_was_seen_becomes_unlikely() {
        for rank in [1.0, 2.0, 30.0, 4_096.0, 1e6] {
            for share in [1e-12, 1e-3, 0.2, 0.9] {
                for probability in [0.4999, 0.025, 5e-13] {
                    let least = least_items(rank, share, probability);
                    let most = most_items(rank, share, probability);
                    assert!(rank <= least && least <= most, "{rank} at {share}: {least} to {most}");
                    if least > rank * 1.01 {
                        let found = at_least(rank, least, share);
                        assert!((found / probability - 1.0).abs() < 1e-6, "{rank} at {share}: {found}");
                    }
                    if most > rank * 1.01 {
                        let found = at_most(rank - 1.0, most, share);
                        assert!((found / probability - 1.0).abs() < 1e-6, "{rank} at {share}: {found}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_whole_range_leaves_no_doubt() {
        assert_eq!(share(u64::MAX), 1.0);
        assert_eq!((least_items(5.0, 1.0, 0.025), most_items(5.0, 1.0, 0.025)), (5.0, 5.0));
        assert!(share(0) > 0.0);
    }
}
