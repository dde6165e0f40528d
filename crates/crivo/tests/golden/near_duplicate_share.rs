//! The files of `NearDuplicateShare`.

use crivo::keys::KeyScheme;
use crivo::profile::NearDuplicateShare;

use super::path;

/// Returns a sketch of made-up letters. Every third letter says nearly the same as the one before.
/// The recipe is also in docs/format.md.
fn letters(seed: u64, numbers: std::ops::Range<u64>) -> NearDuplicateShare {
    let mut sketch = NearDuplicateShare::with_scheme(128, KeyScheme::bytes().with_seed(seed)).unwrap();
    for number in numbers {
        let about = if number % 3 == 2 { number - 1 } else { number };
        let words: Vec<String> = (0..12)
            .map(|word| format!("{:x}", crate::xxh3_integers().hash(&(about * 100 + word)).unwrap() >> 40))
            .collect();
        sketch.insert(&format!("{} {}", words.join(" "), number % 10));
    }
    sketch
}

/// The state a stored file holds, built anew.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let mut short = NearDuplicateShare::new(64).unwrap();
    short.insert("a name");
    for text in ["The same form, word for word, of all", "the same form, word for word, of ALL"] {
        short.insert(text);
    }
    (0..3).for_each(|_| short.insert("one text that comes three times, as it is"));
    let mut merged = letters(7, 0..300);
    merged.merge(&letters(7, 300..1000)).unwrap();
    vec![
        ("near_duplicate_share_v1_empty", letters(0, 0..0).encode()),
        ("near_duplicate_share_v1_short", short.encode()),
        ("near_duplicate_share_v1_all", letters(0, 0..100).encode()),
        ("near_duplicate_share_v1_sampled", letters(0, 0..1000).encode()),
        ("near_duplicate_share_v1_merged", merged.encode()),
    ]
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let stored = |name| NearDuplicateShare::decode(&std::fs::read(path(name)).unwrap()).unwrap();
    assert_eq!(stored("near_duplicate_share_v1_merged"), letters(7, 0..1000), "parts do not matter");
    assert_eq!(stored("near_duplicate_share_v1_short").share().map(crivo::Estimate::value), Some(1.0));
    let all = stored("near_duplicate_share_v1_all");
    assert_eq!((all.documents(), all.share().map(crivo::Estimate::value)), (100, Some(0.66)));
    assert!(stored("near_duplicate_share_v1_sampled").share().unwrap().covers(0.666));
}
