//! Each rule of the payload of `RangeCountMin`.

use crivo::ErrorKind::InvalidContents;
use crivo::frequency::RangeCountMin;

use super::support::forge;
use super::{broken, set};

#[test]
fn each_broken_rule_of_range_count_min_is_named() {
    let [empty, exact, sketched, ..] = &forge::range_count_mins()[..] else { panic!("too few samples") };
    let broken = |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<RangeCountMin>(original, change);

    let as_texts = |bytes: &mut Vec<u8>| bytes[8..10].copy_from_slice(&[1, 1]);
    assert_eq!(broken(sketched, &as_texts), (InvalidContents, "key kind"));
    assert_eq!(broken(sketched, &set(9, 1)), (InvalidContents, "hash function"));
    let as_hashes = |bytes: &mut Vec<u8>| bytes[8..10].copy_from_slice(&[0, 3]);
    assert_eq!(broken(sketched, &as_hashes), (InvalidContents, "key kind"));
    assert_eq!(broken(sketched, &set(28, 0)), (InvalidContents, "levels"));
    assert_eq!(broken(sketched, &set(28, 65)), (InvalidContents, "levels"));
    assert_eq!(broken(sketched, &set(29, 0)), (InvalidContents, "width"));
    assert_eq!(broken(sketched, &set(32, 0x41)), (InvalidContents, "width"));
    assert_eq!(broken(sketched, &set(33, 0)), (InvalidContents, "depth"));
    assert_eq!(broken(sketched, &set(33, 33)), (InvalidContents, "depth"));
    // Sizes that do not fit the bytes: more leaves, more levels, fewer.
    assert_eq!(broken(exact, &|bytes| bytes[28..30].fill(40)), (InvalidContents, "leaves"));
    assert_eq!(broken(sketched, &set(28, 64)), (InvalidContents, "counters"));
    assert_eq!(broken(exact, &set(28, 3)), (InvalidContents, "payload"));
    // A leaf, and a counter of a sketched level: 8 leaves, then 3 levels of 10 counters.
    assert_eq!(broken(sketched, &set(34, 99)), (InvalidContents, "counters"));
    assert_eq!(broken(sketched, &set(34 + 8 * 37, 99)), (InvalidContents, "counters"));
    assert_eq!(broken(empty, &|bytes| bytes.truncate(60)), (InvalidContents, "leaves"));
}
