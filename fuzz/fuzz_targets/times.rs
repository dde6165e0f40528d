#![no_main]

use crivo_fuzz::targets::times;

libfuzzer_sys::fuzz_target!(|input: &[u8]| times::check(input));
