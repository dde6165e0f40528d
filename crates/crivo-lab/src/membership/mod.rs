//! Membership in a set: Bloom filters, and structures based on them.
//!
//! All experiments here use two facts. An absent key is reported as present exactly if its `k` bits
//! are set. So if the share of set bits is `f`, that happens with probability `f^k`: given the
//! fill, the number of false positives is binomial. The fill of `m` bits after `n` keys is
//! `1 − (1 − 1/m)^(kn)` on average. Its deviation is at most `√(f(1 − f)/m)`, because set bits are
//! negatively associated.

pub(crate) mod counting_filter;
pub(crate) mod hashes;
pub(crate) mod memory;
pub(crate) mod optimum;
pub(crate) mod practice;
pub(crate) mod semi_join;
pub(crate) mod sets;
pub(crate) mod size;

use crivo::keys::KeyScheme;
use crivo::membership::Bloom;
use libm::{exp, log1p, pow, sqrt};

use crate::prelude::*;

/// Returns `(1 − e^(−kn/m))^k`, the false positive rate.
fn rate(bits: f64, hashes: f64, items: f64) -> f64 {
    pow(fill(bits, hashes, items), hashes)
}

/// Returns the share of set bits.
fn fill(bits: f64, hashes: f64, items: f64) -> f64 {
    1.0 - exp(hashes * items * log1p(-1.0 / bits))
}

/// The results of several filters of one kind.
#[derive(Debug, Default)]
struct Probed {
    bits: f64,
    filters: u64,
    fills: f64,
    /// The number of absent keys that were queried, the number of false positives, and the expected
    /// number for that many filters.
    probes: u64,
    found: u64,
    expected: f64,
}

impl Probed {
    /// Fills filters with random keys and queries absent ones.
    fn measure(
        bits: u64,
        hashes: u32,
        items: u64,
        filters: u64,
        probes: u64,
        random: &mut Random,
    ) -> Result<Self> {
        let mut probed = Self { bits: bits as f64, ..Self::default() };
        for _ in 0..filters {
            let mut filter = Bloom::with_scheme(bits, hashes, KeyScheme::hashes())?;
            random.feed(&mut filter, items);
            probed.ask(&filter, probes, random);
        }
        Ok(probed)
    }

    /// Queries absent keys in one filter.
    fn ask(&mut self, filter: &Bloom, probes: u64, random: &mut Random) {
        self.bits = filter.bits() as f64;
        self.filters += 1;
        self.fills += filter.fill();
        self.probes += probes;
        self.expected += probes as f64 * pow(filter.fill(), filter.hashes().into());
        let (mut hashes, mut found) = (vec![0; 1024], Vec::new());
        let mut left = probes as usize;
        while left > 0 {
            let batch = &mut hashes[..left.min(1024)];
            random.fill(batch);
            filter.contains_hashes(batch, &mut found);
            self.found += found.iter().filter(|&&found| found).count() as u64;
            left -= batch.len();
        }
    }

    /// Checks the share of false positives, given the fills of the filters.
    fn check_given_fill(&self) -> Measure {
        let chance = self.expected / self.probes as f64;
        Measure::Share { successes: self.found, trials: self.probes, chance, side: Side::Both }
    }

    /// Compares the mean fill with that of the theory.
    fn check_fill(&self, theory: f64) -> Measure {
        let deviation = sqrt(theory * (1.0 - theory) / self.bits / self.filters as f64);
        let observed = self.fills / self.filters as f64;
        Measure::Normal { observed, theory, deviation, trials: self.filters, side: Side::Both }
    }

    /// Compares the share of false positives with a rate, given the noise of the probes and of the
    /// filters' fills.
    fn check_rate(&self, theory: f64, hashes: f64) -> Measure {
        let fill = pow(theory, 1.0 / hashes);
        let of_fill = hashes * sqrt((1.0 - fill) / fill / self.bits / self.filters as f64);
        let of_probes = sqrt((1.0 - theory) / theory / self.probes as f64);
        Measure::Normal {
            observed: self.found as f64 / self.probes as f64,
            theory,
            deviation: theory * sqrt(of_fill * of_fill + of_probes * of_probes),
            trials: self.probes,
            side: Side::Both,
        }
    }
}
