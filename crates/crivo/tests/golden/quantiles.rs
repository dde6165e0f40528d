//! The files of the rank sketches.

use crivo::quantiles::{Accuracy, KeyQuantiles, NumberQuantiles};

use super::path;

const TAILS: Accuracy = Accuracy::Tails;
const UNIFORM: Accuracy = Accuracy::Uniform;

/// Number `i`: the integers below 2^16 in an order that looks random.
fn number(i: u64) -> f64 {
    (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48) as f64
}

fn numbers(size: u32, accuracy: Accuracy, seed: u64, range: std::ops::Range<u64>) -> NumberQuantiles {
    let mut sketch = NumberQuantiles::new(size, accuracy, seed).unwrap();
    range.for_each(|i| sketch.insert(number(i)));
    sketch
}

/// The state a stored file holds, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let mut extremes = NumberQuantiles::new(8, UNIFORM, 7).unwrap();
    extremes.insert_all(&[f64::MAX, f64::NEG_INFINITY, 5e-324, -0.0, f64::NAN, 1.5]);
    let mut weights = NumberQuantiles::new(8, UNIFORM, 7).unwrap();
    (1..=12_u32).for_each(|i| weights.add(f64::from(i) / 4.0, (1 << i) + 1));
    let mut saturated = NumberQuantiles::new(8, TAILS, 7).unwrap();
    [1.0, -2.0].iter().for_each(|&value| saturated.add(value, u64::MAX - 1));
    let mut merged = numbers(16, UNIFORM, 1, 0..5000);
    merged.merge(&numbers(16, UNIFORM, 2, 5000..5300)).unwrap();
    let mut merged_tails = numbers(8, TAILS, 1, 0..5000);
    merged_tails.merge(&numbers(8, TAILS, 2, 5000..5300)).unwrap();
    let texts = |range: std::ops::Range<u64>| {
        let mut sketch = KeyQuantiles::new(8, UNIFORM, 7).unwrap();
        range.for_each(|i| sketch.insert(format!("key {}", number(i)).as_str()).unwrap());
        sketch.encode()
    };
    let scheme = crate::xxh3_integers().with_seed(7);
    let mut integers = KeyQuantiles::with_scheme(8, TAILS, scheme, 7).unwrap();
    (-500..500).for_each(|i| integers.insert(&i).unwrap());
    vec![
        ("number_quantiles_v1_empty", numbers(200, UNIFORM, 0, 0..0).encode()),
        ("number_quantiles_v1_exact", numbers(200, UNIFORM, 7, 0..100).encode()),
        ("number_quantiles_v1_compacted", numbers(16, UNIFORM, 7, 0..1000).encode()),
        ("number_quantiles_v1_sampled", numbers(8, UNIFORM, 7, 0..100_001).encode()),
        ("number_quantiles_v1_tails", numbers(8, TAILS, 7, 0..10_000).encode()),
        ("number_quantiles_v1_extremes", extremes.encode()),
        ("number_quantiles_v1_weights", weights.encode()),
        ("number_quantiles_v1_saturated", saturated.encode()),
        ("number_quantiles_v1_merged", merged.encode()),
        ("number_quantiles_v1_merged_tails", merged_tails.encode()),
        ("key_quantiles_v1_exact", texts(0..5)),
        ("key_quantiles_v1_texts", texts(0..5000)),
        ("key_quantiles_v1_integers", integers.encode()),
    ]
}

#[test]
fn answers_of_stored_rank_sketches_do_not_change() {
    let stored = |name| NumberQuantiles::decode(&std::fs::read(path(name)).unwrap()).unwrap();
    let sampled = stored("number_quantiles_v1_sampled");
    assert_eq!((sampled.count(), sampled.max()), (100_001, Some(65_535.0)));
    assert!(sampled.quantile(0.5).unwrap().covers(32_768.0));
    let extremes = stored("number_quantiles_v1_extremes");
    assert_eq!((extremes.count(), extremes.not_a_number(), extremes.min()), (5, 1, Some(f64::NEG_INFINITY)));
    assert!(stored("number_quantiles_v1_saturated").is_saturated());
    let texts = KeyQuantiles::decode(&std::fs::read(path("key_quantiles_v1_texts")).unwrap()).unwrap();
    assert_eq!((texts.count(), texts.is_exact()), (5000, false));
}
