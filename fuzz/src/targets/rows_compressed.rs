//! Bytes behind the mark of a compressed format give an error or a text, the same one each time.

use std::io::{Cursor, Read};
use std::sync::OnceLock;

use crate::foreign;
use crivo_rows::decompressed;

/// How much of a text is read: small inputs can be very large texts.
const MOST: u64 = 1 << 22;

/// The same text in each of the formats that are recognised.
fn files() -> &'static [Vec<u8>] {
    static FILES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    FILES.get_or_init(|| {
        let text: String = (0..60).map(|row| format!("row {row}, {}\n", row * row)).collect();
        foreign::compressed(text.as_bytes())
    })
}

/// Returns the beginning of a text and what ended it.
fn read(bytes: &[u8]) -> (Vec<u8>, Option<String>) {
    let mut text = Vec::new();
    let outcome =
        decompressed(Cursor::new(bytes.to_vec())).and_then(|stream| stream.take(MOST).read_to_end(&mut text));
    (text, outcome.err().map(|error| error.to_string()))
}

/// Checks the promise for one input.
pub fn check(input: (Vec<foreign::Change>, u8)) {
    let (changes, which) = input;
    let files = files();
    let mut bytes = files[usize::from(which) % files.len()].clone();
    foreign::apply(&changes, &mut bytes);
    assert_eq!(read(&bytes), read(&bytes));
}
