//! Each rule of the payloads of the Bloom filters.

use crivo::ErrorKind::InvalidContents;
use crivo::membership::{BlockedBloom, Bloom};

use super::support::forge;
use super::{broken, set};

#[test]
fn each_broken_rule_of_bloom_is_named() {
    let [_, filter, ..] = &forge::blooms()[..] else { panic!("too few samples") };
    let broken = |change: &dyn Fn(&mut Vec<u8>)| broken::<Bloom>(filter, change);

    // Bits, hashes, capacity; then 100 bits in two words.
    assert_eq!(filter.len(), 28 + 20 + 16 + 4);
    assert_eq!(broken(&set(28, 0)), (InvalidContents, "bits"));
    assert_eq!(broken(&set(34, 9)), (InvalidContents, "bits"));
    assert_eq!(broken(&set(28, 129)), (InvalidContents, "bit array"));
    assert_eq!(broken(&set(28, 64)), (InvalidContents, "payload"));
    assert_eq!(broken(&set(36, 0)), (InvalidContents, "hashes"));
    assert_eq!(broken(&set(36, 65)), (InvalidContents, "hashes"));
    assert_eq!(broken(&|bytes| bytes[40..48].fill(0)), (InvalidContents, "capacity"));
    assert_eq!(broken(&|bytes| bytes[40..48].fill(0xFF)), (InvalidContents, "capacity"));
    // The hundredth bit is the last of bits 36 to 63 of the second word that may be set.
    assert_eq!(broken(&set(60, 0x10)), (InvalidContents, "bit array"));
    assert_eq!(broken(&set(63, 0x80)), (InvalidContents, "bit array"));
    assert_eq!(broken(&|bytes| bytes.truncate(60)), (InvalidContents, "bit array"));
}

#[test]
fn each_broken_rule_of_blocked_bloom_is_named() {
    let [filter, ..] = &forge::blocked_blooms()[..] else { panic!("too few samples") };
    let broken = |change: &dyn Fn(&mut Vec<u8>)| broken::<BlockedBloom>(filter, change);

    // Blocks, capacity; then one block.
    assert_eq!(filter.len(), 28 + 16 + 64 + 4);
    assert_eq!(broken(&set(28, 0)), (InvalidContents, "blocks"));
    assert_eq!(broken(&set(34, 9)), (InvalidContents, "blocks"));
    assert_eq!(broken(&set(28, 2)), (InvalidContents, "bit array"));
    assert_eq!(broken(&|bytes| bytes[36..44].fill(0)), (InvalidContents, "capacity"));
    assert_eq!(broken(&|bytes| bytes[36..44].fill(0xFF)), (InvalidContents, "capacity"));
    assert_eq!(broken(&|bytes| bytes.truncate(100)), (InvalidContents, "bit array"));
    assert_eq!(broken(&|bytes| bytes.extend([0; 8])), (InvalidContents, "payload"));
}
