//! The laws of HyperLogLog.

use crivo::distinct::HyperLogLog;
use crivo::keys::KeyScheme;
use proptest::prelude::*;

use super::support::generator;
use super::{different_schemes_refuse_each_other, laws_of_sets, merged, sketch_of, streams};

fn hyperloglog(precision: u8) -> HyperLogLog {
    HyperLogLog::with_scheme(precision, KeyScheme::hashes().with_seed(3)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hyperloglog_obeys_the_laws(streams in streams(), precision in 4_u8..=18) {
        laws_of_sets(|| hyperloglog(precision), &streams);
    }

    /// Of two precisions the lower one stays, as if it had been used from the start.
    #[test]
    fn hyperloglog_merges_down_to_the_lower_precision(
        streams in streams(), p in 4_u8..=18, q in 4_u8..=18,
    ) {
        let (a, b, _) = &streams;
        let x = sketch_of(hyperloglog(p), &[a]);
        let y = sketch_of(hyperloglog(q), &[b]);
        let joined = sketch_of(hyperloglog(p.min(q)), &[a, b]);
        prop_assert_eq!(merged(&x, &y).encode(), joined.encode());
        prop_assert_eq!(merged(&y, &x).encode(), joined.encode());
    }
}

/// Registers at their highest value keep information in their index that folding must use:
/// hashes with long runs of zeros, at every pair of precisions.
#[test]
fn hyperloglog_folds_saturated_registers_exactly() {
    let mut random = generator("saturated");
    let extreme: Vec<u64> = (0..20_000)
        .map(|_| match random.below(3) {
            0 => random.bits() << (40 + random.below(24)),
            1 => random.bits() << 46,
            _ => random.bits(),
        })
        .collect();
    for p in HyperLogLog::PRECISIONS {
        for q in *HyperLogLog::PRECISIONS.start()..=p {
            let fine = sketch_of(hyperloglog(p), &[&extreme]);
            let coarse = sketch_of(hyperloglog(q), &[&extreme]);
            assert_eq!(merged(&fine, &hyperloglog(q)), coarse, "{p} folded to {q}");
        }
    }
}

#[test]
fn hyperloglogs_of_different_schemes_refuse_each_other() {
    different_schemes_refuse_each_other(|scheme| HyperLogLog::with_scheme(12, scheme).unwrap());
}
