//! Each rule of the payload of HeavyHitters.

use crivo::ErrorKind::InvalidContents;
use crivo::frequency::HeavyHitters;

use super::support::forge;
use super::{broken, set};

/// Where the first counter begins, and how long one with an integer key is.
const FIRST: usize = 28 + 24;
const EACH: usize = 18;

#[test]
fn each_broken_rule_of_heavy_hitters_is_named() {
    let [empty, exact, purged, texts, saturated] = &forge::heavy_hitters()[..] else {
        panic!("other samples")
    };
    let broken = |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<HeavyHitters>(original, change);

    assert_eq!(broken(empty, &set(31, 0)), (InvalidContents, "capacity"));
    assert_eq!(broken(empty, &set(28, 1)), (InvalidContents, "capacity"));
    // More counters than the capacity, and than there are bytes for.
    assert_eq!(broken(exact, &set(48, 10)), (InvalidContents, "number of counters"));
    assert_eq!(broken(empty, &set(48, 1)), (InvalidContents, "number of counters"));
    assert_eq!(broken(texts, &|bytes| bytes[48..52].fill(0xFF)), (InvalidContents, "number of counters"));
    assert_eq!(broken(exact, &set(48, 8)), (InvalidContents, "total"));
    // Keys out of order, and twice the same.
    assert_eq!(broken(exact, &set(FIRST, 200)), (InvalidContents, "keys"));
    assert_eq!(
        broken(exact, &|bytes| bytes.copy_within(FIRST..FIRST + 8, FIRST + EACH)),
        (InvalidContents, "keys")
    );
    // A count that the maximum error exceeds, and one that is 0.
    assert_eq!(broken(purged, &set(46, 1)), (InvalidContents, "count"));
    assert_eq!(broken(exact, &|bytes| bytes[FIRST + 8..FIRST + 16].fill(0)), (InvalidContents, "count"));
    // An error of a counter above the maximum, and one that stands for nothing.
    assert_eq!(broken(exact, &set(FIRST + 16, 1)), (InvalidContents, "error of a count"));
    assert_eq!(broken(purged, &set(FIRST + 17, 1)), (InvalidContents, "error of a count"));
    assert_eq!(
        broken(saturated, &|bytes| {
            bytes[40..48].fill(0xFF);
            bytes[FIRST + 16..FIRST + 18].fill(0xFF);
        }),
        (InvalidContents, "count")
    );
    // Totals that the counters contradict.
    assert_eq!(broken(exact, &set(33, 1)), (InvalidContents, "total"));
    assert_eq!(broken(purged, &|bytes| bytes[32..40].fill(0)), (InvalidContents, "total"));
    assert_eq!(broken(purged, &set(FIRST + 15, 1)), (InvalidContents, "total"));
    // A text longer than any that is kept, and one longer than the bytes.
    assert_eq!(broken(texts, &set(FIRST + 2, 1)), (InvalidContents, "key"));
    assert_eq!(
        broken(texts, &|bytes| {
            bytes[FIRST..FIRST + 4].copy_from_slice(&4097_u32.to_le_bytes());
            let end = bytes.len() - 4;
            bytes.splice(end..end, vec![b'x'; 9000]);
        }),
        (InvalidContents, "key")
    );
    assert_eq!(broken(exact, &|bytes| bytes.insert(FIRST + 9 * EACH, 0)), (InvalidContents, "payload"));
}
