//! Profiles that are saved, merged, shown again and compared.

use serde_json::Value;

use crate::support::{Ran, Random, Scratch};

/// Orders of a day: amounts around a mean, with some cities and some gaps.
fn orders(rows: u64, seed: u64, mean: f64, cities: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = String::from("id,amount,city,note\n");
    for row in 0..rows {
        // The sum of twelve is nearly normal, with a standard deviation of 2.
        let noise: f64 = (0..12).map(|_| random.below(2_000_000) as f64 / 1e6 - 1.0).sum();
        let city = random.below(cities);
        let note = if random.below(10) == 0 { "" } else { "paid" };
        text.push_str(&format!("{},{:.3},city {city},{note}\n", seed * 1_000_000 + row, mean + noise));
    }
    text
}

/// Returns the JSON of a command with any exit code.
fn parsed(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap()
}

/// Returns the column of that name.
fn column<'a>(json: &'a Value, name: &str) -> &'a Value {
    json["columns"].as_array().unwrap().iter().find(|column| column["name"] == name).unwrap()
}

#[test]
fn a_saved_profile_is_shown_like_its_file() {
    let scratch = Scratch::with([("day.csv", orders(3_000, 1, 100.0, 5))]);
    let fresh = scratch.run(&["profile", "day.csv", "-o", "day.crivo", "--json"]).json();
    let mut saved = scratch.run(&["profile", "day.crivo", "--json"]).json();
    assert_eq!((&saved["name"], &saved["paths"][0]), (&"day.crivo".into(), &"day.crivo".into()));
    (saved["name"], saved["paths"]) = (fresh["name"].clone(), fresh["paths"].clone());
    assert_eq!(saved, fresh);
    let text = scratch.run(&["profile", "day.crivo"]);
    assert!(text.ok().contains("amount") && text.ok().contains("3000 rows"), "{text:?}");
    scratch.run(&["profile", "day.crivo", "--html", "day.html"]).ok();
    assert!(String::from_utf8(scratch.read("day.html")).unwrap().contains("amount"));
    let shown = scratch.run(&["show", "day.crivo", "--json"]).json();
    assert_eq!((&shown["kind"], &shown["items"]["value"]), (&"TableProfile".into(), &3000.0.into()));
    assert_eq!(shown["parameters"]["columns"], 4);
    assert!(scratch.run(&["show", "day.crivo"]).ok().contains("crivo profile -o"));
}

#[test]
fn merged_profiles_are_the_profile_of_both() {
    let (one, two) = (orders(2_000, 1, 100.0, 5), orders(3_000, 2, 110.0, 8));
    let both = one.clone() + two.split_once('\n').unwrap().1;
    let scratch = Scratch::with([("1.csv", one), ("2.csv", two), ("both.csv", both)]);
    for day in ["1", "2"] {
        scratch.run(&["profile", &format!("{day}.csv"), "-o", &format!("{day}.crivo")]).ok();
    }
    scratch.run(&["merge", "1.crivo", "2.crivo", "-o", "week.crivo"]).ok();
    let merged = scratch.run(&["profile", "week.crivo", "--json"]).json();
    let whole = scratch.run(&["profile", "both.csv", "--json"]).json();
    assert_eq!(merged["rows"], 5000);
    for (mine, theirs) in
        merged["columns"].as_array().unwrap().iter().zip(whole["columns"].as_array().unwrap())
    {
        for field in [
            "name",
            "type",
            "empty",
            "distinct",
            "key",
            "min",
            "max",
            "sum",
            "mean",
            "length",
            "kinds",
            "growth",
            "standard_deviation",
            "skew",
            "dates",
        ] {
            assert_eq!(mine[field], theirs[field], "{} of {}", field, mine["name"]);
        }
        for (one, other) in mine["top"].as_array().unwrap().iter().zip(theirs["top"].as_array().unwrap()) {
            // Both bounds are certain, so they overlap.
            let bound = |count: &Value, name: &str| count["count"][name].as_f64().unwrap();
            assert!(bound(one, "lower") <= bound(other, "upper"), "{one} {other}");
        }
    }
}

#[test]
fn drift_is_found_and_named_and_nothing_else_is() {
    let scratch = Scratch::with([
        ("1.csv", orders(20_000, 1, 100.0, 5)),
        ("2.csv", orders(20_000, 2, 100.0, 5)),
        ("3.csv", orders(20_000, 3, 100.4, 6)),
        ("4.csv", orders(5, 4, 100.0, 5).replace("note", "remark")),
    ]);
    scratch.run(&["profile", "1.csv", "-o", "1.crivo"]).ok();
    let against =
        |file: &str, more: &[&str]| scratch.run(&[&["profile", file, "--against", "1.crivo"], more].concat());
    let same = against("2.csv", &["--ignore", "id", "--json"]);
    assert_eq!(same.code, Some(0), "{same:?}");
    assert_eq!(same.json()["drift"], false);
    let text = against("2.csv", &["--ignore", "id"]);
    assert!(text.ok().contains("nothing changed by more than chance"), "{text:?}");

    let changed = against("3.csv", &["--ignore", "id", "--json", "-o", "3.crivo"]);
    assert_eq!(changed.code, Some(1), "{changed:?}");
    let json = parsed(&changed);
    assert_eq!(
        (&json["drift"], &json["added"], &json["removed"]),
        (&true.into(), &Value::Array(vec![]), &Value::Array(vec![]))
    );
    let whats = |name: &str| -> Vec<String> {
        let changes = column(&json, name)["changes"].as_array().unwrap().clone();
        changes.iter().map(|change| change["what"].as_str().unwrap().to_owned()).collect()
    };
    assert!(whats("amount").contains(&"distribution".to_owned()), "{json}");
    assert!(whats("city").contains(&"new value".to_owned()), "{json}");
    assert!(whats("note").is_empty() && column(&json, "note")["drift"] == false, "{json}");
    let distribution = &column(&json, "amount")["changes"][0];
    for field in ["before", "after", "effect", "p"] {
        assert!(distribution[field].is_number(), "{distribution}");
    }
    // A saved profile is compared like its file.
    let saved = scratch.run(&["profile", "3.crivo", "--against", "1.crivo", "--ignore", "id", "--json"]);
    assert_eq!(parsed(&saved), json);
    let text = against("3.csv", &["--ignore", "id"]);
    assert!(text.out.contains("new value 'city 5'") && text.out.contains("2 columns changed"), "{text:?}");
    assert_eq!(against("3.csv", &["--ignore", "id", "--min-effect", "0.9"]).code, Some(0));
    assert_eq!(against("3.csv", &["--ignore", "id", "--html", "drift.html"]).code, Some(1));
    let page = String::from_utf8(scratch.read("drift.html")).unwrap();
    assert!(page.contains("amount") && page.contains("before") && !page.contains("https://"), "{page}");
    let csv = against("3.csv", &["--ignore", "id", "--output", "csv"]);
    assert!(csv.out.starts_with("column,what,value,before,after,effect,p\n"), "{csv:?}");

    let other = parsed(&against("4.csv", &["--ignore", "id,amount", "--json"]));
    assert_eq!((&other["added"][0], &other["removed"][0]), (&"remark".into(), &"note".into()));
}

#[test]
fn what_cannot_be_compared_or_saved_is_refused() {
    let scratch = Scratch::with([("a.csv", "id,x\n1,2\n"), ("b.csv", "y\n3\n"), ("empty.csv", "id,x\n")]);
    scratch.run(&["profile", "a.csv", "-o", "a.crivo"]).ok();
    scratch.run(&["distinct", "a.csv", "-f", "x", "-o", "x.crivo"]).ok();
    scratch.run(&["profile", "a.csv", "--against", "x.crivo"]).fails_with("no profile of a table");
    scratch.run(&["profile", "x.crivo"]).fails_with("no profile of a table");
    scratch.run(&["profile", "a.csv", "--against", "missing.crivo"]).fails_with("missing.crivo");
    scratch
        .run(&["profile", "a.csv", "b.csv", "--against", "a.crivo"])
        .fails_with("--against: compares one table");
    scratch
        .run(&["profile", "a.csv", "b.csv", "-o", "both.crivo"])
        .fails_with("a saved profile is of one table");
    scratch
        .run(&["profile", "a.csv", "--against", "a.crivo", "--ignore", "idd"])
        .fails_with("--ignore idd: neither table has such a column; did you mean 'id'?");
    scratch.run(&["profile", "a.csv", "--ignore", "id"]).fails_with("--against");
    let mut bytes = scratch.read("a.crivo");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    scratch.write("damaged.crivo", &bytes);
    scratch.run(&["profile", "damaged.crivo"]).fails_with("damaged.crivo");
    let empty = scratch.run(&["profile", "empty.csv", "--against", "a.crivo", "--json"]);
    assert_eq!((empty.code, &parsed(&empty)["drift"]), (Some(0), &false.into()));
    scratch.run(&["merge", "a.crivo", "x.crivo", "-o", "c.crivo"]).fails_with("x.crivo");
}
