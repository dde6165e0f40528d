//! Counting distinct items.

pub(crate) mod hyperloglog;
pub(crate) mod methods;
pub(crate) mod partition;

use crate::prelude::*;

/// Draws the longest run of zeros among `items` random hashes (at least one) from its distribution:
/// `P(z < r) = (1 − 2^−r)^n ≈ e^(−n 2^−r)`. With an exponential variable `e`, it is the least `z`
/// with `2^(z+1) > n/e`, which is exact for a Poisson number of hashes.
fn longest_run(items: f64, most: i32, random: &mut Random) -> i32 {
    let ratio = items / random.exponential();
    (libm::floor(libm::log2(ratio)) as i32).clamp(0, most)
}

/// Draws the least of `items` random hashes in (0, 1): `P(h > x) = (1 − x)^n`.
fn least(items: f64, random: &mut Random) -> f64 {
    -libm::expm1(libm::log(random.unit()) / items)
}
