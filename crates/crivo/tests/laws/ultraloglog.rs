//! The laws of UltraLogLog.

use crivo::distinct::UltraLogLog;
use crivo::keys::KeyScheme;
use proptest::prelude::*;

use super::support::generator;
use super::{different_schemes_refuse_each_other, laws_of_sets, merged, sketch_of, streams};

fn ultraloglog(precision: u8) -> UltraLogLog {
    UltraLogLog::with_scheme(precision, KeyScheme::hashes().with_seed(3)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ultraloglog_obeys_the_laws(streams in streams(), precision in 4_u8..=18) {
        laws_of_sets(|| ultraloglog(precision), &streams);
    }

    /// Of two precisions the lower one stays, as if it had been used from the start.
    #[test]
    fn ultraloglog_merges_down_to_the_lower_precision(
        streams in streams(), p in 4_u8..=18, q in 4_u8..=18,
    ) {
        let (a, b, _) = &streams;
        let x = sketch_of(ultraloglog(p), &[a]);
        let y = sketch_of(ultraloglog(q), &[b]);
        let joined = sketch_of(ultraloglog(p.min(q)), &[a, b]);
        prop_assert_eq!(merged(&x, &y).encode(), joined.encode());
        prop_assert_eq!(merged(&y, &x).encode(), joined.encode());
    }
}

/// Registers that saw the highest level keep information in their index that folding must use:
/// hashes with long runs of zeros, at every pair of precisions.
#[test]
fn ultraloglog_folds_saturated_registers_exactly() {
    let mut random = generator("saturated");
    let extreme: Vec<u64> = (0..20_000)
        .map(|_| match random.below(3) {
            0 => random.bits() << (40 + random.below(24)),
            1 => random.bits() << 46,
            _ => random.bits(),
        })
        .collect();
    for p in UltraLogLog::PRECISIONS {
        for q in *UltraLogLog::PRECISIONS.start()..=p {
            let fine = sketch_of(ultraloglog(p), &[&extreme]);
            let coarse = sketch_of(ultraloglog(q), &[&extreme]);
            assert_eq!(merged(&fine, &ultraloglog(q)), coarse, "{p} folded to {q}");
        }
    }
}

/// The payload, from the words of docs/format.md.
#[test]
fn registers_of_ultraloglog_are_what_the_format_says() {
    let mut random = generator("registers");
    for precision in UltraLogLog::PRECISIONS {
        let count = (1_usize << precision) / 4 + 64;
        let hashes: Vec<u64> =
            (0..count).map(|_| random.bits() << (random.below(4) * random.below(16))).collect();
        let low_bits = 64 - u32::from(precision);
        let mut occurred = vec![[false; 66]; 1 << precision];
        for hash in &hashes {
            let level = (hash.trailing_zeros() + 1).min(low_bits + 1);
            occurred[(hash >> low_bits) as usize][level as usize] = true;
        }
        let registers =
            occurred.iter().map(|occurred| match occurred.iter().rposition(|&occurred| occurred) {
                None => 0,
                Some(highest) => {
                    let below = |back: usize| highest > back && occurred[highest - back];
                    4 * highest as u8 + 2 * u8::from(below(1)) + u8::from(below(2))
                }
            });
        let mut distinct = hashes.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert!(distinct.len() > UltraLogLog::exact_up_to(precision), "the state is dense");
        let expected: Vec<u8> = [precision, 1].into_iter().chain(registers).collect();
        let bytes = sketch_of(ultraloglog(precision), &[&hashes]).encode();
        assert!(bytes[28..bytes.len() - 4] == expected, "precision {precision}");
    }
}

#[test]
fn ultraloglogs_of_different_schemes_refuse_each_other() {
    different_schemes_refuse_each_other(|scheme| UltraLogLog::with_scheme(12, scheme).unwrap());
}
