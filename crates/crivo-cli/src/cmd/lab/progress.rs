//! Shows the progress of experiments on a terminal: a bar for all, and one for each that runs.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crivo_lab::{Outcome, Watch};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::interrupt;
use crate::output::Output;

/// The number of steps of a bar, which shows shares.
const STEPS: u64 = 1000;

/// The progress bars. They are hidden unless standard error is a terminal.
#[derive(Debug)]
pub(super) struct Meters {
    bars: MultiProgress,
    all: ProgressBar,
    running: Mutex<BTreeMap<&'static str, ProgressBar>>,
}

impl Meters {
    pub(super) fn new(out: &Output, experiments: usize) -> Self {
        let target = if out.is_quiet() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bars = MultiProgress::with_draw_target(target);
        let all = bars.add(
            ProgressBar::new(experiments as u64).with_style(style("{pos:>3} of {len} {wide_bar} {elapsed}")),
        );
        all.enable_steady_tick(Duration::from_millis(500));
        Self { bars, all, running: Mutex::default() }
    }

    fn with(&self, name: &'static str, change: impl FnOnce(&ProgressBar)) {
        if let Some(bar) = self.running.lock().unwrap_or_else(PoisonError::into_inner).get(name) {
            change(bar);
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Watch for Meters {
    fn begin(&self, name: &'static str) {
        let bar = ProgressBar::new(STEPS).with_style(style("{msg:20} {wide_bar}")).with_message(name);
        let bar = self.bars.add(bar);
        self.running.lock().unwrap_or_else(PoisonError::into_inner).insert(name, bar);
    }

    fn advance(&self, name: &'static str, share: f64) {
        self.with(name, |bar| bar.set_position((share * STEPS as f64) as u64));
    }

    fn end(&self, outcome: &Outcome) {
        if let Some(bar) =
            self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(outcome.experiment.name)
        {
            bar.finish_and_clear();
            self.bars.remove(&bar);
        }
        self.all.inc(1);
    }

    fn stopped(&self) -> bool {
        interrupt::is_requested()
    }
}

impl Drop for Meters {
    fn drop(&mut self) {
        self.all.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_valid() {
        for template in ["{pos:>3} of {len} {wide_bar} {elapsed}", "{msg:20} {wide_bar}"] {
            assert!(ProgressStyle::with_template(template).is_ok());
        }
    }
}
