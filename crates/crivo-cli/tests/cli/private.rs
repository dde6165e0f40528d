//! `crivo private`: the answers from many reports, and the refused inputs.

use crate::support::{Random, Scratch};

const SIZES: [&str; 6] = ["--epsilon", "4", "--rows", "64", "--width", "256"];

fn encode(scratch: &Scratch, input: &str, output: &str, more: &[&str]) {
    scratch.feed(&[&["private", "encode", "-o", output], &SIZES[..], more].concat(), input).ok();
}

/// 20,000 reports of ε = 4 have a standard error of 0.43·√20000 = 61, and a little more because of
/// collisions. Random bits are the system's. An answer is off by more than six times 80 with a
/// probability below 10⁻⁸.
#[test]
fn many_reports_tell_how_often_without_telling_who() {
    let mut random = Random::new(1);
    let values: Vec<&str> =
        (0..20_000).map(|_| ["😂", "😂", "😂", "❤", "❤", "😍"][random.below(6) as usize]).collect();
    let (monday, tuesday) = values.split_at(9_000);
    let scratch = Scratch::new();
    encode(&scratch, &monday.join("\n"), "monday.reports", &[]);
    encode(&scratch, &tuesday.join("\n"), "tuesday.reports", &["--threads", "3"]);
    assert_eq!(scratch.read("monday.reports").len(), 36 + 9_000 * (2 + 32 + 4));
    let run = scratch.run(&["private", "aggregate", "monday.reports", "tuesday.reports", "-o", "all.crivo"]);
    assert!(run.ok().starts_with("20000 reports in all.crivo"), "{run:?}");
    let json = scratch.run(&["ask", "all.crivo", "😂", "❤", "😍", "🤔", "--json"]).json();
    for (answer, key) in json["answers"].as_array().unwrap().iter().zip(["😂", "❤", "😍", "🤔"]) {
        let exact = values.iter().filter(|value| **value == key).count() as f64;
        let [value, lower, upper] =
            ["value", "lower", "upper"].map(|name| answer["count"][name].as_f64().unwrap());
        assert_eq!((answer["key"].as_str(), answer["count"]["confidence"].as_f64()), (Some(key), Some(0.95)));
        assert!((value - exact).abs() < 480.0, "{answer} for {exact}");
        assert!(lower <= value && value <= upper && upper - lower < 1_000.0, "{answer}");
    }
    let shown = scratch.run(&["show", "all.crivo", "--json"]).json();
    assert_eq!(
        (shown["kind"].as_str(), shown["items"]["value"].as_f64()),
        (Some("PrivateCountMean"), Some(20_000.0))
    );
}

#[test]
fn reports_of_the_same_values_differ() {
    let scratch = Scratch::new();
    encode(&scratch, "yes\n", "a.reports", &[]);
    encode(&scratch, "yes\n", "b.reports", &[]);
    assert_ne!(scratch.read("a.reports"), scratch.read("b.reports"));
}

#[test]
fn reports_of_another_protocol_are_refused_by_name() {
    let scratch = Scratch::new();
    encode(&scratch, "yes\nno\n", "a.reports", &[]);
    encode(&scratch, "yes\n", "seed.reports", &["--seed", "3"]);
    let narrow =
        ["private", "encode", "--epsilon", "4", "--rows", "64", "--width", "128", "-o", "narrow.reports"];
    scratch.feed(&narrow, "yes\n").ok();
    for (other, field) in [("seed.reports", "kind of keys or seed"), ("narrow.reports", "width")] {
        scratch.run(&["private", "aggregate", "a.reports", other, "-o", "s.crivo"]).fails_with(&format!(
            "{other}: was made for another protocol than a.reports, with another {field}"
        ));
    }
    assert!(!scratch.path("s.crivo").exists());
}

#[test]
fn damage_and_impossible_sizes_are_errors() {
    let scratch = Scratch::with([("data.csv", "a,b\n")]);
    encode(&scratch, "yes\nno\n", "a.reports", &[]);
    let whole = scratch.read("a.reports");
    scratch.write("cut.reports", &whole[..whole.len() - 3]);
    let mut flipped = whole.clone();
    flipped[60] ^= 1;
    scratch.write("flipped.reports", flipped);
    for name in ["cut.reports", "flipped.reports", "data.csv", "none.reports"] {
        scratch.run(&["private", "aggregate", name, "-o", "s.crivo"]).fails_with(&format!("crivo: {name}: "));
    }
    scratch.run(&["private", "aggregate", "a.reports", "-o", "a.reports"]).fails_with("is read");
    // The second report is cut off, so one is whole.
    let run = scratch.run(&["private", "aggregate", "cut.reports", "-o", "s.crivo"]);
    assert!(run.err.contains("in report 2") && !run.err.contains("after"), "{}", run.err);
    for (wrong, field) in [
        (["--epsilon", "0", "--rows", "64", "--width", "256"], "epsilon"),
        (["--epsilon", "nan", "--rows", "64", "--width", "256"], "epsilon"),
        (["--epsilon", "4", "--rows", "0", "--width", "256"], "rows"),
        (["--epsilon", "4", "--rows", "4", "--width", "1"], "width"),
    ] {
        let args = [&["private", "encode", "-o", "b.reports"], &wrong[..]].concat();
        scratch.feed(&args, "yes\n").fails_with(&format!("--epsilon, --rows and --width: {field}"));
    }
    assert!(!scratch.path("s.crivo").exists() && !scratch.path("b.reports").exists());
}
