//! The laws of `TableProfile`: merging is the profile of both tables, but for the parts that say
//! otherwise.

use crivo::profile::drift::{DriftRule, TableDrift};
use crivo::profile::expectations::TableRules;
use crivo::profile::{Kind, TableColumn, TableProfile};
use proptest::prelude::*;

use super::support::tables::{Texts, mixed, small, table};

type Rows = Vec<Option<String>>;

fn rows() -> impl Strategy<Value = Rows> {
    let value = prop_oneof![
        Just(None),
        (-50..50_i64).prop_map(|number| Some(number.to_string())),
        (0..1_000_000_u32).prop_map(|number| Some(format!("{number}.5"))),
        (0..30_u32).prop_map(|number| Some(format!("word {number}"))),
        Just(Some("2024-02-29".to_owned())),
        (1..13_u32, 1..30_u32).prop_map(|(month, day)| Some(format!("{month}/{day}/2024"))),
        (any::<f64>()).prop_map(|number| Some(format!("{number:e}"))),
    ];
    prop::collection::vec(value, 0..400)
}

/// What merging must keep bit for bit.
fn require_same(one: &TableColumn, other: &TableColumn) {
    let (mine, theirs) = (&one.data().profile, &other.data().profile);
    assert_eq!(
        (mine.rows(), mine.missing(), mine.sum(), mine.mean()),
        (theirs.rows(), theirs.missing(), theirs.sum(), theirs.mean())
    );
    assert_eq!((mine.min(), mine.max(), mine.lengths()), (theirs.min(), theirs.max(), theirs.lengths()));
    assert_eq!((mine.distinct(), mine.numbers()), (theirs.distinct(), theirs.numbers()));
    for kind in Kind::ALL {
        assert_eq!(
            (mine.count_of(kind), one.first(kind)),
            (theirs.count_of(kind), other.first(kind)),
            "{kind:?}"
        );
    }
    assert_eq!(one.data().growth, other.data().growth);
    assert_eq!((one.spread(), one.dates()), (other.spread(), other.dates()));
    let drawn = |column: &TableColumn| column.drawn().map(|drawn| drawn.rows().len());
    assert_eq!(drawn(one), drawn(other));
    let (mine, theirs) = (one.ranks(), other.ranks());
    assert_eq!((mine.count(), mine.min(), mine.max()), (theirs.count(), theirs.min(), theirs.max()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn merging_tables_is_the_table_of_both((a, b, c) in (rows(), rows(), rows())) {
        let (none, both) = (vec![None; b.len()], [a.clone(), b.clone()].concat());
        let of = |part: u64, columns: &[Texts<'_>]| table(small(), part, columns);
        let padded: Rows = [vec![None; a.len()], c.iter().take(b.len()).cloned().collect()].concat();
        let later: Rows = c.iter().take(b.len()).cloned().collect();
        let mut merged = of(0, &[("x", &a)]);
        merged.merge(&of(1, &[("x", &b), ("late", &later), ("none", &none)])).unwrap();
        let whole = of(0, &[("x", &both), ("late", &padded)]);
        prop_assert_eq!((merged.rows(), merged.columns().len()), (whole.rows(), 3));
        for (one, other) in merged.columns().iter().zip(whole.columns()) {
            prop_assert_eq!(one.name(), other.name());
            require_same(one, other);
        }
        prop_assert_eq!(merged.columns()[2].data().profile.missing(), merged.rows());
        prop_assert!(TableProfile::decode(&merged.encode()).as_ref() == Ok(&merged), "decoding inverts encoding");
    }

    #[test]
    fn columns_of_one_name_are_matched_in_their_order((a, b) in (rows(), rows())) {
        let mut merged = table(small(), 0, &[("x", &a), ("x", &b)]);
        let rows = merged.rows();
        merged.merge(&table(small(), 1, &[("x", &a)])).unwrap();
        let [first, second] = merged.columns() else { panic!("two columns") };
        prop_assert_eq!(first.data().profile.values(), 2 * a.iter().flatten().count() as u64);
        prop_assert_eq!(second.data().profile.values(), b.iter().flatten().count() as u64);
        prop_assert_eq!(merged.rows(), rows + a.len() as u64);
    }
}

#[test]
fn a_table_without_detail_takes_it_from_the_other() {
    let some = vec![Some("1".to_owned()), Some("2".to_owned())];
    let plain = crivo::profile::TableColumnSizes { detail: None, ..small() };
    for (mine, theirs) in [(small(), plain), (plain, small()), (plain, plain)] {
        let mut merged = table(mine, 0, &[("a", &some)]);
        merged.merge(&table(theirs, 1, &[("a", &some)])).unwrap();
        let column = &merged.columns()[0];
        assert_eq!((column.drawn(), column.spread().standard_deviation), (None, None));
        assert_eq!(TableProfile::decode(&merged.encode()), Ok(merged));
    }
}

#[test]
fn tables_that_cannot_be_merged_stay_as_they_are() {
    let some = vec![Some("1".to_owned()), Some("x".to_owned())];
    let mut table_of = table(small(), 0, &[("a", &some), ("b", &some)]);
    let before = table_of.clone();
    let large = crivo::profile::TableColumnSizes::for_memory(1 << 20);
    let error = table_of.merge(&table(large, 1, &[("a", &some), ("b", &some)])).unwrap_err();
    assert!(error.to_string().contains("size of ranks") && error.to_string().contains("--memory"), "{error}");
    assert_eq!(table_of, before);
}

/// Asks a table for everything that it answers.
fn ask_all(table: &TableProfile) {
    for column in table.columns() {
        let profile = &column.data().profile;
        for share in [0.0, 0.1, 0.5, 1.0] {
            let _ = (profile.quantile(share), column.ranks().quantile(share));
        }
        let _ = (profile.sum(), profile.mean(), profile.lengths(), profile.majority());
        let _ = (column.data().distinct(), column.data().near_duplicate_share());
        let _ = (column.histogram(7), column.outliers(), column.spread(), column.dates());
        let _ = column.patterns(5);
    }
    let _ = (table.relations(), table.summary(), TableRules::of(table));
}

#[test]
fn a_table_doubled_until_its_counts_stop_still_answers() {
    let texts = |text: &str| vec![Some(text.to_owned()); 40];
    let few: Rows = (0..40).map(|row| Some((row % 3).to_string())).collect();
    let columns = [
        ("mixed", mixed(0..40)),
        ("few", few),
        ("dates", texts("2024-02-29")),
        ("large", texts("9223372036854775807")),
        ("least", texts("-9223372036854775808")),
        ("wide", texts("1.5e300")),
        ("document", texts("Dear Ana, thank you for the parcel that came on Monday, unharmed and in time")),
    ];
    let columns: Vec<Texts<'_>> = columns.iter().map(|(name, texts)| (*name, &texts[..])).collect();
    let mut doubled = table(small(), 0, &columns);
    let once = doubled.clone();
    for _ in 0..70 {
        let before = doubled.clone();
        doubled.merge(&before).unwrap();
        ask_all(&doubled);
        for (one, other) in [(&before, &doubled), (&once, &doubled), (&doubled, &once)] {
            let _ = TableDrift::between(one, other, &DriftRule::default(), |_| false);
        }
        assert_eq!(TableProfile::decode(&doubled.encode()).unwrap(), doubled);
        let mut fed = doubled.clone();
        fed.merge(&once).unwrap();
    }
    assert_eq!(doubled.rows(), u64::MAX);
}
