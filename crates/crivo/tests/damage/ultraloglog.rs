//! Each rule of the payload of UltraLogLog.

use crivo::ErrorKind::InvalidContents;
use crivo::distinct::UltraLogLog;

use super::support::forge;
use super::{broken, set};

#[test]
fn each_broken_rule_of_ultraloglog_is_named() {
    let [_, exact, dense, ..] = &forge::ultraloglogs()[..] else { panic!("too few samples") };
    let broken = |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<UltraLogLog>(original, change);

    assert_eq!(broken(exact, &set(28, 3)), (InvalidContents, "precision"));
    assert_eq!(broken(exact, &set(28, 19)), (InvalidContents, "precision"));
    assert_eq!(broken(exact, &set(29, 2)), (InvalidContents, "state"));
    assert_eq!(broken(exact, &set(30, 200)), (InvalidContents, "number of hashes"));
    assert_eq!(broken(exact, &set(30, 21)), (InvalidContents, "hashes"));
    assert_eq!(broken(exact, &set(30, 19)), (InvalidContents, "payload"));
    assert_eq!(broken(exact, &|bytes| bytes[34..42].fill(0xFF)), (InvalidContents, "hashes"));
    assert_eq!(broken(dense, &|bytes| bytes[30..46].fill(0)), (InvalidContents, "registers"));
    assert_eq!(broken(dense, &|bytes| bytes.truncate(40)), (InvalidContents, "registers"));
}

/// Above the highest level there is none, and below the first there is none to have occurred.
#[test]
fn register_values_of_no_set_of_levels_are_refused() {
    let dense = &forge::ultraloglogs()[2];
    for value in 0..=u8::MAX {
        let mut bytes = dense.clone();
        bytes[30] = value;
        forge::seal(&mut bytes);
        let possible = matches!(value, 0 | 4 | 8 | 10 | 12..=247);
        match UltraLogLog::decode(&bytes) {
            Ok(_) => assert!(possible, "{value} was accepted"),
            Err(error) => {
                assert!(!possible, "{value} was refused");
                assert_eq!((error.kind(), error.field()), (InvalidContents, "registers"));
            }
        }
    }
}
