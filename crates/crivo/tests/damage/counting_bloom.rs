//! Each rule of the payload of the counting Bloom filter.

use crivo::ErrorKind::InvalidContents;
use crivo::membership::CountingBloom;

use super::support::forge;
use super::{broken, set};

#[test]
fn each_broken_rule_of_counting_bloom_is_named() {
    let [_, four, ..] = &forge::counting_blooms()[..] else { panic!("too few samples") };
    let broken = |change: &dyn Fn(&mut Vec<u8>)| broken::<CountingBloom>(four, change);

    // Cells, capacity, hashes, counter bits; then 37 counters of 4 bits in three words.
    assert_eq!(four.len(), 28 + 18 + 24 + 4);
    assert_eq!(broken(&set(28, 0)), (InvalidContents, "cells"));
    assert_eq!(broken(&set(34, 9)), (InvalidContents, "cells"));
    assert_eq!(broken(&set(28, 49)), (InvalidContents, "counters"));
    assert_eq!(broken(&set(28, 32)), (InvalidContents, "payload"));
    assert_eq!(broken(&set(36, 0)), (InvalidContents, "capacity"));
    assert_eq!(broken(&set(42, 9)), (InvalidContents, "capacity"));
    assert_eq!(broken(&set(44, 0)), (InvalidContents, "hashes"));
    assert_eq!(broken(&set(44, 65)), (InvalidContents, "hashes"));
    assert_eq!(broken(&set(45, 0)), (InvalidContents, "counter bits"));
    assert_eq!(broken(&set(45, 5)), (InvalidContents, "counter bits"));
    assert_eq!(broken(&set(45, 64)), (InvalidContents, "counter bits"));
    assert_eq!(broken(&set(45, 8)), (InvalidContents, "counters"));
    // The 38th counter does not exist.
    assert_eq!(broken(&set(64, 0x10)), (InvalidContents, "counters"));
    assert_eq!(broken(&set(69, 0x80)), (InvalidContents, "counters"));
    assert_eq!(broken(&|bytes| bytes.truncate(60)), (InvalidContents, "counters"));
    assert_eq!(broken(&|bytes| bytes.truncate(48)), (InvalidContents, "hashes"));
}
