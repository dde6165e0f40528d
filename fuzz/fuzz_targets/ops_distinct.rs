//! However two HyperLogLogs come about, they are the sketches of their sets.
#![no_main]

use crivo::distinct::hyperloglog::HighestRank;
use crivo_fuzz::RegisterProgram;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|program: RegisterProgram| program.run::<HighestRank>());
