#![no_main]

use crivo_fuzz::targets::mail_message;

libfuzzer_sys::fuzz_target!(|input: &[u8]| mail_message::check(input));
