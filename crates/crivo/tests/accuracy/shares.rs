//! Shares: how often something happened, held to how often it should.
//!
//! Some estimates have no mean to measure (one smallest hash, one longest run of zeros). What they
//! have is a distribution, which theory gives exactly; each of its quantiles is a share of trials.

use crivo::sketch::InsertHashes;

use super::support::Random;

/// The chance that a check fails a correct estimator must not exceed this.
const FALSE_ALARM: f64 = 1e-6;

/// How often something happened in many independent trials.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Share {
    trials: f64,
    successes: f64,
}

impl Share {
    pub(crate) fn add(&mut self, success: bool) {
        self.trials += 1.0;
        self.successes += f64::from(u8::from(success));
    }

    pub(crate) fn value(&self) -> f64 {
        self.successes / self.trials
    }

    /// How much the share says against a chance: the logarithm of Chernoff's bound on how likely so
    /// large a deviation, on this side, would be.
    fn evidence_against(&self, chance: f64) -> f64 {
        let term = |share: f64, chance: f64| if share > 0.0 { share * (share / chance).ln() } else { 0.0 };
        self.trials * (term(self.value(), chance) + term(1.0 - self.value(), 1.0 - chance))
    }

    /// Whether the chance may be what theory says; wrong with a probability of at most 10⁻⁶.
    pub(crate) fn fits(&self, chance: f64) -> bool {
        self.evidence_against(chance) <= (2.0 / FALSE_ALARM).ln()
    }

    /// Whether the chance may be at least so high.
    pub(crate) fn may_reach(&self, chance: f64) -> bool {
        self.value() >= chance || self.evidence_against(chance) <= (1.0 / FALSE_ALARM).ln()
    }
}

/// Inserts `count` random hashes.
pub(crate) fn feed(sketch: &mut impl InsertHashes, count: u64, random: &mut Random) {
    let mut hashes = [0; 512];
    let mut left = count as usize;
    while left > 0 {
        let batch = &mut hashes[..left.min(512)];
        random.fill(batch);
        sketch.insert_hashes(batch);
        left -= batch.len();
    }
}
