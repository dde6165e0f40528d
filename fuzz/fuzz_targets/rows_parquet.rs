#![no_main]

use crivo_fuzz::targets::rows_parquet;

libfuzzer_sys::fuzz_target!(|input: (Vec<crivo_fuzz::foreign::Change>, u8)| rows_parquet::check(input));
