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
    let benchmark = json!({"file": "quiz.jsonl", "items": 3, "items_hit": 2, "documents_hit": 3});
    assert_eq!(
        report,
        json!({
            "documents": 4, "items": 3, "documents_hit": 3, "items_hit": 2, "skipped": 0, "benchmarks": [benchmark]
        })
    );
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

/// Benchmarks number their items from 1, so an id alone does not say what was found.
#[test]
fn hits_of_several_benchmarks_name_the_file() {
    let scratch = scratch();
    std::fs::create_dir(scratch.path("more")).unwrap();
    scratch.write("more/sums.csv", "id,question\nq1,one plus one\nq2,two plus two\nq3,three plus three\n");
    scratch.write("more/none.jsonl", "{\"id\": \"q1\", \"question\": \"nothing like this\"}\n");
    let with = ["--with", "more/sums.csv", "--with", "more/none.jsonl", "--report", "r.tsv"];
    let report = run(&scratch, &[&with[..], &["--json"]].concat()).json();
    let benchmark = |file: &str, items: u64, items_hit: u64, documents_hit: u64| json!({"file": file, "items": items, "items_hit": items_hit, "documents_hit": documents_hit});
    let expected = [
        benchmark("quiz.jsonl", 3, 2, 2),
        benchmark("more/sums.csv", 3, 1, 1),
        benchmark("more/none.jsonl", 1, 0, 0),
    ];
    assert_eq!(report["benchmarks"], json!(expected));
    assert_eq!((&report["documents_hit"], &report["items_hit"]), (&json!(2), &json!(3)));
    let hits = "b\tq1\t1\t13\tquiz.jsonl\nd\tq2\t1\t3\tquiz.jsonl\nd\tq2\t1\t3\tmore/sums.csv\n";
    assert_eq!(String::from_utf8(scratch.read("r.tsv")).unwrap(), hits);

    // The summary lists what was hit, most hit first.
    let told = run(&scratch, &with);
    told.ok();
    let lines: Vec<&str> = told.err.lines().collect();
    assert_eq!(
        lines,
        [
            "2 of 4 documents contain 3 of 7 items",
            "quiz.jsonl: 2 of 3 items, in 2 documents",
            "more/sums.csv: 1 of 3 items, in 1 documents"
        ]
    );
    // A single file needs no name, also if a pattern found it.
    let one = scratch.run(
        &[&WITH[..2], &["--with", "q*.jsonl", "--with-field", "question", "--report", "r.tsv"]].concat(),
    );
    one.ok();
    assert_eq!(one.err, "2 of 4 documents contain 2 of 3 items\n");
    assert_eq!(String::from_utf8(scratch.read("r.tsv")).unwrap(), "b\tq1\t1\t13\nd\tq2\t1\t3\n");
    run(&scratch, &["--with", "-", "--with", "-"]).fails_with("standard input (-) can be read only once");
    let fed = [&WITH[..], &["--with", "-", "--json"]].concat();
    let fed = scratch.feed(&fed, "{\"question\": \"two plus two\"}\n").json();
    assert_eq!(fed["benchmarks"][1], benchmark("-", 1, 1, 1));
}

#[test]
fn hundreds_of_benchmarks_are_answered_for_at_once() {
    const FILES: usize = 400;
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("bench")).unwrap();
    let question = |file: usize, item: usize| {
        (0..10)
            .map(|word| format!("word{}", (file * 31 + item * 7 + word * word) * 13 + word))
            .collect::<Vec<_>>()
            .join(" ")
    };
    for file in 0..FILES {
        // Records have numbers instead of ids, the same in each file.
        let items: String =
            (0..3).map(|item| format!("{}\n", json!({"text": question(file, item)}))).collect();
        scratch.write(&format!("bench/b{file:03}.jsonl"), items);
    }
    // Document n contains item n % 3 of file n, for every fifth file; file 0 is hit by all of them.
    let mut corpus = String::new();
    let mut expected = String::new();
    for file in (0..FILES).step_by(5) {
        let text = format!("Before. {}! {}; after.", question(0, 1), question(file, file % 3));
        corpus += &format!("{}\n", json!({"id": format!("d{file}"), "text": text}));
        let mut hits = [(0, 2), (file, file % 3 + 1)];
        hits.sort_unstable();
        for (file_of_item, item) in hits {
            expected += &format!("d{file}\t{item}\t1\t10\tbench/b{file_of_item:03}.jsonl\n");
        }
    }
    scratch.write("corpus.jsonl", corpus);
    let args = ["overlap", "corpus.jsonl", "--with", "bench/*.jsonl", "--report", "r.tsv"];
    // Fewer files may be open at once than there are benchmarks.
    #[cfg(unix)]
    let ran: crate::support::Ran = {
        let program = scratch.command(&args);
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "ulimit -n 64; exec \"$0\" \"$@\" --json"]).arg(program.get_program()).args(args);
        shell.current_dir(scratch.path("")).output().unwrap().into()
    };
    #[cfg(not(unix))]
    let ran = scratch.run(&[&args[..], &["--json"]].concat());
    let report = ran.json();
    assert_eq!((&report["items"], &report["documents_hit"]), (&json!(FILES * 3), &json!(FILES / 5)));
    let benchmarks = report["benchmarks"].as_array().unwrap();
    assert_eq!(benchmarks.len(), FILES);
    for (file, benchmark) in benchmarks.iter().enumerate() {
        let hits = match file {
            0 => [2, FILES / 5],
            _ if file % 5 == 0 => [1, 1],
            _ => [0, 0],
        };
        let name = format!("bench/b{file:03}.jsonl");
        assert_eq!(
            *benchmark,
            json!({"file": name, "items": 3, "items_hit": hits[0], "documents_hit": hits[1]})
        );
    }
    assert_eq!(String::from_utf8(scratch.read("r.tsv")).unwrap(), expected);
    let told = scratch.run(&args).err;
    assert!(
        told.contains("\nbench/b000.jsonl: 2 of 3 items, in 80 documents\nbench/b005.jsonl: 1 of"),
        "{told}"
    );
    assert!(told.ends_with("70 more benchmarks were hit: --json lists all\n"), "{told}");
}

/// Each file of a folder is an item, and its path is the id.
#[test]
fn files_of_a_folder_are_items() {
    let scratch = scratch();
    std::fs::create_dir(scratch.path("items")).unwrap();
    scratch.write("items/river.txt", "What is the name of the longest river in all of South America?");
    scratch.write("items/empty.txt", "");
    scratch.write("items/sum.txt", "two plus two");
    let args = ["overlap", "corpus.jsonl", "--with", "items", "--report", "r.tsv", "--json"];
    let report = scratch.run(&args).json();
    let hits = [("empty", 0), ("river", 1), ("sum", 1)].map(|(name, hit)| {
        json!({"file": format!("items/{name}.txt"), "items": hit, "items_hit": hit, "documents_hit": hit})
    });
    assert_eq!(report["benchmarks"], json!(hits));
    assert_eq!(
        String::from_utf8(scratch.read("r.tsv")).unwrap(),
        "b\titems/river.txt\t1\t13\titems/river.txt\nd\titems/sum.txt\t1\t3\titems/sum.txt\n"
    );
    let mixed = ["overlap", "corpus.jsonl", "--with", "items", "--with", "quiz.jsonl", "--json"];
    scratch.run(&mixed).fails_with("cannot be mixed");
}
