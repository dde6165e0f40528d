#![no_main]

use crivo_fuzz::targets::interchange;

libfuzzer_sys::fuzz_target!(|input: (Vec<crivo_fuzz::foreign::Change>, u8)| interchange::check(input));
