//! The files of `TableProfile`.

use crivo::profile::{Kind, NearDuplicateShare, TableColumnSizes, TableProfile};

use super::path;
use super::support::tables::{mixed, numbers, small, table};

/// The state a stored file holds, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let days = [mixed(0..40), mixed(40..100)];
    let amounts = numbers(0..60);
    let mut merged = table(small(), 0, &[("day", &days[0])]);
    let mut later = table(small(), 1, &[("amount", &amounts), ("day", &days[1])]);
    (merged.bytes, merged.bad, later.left_out) = (1000, 2, 3);
    merged.merge(&later).unwrap();
    let text = |row: u64| {
        Some(format!("document {} of about ten words or so, written once more in row {row}", row % 9))
    };
    let texts: Vec<Option<String>> = (0..30).map(text).collect();
    let large = TableColumnSizes::for_memory(512 << 10);
    vec![
        ("table_profile_v1_empty", table(small(), 0, &[]).encode()),
        ("table_profile_v1_header", table(small(), 0, &[("a", &[]), ("b", &[])]).encode()),
        ("table_profile_v1_mixed", table(small(), 0, &[("day", &days[0])]).encode()),
        ("table_profile_v1_merged", merged.encode()),
        ("table_profile_v1_documents", table(large, 0, &[("text", &texts), ("text", &texts)]).encode()),
    ]
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let stored = |name| TableProfile::decode(&std::fs::read(path(name)).unwrap()).unwrap();
    let merged = stored("table_profile_v1_merged");
    assert_eq!((merged.rows(), merged.bytes, merged.bad, merged.left_out), (100, 1000, 2, 3));
    let [day, amount] = merged.columns() else { panic!("other columns") };
    assert_eq!((day.name(), amount.name()), ("day", "amount"));
    assert_eq!((day.data().profile.missing(), amount.data().profile.missing()), (15, 40));
    let row_of = |kind| day.first(kind).map(|first| first.row);
    assert_eq!((row_of(Kind::Integer), row_of(Kind::Text)), (Some(2), Some(7)));
    assert_eq!(amount.first(Kind::Integer).map(|first| first.row), Some(41));
    let documents = stored("table_profile_v1_documents");
    assert_eq!(
        documents.columns()[1].data().near_duplicates.as_ref().map(NearDuplicateShare::documents),
        Some(30)
    );
}
