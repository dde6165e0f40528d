//! Sketches are written completely or not at all.

use std::process::{Command, Stdio};

use crate::support::Scratch;

#[test]
fn output_that_cannot_be_written_is_refused_before_reading() {
    let scratch = Scratch::with([("data.txt", "a\n"), ("locked.crivo", "old")]);
    std::fs::create_dir(scratch.path("folder")).unwrap();
    let locked = scratch.path("locked.crivo");
    let mut permissions = locked.metadata().unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&locked, permissions).unwrap();
    let before = scratch.names();
    for (path, message) in [
        ("none/s.crivo", "none/s.crivo: there is no folder none to write it in"),
        ("folder", "folder: is a folder"),
        ("data.txt/s.crivo", "data.txt/s.crivo: "),
        ("locked.crivo", "locked.crivo: is read-only"),
        ("-", "- is no file"),
    ] {
        // Standard input never ends, so a refusal after reading would hang.
        let mut child = scratch.command(&["distinct", "-o", path]);
        let mut child =
            child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let held = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(held);
        crate::support::Ran::from(output).fails_with(message);
    }
    assert_eq!(scratch.names(), before);
    assert_eq!(scratch.read("locked.crivo"), b"old");
}

#[test]
fn input_is_never_replaced_by_its_sketch() {
    let scratch = Scratch::with([("data.txt", "a\n")]);
    for output in ["data.txt", "./data.txt"] {
        scratch
            .run(&["distinct", "data.txt", "-o", output])
            .fails_with("data.txt: is read, and would be replaced");
    }
    assert_eq!(scratch.read("data.txt"), b"a\n");
    // A pattern names files too.
    std::fs::create_dir(scratch.path("logs")).unwrap();
    scratch.write("logs/a.csv", "f\n1\n");
    scratch
        .run(&["distinct", "logs/*.csv", "-f", "f", "-o", "logs/a.csv"])
        .fails_with("logs/a.csv: is read, and would be replaced");
    assert_eq!(scratch.read("logs/a.csv"), b"f\n1\n");
}

#[test]
fn failed_pass_leaves_the_old_file_and_no_other() {
    let scratch = Scratch::with([("ragged.csv", "a,b\n1,2\n3\n")]);
    scratch.feed(&["distinct", "-o", "s.crivo"], "x\n").ok();
    let (before, names) = (scratch.read("s.crivo"), scratch.names());
    scratch.run(&["distinct", "ragged.csv", "-f", "a", "--into", "s.crivo"]).fails_with("ragged.csv:3");
    scratch.run(&["distinct", "ragged.csv", "-f", "a", "-o", "new.crivo"]).fails_with("ragged.csv:3");
    assert_eq!(scratch.read("s.crivo"), before);
    assert_eq!(scratch.names(), names);
}

#[test]
fn damaged_sketch_is_not_continued_over() {
    let scratch = Scratch::with([("s.crivo", "CRVO and then something else")]);
    scratch.feed(&["distinct", "--into", "s.crivo"], "a\n").fails_with("crivo: s.crivo: ");
    assert_eq!(scratch.read("s.crivo"), b"CRVO and then something else");
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_leaves_the_old_file_and_no_other() {
    let scratch = Scratch::with([("data.txt", "a\n")]);
    scratch.run(&["distinct", "data.txt", "-o", "/dev/full"]).fails_with("/dev/full: was not written");
    scratch.run(&["distinct", "data.txt", "-o", "s.crivo"]).ok();
    let (before, names) = (scratch.read("s.crivo"), scratch.names());
    // A limit on file sizes has the effect of a disk that fills while the sketch is written.
    for option in ["--into", "-o"] {
        let line = format!(
            "trap '' XFSZ; ulimit -f 0; exec {} distinct data.txt {option} s.crivo",
            env!("CARGO_BIN_EXE_crivo")
        );
        let mut shell = Command::new("sh");
        let output = shell.args(["-c", &line]).current_dir(scratch.path("")).output().unwrap();
        crate::support::Ran::from(output).fails_with("s.crivo: was not written: ");
        assert_eq!(scratch.read("s.crivo"), before);
        assert_eq!(scratch.names(), names);
    }
}

#[cfg(unix)]
#[test]
fn links_stay_links_and_permissions_stay() {
    use std::os::unix::fs::PermissionsExt;

    let scratch = Scratch::new();
    scratch.feed(&["distinct", "-o", "real.crivo"], "a\n").ok();
    std::fs::set_permissions(scratch.path("real.crivo"), std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("real.crivo", scratch.path("link.crivo")).unwrap();
    scratch.feed(&["distinct", "--into", "link.crivo"], "b\n").ok();
    assert!(scratch.path("link.crivo").is_symlink());
    assert_eq!(scratch.run(&["show", "real.crivo", "--json"]).json()["items"]["value"], 2.0);
    let mode = scratch.path("real.crivo").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}

#[cfg(unix)]
#[test]
fn new_file_has_the_permissions_of_any_new_file() {
    let scratch = Scratch::with([("other", "")]);
    scratch.feed(&["distinct", "-o", "s.crivo"], "a\n").ok();
    let permissions = |name| scratch.path(name).metadata().unwrap().permissions();
    assert_eq!(permissions("s.crivo"), permissions("other"));
}

#[cfg(unix)]
#[test]
fn interrupt_ends_with_130_and_leaves_nothing() {
    use std::io::Write;

    let scratch = Scratch::new();
    for signal in ["INT", "TERM"] {
        let mut command = scratch.command(&["distinct", "-o", "s.crivo"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut held = child.stdin.take().unwrap();
        // The input is larger than a pipe's buffer. So when it is written, the pass is reading and
        // handles signals.
        held.write_all(&b"line\n".repeat(200_000)).unwrap();
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        drop(held);
        let ran = crate::support::Ran::from(output);
        assert_eq!((ran.code, ran.out.as_str()), (Some(130), ""), "{ran:?}");
        assert!(scratch.names().is_empty(), "{:?}", scratch.names());
    }
}
