// This file is long because every option has its test.

//! `crivo dedup`: which documents are kept and reported, and that nothing is lost.

#[cfg(unix)]
pub(crate) mod little_disk;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::Read;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Random, Scratch, table};

/// Returns random texts. About one in three is a changed copy of an earlier one; some are empty or
/// short.
fn texts(count: usize, seed: u64) -> Vec<String> {
    let mut random = Random::new(seed);
    let mut texts: Vec<Vec<String>> = Vec::new();
    for number in 0..count {
        let words = match random.below(3) {
            0 if number > 0 => {
                let mut words = texts[random.below(number as u64) as usize].clone();
                if !words.is_empty() && random.below(3) > 0 {
                    let at = random.below(words.len() as u64) as usize;
                    words[at] = format!("Ånother{}", random.below(1000));
                }
                words
            }
            _ => (0..random.below(80)).map(|_| format!("wörd{}", random.below(5000))).collect(),
        };
        texts.push(words);
    }
    texts.into_iter().map(|words| words.join(" ")).collect()
}

/// Returns the shingles of `n` words, by the definition.
fn shingles(text: &str, n: usize) -> BTreeSet<Vec<String>> {
    let lower = text.to_lowercase();
    let words: Vec<String> = lower
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    words.windows(n).map(<[String]>::to_vec).collect()
}

fn exact_pairs(texts: &[String], n: usize, threshold: f64) -> BTreeMap<(usize, usize), f64> {
    let sets: Vec<_> = texts.iter().map(|text| shingles(text, n)).collect();
    let mut pairs = BTreeMap::new();
    for one in 0..texts.len() {
        for other in one + 1..texts.len() {
            // An empty text is no document.
            if texts[one].is_empty() || texts[other].is_empty() {
                continue;
            }
            let union = sets[one].union(&sets[other]).count();
            let shared = sets[one].intersection(&sets[other]).count() as f64 / union.max(1) as f64;
            let similarity = if texts[one] == texts[other] { 1.0 } else { shared };
            if similarity >= threshold {
                pairs.insert((one, other), similarity);
            }
        }
    }
    pairs
}

/// Returns which texts are kept. A text is removed only if it is similar to an earlier text that is
/// kept.
fn kept(texts: usize, pairs: &BTreeMap<(usize, usize), f64>) -> Vec<bool> {
    let mut stays = vec![true; texts];
    for &(one, other) in pairs.keys() {
        stays[other] &= !stays[one];
    }
    stays
}

fn jsonl(texts: &[String]) -> String {
    let record =
        |(number, text): (usize, &String)| json!({"text": text, "id": format!("d{number}"), "n": number});
    texts.iter().enumerate().map(|record_of| format!("{}\n", record(record_of))).collect()
}

#[test]
fn pairs_clusters_and_copy_are_those_of_brute_force() {
    let texts = texts(400, 1);
    let scratch = Scratch::new();
    let file = jsonl(&texts);
    scratch.write("docs.jsonl", &file);
    let expected = exact_pairs(&texts, 3, 0.6);
    let args = ["dedup", "docs.jsonl", "--threshold", "0.6", "--shingle", "words:3", "--hashes", "256"];
    let mut outputs = HashSet::new();
    for threads in ["1", "3"] {
        let files = ["--pairs", "p.tsv", "--clusters", "c.tsv", "--removed", "r.tsv"];
        let results = [&["-o", "clean.jsonl", "--json", "--threads", threads], &files[..]].concat();
        let report = scratch.run(&[&args[..], &results[..]].concat()).json();
        let pairs = String::from_utf8(scratch.read("p.tsv")).unwrap();
        let mut found = BTreeMap::new();
        for line in pairs.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let number = |id: &str| id.strip_prefix('d').unwrap().parse::<usize>().unwrap();
            let pair = (number(fields[0]), number(fields[1]));
            assert!(found.insert(pair, fields[2].parse::<f64>().unwrap()).is_none(), "{line} came twice");
        }
        for (pair, similarity) in &found {
            assert_eq!(expected.get(pair), Some(similarity), "{pair:?}");
        }
        assert!(found.len() * 100 >= expected.len() * 98, "{} of {}", found.len(), expected.len());
        assert_eq!(report["pairs"], found.len());
        let empty = texts.iter().filter(|text| text.is_empty()).count();
        assert_eq!(
            (&report["documents"], &report["skipped"]),
            (&(texts.len() - empty).into(), &empty.into())
        );

        let stays = kept(texts.len(), &found);
        let lines: Vec<&str> = file.split_inclusive('\n').collect();
        let copy: String =
            lines.iter().zip(&stays).filter(|(_, stays)| **stays).map(|(line, _)| *line).collect();
        assert_eq!(String::from_utf8(scratch.read("clean.jsonl")).unwrap(), copy);
        assert_eq!(report["kept"], stays.iter().filter(|stays| **stays).count() - empty);
        let clusters = String::from_utf8(scratch.read("c.tsv")).unwrap();
        let named: HashSet<&str> = clusters.lines().map(|line| line.split('\t').nth(1).unwrap()).collect();
        assert_eq!(report["clusters"], named.len());
        assert!(named.iter().all(|id| stays[id[1..].parse::<usize>().unwrap()]), "named by who stays");
        // The certificate has every removed text, each with a similar one that is kept.
        let removed = String::from_utf8(scratch.read("r.tsv")).unwrap();
        let mut gone = BTreeSet::new();
        for line in removed.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let number = |id: &str| id[1..].parse::<usize>().unwrap();
            let (one, other) = (number(fields[0]), number(fields[1]));
            assert!(stays[other] && gone.insert(one), "{line}");
            let similarity = expected[&(one.min(other), one.max(other))];
            assert!(similarity >= 0.6 && similarity.to_string() == fields[2], "{line}");
        }
        assert!(gone.iter().copied().eq((0..texts.len()).filter(|&text| !stays[text])));
        assert_eq!(report["removed"], gone.len());
        outputs.insert((pairs, clusters, removed));
    }
    assert_eq!(outputs.len(), 1, "the same on any number of threads");
}

#[test]
fn every_format_gives_the_same_documents() {
    let mut texts = texts(200, 2);
    // Lines and CSV read an empty value as a missing one.
    texts.iter_mut().filter(|text| text.is_empty()).for_each(|text| *text = "x".into());
    let scratch = Scratch::new();
    let mut reports = HashSet::new();
    for format in ["lines", "csv", "tsv", "jsonl", "parquet"] {
        let name = format!("docs.{format}");
        scratch.write(&name, table(format, &texts));
        let field = if format == "lines" { vec![] } else { vec!["--field", "value"] };
        let output = format!("clean.{format}");
        let args = [&["dedup", &name, "--json", "-o", &output][..], &field].concat();
        let mut report = scratch.run(&args).json();
        // The bytes of the same documents differ from format to format.
        assert!(report["bytes_read"].take().as_u64() >= Some(1), "{format}");
        reports.insert(report.to_string());
        // The output has no near-duplicates, so a second run keeps all of it.
        let again = scratch.run(&[&["dedup", &output, "--json"][..], &field].concat()).json();
        assert_eq!(again["documents"], again["kept"], "{format}");
    }
    assert_eq!(reports.len(), 1, "{reports:?}");
}

#[test]
fn output_is_compressed_as_its_name_says_and_input_may_be() {
    let file = jsonl(&texts(100, 3));
    let scratch = Scratch::with([("docs.jsonl", file)]);
    let plain = scratch.run(&["dedup", "docs.jsonl"]).ok().to_owned();
    for end in ["gz", "zst", "xz"] {
        let name = format!("clean.jsonl.{end}");
        scratch.run(&["dedup", "docs.jsonl", "-o", &name]).ok();
        let bytes = scratch.read(&name);
        let mut text = String::new();
        match end {
            "gz" => flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap(),
            "zst" => zstd::Decoder::new(&bytes[..]).unwrap().read_to_string(&mut text).unwrap(),
            _ => liblzma::read::XzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap(),
        };
        assert_eq!(text, plain, "{end}");
        assert_eq!(scratch.run(&["dedup", &name]).ok(), plain, "{end} read again");
    }
    let fed = scratch.feed(&["dedup", "--format", "jsonl"], scratch.read("docs.jsonl"));
    assert_eq!(fed.ok(), plain);
}

#[test]
fn pages_are_compared_by_what_a_reader_sees() {
    let page = |style: &str| {
        let text = format!("<p class='{style}'>one two <b>three</b> four five six<script>{style}</script>");
        format!("{}\n", json!({ "text": text }))
    };
    let scratch = Scratch::with([("pages.jsonl", page("red") + &page("green and blue"))]);
    assert_eq!(scratch.run(&["dedup", "pages.jsonl", "--json"]).json()["kept"], 2);
    assert_eq!(scratch.run(&["dedup", "pages.jsonl", "--json", "--html"]).json()["kept"], 1);
}

#[test]
fn documents_without_a_shingle_stay_unless_they_are_the_same() {
    let scratch = Scratch::with([(
        "docs.jsonl",
        "{\"text\":\"\"}\n{\"text\":\"ok\"}\n{\"text\":\"OK\"}\n{\"text\":\"ok\"}\n",
    )]);
    let run = scratch.run(&["dedup", "docs.jsonl", "--json", "--pairs", "p.tsv", "-o", "o.jsonl"]).json();
    assert_eq!((&run["too_short"], &run["kept"], &run["pairs"]), (&json!(3), &json!(2), &json!(1)));
    assert_eq!(scratch.read("p.tsv"), b"2\t4\t1\n", "numbers of records from 1, where there is no id");
}

/// A row is never removed because it has no text.
#[test]
fn empty_and_null_texts_stay_and_are_counted_in_every_format() {
    let orders = include_str!("../../../../../samples/orders.csv");
    let scratch = Scratch::with([("orders.csv", orders)]);
    let args = ["dedup", "orders.csv", "-f", "note", "--id", "order", "-o", "o.csv", "--json"];
    let report = scratch.run(&args).json();
    let without = |text: &str| text.lines().filter(|line| line.ends_with(',')).count();
    let kept = String::from_utf8(scratch.read("o.csv")).unwrap();
    assert_eq!(report["skipped"], 2408);
    assert_eq!(without(&kept), without(orders), "all orders without a note are still there");
    let numbers = ["documents", "kept", "skipped"].map(|name| report[name].as_u64().unwrap());
    assert_eq!(kept.lines().count() as u64, 1 + numbers[1] + numbers[2]);
    assert_eq!(numbers[0] + numbers[2], 4000);

    let texts: Vec<String> = ["", "a b c d e f", "", "a b c d e f", "x", ""].map(String::from).into();
    for format in ["csv", "tsv", "jsonl", "parquet"] {
        let name = format!("t.{format}");
        scratch.write(&name, table(format, &texts));
        let out = format!("o.{format}");
        let args = ["dedup", &name, "--field", "value", "--json", "-o", &out];
        let report = scratch.run(&args).json();
        let numbers = ["documents", "kept", "skipped", "clusters"].map(|name| report[name].as_u64().unwrap());
        assert_eq!(numbers, [3, 2, 3, 1], "{format}");
        let again = scratch.run(&["dedup", &out, "--field", "value", "--json"]).json();
        assert_eq!((&again["documents"], &again["skipped"]), (&json!(2), &json!(3)), "{format}");
    }
    scratch.write("null.jsonl", "{\"text\":null}\n{\"text\":\"\"}\n{\"text\":null}\n{\"text\":\"a\"}\n");
    let null = scratch.run(&["dedup", "null.jsonl"]);
    assert_eq!(null.ok().lines().count(), 4);
}

#[test]
fn records_without_the_text_stop_the_run_or_are_counted() {
    let text = "{\"id\":1,\"text\":\"a b c d e f\"}\n{\"id\":2,\"body\":\"x\"}\n{\"id\":3,\"text\":null}\n";
    let scratch =
        Scratch::with([("docs.jsonl", text.to_owned()), ("bad.jsonl", format!("{text}{{\"text\n"))]);
    scratch.run(&["dedup", "docs.jsonl", "--json"]).fails_with("docs.jsonl:2: no text in field \"text\"");
    let report = scratch.run(&["dedup", "docs.jsonl", "--json", "--skip-bad"]).json();
    assert_eq!((&report["documents"], &report["skipped"]), (&json!(1), &json!(2)));
    // Nothing is lost: a record that cannot be compared is kept.
    assert_eq!(scratch.run(&["dedup", "docs.jsonl", "--skip-bad"]).ok(), text);
    scratch.run(&["dedup", "bad.jsonl", "--json", "--skip-bad", "-o", "o.jsonl"]).json();
    scratch.run(&["dedup", "docs.jsonl", "--field", "none", "--json"]).fails_with("none");
}

#[test]
fn wrong_options_are_refused_with_what_is_allowed() {
    let scratch = Scratch::with([("docs.jsonl", "{\"text\":\"a\"}\n")]);
    let fails = |args: &[&str], message: &str| {
        scratch.run(&[&["dedup", "docs.jsonl"], args].concat()).fails_with(message);
    };
    for threshold in ["0", "1.5", "-1"] {
        fails(&[&format!("--threshold={threshold}")], "above 0");
    }
    fails(&["--shingle", "letters:3"], "words:N, chars:N or stopwords");
    fails(&["--shingle", "words:0"], "1 to 64");
    fails(&["--bands", "50x3"], "at most 128 hashes");
    // An error that wraps another one does not repeat its words.
    fails(&["--hashes", "0"], "crivo: hashes: expected 1 to 32767, found 0\n");
    fails(&["--memory", "1K"], "16 MiB");
    fails(&["--id", "key"], "key");
    fails(&["-o", "docs.jsonl"], "is read, and would be replaced");
    fails(&["-o", "no/such/folder.jsonl"], "no folder");
    assert_eq!(scratch.names(), ["docs.jsonl"]);
}

#[test]
fn the_longest_may_stay_and_chains_be_cut() {
    let words: Vec<String> = (0..60).map(|i| format!("w{i}")).collect();
    let piece = |from: usize| json!({"text": words[from..from + 40].join(" ")}).to_string();
    let scratch = Scratch::with([("docs.jsonl", format!("{}\n{}\n{}\n", piece(0), piece(4), piece(8)))]);
    let kept = |args: &[&str]| {
        let all = ["dedup", "docs.jsonl", "--json", "--threshold", "0.75", "--shingle", "words:1"];
        scratch.run(&[&all[..], args].concat()).json()["kept"].clone()
    };
    assert_eq!(kept(&[]), 2);
    assert_eq!(kept(&["--linking", "kept"]), 2);
    assert_eq!(kept(&["--linking", "chains"]), 1);
    let chains = ["dedup", "docs.jsonl", "--linking", "chains", "--removed", "r.tsv", "--json"];
    scratch.run(&chains).fails_with("use --linking kept");
    scratch
        .run(&["dedup", "docs.jsonl", "--fast", "--removed", "r.tsv", "--json"])
        .fails_with("--fast only estimates them");
    // Of the chain, only the first two are like the document of the index.
    scratch.write("known.jsonl", format!("{}\n", piece(0)));
    scratch.run(&[
        "similar",
        "index",
        "known",
        "add",
        "known.jsonl",
        "--shingle",
        "words:1",
        "--threshold",
        "0.75",
    ]);
    assert_eq!(kept(&["--linking", "chains", "--against", "known"]), 1);
    let long = "one two three four five six seven eight nine ten eleven twelve";
    scratch.write("two.jsonl", format!("{{\"text\":\"{long}\"}}\n{{\"text\":\"{long} !!!\"}}\n"));
    assert!(scratch.run(&["dedup", "two.jsonl", "--keep", "longest"]).ok().contains("!!!"));
    assert!(!scratch.run(&["dedup", "two.jsonl"]).ok().contains("!!!"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_with_the_name_of_the_file() {
    let scratch = Scratch::with([("docs.jsonl", jsonl(&texts(300, 6)))]);
    for args in [["-o", "/dev/full"], ["--pairs", "/dev/full"]] {
        let run = scratch.run(&[&["dedup", "docs.jsonl", "--json"], &args[..]].concat());
        run.fails_with("/dev/full: was not written: No space left on device");
    }
}

/// A run that is killed at any time leaves the old file or the new one, and no partial file under
/// its name.
#[test]
fn a_kill_leaves_the_old_output_or_the_new_one() {
    let scratch = Scratch::with([("docs.jsonl", jsonl(&texts(3000, 4)))]);
    let whole = scratch.run(&["dedup", "docs.jsonl"]).ok().to_owned();
    for wait in [5, 20, 40, 80, 160, 400] {
        scratch.write("clean.jsonl", "old");
        let mut command = scratch.command(&["dedup", "docs.jsonl", "-o", "clean.jsonl", "--quiet"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        let _ = child.kill();
        child.wait().unwrap();
        let left = String::from_utf8(scratch.read("clean.jsonl")).unwrap();
        assert!(left == "old" || left == whole, "after {wait} ms: {} bytes", left.len());
    }
    // The next run is not affected.
    scratch.run(&["dedup", "docs.jsonl", "-o", "clean.jsonl"]).ok();
    assert_eq!(String::from_utf8(scratch.read("clean.jsonl")).unwrap(), whole);
}

#[test]
fn two_documents_of_one_id_are_told_apart_by_a_warning() {
    let text = "one two three four five six seven eight nine ten";
    let records = ["a", "a", "b"].map(|id| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n")).concat();
    let scratch = Scratch::with([("docs.jsonl", records)]);
    let run = scratch.run(&["dedup", "docs.jsonl", "-o", "out.jsonl", "--removed", "r.tsv"]);
    run.ok();
    assert!(run.err.contains("1 lines of the lists name two documents by the same id"), "{}", run.err);
    assert_eq!(scratch.read("r.tsv"), b"a\ta\t1\nb\ta\t1\n");
}

#[test]
fn a_long_record_is_read_on_request() {
    let text = "word ".repeat(14 << 20);
    let scratch =
        Scratch::with([("docs.jsonl", format!("{{\"text\":\"{text}\"}}\n{{\"text\":\"{text}\"}}\n"))]);
    scratch.run(&["dedup", "docs.jsonl", "--json"]).fails_with("--max-record 1G allows longer ones");
    let report: Value = scratch.run(&["dedup", "docs.jsonl", "--json", "--max-record", "128M"]).json();
    assert_eq!((&report["documents"], &report["kept"]), (&2.into(), &1.into()));
    scratch.run(&["dedup", "docs.jsonl", "--max-record", "3G"]).fails_with("from 256K to 2G");
}

#[test]
fn little_memory_gives_the_same_result() {
    let scratch = Scratch::with([("docs.jsonl", jsonl(&texts(10_000, 5)))]);
    let report = |memory: &str| {
        let args =
            ["dedup", "docs.jsonl", "--json", "--memory", memory, "--shingle", "words:2", "--pairs", "p.tsv"];
        let mut report: Value = scratch.run(&args).json();
        // Only the bytes that were read and spilled may differ.
        let (spilled, read) = (report["bytes_spilled"].take(), report["bytes_read"].take());
        let readings = read.as_u64().unwrap() as usize / scratch.read("docs.jsonl").len();
        ((report, scratch.read("p.tsv")), spilled, readings)
    };
    let (large, small) = (report("2G"), report("16M"));
    assert_eq!(large.0, small.0);
    assert_eq!(large.1, 0);
    assert_eq!((large.2, small.2), (2, 3), "one or two readings, and one for the ids");
}

/// A run with a work folder that is killed at any time is continued by the same command, and gives
/// the same bytes.
#[test]
fn a_killed_run_continues_with_the_same_bytes() {
    let scratch = Scratch::with([("docs.jsonl", jsonl(&texts(4000, 7)))]);
    let args = |name: &'static str, work: bool| {
        let mut args = vec!["dedup", "docs.jsonl", "--quiet", "--memory", "16M", "--shingle", "words:2"];
        match name {
            "whole" => args.extend(["-o", "whole.jsonl", "--pairs", "whole.tsv", "--removed", "whole.r"]),
            _ => args.extend(["-o", "again.jsonl", "--pairs", "again.tsv", "--removed", "again.r"]),
        }
        if work {
            args.extend(["--work", "work"]);
        }
        args
    };
    scratch.run(&args("whole", false)).ok();
    let mut continued = 0;
    for kill in 0..50_u64 {
        let mut random = Random::new(kill);
        // Two kills, then the end.
        for _ in 0..2 {
            let mut command = scratch.command(&args("again", true));
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(random.below(120)));
            let _ = child.kill();
            child.wait().unwrap();
        }
        continued += u32::from(scratch.path("work/signed").exists() || scratch.path("work/paired").exists());
        scratch.run(&args("again", true)).ok();
        for end in ["jsonl", "tsv", "r"] {
            let [whole, again] = ["whole", "again"].map(|name| scratch.read(&format!("{name}.{end}")));
            assert!(whole == again, "kill {kill}: {end} differs");
        }
        assert!(!scratch.path("work").exists(), "nothing is left of a run that has ended");
    }
    assert!(continued > 0, "no kill came after the first stage");
}

#[test]
fn a_work_folder_belongs_to_one_run() {
    let scratch = Scratch::with([("docs.jsonl", jsonl(&texts(3000, 8)))]);
    let run =
        |more: &[&str]| scratch.run(&[&["dedup", "docs.jsonl", "--json", "--work", "work"], more].concat());
    std::fs::create_dir(scratch.path("work")).unwrap();
    scratch.write("work/run", "format 2\nthreshold 0.7\n");
    run(&[]).fails_with("keeps another run, with `threshold 0.7`, where this one has `threshold 0.8`");
    std::fs::remove_file(scratch.path("work/run")).unwrap();
    scratch.write("work/mine.txt", "not of a run");
    run(&[]).json();
    assert_eq!(scratch.read("work/mine.txt"), b"not of a run");
    scratch.feed(&["dedup", "--format", "jsonl", "--work", "work"], "").fails_with("name a file");
}

#[test]
fn pairs_of_a_very_large_cluster_are_counted_even_if_they_are_not_listed() {
    let common: String = (0..120).map(|word| format!("word{word} ")).collect();
    let count = 1200_u64;
    let texts: Vec<String> = (0..count).map(|number| format!("{common} and number {number}")).collect();
    let scratch = Scratch::with([("docs.jsonl", jsonl(&texts))]);
    let report = scratch.run(&["dedup", "docs.jsonl", "--json"]).json();
    let all = (count * (count - 1) / 2) as f64;
    let listed = report["pairs"].as_f64().unwrap();
    let bound = |name: &str, bound: &str| report[name][bound].as_f64().unwrap();
    assert!(listed < all / 2.0, "{report}");
    assert!(listed + bound("not_listed", "lower") <= all, "{report}");
    assert!(
        listed + bound("not_listed", "upper") + bound("expected_missed", "upper") >= all,
        "the truth is not covered: {report}"
    );
    assert_eq!(report["kept"], 1);
    let told = scratch.run(&["dedup", "docs.jsonl", "--dry-run"]);
    assert!(told.err.contains("--all-pairs lists them"), "{}", told.err);
    let every = scratch.run(&["dedup", "docs.jsonl", "--json", "--all-pairs"]).json();
    assert_eq!(
        (&every["pairs"], &every["not_listed"]["upper"]),
        (&json!(count * (count - 1) / 2), &json!(0.0))
    );
}

#[test]
fn a_corpus_that_changes_between_readings_is_named() {
    let scratch = Scratch::with([("docs.jsonl", jsonl(&texts(20_000, 9)))]);
    let mut seen = 0;
    for wait in [30, 60, 120, 240, 480] {
        let mut command =
            scratch.command(&["dedup", "docs.jsonl", "--dry-run", "--threads", "1", "--memory", "16M"]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        let more = "{\"id\":\"more\",\"text\":\"one more document that nobody has seen before\"}\n";
        let mut file = std::fs::File::options().append(true).open(scratch.path("docs.jsonl")).unwrap();
        std::io::Write::write_all(&mut file, more.as_bytes()).unwrap();
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        // The run may have ended before, or not have begun.
        if !ended.status.success() {
            assert!(said.contains("docs.jsonl: changed while it was read"), "{said}");
            seen += 1;
        }
    }
    assert!(seen > 0, "no change came during a run");
}

#[test]
fn too_little_memory_is_refused_with_what_would_do() {
    let lines: String = (0..600_000).map(|number| format!("{number}\n")).collect();
    let scratch = Scratch::with([("docs.txt", lines)]);
    let run = scratch.run(&["dedup", "docs.txt", "--json", "--memory", "16M"]);
    run.fails_with("documents need at least");
    // The warning also comes before the first pass, from the size of the file.
    assert!(run.err.contains("warning: about "), "{}", run.err);
    assert_eq!(run.err.matches("need at least").count(), 2, "{}", run.err);
}

#[test]
fn jsonl_on_standard_input_is_recognised() {
    let scratch = Scratch::new();
    let text = "{\"id\":\"x\",\"text\":\"a b c d e f\"}\n{\"id\":\"y\",\"text\":\"a b c d e f\"}\n{\"id\":\"z\",\"text\":\"\"}\n";
    let report = scratch.feed(&["dedup", "--json", "--removed", "r.tsv"], text).json();
    assert_eq!((report["documents"].as_u64(), report["skipped"].as_u64()), (Some(2), Some(1)));
    assert_eq!(scratch.read("r.tsv"), b"y\tx\t1\n");
}
