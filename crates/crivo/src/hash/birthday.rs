//! Collisions: how likely do two of `m` items fall on the same one of `n` places?
//!
//! If each item falls on each place with the same chance, no two collide with probability
//! `(1 − 1/n)(1 − 2/n)…(1 − (m−1)/n) ≈ e^(−m²/2n)`. So a collision has even odds with `1.18·√n`
//! items: 23 people and 365 birthdays, 77,000 texts and 32 bits, 5 thousand million keys and 64
//! bits. That is why keys are hashed to 64 bits here.

use crate::error::{Error, Result};

/// Returns the probability that at least two of the items collide: `1 − Π (1 − i/n)`, to full
/// precision for any numbers.
///
/// ```
/// use crivo::hash::collision_probability;
/// assert!((collision_probability(23, 365) - 0.507_297).abs() < 1e-6);
/// assert_eq!(collision_probability(366, 365), 1.0); // one more than days
/// assert!((collision_probability(1_000_000, u64::MAX) / 2.71e-8 - 1.0).abs() < 1e-3);
/// ```
pub fn collision_probability(items: u64, places: u64) -> f64 {
    if items <= 1 {
        0.0
    } else if items > places {
        1.0
    } else {
        -libm::expm1(log_of_no_collision(items, places))
    }
}

/// Returns the approximation of [`collision_probability`] in textbooks: `1 − e^(−m²/2n)`. It is too
/// high by a share of `1/m` for few items, and too low where `m³` is not small beside `n²`.
///
/// ```
/// use crivo::hash::approximate_collision_probability;
/// assert!((approximate_collision_probability(23, 365) - 0.515_5).abs() < 1e-4);
/// ```
pub fn approximate_collision_probability(items: u64, places: u64) -> f64 {
    let items = items as f64;
    if places == 0 {
        f64::from(u8::from(items > 0.0))
    } else {
        -libm::expm1(-items * items / 2.0 / places as f64)
    }
}

/// Returns the least number of items that collide with at least this probability.
///
/// # Errors
/// If the probability is not between 0 and 1, or there are no places.
///
/// ```
/// use crivo::hash::items_for_collision;
/// assert_eq!(items_for_collision(0.5, 365)?, 23);
/// assert_eq!(items_for_collision(0.5, 1 << 32)?, 77_164);
/// # Ok::<(), crivo::Error>(())
/// ```
pub fn items_for_collision(probability: f64, places: u64) -> Result<u64> {
    if !(probability > 0.0 && probability < 1.0) {
        return Err(Error::parameter("probability", "a number between 0 and 1", probability));
    }
    if places == 0 {
        return Err(Error::parameter("places", "at least 1", places));
    }
    // With one item more than places a collision is certain.
    let (mut too_few, mut enough) = (0, places.saturating_add(1));
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        if collision_probability(middle, places) >= probability {
            enough = middle;
        } else {
            too_few = middle;
        }
    }
    Ok(enough)
}

/// The number of items up to which the terms are added one by one.
const FEW: u64 = 1000;

/// Returns `Σ ln(1 − i/n)` for `i` below the number of items, which is at most the number of
/// places.
fn log_of_no_collision(items: u64, places: u64) -> f64 {
    let n = places as f64;
    let term = |i: f64| libm::log1p(-i / n);
    if items <= FEW {
        return (1..items).map(|i| term(i as f64)).sum();
    }
    // The Euler–Maclaurin formula: the integral to the last term, half of the last term, and the
    // difference of the derivatives at both ends.
    let last = (items - 1) as f64;
    let derivative = |x: f64| -1.0 / (n - x).max(1.0);
    -n * slack(last / n) + term(last) / 2.0 + (derivative(last) - derivative(0.0)) / 12.0
}

/// Returns `(1 − t)·ln(1 − t) + t`, which is `Σ t^j/(j(j−1))`.
fn slack(t: f64) -> f64 {
    if t >= 1.0 {
        1.0
    } else if t > 0.05 {
        (1.0 - t) * libm::log1p(-t) + t
    } else {
        let mut power = t;
        (2..16)
            .map(|j| {
                power *= t;
                power / f64::from(j * (j - 1))
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the product itself, in a loop.
    fn product(items: u64, places: u64) -> f64 {
        let mut log = 0.0;
        (0..items).for_each(|i| log += libm::log1p(-(i as f64) / places as f64));
        -libm::expm1(log)
    }

    #[test]
    fn sums_agree_with_the_product() {
        for places in [1000, 5000, 365 * 365, 1 << 32, 1 << 40, 1 << 53] {
            for items in [2, 3, 100, 999, 1000, 1001, 1002, 2000, 4999, 100_000, 3_000_000] {
                if items <= places {
                    let (found, expected) = (collision_probability(items, places), product(items, places));
                    let error = (found / expected - 1.0).abs();
                    assert!(error < 1e-9, "{items} in {places}: {found} instead of {expected}");
                }
            }
        }
    }

    #[test]
    fn ends_of_the_range_are_certain() {
        assert_eq!((collision_probability(0, 0), collision_probability(1, 1)), (0.0, 0.0));
        assert_eq!((collision_probability(1, 0), collision_probability(2, 1)), (0.0, 1.0));
        assert_eq!(collision_probability(5000, 5000), 1.0);
        assert_eq!(collision_probability(u64::MAX, u64::MAX), 1.0);
        assert_eq!(approximate_collision_probability(2, 0), 1.0);
    }

    #[test]
    fn items_are_the_least_that_reach_the_probability() {
        for places in [1, 2, 365, 1 << 20, 1 << 32, u64::MAX] {
            for probability in [1e-9, 0.01, 0.5, 0.99, 1.0 - 1e-12] {
                let items = items_for_collision(probability, places).unwrap();
                assert!(collision_probability(items, places) >= probability);
                assert!(collision_probability(items - 1, places) < probability);
            }
        }
        // 1.177·√n, as the textbook has it.
        let items = items_for_collision(0.5, 1 << 62).unwrap() as f64;
        assert!((items / 2_f64.powi(31) - 1.177_41).abs() < 1e-5, "{items}");
        for probability in [0.0, 1.0, -0.1, f64::NAN] {
            assert!(items_for_collision(probability, 365).is_err());
        }
        assert!(items_for_collision(0.5, 0).is_err());
    }

    #[test]
    fn the_textbooks_approximation_is_near_where_it_says() {
        for (items, places, error) in [(23, 365, 0.02), (77_164, 1 << 32, 3e-5), (10, 1 << 20, 0.12)] {
            let exact = collision_probability(items, places);
            let share = approximate_collision_probability(items, places) / exact - 1.0;
            assert!(share > 0.0 && share < error, "{items} in {places}: {share}");
        }
    }
}
