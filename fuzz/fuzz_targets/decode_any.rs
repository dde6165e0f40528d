//! Any bytes at all give an error or a sound sketch.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| crivo_fuzz::check_decoding(bytes));
