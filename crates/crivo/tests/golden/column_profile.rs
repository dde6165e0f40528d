//! The files of `ColumnProfile`.

use crivo::keys::KeyScheme;
use crivo::profile::{ColumnProfile, ColumnType, ProfileConfig, Value};

use super::path;

/// Small parts, so that each reaches all its states.
const CONFIG: ProfileConfig =
    ProfileConfig { precision: 6, counters: 10, sample: 5, accuracy: 0.01, bins: 100, longest: 12 };

/// The state a stored file holds, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let column = |seed, values: &mut dyn Iterator<Item = String>, missing| {
        let mut profile = ColumnProfile::with_scheme(CONFIG, KeyScheme::bytes().with_seed(seed), 7).unwrap();
        values.for_each(|value| profile.insert(&value).unwrap());
        profile.add_missing(missing);
        profile
    };
    let mut merged = column(0, &mut (0..500).map(|i| (i * i % 97).to_string()), 1);
    let mut other = ColumnProfile::with_scheme(CONFIG, KeyScheme::bytes(), 8).unwrap();
    (0..500).for_each(|i| other.insert(&format!("{}.5", i % 50)).unwrap());
    merged.merge(&other).unwrap();
    let large = [i64::MIN, i64::MAX, (1 << 53) + 1, 0, -1];
    let kinds =
        ["true", "12", "-0.5", "1e400", "2024-02-29", "2024-02-29T12:00Z", "á", "", "a long text, cut"];
    vec![
        ("column_profile_v1_empty", column(0, &mut [].into_iter(), 0).encode()),
        ("column_profile_v1_missing", column(0, &mut [].into_iter(), 1234).encode()),
        (
            "column_profile_v1_integers",
            column(0, &mut (0..1000).map(|i| (i * i % 101 - 50).to_string()), 3).encode(),
        ),
        ("column_profile_v1_large", column(9, &mut large.iter().map(i64::to_string), 0).encode()),
        ("column_profile_v1_kinds", column(0, &mut kinds.iter().map(|&value| value.to_owned()), 2).encode()),
        ("column_profile_v1_merged", merged.encode()),
    ]
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let stored = |name| ColumnProfile::decode(&std::fs::read(path(name)).unwrap()).unwrap();
    assert_eq!(stored("column_profile_v1_missing").column_type(), ColumnType::Empty);
    let integers = stored("column_profile_v1_integers");
    assert_eq!((integers.column_type(), integers.rows()), (ColumnType::Integer, 1003));
    assert_eq!((integers.min(), integers.max()), (Some(Value::Integer(-50)), Some(Value::Integer(50))));
    let large = stored("column_profile_v1_large");
    assert_eq!(large.sum(), Some(9_007_199_254_740_991.0));
    let kinds = stored("column_profile_v1_kinds");
    assert_eq!((kinds.column_type(), kinds.long()), (ColumnType::Text, 2));
    assert_eq!(kinds.min(), Some(Value::Text(Vec::new())));
    assert_eq!(stored("column_profile_v1_merged").column_type(), ColumnType::Float);
}
