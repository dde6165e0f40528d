//! Each rule of the payload of `ProbabilisticCounting`.

use crivo::ErrorKind::InvalidContents;
use crivo::distinct::ProbabilisticCounting;

use super::support::forge;
use super::{broken, set};

#[test]
fn each_broken_rule_of_probabilistic_counting_is_named() {
    let [_, counting, ..] = &forge::probabilistic_countings()[..] else { panic!("too few samples") };
    let broken = |change: &dyn Fn(&mut Vec<u8>)| broken::<ProbabilisticCounting>(counting, change);

    assert_eq!(broken(&set(28, 66)), (InvalidContents, "rank"));
    assert_eq!(broken(&set(28, 255)), (InvalidContents, "rank"));
    assert_eq!(broken(&|bytes| bytes.truncate(32)), (InvalidContents, "rank"));
    assert_eq!(broken(&|bytes| bytes.push(0)), (InvalidContents, "payload"));
}
