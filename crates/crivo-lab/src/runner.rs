//! Runs several experiments at once. A failure of one does not affect the others.

use std::any::Any;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crivo_rows::written::delimited_field;

use crate::context::{Context, Scale};
use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::inputs::Inputs;
use crate::report::ExperimentReport;

/// A watcher of a run: it is told the progress, and can stop the run.
pub trait Watch: Sync + std::fmt::Debug {
    /// Called when an experiment begins.
    fn begin(&self, _name: &'static str) {}

    /// Called with the share of an experiment that is done, from 0 to 1.
    fn advance(&self, _name: &'static str, _share: f64) {}

    /// Called when an experiment is done.
    fn end(&self, _outcome: &Outcome) {}

    /// Returns true to stop the run.
    fn stopped(&self) -> bool {
        false
    }
}

/// The absence of a watcher.
impl Watch for () {}

/// The settings of a run.
#[derive(Debug, Default)]
pub struct Settings {
    /// The seed of all random numbers.
    pub seed: u64,
    /// The size of the experiments.
    pub scale: Scale,
    /// The number of experiments that run at once; 0 means the number of processors.
    pub threads: usize,
    /// The files that the user has given.
    pub inputs: Inputs,
}

/// The outcome of one experiment.
#[derive(Debug)]
pub struct Outcome {
    /// The experiment.
    pub experiment: &'static Experiment,
    /// The report, or why the experiment could not be done.
    pub report: Result<ExperimentReport>,
    /// The times that were noted in it, in seconds.
    pub times: Vec<(String, f64)>,
    /// The time that it took, in seconds.
    pub seconds: f64,
}

impl Outcome {
    /// Returns true if the verdict is that of a correct implementation.
    pub fn is_expected(&self) -> bool {
        matches!(&self.report, Ok(report) if report.judge().verdict == self.experiment.expected)
    }
}

/// Runs experiments, several at once, and returns their outcomes in the given order.
pub fn run(experiments: &[&'static Experiment], settings: &Settings, watch: &dyn Watch) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Outcome)>> = Mutex::default();
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(experiment) = experiments.get(number) else { return };
            watch.begin(experiment.name);
            let outcome = run_one(experiment, settings, watch);
            watch.end(&outcome);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((number, outcome));
        }
    };
    let threads = crivo_near::thread_count(settings.threads).min(experiments.len());
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    let mut outcomes = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    outcomes.sort_by_key(|(number, _)| *number);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

fn run_one(experiment: &'static Experiment, settings: &Settings, watch: &dyn Watch) -> Outcome {
    let began = Instant::now();
    let context = Context::new(experiment.name, settings.seed, settings.scale, &settings.inputs, watch);
    let report = if watch.stopped() {
        Err(Error::Stopped)
    } else {
        catch_unwind(AssertUnwindSafe(|| (experiment.run)(&context)))
            .unwrap_or_else(|panic| Err(Error::Panicked(message(&*panic))))
    };
    let seconds = began.elapsed().as_secs_f64();
    Outcome { experiment, report, times: context.into_times(), seconds }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".into())
}

/// Returns the times of all outcomes as a table, which differs between runs.
pub(crate) fn times(outcomes: &[Outcome]) -> String {
    let mut csv = String::from("experiment,what,seconds\n");
    for outcome in outcomes {
        let name = outcome.experiment.name;
        for (what, seconds) in &outcome.times {
            // Writing to a string cannot fail.
            let _ = writeln!(csv, "{name},{},{seconds:.6}", delimited_field(what, ","));
        }
        let _ = writeln!(csv, "{name},all of it,{:.6}", outcome.seconds);
    }
    csv
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Text;
    use crate::report::Verdict;
    use crate::section::Section;

    const fn experiment(name: &'static str, run: fn(&Context<'_>) -> Result<ExperimentReport>) -> Experiment {
        let sources = &[(Text::Summary, "§1")];
        Experiment { name, title: name, claim: "One is one.", sources, expected: Verdict::Confirmed, run }
    }

    #[allow(clippy::unnecessary_wraps)] // as every experiment
    fn right(_: &Context<'_>) -> Result<ExperimentReport> {
        let mut report = ExperimentReport::new();
        let mut part = Section::numbers("one");
        part.equal("one", 1.0, 1.0);
        report.add(part);
        Ok(report)
    }

    #[allow(clippy::panic)] // that is what is tried here
    fn panics(_: &Context<'_>) -> Result<ExperimentReport> {
        panic!("too bad")
    }

    static RIGHT: Experiment = experiment("right", right);
    static PANICS: Experiment = experiment("panics", panics);
    static FAILS: Experiment = experiment("fails", |_| Err(Error::Experiment("no luck".into())));

    #[test]
    fn one_that_fails_does_not_stop_the_others() {
        for threads in [1, 3] {
            let settings = Settings { threads, ..Settings::default() };
            let outcomes = run(&[&PANICS, &RIGHT, &FAILS, &RIGHT], &settings, &());
            let expected: Vec<bool> = outcomes.iter().map(Outcome::is_expected).collect();
            assert_eq!(expected, [false, true, false, true]);
            assert_eq!(outcomes[0].report.as_ref().unwrap_err().to_string(), "panicked: too bad");
        }
    }

    #[derive(Debug)]
    struct Impatient;

    impl Watch for Impatient {
        fn stopped(&self) -> bool {
            true
        }
    }

    #[test]
    fn whoever_watches_can_stop() {
        let outcomes = run(&[&RIGHT], &Settings::default(), &Impatient);
        assert!(matches!(outcomes[0].report, Err(Error::Stopped)));
    }
}
