//! How many cells and how many indexes a key, for filters that choose their cells one by one.
//!
//! With `m` cells, `k` of them chosen for each of `n` keys, a cell stays empty with probability
//! `(1 − 1/m)^(kn) ≈ e^(−kn/m)`, and a key that was never inserted finds all its cells in use with
//! probability `(1 − e^(−kn/m))^k`. Textbooks put `k = (m/n)·ln 2` into `m = −n·ln p/(ln 2)²`; but
//! `k` is an integer, and rounding it afterwards misses the wanted rate. So `m` is sized for the
//! integer: `m = −kn/ln(1 − p^(1/k))`, with the `k` that makes it smallest.

use std::ops::RangeInclusive;

use crate::error::{Error, Result};

/// The most cells of a filter: 2^43, a terabyte of bits.
pub(super) const MOST_CELLS: u64 = 1 << 43;

/// The most items a filter is sized for.
const MOST_ITEMS: u64 = 1 << 42;

/// The possible numbers of cells of a key.
pub(super) const HASHES: RangeInclusive<u32> = 1..=64;

/// The least rate. Below it, two keys with the same 64-bit hash would no longer be rare compared
/// with false positives.
const LEAST_RATE: f64 = 1e-15;

/// Returns the fewest cells, and the number of cells of each key, with which `items` different keys
/// give the false-positive rate.
pub(super) fn cells_for(items: u64, rate: f64) -> Result<(u64, u32)> {
    check_goal(items, rate)?;
    let cells = |hashes: u32| {
        let k = f64::from(hashes);
        -k * items as f64 / libm::log1p(-libm::pow(rate, 1.0 / k))
    };
    // The function has one minimum, so the search ends where one more index no longer helps.
    let mut best = 1;
    while best < *HASHES.end() && cells(best + 1) < cells(best) {
        best += 1;
    }
    let fewest = libm::ceil(cells(best)).max(1.0);
    if fewest <= MOST_CELLS as f64 {
        Ok((fewest as u64, best))
    } else {
        Err(Error::parameter("items", format_args!("a filter of at most {MOST_CELLS} cells"), fewest))
    }
}

/// Returns an error for a goal that no filter can reach.
pub(super) fn check_goal(items: u64, rate: f64) -> Result<()> {
    if items == 0 || items > MOST_ITEMS {
        return Err(Error::parameter("items", format_args!("1 to {MOST_ITEMS}"), items));
    }
    if (LEAST_RATE..1.0).contains(&rate) {
        Ok(())
    } else {
        Err(Error::parameter("rate", format_args!("a probability from {LEAST_RATE:e} to below 1"), rate))
    }
}

/// Returns an error for sizes that no filter has. `field` is the filter's name for its cells.
pub(super) fn check_size(field: &'static str, cells: u64, hashes: u32) -> Result<()> {
    if !(1..=MOST_CELLS).contains(&cells) {
        return Err(Error::parameter(field, format_args!("1 to {MOST_CELLS}"), cells));
    }
    if !HASHES.contains(&hashes) {
        let (least, most) = HASHES.into_inner();
        return Err(Error::parameter("hashes", format_args!("{least} to {most}"), hashes));
    }
    Ok(())
}

/// Returns an error for a stored capacity that no filter has. It is at most the number of cells that
/// a filter can have.
pub(super) fn check_capacity(capacity: u64) -> Result<()> {
    if (1..=MOST_CELLS).contains(&capacity) {
        return Ok(());
    }
    Err(Error::contents("capacity", format_args!("1 to {MOST_CELLS}"), capacity))
}

/// Returns an error that names both sizes if they differ, so that the filters cannot be combined.
pub(super) fn require_same(field: &'static str, mine: u64, theirs: u64) -> Result<()> {
    if mine == theirs {
        return Ok(());
    }
    let advice = "filters can be combined if they were built with the same sizes";
    Err(Error::incompatible(field, mine, theirs, advice))
}

/// Returns the expected false-positive rate after `items` different keys. Without cells every key
/// is taken for a member.
pub(super) fn expected_rate(cells: u64, hashes: u32, items: u64) -> f64 {
    if cells == 0 {
        return 1.0;
    }
    let throws = f64::from(hashes) * items as f64;
    let in_use = -libm::expm1(throws * libm::log1p(-1.0 / cells as f64));
    libm::pow(in_use, f64::from(hashes))
}

/// Returns the number of items that fill half of the cells, where `hashes` is the best choice. This
/// is the capacity of a filter that was built from a size instead of a goal.
pub(super) fn half_full_at(cells: u64, hashes: u32) -> u64 {
    ((cells as f64 * std::f64::consts::LN_2 / f64::from(hashes)) as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_is_that_of_the_integer_number_of_indexes() {
        assert_eq!(cells_for(1_000_000, 0.01), Ok((9_592_955, 7)));
        assert_eq!(cells_for(1, 0.5), Ok((2, 1)));
    }

    /// Each goal is reached, and one cell in a thousand less would miss it.
    #[test]
    fn goal_is_reached_and_not_exceeded() {
        for items in [1_000, 123_456, 10_000_000, 1 << 33] {
            for rate in [0.9, 0.5, 0.1, 0.01, 1e-3, 1e-6, 1e-12, 1e-15] {
                let Ok((cells, hashes)) = cells_for(items, rate) else { panic!("{items} at {rate}") };
                assert!(expected_rate(cells, hashes, items) <= rate * 1.001, "{items} at {rate}");
                let fewer = cells - cells.div_ceil(1000);
                assert!(expected_rate(fewer, hashes, items) > rate, "{items} at {rate}");
            }
        }
    }

    #[test]
    fn impossible_goals_are_named() {
        for rate in [0.0, 1.0, -0.1, 2.0, 1e-300, f64::NAN, f64::INFINITY] {
            assert_eq!(cells_for(10, rate).unwrap_err().field(), "rate", "{rate}");
        }
        for items in [0, u64::MAX] {
            assert_eq!(cells_for(items, 0.01).unwrap_err().field(), "items");
        }
        assert_eq!(cells_for(1 << 42, 1e-15).unwrap_err().field(), "items");
        assert_eq!(check_size("cells", 0, 1).unwrap_err().field(), "cells");
        assert_eq!(check_size("cells", 1 << 60, 1).unwrap_err().field(), "cells");
        assert_eq!(check_size("cells", 1, 0).unwrap_err().field(), "hashes");
        assert_eq!(check_size("cells", 1, 65).unwrap_err().field(), "hashes");
    }
}
