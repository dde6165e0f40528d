//! Writes the small files that `cargo xtask attack` mutates: Parquet of every kind of page, and
//! compressed text.
//!
//! `cargo run -p crivo-rows --example attack_seeds -- FOLDER`

// A program that fails loudly, for developers.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMillisecondArray,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::schema::types::ColumnPath;

const ROWS: i64 = 500;

fn main() {
    let folder = PathBuf::from(std::env::args().nth(1).expect("the folder to write to"));
    fs::create_dir_all(&folder).unwrap();
    write_parquet(&folder);
    write_text(&folder);
}

fn table() -> RecordBatch {
    let text = |n: i64| (n % 7 != 3).then(|| format!("value {}", n * n % 41));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("text", Arc::new((0..ROWS).map(text).collect::<StringArray>())),
        ("number", Arc::new((0..ROWS).map(|n| n * 7919).collect::<Int64Array>())),
        ("small", Arc::new((0..ROWS as i32).map(|n| (n % 5 > 0).then_some(n % 11)).collect::<Int32Array>())),
        ("float", Arc::new((0..ROWS).map(|n| n as f64 / 8.0).collect::<Float64Array>())),
        ("flag", Arc::new((0..ROWS).map(|n| Some(n % 3 == 0)).collect::<BooleanArray>())),
        (
            "tz",
            Arc::new(
                TimestampMillisecondArray::from_iter_values((0..ROWS).map(|n| n * 86_399_001))
                    .with_timezone("UTC"),
            ),
        ),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn write_parquet(folder: &Path) {
    let plain = || WriterProperties::builder().set_data_page_row_count_limit(100).set_write_batch_size(50);
    let text = || ColumnPath::from("text");
    let ways: [(&str, WriterPropertiesBuilder); 7] = [
        ("plain", plain().set_dictionary_enabled(false)),
        ("dictionary", plain()),
        ("snappy", plain().set_compression(Compression::SNAPPY)),
        ("zstd", plain().set_compression(Compression::ZSTD(parquet::basic::ZstdLevel::default()))),
        ("gzip", plain().set_compression(Compression::GZIP(parquet::basic::GzipLevel::default()))),
        (
            "second",
            plain().set_writer_version(WriterVersion::PARQUET_2_0).set_compression(Compression::LZ4_RAW),
        ),
        (
            "delta",
            plain()
                .set_dictionary_enabled(false)
                .set_column_encoding(text(), Encoding::DELTA_BYTE_ARRAY)
                .set_column_encoding(ColumnPath::from("number"), Encoding::DELTA_BINARY_PACKED),
        ),
    ];
    let batch = table();
    for (name, properties) in ways {
        let properties = properties.set_max_row_group_row_count(Some(200)).build();
        let file = fs::File::create(folder.join(format!("{name}.parquet"))).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }
}

fn write_text(folder: &Path) {
    let mut csv = String::from("user,amount,note\n");
    let mut jsonl = String::new();
    for n in 0..200 {
        let (user, amount) = (n % 17, f64::from(n) / 4.0);
        writeln!(csv, "u{user},{amount},\"a \"\"note\"\", {n}\nof two lines\"").unwrap();
        writeln!(jsonl, r#"{{"user": "u{user}", "amount": {n}, "deep": {{"tags": ["x", {n}, null]}}}}"#)
            .unwrap();
    }
    fs::write(folder.join("a.csv"), &csv).unwrap();
    fs::write(folder.join("a.tsv"), csv.replace(',', "\t")).unwrap();
    fs::write(folder.join("a.jsonl"), &jsonl).unwrap();
    fs::write(folder.join("a.txt"), jsonl.replace(['{', '"'], " ")).unwrap();
    for (name, text) in [("a.csv", &csv), ("a.jsonl", &jsonl)] {
        let create = |end: &str| fs::File::create(folder.join(format!("{name}.{end}"))).unwrap();
        let mut gzip = flate2::write::GzEncoder::new(create("gz"), flate2::Compression::default());
        gzip.write_all(text.as_bytes()).unwrap();
        gzip.finish().unwrap();
        let mut zstd = zstd::Encoder::new(create("zst"), 3).unwrap();
        zstd.write_all(text.as_bytes()).unwrap();
        zstd.finish().unwrap();
        let mut xz = liblzma::write::XzEncoder::new(create("xz"), 6);
        xz.write_all(text.as_bytes()).unwrap();
        xz.finish().unwrap();
        let mut bzip2 = bzip2::write::BzEncoder::new(create("bz2"), bzip2::Compression::default());
        bzip2.write_all(text.as_bytes()).unwrap();
        bzip2.finish().unwrap();
    }
}
