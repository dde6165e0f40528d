//! `crivo count` against an exact model.

use std::collections::HashMap;

use crate::support::{Random, Scratch};

type Row = (u64, String, Option<f64>);
type Model<'a> = &'a dyn Fn(&Row) -> bool;

/// Rows of a log: status, path, milliseconds (some missing).
fn log(rows: usize, seed: u64) -> Vec<Row> {
    let mut random = Random::new(seed);
    (0..rows)
        .map(|_| {
            let status = [200, 200, 200, 301, 404, 500, 503][random.below(7) as usize];
            let path = format!("/{}/{}", ["api", "img", "doc"][random.below(3) as usize], random.below(50));
            (status, path, (random.below(10) > 0).then(|| random.below(100_000) as f64 / 100.0))
        })
        .collect()
}

fn csv(log: &[Row]) -> String {
    log.iter().fold(String::from("status,path,ms\n"), |text, (status, path, ms)| {
        text + &format!("{status},{path},{}\n", ms.map_or(String::new(), |ms| ms.to_string()))
    })
}

#[test]
fn conditions_and_sums_are_those_of_the_model() {
    let log = log(20_000, 1);
    let scratch = Scratch::with([("log.csv", csv(&log))]);
    let questions: [(&str, Model<'_>); 8] = [
        ("status >= 500", &|row| row.0 >= 500),
        ("status = 404 or status = 301", &|row| row.0 == 404 || row.0 == 301),
        ("status != 200 and path ~ ^/api/", &|row| row.0 != 200 && row.1.starts_with("/api/")),
        ("not (status < 300) and ms > 500.5", &|row| row.0 >= 300 && row.2.is_some_and(|ms| ms > 500.5)),
        ("status % 100", &|row| row.0 % 100 == 0),
        ("status % 10 = 4", &|row| row.0 % 10 == 4),
        ("path <= '/doc/30'", &|row| row.1.as_str() <= "/doc/30"),
        ("0 ~ ',/img/7,'", &|row| row.1 == "/img/7"),
    ];
    for (condition, model) in questions {
        let rows: Vec<&Row> = log.iter().filter(|row| model(row)).collect();
        let numbers: Vec<f64> = rows.iter().filter_map(|row| row.2).collect();
        for threads in ["1", "4"] {
            let args =
                ["count", "log.csv", "--where", condition, "--sum", "ms", "--json", "--threads", threads];
            let json = scratch.run(&args).json();
            assert_eq!(json["rows"], 20_000, "{condition}");
            let exact = serde_json::json!({
                "value": rows.len() as f64, "lower": rows.len() as f64, "upper": rows.len() as f64, "confidence": 1.0
            });
            assert_eq!(json["count"], exact, "{condition}");
            let sum: f64 = numbers.iter().sum();
            assert!((json["sum"].as_f64().unwrap() - sum).abs() < 1e-6, "{condition}: {json} for {sum}");
            let mean = sum / numbers.len() as f64;
            assert!((json["mean"].as_f64().unwrap() - mean).abs() < 1e-9, "{condition}: {json} for {mean}");
        }
    }
}

#[test]
fn without_a_condition_rows_values_or_words_count() {
    let scratch = Scratch::with([("a.csv", "x,y\n1,\n2,the cat\n3,\"The\nDog, the\"\n")]);
    let count = |args: &[&str]| {
        let json = scratch.run(&[&["count", "a.csv", "--json"], args].concat()).json();
        (json["count"]["value"].as_f64().unwrap(), json["sum"].as_f64(), json["mean"].as_f64())
    };
    assert_eq!(count(&[]), (3.0, None, None));
    assert_eq!(count(&["-f", "y"]), (2.0, None, None));
    assert_eq!(count(&["-f", "y", "--words", "1"]), (5.0, None, None));
    assert_eq!(count(&["-f", "y", "--words", "1", "--where", "x > 2"]), (3.0, None, None));
    assert_eq!(count(&["--sum", "x"]), (3.0, Some(6.0), Some(2.0)));
    assert_eq!(count(&["--sum", "x", "--where", "x > 9"]), (0.0, Some(0.0), None));
    assert_eq!(scratch.feed(&["count", "--json"], "").json()["count"]["value"], 0.0);
    let text = scratch.run(&["count", "a.csv", "--sum", "x"]);
    assert_eq!(text.ok(), "3 rows, exactly\nsum 6, mean 2\n3 rows, 0 skipped\n");
    assert_eq!(
        scratch.feed(&["count", "--where", "2 = b", "--json"], "a b\nc d\n").json()["count"]["value"],
        1.0
    );
}

#[test]
fn impossible_conditions_and_numbers_are_named() {
    let scratch = Scratch::with([("a.csv", "x,y\n1,2\n3,z\n")]);
    for (args, message) in [
        (&["--where", "x >"][..], "expected a value at the end"),
        (&["--where", "x = 1 y"], "expected 'and' or 'or', found 'y'"),
        (&["--where", "x ~ '('"], "is no regular expression"),
        (&["--where", "z = 1"], "there is no field 'z'"),
        (&["--sum", "z"], "there is no field 'z'"),
        (&["--sum", "y"], "crivo: a.csv:3: column 'y': expected a number to add up, found 'z'"),
        (&["--counter", "third"], "expected exact, half, sampled:64"),
        (&["--counter", "morris:5"], "--counter: base: expected"),
        (&["-o", "s.crivo"], "use --counter sampled:64 or morris, or --by"),
        (&["--bits", "8"], "--by"),
        (&["--by", "x", "--bits", "8"], "name a file for it"),
        (&["--by", "x", "--bits", "8", "--sum", "y", "-o", "s.crivo"], "small counters count rows only"),
        (&["--by", "x", "--bits", "7", "-o", "s.crivo"], "4, 8 or 16"),
        (&["--by", "x", "--bits", "4", "--reach", "1e9", "-o", "s.crivo"], "reach"),
        (&["--by", "x", "--reach", "0", "-o", "s.crivo"], "--reach"),
    ] {
        scratch.run(&[&["count", "a.csv"], args].concat()).fails_with(message);
    }
    let json = scratch.run(&["count", "a.csv", "--sum", "y", "--skip-bad", "--json"]).json();
    assert_eq!(
        (json["count"]["value"].as_f64(), json["sum"].as_f64(), json["bad"].as_u64()),
        (Some(1.0), Some(2.0), Some(1))
    );
    assert_eq!(scratch.names(), ["a.csv"]);
}

#[test]
fn counters_toss_coins_and_cover_the_truth() {
    let text = "x\n".repeat(100_000);
    let scratch = Scratch::with([("data.txt", text)]);
    for (counter, kind, error) in [
        ("half", "SampledCounter", 0.01),
        ("sampled:64", "SampledCounter", 0.1),
        ("morris", "MorrisCounter", 8.0),
        ("morris:1.01", "MorrisCounter", 0.5),
    ] {
        let args = ["count", "data.txt", "--counter", counter, "-o", "s.crivo", "--json"];
        let json = scratch.run(&args).json();
        let [value, lower, upper] =
            ["value", "lower", "upper"].map(|name| json["count"][name].as_f64().unwrap());
        assert_eq!((json["rows"].as_u64(), json["counter"].as_str()), (Some(100_000), Some(counter)));
        assert!(lower < value && value < upper && json["count"]["confidence"] == 0.95, "{json}");
        assert!((value / 1e5 - 1.0).abs() < error, "{counter}: {json}");
        let shown = scratch.run(&["show", "s.crivo", "--json"]).json();
        assert_eq!((shown["kind"].as_str(), shown["keys"].as_str()), (Some(kind), Some("none")));
        assert_eq!(shown["items"]["value"], value);
        // The same input gives the same random draws. A stream in two files is the same stream.
        let again =
            scratch.run(&["count", "data.txt", "--counter", counter, "--json", "--threads", "3"]).json();
        assert_eq!(again["count"], json["count"]);
        let twice = scratch.run(&["count", "data.txt", "--into", "s.crivo", "--json"]).json();
        assert!(twice["count"]["upper"].as_f64().unwrap() >= upper);
        scratch
            .run(&["count", "data.txt", "--into", "s.crivo", "--counter", "sampled:7"])
            .fails_with("can only be continued so");
    }
    scratch.run(&["top", "data.txt", "-o", "t.crivo"]).ok();
    scratch.run(&["count", "data.txt", "--into", "t.crivo"]).fails_with("HeavyHitters made by `crivo top`");
}

#[test]
fn counters_of_other_inputs_toss_other_coins() {
    let scratch = Scratch::new();
    for (name, rows) in [("a.crivo", 10_000), ("b.crivo", 10_001)] {
        scratch.feed(&["count", "--counter", "sampled:100", "-o", name], "x\n".repeat(rows)).ok();
    }
    // With the same seed they would count the same events of both files.
    let value = |name: &str| scratch.run(&["show", name, "--json"]).json()["parameters"]["value"].clone();
    assert_ne!(value("a.crivo"), value("b.crivo"));
    scratch.run(&["merge", "a.crivo", "b.crivo", "-o", "c.crivo"]).ok();
}

#[test]
fn every_key_has_a_small_counter() {
    let mut random = Random::new(5);
    let mut truth: HashMap<String, u64> = HashMap::new();
    let mut text = String::from("video,n\n");
    for n in 0..50_000 {
        let halvings = random.below(8);
        let key = format!("video{}", random.below(1 + (400 >> halvings)));
        text.extend([&key, ",", &n.to_string(), "\n"]);
        *truth.entry(key).or_default() += 1;
    }
    let scratch = Scratch::with([("views.csv", text)]);
    for (bits, error) in [("8", 0.2), ("16", 0.012)] {
        let args = ["count", "views.csv", "--by", "video", "--bits", bits, "-o", "v.crivo"];
        scratch.run(&args).ok();
        let bytes = scratch.read("v.crivo");
        scratch.run(&[&args[..], &["--threads", "4"]].concat()).ok();
        assert!(bytes == scratch.read("v.crivo"), "whatever the number of threads");
        let keys: Vec<&String> = truth.keys().collect();
        let asked = keys.iter().fold(String::new(), |text, key| text + key + "\n");
        let json = scratch.feed(&["ask", "v.crivo", "-", "--json"], asked).json();
        let (mut squares, mut covered) = (0.0, 0);
        for (key, answer) in keys.iter().zip(json["answers"].as_array().unwrap()) {
            let exact = truth[*key] as f64;
            let [value, lower, upper] =
                ["value", "lower", "upper"].map(|name| answer["count"][name].as_f64().unwrap());
            covered += usize::from(lower <= exact && exact <= upper);
            // A shared counter is rare, and no error of the counter itself.
            squares += (value / exact - 1.0).powi(2).min(1.0);
        }
        let (rms, share) = ((squares / keys.len() as f64).sqrt(), covered as f64 / keys.len() as f64);
        assert!(rms < error + 0.2, "{bits} bits: {rms}");
        assert!(share > 0.9, "{bits} bits: {share} covered");
        let absent = scratch.run(&["ask", "v.crivo", "no such video", "--json"]).json();
        assert_eq!(absent["answers"][0]["count"]["value"], 0.0);
    }
    scratch.run(&["count", "views.csv", "--by", "video", "--into", "v.crivo"]).ok();
    scratch
        .run(&["count", "views.csv", "--by", "video", "--into", "v.crivo", "--bits", "8"])
        .fails_with("--bits 8: the counters of v.crivo have 16");
    scratch
        .run(&["count", "views.csv", "--by", "video", "--bits", "5", "-o", "w.crivo"])
        .fails_with("--bits and --reach: counter bits: expected 4, 8 or 16, found 5");
    scratch
        .feed(&["count", "--by", "1", "--bits", "8", "-o", "w.crivo"], "a\n")
        .fails_with("such as --items 1M");
}

#[test]
fn integers_are_the_numbers_of_their_counters() {
    let text = (0..3_000_u64).fold(String::new(), |text, n| text + &format!("{}\n", n * n % 10));
    let scratch = Scratch::with([("data.txt", &text)]);
    let args = ["count", "data.txt", "--by", "1", "--keys", "int", "--bits", "16", "-o", "s.crivo"];
    for more in [&[][..], &["--items", "10"]] {
        scratch.run(&[&args[..], more].concat()).ok();
        let shown = scratch.run(&["show", "s.crivo", "--json"]).json();
        assert_eq!(shown["parameters"]["len"], 10, "0 to 9");
        let json = scratch.run(&["ask", "s.crivo", "0", "1", "2", "--json"]).json();
        for (answer, exact) in json["answers"].as_array().unwrap().iter().zip([300.0, 600.0, 0.0]) {
            let value = answer["count"]["value"].as_f64().unwrap();
            assert!((value - exact).abs() <= 0.1 * exact, "{answer} for {exact}");
        }
    }
    scratch.run(&["ask", "s.crivo", "10"]).fails_with("'10': index: expected 0 to 9");
    scratch
        .run(&[&args[..], &["--items", "5"]].concat())
        .fails_with("data.txt:4: column '1': 9 has no counter");
    scratch
        .feed(
            &["count", "--by", "1", "--bits", "8", "--keys", "int", "--items", "5", "-o", "c.crivo"],
            "-5\n",
        )
        .fails_with("-5 has no counter");
    let run = scratch.run(&[&args[..], &["--items", "5", "--skip-bad"]].concat());
    assert!(run.ok().starts_with("1500 rows counted into s.crivo"), "{run:?}");
}

#[test]
fn saturated_counters_warn_or_fail() {
    let scratch = Scratch::with([("data.txt", "x\n".repeat(200_000))]);
    let args = ["count", "data.txt", "--by", "1", "--bits", "4", "--reach", "100", "-o", "s.crivo"];
    let warned = scratch.run(&args);
    warned.ok();
    assert!(warned.err.contains("1 counter is at its end, ≈ 100"), "{warned:?}");
    scratch.run(&[&args[..], &["--on-full", "fail"]].concat()).fails_with("at its end");
}

#[test]
fn sums_of_large_whole_numbers_are_exact() {
    let scratch = Scratch::with([("n.csv", "g,n\na,9007199254740993\na,1\n")]);
    let args = ["count", "n.csv", "--sum", "n", "--json"];
    assert_eq!(scratch.run(&args).json()["sum"], 9_007_199_254_740_994.0);
    let json = scratch.run(&[&args[..], &["--by", "g"]].concat()).json();
    assert_eq!(json["groups"][0]["sum"], 9_007_199_254_740_994.0);
}
