//! Each rule of the payload of LogLog.

use crivo::ErrorKind::InvalidContents;
use crivo::distinct::LogLog;

use super::support::forge;
use super::{broken, set};

#[test]
fn each_broken_rule_of_log_log_is_named() {
    let [_, used, ..] = &forge::log_logs()[..] else { panic!("too few samples") };
    let broken = |change: &dyn Fn(&mut Vec<u8>)| broken::<LogLog>(used, change);

    assert_eq!(broken(&set(28, 5)), (InvalidContents, "precision"));
    assert_eq!(broken(&set(28, 19)), (InvalidContents, "precision"));
    assert_eq!(broken(&set(28, 7)), (InvalidContents, "registers"));
    assert_eq!(broken(&set(29, 60)), (InvalidContents, "registers"));
    assert_eq!(broken(&|bytes| bytes.truncate(40)), (InvalidContents, "registers"));
    assert_eq!(broken(&|bytes| bytes.push(0)), (InvalidContents, "payload"));
}
