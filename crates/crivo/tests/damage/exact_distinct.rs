//! Each rule of the payload of `ExactDistinct`.

use crivo::ErrorKind::InvalidContents;
use crivo::distinct::ExactDistinct;

use super::support::forge;
use super::{broken, set};

#[test]
fn each_broken_rule_of_exact_distinct_is_named() {
    let [_, exact, ..] = &forge::exact_distincts()[..] else { panic!("too few samples") };
    let broken = |change: &dyn Fn(&mut Vec<u8>)| broken::<ExactDistinct>(exact, change);

    assert_eq!(broken(&set(28, 21)), (InvalidContents, "hashes"));
    assert_eq!(broken(&set(35, 0xFF)), (InvalidContents, "hashes"));
    assert_eq!(broken(&set(28, 19)), (InvalidContents, "payload"));
    assert_eq!(broken(&|bytes| bytes[36..44].fill(0xFF)), (InvalidContents, "hashes"));
    assert_eq!(broken(&|bytes| bytes.copy_within(36..44, 44)), (InvalidContents, "hashes"));
    assert_eq!(broken(&|bytes| bytes.truncate(38)), (InvalidContents, "number of hashes"));
}
