//! `crivo dedup` without room on the disk: an error that says what is missing, no partial result,
//! and a work folder that a later run continues.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use super::jsonl;
use crate::support::{Ran, Random, Scratch};

/// The folder for temporary files, in the scratch folder.
pub(crate) const TEMPORARY: &str = "temporary";

/// The largest size of a file, in blocks of 512 bytes: from nothing to more than any file needs.
pub(crate) const LIMITS: [u64; 11] = [0, 1, 16, 256, 1024, 1500, 2048, 4096, 8192, 16384, 65536];

/// Runs while no file can grow beyond a number of blocks. To the program, that is a disk without
/// room.
pub(crate) fn run_limited(scratch: &Scratch, blocks: u64, args: &[&str]) -> Ran {
    let program = scratch.command(args);
    let mut command = Command::new("sh");
    // Without the trap, the system would kill the program.
    command.arg("-c").arg(format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\""));
    command.arg(program.get_program()).args(args);
    command.env("TMPDIR", scratch.path(TEMPORARY)).current_dir(scratch.path("")).stdin(Stdio::null());
    command.output().unwrap().into()
}

/// Asserts that a run ended because of the disk, and said what was not written and what to do.
/// Returns the file that it named, or [`TEMPORARY`].
#[track_caller]
pub(crate) fn lacks_room(scratch: &Scratch, run: &Ran) -> String {
    run.fails_with("File too large");
    assert_eq!(run.err.lines().count(), 1, "{run:?}");
    let temporary = format!("writing to a temporary file in {}: ", scratch.path(TEMPORARY).display());
    if run.err.contains(&temporary) {
        assert!(run.err.contains("make room there, or name another folder with TMPDIR"), "{run:?}");
        return TEMPORARY.into();
    }
    let (named, what) = run.err.strip_prefix("crivo: ").unwrap().split_once(": ").unwrap();
    assert!(what.starts_with("was not written: File too large"), "{run:?}");
    if named.starts_with("work") {
        assert!(what.contains("what is done stays: make room and run again"), "{run:?}");
    }
    named.to_owned()
}

/// Asserts that a run with a limit gave the same results as one without.
#[track_caller]
pub(crate) fn assert_same_results(scratch: &Scratch) {
    for end in ["jsonl", "tsv"] {
        let [whole, again] = ["whole", "again"].map(|name| scratch.read(&format!("{name}.{end}")));
        assert!(whole == again, "{end} differs");
    }
}

/// Runs with every limit, without a work folder. Returns what could not be written.
pub(crate) fn fails_without_traces(scratch: &Scratch, args: &[&str]) -> BTreeSet<String> {
    let results = ["again.jsonl", "again.tsv"];
    results.iter().for_each(|name| scratch.write(name, "old"));
    let (names, mut named) = (scratch.names(), BTreeSet::new());
    for blocks in LIMITS {
        let run = run_limited(scratch, blocks, args);
        if run.code == Some(0) {
            assert_same_results(scratch);
            results.iter().for_each(|name| scratch.write(name, "old"));
        } else {
            named.insert(lacks_room(scratch, &run));
        }
        assert_eq!(scratch.names(), names, "{blocks} blocks");
        assert!(results.iter().all(|name| scratch.read(name) == b"old"), "{blocks} blocks");
        assert_eq!(std::fs::read_dir(scratch.path(TEMPORARY)).unwrap().count(), 0, "{blocks} blocks");
    }
    named
}

/// Runs with every limit and a work folder, in which later runs continue. Returns what could not be
/// written, and the finished stages that were found in the folder.
pub(crate) fn continues_with_room(
    scratch: &Scratch,
    args: &[&str],
    stages: &[&str],
) -> [BTreeSet<String>; 2] {
    let (mut named, mut kept) = (BTreeSet::new(), BTreeSet::new());
    let found = || -> BTreeSet<String> {
        let there = stages.iter().filter(|stage| scratch.path("work").join(stage).exists());
        there.map(|stage| (*stage).to_owned()).collect()
    };
    let finish = |names: &[String]| {
        assert_same_results(scratch);
        for name in ["again.jsonl", "again.tsv"] {
            std::fs::remove_file(scratch.path(name)).unwrap();
        }
        assert_eq!(scratch.names(), names, "nothing else is left of a run that has ended");
    };
    let names = scratch.names();
    // After each failure a run with room.
    for blocks in LIMITS {
        let run = run_limited(scratch, blocks, args);
        if run.code != Some(0) {
            named.insert(lacks_room(scratch, &run));
            kept.extend(found());
            assert!(scratch.path("work").exists());
            assert!(!scratch.path("again.jsonl").exists() && !scratch.path("again.tsv").exists());
            scratch.run(args).ok();
        }
        finish(&names);
    }
    // One failure after the other in the same folder, each time with more room.
    for blocks in LIMITS {
        let run = run_limited(scratch, blocks, args);
        if run.code == Some(0) {
            finish(&names);
            break;
        }
        lacks_room(scratch, &run);
    }
    assert!(!scratch.path("work").exists());
    [named, kept]
}

/// Returns a scratch folder with documents whose sets need more room than the keys of their bands.
/// Every second one is a near-duplicate.
fn scratch() -> Scratch {
    let mut random = Random::new(10);
    let mut words: Vec<String> = Vec::new();
    let texts: Vec<String> = (0..3000)
        .map(|number| {
            if number % 2 == 0 {
                words = (0..300).map(|_| format!("word{}", random.below(50_000))).collect();
            } else {
                words[random.below(300) as usize] = format!("other{number}");
            }
            words.join(" ")
        })
        .collect();
    let scratch = Scratch::with([("docs.jsonl", jsonl(&texts))]);
    std::fs::create_dir(scratch.path(TEMPORARY)).unwrap();
    scratch.run(&args(&["-o", "whole.jsonl", "--removed", "whole.tsv"])).ok();
    scratch
}

fn args<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["dedup", "docs.jsonl", "--quiet", "--memory", "16M"], more].concat()
}

const AGAIN: [&str; 4] = ["-o", "again.jsonl", "--removed", "again.tsv"];

#[test]
fn a_disk_without_room_for_the_spill_ends_the_run() {
    let scratch = scratch();
    let named = fails_without_traces(&scratch, &args(&AGAIN));
    assert_eq!(named.first().map(String::as_str), Some(TEMPORARY), "{named:?}");
}

#[test]
fn a_work_folder_without_room_keeps_what_is_done() {
    let scratch = scratch();
    let args = args(&[&AGAIN[..], &["--work", "work"]].concat());
    let [named, kept] = continues_with_room(&scratch, &args, &["signed", "paired", "gathered"]);
    for name in ["work/run", "work/keys.spill", "work/sets.spill"] {
        assert!(named.contains(name), "{name} in {named:?}");
    }
    assert!(kept.contains("paired"), "{kept:?}");
}

#[test]
fn a_disk_without_room_for_repeated_lines_ends_the_run() {
    let scratch = scratch();
    let run = |results: [&'static str; 4]| {
        [&["dedup", "docs.jsonl", "--unit", "line", "--memory", "64k", "--quiet"][..], &results].concat()
    };
    scratch.run(&run(["-o", "whole.jsonl", "--most-frequent", "whole.tsv"])).ok();
    let named = fails_without_traces(&scratch, &run(["-o", "again.jsonl", "--most-frequent", "again.tsv"]));
    assert!(["again.jsonl", TEMPORARY].into_iter().eq(&named), "{named:?}");
}

/// A small file system of its own, where the system allows one: it is full, and then it grows.
#[cfg(target_os = "linux")]
#[test]
fn a_full_file_system_is_named_and_a_larger_one_is_enough() {
    let scratch = scratch();
    // Each shell has mounts of its own, which end with it.
    let unshared = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-ec", script, env!("CARGO_BIN_EXE_crivo")]);
        command.current_dir(scratch.path("")).stdin(Stdio::null()).output()
    };
    let mount = "mount -t tmpfs -o size=1m tmpfs temporary; export TMPDIR=temporary; ";
    if !unshared(mount).is_ok_and(|run| run.status.success()) {
        return;
    }
    let line = args(&AGAIN).join(" ");
    let run = Ran::from(unshared(&format!("{mount} exec \"$0\" {line}")).unwrap());
    run.fails_with("writing to a temporary file in temporary: No space left on device");
    assert!(run.err.contains("make room there, or name another folder with TMPDIR"), "{run:?}");
    assert!(!scratch.path("again.jsonl").exists());

    std::fs::create_dir(scratch.path("disk")).unwrap();
    let work = "mount -t tmpfs -o size=1m tmpfs disk; line='--work disk/work'; ";
    let run = Ran::from(
        unshared(&format!(
            "{work} \"$0\" {line} $line && exit 1; ls disk/work; mount -o remount,size=64m disk; exec \"$0\" {line} $line"
        ))
        .unwrap(),
    );
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.err.contains("was not written: No space left on device"), "{run:?}");
    assert!(run.err.contains("what is done stays: make room and run again"), "{run:?}");
    assert!(run.out.contains("paired\n"), "{run:?}");
    assert_same_results(&scratch);
}
