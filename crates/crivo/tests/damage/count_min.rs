//! Each rule of the payload of Count-Min.

use crivo::ErrorKind::InvalidContents;
use crivo::frequency::CountMin;

use super::support::forge;
use super::{broken, set};

#[test]
fn each_broken_rule_of_count_min_is_named() {
    let [empty, plain, conservative, saturated, conservative_saturated] = &forge::count_mins()[..] else {
        panic!("other samples")
    };
    let broken = |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<CountMin>(original, change);

    assert_eq!(broken(plain, &set(28, 0)), (InvalidContents, "width"));
    assert_eq!(broken(plain, &set(31, 0x41)), (InvalidContents, "width"));
    assert_eq!(broken(plain, &set(32, 0)), (InvalidContents, "depth"));
    assert_eq!(broken(plain, &set(32, 33)), (InvalidContents, "depth"));
    assert_eq!(broken(plain, &set(33, 2)), (InvalidContents, "update"));
    assert_eq!(broken(plain, &set(28, 10)), (InvalidContents, "counters"));
    assert_eq!(broken(plain, &set(32, 5)), (InvalidContents, "counters"));
    assert_eq!(broken(plain, &set(28, 8)), (InvalidContents, "counters"));
    assert_eq!(broken(plain, &set(32, 3)), (InvalidContents, "payload"));
    // The total, then a counter of the first row and of the last.
    assert_eq!(broken(plain, &set(34, 61)), (InvalidContents, "counters"));
    assert_eq!(broken(plain, &set(42, 99)), (InvalidContents, "counters"));
    assert_eq!(broken(plain, &set(42 + 8 * 35, 99)), (InvalidContents, "counters"));
    assert_eq!(broken(empty, &set(42, 1)), (InvalidContents, "counters"));
    // Rows that are together less than the total, and a row that is more.
    assert_eq!(broken(conservative, &set(35, 9)), (InvalidContents, "counters"));
    assert_eq!(broken(conservative, &set(43, 9)), (InvalidContents, "counters"));
    // At the highest total rows may be more, but not less.
    assert_eq!(broken(saturated, &|bytes| bytes[42..114].fill(0)), (InvalidContents, "counters"));
    assert_eq!(
        broken(conservative_saturated, &|bytes| bytes[42..186].fill(0)),
        (InvalidContents, "counters")
    );
}
