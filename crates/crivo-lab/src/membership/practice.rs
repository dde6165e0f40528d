//! A Bloom filter in use: the large test and the small one.
//!
//! The large test has 97,661 random texts of up to 50 characters, and a requested rate of 10⁻⁴. All
//! added texts are found. Of the others, the original found 12 of 96,872, which is a likely number
//! at that rate. The small test has sets of ten names.

use crivo::keys::KeyScheme;
use crivo::membership::Bloom;

use super::Probed;
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "bloom-practice",
    title: "Bloom filter: the big test and the small one",
    claim: "A filter made for 97,661 texts and a rate of 10^−4 finds every text that was added and about one in ten \
            thousand of the others, and so does one made for ten.",
    sources: &[(Text::Project, "§2.3.6, figure 2.7")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 1e-4),
};

/// `rate` replaces the requested rate in the theory.
fn measure(context: &Context<'_>, rate: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let (items, filters) = (context.size(20_000, 97_661, 97_661), context.size(2, 30, 30));
    let probes = context.size(500_000, 400_000, 10_000_000);
    report.parameter("items", items);
    report.parameter("filters", filters);
    report.parameter("probes", probes);
    let mut random = context.random("big");
    let (mut big, mut missing, mut said) = (Probed::default(), 0, 0.0);
    for number in 0..filters {
        context.advance(number, filters)?;
        let mut filter =
            Bloom::for_items_with_scheme(items, 1e-4, KeyScheme::bytes().with_seed(random.bits()))?;
        let texts: Vec<String> = (0..items).map(|i| format!("{i} {}", random.text(44))).collect();
        for text in &texts {
            filter.insert(text.as_str())?;
        }
        for text in &texts {
            missing += u64::from(!filter.contains(text.as_str())?);
        }
        said += filter.false_positive_rate() / filters as f64;
        big.ask(&filter, probes, &mut random);
    }
    let mut part = Section::numbers("The big test");
    part.equal("texts that were added and not found", missing as f64, 0.0);
    part.named("strangers found", big.check_rate(rate, 13.0));
    part.named("strangers found, given the fill", big.check_given_fill());
    // The rate is a thirteenth power, so its relative deviation is thirteen times that of the fill,
    // which is one half.
    part.named(
        "the rate that the filters say they have",
        Measure::Normal {
            observed: said,
            theory: rate,
            deviation: rate * 13.0 / libm::sqrt(big.bits * filters as f64),
            trials: filters as u64,
            side: Side::Both,
        },
    );
    part.named_share("the original's 12 of 96,872", 12, 96_872, rate);
    report.add(part);

    let mut random = context.random("small");
    let names = ["Ana", "Rui", "Inês", "João", "Marta", "Pedro", "Sofia", "Tiago", "Beatriz", "Miguel"];
    let (mut small, mut missing) = (Probed::default(), 0);
    for _ in 0..context.size(50, 300, 3_000) {
        let mut filter = Bloom::for_items_with_scheme(10, 0.01, KeyScheme::bytes().with_seed(random.bits()))?;
        for name in names {
            filter.insert(name)?;
        }
        for name in names {
            missing += u64::from(!filter.contains(name)?);
        }
        small.ask(&filter, context.size(2_000, 5_000, 5_000), &mut random);
    }
    let mut part = Section::numbers("The small test: ten names at 1 %");
    part.equal("names that were added and not found", missing as f64, 0.0);
    part.named("strangers found, given the fill", small.check_given_fill());
    report.add(part);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::{is_refuted_at_usual_scale, verdict};

    /// One event in ten thousand is too rare to detect this by counting, even at the usual scale.
    /// But the rate is the thirteenth power of the fill, so the fills of thirty filters show it.
    #[test]
    fn a_rate_wrong_by_three_percent_is_refuted() {
        is_refuted_at_usual_scale("bloom-practice", &[0.97e-4, 1.03e-4], measure);
    }

    #[test]
    fn the_rate_that_was_printed_is_refuted() {
        // 0.0001 % instead of 0.0001.
        assert_eq!(verdict("bloom-practice", |context| measure(context, 1e-6)), Verdict::Refuted);
    }
}
