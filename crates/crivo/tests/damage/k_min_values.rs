//! Each rule of the payload of `KMinValues`.

use crivo::ErrorKind::InvalidContents;
use crivo::distinct::KMinValues;

use super::support::forge;
use super::{broken, set};

#[test]
fn each_broken_rule_of_k_min_values_is_named() {
    let [_, sampling, exact, ..] = &forge::k_min_values()[..] else { panic!("too few samples") };
    let broken = |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<KMinValues>(original, change);

    assert_eq!(broken(sampling, &set(28, 0)), (InvalidContents, "k"));
    assert_eq!(broken(sampling, &set(31, 0x80)), (InvalidContents, "k"));
    assert_eq!(broken(sampling, &set(32, 17)), (InvalidContents, "number of hashes"));
    assert_eq!(broken(exact, &set(32, 10)), (InvalidContents, "hashes"));
    assert_eq!(broken(exact, &set(32, 8)), (InvalidContents, "payload"));
    assert_eq!(broken(sampling, &|bytes| bytes[36..44].fill(0xFF)), (InvalidContents, "hashes"));
    assert_eq!(broken(exact, &|bytes| bytes.copy_within(36..44, 44)), (InvalidContents, "hashes"));
}
