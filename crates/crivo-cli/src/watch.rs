//! The engine's searches end at Ctrl-C, as passes over rows do.

use crivo_near::{Stage, Watch};

use crate::interrupt;

/// Stops a search when the user asks for it. Each reading shows a bar of its own.
pub(crate) struct Interruptible;

impl Watch for Interruptible {
    fn begin(&self, _: Stage) {}

    fn stopped(&self) -> bool {
        interrupt::is_requested()
    }
}
