//! What the readers of rows promise about any bytes.

use std::io::Write;

use crivo_rows::{Format, Input, Predicate, Scan, Select};

/// Reads the bytes in chunks of different sizes: the outcome is the same, and a copy of all rows is
/// what was read.
pub fn check(bytes: &[u8], format: Format, settings: u8) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(bytes).expect("room for a few kilobytes");
    let input = Input::file(file.path())
        .format(format)
        .header(settings & 2 == 0)
        .quotes(settings & 4 == 0)
        .skip_bad(settings & 8 == 0);
    let read = |chunk: usize, threads: usize| {
        let scan = Scan::of(&input).select(Select::All).threads(threads).chunk_size(chunk);
        let folded = scan.fold(
            Vec::new,
            |rows: &mut Vec<Vec<Vec<u8>>>, batch| {
                for row in 0..batch.rows() {
                    let columns = 0..batch.names().len();
                    let mut values: Vec<Vec<u8>> =
                        columns.filter_map(|column| batch.value(column, row).map(<[u8]>::to_vec)).collect();
                    // In which order the columns of JSON are met depends on the chunks.
                    values.sort_unstable();
                    rows.push(values);
                }
                Ok(())
            },
            |rows, mut others| {
                rows.append(&mut others);
                Ok(())
            },
        );
        folded
            .map(|folded| (folded.state, folded.counts.rows, folded.counts.bad))
            .map_err(|error| error.kind())
    };
    let whole = read(1 << 16, 1);
    assert_eq!(whole, read(1 + usize::from(settings), 1), "the outcome depends on where chunks end");

    let mut copy = Vec::new();
    let copied = Scan::of(&input).select(Select::All).threads(1).copy_rows(Predicate::All, &mut copy);
    if let (Ok((rows, ..)), Ok(copied)) = (&whole, copied) {
        assert_eq!(copied.kept, rows.len() as u64);
    }
    // In another format every row is still there.
    for to in [Format::Csv, Format::Jsonl, Format::Parquet].into_iter().filter(|to| *to != format) {
        let mut text = Vec::new();
        let converted = Scan::of(&input).convert_rows(Predicate::All, to, &mut text);
        if let (Ok((rows, ..)), Ok(converted)) = (&whole, converted) {
            assert_eq!(converted.kept, rows.len() as u64);
        }
    }
}

/// Returns the rows of a text as a Parquet file.
///
/// # Panics
/// If they cannot be written.
pub fn parquet_of(text: &[u8], format: Format) -> Vec<u8> {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(text).expect("room for a few kilobytes");
    let input = Input::file(file.path()).format(format);
    let mut parquet = Vec::new();
    Scan::of(&input).convert_rows(Predicate::All, Format::Parquet, &mut parquet).expect("valid rows");
    parquet
}
