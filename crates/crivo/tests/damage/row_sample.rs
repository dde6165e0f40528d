//! Each rule of the payload of `RowSample`.

use crivo::ErrorKind::InvalidContents;
use crivo::sampling::RowSample;

use super::support::forge;
use super::{broken, set};

/// Where the rows begin.
const ROWS: usize = 28 + 21;

#[test]
fn each_broken_rule_of_row_sample_is_named() {
    let [empty, filling, full, weighted] = &forge::row_samples()[..] else { panic!("other samples") };
    let broken = |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<RowSample>(original, change);

    assert_eq!(broken(empty, &set(9, 2)), (InvalidContents, "key kind"));
    assert_eq!(broken(full, &|bytes| bytes[28..32].fill(0)), (InvalidContents, "capacity"));
    assert_eq!(broken(full, &set(32, 2)), (InvalidContents, "draws"));
    assert_eq!(broken(full, &set(41, 1)), (InvalidContents, "weightless"));
    assert_eq!(broken(full, &set(ROWS, 77)), (InvalidContents, "numbers"), "not that of its place");
    assert_eq!(broken(full, &set(12, 6)), (InvalidContents, "numbers"), "of another seed");
    assert_eq!(broken(weighted, &set(ROWS + 7, 0x80)), (InvalidContents, "numbers"), "below 0");
    assert_eq!(broken(weighted, &set(ROWS + 7, 0x7E)), (InvalidContents, "numbers"), "in another order");
    assert_eq!(
        broken(weighted, &|bytes| bytes.copy_within(ROWS + 8..ROWS + 16, ROWS + 23 + 8)),
        (InvalidContents, "places")
    );
    assert_eq!(broken(filling, &set(33, 2)), (InvalidContents, "payload"), "one row less was seen");
    assert_eq!(broken(filling, &set(33, 4)), (InvalidContents, "numbers"), "one row more was seen");
    assert_eq!(broken(full, &|bytes| bytes.push(0)), (InvalidContents, "payload"));
}
