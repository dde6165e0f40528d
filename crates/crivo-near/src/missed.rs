//! Estimates the number of pairs that no band or probe made candidates.
//!
//! A pair of similarity `J` becomes a candidate by bands with probability `P(J)`, a pair of
//! containment `c` by enough [probes](crate::containment) with probability `P(c)`. So each found
//! pair represents `1/P` pairs, and `1/P − 1` of these were missed
//! ([`expected_missed`](crivo::similarity::Bands::expected_missed)). That formula assumes
//! independent pairs. In a cluster they are not: a document whose bands were unlucky misses several
//! partners at once. So the variance treats pairs of one document as fully dependent: `Σ v + Σ_d
//! Σ_{p ≠ q of d} √(v_p·v_q)`, with `v = (1 − P)/P²`. For pairs that share no document both
//! variances are the same.

use crivo::math::two_sided_quantile;
use crivo::{Confidence, Estimate};

/// Sums over the pairs that were found.
pub(crate) struct Missed {
    expected: f64,
    variance: f64,
    any: bool,
    /// For each member, the sum of the standard deviations of its pairs.
    deviations: Vec<f32>,
}

impl Missed {
    pub(crate) fn new(members: usize) -> Self {
        Self { expected: 0.0, variance: 0.0, any: false, deviations: vec![0.0; members] }
    }

    /// Adds a pair of contents that became a candidate with this probability and represents
    /// `weight` pairs of documents.
    pub(crate) fn add(&mut self, one: u32, other: u32, probability: f64, weight: f64) {
        let probability = probability.max(f64::MIN_POSITIVE);
        let others = (1.0 - probability) / probability;
        let variance = others / probability * weight * weight;
        self.any = true;
        self.expected += others * weight;
        self.variance += variance;
        let deviation = variance.sqrt() as f32;
        self.deviations[one as usize] += deviation;
        self.deviations[other as usize] += deviation;
    }

    /// Estimates the number of missed pairs. If no pair was found, the bounds are for pairs at the
    /// threshold, which are the easiest to miss: each is found with probability `least`. Of `n`
    /// such pairs all are missed with probability `(1 − P)^n`.
    pub(crate) fn estimate(&self, least: f64, confidence: Confidence) -> Estimate {
        if !self.any {
            let missed = 1.0 - least;
            let most =
                if missed > 0.0 { ((1.0 - confidence.level()).ln() / missed.ln()).floor() } else { 0.0 };
            return Estimate::probable(0.0, 0.0, most, confidence);
        }
        if self.expected == 0.0 {
            return Estimate::probable(0.0, 0.0, 0.0, confidence);
        }
        // Each pair is in the sums of two documents.
        let of_documents: f64 = self.deviations.iter().map(|&sum| f64::from(sum).powi(2)).sum();
        let variance = (of_documents - self.variance).max(self.variance);
        // The variance grows with the true number, so the bounds solve (estimate − truth)² = z² ·
        // truth · scale for the truth. The number of pairs is whole, so the bounds are widened to
        // whole numbers.
        let scale = variance / self.expected;
        let z = two_sided_quantile(confidence.level());
        let centre = self.expected + z * z * scale / 2.0;
        let width = z * (self.expected * scale + z * z * scale * scale / 4.0).sqrt();
        Estimate::probable(
            self.expected,
            (centre - width).floor().max(0.0),
            (centre + width).ceil(),
            confidence,
        )
    }
}

#[cfg(test)]
mod tests {
    use crivo::similarity::Bands;

    use super::*;

    #[test]
    fn separate_pairs_are_those_of_the_bands() {
        let bands = Bands::new(16, 6).unwrap();
        let mut missed = Missed::new(200);
        let met = bands.probability(0.8);
        (0..100).for_each(|pair| missed.add(2 * pair, 2 * pair + 1, met, 1.0));
        let [own, theirs] =
            [missed.estimate(met, Confidence::P95), bands.expected_missed(vec![0.8; 100]).unwrap()];
        assert!((own.value() - theirs.value()).abs() < 1e-9);
        assert_eq!((own.lower(), own.upper()), (theirs.lower(), theirs.upper()));
    }

    #[test]
    fn pairs_of_one_cluster_widen_the_bounds() {
        let bands = Bands::new(16, 6).unwrap();
        let mut cluster = Missed::new(20);
        let met = bands.probability(0.8);
        for one in 0..20 {
            (one + 1..20).for_each(|other| cluster.add(one, other, met, 1.0));
        }
        let alone = bands.expected_missed(vec![0.8; 190]).unwrap();
        assert!(cluster.estimate(met, Confidence::P95).upper() > alone.upper());
    }
}
