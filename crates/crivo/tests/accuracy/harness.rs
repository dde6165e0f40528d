//! Measuring an estimator, and judging what was measured.

use crivo::Estimate;

/// The chance that a check fails a correct estimator must not exceed this.
const FALSE_ALARM: f64 = 1e-6;

/// What many independent trials at one true size showed.
#[derive(Debug, Default, Clone)]
pub(crate) struct Measured {
    trials: f64,
    sum: f64,
    sum_of_squares: f64,
    covered: f64,
}

impl Measured {
    pub(crate) fn add(&mut self, truth: f64, estimate: Estimate) {
        let error = estimate.value() / truth - 1.0;
        self.trials += 1.0;
        self.sum += error;
        self.sum_of_squares += error * error;
        self.covered += f64::from(u8::from(estimate.covers(truth)));
    }

    pub(crate) fn bias(&self) -> f64 {
        self.sum / self.trials
    }

    pub(crate) fn rmse(&self) -> f64 {
        (self.sum_of_squares / self.trials).sqrt()
    }

    pub(crate) fn coverage(&self) -> f64 {
        self.covered / self.trials
    }
}

/// What is claimed of an estimator at one size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim {
    /// The root-mean-square relative error of theory.
    pub(crate) rmse: f64,
    /// The measured error may differ from theory by this share of it, both ways.
    pub(crate) rmse_margin: f64,
    /// The bias may be this share of the theoretical error.
    pub(crate) bias_margin: f64,
    /// The share of 95 % intervals that hold the truth lies in this range.
    pub(crate) coverage: (f64, f64),
}

/// Holds the measurement to the claim. The error lists every check that failed.
///
/// The checks assume that errors are nearly normal and that the true values are: a bias of at
/// most half its margin, an error within half its margin of theory, a coverage in the inner half
/// of its range. What noise may add is then at least half of each margin, which must be `quantile`
/// standard deviations of it.
pub(crate) fn judge(subject: &str, claim: &Claim, measured: &Measured) -> Result<(), String> {
    let noise = [
        ("rmse", claim.rmse_margin, 1.0 / (2.0 * measured.trials).sqrt()),
        ("bias", claim.bias_margin, 1.0 / measured.trials.sqrt()),
        ("coverage", (claim.coverage.1 - claim.coverage.0) / 2.0, (0.95_f64 * 0.05 / measured.trials).sqrt()),
    ];
    for (what, margin, deviation) in noise {
        let quantile = crivo::math::two_sided_quantile(1.0 - FALSE_ALARM);
        assert!(
            margin / 2.0 >= quantile * deviation,
            "{what}: a margin of {margin} needs more than {} trials to have no false alarms",
            measured.trials
        );
    }

    let ratio = measured.rmse() / claim.rmse;
    let bias = measured.bias() / claim.rmse;
    let coverage = measured.coverage();
    #[allow(clippy::print_stdout)] // with --nocapture: the rows of the tables in docs/accuracy
    {
        println!(
            "| {subject} | {:.0} | {:.3} % | {ratio:.3} | {bias:+.3} | {:.2} % |",
            measured.trials,
            100.0 * claim.rmse,
            100.0 * coverage,
        );
    }
    let mut failures = Vec::new();
    if (ratio - 1.0).abs() > claim.rmse_margin {
        failures.push(format!("rmse is {ratio:.4} of theory, margin {}", claim.rmse_margin));
    }
    if bias.abs() > claim.bias_margin {
        failures.push(format!("bias is {bias:.4} of the theoretical error, margin {}", claim.bias_margin));
    }
    if coverage < claim.coverage.0 || coverage > claim.coverage.1 {
        failures
            .push(format!("95 % intervals hold the truth in {coverage:.4}, claimed {:?}", claim.coverage));
    }
    if failures.is_empty() { Ok(()) } else { Err(failures.join("; ")) }
}
