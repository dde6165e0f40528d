//! `crivo profile` claims only what it knows: it lists no values by chance, names no key with
//! duplicates, and prints no "none" if nothing was compared.

use serde_json::{Value, json};

use crate::support::{Ran, Scratch};

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// Returns a table of one column.
fn table(name: &str, values: impl IntoIterator<Item = String>) -> String {
    values.into_iter().fold(format!("{name}\n"), |text, value| text + &value + "\n")
}

fn column(scratch: &Scratch, file: &str, options: &[&str]) -> Value {
    scratch.run(&[&["profile", file, "--json"], options].concat()).json()["columns"][0].clone()
}

#[test]
fn an_empty_file_among_others_changes_nothing() {
    let scratch = Scratch::with([("a.csv", "x,y\n1,2\n"), ("b.csv", "x,y\n3,4\n"), ("empty.csv", "")]);
    let whole = scratch.run(&["profile", "a.csv", "b.csv", "--json"]).json();
    for files in
        [["a.csv", "b.csv", "empty.csv"], ["empty.csv", "a.csv", "b.csv"], ["a.csv", "empty.csv", "b.csv"]]
    {
        let found = scratch.run(&[&["profile", "--json"], files.as_slice()].concat()).json();
        assert_eq!((&found["columns"], &found["rows"]), (&whole["columns"], &json!(2)), "{files:?}");
        assert_eq!(found["paths"], json!(files));
    }
    // Two tables stay two. A pipe may contain anything, so it is a table of its own.
    scratch.write("other.csv", "z\n5\n");
    let two = scratch.run(&["profile", "empty.csv", "a.csv", "other.csv", "--json"]).json();
    assert_eq!(two["files"].as_array().map(Vec::len), Some(2));
    let piped = scratch.feed(&["profile", "empty.csv", "-", "--json"], "1\n2\n").json();
    assert_eq!(piped["files"].as_array().map(Vec::len), Some(2));
    let separate = scratch.run(&["profile", "a.csv", "empty.csv", "--separate", "--json"]).json();
    assert_eq!(separate["files"][1]["columns"], json!([]));
}

#[test]
fn text_of_two_bytes_a_unit_is_refused() {
    let bytes: Vec<u8> = "\u{FEFF}a,b\n1,2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let scratch = Scratch::with([("wide.csv", bytes)]);
    for command in ["profile", "distinct", "top"] {
        let says = "wide.csv: is UTF-16 text: convert it first, iconv -f UTF-16 -t UTF-8 wide.csv";
        scratch.run(&[command, "wide.csv", "-f", "1"]).fails_with(says);
    }
    scratch.write("nothing.parquet", "");
    scratch.run(&["profile", "nothing.parquet"]).fails_with("nothing.parquet: not a Parquet file");
}

/// Values that occur once are not listed, although some have a counter by chance. A value among
/// them that is frequent is listed.
#[test]
fn only_values_that_stand_out_are_listed() {
    let scratch = Scratch::with([
        ("ids.csv", table("id", (0..60_000).map(|i| format!("{i}")))),
        (
            "some.csv",
            table("id", (0..60_000).map(|i| if i % 10 == 0 { "often".into() } else { format!("{i}") })),
        ),
        ("few.csv", table("id", (0..4_000).map(|i| format!("v{i}")))),
    ]);
    for threads in ["1", "2", "4"] {
        let ids = column(&scratch, "ids.csv", &["--threads", threads]);
        assert_eq!(ids["top"], json!([]), "{threads} threads");
        assert!(number(&ids["others_at_most"]) >= 1.0);
        let some = column(&scratch, "some.csv", &["--threads", threads]);
        let top = some["top"].as_array().unwrap();
        assert_eq!((top.len(), top[0]["key"].as_str()), (1, Some("often")), "{top:?}");
        let count = &top[0]["count"];
        assert!(number(&count["lower"]) <= 6_000.0 && 6_000.0 <= number(&count["upper"]), "{count}");
        assert!(number(&some["others_at_most"]) < number(&count["lower"]));
        // There are as many different values as rows, counted exactly. So no value can have
        // occurred twice.
        let few = column(&scratch, "few.csv", &["--threads", threads]);
        assert_eq!((&few["others_at_most"], &few["key"]), (&json!(1), &json!(true)));
        assert!(few["top"].as_array().unwrap().iter().all(|one| number(&one["count"]["upper"]) <= 1.0));
    }
    let shown = scratch.run(&["profile", "ids.csv"]);
    assert!(!shown.ok().contains("± 0.1 %,"), "{}", shown.out);
}

/// One value in two hundred occurs twice. A sample of a thousand values has some of them, except
/// with a probability of e⁻⁵. The hashes are the same in every run.
#[test]
fn a_column_with_twins_is_no_key_and_one_without_may_be() {
    let scratch = Scratch::with([
        ("twins.csv", table("id", (0..100_000).map(|i| format!("{}", if i < 500 { i + 50_000 } else { i })))),
        ("key.csv", table("id", (0..100_000).map(|i| format!("{i}")))),
        ("few.csv", table("id", (0..100).map(|i| format!("{i}")))),
    ]);
    for threads in ["1", "3"] {
        assert_eq!(column(&scratch, "twins.csv", &["--threads", threads])["key"], false, "{threads} threads");
        let key = column(&scratch, "key.csv", &["--threads", threads]);
        assert_eq!(key["key"], true);
        assert!(number(&key["distinct"]["upper"]) >= 100_000.0, "{}", key["distinct"]);
    }
    // An uncertain key is marked as uncertain.
    let words = |file: &str| scratch.run(&["profile", file]).ok().to_owned();
    assert!(
        words("key.csv").contains(", key?") && words("few.csv").contains("100, key"),
        "{}",
        words("key.csv")
    );
    assert!(!words("few.csv").contains("key?"));
}

/// Other seeds give other samples. A key is never denied because of its sample.
#[test]
fn keys_stay_keys_whatever_the_seed() {
    let scratch = Scratch::with([("key.csv", table("id", (0..20_000).map(|i| format!("k{i}"))))]);
    for seed in 0..40 {
        let found = column(&scratch, "key.csv", &["--seed", &seed.to_string(), "--threads", "1"]);
        assert_eq!(found["key"], true, "seed {seed}: {}", found["distinct"]);
        assert!(number(&found["distinct"]["upper"]) >= 20_000.0, "seed {seed}");
    }
}

#[test]
fn numbers_that_are_not_finite_are_counted_apart() {
    let values = (0..40).map(|i| i.to_string()).chain((0..60).map(|_| "inf".into())).chain(["1e400".into()]);
    let scratch =
        Scratch::with([("v.csv", table("v", values)), ("w.csv", table("w", ["1".into(), "2".into()]))]);
    let found = column(&scratch, "v.csv", &[]);
    assert_eq!(
        (&found["not_finite"], &found["max"], &found["type"]),
        (&json!(61), &json!(39.0), &json!("float"))
    );
    assert_eq!(found["quantiles"]["p50"]["value"], 19.0);
    assert!(scratch.run(&["profile", "v.csv"]).ok().contains("v: 61 numbers are infinite, NaN or too large"));
    assert_eq!(column(&scratch, "w.csv", &[])["not_finite"], 0);
}

#[test]
fn pairs_of_columns_that_cannot_be_compared_are_counted() {
    let scratch = Scratch::with([
        ("small.csv", table("user", (0..20).map(|i| format!("{}", i * 9_000 + 17)))),
        ("large.csv", table("account", (0..300_000).map(|i| format!("{i}")))),
        ("beyond.csv", table("user", (0..20).map(|i| format!("{}", i + 900_000)))),
        ("names.csv", table("name", (0..20).map(|i| format!("n{i}")))),
    ]);
    let json = scratch.run(&["profile", "small.csv", "large.csv", "--json"]).json();
    assert_eq!((&json["joins"], &json["undecided"]), (&json!([]), &json!(1)));
    let pair = &json["undecided_pairs"][0];
    assert_eq!((&pair["left"]["column"], &pair["right"]["column"]), (&json!("user"), &json!("account")));
    let shown = scratch.run(&["profile", "small.csv", "large.csv"]);
    assert!(
        shown.ok().contains("1 pair of columns could join or not") && !shown.out.contains("none"),
        "{}",
        shown.out
    );
    // If the least and the greatest value decide, the pair is not undecided.
    for other in ["beyond.csv", "names.csv"] {
        let json = scratch.run(&["profile", other, "large.csv", "--json"]).json();
        assert_eq!((&json["joins"], &json["undecided"]), (&json!([]), &json!(0)), "{other}");
        assert!(scratch.run(&["profile", other, "large.csv"]).ok().contains("none"));
    }
}

#[test]
fn five_thousand_columns_are_read_without_options() {
    let names = (0..5_000).map(|at| format!("c{at}")).collect::<Vec<_>>().join(",");
    let row = (0..5_000).map(|at| at.to_string()).collect::<Vec<_>>().join(",");
    let scratch = Scratch::with([("wide.csv", format!("{names}\n{row}\n"))]);
    let json = scratch.run(&["profile", "wide.csv", "--json"]).json();
    assert_eq!(json["columns"].as_array().map(Vec::len), Some(5_000));
    scratch.run(&["profile", "wide.csv", "--memory", "53M"]).fails_with("5000 columns take at least");
}

#[test]
fn a_delimiter_that_was_not_meant_is_asked_about() {
    let scratch = Scratch::with([
        ("semicolons.csv", "a;b\n1;2\n3;4\n"),
        ("tabs.csv", "a\tb\n1\t2\n"),
        ("bars.tsv", "a|b\n1|2\n"),
        ("text.csv", "note\nso; it is\nnot; that\n"),
        ("one.csv", "a\n1\n2\n"),
    ]);
    let asked = |args: &[&str]| {
        let ran = scratch.run(&[&["profile"], args].concat());
        ran.ok();
        ran.err
    };
    assert!(
        asked(&["semicolons.csv"])
            .contains("semicolons.csv: one column, and ';' in every row: --delimiter ';'?")
    );
    assert!(asked(&["semicolons.csv", "--json"]).contains("--delimiter ';'?"));
    assert!(asked(&["semicolons.csv", "--no-header"]).contains("--delimiter ';'?"));
    assert!(
        asked(&["tabs.csv"]).contains("--delimiter '\\t'?")
            && asked(&["bars.tsv"]).contains("--delimiter '|'?")
    );
    for args in [&["text.csv"][..], &["one.csv"], &["semicolons.csv", "--delimiter", ";"]] {
        assert_eq!(asked(args), "", "{args:?}");
    }
}

#[test]
fn a_long_text_that_is_always_the_same_is_the_majority() {
    let long = "x".repeat(300);
    let scratch = Scratch::with([
        ("same.csv", table("t", (0..100).map(|_| long.clone()))),
        ("one.csv", table("t", [long.clone(), "short".into()])),
    ]);
    let found = column(&scratch, "same.csv", &[]);
    let first = &found["top"][0];
    assert_eq!((first["key"].as_str(), number(&first["count"]["lower"])), (Some(&long[..256]), 100.0));
    assert_eq!((&found["majority"], number(&found["distinct"]["value"])), (&first["key"], 1.0));
    assert!(scratch.run(&["profile", "one.csv"]).ok().contains("t: 1 value is too long"));
}

/// Names that begin alike can be told apart at every width, and control characters in them do not
/// reach the terminal.
#[test]
fn long_names_are_cut_in_the_middle_and_only_where_there_is_no_room() {
    let start = "a_rather_long_name_of_a_column_that_begins_like_others_";
    let scratch = Scratch::with([("t.csv", format!("{start}street,{start}city,pho\u{202e}gpj\nx,y,z\n"))]);
    let at = |columns: &str| {
        let mut command = scratch.command(&["profile", "t.csv"]);
        Ran::from(command.env("COLUMNS", columns).output().unwrap()).ok().to_owned()
    };
    for columns in ["40", "64", "80", "120", "200"] {
        let shown = at(columns);
        assert!(shown.contains("street") && shown.contains("s_city"), "{columns}: {shown}");
        assert!(shown.contains("pho\\u{202e}gpj") || columns == "64", "{columns}: {shown}");
        assert!(!shown.contains('\u{202e}'));
    }
    assert!(at("200").contains(&format!("{start}street")), "{}", at("200"));
}

#[test]
fn what_is_refused_is_not_offered() {
    let scratch = Scratch::new();
    assert!(!scratch.run(&["profile", "--help"]).ok().contains("--words"));
    assert!(scratch.run(&["profile", "--help"]).ok().contains("11M, and 25M for each thread"));
    assert!(scratch.run(&["distinct", "--help"]).ok().contains("--words"));
}
