//! Each rule of the payload of the direct table.

use crivo::ErrorKind::InvalidContents;
use crivo::membership::DirectTable;

use super::support::forge;
use super::{broken, set};

#[test]
fn each_broken_rule_of_direct_table_is_named() {
    let [_, table, ..] = &forge::direct_tables()[..] else { panic!("too few samples") };
    let broken = |change: &dyn Fn(&mut Vec<u8>)| broken::<DirectTable>(table, change);

    // The universe of 100 integers, and two words.
    assert_eq!(table.len(), 28 + 8 + 16 + 4);
    assert_eq!(broken(&set(28, 0)), (InvalidContents, "universe"));
    assert_eq!(broken(&set(33, 1)), (InvalidContents, "universe"));
    assert_eq!(broken(&set(32, 16)), (InvalidContents, "universe"));
    assert_eq!(broken(&set(32, 15)), (InvalidContents, "bits"));
    assert_eq!(broken(&set(28, 129)), (InvalidContents, "bits"));
    assert_eq!(broken(&set(28, 64)), (InvalidContents, "payload"));
    // Bit 99 is the last.
    assert_eq!(broken(&set(48, 0x10)), (InvalidContents, "bits"));
    assert_eq!(broken(&set(51, 0x80)), (InvalidContents, "bits"));
    assert_eq!(broken(&|bytes| bytes.truncate(50)), (InvalidContents, "bits"));
    let as_texts = |bytes: &mut Vec<u8>| bytes[8..10].copy_from_slice(&[1, 1]);
    assert_eq!(broken(&as_texts), (InvalidContents, "key kind"));
    assert_eq!(broken(&set(9, 1)), (InvalidContents, "hash function"));
}
