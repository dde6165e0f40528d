//! `crivo merge`.

use crivo::distinct::HyperLogLog;
use crivo::keys::{HashFunction, KeyScheme};

use crate::support::Scratch;

fn sketch(precision: u8, scheme: KeyScheme, items: std::ops::Range<u32>) -> HyperLogLog {
    let mut sketch = HyperLogLog::with_scheme(precision, scheme).unwrap();
    items.for_each(|n| sketch.insert(&n).unwrap());
    sketch
}

#[test]
fn merged_file_is_the_sketch_of_the_joined_stream() {
    let integers = KeyScheme::integers();
    let scratch = Scratch::with([
        ("a.crivo", sketch(12, integers, 0..5000).encode()),
        ("b.crivo", sketch(12, integers, 4000..6000).encode()),
        ("c.crivo", sketch(12, integers, 6000..6010).encode()),
    ]);
    let run = scratch.run(&["merge", "a.crivo", "b.crivo", "c.crivo", "-o", "all.crivo"]);
    assert!(run.ok().starts_with("3 merged into all.crivo: "), "{run:?}");
    assert_eq!(run.err, "");
    let expected = sketch(12, integers, 0..6010);
    assert!(scratch.read("all.crivo") == expected.encode());

    let json = scratch.run(&["merge", "all.crivo", "b.crivo", "-o", "all.crivo", "--json"]).json();
    assert_eq!(json["items"]["value"], expected.estimate().value());
    assert!(scratch.read("all.crivo") == expected.encode(), "one of those merged can be the output");
    assert_eq!(scratch.run(&["merge", "a.crivo", "-o", "copy.crivo", "--quiet"]).ok(), "");
    assert!(scratch.read("copy.crivo") == scratch.read("a.crivo"));
}

#[test]
fn lower_precision_wins_with_a_warning() {
    let integers = KeyScheme::integers();
    let scratch = Scratch::with([
        ("fine.crivo", sketch(14, integers, 0..9000).encode()),
        ("coarse.crivo", sketch(10, integers, 0..100).encode()),
    ]);
    for files in [["fine.crivo", "coarse.crivo"], ["coarse.crivo", "fine.crivo"]] {
        let run = scratch.run(&["merge", files[0], files[1], "-o", "both.crivo"]);
        run.ok();
        let warning =
            format!("crivo: warning: {}: the precisions differ; merged at the lower one, 10\n", files[1]);
        assert_eq!(run.err, warning);
        assert!(scratch.read("both.crivo") == sketch(10, integers, 0..9000).encode());
    }
    let quiet = scratch.run(&["merge", "fine.crivo", "coarse.crivo", "-o", "both.crivo", "-q"]);
    assert_eq!((quiet.ok(), quiet.err.as_str()), ("", ""));
}

#[test]
fn what_differs_is_refused_by_name_and_nothing_is_written() {
    let integers = KeyScheme::integers();
    let scratch = Scratch::with([
        ("a.crivo", sketch(12, integers, 0..10).encode()),
        ("seed.crivo", sketch(12, integers.with_seed(7), 0..10).encode()),
        ("text.crivo", HyperLogLog::new(12).unwrap().encode()),
        ("broken.crivo", b"CRVO".to_vec()),
    ]);
    let before = scratch.names();
    for (other, message) in [
        ("seed.crivo", "seed.crivo: cannot be merged with a.crivo: seed: expected 0, found 7"),
        ("text.crivo", "text.crivo: cannot be merged with a.crivo: key kind: expected integer, found bytes"),
        ("broken.crivo", "broken.crivo: header: expected 28 bytes, found 4"),
        ("none.crivo", "none.crivo: no such file"),
    ] {
        scratch.run(&["merge", "a.crivo", other, "-o", "c.crivo"]).fails_with(message);
    }
    scratch.run(&["merge", "-o", "c.crivo"]).fails_with("required");
    scratch.run(&["merge", "a.crivo"]).fails_with("-o <SKETCH>");
    assert_eq!(scratch.names(), before);
}

/// A file of an older crivo, whose integers are hashed with XXH3, is asked, continued and merged as
/// before. Merging it with a new file is refused with the file's name.
#[test]
fn integers_of_older_files_keep_their_hash() {
    let older = KeyScheme::integers().with_function(HashFunction::Xxh3).unwrap();
    let scratch = Scratch::with([
        ("old.crivo", sketch(12, older, 0..5000).encode()),
        ("old2.crivo", sketch(12, older, 4000..6000).encode()),
        ("new.crivo", sketch(12, KeyScheme::integers(), 0..10).encode()),
    ]);
    scratch.run(&["merge", "old.crivo", "old2.crivo", "-o", "both.crivo"]).ok();
    assert!(scratch.read("both.crivo") == sketch(12, older, 0..6000).encode());
    let lines: String = (5000..6000).map(|n| format!("{n}\n")).collect();
    scratch.feed(&["distinct", "--keys", "int", "--into", "old.crivo"], lines).ok();
    assert!(scratch.read("old.crivo") == sketch(12, older, 0..6000).encode());
    assert_eq!(scratch.run(&["show", "old.crivo", "--json"]).json()["hash"], "XXH3-64");
    scratch
        .run(&["merge", "old.crivo", "new.crivo", "-o", "mixed.crivo"])
        .fails_with("hash function: expected XXH3-64, found Rrmxmx");
}
