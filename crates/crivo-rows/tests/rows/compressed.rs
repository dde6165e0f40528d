//! Compressed files are read like plain ones, and damaged ones are refused.

use std::io::Write;

use crivo_rows::{ErrorKind, Input, Scan, Select};

use crate::support::{Folder, WAYS, read};

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    ::zstd::encode_all(bytes, 1).unwrap()
}

pub(crate) fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ::bzip2::write::BzEncoder::new(Vec::new(), ::bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

type Compress = fn(&[u8]) -> Vec<u8>;
const KINDS: [(&str, Compress); 4] = [("gz", gzip), ("zst", zstd), ("xz", xz), ("bz2", bzip2)];

fn csv() -> String {
    (0..500).fold("n,text\n".into(), |text, n| text + &format!("{n},\"value\n{}\"\n", n * n % 97))
}

fn rows_of(input: &Input, threads: usize, chunk: usize) -> crivo_rows::Result<Vec<crate::support::Row>> {
    let scan = Scan::of(input).select(Select::fields(["text", "n"])).threads(threads).chunk_size(chunk);
    read(&scan).map(|(rows, _)| rows)
}

#[test]
fn compressed_rows_equal_plain_rows_in_one_member_or_several() {
    let folder = Folder::new();
    let text = csv();
    let expected = rows_of(&folder.input("plain.csv", &text), 1, 1 << 20).unwrap();
    assert_eq!(expected.len(), 500);
    let (first, second) = text.as_bytes().split_at(1234);
    for (name, compress) in KINDS {
        let one = folder.input(&format!("one.csv.{name}"), compress(text.as_bytes()));
        let two = [compress(first), compress(b""), compress(second)].concat();
        let two = folder.input(&format!("two.csv.{name}"), two);
        for (threads, chunk) in WAYS {
            assert_eq!(rows_of(&one, threads, chunk).unwrap(), expected, "{name}");
            assert_eq!(rows_of(&two, threads, chunk).unwrap(), expected, "{name}");
        }
    }
}

#[test]
fn content_tells_the_compression_whatever_the_name_says() {
    let folder = Folder::new();
    let input = folder.input("liar.csv", xz(b"a\n1\n"));
    assert_eq!(read(&Scan::of(&input).select(Select::field("a"))).unwrap().1.rows, 1);
    let input = folder.input("liar.csv.gz", "a\n1\n2\n");
    assert_eq!(read(&Scan::of(&input).select(Select::field("a"))).unwrap().1.rows, 2);
}

#[test]
fn truncated_stream_is_an_error_at_every_length() {
    let folder = Folder::new();
    let text = csv();
    for (name, compress) in KINDS {
        let whole = compress(text.as_bytes());
        for length in (7..whole.len()).step_by(whole.len() / 60).chain([whole.len() - 1]) {
            let input = folder.input("cut.csv", &whole[..length]);
            let error = rows_of(&input, 2, 1000).expect_err(name);
            assert_eq!(error.kind(), ErrorKind::Damaged, "{name} cut at {length}: {error}");
            assert!(error.to_string().contains("cut.csv: the "), "{error}");
        }
    }
}

#[test]
fn corrupt_stream_is_an_error() {
    let folder = Folder::new();
    for (name, compress) in KINDS {
        let mut bytes = compress(csv().as_bytes());
        let middle = bytes.len() / 2;
        bytes[middle..middle + 20].fill(0x55);
        let error = rows_of(&folder.input("bad.csv", &bytes), 1, 1000).expect_err(name);
        // The bytes that are decompressed before the damage is noticed may not be valid CSV.
        assert!(
            matches!(
                error.kind(),
                ErrorKind::Damaged
                    | ErrorKind::FieldCount
                    | ErrorKind::UnclosedQuote
                    | ErrorKind::NoSuchField
            ),
            "{name}: {error}"
        );
    }
}
