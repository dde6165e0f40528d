//! Each rule of the payload of `LinearCounting`.

use crivo::ErrorKind::InvalidContents;
use crivo::distinct::LinearCounting;

use super::support::forge;
use super::{broken, set};

#[test]
fn each_broken_rule_of_linear_counting_is_named() {
    // 100 bits are thirteen bytes, and the last byte has four unused bits.
    let [_, counting, ..] = &forge::linear_countings()[..] else { panic!("too few samples") };
    let broken = |change: &dyn Fn(&mut Vec<u8>)| broken::<LinearCounting>(counting, change);

    assert_eq!(broken(&set(28, 0)), (InvalidContents, "bits"));
    assert_eq!(broken(&set(33, 1)), (InvalidContents, "bits"));
    assert_eq!(broken(&set(35, 0xFF)), (InvalidContents, "bits"));
    assert_eq!(broken(&set(32, 0x0F)), (InvalidContents, "table"));
    assert_eq!(broken(&set(28, 105)), (InvalidContents, "table"));
    assert_eq!(broken(&set(28, 96)), (InvalidContents, "payload"));
    for bit in 4..8 {
        assert_eq!(broken(&|bytes| bytes[48] |= 1 << bit), (InvalidContents, "table"));
    }
}
