#![no_main]

use crivo_fuzz::targets::ops_counting;

libfuzzer_sys::fuzz_target!(|input: ops_counting::Program| ops_counting::check(input));
