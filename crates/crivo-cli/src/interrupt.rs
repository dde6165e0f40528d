//! What happens at Ctrl-C, and at a request to end (SIGTERM, SIGHUP)?
//!
//! The progress hook of the running pass stops it between two chunks, and the command returns
//! [`Interrupted`]. A pass that waits for input cannot check the request, so the program exits
//! after a short grace time. A pass that follows a file until it is stopped prints its answer
//! first. In both cases no partial file is left: a file has a temporary name while it is written,
//! and is removed here.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

/// The code that a shell reports for a program that ended by SIGINT: 128 + 2.
pub(crate) const EXIT_CODE: u8 = 130;

/// The time that a pass has to stop by itself. It is many times longer than a chunk takes, and
/// hardly noticeable.
const GRACE: Duration = Duration::from_millis(300);

static REQUESTED: AtomicBool = AtomicBool::new(false);
static PATIENT: AtomicBool = AtomicBool::new(false);
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The error that the user requested to stop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted; no file was written")
    }
}

impl std::error::Error for Interrupted {}

/// Returns true if the user requested to stop.
pub(crate) fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Starts to handle signals. Commands that finish at once never call it. `answers_then` is for a
/// pass that never ends by itself: the first signal ends only the pass, and the command then
/// prints its answer.
pub(crate) fn watch(answers_then: bool) {
    static LISTENING: Once = Once::new();
    if answers_then {
        PATIENT.store(true, Ordering::Relaxed);
    }
    LISTENING.call_once(|| {
        // This fails if a signal is ignored already, for example under nohup. That is the user's
        // choice, so the signals keep their effect.
        let _ = ctrlc::try_set_handler(|| {
            let again = REQUESTED.swap(true, Ordering::Relaxed);
            if PATIENT.load(Ordering::Relaxed) && !again {
                return;
            }
            std::thread::sleep(GRACE);
            leave();
        });
    });
}

/// Ends the time in which a signal only ends the pass. From now on, the answer is prepared, and the
/// next signal ends the program.
pub(crate) fn begin_answer() {
    PATIENT.store(false, Ordering::Relaxed);
    REQUESTED.store(false, Ordering::Relaxed);
}

fn leave() {
    for path in unfinished().drain(..) {
        let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    }
    #[allow(clippy::exit)] // the main thread waits for input; no other way leads out
    std::process::exit(EXIT_CODE.into());
}

/// Registers a file for removal if a signal ends the program.
pub(crate) fn remove_when_leaving(path: &Path) {
    unfinished().push(path.to_path_buf());
}

/// Withdraws a file from removal by [`remove_when_leaving`].
pub(crate) fn keep_when_leaving(path: &Path) {
    unfinished().retain(|other| other != path);
}

/// A file or folder that is removed if a signal ends the program during the life of this value.
#[derive(Debug)]
pub(crate) struct Unfinished(PathBuf);

impl Unfinished {
    pub(crate) fn new(path: &Path) -> Self {
        watch(false);
        unfinished().push(path.to_path_buf());
        Self(path.to_path_buf())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        unfinished().retain(|path| *path != self.0);
    }
}

/// Runs a few quick steps that belong together. A signal ends the program before the first or after
/// the last of them, never between.
pub(crate) fn undisturbed<T>(steps: impl FnOnce() -> T) -> T {
    let _held = unfinished();
    steps()
}

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}
