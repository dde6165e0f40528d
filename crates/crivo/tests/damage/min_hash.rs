//! Each rule of the payload of `MinHash`.

use crivo::ErrorKind::InvalidContents;
use crivo::similarity::MinHash;

use super::support::forge;
use super::{broken, set};

#[test]
fn each_broken_rule_of_min_hash_is_named() {
    let [empty, one, many, ..] = &forge::min_hashes()[..] else { panic!("too few samples") };
    let broken = |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<MinHash>(original, change);
    let slot = |index: usize| 36 + 8 * index;

    assert_eq!(broken(many, &|bytes| bytes[28..32].fill(0)), (InvalidContents, "k"));
    assert_eq!(broken(many, &set(29, 0x80)), (InvalidContents, "k"));
    assert_eq!(broken(many, &set(32, 15)), (InvalidContents, "number of slots"));
    assert_eq!(broken(many, &set(28, 17)), (InvalidContents, "number of slots"));
    assert_eq!(broken(empty, &set(32, 100)), (InvalidContents, "slots"));
    assert_eq!(broken(many, &|bytes| bytes.truncate(slot(16) + 3)), (InvalidContents, "slots"));
    assert_eq!(broken(many, &|bytes| bytes.extend([0; 8])), (InvalidContents, "payload"));
    // An empty slot, a round that does not exist, and one that is another slot's turn.
    assert_eq!(broken(many, &|bytes| bytes[slot(3)..slot(4)].fill(0xFF)), (InvalidContents, "slots"));
    assert_eq!(broken(many, &set(slot(3) + 6, 32)), (InvalidContents, "slots"));
    assert_eq!(broken(many, &set(slot(3) + 6, 16 + 4)), (InvalidContents, "slots"));
    // No element falls nowhere in the first round.
    let late = |bytes: &mut Vec<u8>| (0..5).for_each(|index| bytes[slot(index) + 6] = 1);
    assert_eq!(broken(one, &late), (InvalidContents, "slots"));
}

#[test]
fn a_slot_may_be_filled_in_its_own_turn() {
    let mut bytes = forge::min_hashes()[2].clone();
    bytes[36 + 8 * 3 + 6] = 16 + 3;
    forge::seal(&mut bytes);
    let sketch = MinHash::decode(&bytes).unwrap();
    assert_eq!(sketch.slots()[3] >> 48, 19);
    assert_eq!(sketch.encode(), bytes);
}
