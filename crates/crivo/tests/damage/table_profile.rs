//! Each rule of the payload of `TableProfile`.

use crivo::ErrorKind::{InvalidContents, WrongFamily};
use crivo::profile::TableProfile;

use super::support::forge::{self, seal};
use super::{broken, set};

/// Where the number of columns stands, and the first column begins.
const COUNT: usize = 28 + 32;
const COLUMN: usize = COUNT + 4;

fn number(at: usize, value: u64) -> impl Fn(&mut Vec<u8>) {
    move |bytes| bytes[at..at + 8].copy_from_slice(&value.to_le_bytes())
}

/// Where the envelopes of the column inside begin: profile, growth, ranks. The profile has four of
/// its own.
fn parts(bytes: &[u8]) -> [usize; 3] {
    let all: Vec<usize> = (28..bytes.len() - 4).filter(|&at| bytes[at..].starts_with(b"CRVO")).collect();
    [all[0], all[5], all[6]]
}

#[test]
fn each_broken_rule_of_table_profile_is_named() {
    let [empty, header, mixed] = &forge::table_profiles()[..] else { panic!("other samples") };
    let broken = |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<TableProfile>(original, change);

    assert_eq!(broken(empty, &set(9, 2)), (InvalidContents, "key kind"));
    assert_eq!(broken(empty, &set(COUNT + 3, 2)), (InvalidContents, "number of columns"));
    assert_eq!(
        broken(empty, &set(COUNT, 1)),
        (InvalidContents, "name of a column"),
        "a column that is not there"
    );
    assert_eq!(broken(header, &set(COUNT, 0)), (InvalidContents, "payload"), "a column more than said");
    assert_eq!(broken(mixed, &number(28, 16)), (InvalidContents, "rows of a column"));
    assert_eq!(broken(mixed, &number(28, 1)), (InvalidContents, "row of a first value"));
    assert_eq!(broken(mixed, &set(COLUMN + 4, 0xFF)), (InvalidContents, "name of a column"), "no UTF-8");
    // The kinds of values: integers are the second, and the first of them is in row 2.
    let firsts = COLUMN + 5;
    let seed = |bytes: &mut Vec<u8>| bytes[12] = 6;
    assert_eq!(broken(mixed, &set(firsts, 2)), (InvalidContents, "first of a kind"));
    assert_eq!(broken(header, &set(COLUMN + 9, 1)), (InvalidContents, "row of a first value"));
    assert_eq!(broken(mixed, &seed), (InvalidContents, "profile"), "of another seed");
    let [_, growth, ranks] = parts(mixed);
    let other_seed = |bytes: &mut Vec<u8>| {
        bytes[growth + 12] = 6;
        seal(&mut bytes[growth..ranks]);
    };
    assert_eq!(broken(mixed, &other_seed), (InvalidContents, "growth"));
    // The least number of the ranks, behind the fixed part.
    let length = u64::from_le_bytes(mixed[ranks + 20..ranks + 28].try_into().unwrap());
    let end = ranks + 28 + length as usize + 4;
    let other_least = |bytes: &mut Vec<u8>| {
        number(ranks + 28 + 104, (-1.0_f64).to_bits())(bytes);
        seal(&mut bytes[ranks..end]);
    };
    assert_eq!(broken(mixed, &other_least), (InvalidContents, "ranks"));
    assert_eq!(broken(mixed, &set(end, 2)), (InvalidContents, "near-duplicates"));
    check_detail(mixed, end + 1);
    assert_eq!(broken(mixed, &|bytes| bytes.push(0)), (InvalidContents, "payload"));
    let of_other_kind = |bytes: &mut Vec<u8>| {
        bytes[growth + 5] = 0x23;
        seal(&mut bytes[growth..ranks]);
    };
    assert_eq!(broken(mixed, &of_other_kind).0, WrongFamily);
}

/// Each rule of the detail, whose flag is at a place: moments of some limbs, days, drawn rows.
fn check_detail(mixed: &[u8], flag: usize) {
    let broken = |change: &dyn Fn(&mut Vec<u8>)| broken::<TableProfile>(mixed, change);
    assert_eq!(broken(&set(flag, 2)), (InvalidContents, "detail"));
    let squares = flag + 1;
    assert_eq!(broken(&set(squares, 1)), (InvalidContents, "sum of squares"), "below zero");
    assert_eq!(broken(&set(squares, 2)), (InvalidContents, "sum of squares"), "no sign");
    assert_eq!(broken(&set(squares + 1, 255)), (InvalidContents, "sum of squares"), "too far up");
    assert_eq!(
        broken(&set(squares + 1, 0)),
        (InvalidContents, "sum of squares"),
        "less than any numbers have"
    );
    let limbs = |at: usize| 3 + 4 * usize::from(mixed[at + 2]);
    let cubes = squares + limbs(squares);
    assert_eq!(broken(&set(cubes, 2)), (InvalidContents, "sum of cubes"));
    let days = cubes + limbs(cubes);
    assert_eq!(broken(&set(days, 1)), (InvalidContents, "span of days"));
    assert_eq!(broken(&set(days + 4, 2)), (InvalidContents, "days"), "other numbers");
    let counts = days + 5;
    assert_eq!(broken(&number(counts, 0)), (InvalidContents, "days"), "days that were not counted");
    assert_eq!(broken(&number(counts + 8 * 3, 1)), (InvalidContents, "days"), "counted, and not there");
    assert_eq!(broken(&number(counts + 8 * 11, 1)), (InvalidContents, "days"), "without a reading");
    let sets = counts + 8 * 13;
    assert_eq!(mixed[sets], 1, "one day came");
    assert_eq!(broken(&set(sets, 3)), (InvalidContents, "days"));
    assert_eq!(broken(&set(sets + 1, 0)), (InvalidContents, "days"), "another first day");
    assert_eq!(broken(&set(sets + 9, 0xFF)), (InvalidContents, "days"), "other bits");
    // Two days of 4 bytes and one word, and three empty sets.
    let drawn = sets + 1 + 8 + 8 + 3;
    assert_eq!(broken(&set(drawn, 0)), (InvalidContents, "drawn rows"), "none");
    assert_eq!(broken(&set(drawn + 4, 1)), (InvalidContents, "drawn rows"), "more than there are");
    assert_eq!(broken(&set(drawn + 5, 1)), (InvalidContents, "drawn rows"), "fewer than there are");
    assert_eq!(broken(&number(drawn + 9, u64::MAX)), (InvalidContents, "drawn rows"), "not in order");
    assert_eq!(broken(&number(drawn + 17, 0)), (InvalidContents, "drawn rows"), "row 0");
}
