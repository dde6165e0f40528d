#![no_main]

use crivo_fuzz::targets::ops_window;

libfuzzer_sys::fuzz_target!(|input: ops_window::Program| ops_window::check(input));
