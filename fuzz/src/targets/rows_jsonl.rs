//! Any bytes are JSONL or an error, whatever the chunks are; and what is copied whole is what was
//! read.

use crate::rows;
use crivo_rows::Format;

/// Checks the promise for one input.
pub fn check(input: (Vec<u8>, u8)) {
    rows::check(&input.0, Format::Jsonl, input.1)
}
