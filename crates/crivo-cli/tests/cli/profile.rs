// This file is long because every figure has its test.

//! `crivo profile`: its answers compared with an exact model, in every format and on any number of
//! threads.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Value, json};

use crate::profile_tables::{Kind, Table, csv, generator};
use crate::support::{Scratch, column, table};

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

fn covers(estimate: &Value, truth: f64) -> bool {
    number(&estimate["lower"]) <= truth && truth <= number(&estimate["upper"])
}

fn find<'a>(json: &'a Value, name: &str) -> &'a Value {
    let columns = json["columns"].as_array().unwrap();
    columns.iter().find(|column| column["name"] == name).unwrap_or_else(|| panic!("no column {name}: {json}"))
}

/// Every exact answer is that of the model, and every certain bound holds.
#[test]
fn answers_are_those_of_an_exact_model_for_columns_of_every_type() {
    for (seed, rows, threads) in [("a", 300, "1"), ("b", 4_000, "2"), ("c", 30_000, "3")] {
        let random = &mut generator(&format!("profile model {seed}"));
        let table = Table::random(rows, random);
        let scratch = Scratch::with([("data.csv", csv(&table))]);
        let json = scratch.run(&["profile", "data.csv", "--json", "--threads", threads]).json();
        assert_eq!(json["rows"], rows);
        assert_eq!(json["bytes"], scratch.read("data.csv").len());
        assert_eq!(json["columns"].as_array().unwrap().len(), table.columns.len());
        for (name, kind, values) in &table.columns {
            agree(find(&json, name), *kind, values, name);
        }
    }
}

fn agree(found: &Value, kind: Kind, values: &[String], name: &str) {
    let present: Vec<&String> = values.iter().filter(|value| !value.is_empty()).collect();
    let empty = values.len() - present.len();
    assert_eq!(
        (found["type"].as_str(), found["empty"].as_u64()),
        (Some(kind.name()), Some(empty as u64)),
        "{name}"
    );

    let mut counts: HashMap<&str, u64> = HashMap::new();
    present.iter().for_each(|value| *counts.entry(value.as_str()).or_default() += 1);
    for line in found["top"].as_array().unwrap() {
        let truth = counts[line["key"].as_str().unwrap()] as f64;
        assert!(
            covers(&line["count"], truth) && number(&line["count"]["confidence"]) == 1.0,
            "{name}: {line} {truth}"
        );
    }
    // The bounds are certain, so the first value is never certainly rarer than another.
    let most = counts.values().max().copied().unwrap_or(0) as f64;
    let first = found["top"].as_array().unwrap().first();
    assert!(first.is_none_or(|first| number(&first["count"]["upper"]) >= most), "{name}");
    let majority = counts.iter().find(|(_, count)| 2 * **count > present.len() as u64).map(|(key, _)| *key);
    match found["majority"].as_str() {
        Some(key) => assert_eq!(Some(key), majority, "{name}"),
        None => assert!(majority.is_none_or(|_| most < 0.6 * present.len() as f64), "{name}: {majority:?}"),
    }

    // At 95 % a single interval may miss the truth. An interval of twice the width misses it with a
    // probability below 10⁻⁴, and there are few intervals.
    let distinct = counts.len() as f64;
    let width = number(&found["distinct"]["upper"]) - number(&found["distinct"]["lower"]);
    assert!(
        (number(&found["distinct"]["value"]) - distinct).abs() <= 1.5 * width.max(0.0),
        "{name}: {} {distinct}",
        found["distinct"]
    );
    // A yes may be wrong if there are few duplicates. A no is wrong once in 10,000 if there are too
    // many values to count them exactly.
    let is_key = empty == 0 && counts.len() == values.len() && !values.is_empty();
    let is_exact = number(&found["distinct"]["confidence"]) == 1.0;
    if found["key"].as_bool().unwrap() {
        assert!(is_key || (empty == 0 && distinct > 0.97 * values.len() as f64), "{name}");
    } else {
        assert!(!is_key || !is_exact, "{name}");
    }

    let all: HashSet<&str> = counts.keys().copied().collect();
    let sample = found["sample"].as_array().unwrap();
    assert_eq!(sample.len(), present.len().min(20), "{name}");
    assert!(sample.iter().all(|value| all.contains(value.as_str().unwrap())), "{name}: {sample:?}");

    let lengths: Vec<u64> = present.iter().map(|value| value.chars().count() as u64).collect();
    let mean = lengths.iter().sum::<u64>() as f64 / lengths.len() as f64;
    assert_eq!(found["length"]["min"].as_u64(), lengths.iter().min().copied(), "{name}");
    assert_eq!(found["length"]["max"].as_u64(), lengths.iter().max().copied(), "{name}");
    assert_eq!(number(&found["length"]["mean"]), mean, "{name}");

    if matches!(kind, Kind::Integer | Kind::Float) {
        let mut numbers: Vec<f64> = present.iter().map(|value| value.parse().unwrap()).collect();
        numbers.sort_unstable_by(f64::total_cmp);
        assert_eq!(
            (number(&found["min"]), number(&found["max"])),
            (numbers[0], numbers[numbers.len() - 1]),
            "{name}"
        );
        // The numbers are hundredths, so that the model has no rounding of its own.
        let hundredths: i128 = numbers.iter().map(|number| (number * 100.0).round() as i128).sum();
        let sum = hundredths as f64 / 100.0;
        assert!(
            (number(&found["sum"]) - sum).abs() <= 1e-12 * sum.abs().max(1.0),
            "{name}: {} {sum}",
            found["sum"]
        );
        assert!(
            (number(&found["mean"]) - sum / numbers.len() as f64).abs() <= 1e-9 * (sum.abs() + 1.0),
            "{name}"
        );
        for (label, share) in [("p01", 0.01), ("p25", 0.25), ("p50", 0.5), ("p75", 0.75), ("p99", 0.99)] {
            let rank = share * (numbers.len() - 1) as f64;
            let quantile = &found["quantiles"][label];
            let between = [rank.floor(), rank.ceil()].map(|rank| numbers[rank as usize]);
            assert!(
                between.iter().any(|truth| covers(quantile, *truth)),
                "{name} {label}: {quantile} {between:?}"
            );
            assert_eq!(number(&quantile["confidence"]), 1.0);
            let width = number(&quantile["upper"]) - number(&quantile["lower"]);
            assert!(width <= 0.021 * number(&quantile["value"]).abs(), "{name} {label}: {quantile}");
        }
    } else {
        assert_eq!(found["min"].as_str(), present.iter().min().map(|text| text.as_str()), "{name}");
        assert_eq!(found["max"].as_str(), present.iter().max().map(|text| text.as_str()), "{name}");
        assert!(found["sum"].is_null() && found["mean"].is_null() && found["quantiles"].is_null(), "{name}");
    }
}

/// 40 columns of 20,000 different values each. Of 40 intervals at 95 % more than 14 fail with a
/// probability below 10⁻⁶, and an estimate that is 3 % off fails in all of them. The middle of the
/// growth curves is tested in the same way.
#[test]
fn intervals_cover_the_truth_as_often_as_they_say() {
    let random = &mut generator("profile intervals");
    let (columns, rows, half) = (40, 24_000, 12_000);
    let values: Vec<Vec<u64>> =
        (0..columns).map(|_| (0..rows).map(|_| random.bits() % 60_000).collect()).collect();
    let names: Vec<String> = (0..columns).map(|at| format!("c{at}")).collect();
    let mut text = names.join(",") + "\n";
    for row in 0..rows {
        let fields: Vec<String> = values.iter().map(|column| format!("v{}", column[row])).collect();
        text += &(fields.join(",") + "\n");
    }
    let scratch = Scratch::with([("data.csv", text)]);
    for threads in ["1", "2"] {
        let json = scratch.run(&["profile", "data.csv", "--json", "--threads", threads]).json();
        let (mut missed, mut missed_growth) = (0, 0);
        for (name, column) in names.iter().zip(&values) {
            let found = find(&json, name);
            let distinct = |rows: usize| column[..rows].iter().collect::<HashSet<_>>().len() as f64;
            missed += usize::from(!covers(&found["distinct"], distinct(rows)));
            let width = number(&found["distinct"]["upper"]) / number(&found["distinct"]["lower"]);
            assert!(width < 1.04, "{name}: {}", found["distinct"]);
            let middle = &found["growth"][19];
            assert_eq!(middle["rows"], half);
            missed_growth += usize::from(!covers(&middle["distinct"], distinct(half)));
            let relative = number(&middle["distinct"]["value"]) / distinct(half) - 1.0;
            assert!(relative.abs() < 0.3, "{name}: {middle}");
        }
        assert!(
            missed <= 14 && missed_growth <= 14,
            "{missed} and {missed_growth} of {columns} on {threads} threads"
        );
    }
}

#[test]
fn every_format_gives_the_same_profile() {
    let values = column(3_000, 700, 9);
    let scratch = Scratch::new();
    let mut answers = BTreeMap::new();
    for format in ["csv", "tsv", "jsonl", "parquet"] {
        let name = format!("data.{format}");
        scratch.write(&name, table(format, &values));
        let json = scratch.run(&["profile", &name, "--json", "--threads", "1"]).json();
        assert_eq!(json["rows"], 3_000);
        answers.insert(format, json["columns"].clone());
    }
    for (format, columns) in &answers {
        assert_eq!(columns, &answers["csv"], "{format}");
    }
    scratch.write("data.txt", table("lines", &values));
    let lines = scratch.run(&["profile", "data.txt", "--json", "--threads", "1"]).json();
    let mut line = lines["columns"][0].clone();
    assert_eq!(line["name"], "line");
    line["name"] = "value".into();
    // The first column decides which rows are drawn, and here another column is first.
    let mut value = answers["csv"][1].clone();
    (line["patterns"], value["patterns"]) = (Value::Null, Value::Null);
    assert_eq!(line, value);
    let piped =
        scratch.feed(&["profile", "--format", "csv", "--json", "--threads", "1"], scratch.read("data.csv"));
    assert_eq!(piped.json()["columns"], answers["csv"]);
}

#[test]
fn threads_change_nothing_but_the_sample_while_values_are_few() {
    let random = &mut generator("profile threads");
    let scratch = Scratch::with([("data.csv", csv(&Table::random(20_000, random)))]);
    let profile = |threads: &str| {
        let mut json = scratch.run(&["profile", "data.csv", "--json", "--threads", threads]).json();
        for column in json["columns"].as_array_mut().unwrap() {
            // If there are more different values than counters, the listed values depend on the
            // order of rows.
            if number(&column["distinct"]["value"]) > 300.0 {
                column["top"] = Value::Null;
                column["others_at_most"] = Value::Null;
                // The ranks also depend on it, and with them the bars and fences.
                column["histogram"] = Value::Null;
                column["outliers"] = Value::Null;
            }
            column["sample"] = Value::Null;
        }
        json
    };
    let one = profile("1");
    for threads in ["2", "5"] {
        assert_eq!(profile(threads), one, "{threads} threads");
    }
    let again = || scratch.run(&["profile", "data.csv", "--json", "--threads", "2"]).out;
    assert_eq!(again(), again());
}

#[test]
fn columns_that_change_their_type_name_the_first_such_row() {
    let mut text = String::from("number,day,mixed,late\n");
    for row in 1..=9_000 {
        let number = if row == 7_001 { "n/a".into() } else { row.to_string() };
        let day = match row {
            ..3_000 => "2024-05-17",
            3_000..6_000 => "17/05/2024",
            _ => "May 17 2024",
        };
        let mixed = if row < 500 { "1".to_owned() } else { "2.5".into() };
        let late = if row < 8_000 { "" } else { "true" };
        text += &format!("{number},{day},{mixed},{late}\n");
    }
    let scratch = Scratch::with([("data.csv", text)]);
    for threads in ["1", "3"] {
        let json = scratch.run(&["profile", "data.csv", "--json", "--threads", threads]).json();
        let changes = |name: &str| find(&json, name)["changes"].clone();
        assert_eq!(
            changes("number"),
            json!([{"row": 7_001, "from": "integer", "to": "text", "value": "n/a"}])
        );
        assert_eq!(
            changes("day"),
            json!([{"row": 3_000, "from": "date", "to": "text", "value": "17/05/2024"}])
        );
        assert_eq!(changes("mixed"), json!([{"row": 500, "from": "integer", "to": "float", "value": "2.5"}]));
        assert_eq!(changes("late"), json!([]));
        assert_eq!(
            find(&json, "number")["kinds"],
            json!([{"kind": "integer", "count": 8_999}, {"kind": "text", "count": 1}])
        );
        assert_eq!(find(&json, "day")["type"], "text");
        assert_eq!(
            (find(&json, "late")["type"].as_str(), find(&json, "late")["empty"].as_u64()),
            (Some("boolean"), Some(7_999))
        );
    }
    assert!(
        scratch
            .run(&["profile", "data.csv"])
            .ok()
            .contains("number: integer before row 7001, which has 'n/a'")
    );
    // In a second file with the same fields, row numbers continue.
    scratch.write("more.csv", "number,day,mixed,late\n5,2024-05-17,1,yes\n");
    let json = scratch.run(&["profile", "data.csv", "more.csv", "--json"]).json();
    assert_eq!(find(&json, "late")["changes"][0]["row"], 9_001);
}

#[test]
fn thousands_separators_are_read_when_told() {
    let scratch = Scratch::with([("data.csv", "amount\n\"1,234.50\"\n\"12,000\"\n7\n")]);
    let as_text = scratch.run(&["profile", "data.csv", "--json"]).json();
    assert_eq!(
        (find(&as_text, "amount")["type"].as_str(), find(&as_text, "amount")["sum"].is_null()),
        (Some("text"), true)
    );
    let read = scratch.run(&["profile", "data.csv", "--json", "--thousands", ","]).json();
    let amount = find(&read, "amount");
    assert_eq!(
        (amount["type"].as_str(), number(&amount["sum"]), number(&amount["max"])),
        (Some("float"), 13_241.5, 12_000.0)
    );
    scratch.run(&["profile", "data.csv", "--thousands", ";"]).fails_with("expected one of");
}

#[test]
fn tables_without_values_have_answers_too() {
    let scratch =
        Scratch::with([("header.csv", "a,b\n"), ("nothing.csv", ""), ("empty.csv", "a,b\n1,\n2,\n")]);
    let header = scratch.run(&["profile", "header.csv", "--json"]).json();
    assert_eq!((header["rows"].as_u64(), header["columns"].as_array().map(Vec::len)), (Some(0), Some(2)));
    let column = find(&header, "b");
    assert_eq!(
        (column["type"].as_str(), column["key"].as_bool(), column["min"].is_null()),
        (Some("empty"), Some(false), true)
    );
    assert_eq!(column["length"], json!({"min": 0, "mean": 0.0, "max": 0}));
    assert_eq!((column["growth"].clone(), column["near_duplicates"].is_null()), (json!([]), true));
    let nothing = scratch.run(&["profile", "nothing.csv", "--json"]).json();
    assert_eq!((nothing["rows"].as_u64(), nothing["columns"].clone()), (Some(0), json!([])));
    let empty = scratch.run(&["profile", "empty.csv", "--json"]).json();
    let column = find(&empty, "b");
    assert_eq!((column["type"].as_str(), column["empty"].as_u64()), (Some("empty"), Some(2)));
    assert_eq!(number(&column["distinct"]["value"]), 0.0);
    for file in ["header.csv", "nothing.csv", "empty.csv"] {
        assert!(scratch.run(&["profile", file]).ok().contains(file));
    }
}

#[test]
fn names_may_repeat_and_json_records_may_differ() {
    let scratch = Scratch::with([("twins.csv", "a,a,b\n1,x,2\n3,y,4\n")]);
    let json = scratch.run(&["profile", "twins.csv", "--json"]).json();
    let types: Vec<_> =
        json["columns"].as_array().unwrap().iter().map(|column| column["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["integer", "text", "integer"]);
    let mut text = String::new();
    for row in 0..5_000 {
        text += &if row % 1_000 == 999 {
            format!("{{\"late\":{row},\"id\":{row}}}\n")
        } else {
            format!("{{\"id\":{row}}}\n")
        };
    }
    scratch.write("data.jsonl", text);
    for threads in ["1", "4"] {
        let json = scratch.run(&["profile", "data.jsonl", "--json", "--threads", threads]).json();
        let names: Vec<_> = json["columns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|column| column["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["id", "late"]);
        assert_eq!(
            (find(&json, "late")["empty"].as_u64(), find(&json, "late")["type"].as_str()),
            (Some(4_995), Some("integer"))
        );
    }
}

#[test]
fn near_duplicates_of_texts_are_estimated() {
    let random = &mut generator("profile near-duplicates");
    let mut words = || (0..14).map(|_| format!("w{}", random.bits() % 100_000)).collect::<Vec<_>>().join(" ");
    let mut text = String::from("id,note\n");
    for row in 0..6_000 {
        // Three in ten occur twice, the second time with one more word.
        let note = words();
        text += &format!("{row},{note}\n");
        if row % 10 < 3 {
            text += &format!("{row},{note} thanks\n");
        }
    }
    let truth = 2.0 * 1_800.0 / 7_800.0;
    let scratch = Scratch::with([("data.csv", text)]);
    for threads in ["1", "2"] {
        let json = scratch.run(&["profile", "data.csv", "--json", "--threads", threads]).json();
        let found = &find(&json, "note")["near_duplicates"];
        assert!(number(&found["lower"]) < truth && truth < number(&found["upper"]), "{found} {truth}");
        assert!(number(&found["upper"]) - number(&found["lower"]) < 0.5, "{found}");
        assert!(find(&json, "id")["near_duplicates"].is_null());
        assert_eq!(find(&json, "note")["documents"], 7_800);
    }
}

#[test]
fn two_tables_say_which_columns_join() {
    let mut orders = String::from("order,customer,quantity\n");
    (0..9_000).for_each(|row| orders += &format!("{row},C{},{}\n", row * 7 % 4_000, row % 5));
    let mut customers = String::from("id,name\n");
    (0..5_000).for_each(|row| customers += &format!("C{row},name {}\n", row % 90));
    let scratch =
        Scratch::with([("orders.csv", &orders), ("customers.csv", &customers), ("more.csv", &orders)]);
    let json = scratch.run(&["profile", "orders.csv", "customers.csv", "--json"]).json();
    assert_eq!((json["rows"].as_u64(), json["files"].as_array().map(Vec::len)), (Some(14_000), Some(2)));
    assert_eq!(json["files"][1]["name"], "customers.csv");
    let joins = json["joins"].as_array().unwrap();
    assert_eq!(joins.len(), 1, "{joins:?}");
    let join = &joins[0];
    assert_eq!((&join["left"]["column"], &join["right"]["column"]), (&json!("customer"), &json!("id")));
    assert!(covers(&join["left_in_right"], 1.0), "{join}");
    // The interval is at 95 %. It is widened so that it fails once in a million.
    let (value, upper) = (number(&join["right_in_left"]["value"]), number(&join["right_in_left"]["upper"]));
    assert!((value - 0.8).abs() < 3.0 * (upper - value).max(0.01), "{join}");
    assert!(
        scratch.run(&["profile", "orders.csv", "customers.csv"]).ok().contains("Columns that could join")
    );

    // Files with the same fields are one table by default.
    let one = scratch.run(&["profile", "orders.csv", "more.csv", "--json"]).json();
    assert_eq!(
        (one["rows"].as_u64(), one["files"].is_null(), find(&one, "order")["key"].as_bool()),
        (Some(18_000), true, Some(false))
    );
    let two = scratch.run(&["profile", "orders.csv", "more.csv", "--separate", "--json"]).json();
    assert_eq!(two["files"][0]["rows"], 9_000);
    assert!(
        two["joins"]
            .as_array()
            .unwrap()
            .iter()
            .any(|join| join["left"]["column"] == "order" && join["right"]["column"] == "order")
    );
}

#[test]
fn what_is_wrong_is_named_before_anything_is_written() {
    let scratch = Scratch::with([("data.csv", "a,b\n1,2\n3\n"), ("good.csv", "a\n1\n")]);
    scratch.run(&["profile", "no-such.csv"]).fails_with("no-such.csv: no such file");
    scratch.run(&["profile", "data.csv", "--json"]).fails_with("data.csv:3: expected 2 fields, found 1");
    scratch.run(&["profile", "good.csv", "--words", "2"]).fails_with("whole values");
    scratch.run(&["profile", "good.csv", "--memory", "1M"]).fails_with("--memory");
    scratch.run(&["profile", "good.csv", "--memory", "much"]).fails_with("expected a size");
    scratch.run(&["profile", "good.csv", "--json", "--html", "x.html"]).fails_with("cannot be used with");
    scratch.run(&["profile", "good.csv", "--html", "good.csv"]).fails_with("is read, and would be replaced");
    scratch.run(&["profile", "good.csv", "--html", "no/folder/x.html"]).fails_with("no/folder/x.html");
    scratch.run(&["profile", "data.csv", "--html", "x.html"]).fails_with("data.csv:3");
    assert_eq!(scratch.names(), ["data.csv", "good.csv"]);
    let skipped = scratch.run(&["profile", "data.csv", "--skip-bad", "--json"]).json();
    assert_eq!((skipped["rows"].as_u64(), skipped["bad"].as_u64()), (Some(1), Some(1)));
}

/// Every line fits, there are no colours, and inexact values have ±.
#[test]
fn the_table_fits_lines_of_40_and_of_200_characters() {
    let random = &mut generator("profile table");
    let mut text = csv(&Table::random(9_000, random));
    text = text.replacen("key", "a name that is much longer than the others and 文字 in it", 1);
    let scratch = Scratch::with([("data.csv", text)]);
    for columns in ["40", "63", "64", "80", "120", "200"] {
        let mut command = scratch.command(&["profile", "data.csv"]);
        let ran = crate::support::Ran::from(command.env("COLUMNS", columns).output().unwrap());
        let width = columns.parse().unwrap();
        for line in ran.ok().lines() {
            assert!(unicode_width(line) <= width, "{columns}: {line}");
        }
        assert!(
            !ran.out.contains('\u{1b}') && ran.out.contains("integer") && ran.out.contains('±'),
            "{}",
            ran.out
        );
    }
}

/// Returns the width of a line. Only ideographs take two columns in these tests.
fn unicode_width(line: &str) -> usize {
    line.chars().map(|c| if ('\u{4E00}'..'\u{A000}').contains(&c) { 2 } else { 1 }).sum()
}

#[cfg(target_os = "linux")]
#[test]
fn five_hundred_columns_stay_within_the_memory_however_many_rows() {
    let random = &mut generator("profile memory");
    let header = (0..500).map(|at| format!("column{at}")).collect::<Vec<_>>().join(",") + "\n";
    let mut rows = |count: usize| {
        let mut text = header.clone();
        for _ in 0..count {
            let fields: Vec<String> =
                (0..500).map(|at| format!("{:x}", random.bits() >> (at % 50))).collect();
            text += &(fields.join(",") + "\n");
        }
        text
    };
    let scratch = Scratch::with([("short.csv", rows(600)), ("long.csv", rows(6_000))]);
    let run =
        |file| scratch.run_with_peak(&["profile", file, "--json", "--memory", "64M", "--threads", "2"]).1;
    let (short, long) = (run("short.csv"), run("long.csv"));
    assert!(long < 64 << 10, "{long} KiB");
    // Ten times the rows. The schedule of the threads changes the memory by up to an eighth.
    assert!(4 * long < 5 * short, "{short} KiB, then {long}");
}

#[test]
fn rows_that_a_condition_leaves_out_are_in_no_figure() {
    let scratch = Scratch::with([("t.csv", "a,b\n1,0\n1,0\n2,1\nx,1\n,1\n")]);
    let json = scratch.run(&["profile", "t.csv", "--where", "b = 1", "--json"]).json();
    assert_eq!((&json["rows"], &json["left_out"]), (&json!(3), &json!(2)));
    let a = find(&json, "a");
    assert_eq!((&a["empty"], &a["values"], &a["distinct"]["value"]), (&json!(1), &json!(2), &json!(2.0)));
    assert_eq!(find(&json, "b")["empty"], 0);
    // Rows are numbered as in the file.
    assert_eq!(a["changes"][0]["row"], 4);
    let none = scratch.run(&["profile", "t.csv", "--where", "b = 5", "--json"]).json();
    assert_eq!((&none["rows"], &none["left_out"]), (&json!(0), &json!(5)));
    let whole = scratch.run(&["profile", "t.csv", "--json"]).json();
    assert_eq!((&whole["rows"], &whole["left_out"]), (&json!(5), &json!(0)));
}

#[test]
fn quantiles_of_few_different_values_are_exact() {
    let scratch = Scratch::with([("t.csv", "v\n3\n1\n2\n2.5\n2.5\n")]);
    let json = scratch.run(&["profile", "t.csv", "--json"]).json();
    let quantiles = &find(&json, "v")["quantiles"];
    for (name, truth) in [("p01", 1.0), ("p25", 2.0), ("p50", 2.5), ("p75", 2.5), ("p99", 3.0)] {
        let found = &quantiles[name];
        assert_eq!(
            (&found["value"], &found["lower"], &found["upper"]),
            (&json!(truth), &json!(truth), &json!(truth)),
            "{name}"
        );
    }
}

#[test]
fn files_of_two_formats_with_the_same_names_have_the_same_header() {
    let scratch = Scratch::with([("a.csv", "n,m\n1,2\n"), ("b.tsv", "n\tm\n3\t4\n")]);
    let run = scratch.run(&["profile", "a.csv", "b.tsv"]);
    assert!(run.ok().contains("2 rows") && run.err.is_empty(), "{run:?}");
}
