//! The files of `RowSample`.

use crivo::sampling::RowSample;

use super::path;

fn rows(capacity: u64, places: impl Iterator<Item = u64>) -> RowSample {
    let mut sample = RowSample::new(capacity, 7).unwrap();
    places.for_each(|place| sample.insert(place, format!("row {place}\n").as_bytes()).unwrap());
    sample
}

/// The state a stored file holds, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let mut weighted = RowSample::weighted(20, 7).unwrap();
    for place in 0..500_u32 {
        let row = format!("row {place}\n");
        weighted.insert_weighted(place.into(), f64::from(place % 3) / 8.0, || row.as_bytes()).unwrap();
    }
    let mut merged = rows(10, (0..2000).step_by(2));
    merged.merge(&rows(10, (1..2000).step_by(2))).unwrap();
    vec![
        ("row_sample_v1_empty", rows(5, 0..0).encode()),
        ("row_sample_v1_filling", rows(100, 0..60).encode()),
        ("row_sample_v1_full", rows(20, 0..10_000).encode()),
        ("row_sample_v1_weighted", weighted.encode()),
        ("row_sample_v1_merged", merged.encode()),
    ]
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let stored = |name| RowSample::decode(&std::fs::read(path(name)).unwrap()).unwrap();
    assert_eq!(stored("row_sample_v1_merged"), rows(10, 0..2000), "parts do not matter");
    let weighted = stored("row_sample_v1_weighted");
    assert_eq!((weighted.seen(), weighted.weightless(), weighted.rows().len()), (333, 167, 20));
}
