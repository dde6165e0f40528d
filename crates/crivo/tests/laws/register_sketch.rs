//! The laws of the register sketches.

use std::collections::BTreeSet;

use crivo::distinct::RegisterSketch;
use proptest::prelude::*;

use super::support::generator;
use super::support::register_sketches::{RegisterModel, for_each_register_sketch, of_hashes, version_1};
use super::{different_schemes_refuse_each_other, laws_of_sets, merged, sketch_of, streams};

/// Of two precisions the lower one stays, as if it had been used from the start.
fn merges_down_to_the_lower_precision<K: RegisterModel>(a: &[u64], b: &[u64], p: u8, q: u8) {
    let x = sketch_of(of_hashes::<K>(p), &[a]);
    let y = sketch_of(of_hashes::<K>(q), &[b]);
    let joined = sketch_of(of_hashes::<K>(p.min(q)), &[a, b]);
    assert_eq!(merged(&x, &y).encode(), joined.encode());
    assert_eq!(merged(&y, &x).encode(), joined.encode());
}

/// Registers that saw the highest level keep information in their index that folding must use:
/// hashes with long runs of zeros, at every pair of precisions.
fn folds_saturated_registers_exactly<K: RegisterModel>() {
    let mut random = generator("saturated");
    let extreme: Vec<u64> = (0..20_000)
        .map(|_| match random.below(3) {
            0 => random.bits() << (40 + random.below(24)),
            1 => random.bits() << 46,
            _ => random.bits(),
        })
        .collect();
    for p in RegisterSketch::<K>::PRECISIONS {
        for q in *RegisterSketch::<K>::PRECISIONS.start()..=p {
            let fine = sketch_of(of_hashes::<K>(p), &[&extreme]);
            let coarse = sketch_of(of_hashes::<K>(q), &[&extreme]);
            assert_eq!(merged(&fine, &of_hashes(q)), coarse, "{p} folded to {q}");
        }
    }
}

/// A file of the first version, written by the words of docs/format.md, is the sketch of its
/// hashes.
fn registers_are_what_the_format_says<K: RegisterModel>() {
    let mut random = generator("registers");
    for precision in RegisterSketch::<K>::PRECISIONS {
        let exact_up_to = RegisterSketch::<K>::exact_up_to(precision);
        for count in [0, exact_up_to, exact_up_to + 1, (1_usize << precision) / 4 + 64] {
            let mut distinct = BTreeSet::new();
            while distinct.len() < count {
                distinct.insert(random.bits() << (random.below(4) * random.below(16)));
            }
            let hashes: Vec<u64> = distinct.into_iter().collect();
            let sketch = sketch_of(of_hashes::<K>(precision), &[&hashes]);
            let read = RegisterSketch::<K>::decode(&version_1::<K>(&hashes, precision)).unwrap();
            assert!(read == sketch, "{count} hashes at precision {precision}");
            assert!(read.encode() == sketch.encode(), "{count} hashes at precision {precision}");
        }
    }
}

/// A history changes the count and nothing else: not the registers, and not what is left of them
/// after a merge.
fn history_leaves_the_registers_alone<K: RegisterModel>(a: &[u64], b: &[u64], precision: u8) {
    let of = |hashes: &[u64]| sketch_of(of_hashes::<K>(precision).with_history().unwrap(), &[hashes]);
    let without = |sketch: &RegisterSketch<K>| {
        let mut merged = of_hashes::<K>(precision);
        merged.merge(sketch).unwrap();
        merged
    };
    let (one, other) = (of(a), of(b));
    assert_eq!(without(&one), sketch_of(of_hashes(precision), &[a]));
    assert_eq!(RegisterSketch::<K>::decode(&one.encode()).as_ref(), Ok(&one));

    // Bytes that were stored and read go on as if nothing had been stored.
    let mut resumed = RegisterSketch::<K>::decode(&one.encode()).unwrap();
    resumed.insert_hashes(b);
    assert_eq!(resumed.encode(), of(&[a, b].concat()).encode());

    let both = merged(&one, &other);
    assert_eq!(without(&both), sketch_of(of_hashes(precision), &[a, b]));
    let stays_exact = both.estimate().is_exact();
    assert_eq!(both.keeps_history(), stays_exact || a.is_empty() || b.is_empty());
    assert_eq!(merged(&one, &of_hashes(precision)), one, "an empty sketch changes nothing");
    // Past the exact state nothing is known of what came before.
    let late = sketch_of(of_hashes::<K>(precision), &[a]);
    assert_eq!(late.estimate().is_exact(), late.clone().with_history().is_ok());
}

macro_rules! laws {
    ($($name:ident: $kind:ty;)*) => {
        $(mod $name {
            use super::*;

            proptest! {
                #![proptest_config(
                    ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() }
                )]

                #[test]
                fn obeys_the_laws_of_sets(streams in streams(), precision in 4_u8..=18) {
                    laws_of_sets(|| of_hashes::<$kind>(precision), &streams);
                }

                #[test]
                fn merges_down_to_the_lower_precision(
                    (a, b, _) in streams(), p in 4_u8..=18, q in 4_u8..=18,
                ) {
                    super::merges_down_to_the_lower_precision::<$kind>(&a, &b, p, q);
                }
            }

            proptest! {
                #![proptest_config(
                    ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() }
                )]

                #[test]
                fn history_leaves_the_registers_alone((a, b, _) in streams(), precision in 4_u8..=12) {
                    super::history_leaves_the_registers_alone::<$kind>(&a, &b, precision);
                }
            }

            #[test]
            fn folds_saturated_registers_exactly() {
                super::folds_saturated_registers_exactly::<$kind>();
            }

            #[test]
            fn registers_are_what_the_format_says() {
                super::registers_are_what_the_format_says::<$kind>();
            }

            #[test]
            fn different_schemes_refuse_each_other() {
                super::different_schemes_refuse_each_other(|scheme| {
                    RegisterSketch::<$kind>::with_scheme(12, scheme).unwrap()
                });
            }
        })*
    };
}
for_each_register_sketch!(laws);
