//! Any bytes are CSV or an error, whatever the chunks are; and what is copied whole is what was read.
#![no_main]

use crivo_fuzz::rows;
use crivo_rows::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (Vec<u8>, u8)| {
    let (bytes, settings) = input;
    rows::check(&bytes, if settings & 1 == 0 { Format::Csv } else { Format::Tsv }, settings);
});
