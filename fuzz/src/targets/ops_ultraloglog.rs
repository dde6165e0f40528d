//! However two UltraLogLogs come about, they are the sketches of their sets.

use crate::RegisterProgram;
use crivo::distinct::ultraloglog::ThreeLevels;

/// Checks the promise for one input.
pub fn check(program: RegisterProgram) {
    program.run::<ThreeLevels>();
}
