#![no_main]

use crivo_fuzz::targets::decode_resealed;

libfuzzer_sys::fuzz_target!(|input: &[u8]| decode_resealed::check(input));
