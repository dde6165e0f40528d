//! `crivo freq`: its sketch against an exact model, asked with `crivo ask`.

use std::collections::HashMap;

use crivo::frequency::CountMin;

use crate::support::{Random, Scratch, column, table};

/// Returns the answers of `crivo ask` about the keys: value, lower, upper.
fn answers(scratch: &Scratch, sketch: &str, keys: &[&str]) -> Vec<(f64, f64, f64)> {
    let json = scratch.feed(&["ask", sketch, "-", "--json"], keys.join("\n")).json();
    let answers = json["answers"].as_array().unwrap();
    assert_eq!(answers.len(), keys.len());
    answers
        .iter()
        .zip(keys)
        .map(|(answer, key)| {
            assert_eq!(answer["key"], *key);
            let bound = |name: &str| answer["count"][name].as_f64().unwrap();
            (bound("value"), bound("lower"), bound("upper"))
        })
        .collect()
}

#[test]
fn answers_are_never_too_low_and_rarely_too_high() {
    let values = column(30_000, 3_000, 1);
    let mut truth: HashMap<&str, u64> = HashMap::new();
    values.iter().filter(|value| !value.is_empty()).for_each(|value| *truth.entry(value).or_default() += 1);
    let total: u64 = truth.values().sum();
    let keys: Vec<&str> = truth.keys().copied().collect();
    for (format, more) in [("csv", &[][..]), ("jsonl", &["--conservative"]), ("parquet", &["--threads", "3"])]
    {
        let name = format!("data.{format}");
        let scratch = Scratch::new();
        scratch.write(&name, table(format, &values));
        let args = ["freq", &name, "-f", "value", "--error", "0.2%", "--confidence", "0.99", "-o", "s.crivo"];
        scratch.run(&[&args[..], more].concat()).ok();
        let mut beyond = 0;
        for (key, (value, lower, upper)) in keys.iter().zip(answers(&scratch, "s.crivo", &keys)) {
            let exact = truth[key] as f64;
            assert!(value >= exact && upper == value, "{key}: {value} for {exact}");
            beyond += usize::from(value - exact > 0.002 * total as f64);
            assert!(lower <= value);
        }
        // One in a hundred may be outside the bounds. The hash is fixed, so the result never
        // changes.
        assert!(beyond <= keys.len() / 50, "{beyond} of {}", keys.len());
        let absent = scratch.run(&["ask", "s.crivo", "nobody at all", "--json"]).json();
        assert!(absent["answers"][0]["count"]["value"].as_f64().unwrap() <= 0.002 * total as f64);
    }
}

#[test]
fn sketch_has_the_librarys_bytes_and_goes_on_as_one_stream() {
    let scratch = Scratch::with([("a.txt", "x\ny\nx\n"), ("b.txt", "x\nz\n")]);
    let (width, depth) = CountMin::size_for(0.01, 0.01).unwrap();
    let mut expected = CountMin::new(width, depth).unwrap();
    ["x", "y", "x", "x", "z"].iter().for_each(|key| expected.insert(*key).unwrap());
    let args = ["freq", "--error", "1%", "--confidence", "99%"];
    scratch.run(&[&args[..], &["a.txt", "b.txt", "-o", "both.crivo"]].concat()).ok();
    assert!(scratch.read("both.crivo") == expected.encode());
    scratch.run(&[&args[..], &["a.txt", "-o", "s.crivo"]].concat()).ok();
    scratch.run(&["freq", "b.txt", "--into", "s.crivo"]).ok();
    assert!(scratch.read("s.crivo") == expected.encode());
    scratch.run(&["freq", "a.txt", "--conservative", "-o", "c.crivo"]).ok();
    scratch.run(&["freq", "b.txt", "--into", "c.crivo"]).ok();
    assert_eq!(
        answers(&scratch, "c.crivo", &["x", "y", "z"]).iter().map(|a| a.0).collect::<Vec<_>>(),
        [3.0, 1.0, 1.0]
    );
}

#[test]
fn weights_are_added_up() {
    let mut random = Random::new(3);
    let mut sums: HashMap<String, u64> = HashMap::new();
    let mut text = String::from("who\tcents\n");
    for _ in 0..2_000 {
        let (who, cents) = (format!("c{}", random.below(30)), random.below(500));
        text.extend([&who, "\t", &cents.to_string(), "\n"]);
        *sums.entry(who).or_default() += cents;
    }
    let scratch = Scratch::with([("sales.tsv", text)]);
    scratch.run(&["freq", "sales.tsv", "-f", "who", "--weight", "cents", "-o", "s.crivo"]).ok();
    let keys: Vec<&str> = sums.keys().map(String::as_str).collect();
    for (key, (value, _, _)) in keys.iter().zip(answers(&scratch, "s.crivo", &keys)) {
        assert_eq!(value, sums[*key] as f64, "{key}: the table is nearly empty");
    }
}

#[test]
fn ranges_are_counted() {
    let mut random = Random::new(4);
    let values: Vec<u64> = (0..20_000).map(|_| random.below(1000) * random.below(1000)).collect();
    let text = values.iter().fold(String::from("ms\n"), |text, value| text + &format!("{value}\n"));
    let scratch = Scratch::with([("times.csv", text)]);
    scratch
        .run(&[
            "freq",
            "times.csv",
            "--ranges",
            "20",
            "--error",
            "1%",
            "--confidence",
            "99%",
            "-o",
            "s.crivo",
        ])
        .ok();
    for (low, high) in [(0_u64, 1_048_575_u64), (0, 1000), (250_000, 260_000), (999_000, 1_048_575), (7, 7)] {
        let args = ["ask", "s.crivo", "--range", &low.to_string(), &high.to_string(), "--json"];
        let json = scratch.run(&args).json();
        let exact = values.iter().filter(|value| (low..=high).contains(*value)).count() as f64;
        let value = json["count"]["value"].as_f64().unwrap();
        assert!(value >= exact && value - exact <= 200.0, "{low} to {high}: {value} for {exact}");
        assert!(json["count"]["lower"].as_f64().unwrap() <= exact);
    }
    assert!(
        scratch.run(&["ask", "s.crivo", "--range", "0", "1048575"]).ok().starts_with("20000 in the range")
    );
    scratch.run(&["ask", "s.crivo", "--range", "0", "2000000"]).fails_with("--range 0 2000000");
    scratch.run(&["ask", "s.crivo", "--range", "5", "1"]).fails_with("--range 5 1");
    scratch.run(&["ask", "s.crivo", "--range", "5"]).fails_with("2 values required");
    scratch
        .feed(&["freq", "--ranges", "4", "-o", "t.crivo"], "3\n16\n")
        .fails_with("standard input:2: expected a key of an integer from 0 to 15");
    scratch
        .feed(&["freq", "--ranges", "4", "-o", "t.crivo"], "-5\n")
        .fails_with("found -5: choose another field");
    let words = scratch.feed(&["freq", "--ranges", "4", "-o", "t.crivo", "--format", "csv"], "city\nFaro\n");
    words.fails_with(
        "standard input:2: column 'city': expected a 64-bit integer, found 'Faro' (the keys are integers)",
    );
    scratch
        .feed(&["freq", "--ranges", "4", "--keys", "text", "-o", "t.crivo"], "3\n")
        .fails_with("over integers");
    scratch.feed(&["freq", "--ranges", "4", "--skip-bad", "-o", "t.crivo"], "3\n16\n3\n").ok();
    assert_eq!(answers(&scratch, "t.crivo", &["3"])[0].0, 2.0);
}

#[test]
fn join_size_is_that_of_the_join() {
    let (left, right) = (column(3_000, 50, 5), column(2_000, 50, 6));
    let count = |values: &[String], key: &str| values.iter().filter(|value| *value == key).count();
    let keys: std::collections::HashSet<&String> = left.iter().filter(|key| !key.is_empty()).collect();
    let exact: usize = keys.iter().map(|key| count(&left, key) * count(&right, key)).sum();
    let scratch = Scratch::with([("l.txt", table("lines", &left)), ("r.txt", table("lines", &right))]);
    for side in ["l", "r"] {
        scratch.run(&["freq", &format!("{side}.txt"), "-o", &format!("{side}.crivo")]).ok();
    }
    let json = scratch.run(&["ask", "l.crivo", "--join", "r.crivo", "--json"]).json();
    assert!(json["size"]["value"].as_f64().unwrap() >= exact as f64);
    assert!(json["size"]["lower"].as_f64().unwrap() <= exact as f64);
    assert!(scratch.run(&["ask", "l.crivo", "--join", "r.crivo"]).ok().contains("rows in the join"));
    scratch.run(&["freq", "r.txt", "--seed", "1", "-o", "seed.crivo"]).ok();
    scratch
        .run(&["ask", "l.crivo", "--join", "seed.crivo"])
        .fails_with("seed.crivo: cannot be joined with l.crivo: seed");
}

#[test]
fn options_that_contradict_or_mean_nothing_are_refused() {
    let scratch = Scratch::new();
    scratch.feed(&["freq", "-o", "s.crivo"], "a\n").ok();
    for (args, message) in [
        (&["freq"][..], "name a file for it, such as -o"),
        (&["freq", "--error", "0", "-o", "t.crivo"], "--error 0"),
        (&["freq", "--confidence", "100%", "-o", "t.crivo"], "--confidence 1"),
        (&["freq", "--error", "1e-12", "-o", "t.crivo"], "epsilon"),
        (&["freq", "--conservative", "--ranges", "8", "-o", "t.crivo"], "cannot be used with"),
        (&["freq", "--ranges", "65", "-o", "t.crivo"], "1 to 64"),
        (&["freq", "--into", "s.crivo", "--error", "1%"], "was asked for: that of s.crivo is"),
        (&["freq", "--into", "s.crivo", "--conservative"], "update conservative was asked for"),
        (&["freq", "--into", "s.crivo", "--ranges", "8"], "was asked for: s.crivo is a CountMin"),
        (&["freq", "--into", "s.crivo", "--keys", "int"], "--keys int"),
    ] {
        scratch.feed(args, "a\n").fails_with(message);
    }
    let json = scratch.feed(&["freq", "--json", "-o", "t.crivo"], "a\n").json();
    assert_eq!((json["kind"].as_str(), json["items"]["value"].as_f64()), (Some("CountMin"), Some(1.0)));
}
