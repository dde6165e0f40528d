//! Answers as JSON: `cargo test -p crivo --features serde --test serde`.

#![cfg(feature = "serde")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // this is how a test fails

#[expect(dead_code, reason = "these tests draw nothing at random")]
#[path = "support/mod.rs"]
mod support;

use crivo::distinct::{HyperLogLog, KMinValues};
use crivo::frequency::HeavyHitters;
use crivo::keys::{Key as _, KeyRef};
use crivo::membership::Bloom;
use crivo::profile::drift::{DriftRule, TableDrift};
use crivo::profile::expectations::TableRules;
use crivo::profile::{TableColumnSizes, TableProfile};
use crivo::quantiles::{Accuracy, KeyQuantiles};
use crivo::{Confidence, Estimate};
use serde_json::{json, to_value};

use support::tables::table_with;

#[test]
fn an_estimate_has_its_bounds_and_their_confidence() {
    let estimate = Estimate::probable(10.0, 9.0, 11.5, Confidence::P95);
    let expected = json!({"value": 10.0, "lower": 9.0, "upper": 11.5, "confidence": 0.95});
    assert_eq!(serde_json::to_value(estimate).unwrap(), expected);
    assert_eq!(serde_json::to_value(Estimate::exact(3.0)).unwrap()["confidence"], 1.0);
}

#[test]
fn a_summary_names_its_parameters() {
    let mut filter = Bloom::new(1000, 3).unwrap();
    filter.insert("ana").unwrap();
    let summary = serde_json::to_value(filter.summary()).unwrap();
    assert_eq!(summary["family"], "Bloom");
    assert_eq!((&summary["parameters"]["bits"], &summary["parameters"]["hashes"]), (&json!(1000), &json!(3)));
    assert_eq!(summary["scheme"], json!({"kind": "bytes", "function": "XXH3-64", "seed": 0}));
    assert_eq!(summary["fill"], 0.003);
    assert!(summary["false_positive_rate"].is_f64() && summary["memory"].is_u64());
    let counter = serde_json::to_value(HyperLogLog::new(12).unwrap().summary()).unwrap();
    assert_eq!((&counter["false_positive_rate"], &counter["items"]["value"]), (&json!(null), &json!(0.0)));
}

#[test]
fn keys_are_text_where_they_can_be() {
    let mut words = HeavyHitters::new(4).unwrap();
    words.add("maçã", 3).unwrap();
    words.add(&[0xFF_u8][..], 2).unwrap();
    let hitters = serde_json::to_value(words.top(2)).unwrap();
    assert_eq!(hitters[0]["key"], "maçã");
    assert_eq!((&hitters[0]["count"], &hitters[0]["lower"]), (&json!(3), &json!(3)));
    assert_eq!(hitters[1]["key"], json!([255]));
}

#[test]
fn integer_keys_have_the_sign_that_they_are_shown_with() {
    let key = (-1_i64).to_ref();
    assert_eq!((serde_json::to_value(key).unwrap(), key.to_string().as_str()), (json!(-1), "-1"));
    assert_eq!(serde_json::to_value(key.to_owned()).unwrap(), json!(-1));
    assert_eq!(serde_json::to_value(KeyRef::Hash(u64::MAX)).unwrap(), json!(u64::MAX));
}

/// Returns the profile of prices, which are the numbers of a range, and of codes, which follow them.
fn profile(prices: std::ops::Range<u32>) -> TableProfile {
    let texts = |of: fn(u32) -> String| -> Vec<Option<String>> {
        prices.clone().map(|price| Some(of(price))).collect()
    };
    let (prices, codes) = (texts(|price| price.to_string()), texts(|price| format!("A-{:03}", price % 7)));
    let days = texts_of_days(prices.len());
    table_with(
        TableColumnSizes::for_memory(1280 << 10),
        0,
        1,
        &[("price", &prices), ("code", &codes), ("day", &days)],
    )
}

fn texts_of_days(count: usize) -> Vec<Option<String>> {
    (0..count).map(|row| Some(format!("2026-01-{:02}", row % 20 + 1))).collect()
}

#[test]
fn what_changed_in_a_table_has_names_and_numbers() {
    let drift = TableDrift::between(&profile(0..600), &profile(300..900), &DriftRule::default(), |_| false);
    let json = to_value(&drift).unwrap();
    assert_eq!((&json["added"], &json["removed"]), (&json!([]), &json!([])));
    let price = json["columns"].as_array().unwrap().iter().find(|column| column["name"] == "price").unwrap();
    let change =
        price["changes"].as_array().unwrap().iter().find(|one| one["what"] == "distribution").unwrap();
    assert!((change["effect"].as_f64().unwrap() - 0.5).abs() < 0.01 && change["p"].is_f64(), "{change}");
    assert!(change["before"].is_f64() && change["after"].is_f64(), "{change}");
}

#[test]
fn a_broken_rule_names_its_column_and_its_row() {
    let table = profile(0..300);
    let mut rules = TableRules::of(&profile(0..10));
    rules.min_rows = Some(1000);
    rules.max_rows = None;
    let broken = to_value(rules.broken(&table, &rules.checks())).unwrap();
    let expected = json!({"column": null, "rule": "rows.min", "row": null, "found": "300 rows"});
    assert_eq!(broken[0], expected);
}

#[test]
fn facts_about_columns_are_named_as_in_the_library() {
    let table = profile(0..700);
    let column = |name: &str| table.columns().iter().find(|column| column.name() == name).unwrap();
    let price = column("price");
    let histogram = to_value(price.histogram(7).unwrap()).unwrap();
    assert_eq!(histogram["bars"].as_array().unwrap().len(), 7);
    assert_eq!(histogram["bars"][0]["count"]["value"], 100.0);
    assert_eq!((&histogram["below"]["upper"], &histogram["above"]["upper"]), (&json!(0.0), &json!(0.0)));
    assert_eq!(to_value(price.outliers().unwrap()).unwrap()["above"]["value"], 0.0);
    let pattern = &to_value(column("code").patterns(1)).unwrap()[0];
    assert_eq!((&pattern["pattern"], &pattern["example"]), (&json!("A-999"), &json!("A-000")));
    let days = to_value(column("day").dates().unwrap()).unwrap();
    assert_eq!((&days["formats"], &days["others"]), (&json!([["YYYY-MM-DD", 700]]), &json!(0)));
    assert_eq!(days["gaps"], json!({"missing": 0, "longest": null}));
    let relations = to_value(table.relations()).unwrap();
    assert!(relations["correlations"].is_array() && relations["dependencies"].is_array());
}

#[test]
fn quantiles_of_keys_and_compared_sets_have_their_bounds() {
    let mut names = KeyQuantiles::new(200, Accuracy::Uniform, 7).unwrap();
    let mut sets = [0, 1].map(|_| KMinValues::new(64).unwrap());
    for (at, name) in ["ana", "eva", "zoe"].into_iter().enumerate() {
        names.insert(name).unwrap();
        sets[usize::from(at > 1)].insert(name).unwrap();
    }
    let median = to_value(names.quantile(0.5).unwrap()).unwrap();
    assert_eq!(median, json!({"value": "eva", "lower": "eva", "upper": "eva", "confidence": 1.0}));
    let compared = to_value(sets[0].compare(&sets[1]).unwrap()).unwrap();
    assert_eq!((&compared["union"]["value"], &compared["jaccard"]["upper"]), (&json!(3.0), &json!(0.0)));
}
