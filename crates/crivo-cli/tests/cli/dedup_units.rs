//! `crivo dedup --unit`: repeated lines and paragraphs, compared with a model.

use std::collections::HashMap;

use serde_json::json;

use crate::support::{Random, Scratch};

#[test]
fn only_lines_go_that_stood_before() {
    let mut random = Random::new(3);
    let texts: Vec<String> = (0..300)
        .map(|_| {
            let lines = 1 + random.below(12);
            (0..lines).map(|_| format!("line {}\n", random.below(400))).collect()
        })
        .collect();
    let lines = |texts: &[String]| -> String {
        texts.iter().map(|text| format!("{}\n", json!({ "text": text }))).collect()
    };
    let scratch = Scratch::with([("crawl.jsonl", lines(&texts))]);
    for stay in [1_u32, 3] {
        let mut seen: HashMap<&str, u32> = HashMap::new();
        let left: Vec<String> = texts
            .iter()
            .map(|text| {
                let mut left = String::new();
                for line in text.split_inclusive('\n') {
                    let count = seen.entry(line).or_default();
                    *count += 1;
                    if *count <= stay {
                        left.push_str(line);
                    }
                }
                left
            })
            .filter(|text: &String| !text.is_empty())
            .collect();
        let stay = stay.to_string();
        for threads in ["1", "2"] {
            let args =
                ["dedup", "crawl.jsonl", "--unit", "line", "--max-repeats", &stay, "--threads", threads];
            assert_eq!(scratch.run(&args).ok(), lines(&left), "{stay} occurrences stay");
        }
    }
}

#[test]
fn lines_of_a_file_go_as_with_awk() {
    let scratch = Scratch::with([("log", "b\na\nb\n\na\n\nc")]);
    assert_eq!(scratch.run(&["dedup", "log", "--unit", "line"]).ok(), "b\na\n\n\nc");
}

#[test]
fn paragraphs_are_compared_as_told_and_the_most_frequent_are_named() {
    let texts = ["One\n\nPage 1 of 3\n\nTwo", "Three\n\npage  2 of 3", "Four\n\nOk\n\nPage 17 of 99\n", "Ok"];
    let jsonl: String =
        texts.iter().zip(1..).map(|(text, id)| format!("{}\n", json!({"id": id, "text": text}))).collect();
    let scratch = Scratch::with([("crawl.jsonl", jsonl)]);
    let run = |more: &[&str]| {
        let args = [&["dedup", "crawl.jsonl", "--unit", "paragraph", "--json"][..], more].concat();
        scratch.run(&args).json()
    };
    assert_eq!(run(&[])["removed"], 1);
    let all = ["--ignore", "case,blanks,digits", "--min-length", "3", "--most-frequent", "top.tsv"];
    let report = run(&all);
    assert_eq!((&report["removed"], &report["kept"], &report["units"]), (&json!(2), &json!(4), &json!(7)));
    assert_eq!(report["most_frequent"], json!([{"count": 3, "text": "Page 1 of 3"}]));
    assert_eq!(scratch.read("top.tsv"), b"3\t1\tPage 1 of 3\n");
    // The fields of every `dedup` are there, also those about similar documents.
    for name in ["too_short", "clusters", "pairs", "bands", "rows_per_band", "hashes"] {
        assert_eq!(report[name], 0, "{name}");
    }
    assert_eq!(report["largest_cluster"], 1);
    assert_eq!(
        report["expected_missed"],
        json!({"value": 0.0, "lower": 0.0, "upper": 0.0, "confidence": 1.0})
    );
    let args = ["dedup", "crawl.jsonl", "--unit", "line", "--pairs", "p.tsv"];
    scratch.run(&args).fails_with("--pairs: only --unit document has it");
}

#[test]
fn the_name_of_the_output_chooses_the_format() {
    let scratch =
        Scratch::with([("t.jsonl", "{\"text\":\"a\\nb\\n\",\"n\":1}\n{\"text\":\"b\\nc\\n\",\"n\":2}\n")]);
    scratch.run(&["dedup", "t.jsonl", "--unit", "line", "-o", "t.csv", "-q"]).ok();
    assert_eq!(String::from_utf8(scratch.read("t.csv")).unwrap(), "text,n\n\"a\nb\n\",1\n\"c\n\",2\n");
}

/// Units that do not fit in memory go to a temporary file, and what stays is the same.
#[test]
fn little_memory_gives_the_same_result() {
    let mut random = Random::new(4);
    let texts: String = (0..60_000)
        .map(|number| {
            let paragraphs: Vec<String> = (0..8)
                .map(|at| match random.below(4) {
                    0 => format!("Menu {}", random.below(20)),
                    1 => format!("menu {}", random.below(90_000)),
                    _ => format!("only in {number}, {at}"),
                })
                .collect();
            format!("{}\n", json!({"id": number, "text": paragraphs.join("\n\n")}))
        })
        .collect();
    let scratch = Scratch::with([("crawl.jsonl", texts)]);
    for unit in ["line", "paragraph"] {
        let run = |memory: &str, threads: &str| {
            let args =
                ["dedup", "crawl.jsonl", "--unit", unit, "--ignore", "case", "--min-length", "2", "--json"];
            let files =
                ["-o", "clean.jsonl", "--most-frequent", "top.tsv", "--memory", memory, "--threads", threads];
            let report = scratch.run(&[&args[..], &files[..]].concat()).json();
            (report, scratch.read("clean.jsonl"), scratch.read("top.tsv"))
        };
        let (report, clean, top) = run("2G", "2");
        assert!(report["removed"].as_u64() > Some(60_000), "{report}");
        for threads in ["1", "3"] {
            let little = run("16M", threads);
            assert_eq!((&little.0, &little.2), (&report, &top), "{unit}, {threads} threads");
            assert!(little.1 == clean, "{unit}, {threads} threads");
        }
    }
    // The units do not fit: without room for a temporary file, there is no answer.
    #[cfg(unix)]
    {
        use crate::dedup::little_disk::{TEMPORARY, run_limited};

        std::fs::create_dir(scratch.path(TEMPORARY)).unwrap();
        let args = ["dedup", "crawl.jsonl", "--unit", "line", "--memory", "16M", "--json"];
        run_limited(&scratch, 0, &args).fails_with("writing to a temporary file");
    }
}
