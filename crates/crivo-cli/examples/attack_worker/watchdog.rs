//! Ends the process if a task takes too long.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// The most seconds of processor time of a task. Exceeding them is a finding.
const MOST_SECONDS: f64 = 5.0;
/// The most checks of one task, which is a finding if it waits for longer. The limit is longer than
/// that of processor time, because the machine may be busy.
const MOST_GLANCES: u32 = 240;
const GLANCE: Duration = Duration::from_millis(250);
/// The unit of times in `/proc` on every common platform of Linux.
const TICKS_A_SECOND: f64 = 100.0;

/// The exit code if a task takes too long.
const TOO_SLOW: i32 = 124;

/// Counts the starts and ends of tasks: odd while a task runs.
#[derive(Debug)]
pub(crate) struct Watchdog(Arc<AtomicU64>);

impl Watchdog {
    pub(crate) fn start() -> Self {
        let count = Arc::new(AtomicU64::new(0));
        let watched = Arc::clone(&count);
        thread::spawn(move || watch(&watched));
        Self(count)
    }

    pub(crate) fn begin(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn end(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Checks regularly whether the task is still the same. Checks are counted instead of time, so that
/// a suspended machine is no finding.
fn watch(count: &AtomicU64) {
    let (mut seen, mut began, mut glances) = (0, 0.0, 0);
    loop {
        thread::sleep(GLANCE);
        let now = count.load(Ordering::Relaxed);
        if now.is_multiple_of(2) || now != seen {
            (seen, began, glances) = (now, processor_seconds(), 0);
            continue;
        }
        glances += 1;
        if processor_seconds() - began > MOST_SECONDS || glances > MOST_GLANCES {
            std::process::exit(TOO_SLOW);
        }
    }
}

/// Returns the processor time of this process, or 0 if the system does not report it.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in brackets, may contain blanks. User and system time are the 12th
    // and 13th after it.
    let (_, rest) = stat.rsplit_once(')').unwrap_or_default();
    let ticks = rest.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS_A_SECOND
}
