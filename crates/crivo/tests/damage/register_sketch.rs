//! Each rule of the payload of the register sketches.

use std::collections::BTreeSet;

use crivo::ErrorKind::InvalidContents;
use crivo::distinct::RegisterSketch;
use crivo::keys::KeyScheme;

use super::support::forge::{self, seal};
use super::support::register_sketches::{RegisterModel, for_each_register_sketch, register, registers};
use super::{broken, set};

fn each_broken_rule_is_named<K: RegisterModel>() {
    let [_, exact, dense, coded, ..] = &forge::register_sketches::<K>()[..] else {
        panic!("too few samples")
    };
    let broken =
        |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<RegisterSketch<K>>(original, change);

    assert_eq!(broken(exact, &set(28, 3)), (InvalidContents, "precision"));
    assert_eq!(broken(exact, &set(28, 19)), (InvalidContents, "precision"));
    assert_eq!(broken(exact, &set(29, 3)), (InvalidContents, "state"));
    assert_eq!(broken(exact, &set(30, 200)), (InvalidContents, "number of hashes"));
    assert_eq!(broken(exact, &set(30, 21)), (InvalidContents, "hashes"));
    assert_eq!(broken(exact, &set(30, 19)), (InvalidContents, "payload"));
    assert_eq!(broken(exact, &|bytes| bytes[34..42].fill(0xFF)), (InvalidContents, "hashes"));
    assert_eq!(broken(dense, &|bytes| bytes[30..46].fill(0)), (InvalidContents, "registers"));
    assert_eq!(broken(dense, &|bytes| bytes.truncate(40)), (InvalidContents, "registers"));

    // The states of the coder are from offset 32 on, its words from offset 48 on.
    let wrong =
        |change: &dyn Fn(&mut Vec<u8>)| assert_eq!(broken(coded, change), (InvalidContents, "registers"));
    assert_eq!((coded[6], coded[29]), (2, 2));
    assert_eq!(broken(coded, &set(6, 1)), (InvalidContents, "state"), "the first version has no code");
    assert_eq!(broken(coded, &set(31, 0xFF)), (InvalidContents, "rate"));
    for bit in [0, 1, 4] {
        wrong(&|bytes| bytes[30] ^= 1 << bit);
    }
    wrong(&|bytes| bytes[32..40].fill(0));
    wrong(&|bytes| bytes[40..48].fill(0xFF));
    wrong(&|bytes| bytes[60] ^= 1);
    wrong(&|bytes| bytes.truncate(bytes.len() - 8));
    wrong(&|bytes| bytes.truncate(bytes.len() - 7));
    wrong(&|bytes| bytes.truncate(47));
    wrong(&set(28, 18));
    // The same registers, stored as they are.
    let scheme = KeyScheme::integers().with_seed(5);
    let hashes: Vec<u64> = (0..10_000_u64).map(|key| scheme.hash(&key).unwrap()).collect();
    wrong(&|bytes| {
        bytes.truncate(29);
        bytes.push(1);
        bytes.extend(registers::<K>(&hashes, 8));
        bytes.extend([0; 4]);
    });
}

/// Only registers of sets of levels are accepted: none is above the highest, none below the first.
fn register_values_of_no_set_of_levels_are_refused<K: RegisterModel>() {
    // At precision 4 the levels are 1 to 61. Which of those far below the highest occurred does not
    // matter.
    let possible: BTreeSet<u8> = (1..=61_u32)
        .flat_map(|highest| {
            (0..8_u32).map(move |pattern| {
                let below = (1..4).filter(|back| highest > *back && pattern >> (back - 1) & 1 == 1);
                below.map(|back| highest - back).chain([highest]).collect()
            })
        })
        .chain([BTreeSet::new()])
        .map(|levels| register::<K>(&levels))
        .collect();
    let dense = &forge::register_sketches::<K>()[2];
    for value in 0..=u8::MAX {
        let mut bytes = dense.clone();
        bytes[30] = value;
        seal(&mut bytes);
        match RegisterSketch::<K>::decode(&bytes) {
            Ok(_) => assert!(possible.contains(&value), "{value} was accepted"),
            Err(error) => {
                assert!(!possible.contains(&value), "{value} was refused");
                assert_eq!((error.kind(), error.field()), (InvalidContents, "registers"));
            }
        }
    }
}

macro_rules! damage {
    ($($name:ident: $kind:ty;)*) => {
        $(mod $name {
            #[test]
            fn each_broken_rule_is_named() {
                super::each_broken_rule_is_named::<$kind>();
            }

            #[test]
            fn register_values_of_no_set_of_levels_are_refused() {
                super::register_values_of_no_set_of_levels_are_refused::<$kind>();
            }
        })*
    };
}
for_each_register_sketch!(damage);
