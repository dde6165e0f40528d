//! `crivo plan` against the formulas.

use serde_json::Value;

use crate::support::Scratch;

fn plan(args: &[&str]) -> Value {
    let json = Scratch::new().run(&[&["plan"], args, &["--json"]].concat()).json();
    assert!(
        json["kind"].is_string() && json["note"].is_string() && json["bytes"].as_u64().unwrap() > 0,
        "{json}"
    );
    json
}

#[test]
fn bloom_is_sized_for_the_integer_number_of_hashes() {
    let json = plan(&["bloom", "--items", "1000000", "--fpr", "0.01"]);
    assert_eq!(json["kind"], "Bloom");
    assert_eq!(json["parameters"]["bits"], 9_592_955);
    assert_eq!(json["parameters"]["hashes"], 7);
    assert_eq!(json["bytes"], 9_592_955_u64.div_ceil(64) * 8);
    assert!((json["error"].as_f64().unwrap() - 0.01).abs() < 1e-6);
    assert_eq!(plan(&["bloom", "--items", "1M", "--fpr", "1%"]), json);
}

#[test]
fn distinct_is_sized_for_the_error() {
    let json = plan(&["distinct", "--error", "1%"]);
    assert_eq!((json["parameters"]["precision"].as_u64(), json["bytes"].as_u64()), (Some(14), Some(16_384)));
    let error = json["error"].as_f64().unwrap();
    assert!(error <= 0.01 && error > 0.005, "{error}");
}

#[test]
fn count_min_is_sized_for_error_and_confidence() {
    let json = plan(&["count-min", "--error", "0.001", "--confidence", "99%"]);
    assert_eq!(
        (json["parameters"]["width"].as_u64(), json["parameters"]["depth"].as_u64()),
        (Some(2719), Some(5))
    );
    assert_eq!(json["bytes"], 2719 * 5 * 8);
    assert!(json["error"].as_f64().unwrap() <= 0.001);
}

#[test]
fn counter_has_the_base_that_reaches() {
    let json = plan(&["counter", "--bits", "8", "--reach", "1e10"]);
    assert!((json["parameters"]["base"].as_f64().unwrap() - 1.084).abs() < 0.001, "{json}");
    assert!((json["error"].as_f64().unwrap() - 0.205).abs() < 0.005, "{json}");
    assert_eq!(json["bytes"], 1);
    assert!(json["parameters"]["reach"].as_f64().unwrap() >= 1e10);
}

#[test]
fn signatures_and_bands_are_those_of_the_goal() {
    let json = plan(&["minhash", "--error", "0.05"]);
    assert_eq!((json["kind"].as_str(), json["parameters"]["hashes"].as_u64()), (Some("MinHash"), Some(400)));
    assert_eq!(json["bytes"], 3200);
    let bands = |args: &[&str]| {
        let json = plan(&[&["lsh"], args].concat());
        ["bands", "rows_per_band", "hashes"].map(|name| json["parameters"][name].as_u64().unwrap())
    };
    assert_eq!(bands(&["--low", "0.6:0.01", "--high", "0.9:0.99"]), [20, 15, 300]);
    for (threshold, hashes) in [("0.8", "128"), ("50%", "256")] {
        let [b, r, all] = bands(&["--threshold", threshold, "--hashes", hashes]);
        assert!(b * r <= all && all.to_string() == hashes);
        let j: f64 = if threshold == "0.8" { 0.8 } else { 0.5 };
        assert!(1.0 - (1.0 - j.powi(r as i32)).powi(b as i32) >= 0.99, "{b} bands of {r}");
    }
    assert_eq!(bands(&["--threshold", "0.8"])[2], 128);
}

#[test]
fn text_is_a_table_and_says_what_to_type() {
    let run = Scratch::new().run(&["plan", "bloom", "--items", "1M", "--fpr", "1%"]);
    for part in ["kind", "Bloom", "9592955", "1.1 MiB", "1.0 %", "crivo set build --items 1000000 --fpr 0.01"]
    {
        assert!(run.ok().contains(part), "{part}: {}", run.out);
    }
}

#[test]
fn the_share_of_pairs_that_meet_is_that_of_the_bands() {
    let note = |threshold| plan(&["lsh", "--threshold", threshold])["note"].as_str().unwrap().to_owned();
    assert!(note("0.8").ends_with("as similar as ≈ 0.63 about 64 % meet"), "{}", note("0.8"));
    assert!(note("1").ends_with("as similar as 1 about 100 % meet"), "{}", note("1"));
}

#[test]
fn the_stated_range_of_a_counter_can_be_had() {
    for (bits, least, most) in [("4", "16", "3e4"), ("8", "256", "5e76"), ("16", "67731", "1e300")] {
        plan(&["counter", "--bits", bits, "--reach", least]);
        plan(&["counter", "--bits", bits, "--reach", most]);
    }
}

#[test]
fn impossible_goals_are_refused_with_the_range() {
    let scratch = Scratch::new();
    for (args, message) in [
        (&["bloom", "--items", "0", "--fpr", "1%"][..], "--items and --fpr: items: expected 1 to"),
        (&["bloom", "--items", "5", "--fpr", "0"], "rate"),
        (&["bloom", "--items", "5"], "--fpr"),
        (&["distinct", "--error", "0"], "--error: error: expected"),
        (&["count-min", "--error", "1%", "--confidence", "1"], "--confidence 1"),
        (&["counter", "--bits", "8", "--reach", "nan"], "reach"),
        (&["counter", "--bits", "64", "--reach", "10"], "bits"),
        (&["counter", "--bits", "8", "--reach", "255"], "expected 256 to 5e76 events in 8 bits, found 255"),
        (&["counter", "--bits", "4", "--reach", "15"], "expected 16 to 3e4 events in 4 bits, found 15"),
        (&["sorcery"], "sorcery"),
        (&["lsh"], "crivo: name --threshold, or both --low and --high\n"),
        (&["lsh", "--low", "0.6:0.01"], "not provided:\n  --high <J:P>\n\n"),
        (&["lsh", "--low", "0.6", "--high", "0.9:0.99"], "such as 0.6:0.01"),
        (&["lsh", "--threshold", "0"], "--threshold: "),
        (&["minhash", "--error", "0"], "--error: "),
    ] {
        scratch.run(&[&["plan"], args].concat()).fails_with(message);
    }
}

#[test]
fn quantiles_are_sized_for_the_error_of_a_rank() {
    let json = plan(&["quantile", "--error", "1%"]);
    assert_eq!(
        (json["kind"].as_str(), json["parameters"]["size"].as_u64()),
        (Some("NumberQuantiles"), Some(110))
    );
    assert!((json["error"].as_f64().unwrap() - 0.01).abs() < 1e-12);
    assert_eq!(
        json["bytes"].as_u64(),
        json["parameters"]["numbers_kept_at_most"].as_u64().map(|kept| 8 * kept)
    );
    let tails = plan(&["quantile", "--error", "1%", "--tails"]);
    assert_eq!(
        (tails["parameters"]["size"].as_u64(), tails["parameters"]["accuracy"].as_str()),
        (Some(50), Some("tails"))
    );
    assert!(tails["note"].as_str().unwrap().contains("crivo quantile --error 0.01 --tails"));
    let few = plan(&["quantile", "--error", "1%", "--items", "50"]);
    assert_eq!(few["parameters"]["numbers_kept_at_most"], 50);
    Scratch::new().run(&["plan", "quantile", "--error", "0"]).fails_with("--error: error: expected");
}
