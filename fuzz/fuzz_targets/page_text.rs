#![no_main]

use crivo_fuzz::targets::page_text;

libfuzzer_sys::fuzz_target!(|input: &[u8]| page_text::check(input));
