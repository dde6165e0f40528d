#![no_main]

use crivo_fuzz::targets::rows_csv;

libfuzzer_sys::fuzz_target!(|input: &[u8]| rows_csv::check(input));
