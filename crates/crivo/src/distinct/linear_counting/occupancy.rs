//! How many cells do `n` items fill? The exact moments, and tail probabilities that hold from one
//! item on.
//!
//! Throw `n` items into `L` cells and let `Z` cells stay empty. With `q = (1 − 1/L)^n`,
//!
//! ```text
//! mean of Z      L q
//! variance of Z  L q (1 − (1 − 1/(L−1))^n) − (L q)² (1 − (1 − 1/(L−1)²)^n)  ≈  L e^(−t) (1 − (1 + t) e^(−t)),  t = n/L
//! ```
//!
//! `Z` is distributed as a sum of independent trials with unequal probabilities (Vatutin and
//! Mikhailov 1982), and so are the collisions `n − L + Z`. The smaller of the two is approximated
//! by a binomial variable of the same mean and variance. The approximation is close where few cells
//! collide, where few are left, and in between. Where the variance is large, a normal variable is
//! as good and faster. Where there are few cells, only the exact distribution is good enough.

use crate::math::{at_least, at_most};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// Up to this many cells the distribution is computed item by item.
const FEW_CELLS: f64 = 64.0;

/// From this variance on, the normal approximation is used. It changes a tail of 2.5 % by less than
/// 0.2 %.
const LARGE_VARIANCE: f64 = 400.0;

/// The moments of a throw of items into cells. Both numbers are whole.
#[derive(Debug, Clone, Copy)]
struct Throw {
    items: f64,
    cells: f64,
    empty: f64,
    collisions: f64,
    variance: f64,
}

impl Throw {
    fn new(items: f64, cells: f64) -> Self {
        if cells <= 1.0 {
            let empty = if items > 0.0 { 0.0 } else { cells };
            return Self { items, cells, empty, collisions: (items - 1.0).max(0.0), variance: 0.0 };
        }
        let share = libm::expm1(items * libm::log1p(-1.0 / cells));
        let empty = cells * (1.0 + share);
        let others = cells - 1.0;
        let single = -libm::expm1(items * libm::log1p(-1.0 / others));
        let pairs = -libm::expm1(items * libm::log1p(-1.0 / (others * others)));
        Self {
            items,
            cells,
            empty,
            collisions: items + cells * share,
            variance: (empty * single - empty * empty * pairs).max(0.0),
        }
    }

    /// Returns the probability that at most `used` cells are used.
    fn at_most_used(&self, used: f64) -> f64 {
        let still_empty = self.cells - used;
        if self.cells <= FEW_CELLS {
            distribution(self.items, self.cells)[..=used as usize].iter().sum()
        } else if self.variance > LARGE_VARIANCE {
            normal_above((still_empty - 0.5 - self.empty) / libm::sqrt(self.variance))
        } else if self.collisions < self.empty {
            self.tail(self.collisions, |trials, p| at_least(self.items - used, trials, p))
        } else {
            self.tail(self.empty, |trials, p| at_least(still_empty, trials, p))
        }
    }

    /// Returns the probability that at least `used` cells are used.
    fn at_least_used(&self, used: f64) -> f64 {
        let still_empty = self.cells - used;
        if self.cells <= FEW_CELLS {
            distribution(self.items, self.cells)[used as usize..].iter().sum()
        } else if self.variance > LARGE_VARIANCE {
            normal_above((self.empty - still_empty - 0.5) / libm::sqrt(self.variance))
        } else if self.collisions < self.empty {
            self.tail(self.collisions, |trials, p| at_most(self.items - used, trials, p))
        } else {
            self.tail(self.empty, |trials, p| at_most(still_empty, trials, p))
        }
    }

    /// Returns a tail of the binomial variable with the given mean and this throw's variance.
    fn tail(&self, mean: f64, tail: impl Fn(f64, f64) -> f64) -> f64 {
        if mean <= 0.0 {
            return tail(1.0, 0.0);
        }
        // A Poisson variable, whose variance is its mean, is the limit of very many trials.
        let p = (1.0 - self.variance / mean).max(1e-9);
        let trials = libm::round(mean / p).max(1.0);
        tail(trials, (mean / trials).min(1.0))
    }
}

/// Returns the exact probability of each number of used cells.
fn distribution(items: f64, cells: f64) -> Vec<f64> {
    let mut chances = vec![0.0; cells as usize + 1];
    chances[0] = 1.0;
    (0..items as u64).for_each(|_| throw_one(&mut chances));
    chances
}

/// Throws one item more, which lands in a used cell or an empty one.
fn throw_one(chances: &mut [f64]) {
    let cells = chances.len() - 1;
    // From the back, so that each entry is computed from entries of before this item.
    for used in (1..=cells).rev() {
        let found_empty = chances[used - 1] * (cells - (used - 1)) as f64;
        chances[used] = (chances[used] * used as f64 + found_empty) / cells as f64;
    }
    chances[0] = 0.0;
}

/// Returns the probability that a standard normal variable is above `z`.
fn normal_above(z: f64) -> f64 {
    0.5 * libm::erfc(z / std::f64::consts::SQRT_2)
}

/// Returns the least number of items that use at least `used` cells with at least the given
/// probability.
pub(super) fn least_items(used: f64, cells: f64, probability: f64) -> f64 {
    first_from(used, |items| Throw::new(items, cells).at_least_used(used) >= probability)
}

/// Returns the largest number of items that use at most `used` cells with at least the given
/// probability. For a full table it is infinite, because more items never make a full table
/// unlikely.
pub(super) fn most_items(used: f64, cells: f64, probability: f64) -> f64 {
    if used >= cells {
        return f64::INFINITY;
    }
    first_from(used + 1.0, |items| Throw::new(items, cells).at_most_used(used) < probability) - 1.0
}

/// Returns the first whole number, from `start` on, for which `answer` is true. It must stay true
/// from there on.
fn first_from(start: f64, answer: impl Fn(f64) -> bool) -> f64 {
    if answer(start) {
        return start;
    }
    let (mut no, mut step) = (start, 1.0);
    while !answer(no + step) {
        no += step;
        step *= 2.0;
    }
    let mut yes = no + step;
    while yes - no > 1.0 {
        let middle = libm::floor(f64::midpoint(no, yes));
        if answer(middle) { yes = middle } else { no = middle }
    }
    yes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distribution_counts_every_way() {
        // Three items in two cells: 2 of 8 ways use one cell.
        assert_eq!(distribution(3.0, 2.0), [0.0, 0.25, 0.75]);
        // Three in four: 4 of 64 ways use one cell, 24 use three.
        assert_eq!(distribution(3.0, 4.0), [0.0, 0.0625, 0.5625, 0.375, 0.0]);
        assert_eq!(distribution(0.0, 1.0), [1.0, 0.0]);
    }

    #[test]
    fn moments_are_those_of_the_distribution() {
        let sizes = [(1, 1), (5, 1), (1, 2), (3, 2), (1, 64), (2, 64), (40, 64), (300, 64), (90, 1000)];
        for (items, cells) in sizes.map(|(items, cells)| (f64::from(items), f64::from(cells))) {
            let chances = distribution(items, cells);
            let expected = |value: &dyn Fn(f64) -> f64| -> f64 {
                chances.iter().enumerate().map(|(used, p)| p * value(used as f64)).sum()
            };
            let mean = expected(&|used| used);
            let variance = expected(&|used| (used - mean) * (used - mean));
            let throw = Throw::new(items, cells);
            assert!((cells - throw.empty - mean).abs() < 1e-9, "{throw:?}, mean {mean}");
            assert!((throw.collisions - (items - mean)).abs() < 1e-9, "{throw:?}, mean {mean}");
            assert!((throw.variance - variance).abs() < 1e-9, "{throw:?}, variance {variance}");
        }
    }

    /// Computes (not samples) the probability that the bounds hold, for every number of items up to
    /// twice what fills the table on average.
    #[test]
    fn bounds_hold_the_truth_as_often_as_promised() {
        for cells in [1.0, 2.0, 3.0, 8.0, 64.0, 65.0, 100.0, 256.0, 2_000.0] {
            let levels = [(0.5, 0.005), (0.95, 0.002), (0.999, 0.0015)];
            let bounds = levels.map(|(level, _)| {
                let unlikely = (1.0 - level) / 2.0;
                let of = |used| (least_items(used, cells, unlikely), most_items(used, cells, unlikely));
                (1..=cells as u32).map(|used| of(f64::from(used))).collect::<Vec<_>>()
            });
            let mut chances = distribution(0.0, cells);
            for items in 1..=(2.0 * cells * libm::log(cells)) as u32 + 4 {
                throw_one(&mut chances);
                let items = f64::from(items);
                for (bounds, (level, slack)) in bounds.iter().zip(levels) {
                    let holds = |(lower, upper): &(f64, f64)| *lower <= items && items <= *upper;
                    let held: f64 =
                        chances[1..].iter().zip(bounds).map(|(p, b)| if holds(b) { *p } else { 0.0 }).sum();
                    assert!(held >= level - slack, "{items} in {cells}: {held} instead of {level}");
                }
            }
        }
    }

    #[test]
    fn bounds_enclose_and_end_everywhere() {
        for cells in [1.0, 2.0, 64.0, 1e6, 68_719_476_736.0] {
            for share in [0.0, 0.001, 0.3, 0.9, 0.999_999, 1.0] {
                let used = libm::ceil(cells * share).max(1.0);
                for probability in [0.499_999_999, 0.025, 5e-13] {
                    let (least, most) =
                        (least_items(used, cells, probability), most_items(used, cells, probability));
                    assert!(used <= least && least <= most, "{used} of {cells}: {least} to {most}");
                    assert_eq!(most.is_infinite(), used == cells);
                }
            }
        }
    }
}
