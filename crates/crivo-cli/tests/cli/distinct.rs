//! `crivo distinct` against an exact model, and its options.

use std::collections::HashSet;

use crivo::distinct::HyperLogLog;
use crivo::keys::KeyScheme;
use crivo_interchange::{Hll, Theta};

use crate::support::{Scratch, Values, column, table};

fn model(values: &Values) -> (u64, u64, u64) {
    let present: Vec<_> = values.iter().filter(|value| !value.is_empty()).collect();
    let different: HashSet<_> = present.iter().collect();
    (values.len() as u64, (values.len() - present.len()) as u64, different.len() as u64)
}

#[test]
fn small_counts_equal_the_exact_model_in_every_format() {
    for (seed, format) in ["lines", "csv", "tsv", "jsonl", "parquet"].into_iter().enumerate() {
        let values = column(2_000, 300, seed as u64);
        let (rows, skipped, different) = model(&values);
        let scratch = Scratch::new();
        let name = format!("data.{format}");
        scratch.write(&name, table(format, &values));
        for method in ["hll", "exact"] {
            let mut args = vec!["distinct", &name, "--json", "--method", method];
            if format != "lines" {
                args.extend(["-f", "value"]);
            }
            let json = scratch.run(&args).json();
            assert_eq!(json["rows"], rows, "{format} {method}");
            assert_eq!(json["skipped"], skipped, "{format} {method}");
            assert_eq!(json["method"], method);
            assert!(json["bytes"].as_u64().unwrap() > 0);
            assert!(json.get("exact").is_none());
            let exact = serde_json::json!({
                "value": different as f64, "lower": different as f64,
                "upper": different as f64, "confidence": 1.0
            });
            assert_eq!(json["distinct"], exact, "{format} {method}");
        }
    }
}

#[test]
fn large_counts_are_near_and_verified_by_a_second_pass() {
    let values = column(60_000, 40_000, 1);
    let (rows, _, different) = model(&values);
    let scratch = Scratch::with([("data.csv", table("csv", &values))]);
    let json = scratch.run(&["distinct", "data.csv", "-f", "2", "--json", "--verify"]).json();
    assert_eq!(json["rows"], rows);
    assert_eq!(json["exact"], different);
    let distinct = &json["distinct"];
    let [value, lower, upper] = ["value", "lower", "upper"].map(|name| distinct[name].as_f64().unwrap());
    assert_eq!(distinct["confidence"], 0.95);
    assert!(lower < value && value < upper);
    let truth = different as f64;
    assert_eq!(json["covered"], lower <= truth && truth <= upper);
    assert!((value - truth).abs() < 0.05 * truth, "six standard errors: {value} for {truth}");
    assert_eq!(json["bytes"].as_u64().unwrap() >> 10, 16, "2^14 registers of one byte");
}

#[test]
fn estimate_is_no_more_than_the_rows_with_a_value() {
    // Sixteen registers have an error of 26 %. Without the limit by rows, some of these streams
    // would be overestimated.
    for seed in 0..20 {
        let text = (0..100).fold(String::new(), |text, n| text + &format!("{seed}-{n}\n\n"));
        let json = Scratch::new().feed(&["distinct", "--precision", "4", "--json"], text).json();
        assert_eq!((json["rows"].as_u64(), json["skipped"].as_u64()), (Some(200), Some(100)));
        for bound in ["value", "lower", "upper"] {
            assert!(json["distinct"][bound].as_f64().unwrap() <= 100.0, "{json}");
        }
    }
}

#[test]
fn text_says_approximately_and_how_sure() {
    let scratch = Scratch::with([("data.csv", table("csv", &column(60_000, 40_000, 1)))]);
    let run = scratch.run(&["distinct", "data.csv", "-f", "value", "--verify"]);
    let lines: Vec<_> = run.ok().lines().collect();
    assert!(lines[0].contains(" ± ") && lines[0].ends_with(" % different, approximately"), "{lines:?}");
    assert!(lines[1].ends_with(", 95 % sure"), "{lines:?}");
    assert!(lines[2].contains("exactly, inside the bounds"), "{lines:?}");
    assert!(lines[3].starts_with("60000 rows, "), "{lines:?}");
    assert_eq!(lines[4], "hll, 16 KiB");
    assert!(lines.iter().all(|line| line.chars().count() <= 40), "readable at 40 columns: {lines:?}");
    assert_eq!(run.err, "");

    let small = scratch.feed(&["distinct"], "a\nb\na\n");
    assert!(small.ok().starts_with("2 different, exactly\n3 rows, 0 skipped\n"), "{small:?}");
}

#[test]
fn error_chooses_the_size() {
    let scratch = Scratch::new();
    for (error, precision) in [("0.01", 14), ("1%", 14), ("0.3%", 17), ("0.26", 4)] {
        scratch.feed(&["distinct", "--error", error, "-o", "s.crivo"], "a\n").ok();
        let json = scratch.run(&["show", "s.crivo", "--json"]).json();
        assert_eq!(json["parameters"]["precision"], precision, "{error}");
    }
}

#[test]
fn impossible_sizes_are_refused_with_the_range() {
    let scratch = Scratch::new();
    scratch.run(&["distinct", "--precision", "30"]).fails_with("precision: expected 4 to 18, found 30");
    scratch.run(&["distinct", "--error", "0.00001"]).fails_with("--error: expected a standard error");
    scratch.run(&["distinct", "--error", "much"]).fails_with("expected a share such as 0.01 or 1%");
    scratch.run(&["distinct", "--error", "0.1", "--precision", "9"]).fails_with("cannot be used with");
}

#[test]
fn methods_that_do_not_exist_are_refused_with_those_that_do() {
    let run = Scratch::new().run(&["distinct", "--method", "guess"]);
    run.fails_with("hll");
    run.fails_with("exact");
}

#[test]
fn word_pairs_are_items() {
    let text = "The cat, the CAT\nthe dog\nalone\n";
    let scratch = Scratch::new();
    let json = scratch.feed(&["distinct", "--words", "2", "--json"], text).json();
    assert_eq!(json["distinct"]["value"], 3.0, "the cat, cat the, the dog: {json}");
    assert_eq!(json["rows"], 3);
    scratch
        .feed(&["distinct", "--words", "2", "--keys", "int"], "1\n")
        .fails_with("--words: words are text, and the keys are integers");
    // There are more items than rows, because the limit of one value for each row does not apply to
    // words.
    let many = (0..5000).fold(String::new(), |text, n| text + &format!("w{n} "));
    let json = scratch.feed(&["distinct", "--words", "1", "--json"], many).json();
    assert!(json["distinct"]["value"].as_f64().unwrap() > 4000.0, "{json}");
}

#[test]
fn random_seed_is_recorded_and_differs() {
    let scratch = Scratch::new();
    let mut seeds = HashSet::new();
    for _ in 0..3 {
        scratch.feed(&["distinct", "--seed", "random", "-o", "s.crivo"], "a\n").ok();
        seeds.insert(scratch.run(&["show", "s.crivo", "--json"]).json()["seed"].as_u64().unwrap());
    }
    assert_eq!(seeds.len(), 3);
    scratch.run(&["distinct", "--seed", "often"]).fails_with("or random");
}

#[test]
fn verify_needs_an_input_that_can_be_read_twice() {
    let scratch = Scratch::new();
    scratch
        .feed(&["distinct", "--verify"], "a\n")
        .fails_with("standard input or a pipe can be read only once");
    scratch.run(&["distinct", "--verify", "--into", "s.crivo"]).fails_with("cannot be used with");
}

#[test]
fn exact_method_keeps_values_or_the_hashes_of_a_sketch() {
    let scratch = Scratch::new();
    for option in ["-o", "--into"] {
        let json =
            scratch.feed(&["distinct", "--method", "exact", option, "s.crivo", "--json"], "a\nb\na\n").json();
        assert_eq!((json["distinct"]["value"].as_f64(), json["method"].as_str()), (Some(2.0), Some("exact")));
    }
    assert_eq!(scratch.run(&["show", "s.crivo", "--json"]).json()["kind"], "ExactDistinct");
    for more in [&["--precision", "9"][..], &["--error", "1%"], &["--precision", "9", "-o", "t.crivo"]] {
        scratch
            .feed(&[&["distinct", "--method", "exact"], more].concat(), "a\n")
            .fails_with("neither --error nor --precision");
    }
    assert_eq!(scratch.names(), ["s.crivo"]);
}

#[test]
fn every_method_covers_the_truth_and_continues_as_one_stream() {
    let values = column(30_000, 20_000, 3);
    let (_, _, different) = model(&values);
    let scratch = Scratch::with([("data.txt", table("lines", &values))]);
    let halves = values.split_at(15_000);
    scratch.write("first.txt", table("lines", &halves.0.to_vec()));
    scratch.write("second.txt", table("lines", &halves.1.to_vec()));
    for (method, kind, more) in [
        ("hll", "HyperLogLog", &["--precision", "12"][..]),
        ("ull", "UltraLogLog", &["--error", "2%"]),
        ("kmv", "KMinValues", &["--precision", "10"]),
        ("kmv", "KMinValues", &["--error", "5%"]),
        ("minhash", "KMinValues", &[]),
        ("linear", "LinearCounting", &["--precision", "16"]),
        ("linear", "LinearCounting", &["--error", "1%", "--items", "1M"]),
        ("linear", "LinearCounting", &[]),
        ("loglog", "LogLog", &["--error", "3%"]),
        ("probabilistic", "ProbabilisticCounting", &[]),
        ("exact", "ExactDistinct", &[]),
    ] {
        let args = [&["distinct", "--method", method, "--json"][..], more].concat();
        let whole = [&args[..], &["data.txt", "--verify", "-o", "whole.crivo"]].concat();
        let json = scratch.run(&whole).json();
        assert_eq!((json["exact"].as_u64(), json["method"].as_str()), (Some(different), Some(method)));
        let [lower, upper] = ["lower", "upper"].map(|name| json["distinct"][name].as_f64().unwrap());
        let truth = different as f64;
        assert_eq!(json["covered"], lower <= truth && truth <= upper, "{method}: {json}");
        // The hash is fixed, so the result never changes: each truth is inside the bounds or nearly
        // so.
        assert!(lower / 1.1 <= truth && truth <= upper * 1.1, "{method}: {json}");
        for half in ["first.txt", "second.txt"] {
            scratch.run(&[&args[..], &[half, "--into", "halves.crivo", "--threads", "3"]].concat()).json();
        }
        assert!(scratch.read("halves.crivo") == scratch.read("whole.crivo"), "{method}");
        assert_eq!(scratch.run(&["show", "whole.crivo", "--json"]).json()["kind"], kind);
        std::fs::remove_file(scratch.path("halves.crivo")).unwrap();
    }
}

#[test]
fn sizes_mean_what_each_method_has() {
    let scratch = Scratch::new();
    for (method, option, value, field, size) in [
        ("ull", "--error", "1%", "precision", 13),
        ("loglog", "--error", "1%", "precision", 15),
        ("kmv", "--error", "1%", "k", 10_002),
        ("kmv", "--precision", "9", "k", 512),
        ("minhash", "--seed", "1", "k", 1),
        ("linear", "--precision", "20", "bits", 1 << 20),
    ] {
        scratch.feed(&["distinct", "--method", method, option, value, "-o", "s.crivo"], "a\n").ok();
        let json = scratch.run(&["show", "s.crivo", "--json"]).json();
        assert_eq!(json["parameters"][field], size, "{method} {option} {value}: {json}");
    }
    let linear = ["distinct", "--method", "linear", "--items", "1000000", "--error", "1%", "-o", "s.crivo"];
    scratch.feed(&linear, "a\n").ok();
    assert_eq!(scratch.run(&["show", "s.crivo", "--json"]).json()["parameters"]["bits"], 154_171);
    for (args, message) in [
        (&["--method", "minhash", "--error", "1%"][..], "neither --error nor --precision"),
        (&["--method", "probabilistic", "--precision", "9"], "neither --error nor --precision"),
        (&["--method", "hll", "--items", "9"], "only --method linear"),
        (&["--method", "kmv", "--precision", "60"], "1 to 67108864"),
        (&["--method", "kmv", "--precision", "99"], "--precision 99"),
        (&["--method", "linear", "--error", "2"], "--error: "),
        (&["--method", "loglog", "--precision", "5"], "6 to 18"),
    ] {
        scratch.feed(&[&["distinct"], args].concat(), "a\n").fails_with(message);
    }
}

#[test]
fn into_goes_on_only_with_a_sketch_that_counts_different_values() {
    let scratch = Scratch::new();
    scratch.feed(&["distinct", "--method", "kmv", "-o", "s.crivo"], "a\n").ok();
    scratch.feed(&["distinct", "--method", "hll", "--into", "s.crivo"], "a\n").fails_with("is a KMinValues");
    scratch.feed(&["top", "-o", "t.crivo"], "a\n").ok();
    scratch
        .feed(&["distinct", "--into", "t.crivo"], "a\n")
        .fails_with("t.crivo: this is a HeavyHitters made by `crivo top`, which can only be continued there");
}

#[test]
fn into_makes_the_file_and_continues_it() {
    let scratch = Scratch::new();
    let add = |text: &str, more: &[&str]| {
        let args = [&["distinct", "--json", "--into", "s.crivo"], more].concat();
        scratch.feed(&args, text)
    };
    // The limit by rows applies only to new sketches. The second input has one row, but the answer
    // is 3.
    assert_eq!(add("a\nb\n", &["--precision", "12", "--seed", "5"]).json()["distinct"]["value"], 2.0);
    assert_eq!(add("c\n", &[]).json()["distinct"]["value"], 3.0);
    let same = add("c\n", &["--precision", "12", "--seed", "5", "--keys", "text"]).json();
    assert_eq!(same["distinct"]["value"], 3.0);
    assert_eq!(add("c\n", &["--error", "1.7%"]).json()["distinct"]["value"], 3.0);

    // With another output, the first file stays unchanged.
    let before = scratch.read("s.crivo");
    assert_eq!(add("d\n", &["-o", "t.crivo"]).json()["distinct"]["value"], 4.0);
    assert_eq!(scratch.read("s.crivo"), before);
    assert_eq!(scratch.run(&["show", "t.crivo", "--json"]).json()["items"]["value"], 4.0);
}

#[test]
fn into_refuses_what_contradicts_the_sketch_and_names_both() {
    let scratch = Scratch::new();
    scratch.feed(&["distinct", "--precision", "12", "--seed", "5", "-o", "s.crivo"], "a\n").ok();
    let before = scratch.read("s.crivo");
    for (option, value, message) in [
        ("--precision", "14", "precision 14 was asked for: that of s.crivo is 12"),
        ("--error", "0.01", "precision 14 was asked for: that of s.crivo is 12"),
        ("--seed", "6", "--seed 6: the seed of s.crivo is 5"),
        ("--seed", "random", "--seed random: s.crivo has the seed 5"),
        ("--keys", "int", "--keys int: the keys of s.crivo are text"),
    ] {
        scratch.feed(&["distinct", "--into", "s.crivo", option, value], "a\n").fails_with(message);
    }
    assert_eq!(scratch.read("s.crivo"), before);
}

#[test]
fn into_refuses_a_sketch_of_the_callers_own_hashes() {
    let sketch = HyperLogLog::with_scheme(10, KeyScheme::hashes()).unwrap();
    let scratch = Scratch::with([("s.crivo", sketch.encode())]);
    scratch.feed(&["distinct", "--into", "s.crivo"], "a\n").fails_with("rows cannot be added to it");
}

#[test]
fn saturated_sketch_warns_or_fails() {
    // No input small enough for a test fills every register, so hashes are inserted that do.
    let mut full = HyperLogLog::new(4).unwrap();
    (0..16).for_each(|register| full.insert_hash(register << 60));
    let scratch = Scratch::with([("s.crivo", full.encode())]);
    let args = ["distinct", "--into", "s.crivo"];
    let warned = scratch.feed(&args, "a\n");
    assert!(warned.ok().starts_with("at least ") && warned.out.contains(" different\n1 row, "), "{warned:?}");
    assert!(warned.err.contains("warning: the sketch is full"), "{warned:?}");
    scratch.feed(&[&args[..], &["--on-full", "fail"]].concat(), "a\n").fails_with("the sketch is full");
    assert_eq!(scratch.read("s.crivo"), full.encode());
    assert!(scratch.run(&["show", "s.crivo"]).ok().contains("at least "));
}

#[test]
fn other_systems_get_their_own_bytes() {
    let values = column(20_000, 9_000, 3);
    let (rows, skipped, different) = model(&values);
    let scratch = Scratch::with([("data.csv", table("csv", &values))]);
    for (form, threads) in [("hll", "1"), ("hll", "3"), ("theta", "1"), ("theta", "3")] {
        let args = [
            "distinct",
            "data.csv",
            "-f",
            "2",
            "--interchange",
            form,
            "-o",
            "s.bin",
            "--json",
            "--threads",
            threads,
        ];
        let json = scratch.run(&args).json();
        let bytes = scratch.read("s.bin");
        let estimate = match form {
            "hll" => Hll::decode(&bytes).unwrap().estimate(),
            _ => Theta::decode(&bytes, 12).unwrap().estimate(),
        };
        assert_eq!(
            (&json["rows"], &json["skipped"], &json["method"]),
            (&rows.into(), &skipped.into(), &form.into())
        );
        assert_eq!(json["distinct"]["value"].as_f64(), Some(estimate.value()));
        assert_eq!(json["bytes"].as_u64(), Some(bytes.len() as u64));
        let truth = different as f64;
        assert!(
            (estimate.value() - truth).abs() < 0.1 * truth,
            "six standard errors: {estimate} for {truth}"
        );
    }
    let integers = scratch.feed(
        &["distinct", "--keys", "int", "--interchange", "theta", "--error", "1%", "-o", "i.bin", "--json"],
        "7\n007\n8\n",
    );
    assert_eq!(integers.json()["distinct"]["value"], 2.0);
    let mut expected = Theta::new(14).unwrap();
    [7, 8].into_iter().for_each(|key| expected.insert_integer(key));
    assert_eq!(scratch.read("i.bin"), expected.encode());
}

#[test]
fn options_that_other_systems_bytes_do_not_have_are_refused() {
    let scratch = Scratch::with([("data.csv", "a\n1\n")]);
    for (options, part) in [
        (&["-o", "s.bin", "--method", "ull"][..], "--method"),
        (&[], "-o FILE"),
        (&["-o", "s.bin", "--seed", "7"], "9001"),
        (&["-o", "s.bin", "--precision", "3"], "lg_k: expected 4 to 21, found 3"),
        (&["-o", "s.bin", "--error", "0.0000001"], "lg_k"),
    ] {
        let args = [&["distinct", "data.csv", "--interchange", "hll"][..], options].concat();
        let ran = scratch.run(&args);
        ran.fails_with(part);
        assert!(!scratch.path("s.bin").exists());
    }
}

#[test]
fn a_history_is_sharper_until_a_merge_ends_it() {
    let scratch = Scratch::new();
    let lines = |range: std::ops::Range<u32>| range.map(|line| format!("user {line}\n")).collect::<String>();
    // The rows are doubled, because the number of rows is a bound too.
    scratch.write("all", lines(0..50_000).repeat(2));
    scratch.write("more", lines(50_000..90_000));
    let width = |json: &serde_json::Value| {
        let bound = |name: &str| json["distinct"][name].as_f64().unwrap();
        assert!(bound("lower") <= 50_000.0 && 50_000.0 <= bound("upper"), "{json}");
        bound("upper") - bound("lower")
    };
    let plain = ["distinct", "all", "--method", "ull", "--precision", "12", "--json", "--quiet"];
    let with_history = [&plain[..], &["--history", "-o", "all.crivo"]].concat();
    let [usual, sharp] = [&plain[..], &with_history[..]].map(|args| width(&scratch.run(args).json()));
    assert!(sharp < 0.9 * usual, "{sharp} and {usual}");
    // The number of threads has no effect, because one thread reads.
    let first = scratch.read("all.crivo");
    scratch.run(&[&with_history[..], &["--threads", "2"]].concat()).ok();
    assert_eq!(scratch.read("all.crivo"), first);
    assert!(scratch.run(&["show", "all.crivo"]).ok().contains("history"));

    // Continuing keeps the history, and gives the bytes of one run over both files.
    scratch.run(&["distinct", "more", "--into", "all.crivo"]).ok();
    let both =
        ["distinct", "all", "more", "--method", "ull", "--precision", "12", "--history", "-o", "both.crivo"];
    scratch.run(&both).ok();
    assert_eq!(scratch.read("all.crivo"), scratch.read("both.crivo"));

    scratch.run(&["distinct", "more", "--method", "ull", "--precision", "12", "-o", "more.crivo"]).ok();
    scratch.run(&["merge", "all.crivo", "more.crivo", "-o", "merged.crivo"]).ok();
    assert!(!scratch.run(&["show", "merged.crivo"]).ok().contains("history"));
    scratch.run(&["distinct", "all", "--into", "more.crivo", "--history"]).fails_with("more.crivo has none");
    scratch.run(&["distinct", "all", "--method", "kmv", "--history"]).fails_with("--method kmv keeps none");
}
