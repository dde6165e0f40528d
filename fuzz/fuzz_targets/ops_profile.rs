#![no_main]

use crivo_fuzz::targets::ops_profile;

libfuzzer_sys::fuzz_target!(|input: ops_profile::Program| ops_profile::check(input));
