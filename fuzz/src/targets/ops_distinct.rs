//! However two HyperLogLogs come about, they are the sketches of their sets.

use crate::RegisterProgram;
use crivo::distinct::hyperloglog::HighestRank;

/// Checks the promise for one input.
pub fn check(program: RegisterProgram) {
    program.run::<HighestRank>();
}
