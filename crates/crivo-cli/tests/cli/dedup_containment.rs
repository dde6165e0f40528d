//! `crivo dedup --measure containment`: a document that is contained in a longer one is removed.

use serde_json::json;

use crate::support::Scratch;

fn words(from: usize, to: usize) -> String {
    (from..to).map(|number| format!("w{number}")).collect::<Vec<_>>().join(" ")
}

/// Writes a page, the same page with comments, an excerpt of it with a word changed, and another
/// page.
fn pages() -> Scratch {
    let page = words(0, 100);
    let record = |id: &str, text: String| json!({"id": id, "text": text}).to_string() + "\n";
    let file = [
        record("page", page.clone()),
        record("commented", format!("{page} {}", words(500, 700))),
        record("excerpt", format!("{} changed {}", words(20, 60), words(61, 90))),
        record("other", words(1000, 1080)),
    ]
    .concat();
    Scratch::with([("pages.jsonl", file)])
}

#[test]
fn a_page_goes_where_the_same_page_with_comments_stays() {
    let scratch = pages();
    let args =
        ["dedup", "pages.jsonl", "--measure", "containment", "--removed", "r.tsv", "-o", "o.jsonl", "--json"];
    for threads in ["1", "2"] {
        let report = scratch.run(&[&args[..], &["--threads", threads]].concat()).json();
        assert_eq!(
            (&report["measure"], &report["kept"], &report["removed"], &report["pairs"]),
            (&json!("containment"), &json!(2), &json!(2), &json!(3)),
        );
        for name in ["bands", "rows_per_band", "hashes"] {
            assert_eq!(report[name], 0, "{name}: there are no signatures");
        }
        // 66 shingles of five words. The five with the changed word are in no other document.
        let removed = format!("page\tcommented\t1\nexcerpt\tcommented\t{}\n", 61.0 / 66.0);
        assert_eq!(String::from_utf8(scratch.read("r.tsv")).unwrap(), removed);
        let kept = String::from_utf8(scratch.read("o.jsonl")).unwrap();
        assert_eq!(kept.lines().count(), 2);
        assert!(kept.contains("commented") && kept.contains("other"));
    }
    // By Jaccard similarity, a page and the page with comments are different.
    let report = scratch.run(&["dedup", "pages.jsonl", "--json"]).json();
    assert_eq!((&report["measure"], &report["kept"]), (&json!("jaccard"), &json!(4)));
    let told = scratch.run(&["dedup", "pages.jsonl", "--measure", "containment", "--dry-run"]);
    assert!(told.err.contains("2 of 4 documents kept") && told.err.contains("by containment"));
}

#[test]
fn what_containment_cannot_do_is_refused() {
    let scratch = pages();
    let fails = |args: &[&str], message: &str| {
        scratch
            .run(&[&["dedup", "pages.jsonl", "--measure", "containment"], args].concat())
            .fails_with(message);
    };
    fails(&["--fast"], "--fast");
    fails(&["--against", "index"], "--against");
    fails(&["--keep", "first"], "the longer document stays");
    fails(&["--linking", "chains"], "--linking kept");
    scratch.run(&["dedup", "pages.jsonl", "--measure", "overlap"]).fails_with("jaccard, containment");
}
