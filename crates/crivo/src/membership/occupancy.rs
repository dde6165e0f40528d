//! How many items, from the number of empty cells?
//!
//! `n` keys throw `k` balls each into `m` cells. The number `z` of cells that stay empty has the
//! mean `m·e^(−λ)` with `λ = kn/m`, and the variance `m·e^(−2λ)·(e^λ − 1 − λ)`. So `n` is estimated
//! by `(m/k)·ln(m/z)` with the standard error `√(m(e^λ − 1 − λ))/k`. Its first-order bias is that
//! of the logarithm, and is removed by adding a share of half a cell to `z`.
//!
//! Bounds are the loads at which `z` would be just too far from its mean to be believed. Half a
//! cell is granted to both sides because cells are whole (a score interval with a correction for
//! continuity). "Estimate ± deviations" fails with a handful of items, where chance can cause a
//! single collision of cells at most. It also fails with a handful of empty cells, where the errors
//! are far from normal. These bounds hold in both cases. If no cell is empty there is no upper
//! bound.
//!
//! The number of items that two filters share follows from three such counts,
//! `|A ∩ B| = |A| + |B| − |A ∪ B|`. The errors of the three are correlated. Let `s` be the load of
//! the shared items, `α` that of the items only in the first filter, and `β` that of the items only
//! in the second. Then the variance of the shared load is
//! `(e^s·(e^α − 1)(e^β − 1) + e^s − 1 − s)/m`, by the delta method from the covariances of the
//! three numbers of empty cells. The product dominates: a small intersection of large sets is lost
//! in the noise of the cells that they share by chance. Bounds are found as above.
//!
//! If the cells of a key lie together in one block, keys that share a block disturb each other in
//! all its words. With `e(λ) = e^λ − 1 − λ` in the formulas above, a block of `w` words of `b`
//! cells has `e(λ) + (w − 1)·b·e(λ/b)` instead. The same holds for two filters. The means do not
//! change.
//!
//! Sources: Whang, Vander-Zanden, Taylor: *A linear-time probabilistic counting algorithm* (1990),
//! for one set; Wilson: *Probable inference, the law of succession, and statistical inference*
//! (1927), for intervals from the score; Swamidass and Baldi: *Mathematical correction for
//! fingerprint similarity measures* (2007), for the intersection. The variance of the latter is
//! derived here.

use crate::estimate::{Confidence, Estimate};
use crate::math::{excess, two_sided_quantile};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// A count of cells may be off by this much without any evidence, because cells are whole.
const HALF_A_CELL: f64 = 0.5;

/// The shape of a filter, as far as it matters for counting empty cells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Occupancy {
    pub(super) cells: u64,
    pub(super) hashes: u32,
    /// The cells in each word of a block, if a key has one cell in each word of one block.
    pub(super) word: Option<u32>,
}

impl Occupancy {
    /// Returns the number of different items that leave `empty` cells empty.
    pub(super) fn items(self, empty: u64, confidence: Confidence) -> Estimate {
        if empty == self.cells {
            return Estimate::exact(0.0);
        }
        let value = self.items_at(self.load(empty));
        // At least this many items were inserted, because fewer items cannot fill the cells in use.
        let least = (self.cells - empty).div_ceil(self.hashes.into()) as f64;
        if confidence.is_certain() {
            return Estimate::certain(value, least, f64::INFINITY).limited_to(least, f64::INFINITY);
        }
        let reach = two_sided_quantile(confidence.level());
        let (cells, used) = (self.cells as f64, (self.cells - empty) as f64);
        // How many more cells should be empty at a load than are empty, and the spread of that
        // number.
        let surplus = |load: f64| used + cells * libm::expm1(-load);
        let spread = |load: f64| libm::exp(-load) * (cells * self.noise(load, 0.0, 0.0)).sqrt();
        // Above this load, no cell would be empty.
        let highest = libm::log(cells) + 50.0;
        let lower = root(highest, |load| surplus(load) - HALF_A_CELL - reach * spread(load));
        let upper = if empty == 0 {
            f64::INFINITY
        } else {
            self.items_at(root(highest, |load| surplus(load) + HALF_A_CELL + reach * spread(load)))
        };
        Estimate::probable(value, self.items_at(lower), upper, confidence).limited_to(least, f64::INFINITY)
    }

    /// Returns the number of items that two filters share, from the numbers of empty cells of each
    /// and of their union.
    pub(super) fn shared_items(
        self,
        first: u64,
        second: u64,
        union: u64,
        confidence: Confidence,
    ) -> Estimate {
        if first == self.cells || second == self.cells {
            return Estimate::exact(0.0);
        }
        let cells = self.cells as f64;
        let [a, b, all] = [first, second, union].map(|empty| self.load(empty));
        let most = a.min(b);
        let value = self.items_at((a + b - all).clamp(0.0, most));
        // Not more items are shared than the smaller set has.
        let limits = [first, second].map(|empty| self.items(empty, confidence).upper());
        let limit = limits[0].min(limits[1]);
        if confidence.is_certain() {
            return Estimate::certain(value, 0.0, limit);
        }
        let reach = two_sided_quantile(confidence.level());
        let spread = |shared: f64| (self.noise(shared, a - shared, b - shared) / cells).sqrt();
        let found = |empty: f64| a + b - libm::log(cells / empty);
        let (fewest, largest) =
            (found((union as f64 - HALF_A_CELL).max(0.0)), found(union as f64 + HALF_A_CELL));
        let lower = root(most, |shared| fewest - shared - reach * spread(shared));
        let upper = root(most, |shared| largest - shared + reach * spread(shared));
        let upper = if upper < most { self.items_at(upper) } else { limit };
        Estimate::probable(value, self.items_at(lower), upper, confidence).limited_to(0.0, limit)
    }

    /// Returns the variance of the estimated load of the shared items, times the number of cells.
    /// The arguments are three loads. They are those of the shared items, of the items only in the
    /// first filter, and of the items only in the second. For a single filter the last two are 0.
    fn noise(self, shared: f64, only_first: f64, only_second: f64) -> f64 {
        let of_cells = |scale: f64| {
            let both = libm::expm1(only_first / scale) * libm::expm1(only_second / scale);
            libm::exp(shared / scale) * both + excess(shared / scale)
        };
        let of_blocks = self.word.map_or(0.0, |word| {
            let word = f64::from(word);
            f64::from(self.hashes - 1) * word * of_cells(word)
        });
        of_cells(1.0) + of_blocks
    }

    /// Returns `λ`, the estimated number of balls thrown at each cell, from the number of empty
    /// cells.
    fn load(self, empty: u64) -> f64 {
        let (cells, used) = (self.cells as f64, (self.cells - empty) as f64);
        let uncorrected = -libm::log1p(-used / cells);
        let share = if empty == 0 { 1.0 } else { libm::exp(-uncorrected) * excess(uncorrected) };
        -libm::log1p(-(used - HALF_A_CELL * share) / cells)
    }

    /// Returns the number of items that throw `load` balls at each cell.
    fn items_at(self, load: f64) -> f64 {
        let (cells, hashes) = (self.cells as f64, f64::from(self.hashes));
        // The amount by which one item lowers the logarithm of the probability that a cell stays
        // empty. Its balls are thrown one by one, or one into each word, never two at the same
        // cell.
        let of_one = match self.word {
            None => hashes * -libm::log1p(-1.0 / cells),
            Some(_) => -libm::log1p(-hashes / cells),
        };
        load / of_one
    }
}

/// Returns the zero of a function that decreases from 0 to `highest`. If it has none, returns the
/// nearer end.
///
/// Unlike [`crossing`](crate::math::crossing), it finds a tiny zero to the same relative precision.
/// Ridders' method: the middle of the bracket and an exponential through its three points give the
/// next point. It needs a dozen evaluations where bisection needs fifty.
fn root(highest: f64, function: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = ((0.0, function(0.0)), (highest, function(highest)));
    if low.1 <= 0.0 || high.1 >= 0.0 {
        return if low.1 <= 0.0 { low.0 } else { high.0 };
    }
    let mut found = f64::INFINITY;
    for _ in 0..100 {
        let at = f64::midpoint(low.0, high.0);
        let middle = (at, function(at));
        let at = at + (at - low.0) * middle.1 / (middle.1 * middle.1 - low.1 * high.1).sqrt();
        let next = (at, function(at));
        for point in [middle, next] {
            if point.1 > 0.0 && point.0 >= low.0 {
                low = point;
            } else if point.1 <= 0.0 && point.0 <= high.0 {
                high = point;
            }
        }
        let moved = (at - found).abs();
        found = at;
        if moved <= 1e-12 * at {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEVELS: [f64; 5] = [1e-9, 0.5, 0.95, 0.99, 1.0 - 1e-12];

    fn confidences() -> impl Iterator<Item = Confidence> {
        LEVELS.into_iter().map(|level| Confidence::new(level).unwrap()).chain([Confidence::CERTAIN])
    }

    fn is_sound(estimate: Estimate) -> bool {
        estimate.lower() <= estimate.value() && estimate.value() <= estimate.upper()
    }

    /// From one cell to 2^43, from empty to full, at every confidence: bounds contain the value,
    /// are not NaN, and widen with the confidence.
    #[test]
    fn extremes_give_numbers_in_order() {
        for cells in [1, 2, 3, 64, 1000, 1 << 20, 1 << 43] {
            for hashes in [1, 7, 64] {
                let shape = Occupancy { cells, hashes, word: None };
                for used in [0, 1, 2, cells / 2, cells - 1, cells].into_iter().filter(|&used| used <= cells) {
                    let mut before = Estimate::exact(shape.items(cells - used, Confidence::P95).value());
                    for confidence in confidences() {
                        let items = shape.items(cells - used, confidence);
                        assert!(is_sound(items), "{shape:?}, {used} used: {items:?}");
                        assert!(items.lower() <= before.lower() && items.upper() >= before.upper());
                        assert!(is_sound(shape.shared_items(
                            cells - used,
                            cells - 1,
                            cells - used,
                            confidence
                        )));
                        before = items;
                    }
                }
            }
        }
    }

    #[test]
    fn nothing_is_certain_to_be_nothing_and_full_has_no_upper_end() {
        let shape = Occupancy { cells: 1000, hashes: 3, word: None };
        assert_eq!(shape.items(1000, Confidence::P95), Estimate::exact(0.0));
        assert_eq!(shape.shared_items(1000, 500, 500, Confidence::P95), Estimate::exact(0.0));
        let full = shape.items(0, Confidence::P95);
        assert!(full.upper().is_infinite() && full.lower() >= 334.0, "{full:?}");
        let both = shape.shared_items(0, 500, 0, Confidence::P95);
        assert!(both.lower() == 0.0 && both.upper().is_finite(), "{both:?}");
    }

    /// One key in a filter of a terabyte is one key.
    #[test]
    fn tiny_loads_keep_their_precision() {
        let shape = Occupancy { cells: 1 << 43, hashes: 1, word: None };
        for used in [1, 10, 1000] {
            let items = shape.items(shape.cells - used, Confidence::P95);
            assert!((items.value() - used as f64).abs() < 1e-3, "{items:?}");
            assert!(items.lower() >= used as f64 && items.upper() < used as f64 + 1.0, "{items:?}");
        }
    }

    /// The distribution of the number of cells in use is computed ball by ball, so the test is
    /// deterministic. At every number of items the 95 % interval holds with at least that
    /// probability, and the estimate is off by less than a fiftieth of its deviation on average.
    #[test]
    fn intervals_hold_by_exact_enumeration() {
        for (cells, hashes) in [(16, 1), (64, 3), (64, 7), (256, 1), (256, 7)] {
            let shape = Occupancy { cells, hashes, word: None };
            let m = cells as f64;
            let answers: Vec<Estimate> =
                (0..=cells).map(|used| shape.items(cells - used, Confidence::P95)).collect();
            let mut chances = vec![0.0; cells as usize + 1];
            chances[0] = 1.0;
            for items in 1..=5 * cells / u64::from(hashes) {
                for _ in 0..hashes {
                    for used in (1..=cells as usize).rev() {
                        chances[used] *= used as f64 / m;
                        chances[used] += chances[used - 1] * (m - (used - 1) as f64) / m;
                    }
                    chances[0] = 0.0;
                }
                let mean = |of: &dyn Fn(Estimate) -> f64| -> f64 {
                    chances.iter().zip(&answers).map(|(chance, &answer)| chance * of(answer)).sum()
                };
                let coverage = mean(&|answer| f64::from(u8::from(answer.covers(items as f64))));
                assert!(coverage >= 0.9499, "{shape:?}, {items} items: {coverage}");
                let load = items as f64 * f64::from(hashes) / m;
                let deviation = (m * excess(load)).sqrt() / f64::from(hashes);
                let bias = (mean(&Estimate::value) - items as f64) / deviation;
                if cells == 256 && load > 0.5 && load < 3.5 {
                    assert!(bias.abs() < 0.02, "{shape:?}, {items} items: {bias}");
                }
            }
        }
    }

    #[test]
    fn root_is_found_in_few_steps_whatever_its_size() {
        for root_at in [1e-13, 1e-6, 0.03, 0.7, 5.0, 60.0] {
            let steps = std::cell::Cell::new(0);
            let found = root(80.0, |x| {
                steps.set(steps.get() + 1);
                libm::exp(-x) - libm::exp(-root_at)
            });
            assert!((found / root_at - 1.0).abs() < 1e-3, "{found} instead of {root_at}");
            assert!(steps.get() < 60, "{} steps to {root_at}", steps.get());
        }
        assert_eq!(root(3.0, |_| 1.0), 3.0);
        assert_eq!(root(3.0, |_| -1.0), 0.0);
    }
}
