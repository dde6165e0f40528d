//! `crivo overlap`: exact shares, whole short items, and the removed documents.

use serde_json::json;

use crate::support::Scratch;

fn scratch() -> Scratch {
    let documents = [
        ("a", "Nothing to see here but a long and harmless text about rivers and stones."),
        ("b", "Quiz! What is the name of the longest river in all of South America? The Amazon. Enough."),
        ("c", "They asked: what is the name of the longest river in Portugal, and nobody knew it."),
        ("d", "Also: Two plus two. Is four."),
    ];
    let items = [
        ("q1", "What is the name of the longest river in all of South America?"),
        ("q2", "two plus TWO"),
        ("q3", "Who wrote the book about the end of the world and of all time?"),
    ];
    let lines = |all: &[(&str, &str)], name: &str| {
        all.iter().map(|(id, text)| format!("{}\n", json!({"id": id, name: text}))).collect::<String>()
    };
    Scratch::with([("corpus.jsonl", lines(&documents, "text")), ("quiz.jsonl", lines(&items, "question"))])
}

const WITH: [&str; 6] = ["overlap", "corpus.jsonl", "--with", "quiz.jsonl", "--with-field", "question"];

fn run(scratch: &Scratch, more: &[&str]) -> crate::support::Ran {
    scratch.run(&[&WITH[..], more].concat())
}

#[test]
fn shares_and_runs_are_exact() {
    let scratch = scratch();
    let report = run(&scratch, &["--report", "r.tsv", "--share", "0.1", "--json"]).json();
    assert_eq!(report, json!({"documents": 4, "items": 3, "documents_hit": 3, "items_hit": 2, "skipped": 0}));
    // Item q1 has 13 words, so 6 runs of 8; document c has the first 9 words.
    let expected = format!("b\tq1\t1\t13\nc\tq1\t{}\t9\nd\tq2\t1\t3\n", 2.0 / 6.0);
    assert_eq!(String::from_utf8(scratch.read("r.tsv")).unwrap(), expected);
}

#[test]
fn documents_go_or_are_cut() {
    let scratch = scratch();
    run(&scratch, &["-o", "clean.jsonl", "--quiet"]).ok();
    let ids = |name: &str| -> Vec<String> {
        let text = String::from_utf8(scratch.read(name)).unwrap();
        text.lines()
            .map(|line| {
                serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_str().unwrap().into()
            })
            .collect()
    };
    assert_eq!(ids("clean.jsonl"), ["a", "c"]);
    run(&scratch, &["--cut", "words", "-o", "cut.jsonl", "--quiet"]).ok();
    let cut = String::from_utf8(scratch.read("cut.jsonl")).unwrap();
    assert!(cut.contains("\"Quiz! ? The Amazon. Enough.\""), "{cut}");
    assert_eq!(ids("cut.jsonl").len(), 4);
}

/// The words of an item stand in the page that a reader sees, not in its source.
#[test]
fn pages_go_by_what_a_reader_sees() {
    let page = "<p>Quiz: what <b>is</b> the name of the longest river in all of South&nbsp;America?</p>";
    let other = "<p>nothing</p>";
    let scratch = scratch();
    let record = |id: &str, page: &str| format!("{}\n", json!({"id": id, "text": page}));
    scratch.write("corpus.jsonl", record("a", page) + &record("b", other));
    let report = run(&scratch, &["--html", "--report", "r.tsv", "-o", "clean.jsonl", "--json"]).json();
    assert_eq!(report["documents_hit"], 1);
    assert!(scratch.read("r.tsv").starts_with(b"a\tq1\t1\t"));
    assert_eq!(String::from_utf8(scratch.read("clean.jsonl")).unwrap(), record("b", other));

    std::fs::create_dir(scratch.path("site")).unwrap();
    scratch.write("site/a.html", page);
    scratch.write("site/b.html", other);
    let args =
        ["overlap", "site", "--html", "--with", "quiz.jsonl", "--with-field", "question", "-o", "clean"];
    scratch.run(&args).ok();
    assert!(scratch.path("clean/b.html").exists() && !scratch.path("clean/a.html").exists());
}

#[test]
fn wrong_settings_are_refused() {
    let scratch = scratch();
    run(&scratch, &["--words", "0"]).fails_with("1 to 64");
    run(&scratch, &["--words", "65"]).fails_with("1 to 64");
    scratch.run(&["overlap", "corpus.jsonl", "--with", "none.jsonl"]).fails_with("none.jsonl");
    assert_eq!(scratch.names().len(), 2);
}

#[test]
fn the_name_of_the_output_chooses_the_format() {
    let scratch = scratch();
    for (name, cut) in [("clean.csv", "document"), ("clean.parquet", "words"), ("clean.tsv.gz", "document")] {
        run(&scratch, &["--share", "0.1", "--cut", cut, "-o", name]).ok();
        let counted = scratch.run(&["count", name, "--json"]).json();
        assert_eq!(counted["rows"], if cut == "document" { 1 } else { 4 }, "{name}");
    }
    assert!(scratch.read("clean.csv").starts_with(b"id,text\na,Nothing to see"));
    run(&scratch, &["-o", "clean.parquet.gz"]).fails_with("compressed inside");
}
