//! The imports of every experiment.

pub(crate) use crate::context::Context;
pub(crate) use crate::error::{Error, Result};
pub(crate) use crate::experiment::{Experiment, Text};
pub(crate) use crate::random::{Random, Weighted};
pub(crate) use crate::report::{ExperimentReport, Verdict};
pub(crate) use crate::section::Section;
pub(crate) use crate::test::{Measure, Sample, Side};

/// Runs experiments in their own tests: as small as possible, with the seed of the test suite.
#[cfg(test)]
pub(crate) mod testing {
    use crate::context::{Context, Scale};
    use crate::error::Result;
    use crate::inputs::Inputs;
    use crate::report::{ExperimentReport, Verdict};

    /// Returns the seed of the test suite. `CRIVO_TEST_SEED` changes it for all tests.
    pub(crate) fn seed() -> u64 {
        match std::env::var("CRIVO_TEST_SEED") {
            Ok(seed) => seed.parse().unwrap_or_else(|_| panic!("CRIVO_TEST_SEED is no number: {seed}")),
            Err(_) => 0,
        }
    }

    /// Returns the verdict of an experiment at the smallest scale.
    pub(crate) fn verdict(
        name: &'static str,
        run: impl FnOnce(&Context<'_>) -> Result<ExperimentReport>,
    ) -> Verdict {
        verdict_at(Scale::Tiny, name, run)
    }

    /// Checks that the usual scale refutes the theory with any of these wrong constants. The
    /// smallest scale has too few trials to detect them.
    #[track_caller]
    pub(crate) fn is_refuted_at_usual_scale(
        name: &'static str,
        wrong: &[f64],
        measure: impl Fn(&Context<'_>, f64) -> Result<ExperimentReport>,
    ) {
        for &wrong in wrong {
            let verdict = verdict_at(Scale::Usual, name, |context| measure(context, wrong));
            assert_eq!(verdict, Verdict::Refuted, "{name} with {wrong}");
        }
    }

    fn verdict_at(
        scale: Scale,
        name: &'static str,
        run: impl FnOnce(&Context<'_>) -> Result<ExperimentReport>,
    ) -> Verdict {
        let inputs = Inputs::default();
        let context = Context::new(name, seed(), scale, &inputs, &());
        run(&context).unwrap().judge().verdict
    }
}
