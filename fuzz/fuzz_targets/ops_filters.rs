#![no_main]

use crivo_fuzz::targets::ops_filters;

libfuzzer_sys::fuzz_target!(|input: ops_filters::Program| ops_filters::check(input));
