//! The files of `TableProfile`.

use crivo::profile::{DateFormat, Kind, NearDuplicateShare, Spread, TableColumnSizes, TableProfile};

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
    // Days in two formats and with two readings, numbers that are days, and fractions of either
    // sign.
    let of_row = |text: fn(i64) -> String| (0..40).map(|row| Some(text(row))).collect::<Vec<_>>();
    let detailed = [
        ("either", of_row(|row| format!("{}/{}/2024", row % 12 + 1, row % 9 + 1))),
        ("american", of_row(|row| format!("{:02}/{:02}/2024", row % 12 + 1, row % 28 + 1))),
        (
            "named",
            of_row(
                |row| if row % 3 > 0 { format!("{} May 2024", row % 28 + 1) } else { "2024-05-31".into() },
            ),
        ),
        ("compact", of_row(|row| (20_240_101 + row % 28).to_string())),
        ("wide", of_row(|row| if row == 7 { "0001-01-01".into() } else { "2024-05-31T10:00".into() })),
        ("fraction", of_row(|row| format!("{}.3", row * row * row - 9000))),
    ];
    let detailed: Vec<(&str, &[Option<String>])> =
        detailed.iter().map(|(name, texts)| (*name, texts.as_slice())).collect();
    let again = |name| TableProfile::decode(&std::fs::read(path(name)).unwrap()).unwrap().encode();
    vec![
        ("table_profile_v2_empty", table(small(), 0, &[]).encode()),
        ("table_profile_v2_header", table(small(), 0, &[("a", &[]), ("b", &[])]).encode()),
        ("table_profile_v2_mixed", table(small(), 0, &[("day", &days[0])]).encode()),
        ("table_profile_v2_merged", merged.encode()),
        ("table_profile_v2_documents", table(large, 0, &[("text", &texts), ("text", &texts)]).encode()),
        ("table_profile_v2_detailed", table(small(), 0, &detailed).encode()),
        // Those of the first version, as they are written today.
        ("table_profile_v2_empty_plain", again("table_profile_v1_empty")),
        ("table_profile_v2_header_plain", again("table_profile_v1_header")),
        ("table_profile_v2_mixed_plain", again("table_profile_v1_mixed")),
        ("table_profile_v2_merged_plain", again("table_profile_v1_merged")),
        ("table_profile_v2_documents_plain", again("table_profile_v1_documents")),
    ]
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let stored = |name| TableProfile::decode(&std::fs::read(path(name)).unwrap()).unwrap();
    for name in ["table_profile_v1_merged", "table_profile_v2_merged"] {
        check_merged(&stored(name));
    }
    let documents = stored("table_profile_v1_documents");
    assert_eq!(
        documents.columns()[1].data().near_duplicates.as_ref().map(NearDuplicateShare::documents),
        Some(30)
    );
    assert_eq!((documents.columns()[1].drawn(), documents.columns()[1].spread()), (None, Spread::default()));
    let detailed = stored("table_profile_v2_detailed");
    let dates = |name| {
        let (_, column) = detailed.named().into_iter().find(|(known, _)| *known == (name, 0)).unwrap();
        column.dates().unwrap()
    };
    assert_eq!(dates("either").range, None, "two readings");
    assert_eq!(dates("american").formats, [(DateFormat::MonthDayYearSlashes, 40)]);
    assert_eq!(dates("american").range, Some((19_723, 20_081)));
    assert_eq!(dates("named").gaps.map(|gaps| gaps.missing), Some(8));
    assert_eq!(dates("compact").formats, [(DateFormat::Compact, 40)]);
    assert_eq!((dates("wide").range, dates("wide").gaps), (Some((-719_162, 19_874)), None));
}

fn check_merged(merged: &TableProfile) {
    assert_eq!((merged.rows(), merged.bytes, merged.bad, merged.left_out), (100, 1000, 2, 3));
    let [day, amount] = merged.columns() else { panic!("other columns") };
    assert_eq!((day.name(), amount.name()), ("day", "amount"));
    assert_eq!((day.data().profile.missing(), amount.data().profile.missing()), (15, 40));
    let row_of = |kind| day.first(kind).map(|first| first.row);
    assert_eq!((row_of(Kind::Integer), row_of(Kind::Text)), (Some(2), Some(7)));
    assert_eq!(amount.first(Kind::Integer).map(|first| first.row), Some(41));
}
