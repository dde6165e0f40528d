#![no_main]

use crivo_fuzz::targets::rows_jsonl;

libfuzzer_sys::fuzz_target!(|input: &[u8]| rows_jsonl::check(input));
