//! `crivo passages` without room on the disk.

use super::jsonl;
use crate::dedup::little_disk::{TEMPORARY, continues_with_room, fails_without_traces};
use crate::support::{Random, Scratch};

/// Returns a scratch folder with documents whose long words need more room in the output than in
/// the store of words.
fn scratch() -> Scratch {
    let mut random = Random::new(6);
    let passages: Vec<String> =
        (0..40).map(|number| (0..60).map(|word| format!("p{number}w{word} ")).collect()).collect();
    let texts: Vec<String> = (0..2000)
        .map(|number| {
            let own: String = (0..200).map(|word| format!("averylongword{number}x{word} ")).collect();
            own + &passages[random.below(40) as usize]
        })
        .collect();
    let scratch = Scratch::with([("crawl.jsonl", jsonl(&texts))]);
    std::fs::create_dir(scratch.path(TEMPORARY)).unwrap();
    scratch.run(&args(&["-o", "whole.jsonl", "--report", "whole.tsv"])).ok();
    scratch
}

fn args<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["passages", "crawl.jsonl", "--quiet", "--memory", "16M"], more].concat()
}

const AGAIN: [&str; 4] = ["-o", "again.jsonl", "--report", "again.tsv"];

#[test]
fn a_disk_without_room_for_words_or_results_ends_the_run() {
    let named = fails_without_traces(&scratch(), &args(&AGAIN));
    assert!(["again.jsonl", TEMPORARY].into_iter().eq(&named), "{named:?}");
}

#[test]
fn a_work_folder_without_room_keeps_what_is_done() {
    let args = args(&[&AGAIN[..], &["--work", "work"]].concat());
    let [named, kept] = continues_with_room(&scratch(), &args, &["stored", "extended"]);
    for name in ["work/run", "work/words.spill", "again.jsonl"] {
        assert!(named.contains(name), "{name} in {named:?}");
    }
    assert!(kept.contains("extended"), "{kept:?}");
}
