//! The sum of a stream, and the number of bits it takes.
//!
//! `n` numbers of `ℓ` bits add up to at most `n(2^ℓ − 1)`, so the sum fits in `ℓ + ⌈log₂ n⌉` bits
//! for every stream. So the classic algorithm already works for massive data. (The text bounds each
//! number by `2^(ℓ−1)`, half of the true maximum. Its conclusion about the order of growth is still
//! right.)

use libm::{log2, pow};

use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "stream-sum",
    title: "The sum of a stream and its bits",
    claim: "The sum of n numbers of ℓ bits is kept in one pass in ℓ + ⌈log₂ n⌉ bits, and no fewer do for every stream.",
    sources: &[(Text::Chapter, "§5.2, example 1")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, |length, n| length + libm::ceil(log2(n))),
};

/// `bits` is the number of bits that sums need, in theory.
fn measure(context: &Context<'_>, bits: impl Fn(f64, f64) -> f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let sizes = context.size(
        &[1_u64, 2, 10, 1_000, 50_000][..],
        &[1, 2, 10, 1_000, 100_000, 2_000_000],
        &[1, 2, 10, 1_000, 100_000, 10_000_000, 100_000_000],
    );
    let mut curve = Section::curve("Bits of the largest sum of 32-bit numbers", "numbers", "bits").log_x();
    let mut means = Section::numbers("Sums of random streams");
    let mut random = context.random("streams");
    let used = |sum: u128| f64::from(128 - sum.leading_zeros());
    for (step, &n) in sizes.iter().enumerate() {
        context.advance(step, sizes.len())?;
        for length in [8_u32, 32] {
            let largest = (1_u64 << length) - 1;
            let (mut sum, mut worst) = (0_u128, 0_u128);
            for _ in 0..n {
                sum += u128::from(random.bits() >> (64 - length));
                worst += u128::from(largest);
            }
            let allowed = bits(f64::from(length), n as f64);
            if length == 32 {
                curve.exact_at(n as f64, used(worst), allowed, 0.0);
            } else {
                means.exact(
                    format!("bits of the largest sum, {n} numbers of 8 bits"),
                    used(worst),
                    allowed,
                    0.0,
                );
            }
            means.between(format!("bits of a sum, {n} numbers of {length} bits"), used(sum), 0.0, allowed);
            let count = pow(2.0, f64::from(length));
            let (mean, variance) = ((count - 1.0) / 2.0, (count * count - 1.0) / 12.0);
            // A single uniform number is not normal, so only the range is checked.
            if n >= 1_000 {
                means.named(
                    format!("mean, {n} numbers of {length} bits"),
                    Measure::Normal {
                        observed: sum as f64 / n as f64,
                        theory: mean,
                        deviation: libm::sqrt(variance / n as f64),
                        trials: n,
                        side: Side::Both,
                    },
                );
            }
        }
    }
    report.add(curve);
    report.add(means);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn a_bit_less_is_refuted() {
        let wrong = |length: f64, n: f64| length + libm::ceil(log2(n)) - 1.0;
        assert_eq!(verdict("stream-sum", |context| measure(context, wrong)), Verdict::Refuted);
    }
}
