//! `crivo joins`: finds columns of many tables that could join.

use std::collections::HashSet;

use crivo_browser_test::Browser;

use crate::support::{Random, Scratch, Values, table};

/// Customers with an id and a city, orders of some of them, and a table without joins.
fn shop() -> Scratch {
    let customers: String = (0..3_000).map(|id| format!("{id},C{}\n", id % 40)).collect();
    let orders: String = (0..8_000)
        .map(|row| format!("{{\"order\":{},\"customer\":\"{}\"}}\n", 1_000_000 + row, row % 1_500))
        .collect();
    let noise: String = (0..500).map(|row| format!("x{row},{}.5\n", row * 7)).collect();
    Scratch::with([
        ("customers.csv", "id,city\n".to_owned() + &customers),
        ("orders.jsonl", orders),
        ("noise.csv", "word,measure\n".to_owned() + &noise),
    ])
}

#[test]
fn foreign_keys_are_found_with_their_key() {
    let scratch = shop();
    let json = scratch.run(&["joins", "*.csv", "orders.jsonl", "--json"]).json();
    assert_eq!((&json["tables"], &json["columns"]), (&3.into(), &6.into()));
    assert_eq!((&json["found"], &json["undecided"]), (&1.into(), &0.into()));
    let join = &json["joins"][0];
    assert_eq!(join["left"], serde_json::json!({"table": "customers.csv", "column": "id"}));
    assert_eq!(join["right"], serde_json::json!({"table": "orders.jsonl", "column": "customer"}));
    assert_eq!(join["key"], "left");
    let covers = |name: &str, truth: f64| {
        join[name]["lower"].as_f64().unwrap() <= truth && truth <= join[name]["upper"].as_f64().unwrap()
    };
    assert!(
        covers("left_in_right", 0.5) && covers("right_in_left", 1.0) && covers("common", 1_500.0),
        "{join}"
    );

    let tsv = scratch.run(&["joins", "*.csv", "orders.jsonl", "--output", "tsv"]);
    let lines: Vec<&str> = tsv.ok().lines().collect();
    assert!(lines[0].starts_with("left_table\tleft_column\tright_table"), "{lines:?}");
    assert!(lines[1].starts_with("customers.csv\tid\torders.jsonl\tcustomer\t"), "{lines:?}");
    let table = scratch.run(&["joins", "*.csv", "orders.jsonl"]);
    assert!(table.ok().contains("customers.csv: id (key)  ~  orders.jsonl: customer"), "{table:?}");
}

#[test]
fn every_pair_with_the_share_is_listed_or_undecided() {
    let mut random = Random::new(23);
    let scratch = Scratch::new();
    let mut sets: Vec<(String, HashSet<u64>)> = Vec::new();
    for table in 0..12 {
        let (size, first) = (200 + random.below(1_800), random.below(3_000));
        let step = 1 + random.below(2);
        let values: Vec<u64> = (0..size).map(|row| first + row * step).collect();
        let text: String = values.iter().map(|value| format!("{value},{}\n", value % 7)).collect();
        scratch.write(&format!("t{table:02}.csv"), "number,rest\n".to_owned() + &text);
        sets.push((format!("t{table:02}.csv"), values.into_iter().collect()));
    }
    let json = scratch.run(&["joins", "t*.csv", "--json", "--hashes", "256"]).json();
    let names = |list: &str| -> HashSet<(String, String)> {
        let pairs = json[list].as_array().unwrap().iter();
        let pairs =
            pairs.filter(|pair| pair["left"]["column"] == "number" && pair["right"]["column"] == "number");
        let name = |side: &serde_json::Value| side["table"].as_str().unwrap().to_owned();
        pairs.map(|pair| (name(&pair["left"]), name(&pair["right"]))).collect()
    };
    let (listed, undecided) = (names("joins"), names("undecided_pairs"));
    for (at, (left, mine)) in sets.iter().enumerate() {
        for (right, theirs) in &sets[at + 1..] {
            let common = mine.intersection(theirs).count() as f64;
            let share = (common / mine.len() as f64).max(common / theirs.len() as f64);
            let pair = (left.clone(), right.clone());
            assert!(share < 0.5 || listed.contains(&pair) || undecided.contains(&pair), "{pair:?}: {share}");
            assert!(share > 0.3 || !listed.contains(&pair), "{pair:?}: {share}");
        }
    }
    assert!(listed.len() > 5, "{listed:?}");
}

/// A second run takes unchanged files from the cache, and finds the same.
#[test]
fn unchanged_files_are_not_read_again() {
    let scratch = shop();
    let run = |cached: u64| {
        let json = scratch.run(&["joins", "*.csv", "orders.jsonl", "--cache", "kept", "--json"]).json();
        assert_eq!(json["cached"], cached, "{json}");
        (json["joins"].clone(), json["undecided"].clone())
    };
    let first = run(0);
    assert_eq!(run(3), first);
    // A file with the same content under another name, and a changed one.
    std::fs::rename(scratch.path("noise.csv"), scratch.path("sound.csv")).unwrap();
    assert_eq!(run(3), first);
    scratch.write("sound.csv", "word\nab\ncd\n");
    assert_eq!(run(2), first);
    // Damaged cache files are not used.
    for file in std::fs::read_dir(scratch.path("kept")).unwrap() {
        let path = file.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x55;
        std::fs::write(&path, bytes).unwrap();
    }
    assert_eq!(run(0), first);
    // Other options have other cache entries.
    let other = scratch.run(&["joins", "*.csv", "orders.jsonl", "--cache", "kept", "--no-header", "--json"]);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&other.out).unwrap()["cached"], 1, "{other:?}");
}

/// A file that was unchanged for a moment is not even hashed, because its time and size identify
/// it.
#[test]
fn files_that_were_left_alone_are_known_by_their_time() {
    let scratch = shop();
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(100);
    for name in ["customers.csv", "orders.jsonl"] {
        let file = std::fs::File::options().write(true).open(scratch.path(name)).unwrap();
        file.set_modified(old).unwrap();
    }
    let run = || scratch.run(&["joins", "customers.csv", "orders.jsonl", "--cache", "kept", "--json"]).json();
    assert_eq!(run()["cached"], 0);
    let is_note = |name: &&String| name.rsplit_once('.').is_some_and(|(_, kind)| kind == "note");
    let notes = || scratch_names(&scratch, "kept").iter().filter(is_note).count();
    assert_eq!(notes(), 2);
    assert_eq!(run()["cached"], 2);
}

fn scratch_names(scratch: &Scratch, folder: &str) -> Vec<String> {
    let files = std::fs::read_dir(scratch.path(folder)).unwrap();
    files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn unreadable_tables_are_named_and_the_others_go_on() {
    let scratch = shop();
    scratch.write("broken.parquet", b"PAR1 and nothing else");
    scratch.write("damaged.jsonl", b"{\"a\": 1}\n{\"a\": \n");
    let all =
        ["joins", "customers.csv", "orders.jsonl", "broken.parquet", "damaged.jsonl", "gone-*.csv", "--json"];
    let ran = scratch.run(&all);
    assert_eq!(ran.code, Some(2));
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&json["tables"], &json["found"]), (&2.into(), &1.into()));
    let named: HashSet<&str> =
        json["unreadable"].as_array().unwrap().iter().map(|one| one["table"].as_str().unwrap()).collect();
    assert_eq!(named, HashSet::from(["broken.parquet", "damaged.jsonl", "gone-*.csv"]));
    assert!(ran.err.contains("broken.parquet") && ran.err.contains("damaged.jsonl"), "{}", ran.err);
    assert!(ran.err.contains("gone-*.csv"), "{}", ran.err);
    scratch.run(&["joins", "gone-*.csv"]).fails_with("gone-*.csv");
    scratch.run(&["joins"]).fails_with("name the files");
    scratch.run(&["joins", "customers.csv", "--min-containment", "0"]).fails_with("--min-containment");
}

#[test]
fn nothing_found_is_exit_code_1_and_saved_profiles_join_too() {
    let scratch = shop();
    let ran = scratch.run(&["joins", "customers.csv", "noise.csv"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    scratch.run(&["profile", "customers.csv", "-o", "customers.crivo", "-q"]).ok();
    let json = scratch.run(&["joins", "customers.crivo", "orders.jsonl", "--json"]).json();
    assert_eq!((&json["found"], &json["joins"][0]["left"]["table"]), (&1.into(), &"customers.crivo".into()));
}

#[test]
fn only_keys_and_a_limit_leave_pairs_out_and_say_so() {
    let scratch = Scratch::new();
    for table in ["a", "b", "c"] {
        let text: String = (0..600).map(|row| format!("{row},{}\n", row % 30 + 5)).collect();
        scratch.write(&format!("{table}.csv"), format!("id{table},kind{table}\n{text}"));
    }
    let all = scratch.run(&["joins", "*.csv", "--json"]).json();
    let keys = scratch.run(&["joins", "*.csv", "--keys", "--json"]).json();
    // All pairs of ids, of kinds, and of a kind in an id. With `--keys`, pairs without a key are
    // left out.
    assert_eq!((&all["found"], &keys["found"]), (&12.into(), &9.into()));
    assert!(keys["joins"].as_array().unwrap().iter().all(|join| !join["key"].is_null()));
    let few = scratch.run(&["joins", "*.csv", "--limit", "4", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&few.out).unwrap();
    assert_eq!((json["joins"].as_array().unwrap().len(), &json["found"]), (4, &12.into()));
    assert!(few.err.contains("--limit 12"), "{}", few.err);
}

#[test]
fn parquet_and_csv_join_by_their_values() {
    let scratch = Scratch::new();
    let keys: Values = (0..400).map(|row| format!("k{row}")).collect();
    scratch.write("keys.parquet", table("parquet", &keys));
    let text: String = (0..900).map(|row| format!("k{}\n", row % 300)).collect();
    scratch.write("uses.csv", "used\n".to_owned() + &text);
    let json = scratch.run(&["joins", "keys.parquet", "uses.csv", "--json"]).json();
    let join = &json["joins"][0];
    assert_eq!(
        (&join["right_in_left"]["value"], &join["left_in_right"]["value"]),
        (&1.0.into(), &0.75.into())
    );
    assert_eq!(join["right_in_left"]["confidence"], 1.0);
}

/// The page has the pairs of the JSON and can be searched. A node of the graph selects its table.
#[test]
fn page_shows_a_graph_that_can_be_searched() {
    let scratch = Scratch::new();
    for table in 0..8 {
        let text: String = (0..100).map(|row| format!("{}\n", table / 4 * 1_000 + row)).collect();
        scratch.write(&format!("table{table}.csv"), format!("id\n{text}"));
    }
    let json = scratch.run(&["joins", "table*.csv", "--json"]).json();
    scratch.run(&["joins", "table*.csv", "--html", "page.html"]).ok();
    let browser = Browser::start();
    browser.open(&format!("file://{}", scratch.path("page.html").display()));
    let counts = browser.run(
        "return [document.querySelectorAll('.graph .node').length, document.querySelectorAll('.graph .link').length,
            document.querySelectorAll('tbody tr').length]",
    );
    assert_eq!(counts, serde_json::json!([8, 12, json["joins"].as_array().unwrap().len()]));
    let shown = browser.run(
        "document.querySelector('.graph .node[data-name=\"table2.csv\"]').dispatchEvent(new MouseEvent('click', {bubbles: true}));
         return [[...document.querySelectorAll('tbody tr')].filter((row) => !row.hidden).length,
            document.querySelectorAll('.graph .marked').length, document.querySelectorAll('.graph .node.near').length]",
    );
    assert_eq!(shown, serde_json::json!([3, 1, 3]));
    browser.audit();
    assert_eq!(browser.foreign_requests(), Vec::<String>::new());
}
