//! Each rule of the payload of combined filters.

use crivo::ErrorKind::{Damaged, InvalidContents};
use crivo::membership::CombinedFilter;

use super::support::forge::{self, seal};
use super::{broken, set};

/// Where the first filter begins: after the number of groups and that of its filters.
const FIRST: usize = 28 + 4 + 4;

/// Changes the envelope of the first filter, and seals it again.
fn in_first(bytes: &mut [u8], change: impl Fn(&mut Vec<u8>)) {
    let payload: [u8; 8] = bytes[FIRST + 20..FIRST + 28].try_into().unwrap();
    let whole = FIRST..FIRST + 28 + u64::from_le_bytes(payload) as usize + 4;
    let mut filter = bytes[whole.clone()].to_vec();
    change(&mut filter);
    seal(&mut filter);
    bytes[whole].copy_from_slice(&filter);
}

#[test]
fn each_broken_rule_of_combined_filters_is_named() {
    let [union, both] = &forge::combined_filters()[..] else { panic!("other filters") };
    let broken = |change: &dyn Fn(&mut Vec<u8>)| broken::<CombinedFilter>(union, change);

    assert_eq!(broken(&set(28, 0)), (InvalidContents, "groups"));
    assert_eq!(broken(&set(28, 65)), (InvalidContents, "groups"));
    assert_eq!(broken(&set(28, 1)), (InvalidContents, "payload"), "fewer groups than there are");
    assert_eq!(broken(&set(28, 3)), (InvalidContents, "filters of a group"), "more groups than there are");
    assert_eq!(broken(&set(32, 0)), (InvalidContents, "filters of a group"));
    assert_eq!(broken(&set(32, 65)), (InvalidContents, "filters of a group"));
    assert_eq!(broken(&set(FIRST + 24, 9)), (InvalidContents, "filter"), "too long");
    assert_eq!(broken(&|bytes| bytes.truncate(60)), (InvalidContents, "filter"));
    assert_eq!(broken(&set(FIRST + 40, 0xAA)).0, Damaged, "a filter that is not what was sealed");
    assert_eq!(broken(&set(12, 9)), (InvalidContents, "filter"), "another seed");
    let other_family = |bytes: &mut Vec<u8>| in_first(bytes, |filter| filter[5] = 0x20);
    assert_eq!(broken(&other_family), (InvalidContents, "filter"), "a sketch that is no filter");
    let nested = |bytes: &mut Vec<u8>| in_first(bytes, |filter| filter[5] = 0x34);
    assert_eq!(broken(&nested), (InvalidContents, "filter"), "a combined filter in another");
    let other_seed = |bytes: &mut Vec<u8>| in_first(bytes, |filter| filter[12] ^= 1);
    assert_eq!(broken(&other_seed), (InvalidContents, "filter"), "a filter of another seed");
    let huge = |bytes: &mut Vec<u8>| in_first(bytes, |filter| filter[40..48].fill(0xFF));
    assert_eq!(broken(&huge), (InvalidContents, "capacity"), "which would not add up");
    assert_eq!(broken(&|bytes| bytes.push(0)), (InvalidContents, "payload"));
    // An intersection is one group of two filters.
    assert_eq!((both[28], both[32]), (1, 2));
}
