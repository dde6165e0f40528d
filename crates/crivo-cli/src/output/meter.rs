//! The progress of a pass, on a terminal.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crivo_rows::{FollowEvent, Progress};
use indicatif::{BinaryBytes, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::{Missed, Output};
use crate::interrupt;

/// Passes that finish sooner show no bar.
const DELAY: Duration = Duration::from_millis(400);

/// A stage of a run that has several, one after the other.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RunStage {
    /// The name of the work.
    pub(crate) name: &'static str,
    /// The approximate duration of all later stages, as a multiple of this stage's own.
    pub(crate) after: f64,
}

impl From<&'static str> for RunStage {
    fn from(name: &'static str) -> Self {
        Self { name, after: 0.0 }
    }
}

/// Shows share, rate and time left on standard error if it is a terminal. Stops the pass when the
/// user requests it.
#[derive(Debug)]
pub(crate) struct Meter {
    began: Instant,
    wanted: bool,
    stage: RunStage,
    bar: OnceLock<ProgressBar>,
    missed: Missed,
}

impl Meter {
    pub(crate) fn new(out: &Output) -> Self {
        Self::of_stage("", out)
    }

    /// Returns a meter for one of several stages. The share is that of the stage, the time left is
    /// that of the whole run.
    pub(crate) fn of_stage(stage: impl Into<RunStage>, out: &Output) -> Self {
        Self {
            began: Instant::now(),
            wanted: !out.quiet,
            stage: stage.into(),
            bar: OnceLock::new(),
            missed: out.missed.clone(),
        }
    }

    /// Shows the number of finished parts of a stage that reads no bytes.
    pub(crate) fn show_parts(&self, done: u64, total: u64) {
        let elapsed = self.began.elapsed();
        if self.wanted && elapsed >= DELAY {
            let new = || new_bar(self.stage, PARTS, Some(total)).with_elapsed(elapsed);
            self.bar.get_or_init(new).set_position(done);
        }
    }

    fn draw(&self, read: u64, total: Option<u64>) {
        let elapsed = self.began.elapsed();
        if elapsed < DELAY {
            return;
        }
        let template = if total.is_some() { BYTES } else { UNBOUNDED };
        let new = || new_bar(self.stage, template, total).with_elapsed(elapsed);
        self.bar.get_or_init(new).set_position(read);
    }
}

impl Progress for Meter {
    fn advance(&self, read: u64, total: Option<u64>) -> ControlFlow<()> {
        if interrupt::is_requested() {
            return ControlFlow::Break(());
        }
        if self.wanted {
            self.draw(read, total);
        }
        ControlFlow::Continue(())
    }

    fn followed(&self, event: FollowEvent, message: &str) -> bool {
        if event == FollowEvent::Truncated {
            self.missed.set();
        }
        Output::new(!self.wanted).warn(message);
        true
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

/// The templates of bars, short enough for 40 columns.
const BYTES: &str = "{prefix}{percent:>3} % {wide_bar} {rate}, {left} left";
const UNBOUNDED: &str = "{prefix}{spinner} {binary_bytes} read, {rate}";
const PARTS: &str = "{prefix}{percent:>3} % {wide_bar} {left} left";

/// Returns a bar that is hidden unless standard error is a terminal.
fn new_bar(stage: RunStage, template: &str, total: Option<u64>) -> ProgressBar {
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("rate", |state: &ProgressState, to: &mut dyn Write| {
            let _ = write!(to, "{}/s", BinaryBytes(rate(state) as u64));
        })
        .with_key("left", move |state: &ProgressState, to: &mut dyn Write| {
            let total = state.len().unwrap_or(0);
            let left = total.saturating_sub(state.pos()) as f64 + total as f64 * stage.after;
            // At most a century, so that nothing overflows before the first byte is read.
            let seconds = (left / rate(state)).min(3e9);
            let _ = write!(to, "{:#}", HumanDuration(Duration::from_secs_f64(seconds.max(0.0))));
        });
    let prefix = if stage.name.is_empty() { String::new() } else { format!("{} ", stage.name) };
    ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr()).with_style(style).with_prefix(prefix)
}

/// The mean number of bytes per second since the beginning. Input is read evenly, and a mean does
/// not jump.
fn rate(state: &ProgressState) -> f64 {
    state.pos() as f64 / state.elapsed().as_secs_f64().max(1e-3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_valid() {
        for (template, total) in [(BYTES, Some(1000)), (UNBOUNDED, None), (PARTS, Some(10))] {
            let bar = new_bar("comparing".into(), template, total);
            bar.set_draw_target(ProgressDrawTarget::hidden());
            bar.set_position(10);
        }
    }

    #[test]
    fn quiet_or_quick_draws_nothing() {
        let quick = Meter::new(&Output::new(false));
        assert!(quick.advance(1, None).is_continue());
        assert!(quick.bar.get().is_none());
        let mut quiet = Meter::new(&Output::new(true));
        quiet.began -= DELAY;
        assert!(quiet.advance(1, None).is_continue());
        assert!(quiet.bar.get().is_none());
    }
}
