//! `--every 10s`: repeats the answer while a file is followed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use crivo::keys::KeyScheme;
use crivo_rows::{Counts, RowBatch};

use crate::clock;
use crate::output::Output;
use crate::pass::Pass;

/// The interval between looks at the clock. It is short, so that the end of the pass is noticed
/// soon.
const PAUSE: Duration = Duration::from_millis(20);

/// How often to answer.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct EveryArgs {
    /// While a file is followed, give the answer so far this often: 10s, 5m
    #[arg(long, value_name = "TIME", value_parser = clock::duration, requires = "follow")]
    every: Option<u64>,
}

impl EveryArgs {
    /// Returns the interval between answers, if the user requested one.
    pub(crate) fn interval(self) -> Option<Duration> {
        self.every.map(Duration::from_millis)
    }
}

/// Reads all batches into one state on one thread. At every interval, calls `show` with the state
/// and the counts so far. An error of `show` ends the pass.
pub(crate) fn fold_showing<S: Send>(
    pass: &Pass,
    scheme: KeyScheme,
    every: Duration,
    out: &Output,
    start: S,
    step: impl Fn(&mut S, &mut RowBatch<'_>) -> crivo_rows::Result<()> + Sync,
    show: impl Fn(&S, Counts) -> Result<()> + Sync,
) -> Result<(S, Counts)> {
    let state = Mutex::new((start, Counts::default()));
    let lock = || state.lock().unwrap_or_else(PoisonError::into_inner);
    let (is_done, failure) = (AtomicBool::new(false), Mutex::new(None));
    let show_now = || {
        let state = lock();
        if let Err(error) = show(&state.0, state.1) {
            failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    };
    let has_failed = || failure.lock().unwrap_or_else(PoisonError::into_inner).is_some();
    let counts = thread::scope(|scope| {
        scope.spawn(|| {
            let mut last = Instant::now();
            while !is_done.load(Ordering::Relaxed) && !has_failed() {
                thread::sleep(PAUSE);
                if last.elapsed() >= every {
                    last = Instant::now();
                    show_now();
                }
            }
        });
        let folded = pass.fold_in_order(scheme, out, (), |(), batch| {
            if has_failed() {
                return Err(batch.error(0, "the answer could not be shown"));
            }
            let mut state = lock();
            let (rows, columns) = (batch.rows() as u64, batch.names().len());
            let missing = if columns > 0 { batch.column(0).missing() as u64 } else { 0 };
            step(&mut state.0, batch)?;
            state.1.rows += rows;
            state.1.skipped += missing;
            Ok(())
        });
        is_done.store(true, Ordering::Relaxed);
        folded.map(|((), counts)| counts)
    });
    if let Some(error) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let (state, _) = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok((state, counts?))
}
