//! What happens at Ctrl-C, and at a request to end (SIGTERM, SIGHUP)?
//!
//! The running pass is asked to stop through its progress hook; it ends between two chunks, and
//! the command returns [`Interrupted`]. A pass that waits for input that does not come cannot
//! look, so after a moment the program ends anyway; a pass that follows a file until it is stopped
//! gives its answer first. Either way nothing stays behind: a file
//! being written has another name until it is whole, and is removed here.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

/// As a shell reports a program that ended by SIGINT: 128 + 2.
pub(crate) const EXIT_CODE: u8 = 130;

/// How long a pass has to stop by itself: many times what a chunk takes, and hardly felt.
const GRACE: Duration = Duration::from_millis(300);

static REQUESTED: AtomicBool = AtomicBool::new(false);
static PATIENT: AtomicBool = AtomicBool::new(false);
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The user asked to stop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted; no file was written")
    }
}

impl std::error::Error for Interrupted {}

/// Whether the user asked to stop.
pub(crate) fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Begins to listen. Commands that finish at once never call it. Where the pass would never end by
/// itself (`answers_then`), the first request ends the pass and not the program.
pub(crate) fn watch(answers_then: bool) {
    static LISTENING: Once = Once::new();
    if answers_then {
        PATIENT.store(true, Ordering::Relaxed);
    }
    LISTENING.call_once(|| {
        // It fails where a signal is ignored already, as under nohup: that choice is the user's,
        // and the signals keep the effect they had.
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

fn leave() {
    for path in unfinished().drain(..) {
        let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    }
    #[allow(clippy::exit)] // the main thread waits for input; no other way leads out
    std::process::exit(EXIT_CODE.into());
}

/// Has a file removed if the program ends by a signal.
pub(crate) fn remove_when_leaving(path: &Path) {
    unfinished().push(path.to_path_buf());
}

/// Keeps a file that would have been removed if the program had ended by a signal.
pub(crate) fn keep_when_leaving(path: &Path) {
    unfinished().retain(|other| other != path);
}

/// A file or folder that must not stay behind, for as long as this lives.
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

/// Does a few quick steps that belong together: a signal ends the program before the first or after
/// the last of them.
pub(crate) fn undisturbed<T>(steps: impl FnOnce() -> T) -> T {
    let _held = unfinished();
    steps()
}

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}
