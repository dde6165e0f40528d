#![no_main]

use crivo_fuzz::targets::ops_count_min;

libfuzzer_sys::fuzz_target!(|input: ops_count_min::Program| ops_count_min::check(input));
