//! `crivo similar index`, and `crivo dedup --against` with an index.

use serde_json::{Value, json};

use crate::support::Scratch;

const WORDS: &str = "a sieve keeps what is large and lets pass what is small";

/// Returns a line of JSON for each id and text.
fn jsonl(documents: &[(&str, &str)]) -> String {
    documents.iter().map(|(id, text)| json!({ "id": id, "text": text }).to_string() + "\n").collect()
}

fn scratch() -> Scratch {
    let near = format!("{WORDS} indeed");
    Scratch::with([
        (
            "seen.jsonl",
            jsonl(&[("first", WORDS), ("other", "nothing of this is said anywhere else"), ("tiny", "hm")]),
        ),
        (
            "new.jsonl",
            jsonl(&[
                ("near", &near),
                ("same", WORDS),
                ("hm", "hm"),
                ("far", "the quick brown fox jumps over it"),
            ]),
        ),
    ])
}

#[test]
fn documents_are_added_once_and_found_exactly() {
    let scratch = scratch();
    let run = scratch.run(&["similar", "index", "seen", "add", "seen.jsonl"]);
    assert_eq!(run.ok(), "3 added, 0 replaced, 0 unchanged; 3 documents in the index\n");
    let again = scratch.run(&["similar", "index", "seen", "add", "seen.jsonl", "--json"]).json();
    assert_eq!(again, json!({"added": 0, "replaced": 0, "unchanged": 3, "skipped": 0, "documents": 3}));

    // 8 shingles of 12 words, and one more.
    let run = scratch.run(&["similar", "index", "seen", "query", "new.jsonl", "--quiet"]);
    assert_eq!(run.ok(), format!("near\tfirst\t{}\nsame\tfirst\t1\nhm\ttiny\t1\n", 8.0 / 9.0));
    let found =
        scratch.run(&["similar", "index", "seen", "query", "new.jsonl", "--threshold", "0.9", "--json"]);
    let matches = json!([
        {"query": "same", "id": "first", "similarity": 1.0},
        {"query": "hm", "id": "tiny", "similarity": 1.0},
    ]);
    assert_eq!(found.json(), json!({"queries": 4, "skipped": 0, "matches": matches}));

    scratch.write("changed.jsonl", jsonl(&[("first", "it says something else than it did before")]));
    let changed = scratch.run(&["similar", "index", "seen", "add", "changed.jsonl", "--json"]).json();
    assert_eq!((&changed["replaced"], &changed["documents"]), (&json!(1), &json!(3)));
    scratch.write("one.jsonl", jsonl(&[("q", WORDS)]));
    let nothing = scratch.run(&["similar", "index", "seen", "query", "one.jsonl", "--json"]);
    assert_eq!(
        (nothing.code, nothing.out.as_str()),
        (Some(1), "{\"queries\":1,\"skipped\":0,\"matches\":[]}\n")
    );
    scratch.run(&["similar", "index", "seen", "check"]).ok();
}

#[test]
fn documents_are_removed_and_missing_ones_named() {
    let scratch = scratch();
    scratch.run(&["similar", "index", "seen", "add", "seen.jsonl"]).ok();
    let run = scratch.run(&["similar", "index", "seen", "remove", "first", "nobody"]);
    assert_eq!((run.code, run.out.as_str()), (Some(1), "1 removed\n"));
    assert!(run.err.contains("nobody: there is no such document"), "{run:?}");
    let json = scratch.run(&["similar", "index", "seen", "remove", "tiny", "--json"]).json();
    assert_eq!(json, json!({"removed": 1, "missing": []}));
    let stats = scratch.run(&["similar", "index", "seen", "stats", "--json"]).json();
    assert_eq!((&stats["documents"], &stats["too_short"]), (&json!(1), &json!(0)));
    assert_eq!(
        (&stats["shingle"], &stats["bands"], &stats["rows_per_band"]),
        (&json!("words:5"), &json!(16), &json!(6))
    );
    assert!(scratch.run(&["similar", "index", "seen", "stats"]).ok().starts_with("1 documents\n"));
}

#[test]
fn settings_stay_and_others_are_refused() {
    let scratch = scratch();
    scratch
        .run(&["similar", "index", "i", "add", "seen.jsonl", "--shingle", "chars:5", "--threshold", "0.5"])
        .ok();
    scratch.run(&["similar", "index", "i", "add", "new.jsonl"]).ok();
    scratch
        .run(&["similar", "index", "i", "add", "new.jsonl", "--shingle", "words:5"])
        .fails_with("shingles: the index has chars:5, asked for was words:5");
    scratch.run(&["similar", "index", "i", "add", "new.jsonl", "--hashes", "64"]).fails_with("hashes");
    let low = scratch.run(&["similar", "index", "i", "query", "new.jsonl", "--threshold", "0.1"]);
    assert!(low.ok().lines().count() >= 6 && low.err.contains("was made for a similarity of 0.5"), "{low:?}");
    for threshold in ["0", "1.5"] {
        scratch
            .run(&["similar", "index", "i", "query", "new.jsonl", "--threshold", threshold])
            .fails_with("above 0 and at most 1");
    }
}

#[test]
fn what_cannot_be_used_is_named_and_left_alone() {
    let scratch = scratch();
    for action in [&["query", "new.jsonl"][..], &["remove", "x"], &["stats"], &["check"]] {
        scratch.run(&[&["similar", "index", "none"], action].concat()).fails_with("there is no index");
    }
    scratch
        .run(&["similar", "index", "none", "add", "missing.jsonl"])
        .fails_with("missing.jsonl: no such file");
    assert!(!scratch.path("none").exists(), "nothing was made");
    scratch.write("twice.jsonl", jsonl(&[("same", "one"), ("same", "two")]));
    scratch
        .run(&["similar", "index", "none", "add", "twice.jsonl"])
        .fails_with("two documents have the id \"same\"");

    scratch.run(&["similar", "index", "seen", "add", "seen.jsonl"]).ok();
    let mut bytes = scratch.read("seen/index.sqlite");
    let middle = bytes.len() / 2;
    bytes[middle..].fill(0x55);
    scratch.write("seen/index.sqlite", bytes);
    for action in [&["query", "new.jsonl"][..], &["add", "new.jsonl"], &["check"]] {
        let run = scratch.run(&[&["similar", "index", "seen"], action].concat());
        run.fails_with("index.sqlite: the index is damaged");
        assert!(run.err.contains("restore it from a copy, or build it again"), "{run:?}");
    }
}

#[test]
fn documents_without_ids_are_numbered() {
    let scratch = Scratch::with([
        ("a.txt", format!("{WORDS}\nsomething that nobody else ever wrote\n")),
        ("b.txt", format!("nothing of it\n{WORDS}\n")),
    ]);
    scratch.run(&["similar", "index", "i", "add", "a.txt"]).ok();
    assert_eq!(scratch.run(&["similar", "index", "i", "query", "b.txt"]).ok(), "2\t1\t1\n");
    let replaced = scratch.run(&["similar", "index", "i", "add", "b.txt"]);
    assert!(
        replaced.ok().starts_with("0 added, 2 replaced") && replaced.err.contains("--id"),
        "{replaced:?}"
    );
}

#[test]
fn dedup_drops_what_an_index_knows() {
    let scratch = scratch();
    scratch.run(&["similar", "index", "seen", "add", "seen.jsonl"]).ok();
    let run = scratch.run(&["dedup", "new.jsonl", "--against", "seen", "--json", "-o", "clean.jsonl"]).json();
    // "same" is a near-duplicate of "near". "near" is kept of the two, but is in the index, and so
    // is "hm".
    let field = |name: &str| run[name].as_u64();
    assert_eq!((field("documents"), field("kept"), field("against")), (Some(4), Some(1), Some(2)));
    assert_eq!(
        scratch.read("clean.jsonl"),
        jsonl(&[("far", "the quick brown fox jumps over it")]).into_bytes()
    );
    let alone = scratch.run(&["dedup", "new.jsonl", "--json"]).json();
    assert_eq!((&alone["kept"], &alone["against"]), (&json!(3), &Value::Null));
    assert!(alone.get("against").is_none(), "only with --against");

    let told = scratch.run(&["dedup", "new.jsonl", "--against", "seen", "--dry-run"]);
    assert!(told.err.contains("2 more are like documents of the index"), "{told:?}");
    scratch
        .run(&["dedup", "new.jsonl", "--against", "seen", "--shingle", "chars:5"])
        .fails_with("the index compares words:5, and --shingle says chars:5");
    scratch.run(&["dedup", "new.jsonl", "--against", "none"]).fails_with("there is no index");
}
