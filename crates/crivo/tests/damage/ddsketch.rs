//! Each rule of the payload of DDSketch.

use crivo::ErrorKind::InvalidContents;
use crivo::profile::DDSketch;

use super::support::forge;
use super::{broken, set};

/// Where the bins begin, and how long each is.
const BINS: usize = 28 + 37;
const EACH: usize = 12;

fn float(at: usize, value: f64) -> impl Fn(&mut Vec<u8>) {
    move |bytes| bytes[at..at + 8].copy_from_slice(&value.to_le_bytes())
}

#[test]
fn each_broken_rule_of_ddsketch_is_named() {
    let [empty, numbers, joined, saturated] = &forge::ddsketches()[..] else { panic!("other samples") };
    let broken = |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<DDSketch>(original, change);

    for wrong in [0.0, 0.6, f64::NAN, -0.01] {
        assert_eq!(broken(empty, &float(28, wrong)), (InvalidContents, "relative error"), "{wrong}");
    }
    assert_eq!(broken(empty, &set(36, 3)), (InvalidContents, "bins"));
    assert_eq!(broken(empty, &set(38, 2)), (InvalidContents, "bins"));
    assert_eq!(broken(empty, &set(40, 1)), (InvalidContents, "level"), "no bins had to be joined");
    assert_eq!(broken(joined, &set(40, 32)), (InvalidContents, "level"));
    assert_eq!(broken(joined, &set(36, 60)), (InvalidContents, "level"), "they would have fitted");
    assert_eq!(broken(joined, &set(36, 16)), (InvalidContents, "bins in use"));
    assert_eq!(broken(empty, &set(57, 1)), (InvalidContents, "bins in use"), "not there");
    assert_eq!(broken(empty, &set(8, 1)), (InvalidContents, "hash function"));
    assert_eq!(broken(empty, &set(12, 1)), (InvalidContents, "key kind"), "a seed without keys");

    // The sample: two negative bins and four positive, then the least, the greatest and the sum.
    assert_eq!(broken(numbers, &set(BINS + 3, 1)), (InvalidContents, "number of a bin"));
    assert_eq!(broken(numbers, &|bytes| bytes[BINS..BINS + 4].fill(0)), (InvalidContents, "number of a bin"));
    assert_eq!(
        broken(numbers, &|bytes| bytes.copy_within(BINS..BINS + 4, BINS + EACH)),
        (InvalidContents, "number of a bin")
    );
    assert_eq!(
        broken(numbers, &|bytes| bytes[BINS + 4..BINS + 12].fill(0)),
        (InvalidContents, "count of a bin")
    );
    let least = BINS + 6 * EACH;
    for wrong in [-99.0, -4.0, 0.0, 1.0, f64::NAN, f64::NEG_INFINITY] {
        assert_eq!(broken(numbers, &float(least, wrong)), (InvalidContents, "least number"), "{wrong}");
    }
    for wrong in [99.0, 7.0, -1.0, f64::INFINITY] {
        assert_eq!(
            broken(numbers, &float(least + 8, wrong)),
            (InvalidContents, "greatest number"),
            "{wrong}"
        );
    }
    // A sign of 2, limbs that are not there, a limb of 0, and a sum beyond what the numbers allow.
    assert_eq!(broken(numbers, &set(least + 16, 2)), (InvalidContents, "sum"));
    assert_eq!(broken(numbers, &set(least + 17, 68)), (InvalidContents, "sum"));
    let end = numbers.len() - 4;
    assert_eq!(broken(numbers, &|bytes| bytes[end - 4..end].fill(0)), (InvalidContents, "sum"));
    assert_eq!(broken(numbers, &set(end - 1, 0x7F)), (InvalidContents, "sum"));
    assert_eq!(broken(numbers, &|bytes| bytes.insert(end, 0)), (InvalidContents, "payload"));
    let sum = saturated.len() - 7;
    assert_eq!(
        broken(saturated, &|bytes| {
            bytes[sum + 2] = 1;
            bytes.splice(sum + 3..sum + 3, [1, 0, 0, 0]);
        }),
        (InvalidContents, "sum"),
        "there is none where counts have stopped"
    );
}
