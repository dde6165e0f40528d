#![no_main]

use crivo_fuzz::targets::ops_lsh_index;

libfuzzer_sys::fuzz_target!(|input: ops_lsh_index::Program| ops_lsh_index::check(input));
