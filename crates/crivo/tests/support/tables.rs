//! Profiles of tables, built from texts.

use crivo::keys::{KeyBuffer, KeyScheme, Span};
use crivo::profile::{TableColumn, TableColumnSizes, TableProfile};

/// A column by its name, with a value or none in each row.
pub(crate) type Texts<'a> = (&'a str, &'a [Option<String>]);

/// The sizes of columns in tests: the least there are.
pub(crate) fn small() -> TableColumnSizes {
    TableColumnSizes::for_memory(TableColumnSizes::LEAST_MEMORY)
}

/// The profile of a table that was read at once; `part` tells it from others that it is merged
/// with.
pub(crate) fn table(sizes: TableColumnSizes, part: u64, columns: &[Texts<'_>]) -> TableProfile {
    table_with(sizes, part, 0, columns)
}

/// The same, with a salt for the drawing of rows.
pub(crate) fn table_with(
    sizes: TableColumnSizes,
    part: u64,
    salt: u64,
    columns: &[Texts<'_>],
) -> TableProfile {
    let scheme = KeyScheme::bytes().with_seed(5);
    let rows = columns.iter().map(|(_, texts)| texts.len()).max().unwrap_or(0);
    let profiled = columns.iter().map(|(name, texts)| {
        let mut column = TableColumn::new(name, sizes, scheme).unwrap();
        column.reseed(part);
        let (mut bytes, mut spans, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        for (row, text) in texts.iter().enumerate() {
            let Some(text) = text else { continue };
            spans.push(Span::new(bytes.len()..bytes.len() + text.len()).unwrap());
            bytes.extend_from_slice(text.as_bytes());
            numbers.push(row as u64 + 1);
        }
        let mut buffer = KeyBuffer::new(scheme);
        let keys = buffer.hash_spans_of(&spans, &bytes).unwrap();
        column.insert_batch_salted(&keys, salt, |at| numbers[at]).unwrap();
        column
    });
    TableProfile::new(rows as u64, scheme, profiled.collect()).unwrap()
}

/// Texts of numbers, words and nothing, which begin again after 7 rows.
pub(crate) fn mixed(rows: std::ops::Range<u64>) -> Vec<Option<String>> {
    let text = |row: u64| match row % 7 {
        0 => None,
        1 | 2 => Some(row.to_string()),
        3 => Some(format!("{}.25", row / 3)),
        4 => Some("2024-01-31".into()),
        5 => Some("true".into()),
        _ => Some(format!("word {}", row % 50)),
    };
    rows.map(text).collect()
}

/// Numbers, one in each row.
pub(crate) fn numbers(rows: std::ops::Range<u64>) -> Vec<Option<String>> {
    rows.map(|row| Some((row * 37 % 1009).to_string())).collect()
}
