//! Each rule of the payload of `DistinctGrowth`.

use crivo::ErrorKind::InvalidContents;
use crivo::profile::DistinctGrowth;

use super::support::forge;
use super::{broken, set};

#[test]
fn each_broken_rule_of_distinct_growth_is_named() {
    let [empty, exact, sampled] = &forge::distinct_growths()[..] else { panic!("other samples") };
    let broken = |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<DistinctGrowth>(original, change);

    assert_eq!(broken(empty, &set(28, 1)), (InvalidContents, "k"));
    assert_eq!(broken(empty, &set(31, 1)), (InvalidContents, "k"));
    assert_eq!(broken(sampled, &set(32, 17)), (InvalidContents, "number of hashes"));
    assert_eq!(broken(exact, &set(32, 7)), (InvalidContents, "hashes"), "one that is not there");
    assert_eq!(broken(exact, &set(43, 0xFF)), (InvalidContents, "hashes"));
    assert_eq!(broken(exact, &|bytes| bytes.copy_within(36..52, 52)), (InvalidContents, "hashes"));
    assert_eq!(broken(exact, &|bytes| bytes.push(0)), (InvalidContents, "payload"));
}
