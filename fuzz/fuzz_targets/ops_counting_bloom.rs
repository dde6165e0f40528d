#![no_main]

use crivo_fuzz::targets::ops_counting_bloom;

libfuzzer_sys::fuzz_target!(|input: ops_counting_bloom::Program| ops_counting_bloom::check(input));
