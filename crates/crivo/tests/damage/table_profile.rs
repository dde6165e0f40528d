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

/// Where the envelopes of the column inside begin: profile, growth, ranks. The profile has four of its own.
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
    let other_least = |bytes: &mut Vec<u8>| {
        let end = bytes.len() - 4 - 1;
        number(ranks + 28 + 104, (-1.0_f64).to_bits())(bytes);
        seal(&mut bytes[ranks..end]);
    };
    assert_eq!(broken(mixed, &other_least), (InvalidContents, "ranks"));
    let last = mixed.len() - 5;
    assert_eq!(broken(mixed, &set(last, 2)), (InvalidContents, "near-duplicates"));
    assert_eq!(broken(mixed, &|bytes| bytes.push(0)), (InvalidContents, "payload"));
    let of_other_kind = |bytes: &mut Vec<u8>| {
        bytes[growth + 5] = 0x23;
        seal(&mut bytes[growth..ranks]);
    };
    assert_eq!(broken(mixed, &of_other_kind).0, WrongFamily);
}
