//! How far a scan has come, told to a hook of the caller; the crate itself prints nothing.

use std::ops::ControlFlow;

/// Is told of the bytes read so far, before every chunk. Breaking stops the scan cleanly: what was
/// read until then is the answer, and the result says that it was stopped.
///
/// Any `Fn(u64, Option<u64>) -> ControlFlow<()> + Sync` is one.
pub trait Progress: Sync {
    /// `read` bytes of `total` (as stored, so compressed where the file is) have been read.
    fn advance(&self, read: u64, total: Option<u64>) -> ControlFlow<()>;

    /// Is told at once what happened to a file that is followed. Returns true if the hook has
    /// passed it on; otherwise it is among the warnings at the end.
    fn followed(&self, _event: FollowEvent, _message: &str) -> bool {
        false
    }
}

/// What happened to a file while it was followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FollowEvent {
    /// It became shorter than what was read of it, so rows may have been missed.
    Truncated,
    /// Another file took its name, and is read from its beginning.
    Replaced,
}

impl<F: Fn(u64, Option<u64>) -> ControlFlow<()> + Sync> Progress for F {
    fn advance(&self, read: u64, total: Option<u64>) -> ControlFlow<()> {
        self(read, total)
    }
}
