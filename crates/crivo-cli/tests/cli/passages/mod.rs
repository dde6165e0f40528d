//! `crivo passages`: the found passages, the cuts, and that every other byte stays.

#[cfg(unix)]
mod little_disk;

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use crivo_browser_test::Browser;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::json;

use crate::support::{Random, Scratch};

/// Returns sixty words that no other text has.
fn licence() -> String {
    (0..60).map(|number| format!("Clause{number},")).collect::<Vec<_>>().join(" ")
}

/// Returns three documents, two of them with the licence.
fn texts() -> [String; 3] {
    let licence = licence();
    [
        format!("First \"page\".\n\n{licence} end."),
        "Nothing\tof it, é.".to_string(),
        format!("Other é leaf: {licence} And more.\nLast line."),
    ]
}

fn jsonl(texts: &[String]) -> String {
    texts
        .iter()
        .zip(1..)
        .map(|(text, number)| format!("{}\n", json!({"id": format!("d{number}"), "text": text, "n": number})))
        .collect()
}

#[test]
fn later_occurrences_are_cut_and_reported() {
    let texts = texts();
    let scratch = Scratch::with([("crawl.jsonl", jsonl(&texts))]);
    let ran = scratch.run(&["passages", "crawl.jsonl", "-o", "clean.jsonl", "--report", "r.tsv", "--json"]);
    let licence = licence();
    let passage = licence.trim_end_matches(',');
    let report = ran.json();
    for (name, expected) in [
        ("documents", 3),
        ("passages", 1),
        ("bytes", texts.iter().map(String::len).sum::<usize>()),
        ("bytes_repeated", passage.len()),
        ("documents_changed", 1),
        ("guaranteed_words", 50),
    ] {
        assert_eq!(report[name], expected, "{name}");
    }
    let [first, later] = [0, 2].map(|at| texts[at].find(passage).unwrap());
    assert_eq!(
        String::from_utf8(scratch.read("r.tsv")).unwrap(),
        format!("d3\t{later}\t{}\td1\t{first}\t{}\n", later + passage.len(), first + passage.len())
    );
    let mut left = texts.clone();
    left[2] = "Other é leaf: , And more.\nLast line.".into();
    assert_eq!(String::from_utf8(scratch.read("clean.jsonl")).unwrap(), jsonl(&left));
}

#[test]
fn more_or_less_is_cut_as_told() {
    let texts = texts();
    let scratch = Scratch::with([("crawl.jsonl", jsonl(&texts))]);
    let cut = |how: &[&str]| {
        let mut args = vec!["passages", "crawl.jsonl"];
        args.extend(how);
        let out = scratch.run(&args).ok().to_owned();
        let values = out.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        values.map(|value| value["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(cut(&["--cut", "sentence"])[2], "Last line.");
    assert_eq!(cut(&["--cut", "paragraph"])[2], "");
    assert_eq!(cut(&["--cut", "document"]), &texts[..2]);
    assert_eq!(cut(&["--cut", "whole-document"]), &texts[..2]);
    assert_eq!(cut(&["--min-left", "8"]), &texts[..2]);
    assert_eq!(cut(&["--min-left", "7"]).len(), 3);
    assert_eq!(cut(&["--min-words", "61"]), texts);
    assert_eq!(cut(&["--min-count", "3"]), texts);
    let none = scratch.run(&["passages", "crawl.jsonl", "--cut", "none"]);
    assert_eq!(none.ok(), "");
    assert!(none.err.contains("1 passages in 1 of 3 documents"), "{none:?}");
}

#[test]
fn within_finds_what_a_document_repeats() {
    let text = format!("{} and again {}", licence(), licence());
    let scratch = Scratch::with([("crawl.jsonl", jsonl(&[text]))]);
    let count = |more: &[&str]| {
        let mut args = vec!["passages", "crawl.jsonl", "--json"];
        args.extend(more);
        scratch.run(&args).json()["passages"].clone()
    };
    assert_eq!(count(&[]), 0);
    assert_eq!(count(&["--within"]), 1);
}

#[test]
fn every_format_keeps_its_own_shape() {
    let texts = texts();
    let scratch = Scratch::new();
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let csv = |texts: &[String]| {
        let rows = texts.iter().enumerate().map(|(at, text)| format!("d{at},{},{at}\r\n", quoted(text)));
        format!("id,text,n\r\n{}", rows.collect::<String>())
    };
    // A field keeps its quotes only if it had quotes.
    scratch.write("crawl.csv", csv(&texts));
    let mut left = texts.clone();
    left[2] = "Other é leaf: , And more.\nLast line.".into();
    assert_eq!(scratch.run(&["passages", "crawl.csv"]).ok(), csv(&left));

    std::fs::create_dir(scratch.path("site")).unwrap();
    for (at, text) in texts.iter().enumerate() {
        scratch.write(&format!("site/{at}.txt"), text);
    }
    scratch.run(&["passages", "site", "-o", "clean", "--quiet"]).ok();
    for (at, text) in left.iter().enumerate() {
        assert_eq!(scratch.read(&format!("clean/{at}.txt")), text.as_bytes());
    }

    let columns: [(&str, ArrayRef); 2] = [
        ("text", Arc::new(StringArray::from_iter_values(&texts))),
        ("n", Arc::new(Int64Array::from(vec![7, 8, 9]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    scratch.write("crawl.parquet", bytes);
    scratch.run(&["passages", "crawl.parquet", "-o", "clean.parquet", "--quiet"]).ok();
    let file = std::fs::File::open(scratch.path("clean.parquet")).unwrap();
    let rows =
        ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap().next().unwrap().unwrap();
    let expected: ArrayRef = Arc::new(StringArray::from_iter_values(&left));
    assert_eq!((rows.column(0), rows.column(1)), (&expected, batch.column(1)));
}

#[test]
fn characters_are_words_where_there_are_no_blanks() {
    let passage: String = (0..70).map(|at| char::from_u32(0x4E00 + at * 7).unwrap()).collect();
    let texts = [format!("前。{passage}。"), format!("後、{passage}終")];
    let scratch = Scratch::with([("crawl.jsonl", jsonl(&texts))]);
    let out = scratch.run(&["passages", "crawl.jsonl", "--cut", "words"]).ok().to_owned();
    assert!(out.contains("\"後、終\""), "{out}");
}

#[test]
fn what_cannot_be_is_refused_and_nothing_is_written() {
    let scratch = Scratch::with([("crawl.jsonl", jsonl(&texts()))]);
    let run = |more: &[&str]| {
        let mut args = vec!["passages", "crawl.jsonl"];
        args.extend(more);
        scratch.run(&args)
    };
    run(&["--min-words", "7"]).fails_with("8 to 50000 words");
    run(&["--memory", "1M"]).fails_with("at least 16 MiB");
    run(&["-o", "crawl.jsonl"]).fails_with("would be replaced");
    run(&["--from-html", "-o", "x.jsonl"]).fails_with("--cut document or none");
    run(&["--field", "body", "-o", "x.jsonl"]).fails_with("body");
    assert_eq!(scratch.names(), ["crawl.jsonl"]);
}

/// Positions are those in the text that a reader sees, and the page shows that text.
#[test]
fn passages_of_pages_are_those_that_a_reader_sees() {
    let words: Vec<String> = (0..60).map(|number| format!("Clause{number}")).collect();
    // The same words, with other tags between them and other references for their characters.
    let plain = format!("<p>Primeira p&aacute;gina</p><script>{0}</script><p>{0}</p>", words.join(" "));
    let tagged = format!(
        "<title>x</title><div>Outra: &amp; <i>{}</i> fim</div>",
        words
            .iter()
            .map(|word| word.replace("Clause", "<b>Cl</b>&#97;use"))
            .collect::<Vec<_>>()
            .join("&nbsp;")
    );
    let hidden = format!("<p>Nada</p><style>{}</style>", words.join(" "));
    let pages = [plain, tagged, hidden];
    let scratch = Scratch::with([("crawl.jsonl", jsonl(&pages))]);
    let shown = pages
        .map(|page| String::from_utf8(crivo_html::PageText::default().of(page.as_bytes()).to_vec()).unwrap());
    let args =
        ["passages", "crawl.jsonl", "--from-html", "--cut", "none", "--report", "r.tsv", "--html", "p.html"];
    let report = scratch.run(&[&args[..], &["--json"]].concat()).json();
    let bytes = shown.iter().map(String::len).sum::<usize>();
    assert_eq!((&report["passages"], &report["bytes"]), (&json!(1), &json!(bytes)), "{shown:?}");
    let rows = String::from_utf8(scratch.read("r.tsv")).unwrap();
    let fields: Vec<&str> = rows.trim_end().split('\t').collect();
    let [id, start, end, first, first_start, first_end] = fields[..] else { panic!("{rows}") };
    assert_eq!((id, first), ("d2", "d1"));
    let cut = |text: &str, start: &str, end: &str| {
        text[start.parse().unwrap()..end.parse().unwrap()]
            .split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(cut(&shown[0], first_start, first_end), words);
    assert_eq!(cut(&shown[1], start, end), words);
    let page = String::from_utf8(scratch.read("p.html")).unwrap();
    for text in ["Primeira página", "Outra: &amp; ", "Clause59", " fim", "1 times again, 60 words"] {
        assert!(page.contains(text), "{text:?} in {page}");
    }
    assert!(!page.contains("<b>Cl") && !page.contains("&lt;b&gt;"), "{page}");

    // Nothing is cut, so an output has the pages as they stand.
    scratch.run(&[&args[..5], &["-o", "same.jsonl"]].concat()).ok();
    assert_eq!(scratch.read("same.jsonl"), scratch.read("crawl.jsonl"));
    // A whole page can go, because its source need not be cut.
    scratch.run(&[&args[..3], &["--cut", "document", "-o", "clean.jsonl", "-q"]].concat()).ok();
    let clean = String::from_utf8(scratch.read("clean.jsonl")).unwrap();
    assert!(clean.lines().count() == 2 && !clean.contains("Outra"), "{clean}");
    // Pages in a folder are read in the same way.
    std::fs::create_dir(scratch.path("site")).unwrap();
    for (page, name) in scratch.read("crawl.jsonl").split(|byte| *byte == b'\n').zip(["a", "b", "c"]) {
        let page: serde_json::Value = serde_json::from_slice(page).unwrap();
        scratch.write(&format!("site/{name}.html"), page["text"].as_str().unwrap());
    }
    let site =
        ["passages", "site", "--from-html", "--cut", "none", "--report", "site.tsv", "--html", "p.html"];
    assert_eq!(scratch.run(&[&site[..], &["--json"]].concat()).json(), report);
    let renamed = rows.replace("d2\t", "site/b.html\t").replace("d1\t", "site/a.html\t");
    assert_eq!(String::from_utf8(scratch.read("site.tsv")).unwrap(), renamed);
}

#[test]
fn the_page_shows_what_costs_most_and_escapes_it() {
    let passage: String = (0..60).map(|number| format!("<b>{number}word</b> ")).collect();
    let texts = [format!("First <script> {passage}"), format!("Second & {passage} behind")];
    let scratch = Scratch::with([("crawl.jsonl", jsonl(&texts))]);
    scratch.run(&["passages", "crawl.jsonl", "--html", "p.html", "--json"]).json();
    let page = String::from_utf8(scratch.read("p.html")).unwrap();
    for shown in ["Second &amp; &lt;", "First &lt;script&gt;", "d1", "d2", "1 times again", " behind"] {
        assert!(page.contains(shown), "{shown:?} in {page}");
    }
}

#[test]
fn the_name_of_the_output_chooses_the_format() {
    let texts = texts();
    let scratch = Scratch::with([("crawl.jsonl", jsonl(&texts))]);
    for name in ["clean.parquet", "clean.csv.zst"] {
        scratch.run(&["passages", "crawl.jsonl", "-o", name]).ok();
        scratch.run(&["filter", "true", name, "-o", "back.jsonl", "-q"]).ok();
        let back = String::from_utf8(scratch.read("back.jsonl")).unwrap();
        let last: serde_json::Value = serde_json::from_str(back.lines().last().unwrap()).unwrap();
        assert_eq!(last["text"], "Other é leaf: , And more.\nLast line.", "{name}");
        // Parquet has types, CSV does not.
        assert_eq!(last["n"], if name == "clean.parquet" { json!(3) } else { json!("3") }, "{name}");
    }
}

#[test]
fn the_page_can_be_read_in_a_browser() {
    let long: String = (0..400).map(|number| format!("Clause{number} ")).collect();
    let page = (0..60).map(|number| format!("averyveryverylongwordwithoutanyblank{number}"));
    let page = page.collect::<Vec<_>>().join("/");
    let texts = [
        format!("First <b>page</b>.\n\n{long} end. {page}"),
        format!("Other leaf: {long} And more."),
        format!("{page}\u{202E}?"),
        format!("A third & last. {long}"),
    ];
    let scratch = Scratch::with([("crawl.jsonl", jsonl(&texts))]);
    let report = scratch.run(&["passages", "crawl.jsonl", "--html", "p.html", "--json"]).json();
    assert_eq!(report["passages"], 3);
    let browser = Browser::start();
    browser.open(&format!("file://{}", scratch.path("p.html").display()));
    browser.audit();
    let shown = browser.run(
        "return [...document.querySelectorAll('section.card')].map((card) => ({
            head: card.querySelector('h2').textContent,
            sides: [...card.querySelectorAll('.sides > div')].map((side) => side.querySelector('h3').textContent),
            marked: [...card.querySelectorAll('mark')].map((mark) => mark.textContent.slice(0, 9)),
        }));",
    );
    let cards = shown.as_array().unwrap();
    assert_eq!(cards.len(), 2, "{shown}");
    // The passage with most bytes comes first: four hundred words, repeated twice.
    assert!(cards[0]["head"].as_str().unwrap().contains("2 times again, 400 words"), "{shown}");
    assert_eq!(cards[0]["marked"], json!(["Clause0 C", "Clause0 C"]));
    assert_eq!(cards[0]["sides"][1].as_str().unwrap().split(',').next(), Some("again: d2"));
    assert_eq!(cards[1]["marked"], json!(["averyvery", "averyvery"]));
    let first = browser.run("return document.querySelector('.excerpt').textContent.slice(0, 22)");
    assert_eq!(first, "First <b>page</b>.\n\nCl", "line ends stay line ends");
}

/// A run with a work folder that is killed at any time is continued by the same command, and gives
/// the same bytes.
#[test]
fn a_killed_run_continues_with_the_same_bytes() {
    let mut random = Random::new(5);
    let passages: Vec<String> =
        (0..40).map(|number| (0..80).map(|word| format!("p{number}w{word} ")).collect()).collect();
    let texts: Vec<String> = (0..3000)
        .map(|number| {
            let own: String = (0..60).map(|word| format!("own{number}x{word} ")).collect();
            own + &passages[random.below(40) as usize] + &passages[random.below(40) as usize]
        })
        .collect();
    let scratch = Scratch::with([("crawl.jsonl", jsonl(&texts))]);
    let args = |name: &'static str, work: bool| {
        let mut args = vec!["passages", "crawl.jsonl", "--quiet", "--memory", "16M"];
        match name {
            "whole" => args.extend(["-o", "whole.jsonl", "--report", "whole.tsv"]),
            _ => args.extend(["-o", "again.jsonl", "--report", "again.tsv"]),
        }
        if work {
            args.extend(["--work", "work"]);
        }
        args
    };
    scratch.run(&args("whole", false)).ok();
    let mut continued = 0;
    for kill in 0..20 {
        for _ in 0..2 {
            let mut command = scratch.command(&args("again", true));
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(random.below(200)));
            let _ = child.kill();
            child.wait().unwrap();
        }
        continued +=
            u32::from(["stored", "extended"].iter().any(|stage| scratch.path("work").join(stage).exists()));
        scratch.run(&args("again", true)).ok();
        for end in ["jsonl", "tsv"] {
            let [whole, again] = ["whole", "again"].map(|name| scratch.read(&format!("{name}.{end}")));
            assert!(whole == again, "kill {kill}: {end} differs");
        }
        assert!(!scratch.path("work").exists(), "nothing is left of a run that has ended");
    }
    assert!(continued > 0, "no kill came after the first stage");
}

#[test]
fn a_work_folder_belongs_to_one_run() {
    let scratch = Scratch::with([("crawl.jsonl", jsonl(&texts()))]);
    let run = |more: &[&str]| {
        scratch.run(&[&["passages", "crawl.jsonl", "--json", "--work", "work"], more].concat())
    };
    std::fs::create_dir(scratch.path("work")).unwrap();
    scratch.write("work/run", "passages 1\nmin words 40\n");
    run(&[]).fails_with("keeps another run, with `min words 40`, where this one has `min words 50`");
    scratch.run(&["dedup", "crawl.jsonl", "--work", "work"]).fails_with("keeps another run");
    std::fs::remove_file(scratch.path("work/run")).unwrap();
    run(&[]).json();
    assert_eq!(scratch.names(), ["crawl.jsonl"]);
    scratch.feed(&["passages", "--format", "jsonl", "--work", "work"], "").fails_with("name a file");
}
