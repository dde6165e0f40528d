#![no_main]

use crivo_fuzz::targets::condition;

libfuzzer_sys::fuzz_target!(|input: &str| condition::check(input));
