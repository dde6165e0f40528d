//! The files of the register sketches.

use crivo::distinct::RegisterSketch;
use crivo::keys::KeyScheme;

use super::support::register_sketches::{RegisterModel, for_each_register_sketch};
use super::{path, written_today};

/// The states that the stored files hold, built anew. The recipes are also in docs/format.md.
fn states<K: RegisterModel>() -> [Vec<u8>; 9] {
    let words = |precision, count: u32| {
        let mut sketch = RegisterSketch::<K>::new(precision).unwrap();
        (0..count).for_each(|i| sketch.insert(format!("key {i}").as_str()).unwrap());
        sketch.encode()
    };
    let numbers = |range: std::ops::RangeInclusive<i64>| {
        let mut sketch = RegisterSketch::<K>::with_scheme(8, crate::xxh3_integers()).unwrap();
        range.for_each(|i| sketch.insert(&i).unwrap());
        sketch.encode()
    };
    // Keys of every length that XXH3 treats differently.
    let seeded = KeyScheme::bytes().with_seed(11_400_714_785_074_694_797);
    let mut texts = RegisterSketch::<K>::with_scheme(8, seeded).unwrap();
    (0..=150).for_each(|length| texts.insert("á".repeat(length).as_str()).unwrap());
    let mut integers = RegisterSketch::<K>::with_scheme(10, crate::xxh3_integers().with_seed(7)).unwrap();
    (0..10_000_u64).for_each(|i| integers.insert(&i).unwrap());
    let mut hashes = RegisterSketch::<K>::with_scheme(6, KeyScheme::hashes().with_seed(u64::MAX)).unwrap();
    hashes.insert_hashes(&[0, 1, u64::MAX, 1 << 63]);
    // Every level that a register of precision 4 can remember, highest first.
    let mut saturated = RegisterSketch::<K>::with_scheme(4, KeyScheme::hashes()).unwrap();
    for register in 0..16_u64 {
        let levels = [0, 1 << 59, 1 << 58].into_iter().take(K::BELOW as usize + 1);
        levels.for_each(|low| saturated.insert_hash(register << 60 | low));
    }
    [
        words(14, 0),
        words(12, 300),
        words(12, 100_000),
        texts.encode(),
        integers.encode(),
        numbers(-12..=11),
        numbers(-12..=12),
        hashes.encode(),
        saturated.encode(),
    ]
}

/// The texts `key 0` to `key 99999` in this order, with their history.
fn with_history<K: RegisterModel>() -> Vec<u8> {
    let mut sketch = RegisterSketch::<K>::new(10).unwrap().with_history().unwrap();
    (0..100_000).for_each(|number| sketch.insert(format!("key {number}").as_str()).unwrap());
    sketch.encode()
}

macro_rules! cases {
    ($($name:ident: $kind:ty;)*) => {
        pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
            let mut cases = Vec::new();
            $(cases.extend([
                concat!(stringify!($name), "_v1_empty"),
                concat!(stringify!($name), "_v1_exact"),
                concat!(stringify!($name), "_v1_dense"),
                concat!(stringify!($name), "_v1_texts"),
                concat!(stringify!($name), "_v1_integers"),
                concat!(stringify!($name), "_v1_limit"),
                concat!(stringify!($name), "_v1_past_limit"),
                concat!(stringify!($name), "_v1_hashes"),
                concat!(stringify!($name), "_v1_saturated"),
            ].into_iter().zip(states::<$kind>()));
            cases.push((concat!(stringify!($name), "_v2_history"), with_history::<$kind>()));)*
            cases
        }

        $(mod $name {
            #[test]
            fn answers_of_stored_files_do_not_change() {
                super::answers_of_stored_files_do_not_change::<$kind>(stringify!($name));
            }

            #[test]
            fn fingerprint_of_many_states_does_not_change() {
                super::fingerprint_of_many_states_does_not_change::<$kind>(stringify!($name));
            }
        })*
    };
}
for_each_register_sketch!(cases);

/// What the files of one sketch answer, and a number that stands for many states of it.
struct Frozen {
    name: &'static str,
    dense: f64,
    integers: f64,
    fingerprint: u64,
}

/// Elementary functions come from `libm`, so these hold to the last bit on every platform.
#[rustfmt::skip] // a line a sketch
const FROZEN: [Frozen; 2] = [
    Frozen { name: "hyperloglog", dense: 102_086.944_848_761_49, integers: 10_031.547_878_114_85, fingerprint: 0x359D_272D_53AF_4EB6 },
    Frozen { name: "ultraloglog", dense: 100_767.474_458_912_26, integers: 10_211.687_675_525_067, fingerprint: 0x07AF_FE1F_7979_0E6C },
];

fn frozen(name: &str) -> &'static Frozen {
    FROZEN.iter().find(|frozen| frozen.name == name).expect("a line for every register sketch")
}

fn answers_of_stored_files_do_not_change<K: RegisterModel>(name: &str) {
    let stored = |case| {
        let name = format!("{name}_v1_{case}");
        let [old, new] = [&name, &written_today(&name)]
            .map(|name| RegisterSketch::<K>::decode(&std::fs::read(path(name)).unwrap()).unwrap());
        assert_eq!(old, new, "{name}");
        old.estimate()
    };
    assert_eq!(stored("empty").value(), 0.0);
    assert_eq!(stored("exact").value(), 300.0);
    assert_eq!(stored("limit").value(), 24.0);
    assert_eq!(stored("hashes").value(), 4.0);
    assert_eq!(stored("dense").value(), frozen(name).dense);
    assert_eq!(stored("integers").value(), frozen(name).integers);
    let saturated = stored("saturated");
    assert!(saturated.lower() > 2_f64.powi(64) && saturated.upper().is_infinite(), "{saturated:?}");
}

/// Every precision, from empty to well past the exact state, in one number.
fn fingerprint_of_many_states_does_not_change<K: RegisterModel>(name: &str) {
    let mut fingerprint = 0;
    for precision in RegisterSketch::<K>::PRECISIONS {
        let mut sketch = RegisterSketch::<K>::with_scheme(precision, crate::xxh3_integers()).unwrap();
        for i in 0..40_000_u64 {
            if i.is_power_of_two() {
                fingerprint = KeyScheme::bytes().with_seed(fingerprint).hash(&sketch.encode()).unwrap();
            }
            sketch.insert(&i).unwrap();
        }
    }
    assert_eq!(fingerprint, frozen(name).fingerprint, "{fingerprint:#018x}");
}
