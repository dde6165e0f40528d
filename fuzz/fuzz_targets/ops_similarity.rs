#![no_main]

use crivo_fuzz::targets::ops_similarity;

libfuzzer_sys::fuzz_target!(|input: ops_similarity::Program| ops_similarity::check(input));
