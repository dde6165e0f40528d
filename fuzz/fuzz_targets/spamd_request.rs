#![no_main]

use crivo_fuzz::targets::spamd_request;

libfuzzer_sys::fuzz_target!(|input: &[u8]| spamd_request::check(input));
