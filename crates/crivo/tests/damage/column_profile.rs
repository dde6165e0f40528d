//! Each rule of the payload of `ColumnProfile`.

use crivo::ErrorKind::{Damaged, Foreign, InvalidContents, WrongFamily};
use crivo::profile::ColumnProfile;

use super::support::forge::{self, seal};
use super::{broken, set};

/// Where the facts begin: after the sizes and the number of missing values.
const KINDS: usize = 28 + 25 + 8;
const FACTS: usize = KINDS + 48;

fn number(at: usize, value: u64) -> impl Fn(&mut Vec<u8>) {
    move |bytes| bytes[at..at + 8].copy_from_slice(&value.to_le_bytes())
}

/// Where the envelopes inside begin.
fn envelopes(bytes: &[u8]) -> Vec<usize> {
    (28..bytes.len() - 4).filter(|&start| bytes[start..].starts_with(b"CRVO")).collect()
}

/// Changes a byte of the envelope at a place, and makes its checksum right again.
fn inside(envelope: usize, at: usize, value: u8) -> impl Fn(&mut Vec<u8>) {
    move |bytes| {
        let starts = envelopes(bytes);
        let end = starts.get(envelope + 1).copied().unwrap_or(bytes.len() - 4);
        bytes[starts[envelope] + at] = value;
        seal(&mut bytes[starts[envelope]..end]);
    }
}

#[test]
fn each_broken_rule_of_column_profile_is_named() {
    let [empty, missing, numbers, words] = &forge::column_profiles()[..] else { panic!("other samples") };
    let broken = |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<ColumnProfile>(original, change);

    // Sizes that no part has, and sizes that the parts inside do not have.
    assert_eq!(broken(empty, &set(28, 3)), (InvalidContents, "precision"));
    assert_eq!(broken(empty, &set(28, 5)), (InvalidContents, "precision"));
    assert_eq!(broken(empty, &set(29, 0)), (InvalidContents, "counters"));
    assert_eq!(broken(empty, &set(29, 6)), (InvalidContents, "counters"));
    assert_eq!(broken(empty, &set(33, 0)), (InvalidContents, "sample"));
    assert_eq!(broken(empty, &set(33, 4)), (InvalidContents, "sample"));
    assert_eq!(broken(empty, &set(44, 0)), (InvalidContents, "relative error"));
    assert_eq!(broken(empty, &set(43, 0xB8)), (InvalidContents, "accuracy"));
    assert_eq!(broken(empty, &set(45, 15)), (InvalidContents, "bins"));
    assert_eq!(broken(empty, &set(45, 17)), (InvalidContents, "bins"));
    assert_eq!(broken(empty, &set(49, 0)), (InvalidContents, "longest"));
    assert_eq!(broken(empty, &set(49, 7)), (InvalidContents, "longest"));
    assert_eq!(broken(empty, &set(51, 1)), (InvalidContents, "longest"));
    assert_eq!(broken(empty, &set(9, 2)), (InvalidContents, "key kind"));
    assert_eq!(broken(empty, &set(12, 6)), (InvalidContents, "distinct values"), "another seed");

    // Facts that contradict each other: integers and floats of the sample are its kinds 1 and 2.
    assert_eq!(broken(words, &set(KINDS, 2)), (InvalidContents, "most frequent values"));
    assert_eq!(broken(missing, &set(KINDS, 1)), (InvalidContents, "lengths"));
    assert_eq!(broken(words, &set(FACTS, 3)), (InvalidContents, "most frequent values"), "long values");
    assert_eq!(broken(words, &number(FACTS + 8, 11)), (InvalidContents, "lengths"), "the shortest");
    assert_eq!(broken(words, &number(FACTS + 16, 1)), (InvalidContents, "lengths"), "the longest");
    assert_eq!(broken(words, &number(FACTS + 24, 1 << 40)), (InvalidContents, "lengths"), "all");
    assert_eq!(broken(words, &set(FACTS + 32, 1)), (InvalidContents, "first and last text"), "shifted");
    assert_eq!(
        broken(numbers, &|bytes| {
            bytes.swap(KINDS + 8, KINDS + 40);
        }),
        (InvalidContents, "numbers"),
        "integers that are texts"
    );

    // After the first and the last text of the numbers: the integers.
    let integers = FACTS + 32 + 4 + 2 + 4 + 3;
    assert_eq!(numbers[integers], 1);
    assert_eq!(broken(numbers, &set(integers, 2)), (InvalidContents, "integers"));
    assert_eq!(broken(numbers, &number(integers + 1, 1 << 60)), (InvalidContents, "integers"));
    assert_eq!(broken(numbers, &number(integers + 1, (-8_i64) as u64)), (InvalidContents, "integers"));
    assert_eq!(broken(numbers, &number(integers + 9, 1 << 54)), (InvalidContents, "integers"));
    assert_eq!(broken(numbers, &number(integers + 25, 1)), (InvalidContents, "integers"), "lost too much");
}

#[test]
fn each_broken_envelope_in_column_profile_is_named() {
    let [_, _, numbers, words] = &forge::column_profiles()[..] else { panic!("other samples") };
    let broken = |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<ColumnProfile>(original, change);

    let starts = envelopes(words);
    assert_eq!(starts.len(), 4);
    assert_eq!(broken(words, &set(starts[0], b'X')), (Foreign, "magic"));
    assert_eq!(broken(words, &set(starts[1] + 30, 99)), (Damaged, "checksum"));
    assert_eq!(broken(words, &set(starts[3] + 21, 99)), (InvalidContents, "numbers"), "a length");
    assert_eq!(broken(words, &inside(0, 5, 0x20)), (WrongFamily, "family"));
    assert_eq!(broken(words, &inside(1, 12, 6)), (InvalidContents, "most frequent values"), "a seed");
    assert_eq!(broken(words, &inside(2, 12, 6)), (InvalidContents, "sample"), "a seed");
    // Counters, a sample and numbers of another column; each in itself is right.
    assert_eq!(broken(words, &inside(1, 32, 12)), (InvalidContents, "most frequent values"));
    assert_eq!(broken(words, &inside(2, 32, 12)), (InvalidContents, "sample"));
    assert_eq!(broken(numbers, &inside(3, 41, 9)), (InvalidContents, "numbers"));
    let last = words.len() - 4;
    assert_eq!(broken(words, &|bytes| bytes.insert(last, 0)), (InvalidContents, "payload"));
}
