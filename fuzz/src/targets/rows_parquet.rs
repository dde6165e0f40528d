//! A damaged Parquet file gives an error or rows, the same ones whatever the chunks are.

use std::sync::OnceLock;

use crate::{foreign, rows};
use crivo_rows::Format;

/// Valid files that the changes begin with: texts with repeats and gaps, and numbers of three
/// types.
fn files() -> &'static [Vec<u8>] {
    static FILES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    FILES.get_or_init(|| {
        let mut csv = b"name,town\n".to_vec();
        let mut jsonl = Vec::new();
        for row in 0..40 {
            let town = ["Lisboa", "Porto", ""][row % 3];
            csv.extend_from_slice(format!("person {row},{town}\n").as_bytes());
            jsonl.extend_from_slice(
                format!("{{\"id\":{row},\"share\":{}.5,\"paid\":{}}}\n", row * 7, row % 2 == 0).as_bytes(),
            );
        }
        vec![rows::parquet_of(&csv, Format::Csv), rows::parquet_of(&jsonl, Format::Jsonl)]
    })
}

/// Checks the promise for one input.
pub fn check(input: (Vec<foreign::Change>, u8)) {
    foreign::allow_caught_panics();
    let (changes, settings) = input;
    let mut bytes = files()[usize::from(settings & 1)].clone();
    foreign::apply(&changes, &mut bytes);
    rows::check(&bytes, Format::Parquet, settings);
}
