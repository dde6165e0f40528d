#![no_main]

use crivo_fuzz::targets::ops_distinct_sets;

libfuzzer_sys::fuzz_target!(|input: ops_distinct_sets::Program| ops_distinct_sets::check(input));
