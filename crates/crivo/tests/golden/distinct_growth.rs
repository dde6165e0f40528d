//! The files of `DistinctGrowth`.

use crivo::keys::KeyScheme;
use crivo::profile::DistinctGrowth;

use super::path;

/// Returns a sketch of these rows. Every third row has the value of the row before.
fn rows(k: u32, rows: std::ops::Range<u64>) -> DistinctGrowth {
    let mut sketch = DistinctGrowth::with_scheme(k, KeyScheme::bytes().with_seed(7)).unwrap();
    for row in rows {
        let value = if row % 3 == 0 { row - 1 } else { row };
        sketch.insert(format!("key {value}").as_str(), row).unwrap();
    }
    sketch
}

/// The state a stored file holds, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let mut merged = rows(64, 501..1_001);
    merged.merge(&rows(64, 1..501)).unwrap();
    let mut integers = DistinctGrowth::with_scheme(16, crate::xxh3_integers()).unwrap();
    (1..=9_u64).for_each(|row| integers.insert(&row, u64::MAX - row).unwrap());
    integers.renumber(|row| row - 1);
    vec![
        ("distinct_growth_v1_empty", rows(1024, 1..1).encode()),
        ("distinct_growth_v1_exact", rows(1024, 1..101).encode()),
        ("distinct_growth_v1_sampled", rows(64, 1..10_001).encode()),
        ("distinct_growth_v1_merged", merged.encode()),
        ("distinct_growth_v1_integers", integers.encode()),
    ]
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let stored = |name| DistinctGrowth::decode(&std::fs::read(path(name)).unwrap()).unwrap();
    assert_eq!(stored("distinct_growth_v1_merged"), rows(64, 1..1_001), "parts do not matter");
    let exact = stored("distinct_growth_v1_exact").growth(&[3, 50, 100]);
    assert_eq!(exact.iter().map(|distinct| distinct.value()).collect::<Vec<_>>(), [2.0, 34.0, 67.0]);
    assert!(stored("distinct_growth_v1_sampled").growth(&[6_000])[0].covers(4_000.0));
}
