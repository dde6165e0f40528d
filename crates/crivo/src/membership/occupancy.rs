//! How many items, from the number of empty cells?
//!
//! `n` keys throw `k` balls each into `m` cells. The number `z` of cells that stay empty has the mean
//! `m·e^(−λ)` with `λ = kn/m`, and its logarithm the variance `(e^λ − 1 − λ)/m`, so that `n` is
//! estimated by `(m/k)·ln(m/z)` with the standard error `√(m(e^λ − 1 − λ))/k`.
//!
//! What two filters share follows from three such counts, `|A ∩ B| = |A| + |B| − |A ∪ B|`. The errors
//! of the three are correlated; together they come to
//! `m(e^λ∪ − e^λA − e^λB + 2e^λ∩ − 1 − λ∩)/k²`, by the delta method from the covariances of the
//! three numbers of empty cells. The first term rules: a small intersection of large sets is lost
//! in the noise of the cells they have in common by chance.
//!
//! Sources: Whang, Vander-Zanden, Taylor: *A linear-time probabilistic counting algorithm* (1990),
//! for one set; Swamidass and Baldi: *Mathematical correction for fingerprint similarity measures*
//! (2007), for the intersection. The variance of the latter is derived here.

use crate::estimate::{Confidence, Estimate};
use crate::math::two_sided_quantile;

/// The shape of a filter, as far as counting empty cells goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Occupancy {
    pub(super) cells: u64,
    pub(super) hashes: u32,
}

impl Occupancy {
    /// The number of items that leave `empty` cells.
    pub(super) fn items(self, empty: u64, confidence: Confidence) -> Estimate {
        if empty == self.cells {
            return Estimate::exact(0.0);
        }
        if empty == 0 {
            return self.items_when_full(confidence);
        }
        let load = self.load(empty);
        let deviation = (self.cells as f64 * (libm::expm1(load) - load)).sqrt() / f64::from(self.hashes);
        // Something was inserted, and never more cells are in use than that many items can fill.
        let least = (self.cells - empty).div_ceil(self.hashes.into()) as f64;
        self.interval(self.items_at(load), deviation, confidence).limited_to(least, f64::INFINITY)
    }

    /// With no cell empty any number is possible that fills them all; there is no upper bound.
    fn items_when_full(self, confidence: Confidence) -> Estimate {
        // The chance of no empty cell is e^(−m·e^(−λ)).
        let load_of = |chance: f64| libm::log(self.cells as f64 / -libm::log(chance));
        let unlikely = (1.0 - confidence.level()) / 2.0;
        let (value, lower) = (self.items_at(load_of(0.5)), self.items_at(load_of(unlikely)));
        let least = self.cells.div_ceil(self.hashes.into()) as f64;
        Estimate::probable(value, lower, f64::INFINITY, confidence).limited_to(least, f64::INFINITY)
    }

    /// The number of items that two filters share, from the empty cells of each and of their union.
    pub(super) fn shared_items(
        self,
        first: u64,
        second: u64,
        union: u64,
        confidence: Confidence,
    ) -> Estimate {
        let most = [first, second].map(|empty| self.items(empty, confidence).upper());
        let most = most[0].min(most[1]);
        if union == 0 || first == self.cells || second == self.cells {
            return Estimate::probable(0.0, 0.0, most, confidence);
        }
        let [a, b, all] = [first, second, union].map(|empty| self.load(empty));
        let shared = (a + b - all).max(0.0);
        let variance =
            libm::expm1(all) - libm::expm1(a) - libm::expm1(b) + 2.0 * libm::expm1(shared) - shared;
        let deviation = (self.cells as f64 * variance.max(0.0)).sqrt() / f64::from(self.hashes);
        self.interval(self.items_at(shared), deviation, confidence).limited_to(0.0, most)
    }

    /// `λ`: how many balls were thrown at each cell.
    fn load(self, empty: u64) -> f64 {
        -libm::log(empty as f64 / self.cells as f64)
    }

    /// The number of items that throw `load` balls at each cell.
    fn items_at(self, load: f64) -> f64 {
        load / (-libm::log1p(-1.0 / self.cells as f64) * f64::from(self.hashes))
    }

    /// Bounds are rounded outwards to whole items: with few items a single collision of cells, which
    /// is all that chance can bring, is larger than the deviation.
    fn interval(self, value: f64, deviation: f64, confidence: Confidence) -> Estimate {
        let width = two_sided_quantile(confidence.level()) * deviation;
        Estimate::probable(value, libm::floor(value - width), libm::ceil(value + width), confidence)
    }
}
