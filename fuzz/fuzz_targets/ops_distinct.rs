#![no_main]

use crivo_fuzz::targets::ops_distinct;

libfuzzer_sys::fuzz_target!(|input: crivo_fuzz::RegisterProgram| ops_distinct::check(input));
