//! How far a pass has come, on a terminal.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crivo_rows::{FollowEvent, Progress};
use indicatif::{BinaryBytes, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::{Missed, Output};
use crate::interrupt;

/// What is done sooner needs no bar.
const DELAY: Duration = Duration::from_millis(400);

/// Draws share, rate and time left on standard error if it is a terminal, and passes on the
/// user's wish to stop.
#[derive(Debug)]
pub(crate) struct Meter {
    began: Instant,
    wanted: bool,
    /// What is being done, where a command does several things one after the other.
    stage: &'static str,
    bar: OnceLock<ProgressBar>,
    missed: Missed,
}

impl Meter {
    pub(crate) fn new(out: &Output) -> Self {
        Self::of_stage("", out)
    }

    /// A meter for one of several stages.
    pub(crate) fn of_stage(stage: &'static str, out: &Output) -> Self {
        Self {
            began: Instant::now(),
            wanted: !out.quiet,
            stage,
            bar: OnceLock::new(),
            missed: out.missed.clone(),
        }
    }

    /// Shows how many parts of a stage are done that reads no bytes.
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

/// What a bar shows: short enough for 40 columns.
const BYTES: &str = "{prefix}{percent:>3} % {wide_bar} {rate}, {left} left";
const UNBOUNDED: &str = "{prefix}{spinner} {binary_bytes} read, {rate}";
const PARTS: &str = "{prefix}{percent:>3} % {wide_bar} {left} left";

/// A bar that is hidden unless standard error is a terminal.
fn new_bar(stage: &'static str, template: &str, total: Option<u64>) -> ProgressBar {
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("rate", |state: &ProgressState, to: &mut dyn Write| {
            let _ = write!(to, "{}/s", BinaryBytes(rate(state) as u64));
        })
        .with_key("left", |state: &ProgressState, to: &mut dyn Write| {
            let bytes = state.len().unwrap_or(0).saturating_sub(state.pos());
            // At most a century, so that nothing overflows before the first byte is read.
            let seconds = (bytes as f64 / rate(state)).min(3e9);
            let _ = write!(to, "{:#}", HumanDuration(Duration::from_secs_f64(seconds.max(0.0))));
        });
    let prefix = if stage.is_empty() { String::new() } else { format!("{stage} ") };
    ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr()).with_style(style).with_prefix(prefix)
}

/// Bytes a second, since the beginning: input is read evenly, and a mean does not jump.
fn rate(state: &ProgressState) -> f64 {
    state.pos() as f64 / state.elapsed().as_secs_f64().max(1e-3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_valid() {
        for (template, total) in [(BYTES, Some(1000)), (UNBOUNDED, None), (PARTS, Some(10))] {
            let bar = new_bar("comparing", template, total);
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
