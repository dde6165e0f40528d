//! Any contents under a right checksum give an error or a sound sketch.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| crivo_fuzz::check_decoding(&crivo_fuzz::seal(bytes)));
