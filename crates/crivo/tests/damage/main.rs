//! Each way in which bytes can be wrong has its own kind of error, which names the field.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // this is how a test fails

#[path = "../support/mod.rs"]
mod support;

mod binary_fuse;
mod bloom;
mod column_profile;
mod combined_filter;
mod count_min;
mod counters;
mod counting_bloom;
mod ddsketch;
mod direct_table;
mod distinct_growth;
mod exact_distinct;
mod groups;
mod heavy_hitters;
mod k_min_values;
mod linear_counting;
mod log_log;
mod majority;
mod min_hash;
mod near_duplicate_share;
mod panes;
mod private_count_mean;
mod probabilistic_counting;
mod quantiles;
mod range_count_min;
mod register_sketch;
mod reservoirs;
mod row_sample;
mod table_profile;

use crivo::ErrorKind::{self, Damaged, Foreign, FutureVersion, InvalidContents, TrailingBytes, Truncated};
use crivo::codec::{AnySketch, Decode};
use crivo::distinct::HyperLogLog;
use crivo::distinct::hyperloglog::HighestRank;

use support::forge::{register_sketches, samples, seal};
use support::generator;

#[test]
fn random_bytes_are_foreign() {
    let mut random = generator("foreign");
    for length in 0..200 {
        let bytes: Vec<u8> = (0..length).map(|_| random.bits() as u8 | 0x80).collect();
        let kind = AnySketch::decode(&bytes).unwrap_err().kind();
        assert_eq!(kind, if length == 0 { Truncated } else { Foreign }, "{length} bytes");
    }
}

#[test]
fn every_truncation_says_so() {
    for whole in samples() {
        for length in 0..whole.len() {
            assert_eq!(AnySketch::decode(&whole[..length]).unwrap_err().kind(), Truncated, "{length}");
        }
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    let whole = &register_sketches::<HighestRank>()[1];
    for bit in 0..whole.len() * 8 {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let error = AnySketch::decode(&bytes).expect_err("a flipped bit");
        let expected: &[ErrorKind] = match bit / 8 {
            0..4 => &[Foreign],
            4 => &[FutureVersion, Damaged],
            20..28 => &[Truncated, TrailingBytes],
            _ => &[Damaged],
        };
        assert!(expected.contains(&error.kind()), "bit {bit}: {error:?}");
    }
}

/// What the error names after a change to well-sealed bytes: its kind and its field.
fn broken<S: Decode>(original: &[u8], change: &dyn Fn(&mut Vec<u8>)) -> (ErrorKind, &'static str) {
    let mut bytes = original.to_vec();
    change(&mut bytes);
    seal(&mut bytes);
    match S::decode(&bytes) {
        Ok(_) => panic!("a broken rule was not noticed"),
        Err(error) => (error.kind(), error.field()),
    }
}

/// The change that sets one byte.
fn set(at: usize, value: u8) -> impl Fn(&mut Vec<u8>) {
    move |bytes| bytes[at] = value
}

#[test]
fn each_broken_rule_of_the_envelope_is_named() {
    let sketch = register_sketches::<HighestRank>().remove(1);
    let broken = |change: &dyn Fn(&mut Vec<u8>)| broken::<HyperLogLog>(&sketch, change);
    assert_eq!(broken(&set(5, 0xEE)), (FutureVersion, "family"));
    assert_eq!(broken(&set(6, 9)), (FutureVersion, "family version"));
    assert_eq!(broken(&set(6, 0)), (InvalidContents, "family version"));
    assert_eq!(broken(&set(7, 1)), (InvalidContents, "flags and reserved bytes"));
    assert_eq!(broken(&set(11, 1)), (InvalidContents, "flags and reserved bytes"));
    assert_eq!(broken(&set(8, 9)), (FutureVersion, "hash function"));
    assert_eq!(broken(&set(8, 0)), (InvalidContents, "hash function"));
    assert_eq!(broken(&set(9, 0)), (InvalidContents, "key kind"));

    let mut longer = sketch.clone();
    longer.push(0);
    assert_eq!(HyperLogLog::decode(&longer).unwrap_err().kind(), TrailingBytes);
    let mut newer = sketch;
    newer[4] = 2;
    assert_eq!(HyperLogLog::decode(&newer).unwrap_err().kind(), FutureVersion);
}
