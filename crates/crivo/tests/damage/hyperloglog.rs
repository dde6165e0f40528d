//! Each rule of the payload of HyperLogLog.

use crivo::ErrorKind::InvalidContents;
use crivo::distinct::HyperLogLog;

use super::support::forge;
use super::{broken, set};

#[test]
fn each_broken_rule_of_hyperloglog_is_named() {
    let [_, exact, dense, ..] = &forge::hyperloglogs()[..] else { panic!("too few samples") };
    let broken = |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<HyperLogLog>(original, change);

    assert_eq!(broken(exact, &set(28, 3)), (InvalidContents, "precision"));
    assert_eq!(broken(exact, &set(28, 19)), (InvalidContents, "precision"));
    assert_eq!(broken(exact, &set(29, 2)), (InvalidContents, "state"));
    assert_eq!(broken(exact, &set(30, 200)), (InvalidContents, "number of hashes"));
    assert_eq!(broken(exact, &set(30, 21)), (InvalidContents, "hashes"));
    assert_eq!(broken(exact, &set(30, 19)), (InvalidContents, "payload"));
    assert_eq!(broken(exact, &|bytes| bytes[34..42].fill(0xFF)), (InvalidContents, "hashes"));
    assert_eq!(broken(dense, &set(30, 62)), (InvalidContents, "registers"));
    assert_eq!(broken(dense, &|bytes| bytes[30..46].fill(0)), (InvalidContents, "registers"));
    assert_eq!(broken(dense, &|bytes| bytes.truncate(40)), (InvalidContents, "registers"));
}
