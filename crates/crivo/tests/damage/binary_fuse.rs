//! Each rule of the payload of the binary fuse filter.

use crivo::ErrorKind::InvalidContents;
use crivo::membership::BinaryFuse;

use super::support::forge;
use super::{broken, set};

#[test]
fn each_broken_rule_of_binary_fuse_is_named() {
    let [empty, filter, ..] = &forge::binary_fuses()[..] else { panic!("too few samples") };
    let of_empty = |change: &dyn Fn(&mut Vec<u8>)| broken::<BinaryFuse>(empty, change);
    let broken = |change: &dyn Fn(&mut Vec<u8>)| broken::<BinaryFuse>(filter, change);

    // Keys, seed, segment bits, segments; then 20 keys in three segments of 16 slots.
    assert_eq!(filter.len(), 28 + 21 + 48 + 4);
    assert_eq!(broken(&set(32, 1)), (InvalidContents, "keys"));
    assert_eq!(broken(&set(28, 1)), (InvalidContents, "segment bits"));
    assert_eq!(broken(&set(28, 200)), (InvalidContents, "segment bits"));
    assert_eq!(broken(&set(44, 5)), (InvalidContents, "segment bits"));
    assert_eq!(broken(&set(44, 255)), (InvalidContents, "segment bits"));
    assert_eq!(broken(&set(45, 4)), (InvalidContents, "segments"));
    assert_eq!(broken(&set(48, 255)), (InvalidContents, "segments"));
    assert_eq!(broken(&|bytes| bytes.truncate(90)), (InvalidContents, "table"));
    assert_eq!(broken(&|bytes| bytes.extend([0; 8])), (InvalidContents, "payload"));

    assert_eq!(empty.len(), 28 + 21 + 4);
    assert_eq!(of_empty(&set(28, 1)), (InvalidContents, "segment bits"));
    assert_eq!(of_empty(&set(36, 1)), (InvalidContents, "seed"));
    assert_eq!(of_empty(&set(45, 1)), (InvalidContents, "segments"));
}
