//! How many blocks? Computed from the filter's true rate, which accounts for blocks that are fuller
//! than others.

use super::{BlockedBloom, WORD, WORDS};
use crate::error::{Error, Result};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The least rate. Below it the fullest blocks would need a multiple of a Bloom filter's memory.
const LEAST_RATE: f64 = 1e-6;

/// The most items that a filter is sized for.
const MOST_ITEMS: u64 = 1 << 40;

pub(super) fn check_blocks(blocks: u64) -> Result<()> {
    let most = BlockedBloom::MOST_BLOCKS;
    if (1..=most).contains(&blocks) {
        Ok(())
    } else {
        Err(Error::parameter("blocks", format_args!("1 to {most}"), blocks))
    }
}

/// Returns the fewest blocks that reach the rate with `items` keys.
pub(super) fn blocks_for(items: u64, rate: f64) -> Result<u64> {
    if items == 0 || items > MOST_ITEMS {
        return Err(Error::parameter("items", format_args!("1 to {MOST_ITEMS}"), items));
    }
    if !(LEAST_RATE..1.0).contains(&rate) {
        let allowed = format_args!("a probability from {LEAST_RATE:e} to below 1").to_string();
        return Err(Error::parameter("rate", allowed, rate));
    }
    let (mut too_few, mut enough) = (0, BlockedBloom::MOST_BLOCKS);
    if expected_rate(enough, items) > rate {
        let allowed = "fewer items or a larger rate: no filter is large enough";
        return Err(Error::parameter("items", allowed, items));
    }
    while enough - too_few > 1 {
        let middle = u64::midpoint(too_few, enough);
        if expected_rate(middle, items) <= rate {
            enough = middle;
        } else {
            too_few = middle;
        }
    }
    Ok(enough)
}

/// Returns `Σ P(j)·(1 − (63/64)^j)^8` over the number `j` of keys in a block, which is Poisson.
pub(super) fn expected_rate(blocks: u64, items: u64) -> f64 {
    if items == 0 {
        return 0.0;
    }
    let mean = items as f64 / blocks.max(1) as f64;
    // All but 10⁻³⁰ of the blocks are within twelve deviations.
    let width = 12.0 * mean.sqrt() + 40.0;
    let (first, last) = (libm::floor((mean - width).max(0.0)), libm::ceil(mean + width));
    if first > 1e6 {
        return 1.0;
    }
    let mut probability = libm::exp(first * libm::log(mean) - mean - libm::lgamma(first + 1.0));
    let mut rate = 0.0;
    let mut keys = first;
    while keys <= last {
        let in_use = -libm::expm1(keys * libm::log1p(-1.0 / f64::from(WORD)));
        rate += probability * libm::pow(in_use, f64::from(WORDS));
        keys += 1.0;
        probability *= mean / keys;
    }
    rate.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each goal is reached, and one block less would miss it.
    #[test]
    fn goal_is_reached_and_not_exceeded() {
        for items in [1, 1_000, 123_456, 10_000_000, 1 << 33] {
            for rate in [0.9, 0.5, 0.1, 0.01, 1e-3, 1e-6] {
                let blocks = blocks_for(items, rate).unwrap();
                assert!(expected_rate(blocks, items) <= rate, "{items} at {rate}");
                assert!(blocks == 1 || expected_rate(blocks - 1, items) > rate, "{items} at {rate}");
            }
        }
    }

    #[test]
    fn rates_are_probabilities_at_any_load() {
        for blocks in [1, 2, 1000, BlockedBloom::MOST_BLOCKS] {
            for items in [0, 1, 2, 1000, 1 << 20, 1 << 40, u64::MAX] {
                let rate = expected_rate(blocks, items);
                assert!((0.0..=1.0).contains(&rate), "{items} in {blocks}: {rate}");
            }
        }
        assert_eq!(expected_rate(10, 0), 0.0);
    }

    #[test]
    fn impossible_goals_are_named() {
        for rate in [0.0, 1.0, -0.1, 1e-7, f64::NAN] {
            assert_eq!(blocks_for(10, rate).unwrap_err().field(), "rate", "{rate}");
        }
        for items in [0, u64::MAX, 1 << 40] {
            assert_eq!(blocks_for(items, 1e-6).unwrap_err().field(), "items");
        }
        assert_eq!(check_blocks(0).unwrap_err().field(), "blocks");
        assert_eq!(check_blocks(1 << 60).unwrap_err().field(), "blocks");
    }
}
