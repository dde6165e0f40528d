//! The number of bits: from one to ten for each key, each with the best number of hash functions.
//!
//! At ten bits a key and `k = 7` the rate is 0.82 %. Each additional bit multiplies it by 0.6185.

use libm::{log, pow, round};

use super::{Probed, rate};
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "bloom-size",
    title: "Bloom filter: the rate as it grows",
    claim: "From one to ten bits a key the false-positive rate follows (1 − e^(−kn/m))^k with the best k, down to 0.82 % \
            at ten bits.",
    sources: &[(Text::Project, "§2.3.5, figures 2.5–2.6"), (Text::Chapter, "theorem 5.6")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, log(2.0)),
};

/// `log_of_two` replaces `ln 2` in the theory of how fast the rate falls.
fn measure(context: &Context<'_>, log_of_two: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let items = context.size(5_000, 20_000, 97_591);
    let (filters, probes) = (context.size(4, 8, 8), context.size(20_000, 300_000, 2_000_000));
    report.parameter("items", items);
    report.parameter("filters", filters);
    report.parameter("probes", probes);
    let mut rates = Section::curve("False positives with the best k", "bits a key", "rate").log_y();
    let mut random = context.random("filters");
    for halves in 2..=20_u64 {
        context.advance(halves as usize, 20)?;
        let bits = items * halves / 2;
        let a_key = halves as f64 / 2.0;
        let hashes = round(a_key * log(2.0)).max(1.0);
        let probed = Probed::measure(bits, hashes as u32, items, filters, probes, &mut random)?;
        rates.at(a_key, probed.check_rate(rate(bits as f64, hashes, items as f64), hashes));
    }
    rates.show(
        "0.6185^(m/n)",
        (2..=20).map(|halves| (f64::from(halves) / 2.0, pow(0.6185, f64::from(halves) / 2.0))),
    );
    report.add(rates);
    let mut part = Section::numbers("Ten bits a key");
    part.exact("rate with k = 7", rate(1e10, 7.0, 1e9), 0.0082, 5e-5);
    part.exact("the factor for each bit, (1/2)^(ln 2)", pow(0.5, log_of_two), 0.6185, 5e-5);
    part.exact("rate with the best k that is no whole number", pow(0.5, 10.0 * log_of_two), 0.0082, 5e-5);
    report.add(part);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn seven_tenths_for_the_logarithm_of_two_is_refuted() {
        assert_eq!(verdict("bloom-size", |context| measure(context, 0.7)), Verdict::Refuted);
    }
}
