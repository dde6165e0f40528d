//! Any bytes are JSONL or an error, whatever the chunks are; and what is copied whole is what was read.
#![no_main]

use crivo_fuzz::rows;
use crivo_rows::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (Vec<u8>, u8)| rows::check(&input.0, Format::Jsonl, input.1));
