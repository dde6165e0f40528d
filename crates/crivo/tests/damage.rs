//! Each way in which bytes can be wrong has its own kind of error, which names the field.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // this is how a test fails

#[path = "support/mod.rs"]
mod support;

use crivo::ErrorKind::{self, Damaged, Foreign, FutureVersion, InvalidContents, TrailingBytes, Truncated};
use crivo::codec::AnySketch;
use crivo::distinct::HyperLogLog;

use support::forge::{samples, seal};
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
    let whole = &samples()[1];
    for length in 0..whole.len() {
        assert_eq!(AnySketch::decode(&whole[..length]).unwrap_err().kind(), Truncated, "{length}");
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    let whole = &samples()[1];
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

/// What is wrong with well-sealed bytes, and what the error must name.
#[test]
fn each_broken_rule_is_named() {
    let exact = samples().remove(1);
    let dense = samples().remove(2);
    let broken = |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = original.to_vec();
        change(&mut bytes);
        seal(&mut bytes);
        let error = HyperLogLog::decode(&bytes).expect_err("a broken rule");
        (error.kind(), error.field())
    };
    let set = |at: usize, value: u8| move |bytes: &mut Vec<u8>| bytes[at] = value;

    assert_eq!(broken(&exact, &set(5, 0xEE)), (FutureVersion, "family"));
    assert_eq!(broken(&exact, &set(6, 9)), (FutureVersion, "family version"));
    assert_eq!(broken(&exact, &set(6, 0)), (InvalidContents, "family version"));
    assert_eq!(broken(&exact, &set(7, 1)), (InvalidContents, "flags and reserved bytes"));
    assert_eq!(broken(&exact, &set(11, 1)), (InvalidContents, "flags and reserved bytes"));
    assert_eq!(broken(&exact, &set(8, 9)), (FutureVersion, "hash function"));
    assert_eq!(broken(&exact, &set(8, 0)), (InvalidContents, "hash function"));
    assert_eq!(broken(&exact, &set(9, 0)), (InvalidContents, "key kind"));
    assert_eq!(broken(&exact, &set(28, 3)), (InvalidContents, "precision"));
    assert_eq!(broken(&exact, &set(28, 19)), (InvalidContents, "precision"));
    assert_eq!(broken(&exact, &set(29, 2)), (InvalidContents, "state"));
    assert_eq!(broken(&exact, &set(30, 200)), (InvalidContents, "number of hashes"));
    assert_eq!(broken(&exact, &set(30, 21)), (InvalidContents, "hashes"));
    assert_eq!(broken(&exact, &set(30, 19)), (InvalidContents, "payload"));
    assert_eq!(broken(&exact, &|bytes| bytes[34..42].fill(0xFF)), (InvalidContents, "hashes"));
    assert_eq!(broken(&dense, &set(30, 62)), (InvalidContents, "registers"));
    assert_eq!(broken(&dense, &|bytes| bytes[30..46].fill(0)), (InvalidContents, "registers"));
    assert_eq!(broken(&dense, &|bytes| bytes.truncate(40)), (InvalidContents, "registers"));

    let mut longer = exact.clone();
    longer.push(0);
    assert_eq!(HyperLogLog::decode(&longer).unwrap_err().kind(), TrailingBytes);
    let mut newer = exact;
    newer[4] = 2;
    assert_eq!(HyperLogLog::decode(&newer).unwrap_err().kind(), FutureVersion);
}
