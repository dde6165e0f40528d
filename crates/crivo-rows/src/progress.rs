//! Reports the progress of a scan to a hook of the caller. The crate itself prints nothing.

use std::ops::ControlFlow;

/// Gets the number of bytes read so far, before every chunk. If it breaks, the scan stops cleanly:
/// the result has what was read until then, and says that it was stopped.
///
/// Any `Fn(u64, Option<u64>) -> ControlFlow<()> + Sync` implements it.
pub trait Progress: Sync {
    /// Reports that `read` of `total` bytes were read. Both are as stored, which is compressed if
    /// the file is.
    fn advance(&self, read: u64, total: Option<u64>) -> ControlFlow<()>;

    /// Reports at once what happened to a followed file. Returns true if the hook has shown the
    /// message; otherwise the message is added to the warnings at the end.
    fn followed(&self, _event: FollowEvent, _message: &str) -> bool {
        false
    }
}

/// What happened to a followed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FollowEvent {
    /// The file became shorter than the part that was read, so rows may have been missed.
    Truncated,
    /// Another file took its name, and is read from its beginning.
    Replaced,
}

impl<F: Fn(u64, Option<u64>) -> ControlFlow<()> + Sync> Progress for F {
    fn advance(&self, read: u64, total: Option<u64>) -> ControlFlow<()> {
        self(read, total)
    }
}
