//! Damaged and malicious files give an error that names them, in little time and memory.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, StringArray};
use crivo_rows::{Error, ErrorKind, Input, Predicate, Remedy, Scan, Select};
use parquet::file::metadata::{
    ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader, ParquetMetaDataWriter, RowGroupMetaData,
};

use crate::compressed::zstd;
use crate::parquet_files::parquet_bytes;
use crate::support::{Folder, Random, read};

const ROWS: i64 = 60;

fn table() -> Vec<u8> {
    let numbers: ArrayRef = Arc::new((0..ROWS).collect::<Int64Array>());
    let texts: ArrayRef =
        Arc::new((0..ROWS).map(|n| Some(format!("text {}", n % 7))).collect::<StringArray>());
    parquet_bytes(vec![("number", numbers), ("text", texts)], 40)
}

/// Returns a file with another footer.
pub(crate) fn forged(bytes: &[u8], forge: impl FnOnce(ParquetMetaData) -> ParquetMetaData) -> Vec<u8> {
    let whole = bytes::Bytes::copy_from_slice(bytes);
    let metadata = forge(ParquetMetaDataReader::new().parse_and_finish(&whole).unwrap());
    let footer = u32::from_le_bytes(*bytes[bytes.len() - 8..].first_chunk().unwrap()) as usize;
    let mut out = bytes[..bytes.len() - 8 - footer].to_vec();
    ParquetMetaDataWriter::new(&mut out, &metadata).finish().unwrap();
    out
}

fn with_groups(
    metadata: ParquetMetaData,
    change: impl Fn(RowGroupMetaData) -> RowGroupMetaData,
) -> ParquetMetaData {
    let groups = metadata.row_groups().iter().cloned().map(change).collect();
    metadata.into_builder().set_row_groups(groups).build()
}

pub(crate) fn with_columns(
    metadata: ParquetMetaData,
    change: impl Fn(ColumnChunkMetaData) -> ColumnChunkMetaData,
) -> ParquetMetaData {
    with_groups(metadata, |group| {
        let columns = group.columns().iter().cloned().map(&change).collect();
        group.into_builder().set_column_metadata(columns).build().unwrap()
    })
}

/// Returns the errors of counting, reading and copying, which must all fail.
fn refusals(bytes: &[u8], field: &str) -> Vec<Error> {
    let folder = Folder::new();
    // Bad records are skipped, and this must not hide the error.
    let input = folder.input("hostile.parquet", bytes).skip_bad(true);
    let scan = |select: Select| Scan::of(&input).select(select).threads(2);
    let all = |batch: &mut crivo_rows::RowBatch<'_>, keep: &mut [bool]| {
        keep.fill(batch.rows() > 0);
        Ok(())
    };
    let mut errors = Vec::new();
    errors.extend(read(&scan(Select::field(field))).err());
    errors.extend(read(&scan(Select::All)).err());
    errors.extend(scan(Select::field(field)).copy_rows(Predicate::Each(&all), &mut Vec::new()).err());
    assert_eq!(errors.len(), 3, "{errors:?}");
    for error in &errors {
        assert!(error.file().is_some_and(|file| file.ends_with("hostile.parquet")), "{error}");
    }
    errors
}

#[track_caller]
fn check(bytes: &[u8], says: &str) {
    for error in refusals(bytes, "number") {
        assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn rows_that_the_footer_declares_are_compared() {
    let table = table();
    // The number of rows, 60 written as 120, before the list of two row groups.
    let place =
        (0..table.len() - 4).rev().find(|&at| table[at..].starts_with(&[0x16, 120, 0x19, 0x2C])).unwrap();
    for (written, rows) in [(9, -5), (0, 0), (118, 59), (126, 63)] {
        let mut bytes = table.clone();
        bytes[place + 1] = written;
        check(&bytes, &format!("it declares {rows} rows, and its row groups 60"));
    }
    let more = |rows: i64| {
        move |metadata| {
            let change = |group: RowGroupMetaData| group.into_builder().set_num_rows(rows).build().unwrap();
            with_groups(metadata, change)
        }
    };
    check(&forged(&table, more(500_000_000)), "it declares 40 values, and its row group 500000000 rows");
    check(&forged(&table, more(-5)), "declares -5 rows");
}

#[test]
fn columns_lie_within_the_file() {
    let table = table();
    let with = |change: fn(ColumnChunkMetaData) -> ColumnChunkMetaData| {
        forged(&table, |metadata| with_columns(metadata, change))
    };
    let says = "column 'number': not a Parquet file, or damaged (its place is not in the file)";
    check(&with(|c| c.into_builder().set_total_compressed_size(1 << 40).build().unwrap()), says);
    check(&with(|c| c.into_builder().set_total_compressed_size(-1).build().unwrap()), says);
    check(&with(|c| c.into_builder().set_dictionary_page_offset(Some(i64::MAX)).build().unwrap()), says);
    check(&with(|c| c.into_builder().set_num_values(-1).build().unwrap()), "declares -1 values");
}

#[test]
fn values_that_a_page_declares_are_compared() {
    // The head of the one data page: its kind, two sizes, then {values, …}. 40 is written as 80.
    let table = table();
    let places: Vec<usize> =
        (0..table.len() - 3).filter(|&at| table[at..].starts_with(&[0x2C, 0x15, 80])).collect();
    assert!(!places.is_empty());
    for values in [0, 2, 78, 126] {
        let mut bytes = table.clone();
        places.iter().for_each(|at| bytes[at + 2] = values);
        for error in refusals(&bytes, "text") {
            assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
            assert!(error.to_string().contains("column '"), "{error}");
        }
        // Counting reads no values, but must still compare the numbers.
        let folder = Folder::new();
        let counted = read(&Scan::of(&folder.input("a.parquet", &bytes)).select(Select::Fields(Vec::new())));
        assert_eq!(counted.unwrap_err().kind(), ErrorKind::Damaged);
    }
}

#[test]
fn any_damage_is_an_error_or_leaves_the_rows_as_declared() {
    let table = table();
    let folder = Folder::new();
    let mut random = Random::new(20);
    let mut read_whole = 0;
    for _ in 0..1000 {
        let mut bytes = table.clone();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            bytes[at] = random.pick(&[0, 1, 0x7F, 0x80, 0xFF, bytes[at] ^ 1, bytes[at] ^ 64]);
        }
        let input = folder.input("damaged.parquet", &bytes);
        for select in [Select::All, Select::Fields(Vec::new())] {
            if let Ok((_, counts)) = read(&Scan::of(&input).select(select).threads(1)) {
                assert_eq!(counts.rows, ROWS as u64);
                read_whole += 1;
            }
        }
    }
    assert!((30..1970).contains(&read_whole), "{read_whole}: some damage is seen, some is in a value");
}

#[test]
fn long_values_of_a_dictionary_do_not_fill_the_memory() {
    // One text of 1 MB in most of 600 rows: in one batch they would take 400 MB.
    let long = "x".repeat(1_000_000);
    let texts: ArrayRef = Arc::new(
        (0..600).map(|n| Some(if n % 3 > 0 { long.as_str() } else { "short" })).collect::<StringArray>(),
    );
    let folder = Folder::new();
    let input = folder.input("long.parquet", parquet_bytes(vec![("text", texts)], 500));
    let folded = Scan::of(&input).select(Select::field("text")).threads(1).fold(
        || (0, 0),
        |(most, bytes), batch| {
            *most = batch.rows().max(*most);
            *bytes += batch.column(0).iter().flatten().map(<[u8]>::len).sum::<usize>();
            Ok(())
        },
        |_, _| Ok(()),
    );
    let folded = folded.unwrap();
    assert_eq!((folded.counts.rows, folded.state.1), (600, 400_000_000 + 1000));
    assert!(folded.state.0 <= 67, "{} rows in one batch", folded.state.0);
    let short = read(&Scan::of(&input.max_record(1 << 19)).select(Select::field("text"))).unwrap_err();
    assert_eq!(
        (short.kind(), short.remedy()),
        (ErrorKind::RecordTooLong, Some(Remedy::LongerRecords)),
        "{short}"
    );
}

#[test]
fn record_longer_than_the_limit_is_an_error() {
    let folder = Folder::new();
    let text = format!("a,b\n1,2\n3,\"{}\"\n", "x".repeat(3 << 20));
    for (name, bytes) in [("a.csv", text.clone().into_bytes()), ("a.csv.zst", zstd(text.as_bytes()))] {
        let input = folder.input(name, bytes);
        assert_eq!(read(&Scan::of(&input).select(Select::field("a"))).unwrap().1.rows, 2);
        let error = read(&Scan::of(&input.max_record(1 << 20)).select(Select::field("a"))).unwrap_err();
        assert_eq!((error.kind(), error.remedy()), (ErrorKind::RecordTooLong, Some(Remedy::LongerRecords)));
        assert!(error.to_string().contains("line 3: a record is longer than 1 MiB"), "{error}");
    }
}

#[test]
fn parquet_that_must_be_held_in_memory_has_a_limit() {
    let folder = Folder::new();
    let input = folder.input("a.parquet.zst", zstd(&table()));
    assert_eq!(read(&Scan::of(&input).select(Select::field("text"))).unwrap().1.rows, ROWS as u64);
    let error = read(&Scan::of(&input.max_held(1000)).select(Select::field("text"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
}

#[test]
fn what_is_not_text_is_refused_by_its_name() {
    let folder = Folder::new();
    for (bytes, says) in [
        (&b"PK\x03\x04rest of it"[..], "is a zip archive"),
        (b"SQLite format 3\0rest", "is an SQLite database"),
        (b"a\0b\0c\0d\0e\0f\0g\0h\0i\0j\0k\0l\0m\0n\0o\0p\0q\0\n\0", "is UTF-16 text"),
    ] {
        let error = read(&Scan::of(&folder.input("a", bytes))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains(says), "{error}");
    }
    // Parquet is recognised under any name.
    let named = folder.input("data", table());
    assert_eq!(read(&Scan::of(&named).select(Select::field("text"))).unwrap().1.rows, ROWS as u64);
    assert_eq!(Input::file(folder.path("data")).field_names().unwrap(), [["number", "text"]]);
}
