//! `crivo quantile` compared with sorted numbers, and its errors about input without numbers.

use crivo::quantiles::NumberQuantiles;
use serde_json::Value;

use crate::support::{Random, Scratch};

/// Returns the numbers of a field, some of them missing.
fn numbers(rows: usize, seed: u64) -> Vec<Option<f64>> {
    let mut random = Random::new(seed);
    let number = |random: &mut Random| (random.below(1_000_000) as f64) / 100.0 - 2000.0;
    (0..rows).map(|_| (random.below(10) > 0).then(|| number(&mut random))).collect()
}

fn csv(numbers: &[Option<f64>]) -> String {
    let line = |(row, number): (usize, &Option<f64>)| {
        format!("{},{}\n", row / 100, number.map(|number| number.to_string()).unwrap_or_default())
    };
    format!("time,price\n{}", numbers.iter().enumerate().map(line).collect::<String>())
}

fn sorted(numbers: &[Option<f64>]) -> Vec<f64> {
    let mut sorted: Vec<f64> = numbers.iter().copied().flatten().collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn interval(value: &Value) -> (f64, f64, f64) {
    let part = |name: &str| value[name].as_f64().unwrap();
    (part("value"), part("lower"), part("upper"))
}

#[test]
fn few_numbers_are_answered_exactly() {
    let scratch = Scratch::with([("n.csv", "name,price\na,3\nb,\nc,-1.5\nd,10\ne,2e1\n")]);
    let args = ["quantile", "n.csv", "-f", "price", "-q", "0,0.5,50%,1", "--rank", "-1.5", "9", "--json"];
    let json = scratch.run(&args).json();
    assert_eq!((&json["rows"], &json["skipped"], &json["method"]), (&5.into(), &1.into(), &"kll".into()));
    let values: Vec<_> =
        json["quantiles"].as_array().unwrap().iter().map(|q| interval(&q["value"])).collect();
    assert_eq!(values, [(-1.5, -1.5, -1.5), (3.0, 3.0, 3.0), (3.0, 3.0, 3.0), (20.0, 20.0, 20.0)]);
    assert_eq!(json["quantiles"][1]["value"]["confidence"], 1.0);
    assert_eq!(interval(&json["ranks"][0]["rank"]).0, 0.25);
    assert_eq!(interval(&json["ranks"][1]["rank"]).0, 0.5);
    let text = scratch.run(&["quantile", "n.csv", "-f", "price", "-q", "0.5"]);
    assert!(text.ok().contains("50 %") && text.ok().contains("exactly"), "{text:?}");
}

#[test]
fn bounds_hold_in_every_format_and_the_second_pass_says_so() {
    let data = numbers(60_000, 1);
    let truth = sorted(&data);
    let mut missed = 0;
    for (tails, threads) in [(false, "1"), (false, "3"), (true, "2")] {
        let scratch = Scratch::with([("n.csv", csv(&data))]);
        let mut args = vec!["quantile", "n.csv", "-f", "price", "-q", "0.01,0.5,0.999", "--rank", "0"];
        args.extend(["--threads", threads, "--verify", "--histogram=8", "--json"]);
        args.extend(tails.then_some("--tails"));
        let json = scratch.run(&args).json();
        for answer in json["quantiles"].as_array().unwrap() {
            let q = answer["q"].as_f64().unwrap();
            let exact = truth[((q * truth.len() as f64).ceil() as usize).saturating_sub(1)];
            assert_eq!(answer["exact"], exact);
            let (_, lower, upper) = interval(&answer["value"]);
            assert_eq!(answer["covered"], lower <= exact && exact <= upper);
            missed += u32::from(answer["covered"] != true);
        }
        assert_eq!(json["ranks"][0]["covered"], true);
        let bars = json["histogram"].as_array().unwrap();
        let total: f64 = bars.iter().map(|bar| interval(&bar["count"]).0).sum();
        assert_eq!((bars.len(), total), (8, truth.len() as f64));
        assert_eq!(scratch.run(&args).json(), json, "the same threads give the same answers");
    }
    // Each of the nine intervals is at 95 %. The random draws are fixed, so the result never
    // changes.
    assert!(missed <= 2, "{missed} of 9 intervals missed the truth");
}

#[test]
fn a_sketch_is_continued_merged_and_asked() {
    let data = numbers(40_000, 2);
    let scratch = Scratch::with([("a.csv", csv(&data[..25_000])), ("b.csv", csv(&data[25_000..]))]);
    let truth = sorted(&data);
    let median = truth[truth.len().div_ceil(2) - 1];
    for file in ["a.csv", "b.csv"] {
        scratch.run(&["quantile", file, "-f", "price", "--into", "s.crivo", "--error", "1%"]).ok();
        scratch.run(&["quantile", file, "-f", "price", "-o", &format!("{file}.crivo"), "--seed", "7"]).ok();
    }
    scratch.run(&["merge", "a.csv.crivo", "b.csv.crivo", "-o", "both.crivo"]).ok();
    for sketch in ["s.crivo", "both.crivo"] {
        let stored = NumberQuantiles::decode(&scratch.read(sketch)).unwrap();
        assert_eq!(stored.count(), truth.len() as u64);
        let json = scratch.run(&["ask", sketch, "--quantiles", "0.5", "--rank", "0", "--json"]).json();
        let (_, lower, upper) = interval(&json["quantiles"][0]["value"]);
        assert!(lower <= median && median <= upper, "{sketch}: {median} not in {lower} to {upper}");
        assert!(scratch.run(&["show", sketch]).ok().contains("crivo quantile"));
    }
    scratch
        .run(&["quantile", "a.csv", "-f", "price", "--into", "s.crivo", "--error", "5%"])
        .fails_with("size");
    scratch.run(&["freq", "a.csv", "-f", "price", "-o", "freq.crivo"]).ok();
    scratch.run(&["ask", "freq.crivo", "--quantiles", "0.5"]).fails_with("crivo quantile");
    scratch.run(&["quantile", "a.csv", "-f", "price", "--into", "freq.crivo"]).fails_with("crivo freq");
}

#[test]
fn a_window_forgets_old_numbers() {
    let scratch = Scratch::with([("t.csv", "time,price\n1000,1\n2000,2\n100000,30\n100060,x\n100061,40\n")]);
    let args = ["quantile", "t.csv", "-f", "price", "--window", "1h", "--time-field", "time", "-q", "0,1"];
    scratch.run(&args).fails_with("t.csv:5: column 'price': expected a number, found 'x'");
    let json = scratch.run(&[&args[..], &["--skip-bad", "--json", "-o", "w.crivo"]].concat()).json();
    assert_eq!(
        (interval(&json["quantiles"][0]["value"]).0, interval(&json["quantiles"][1]["value"]).0),
        (30.0, 40.0)
    );
    assert_eq!(json["bad"], 1);
    let asked = scratch.run(&["ask", "w.crivo", "--quantiles", "0", "--json"]).json();
    assert_eq!(interval(&asked["quantiles"][0]["value"]).0, 30.0);
}

#[test]
fn what_has_no_answer_is_refused_or_none() {
    let scratch = Scratch::with([("n.csv", "price\n1\ntwo\n"), ("empty.csv", "price\n")]);
    scratch.run(&["quantile", "n.csv"]).fails_with("n.csv:3: column 'price': expected a number");
    scratch.run(&["quantile", "n.csv", "-q", "1.5"]).fails_with("--quantiles 1.5");
    scratch.run(&["quantile", "n.csv", "--error", "0"]).fails_with("--error");
    scratch.run(&["quantile", "n.csv", "--words", "2"]).fails_with("--words");
    let json = scratch.run(&["quantile", "empty.csv", "-q", "0.5", "--rank", "3", "--json"]).json();
    assert_eq!((&json["quantiles"][0]["value"], &json["ranks"][0]["rank"]), (&Value::Null, &Value::Null));
    let json = scratch.run(&["quantile", "n.csv", "--skip-bad", "-q", "0.5", "--json"]).json();
    assert_eq!((&json["rows"], &json["bad"]), (&1.into(), &1.into()));
}

/// Returns the value of a rank in sorted values.
fn at<T: Clone>(sorted: &[T], share: f64) -> T {
    sorted[((share * sorted.len() as f64).ceil() as usize).saturating_sub(1)].clone()
}

#[test]
fn every_group_has_the_quantiles_of_an_exact_model() {
    let mut random = Random::new(5);
    let mut text = String::from("shop,country,price\n");
    let mut model: std::collections::BTreeMap<(String, String), Vec<f64>> = std::collections::BTreeMap::new();
    let mut lost = 0;
    for _ in 0..80_000 {
        // One shop has half of all rows, so that its sketch is compacted.
        let shop = if random.below(2) == 0 { 0 } else { random.below(200) };
        let country = if random.below(50) == 0 { String::new() } else { format!("c{}", shop % 3) };
        let price = random.below(1_000_000) as f64 / 4.0 - 1000.0;
        if random.below(30) == 0 {
            text.push_str(&format!("s{shop},{country},\n"));
            lost += 1;
            continue;
        }
        text.push_str(&format!("s{shop},{country},{price}\n"));
        if country.is_empty() {
            // A row needs both fields to belong to a group.
            lost += 1;
            continue;
        }
        model.entry((format!("s{shop}"), country)).or_default().push(price);
    }
    let scratch = Scratch::with([("v.csv", &text)]);
    let args =
        ["quantile", "v.csv", "-f", "price", "-q", "0,0.5,1", "--rank", "0", "--json", "--threads", "2"];
    let json = scratch.run(&[&args[..], &["--by", "shop,country", "-o", "g.crivo"]].concat()).json();
    assert_eq!((json["rows"].as_u64(), json["skipped"].as_u64()), (Some(80_000), Some(lost)));
    let found = json["groups"].as_array().unwrap();
    assert_eq!(found.len(), model.len());
    let (mut exact, mut missed) = (0, 0);
    for ((shop, country), values) in &mut model {
        values.sort_by(f64::total_cmp);
        let group = found.iter().find(|group| group["group"][0] == **shop && group["group"][1] == **country);
        let group = group.unwrap_or_else(|| panic!("{shop},{country}"));
        let (least, greatest) = (&group["quantiles"][0]["value"], &group["quantiles"][2]["value"]);
        assert_eq!((interval(least).0, interval(greatest).0), (values[0], *values.last().unwrap()));
        let median = &group["quantiles"][1]["value"];
        let (value, lower, upper) = interval(median);
        let truth = at(values, 0.5);
        missed += u32::from(!(lower <= truth && truth <= upper));
        if lower == upper {
            assert_eq!(value, truth);
            exact += 1;
        }
    }
    // Each interval of a compacted group is at 95 %. The random draws are fixed.
    assert!(exact >= 20 && missed <= 3, "{exact} exact, {missed} missed");

    let asked = scratch.run(&["ask", "g.crivo", "--group", "s0,c0", "--quantiles", "0.5", "--json"]).json();
    let of_file = found.iter().find(|group| group["group"][0] == "s0" && group["group"][1] == "c0").unwrap();
    assert_eq!(asked["quantiles"][0]["value"], of_file["quantiles"][1]["value"]);
    let plain = scratch.run(&["ask", "g.crivo", "--group", "s0,c0", "--json"]).json();
    assert_eq!((plain["quantiles"].as_array().unwrap().len(), &plain["group"][0]), (5, &"s0".into()));
    scratch.run(&["merge", "g.crivo", "g.crivo", "-o", "twice.crivo"]).ok();
    let twice = scratch.run(&["ask", "twice.crivo", "--group", "s0,c0", "--quantiles", "1", "--json"]).json();
    assert_eq!(twice["quantiles"][0]["value"], of_file["quantiles"][2]["value"]);

    let small = scratch.run(&["quantile", "v.csv", "-f", "price", "-q", "0.5", "--by", "country"]);
    assert!(small.ok().contains("bounds") && small.ok().contains("c1"), "{small:?}");
    let csv =
        scratch.run(&["quantile", "v.csv", "-f", "price", "-q", "0.5", "--by", "country", "--output", "csv"]);
    assert!(
        csv.ok().starts_with("country,what,at,value,value_lower,value_upper,value_confidence\n"),
        "{csv:?}"
    );
    scratch.run(&[&args[..], &["--by", "shop", "--verify"]].concat()).fails_with("--verify");
}

#[test]
fn groups_continue_in_their_file() {
    let part = |from: u64, to: u64| {
        let rows: String =
            (from..to).map(|n| format!("{},{n}\n", if n % 2 == 0 { "even" } else { "odd" })).collect();
        format!("kind,n\n{rows}")
    };
    let scratch = Scratch::with([("a.csv", part(0, 9_000)), ("b.csv", part(9_000, 20_000))]);
    for file in ["a.csv", "b.csv"] {
        scratch.run(&["quantile", file, "-f", "n", "--by", "kind", "--into", "g.crivo"]).ok();
    }
    let asked = scratch.run(&["ask", "g.crivo", "--group", "odd", "--quantiles", "0,0.5,1", "--json"]).json();
    let [least, middle, most] = [0, 1, 2].map(|at| interval(&asked["quantiles"][at]["value"]));
    assert_eq!((least.0, most.0), (1.0, 19_999.0));
    assert!(middle.1 <= 9_999.0 && 9_999.0 <= middle.2, "{middle:?}");
}

#[test]
fn texts_have_quantiles_and_ranks_too() {
    let mut random = Random::new(9);
    let words: Vec<String> = (0..30_000).map(|_| format!("w{:06}", random.below(900_000))).collect();
    let rows: String = words.iter().map(|word| format!("{},{word}\n", word.len() % 2)).collect();
    let scratch = Scratch::with([("t.csv", format!("half,word\n{rows}"))]);
    let args = ["quantile", "t.csv", "-f", "word", "--texts", "-q", "0,0.25,0.5,1", "--rank", "w5"];
    let json = scratch.run(&[&args[..], &["--verify", "--json", "-o", "t.crivo"]].concat()).json();
    let mut sorted = words.clone();
    sorted.sort();
    assert_eq!(json["quantiles"][0]["value"]["value"], *sorted[0]);
    assert_eq!(json["quantiles"][3]["value"]["upper"], **sorted.last().unwrap());
    for (at_share, share) in [(1, 0.25), (2, 0.5)] {
        let answer = &json["quantiles"][at_share];
        assert_eq!((&answer["exact"], &answer["covered"]), (&at(&sorted, share).into(), &true.into()));
    }
    let below = sorted.iter().filter(|word| word.as_str() <= "w5").count() as f64 / sorted.len() as f64;
    assert_eq!((&json["ranks"][0]["value"], &json["ranks"][0]["exact"]), (&"w5".into(), &below.into()));
    assert_eq!(json["ranks"][0]["covered"], true);
    let asked = scratch.run(&["ask", "t.crivo", "--quantiles", "0.5", "--rank", "w5", "--json"]).json();
    assert_eq!(asked["quantiles"][0]["value"], json["quantiles"][2]["value"]);
    assert!(scratch.run(&["show", "t.crivo"]).ok().contains("crivo quantile --texts"));
    let by = scratch.run(&[&args[..], &["--by", "half", "--json"]].concat()).json();
    assert_eq!(by["groups"][0]["quantiles"][0]["value"]["value"], *sorted[0]);
    scratch.run(&["quantile", "t.csv", "-f", "word", "--into", "t.crivo"]).fails_with("--texts");
    scratch.run(&[&args[..], &["--into", "t.crivo"]].concat()).ok();
    scratch.run(&[&args[..], &["--histogram"]].concat()).fails_with("no distances");
    scratch
        .run(&["quantile", "t.csv", "-f", "half", "--rank", "w5"])
        .fails_with("--rank w5: expected a number");
}

#[test]
fn no_line_ends_in_blanks() {
    let scratch = Scratch::with([("a.txt", (0..5000).map(|n| format!("{n}\n")).collect::<String>())]);
    let run = scratch.run(&["quantile", "a.txt"]);
    assert!(run.ok().lines().all(|line| line.trim_end() == line), "{run:?}");
}

#[test]
fn bounds_of_large_whole_numbers_include_their_rounding() {
    let (least, greatest) = (9_007_199_254_740_993_u64, 12_345_678_901_234_567_u64);
    let scratch = Scratch::with([("n.csv", format!("id\n{greatest}\n{least}\n"))]);
    let args = ["quantile", "n.csv", "-f", "id", "-q", "0,1"];
    let json = scratch.run(&[&args[..], &["--json"]].concat()).json();
    for (at, exact) in [(0, least), (1, greatest)] {
        let value = &json["quantiles"][at]["value"];
        let bound = |name: &str| value[name].as_f64().unwrap() as u64;
        assert!(bound("lower") < exact && exact < bound("upper"), "{json}");
    }
    let run = scratch.run(&args);
    assert!(!run.ok().contains("exactly"), "{run:?}");
}
