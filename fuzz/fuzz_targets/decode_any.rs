#![no_main]

use crivo_fuzz::targets::decode_any;

libfuzzer_sys::fuzz_target!(|input: &[u8]| decode_any::check(input));
