#![no_main]

use crivo_fuzz::targets::ops_heavy_hitters;

libfuzzer_sys::fuzz_target!(|input: ops_heavy_hitters::Program| ops_heavy_hitters::check(input));
