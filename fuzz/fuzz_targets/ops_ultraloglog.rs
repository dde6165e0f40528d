#![no_main]

use crivo_fuzz::targets::ops_ultraloglog;

libfuzzer_sys::fuzz_target!(|input: crivo_fuzz::RegisterProgram| ops_ultraloglog::check(input));
