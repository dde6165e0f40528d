//! Any bytes are CSV or an error, whatever the chunks are; and what is copied whole is what was
//! read.

use crate::rows;
use crivo_rows::Format;

/// Checks the promise for one input.
pub fn check(input: (Vec<u8>, u8)) {
    let (bytes, settings) = input;
    rows::check(&bytes, if settings & 1 == 0 { Format::Csv } else { Format::Tsv }, settings);
}
