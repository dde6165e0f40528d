//! Each rule of private counts, and of files of reports.

use crivo::ErrorKind::{Damaged, Foreign, FutureVersion, InvalidContents, TrailingBytes, Truncated};
use crivo::frequency::private::{
    PredictableBits, PrivateClient, PrivateCountMean, Protocol, Report, reports_in,
};
use crivo::{Error, ErrorKind};

use super::support::{forge, generator};
use super::{broken, set};

#[test]
fn each_broken_rule_of_private_count_mean_is_named() {
    let [empty, filled, _] = &forge::private_count_means()[..] else { panic!("other samples") };
    let broken =
        |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<PrivateCountMean>(original, change);

    assert_eq!(broken(filled, &|bytes| bytes[28..36].fill(0)), (InvalidContents, "epsilon"));
    assert_eq!(broken(filled, &|bytes| bytes[28..36].fill(0xFF)), (InvalidContents, "epsilon"));
    assert_eq!(broken(filled, &set(36, 0)), (InvalidContents, "rows"));
    assert_eq!(broken(filled, &set(38, 2)), (InvalidContents, "rows"));
    assert_eq!(broken(filled, &set(40, 1)), (InvalidContents, "width"));
    assert_eq!(broken(filled, &set(43, 1)), (InvalidContents, "width"));
    assert_eq!(broken(filled, &set(37, 1)), (InvalidContents, "reports"));
    assert_eq!(broken(filled, &set(40, 10)), (InvalidContents, "ones"));
    assert_eq!(broken(filled, &set(40, 8)), (InvalidContents, "payload"));
    // Fewer reports than ones, and more ones than reports, in the first row and in the last.
    assert_eq!(broken(filled, &set(44, 0)), (InvalidContents, "ones"));
    assert_eq!(broken(filled, &set(56, 51)), (InvalidContents, "ones"));
    assert_eq!(broken(filled, &set(56 + 4 * 26, 51)), (InvalidContents, "ones"));
    assert_eq!(broken(empty, &set(48, 1)), (InvalidContents, "ones"));
}

fn protocol() -> Protocol {
    Protocol::new(2.0, 5, 27).unwrap()
}

/// A header and three reports.
fn file() -> Vec<u8> {
    let mut file = protocol().header();
    let mut coins = PredictableBits::new(3);
    for key in ["ana", "rui", "eva"] {
        PrivateClient::new(protocol(), 2.0).unwrap().encode(key, &mut coins).unwrap().encode_to(&mut file);
    }
    file
}

fn read(file: &[u8]) -> Result<Vec<Report>, Error> {
    let (_, reports) = reports_in(file)?;
    reports.collect()
}

fn what(error: &Error) -> (ErrorKind, &'static str) {
    (error.kind(), error.field())
}

/// Makes the checksum of the header fit again.
fn seal_header(file: &mut [u8]) {
    let checksum = crc32fast::hash(&file[..32]);
    file[32..36].copy_from_slice(&checksum.to_le_bytes());
}

#[test]
fn each_broken_rule_of_a_header_is_named() {
    let broken = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut header = protocol().header();
        change(&mut header);
        seal_header(&mut header);
        what(&Protocol::from_header(&header).unwrap_err())
    };
    assert_eq!(broken(&set(0, b'X')), (Foreign, "magic"));
    assert_eq!(broken(&set(4, 2)), (FutureVersion, "version"));
    assert_eq!(broken(&set(4, 0)), (InvalidContents, "version"));
    assert_eq!(broken(&set(5, 9)), (FutureVersion, "hash function"));
    assert_eq!(broken(&set(5, 0)), (InvalidContents, "hash function"));
    assert_eq!(broken(&set(6, 0)), (InvalidContents, "key kind"));
    assert_eq!(broken(&set(7, 1)), (InvalidContents, "reserved byte"));
    assert_eq!(broken(&|header| header[16..24].fill(0)), (InvalidContents, "epsilon"));
    assert_eq!(broken(&set(24, 0)), (InvalidContents, "rows"));
    assert_eq!(broken(&set(28, 1)), (InvalidContents, "width"));

    let header = protocol().header();
    for length in 0..header.len() {
        assert_eq!(what(&Protocol::from_header(&header[..length]).unwrap_err()), (Truncated, "header"));
    }
    assert_eq!(what(&Protocol::from_header(&file()).unwrap_err()), (TrailingBytes, "end"));
    for bit in 5 * 8..header.len() * 8 {
        let mut header = header.clone();
        header[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(what(&Protocol::from_header(&header).unwrap_err()), (Damaged, "header"), "bit {bit}");
    }
}

#[test]
fn every_flipped_bit_and_every_cut_of_a_record_is_noticed() {
    let file = file();
    assert_eq!(read(&file).unwrap().len(), 3);
    for bit in Protocol::HEADER_LEN * 8..file.len() * 8 {
        let mut file = file.clone();
        file[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(what(&read(&file).unwrap_err()), (Damaged, "report"), "bit {bit}");
    }
    for length in Protocol::HEADER_LEN..file.len() {
        let whole = (length - Protocol::HEADER_LEN).is_multiple_of(protocol().record_len());
        match read(&file[..length]) {
            Ok(reports) => assert!(whole && reports.len() < 3),
            Err(error) => assert_eq!(what(&error), (Truncated, "report"), "{length} bytes"),
        }
    }
}

#[test]
fn a_sealed_record_that_breaks_a_rule_is_named_with_its_number() {
    let seal = |file: &mut Vec<u8>| {
        let (length, tag) = (protocol().record_len(), file[32..36].to_vec());
        let record = &mut file[Protocol::HEADER_LEN + length..][..length];
        let checksum = crc32fast::hash(&[&tag, &record[..length - 4]].concat());
        record[length - 4..].copy_from_slice(&checksum.to_le_bytes());
    };
    let second = Protocol::HEADER_LEN + protocol().record_len();
    for (at, value, field) in [(second, 5, "row"), (second + 1, 1, "row"), (second + 5, 0x08, "bits")] {
        let mut file = file();
        file[at] = value;
        seal(&mut file);
        assert_eq!(what(&read(&file).unwrap_err()), (InvalidContents, field));
        let mut sketch = PrivateCountMean::new(protocol()).unwrap();
        let error = sketch.insert_records(&file[Protocol::HEADER_LEN..]).unwrap_err();
        assert_eq!(error.field(), field);
        assert!(error.found().ends_with("in report 2") && sketch.is_empty(), "{error}");
    }
}

/// As `hostile_bytes.rs` does it for sketches: any bytes are refused or are reports that are
/// written back the same.
#[test]
fn damaged_files_of_reports_are_refused_or_valid() {
    let mut random = generator("reports");
    let mut accepted = 0;
    for round in 0..20_000 {
        let mut bytes = file();
        forge::damage(&mut bytes, &mut random);
        if round % 2 == 1 && bytes.len() >= Protocol::HEADER_LEN {
            bytes[..5].copy_from_slice(b"CRVP\x01");
            seal_header(&mut bytes);
        }
        let Ok((protocol, reports)) = reports_in(&bytes) else { continue };
        let mut again = protocol.header();
        let all_valid =
            reports.map(|report| report.map(|report| report.encode_to(&mut again))).all(|r| r.is_ok());
        assert!(!all_valid || again == bytes);
        accepted += usize::from(all_valid);
    }
    assert!(accepted > 100, "some damage leaves whole records ({accepted})");
}
