//! Several processes write one file: nothing that was reported as done is lost.

use std::process::{Child, Stdio};

use serde_json::Value;

use crate::support::Scratch;

/// Starts a command that reads `count` integers from `first` on from its standard input.
fn start(scratch: &Scratch, arguments: &[&str], first: u32, count: u32) -> Child {
    use std::io::Write;
    let mut child = scratch.command(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let lines: String = (first..first + count).map(|number| format!("{number}\n")).collect();
    let mut input = child.stdin.take().unwrap();
    std::thread::spawn(move || input.write_all(lines.as_bytes()));
    child
}

fn items(scratch: &Scratch, name: &str) -> f64 {
    let output = scratch.command(&["show", name, "--json"]).output().unwrap();
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    shown["items"]["value"].as_f64().unwrap()
}

#[test]
fn two_writers_lose_no_rows() {
    for command in [
        &["freq", "--into", "r.crivo", "-q"][..],
        &["distinct", "--method", "exact", "--into", "r.crivo", "-q"],
        &["top", "--counters", "100000", "--into", "r.crivo", "-q"],
        &["set", "build", "--items", "100000", "--fpr", "0.01%", "--into", "r.crivo", "-q"],
        &["uniq", "--items", "100000", "--fpr", "0.01%", "--state", "r.crivo", "-q"],
    ] {
        let scratch = Scratch::new();
        let children: Vec<Child> = (0..8).map(|part| start(&scratch, command, 5_000 * part, 5_000)).collect();
        for mut child in children {
            assert!(child.wait().unwrap().success(), "{command:?}");
        }
        let found = items(&scratch, "r.crivo");
        assert!((found - 40_000.0).abs() < 400.0, "{command:?}: {found}");
        if command[0] == "freq" {
            assert_eq!(found, 40_000.0);
        }
    }
}

#[test]
fn a_killed_writer_keeps_no_process_waiting() {
    let scratch = Scratch::new();
    let mut killed =
        scratch.command(&["freq", "--into", "r.crivo", "-q"]).stdin(Stdio::piped()).spawn().unwrap();
    let input = killed.stdin.take().unwrap();
    while !scratch.path(".r.crivo.lock").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    drop(input);
    assert!(start(&scratch, &["freq", "--into", "r.crivo", "-q"], 0, 100).wait().unwrap().success());
    assert_eq!(items(&scratch, "r.crivo"), 100.0);
}

#[test]
fn waiting_ends_with_an_error_that_names_the_option() {
    let scratch = Scratch::new();
    let mut slow =
        scratch.command(&["freq", "--into", "r.crivo", "-q"]).stdin(Stdio::piped()).spawn().unwrap();
    let input = slow.stdin.take().unwrap();
    while !scratch.path(".r.crivo.lock").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let output = scratch
        .command(&["freq", "--into", "r.crivo", "--wait", "1s"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("r.crivo: another process") && message.contains("--wait"), "{message}");
    drop(input);
    assert!(slow.wait().unwrap().success());
}

#[test]
fn the_same_command_twice_continues() {
    for command in [
        &["freq", "--error", "1%", "--confidence", "90%", "--into", "r.crivo", "-q"][..],
        &["set", "build", "--items", "1000", "--into", "r.crivo", "-q"],
        &["uniq", "--items", "1000", "--state", "r.crivo", "-q"],
        &[
            "count",
            "--by",
            "1",
            "--bits",
            "8",
            "--items",
            "1000",
            "--format",
            "csv",
            "--no-header",
            "--into",
            "r.crivo",
            "-q",
        ],
    ] {
        let scratch = Scratch::new();
        for first in [0, 100] {
            assert!(start(&scratch, command, first, 100).wait().unwrap().success(), "{command:?}");
        }
        assert!((items(&scratch, "r.crivo") - 200.0).abs() < 80.0, "{command:?}");
    }
    let scratch = Scratch::new();
    assert!(
        start(&scratch, &["freq", "--error", "1%", "--into", "r.crivo", "-q"], 0, 9)
            .wait()
            .unwrap()
            .success()
    );
    let output = scratch
        .command(&["freq", "--error", "2%", "--into", "r.crivo"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("width 136 was asked for: that of r.crivo is 272"), "{message}");
}

/// 64 writers at once, and 100 kills among them: everything reported as done is in the file,
/// nothing is in it twice, and the file is undamaged. `CRIVO_WRITERS` and `CRIVO_KILLS` change the
/// numbers.
#[test]
fn nothing_reported_done_is_lost_among_kills() {
    let number =
        |name, default| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (writers, kills): (usize, usize) = (number("CRIVO_WRITERS", 64), number("CRIVO_KILLS", 100));
    let scratch = Scratch::new();
    let command = ["distinct", "--method", "exact", "--into", "r.crivo", "-q", "--wait", "10m"];
    let (mut done, mut killed) = (0, 0);
    let mut running: Vec<Child> = Vec::new();
    for part in 0.. {
        running.push(start(&scratch, &command, 1_000 * part, 1_000));
        if running.len() < writers {
            continue;
        }
        if killed < kills && part % 4 != 0 {
            // Kills a process at any stage of its work: waiting, reading, writing, or at its end.
            std::thread::sleep(std::time::Duration::from_millis(u64::from(part % 7) * 3));
            let mut child = running.swap_remove(part as usize * 7 % running.len());
            let _ = child.kill();
            if child.wait().unwrap().success() { done += 1 } else { killed += 1 }
        } else {
            assert!(running.remove(0).wait().unwrap().success());
            done += 1;
        }
        if killed >= kills && done >= writers {
            break;
        }
    }
    for mut child in running {
        assert!(child.wait().unwrap().success());
        done += 1;
    }
    assert_eq!(killed, kills);
    let all = items(&scratch, "r.crivo");
    // A process may be killed after it wrote and before it reported. Its integers are all in the
    // file.
    let unsaid = all - 1_000.0 * done as f64;
    assert!(unsaid >= 0.0 && unsaid % 1_000.0 == 0.0, "{all} of {done} done");
    assert!(unsaid <= 1_000.0 * killed as f64, "{all} of {done} done");
}
