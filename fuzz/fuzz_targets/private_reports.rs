#![no_main]

use crivo_fuzz::targets::private_reports;

libfuzzer_sys::fuzz_target!(|input: &[u8]| private_reports::check(input));
