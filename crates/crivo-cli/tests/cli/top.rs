//! `crivo top` compared with an exact model, and its options.

use std::collections::HashMap;

use serde_json::Value;

use crate::support::{Random, Scratch, Values, table};

/// Returns values of a skewed distribution: the first keys are far more frequent than the last.
/// Some values are missing.
fn skewed(rows: usize, different: u64, seed: u64) -> Values {
    let mut random = Random::new(seed);
    (0..rows)
        .map(|_| {
            let halvings = random.below(15);
            let rank = random.below(1 + (different >> halvings));
            if random.below(50) == 0 { String::new() } else { format!("key {rank}") }
        })
        .collect()
}

/// Returns the counts of all values, the most frequent first.
fn model(values: &Values) -> Vec<(String, u64)> {
    let mut counts: HashMap<&String, u64> = HashMap::new();
    values.iter().filter(|value| !value.is_empty()).for_each(|value| *counts.entry(value).or_default() += 1);
    let mut counts: Vec<_> = counts.into_iter().map(|(value, count)| (value.clone(), count)).collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts
}

fn listed(json: &Value) -> Vec<(String, u64)> {
    let lines = json["top"].as_array().unwrap().iter();
    lines
        .map(|line| (line["key"].as_str().unwrap().into(), line["count"]["value"].as_f64().unwrap() as u64))
        .collect()
}

#[test]
fn few_values_are_counted_exactly_in_every_format_on_every_number_of_threads() {
    let values = skewed(5_000, 900, 1);
    let expected = model(&values);
    for format in ["lines", "csv", "tsv", "jsonl", "parquet"] {
        let name = format!("data.{format}");
        let scratch = Scratch::new();
        scratch.write(&name, table(format, &values));
        for threads in ["1", "3"] {
            let mut args = vec!["top", &name, "-k", "7", "--json", "--threads", threads];
            if format != "lines" {
                args.extend(["-f", "value"]);
            }
            let json = scratch.run(&args).json();
            assert_eq!(listed(&json), expected[..7], "{format}");
            assert_eq!(json["rows"], 5_000);
            assert_eq!(json["skipped"], values.iter().filter(|value| value.is_empty()).count());
            assert_eq!(json["max_error"], 0);
            let first = &json["top"][0]["count"];
            assert_eq!(
                (first["lower"].clone(), first["confidence"].as_f64()),
                (first["upper"].clone(), Some(1.0))
            );
        }
    }
}

#[test]
fn with_few_counters_every_bound_holds() {
    for (seed, threads) in [(2, "1"), (3, "2"), (4, "5")] {
        let values = skewed(60_000, 30_000, seed);
        let truth: HashMap<String, u64> = model(&values).into_iter().collect();
        let total: u64 = truth.values().sum();
        let scratch = Scratch::with([("data.txt", table("lines", &values))]);
        let args = ["top", "data.txt", "-k", "50", "--counters", "200", "--threads", threads, "--json"];
        let json = scratch.run(&args).json();
        assert_eq!((json["total"].as_u64(), json["top"].as_array().map(Vec::len)), (Some(total), Some(50)));
        let error = json["max_error"].as_u64().unwrap();
        assert!(error > 0 && error <= total / 151, "{error}");
        for line in json["top"].as_array().unwrap() {
            let exact = truth[line["key"].as_str().unwrap()] as f64;
            let bound = |name: &str| line["count"][name].as_f64().unwrap();
            assert!(bound("lower") <= exact && exact <= bound("upper"), "{line}: {exact}");
            assert_eq!(bound("confidence"), 1.0);
        }
        assert_eq!(scratch.run(&args).out, scratch.run(&args).out, "the same on the same threads");
    }
}

#[test]
fn second_pass_counts_exactly() {
    let values = skewed(60_000, 30_000, 5);
    let expected = model(&values);
    let scratch = Scratch::with([("data.csv", table("csv", &values))]);
    let args = ["top", "data.csv", "-f", "value", "-k", "20", "--counters", "300", "--verify"];
    let json = scratch.run(&[&args[..], &["--json"]].concat()).json();
    // Values of equal counts are in the order of their keys in both.
    assert_eq!(listed(&json), expected[..20]);
    for (line, (_, exact)) in json["top"].as_array().unwrap().iter().zip(&expected) {
        assert_eq!((line["exact"].as_u64(), line["covered"].as_bool()), (Some(*exact), Some(true)), "{line}");
        assert!(line["estimate"]["upper"].as_f64().unwrap() >= *exact as f64);
    }
    assert!(scratch.run(&args).ok().contains(&expected[0].0));
    scratch.feed(&["top", "--verify"], "a\n").fails_with("--verify reads the input twice");
    scratch.run(&["top", "data.csv", "--verify", "--into", "s.crivo"]).fails_with("cannot be used with");
}

#[test]
fn thresholds_list_what_is_above_and_nothing_found_is_1() {
    let values = skewed(20_000, 500, 6);
    let expected = model(&values);
    let total: u64 = expected.iter().map(|(_, count)| count).sum();
    let scratch = Scratch::with([("data.txt", table("lines", &values))]);
    let limit = expected[9].1;
    let above = expected.iter().filter(|(_, count)| *count >= limit).count();
    let by_count = scratch.run(&["top", "data.txt", "--min-count", &limit.to_string(), "--json"]).json();
    assert_eq!(listed(&by_count), expected[..above]);
    let share = format!("{}%", 100.0 * (limit as f64 - 0.5) / total as f64);
    assert_eq!(
        listed(&scratch.run(&["top", "data.txt", "--min-share", &share, "--json"]).json()),
        expected[..above]
    );
    for guarantee in ["no-false-positives", "no-false-negatives"] {
        let args = ["top", "data.txt", "--min-share", &share, "--guarantee", guarantee, "--json"];
        assert_eq!(listed(&scratch.run(&args).json()), expected[..above], "exact, so both are the truth");
    }
    let nothing = scratch.run(&["top", "data.txt", "--min-count", "1e6", "--json"]);
    assert_eq!((nothing.code, nothing.out.contains("\"top\":[]")), (Some(1), true), "{nothing:?}");
    assert_eq!(scratch.run(&["top", "data.txt", "--min-share", "90%"]).code, Some(1));
    assert_eq!(scratch.feed(&["top", "--json"], "").json()["top"], serde_json::json!([]));
}

#[test]
fn guarantees_hold_with_few_counters() {
    for seed in 0..5 {
        let values = skewed(40_000, 20_000, 10 + seed);
        let expected = model(&values);
        let limit = expected[4].1;
        let scratch = Scratch::with([("data.txt", table("lines", &values))]);
        let list = |guarantee: &str| {
            let limit = limit.to_string();
            let args = [
                "top",
                "data.txt",
                "--min-count",
                &limit,
                "--guarantee",
                guarantee,
                "--counters",
                "600",
                "--json",
            ];
            let ran = scratch.run(&args);
            let json: Value = serde_json::from_str(&ran.out).unwrap();
            listed(&json).into_iter().map(|(key, _)| key).collect::<Vec<_>>()
        };
        let truth: Vec<_> =
            expected.iter().filter(|(_, count)| *count >= limit).map(|(key, _)| key).collect();
        assert!(list("no-false-positives").iter().all(|key| truth.contains(&key)));
        let possible = list("no-false-negatives");
        assert!(truth.iter().all(|key| possible.contains(key)));
    }
    let scratch = Scratch::with([("data.txt", table("lines", &skewed(40_000, 20_000, 1)))]);
    let missing = ["top", "data.txt", "--min-count", "2", "--counters", "100"];
    assert!(scratch.run(&missing).err.contains("may be missing: more --counters"));
    scratch
        .run(&[&missing[..], &["--guarantee", "no-false-negatives"]].concat())
        .fails_with("more --counters see them");
}

#[test]
fn weights_are_added_up() {
    let mut random = Random::new(9);
    let mut sums: HashMap<String, u64> = HashMap::new();
    let mut text = String::from("who,cents\n");
    for _ in 0..3_000 {
        let (who, cents) = (format!("c{}", random.below(40)), random.below(10_000));
        text.extend([&who, ",", &cents.to_string(), "\n"]);
        *sums.entry(who).or_default() += cents;
    }
    let (best, most) = sums.iter().max_by_key(|(_, sum)| **sum).unwrap();
    let scratch = Scratch::with([("sales.csv", text)]);
    let args = ["top", "sales.csv", "-f", "who", "--weight", "cents", "-k", "40", "--json"];
    for more in [&[][..], &["--verify"]] {
        let json = scratch.run(&[&args[..], more].concat()).json();
        assert_eq!(listed(&json)[0], (best.clone(), *most));
        assert!(listed(&json).iter().all(|(who, sum)| sums[who] == *sum));
        assert_eq!(json["total"], sums.values().sum::<u64>());
    }
    scratch.write("bad.csv", "who,cents\na,5\nb,\nc,1.5\n");
    let bad = ["top", "bad.csv", "-f", "who", "--weight", "cents"];
    scratch.run(&bad).fails_with(
        "crivo: bad.csv:4: column 'cents': expected a whole number from 0 on as the weight, found '1.5'",
    );
    let skipped = scratch.run(&[&bad[..], &["--skip-bad", "--json", "--verify"]].concat()).json();
    assert_eq!(
        (skipped["rows"].as_u64(), skipped["skipped"].as_u64(), skipped["bad"].as_u64()),
        (Some(2), Some(1), Some(1))
    );
    scratch.run(&["top", "bad.csv", "--weight", "cents"]).fails_with("-f NAME");
}

#[test]
fn majority_is_named_and_certain() {
    let scratch = Scratch::new();
    let text = "ana\n".repeat(6) + &"rui\n".repeat(5);
    let json = scratch.feed(&["top", "--json"], &text).json();
    assert_eq!(json["majority"], serde_json::json!({ "key": "ana", "certain": true }));
    assert!(scratch.feed(&["top"], &text).ok().contains("ana has the majority"));
    let half = "ana\n".repeat(5) + &"rui\n".repeat(5);
    assert!(scratch.feed(&["top", "--json"], half).json()["majority"].is_null());
}

#[test]
fn text_is_a_list_that_fits_40_columns() {
    let run = Scratch::new().feed(&["top", "-k", "2"], "b\na\na\na\nc\nb\n");
    let lines: Vec<_> = run.ok().lines().collect();
    assert_eq!(lines[..2], ["3  50 %  a", "2  33 %  b"]);
    assert!(lines.contains(&"exact: every value was kept in view") && lines.contains(&"6 rows, 0 skipped"));
    assert!(lines.iter().all(|line| line.chars().count() <= 40), "{lines:?}");
}

#[test]
fn sketch_is_continued_and_answers() {
    let scratch = Scratch::new();
    scratch.feed(&["top", "--into", "s.crivo"], "a\nb\na\n").ok();
    let json = scratch.feed(&["top", "--into", "s.crivo", "--json"], "b\nb\n").json();
    assert_eq!(listed(&json), [("b".to_string(), 3), ("a".to_string(), 2)]);
    scratch.feed(&["top", "--into", "s.crivo", "--counters", "5"], "a\n").fails_with("--counters 5");
    scratch.feed(&["top", "--into", "s.crivo", "--seed", "5"], "a\n").fails_with("--seed 5");
    scratch.feed(&["distinct", "-o", "d.crivo"], "a\n").ok();
    scratch.feed(&["top", "--into", "d.crivo"], "a\n").fails_with("HyperLogLog made by `crivo distinct`");
}

#[test]
fn impossible_questions_and_keys_are_refused() {
    let scratch = Scratch::new();
    for (args, message) in [
        (&["-k", "0"][..], "-k"),
        (&["--min-count", "3", "--min-share", "1%"], "cannot be used with"),
        (&["--min-share", "0"], "between 0 and 1"),
        (&["--min-share", "150%"], "between 0 and 1"),
        (&["--counters", "1000000000"], "--counters: capacity: expected 1 to"),
        (&["--guarantee", "truth"], "no-false-positives"),
    ] {
        scratch.feed(&[&["top"], args].concat(), "a\n").fails_with(message);
    }
    let long = "x".repeat(5000);
    let text = format!("a\n{long}\nb\n");
    scratch
        .feed(&["top"], &text)
        .fails_with("standard input:2: expected a key of at most 4096 bytes, found 5000");
    let json = scratch.feed(&["top", "--skip-bad", "--json"], &text).json();
    assert_eq!((json["rows"].as_u64(), json["bad"].as_u64(), listed(&json).len()), (Some(2), Some(1), 2));
}

#[test]
fn integers_and_words_are_keys_too() {
    let scratch = Scratch::new();
    let json = scratch.feed(&["top", "--keys", "int", "--json"], "7\n-1\n07\n").json();
    assert_eq!(listed(&json), [("7".to_string(), 2), ("-1".to_string(), 1)]);
    let json =
        scratch.feed(&["top", "--words", "2", "-k", "1", "--json"], "the cat the cat\nThe CAT\n").json();
    assert_eq!(listed(&json), [("the cat".to_string(), 3)]);
}

#[test]
fn a_guarantee_holds_after_a_second_pass_too() {
    // With few counters any of the values may be missing.
    let text: String = (0..5000).map(|n| format!("{}\n", n % 500)).collect();
    let scratch = Scratch::with([("a.txt", text)]);
    let top = ["top", "a.txt", "--counters", "16", "--min-share", "0.1%", "--guarantee"];
    for verify in [&[][..], &["--verify"]] {
        let run = scratch.run(&[&top[..], &["no-false-negatives"], verify].concat());
        run.fails_with("--guarantee no-false-negatives: values that came up to");
    }
    let top = ["top", "a.txt", "--counters", "16", "-k", "2", "--guarantee", "no-false-positives", "--json"];
    let sure = scratch.run(&[&top[..], &["--verify"]].concat()).json();
    let (least, listed) = (sure["max_error"].as_f64().unwrap(), sure["top"].as_array().unwrap());
    assert!(listed.iter().all(|line| line["exact"].as_f64().unwrap() >= least), "{sure}");
}

#[test]
fn k_limits_the_list_of_each_group_too() {
    let scratch = Scratch::with([("g.csv", "g,v\na,1\na,1\na,2\na,3\nb,4\n")]);
    for least in [["--min-count", "1"], ["--min-share", "1%"]] {
        let args = [&["top", "g.csv", "--by", "g", "-f", "v", "-k", "2", "--json"], &least[..]].concat();
        let report = scratch.run(&args).json();
        let lengths: Vec<usize> = report["groups"]
            .as_array()
            .unwrap()
            .iter()
            .map(|group| group["top"].as_array().unwrap().len())
            .collect();
        assert_eq!(lengths, [2, 1], "{least:?}");
        assert_eq!(report["groups"][0]["top"][0]["key"], "1");
        let all = [&["top", "g.csv", "--by", "g", "-f", "v", "--json"], &least[..]].concat();
        assert_eq!(scratch.run(&all).json()["groups"][0]["top"].as_array().unwrap().len(), 3);
    }
}
