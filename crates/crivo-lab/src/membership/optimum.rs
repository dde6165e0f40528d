//! The best number of hash functions is a global optimum.
//!
//! With `x = e^(−kn/L)` the logarithm of the rate is `−(L/n) ln x ln(1 − x)`, symmetric in `x` and
//! `1 − x`. Its only stationary point is `x = 1/2`, that is `k = (L/n) ln 2`: the derivative
//! `ln(1 − x) + ln(1/x)·x/(1 − x)` is negative before and positive after it. Here its sign is
//! tested on a fine grid, without any randomness.

use libm::{exp, log, log1p};

use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "optimum-k",
    title: "The optimum of k is global",
    claim: "For a fixed n/L the false-positive rate (1 − e^(−nk/L))^k has a single minimum over all k > 0, at \
            k = (L/n) ln 2.",
    sources: &[(Text::Chapter, "exercise 5.2")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, log(2.0)),
};

/// Returns `d/dk` of the logarithm of the rate.
fn slope(k: f64, bits: f64) -> f64 {
    let x = exp(-k / bits);
    log1p(-x) + k / bits * x / (1.0 - x)
}

/// `constant` replaces `ln 2` in the theory.
fn measure(context: &Context<'_>, constant: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let steps = context.size(2_000, 100_000, 1_000_000);
    report.parameter("steps", steps);
    let mut part = Section::numbers("Where the rate stops falling");
    let mut curve = Section::curve("The best k", "bits a key", "k");
    for bits in [0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 16.0, 32.0] {
        context.advance(1, 2)?;
        // The grid begins far below the optimum and ends far above it, in equal ratios.
        let at = |step: usize| bits * exp(log(1e-4) + step as f64 / steps as f64 * log(1e5));
        let mut changes = 0;
        let mut place = 0.0;
        for step in 0..steps {
            let (here, next) = (slope(at(step), bits), slope(at(step + 1), bits));
            if (here < 0.0) != (next < 0.0) {
                changes += 1;
                place = at(step);
            }
        }
        part.equal(format!("changes of sign of the slope, {bits} bits a key"), f64::from(changes), 1.0);
        curve.exact_at(bits, place, bits * constant, bits * constant * 12.0 / steps as f64);
        let rate = |k: f64| exp(k * log1p(-exp(-k / bits)));
        part.exact(
            format!("rate there, {bits} bits a key"),
            rate(bits * log(2.0)),
            libm::pow(0.618_503, bits),
            1e-5,
        );
    }
    report.add(curve);
    report.add(part);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn another_constant_is_refuted() {
        for wrong in [0.68, 0.71] {
            assert_eq!(verdict("optimum-k", |context| measure(context, wrong)), Verdict::Refuted);
        }
    }
}
