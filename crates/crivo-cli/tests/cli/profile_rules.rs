//! Rules for tables, compared with an exact model.

use serde_json::Value;

use crate::support::{Ran, Random, Scratch};

fn parsed(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap()
}

const RULES: &str = r#"
[rows]
min = 2

[columns.id]
type = "integer"
unique = true
not_empty = true

[columns.price]
type = "float"
min = 0
max = 100
max_empty = 0.2

[columns.state]
in = ["new", "paid"]
"#;

#[test]
fn each_broken_rule_is_named_with_its_first_row() {
    let good = "id,price,state\n1,5,new\n2,7.5,paid\n3,99,new\n";
    let bad = "id,price,state\n1,5,new\n2,-1,paid\n2,x,gone\n,101,lost\n5,,new\n6,,new\n";
    let scratch = Scratch::with([
        ("good.csv", good),
        ("bad.csv", bad),
        ("rules.toml", RULES),
        ("short.csv", "id,price,state\n1,2,new\n"),
    ]);
    let kept = scratch.run(&["profile", "good.csv", "--expect", "rules.toml", "--json"]);
    assert_eq!((kept.code, &kept.json()["broken"]), (Some(0), &Value::Array(vec![])));
    assert!(
        scratch.run(&["profile", "good.csv", "--expect", "rules.toml"]).ok().contains("keeps to all rules")
    );
    let broken = scratch.run(&["profile", "bad.csv", "--expect", "rules.toml", "--json"]);
    assert_eq!(broken.code, Some(1), "{broken:?}");
    let json = parsed(&broken);
    let mut found: Vec<(&str, &str, Option<u64>)> = json["broken"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| (rule["column"].as_str().unwrap(), rule["rule"].as_str().unwrap(), rule["row"].as_u64()))
        .collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ("id", "not_empty", Some(4)),
            ("id", "unique", Some(3)),
            ("price", "max", Some(4)),
            ("price", "max_empty", None),
            ("price", "min", Some(2)),
            ("price", "type", Some(3)),
            ("state", "in", Some(3)),
        ]
    );
    let outside = json["broken"].as_array().unwrap().iter().find(|rule| rule["rule"] == "in").unwrap();
    assert_eq!(outside["found"], "gone");
    let text = scratch.run(&["profile", "bad.csv", "--expect", "rules.toml"]);
    assert!(text.out.contains("row 3") && text.out.contains("breaks 7 rules"), "{text:?}");
    let short = parsed(&scratch.run(&["profile", "short.csv", "--expect", "rules.toml", "--json"]));
    assert_eq!((&short["broken"][0]["rule"], &short["broken"][0]["row"]), (&"rows.min".into(), &Value::Null));
}

#[test]
fn first_rows_are_those_of_a_model_whatever_the_threads() {
    let mut random = Random::new(3);
    let rows: Vec<(u64, i64)> =
        (0..60_000).map(|_| (random.below(1 << 40), random.below(2_000_000) as i64 - 5)).collect();
    let text: String = rows.iter().map(|(id, number)| format!("{id},{number}\n")).collect();
    let mut seen = std::collections::HashSet::new();
    let mut with_twin = rows.clone();
    with_twin[41_000].0 = with_twin[12].0;
    let twin: String = with_twin.iter().map(|(id, number)| format!("{id},{number}\n")).collect();
    let rules = "[columns.id]\nunique = true\n[columns.n]\nmin = 0\n";
    let scratch = Scratch::with([
        ("t.csv", format!("id,n\n{text}")),
        ("twin.csv", format!("id,n\n{twin}")),
        ("r.toml", rules.into()),
    ]);
    let first_below = rows.iter().position(|(_, number)| *number < 0).map(|at| at as u64 + 1);
    let first_again = with_twin.iter().position(|(id, _)| !seen.insert(*id)).map(|at| at as u64 + 1);
    assert_eq!(first_again, Some(41_001));
    for threads in ["1", "3"] {
        let args = ["--expect", "r.toml", "--json", "--threads", threads];
        let row_of = |file: &str, rule: &str| {
            let json = parsed(&scratch.run(&[&["profile", file], &args[..]].concat()));
            let broken = json["broken"].as_array().unwrap().clone();
            broken.iter().find(|broken| broken["rule"] == rule).and_then(|broken| broken["row"].as_u64())
        };
        assert_eq!((row_of("t.csv", "min"), row_of("t.csv", "unique")), (first_below, None));
        assert_eq!(row_of("twin.csv", "unique"), first_again);
    }
}

#[test]
fn a_table_keeps_to_the_rules_that_it_made() {
    let mut random = Random::new(8);
    let mut text = String::from("id,when,n,x,kind,gap,none\n");
    for row in 0..5_000_u64 {
        let (n, kind) = (random.below(100) as i64 - 50, random.below(4));
        let gap = if random.below(3) == 0 { "" } else { "yes" };
        text.push_str(&format!(
            "{row},2024-0{}-11,{n},{}.5,kind {kind},{gap},\n",
            1 + row % 9,
            random.below(9)
        ));
    }
    let scratch = Scratch::with([("t.csv", &text)]);
    scratch.run(&["profile", "t.csv", "--write-rules", "rules.toml"]).ok();
    let rules = String::from_utf8(scratch.read("rules.toml")).unwrap();
    for part in ["[columns.id]", "unique = true", "\"kind 3\"", "type = \"date\"", "max_empty", "min = -50\n"]
    {
        assert!(rules.contains(part), "{part}: {rules}");
    }
    let kept = scratch.run(&["profile", "t.csv", "--expect", "rules.toml", "--json"]);
    assert_eq!(kept.code, Some(0), "{kept:?}");
    scratch.write("more.csv", text.replace("kind 3", "kind 9"));
    let broken = parsed(&scratch.run(&["profile", "more.csv", "--expect", "rules.toml", "--json"]));
    assert_eq!(
        (&broken["broken"][0]["column"], &broken["broken"][0]["rule"]),
        (&"kind".into(), &"in".into())
    );
}

#[test]
fn rules_with_errors_are_refused_with_the_line() {
    let scratch = Scratch::with([
        ("t.csv", "id,price\n1,2\n"),
        ("unknown.toml", "[columns.prise]\nmin = 0\n"),
        ("syntax.toml", "[columns.id]\nunique = true\nmin = \n"),
        ("misspelt.toml", "[columns.id]\n\nunqiue = true\n"),
        ("type.toml", "[columns.id]\ntype = \"number\"\n"),
        ("share.toml", "[columns.id]\nmax_empty = 3\n"),
    ]);
    let expect = |rules: &str| scratch.run(&["profile", "t.csv", "--expect", rules]);
    expect("unknown.toml")
        .fails_with("unknown.toml: there is no column 'prise' in t.csv; did you mean 'price'?");
    expect("syntax.toml").fails_with("syntax.toml: line 3");
    expect("misspelt.toml").fails_with("misspelt.toml: line 3");
    expect("type.toml").fails_with("type.toml: line 2");
    expect("share.toml").fails_with("max_empty of 'id'");
    expect("missing.toml").fails_with("missing.toml");
    scratch.run(&["profile", "t.csv", "-o", "t.crivo"]).ok();
    scratch.run(&["profile", "t.crivo", "--expect", "share.toml"]).fails_with("max_empty");
    scratch.write("ok.toml", "[columns.id]\nunique = true\n");
    scratch.run(&["profile", "t.crivo", "--expect", "ok.toml"]).fails_with("row by row");
}
