//! Each rule of the payload of Majority.

use crivo::ErrorKind::InvalidContents;
use crivo::frequency::Majority;

use super::support::forge;
use super::{broken, set};

#[test]
fn each_broken_rule_of_majority_is_named() {
    // 8 votes, a lead of 4 and 6 counted.
    let [empty, leading, ..] = &forge::majorities()[..] else { panic!("too few samples") };
    let broken = |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<Majority>(original, change);

    assert_eq!(broken(empty, &set(28, 1)), (InvalidContents, "lead"), "one vote has a lead of one");
    assert_eq!(broken(leading, &set(28, 2)), (InvalidContents, "lead"), "more than all votes");
    assert_eq!(broken(leading, &set(28, 9)), (InvalidContents, "lead"), "an odd number cannot be paired");
    assert_eq!(broken(leading, &set(44, 3)), (InvalidContents, "counted"), "less than the lead");
    assert_eq!(broken(leading, &set(44, 7)), (InvalidContents, "counted"), "more than there can be");
    assert_eq!(broken(leading, &set(52, 9)), (InvalidContents, "candidate"), "a key longer than the bytes");
    assert_eq!(broken(leading, &set(36, 0)), (InvalidContents, "payload"), "a candidate without a lead");
    assert_eq!(broken(empty, &|bytes| bytes.truncate(44)), (InvalidContents, "lead"));
}
