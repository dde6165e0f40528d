//! Each rule of the payloads of Groups and Tally.

use crivo::ErrorKind::InvalidContents;
use crivo::counting::Tally;
use crivo::groups::Groups;

use super::support::forge;
use super::{broken, set};

/// Where the envelope of the empty HyperLogLog begins: its payload has six bytes.
const EMPTY: usize = 28 + 1;
const COUNT: usize = EMPTY + 28 + 6 + 4;
const FIRST: usize = COUNT + 8;

#[test]
fn each_broken_rule_of_groups_is_named() {
    let [_, visitors, ..] = &forge::groups()[..] else { panic!("other groups") };
    let broken = |change: &dyn Fn(&mut Vec<u8>)| broken::<Groups>(visitors, change);

    assert_eq!(broken(&set(28, 0)), (InvalidContents, "fields"));
    assert_eq!(broken(&set(12, 9)), (InvalidContents, "empty sketch"), "another seed");
    assert_eq!(broken(&set(COUNT + 6, 1)), (InvalidContents, "groups"));
    assert_eq!(broken(&set(COUNT, 1)), (InvalidContents, "payload"), "fewer groups than there are");
    assert_eq!(broken(&set(FIRST + 3, 1)), (InvalidContents, "key of a group"), "too long");
    let key = usize::from(visitors[FIRST]);
    assert_eq!(broken(&set(FIRST + 4 + key + 7, 1)), (InvalidContents, "group"), "too long");
    assert_eq!(broken(&set(FIRST + 4 + key + 8, 5)), (InvalidContents, "registers"), "another precision");
    assert_eq!(broken(&|bytes| bytes.push(0)), (InvalidContents, "payload"));
}

#[test]
fn groups_are_stored_in_order() {
    let [_, visitors, ..] = &forge::groups()[..] else { panic!("other groups") };
    let groups = Groups::<crivo::codec::AnySketch>::decode(visitors).unwrap();
    let sizes: Vec<usize> =
        groups.iter().map(|(key, group)| 12 + key.len() + group.payload(groups.kind()).len()).collect();
    let turned = |bytes: &mut Vec<u8>| bytes[FIRST..FIRST + sizes[0] + sizes[1]].rotate_left(sizes[0]);
    assert_eq!(broken::<Groups>(visitors, &turned), (InvalidContents, "key of a group"));
}

#[test]
fn each_broken_rule_of_tally_is_named() {
    let [_, numbers] = &forge::tallies()[..] else { panic!("other tallies") };
    let broken = |change: &dyn Fn(&mut Vec<u8>)| broken::<Tally>(numbers, change);
    assert_eq!(broken(&set(12, 1)), (InvalidContents, "key kind"), "a seed");
    assert_eq!(broken(&set(36, 77)), (InvalidContents, "numbers"), "more than events");
    assert_eq!(broken(&set(36, 0)), (InvalidContents, "payload"), "a sum of nothing");
    assert_eq!(broken(&set(44, 2)), (InvalidContents, "sum"));
    assert_eq!(broken(&|bytes| bytes.push(0)), (InvalidContents, "payload"));
}
