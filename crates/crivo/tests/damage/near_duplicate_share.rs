//! Each rule of the payload of `NearDuplicateShare`.

use crivo::ErrorKind::InvalidContents;
use crivo::profile::NearDuplicateShare;

use super::support::forge;
use super::{broken, set};

/// Where the texts begin.
const TEXTS: usize = 28 + 24;

#[test]
fn each_broken_rule_of_near_duplicate_share_is_named() {
    let [empty, all, sampled] = &forge::near_duplicate_shares()[..] else { panic!("other samples") };
    let broken =
        |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<NearDuplicateShare>(original, change);

    assert_eq!(broken(empty, &set(9, 2)), (InvalidContents, "key kind"));
    assert_eq!(broken(empty, &set(28, 63)), (InvalidContents, "capacity"));
    assert_eq!(broken(empty, &set(30, 1)), (InvalidContents, "capacity"));
    assert_eq!(broken(empty, &set(32, 1)), (InvalidContents, "documents"));
    assert_eq!(broken(all, &set(32, 99)), (InvalidContents, "documents"));
    assert_eq!(broken(sampled, &|bytes| bytes[32..40].fill(0)), (InvalidContents, "documents"));
    assert_eq!(broken(sampled, &set(40, 1)), (InvalidContents, "threshold"));
    assert_eq!(broken(sampled, &set(48, 65)), (InvalidContents, "number of texts"));
    assert_eq!(
        broken(sampled, &|bytes| bytes[40..48].copy_from_slice(&64_u64.to_le_bytes())),
        (InvalidContents, "band keys")
    );
    assert_eq!(
        broken(sampled, &|bytes| bytes[40..48].copy_from_slice(&(127_u64 << 57).to_le_bytes())),
        (InvalidContents, "texts"),
        "more are drawn at that threshold than fit"
    );
    assert_eq!(broken(all, &set(TEXTS + 7, 0xFF)), (InvalidContents, "texts"));
    assert_eq!(
        broken(all, &|bytes| bytes[TEXTS + 8..TEXTS + 16].fill(0)),
        (InvalidContents, "count of a text")
    );
    for wrong in [0, 65] {
        assert_eq!(broken(all, &set(TEXTS + 80, wrong)), (InvalidContents, "number of runs"));
    }
    assert_eq!(broken(all, &|bytes| bytes[TEXTS + 81..TEXTS + 89].fill(0)), (InvalidContents, "runs"));
    assert_eq!(broken(all, &|bytes| bytes.push(0)), (InvalidContents, "payload"));
    assert_eq!(broken(all, &|bytes| bytes.truncate(TEXTS + 40)), (InvalidContents, "band keys"));
}
