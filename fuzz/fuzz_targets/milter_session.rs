#![no_main]

use crivo_fuzz::targets::milter_session;

libfuzzer_sys::fuzz_target!(|input: &[u8]| milter_session::check(input));
