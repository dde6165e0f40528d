#![no_main]

use crivo_fuzz::targets::ops_sampling;

libfuzzer_sys::fuzz_target!(|input: ops_sampling::Program| ops_sampling::check(input));
