//! How far a scan has come, told to whoever asked; the crate itself prints nothing.

use std::ops::ControlFlow;

/// Told of the bytes read so far, before every chunk; breaking stops the scan cleanly: what was
/// read until then is the answer, and the result says that it was stopped.
///
/// Any `Fn(u64, Option<u64>) -> ControlFlow<()> + Sync` is one.
pub trait Progress: Sync {
    /// `read` bytes of `total` (as stored, so compressed where the file is) have been read.
    fn advance(&self, read: u64, total: Option<u64>) -> ControlFlow<()>;
}

impl<F: Fn(u64, Option<u64>) -> ControlFlow<()> + Sync> Progress for F {
    fn advance(&self, read: u64, total: Option<u64>) -> ControlFlow<()> {
        self(read, total)
    }
}
