//! Filters inside of Parquet files: written for chosen columns, queried by key, and compared with
//! the Parquet crate's own reader.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, StringArray};
use crivo_rows::{ColumnFilters, ErrorKind, Format, Input, ParquetFilters, Predicate, Scan, Select};
use parquet::bloom_filter::Sbbf;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use crate::hostile::{forged, with_columns};
use crate::parquet_files::{columns_of_every_type, parquet_bytes};
use crate::support::{Folder, Random};

fn filters(columns: &[&str], rate: f64) -> ColumnFilters {
    ColumnFilters { columns: columns.iter().map(|&name| name.to_owned()).collect(), rate }
}

fn copy(input: &Input, filters: &ColumnFilters) -> crivo_rows::Result<Vec<u8>> {
    let mut output = Vec::new();
    let scan = Scan::of(input).select(Select::Fields(Vec::new())).column_filters(filters).threads(2);
    scan.copy_rows(Predicate::All, &mut output)?;
    Ok(output)
}

fn metadata(bytes: &[u8]) -> ParquetMetaData {
    ParquetMetaDataReader::new().parse_and_finish(&bytes::Bytes::copy_from_slice(bytes)).unwrap()
}

/// Writes two columns with a filter, in several row groups of the input.
fn table(folder: &Folder) -> Input {
    let numbers: ArrayRef = Arc::new((0..3000_i64).map(|n| Some(n * 7)).collect::<Int64Array>());
    let texts: ArrayRef =
        Arc::new((0..3000).map(|n| (n % 5 > 0).then(|| format!("text {n}"))).collect::<StringArray>());
    folder.input("plain.parquet", parquet_bytes(vec![("number", numbers), ("text", texts)], 1000))
}

#[test]
fn columns_of_every_type_are_asked_by_their_texts() {
    let columns = columns_of_every_type();
    let folder = Folder::new();
    let bytes = parquet_bytes(columns.iter().map(|(n, a, _)| (*n, Arc::clone(a))).collect(), 100);
    let input = folder.input("types.parquet", bytes);
    let asked: Vec<&str> =
        columns.iter().map(|(name, ..)| *name).filter(|name| !["bool", "null"].contains(name)).collect();
    let path = folder.write("filtered.parquet", copy(&input, &filters(&asked, 0.0001)).unwrap());
    for (name, _, texts) in columns.iter().filter(|(name, ..)| asked.contains(name)) {
        let column = ParquetFilters::open(&path, Some(name)).unwrap().unwrap();
        // The text of a column of bytes is shown as Latin-1 in the table.
        let texts: Vec<Vec<u8>> = texts
            .iter()
            .filter(|text| !text.is_empty())
            .map(|text| match *name {
                "binary" => text.chars().map(|c| c as u8).collect(),
                _ => text.as_bytes().to_vec(),
            })
            .collect();
        match column.ask(&texts) {
            Ok(answers) => assert!(answers.members.iter().all(|member| *member), "{name}"),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
                assert!(["time", "seconds"].contains(name), "{error}");
            }
        }
    }
    for name in ["bool", "null"] {
        let error = copy(&input, &filters(&[name], 0.01)).map(|_| ()).err();
        assert_eq!(error.map(|error| error.kind()), (name == "bool").then_some(ErrorKind::Unsupported));
    }
}

#[test]
fn answers_are_those_of_the_crates_own_reader() {
    let folder = Folder::new();
    let bytes = copy(&table(&folder), &filters(&["number,text"], 0.02)).unwrap();
    let path = folder.write("filtered.parquet", &bytes);
    let whole = bytes::Bytes::copy_from_slice(&bytes);
    let metadata = metadata(&bytes);
    let theirs = |column: usize| -> Vec<Sbbf> {
        let groups = metadata.row_groups().iter();
        groups
            .map(|group| Sbbf::read_from_column_chunk(group.column(column), &whole).unwrap().unwrap())
            .collect()
    };
    let numbers = ParquetFilters::open(&path, Some("number")).unwrap().unwrap();
    let keys: Vec<String> = (0..40_000).map(|n| n.to_string()).collect();
    let answers = numbers.ask(&keys).unwrap();
    let (filters_of_numbers, filters_of_texts) = (theirs(0), theirs(1));
    let mut wrong = 0;
    for (key, &member) in keys.iter().zip(&answers.members) {
        let number: i64 = key.parse().unwrap();
        assert_eq!(member, filters_of_numbers.iter().any(|filter| filter.check(&number)), "{key}");
        let is_in = number % 7 == 0 && number < 21_000;
        assert!(member || !is_in, "{key}");
        wrong += usize::from(member && !is_in);
    }
    let share = wrong as f64 / 37_000.0;
    let rate = answers.false_positive_rate;
    // Six standard errors.
    assert!((share - rate).abs() < 6.0 * (rate / 37_000.0).sqrt() && rate < 0.04, "{share} {rate}");
    let texts = ParquetFilters::open(&path, Some("text")).unwrap().unwrap();
    let keys: Vec<String> = (0..3000).map(|n| format!("text {n}")).collect();
    for (key, member) in keys.iter().zip(texts.ask(&keys).unwrap().members) {
        assert_eq!(member, filters_of_texts.iter().any(|filter| filter.check(key.as_str())), "{key}");
    }
}

#[test]
fn rows_that_are_converted_have_filters_too() {
    let folder = Folder::new();
    let rows: String = (0..500).map(|n| format!("user {n},{}\n", n % 10)).collect();
    let input = folder.input("t.csv", format!("user,page\n{rows}"));
    let wanted = filters(&["page"], 0.01);
    let mut output = Vec::new();
    let scan = Scan::of(&input).column_filters(&wanted);
    scan.convert_rows(Predicate::All, Format::Parquet, &mut output).unwrap();
    let path = folder.write("t.parquet", &output);
    // The only column with filters need not be named.
    let pages = ParquetFilters::open(&path, None).unwrap().unwrap();
    assert_eq!(pages.column(), "page");
    assert_eq!(pages.ask(&["3", "9", "30"]).unwrap().members, [true, true, false]);
    for error in [
        scan.convert_rows(Predicate::All, Format::Jsonl, &mut Vec::new()).unwrap_err(),
        scan.copy_rows(Predicate::All, &mut Vec::new()).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::InvalidOption, "{error}");
    }
    let missing = filters(&["pages"], 0.01);
    let error = Scan::of(&input).column_filters(&missing);
    let error = error.convert_rows(Predicate::All, Format::Parquet, &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("did you mean 'page'?"), "{error}");
}

#[test]
fn what_has_no_filter_is_named() {
    let folder = Folder::new();
    let input = table(&folder);
    let open = |name: &str, column| ParquetFilters::open(&folder.path(name), column).map(|_| ()).unwrap_err();
    let none = open("plain.parquet", None).to_string();
    assert!(none.contains("plain.parquet") && none.contains("without filters"), "{none}");
    let of_column = open("plain.parquet", Some("text")).to_string();
    assert!(of_column.contains("'text' has no filter in row group 1 of 3"), "{of_column}");
    folder.write("both.parquet", copy(&input, &filters(&["number", "text"], 0.01)).unwrap());
    assert!(open("both.parquet", None).to_string().contains("(filters: number, text)"));
    assert_eq!(open("both.parquet", Some("txt")).kind(), ErrorKind::NoSuchField);
    let wrong = ParquetFilters::open(&folder.path("both.parquet"), Some("number")).unwrap().unwrap();
    let wrong = wrong.ask(&["7", "seven"]).unwrap_err().to_string();
    assert!(wrong.contains("both.parquet") && wrong.contains("'seven' is no value of it: it holds integers"));
    folder.write("text.txt", "PAR, but no table");
    assert!(ParquetFilters::open(&folder.path("text.txt"), None).unwrap().is_none());
    assert!(ParquetFilters::open(&folder.path("nothing"), None).unwrap().is_none());
}

#[test]
fn hostile_filters_are_errors() {
    let folder = Folder::new();
    let bytes = copy(&table(&folder), &filters(&["text"], 0.01)).unwrap();
    let place = metadata(&bytes).row_group(0).column(1).bloom_filter_offset().unwrap();
    let ask = |bytes: &[u8]| {
        let path = folder.write("hostile.parquet", bytes);
        ParquetFilters::open(&path, Some("text")).and_then(|filters| filters.unwrap().ask(&["text 1"]))
    };
    assert!(ask(&bytes).unwrap().members[0]);
    // Headers that declare no bytes, a negative number, half blocks, or more bytes than there are,
    // or other kinds of filters.
    let at = usize::try_from(place).unwrap();
    let kinds = [0x1C, 0x1C, 0, 0, 0x1C, 0x1C, 0, 0, 0x1C, 0x1C, 0, 0, 0];
    let sizes: [&[u8]; 5] =
        [&[0], &[1], &[33], &[0xFE, 0xFF, 0xFF, 0xFF, 0x0F], &[0x80, 0x80, 0x80, 0x80, 1]];
    for size in sizes {
        let mut forged = bytes.clone();
        let head = [&[0x15], size, &kinds].concat();
        forged[at..at + head.len()].copy_from_slice(&head);
        let error = ask(&forged).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
        assert!(error.to_string().contains("hostile.parquet"), "{error}");
    }
    let mut other = bytes.clone();
    let choice = bytes[at..].windows(2).position(|pair| pair == [0x1C, 0x1C]).unwrap();
    other[at + choice + 1] = 0x2C;
    assert_eq!(ask(&other).unwrap_err().kind(), ErrorKind::Unsupported);
    // Filters that begin before the file, in its last bytes, or after it.
    for offset in [-1, bytes.len() as i64 - 1, bytes.len() as i64, i64::MAX] {
        let forged = forged(&bytes, |metadata| {
            with_columns(metadata, |column| {
                column.into_builder().set_bloom_filter_offset(Some(offset)).build().unwrap()
            })
        });
        let error = ask(&forged).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Damaged, "{offset}: {error}");
    }
    // Random changes of bytes give an answer or an error.
    let mut random = Random::new(8);
    for _ in 0..500 {
        let mut damaged = bytes.clone();
        let place = at + random.below(60);
        damaged[place] = random.below(256) as u8;
        if let Err(error) = ask(&damaged) {
            assert!([ErrorKind::Damaged, ErrorKind::Unsupported].contains(&error.kind()), "{error}");
        }
    }
}
