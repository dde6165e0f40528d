//! Answers as JSON: `cargo test -p crivo --features serde --test serde`.

#![cfg(feature = "serde")]

use crivo::distinct::HyperLogLog;
use crivo::frequency::HeavyHitters;
use crivo::keys::{Key as _, KeyRef};
use crivo::membership::Bloom;
use crivo::{Confidence, Estimate};
use serde_json::json;

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
