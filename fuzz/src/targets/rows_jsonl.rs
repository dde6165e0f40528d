//! Any bytes are JSONL or an error, whatever the chunks are; and what is copied whole is what was
//! read.

use crate::rows;
use crivo_rows::Format;

/// Checks the promise for one input: settings in the first byte, and the text behind it.
pub fn check(input: &[u8]) {
    let Some((&settings, text)) = input.split_first() else { return };
    rows::check(text, Format::Jsonl, settings);
}
