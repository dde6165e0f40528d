//! The files of UltraLogLog.

use crivo::distinct::UltraLogLog;
use crivo::keys::KeyScheme;

use super::path;

/// The state a stored file holds, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let words = |precision, count: u32| {
        let mut sketch = UltraLogLog::new(precision).unwrap();
        (0..count).for_each(|i| sketch.insert(format!("key {i}").as_str()).unwrap());
        sketch.encode()
    };
    let numbers = |range: std::ops::RangeInclusive<i64>| {
        let mut sketch = UltraLogLog::with_scheme(8, KeyScheme::integers()).unwrap();
        range.for_each(|i| sketch.insert(&i).unwrap());
        sketch.encode()
    };
    // Keys of every length that XXH3 treats differently.
    let seeded = KeyScheme::bytes().with_seed(11_400_714_785_074_694_797);
    let mut texts = UltraLogLog::with_scheme(8, seeded).unwrap();
    (0..=150).for_each(|length| texts.insert("á".repeat(length).as_str()).unwrap());
    let mut integers = UltraLogLog::with_scheme(10, KeyScheme::integers().with_seed(7)).unwrap();
    (0..10_000_u64).for_each(|i| integers.insert(&i).unwrap());
    let mut hashes = UltraLogLog::with_scheme(6, KeyScheme::hashes().with_seed(u64::MAX)).unwrap();
    hashes.insert_hashes(&[0, 1, u64::MAX, 1 << 63]);
    let mut saturated = UltraLogLog::with_scheme(4, KeyScheme::hashes()).unwrap();
    for register in 0..16_u64 {
        [0, 1 << 59, 1 << 58].into_iter().for_each(|low| saturated.insert_hash(register << 60 | low));
    }
    vec![
        ("ultraloglog_v1_empty", words(14, 0)),
        ("ultraloglog_v1_exact", words(12, 300)),
        ("ultraloglog_v1_dense", words(12, 100_000)),
        ("ultraloglog_v1_texts", texts.encode()),
        ("ultraloglog_v1_integers", integers.encode()),
        ("ultraloglog_v1_limit", numbers(-12..=11)),
        ("ultraloglog_v1_past_limit", numbers(-12..=12)),
        ("ultraloglog_v1_hashes", hashes.encode()),
        ("ultraloglog_v1_saturated", saturated.encode()),
    ]
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let value = |name| UltraLogLog::decode(&std::fs::read(path(name)).unwrap()).unwrap().estimate().value();
    assert_eq!(value("ultraloglog_v1_empty"), 0.0);
    assert_eq!(value("ultraloglog_v1_exact"), 300.0);
    assert_eq!(value("ultraloglog_v1_hashes"), 4.0);
    let saturated = UltraLogLog::decode(&std::fs::read(path("ultraloglog_v1_saturated")).unwrap()).unwrap();
    let estimate = saturated.estimate();
    assert!(estimate.lower() > 2_f64.powi(64) && estimate.upper().is_infinite(), "{estimate:?}");
    // Elementary functions come from `libm`, so these hold to the last bit on every platform.
    assert_eq!(value("ultraloglog_v1_dense"), DENSE_ANSWER);
    assert_eq!(value("ultraloglog_v1_integers"), INTEGERS_ANSWER);
}

const DENSE_ANSWER: f64 = 100_767.474_458_912_26;
const INTEGERS_ANSWER: f64 = 10_211.687_675_525_067;

/// Every precision, from empty to well past the exact state, in one number.
#[test]
fn fingerprint_of_many_states_does_not_change() {
    let mut fingerprint = 0;
    for precision in UltraLogLog::PRECISIONS {
        let mut sketch = UltraLogLog::with_scheme(precision, KeyScheme::integers()).unwrap();
        for i in 0..40_000_u64 {
            if i.is_power_of_two() {
                fingerprint = KeyScheme::bytes().with_seed(fingerprint).hash(&sketch.encode()).unwrap();
            }
            sketch.insert(&i).unwrap();
        }
    }
    assert_eq!(fingerprint, FINGERPRINT, "{fingerprint:#018x}");
}

const FINGERPRINT: u64 = 0xE725_B307_92D2_53BB;
