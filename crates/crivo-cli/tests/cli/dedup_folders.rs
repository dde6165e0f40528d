//! Folders whose files are documents: what is read, and what is written to another folder.

use crate::support::Scratch;

#[test]
fn folders_hold_a_document_in_each_file() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.path("notes/deep")).unwrap();
    let text = "one two three four five six seven eight nine ten";
    for (name, text) in [("a.txt", text), ("deep/b.txt", &text.to_uppercase()), ("c.txt", "something else")] {
        scratch.write(&format!("notes/{name}"), text);
    }
    let listed = scratch.run(&["dedup", "notes"]);
    assert_eq!(listed.ok(), "notes/a.txt\nnotes/c.txt\n");
    scratch.run(&["dedup", "notes", "-o", "clean", "--clusters", "c.tsv"]).ok();
    assert_eq!(scratch.read("clean/a.txt"), text.as_bytes());
    assert!(scratch.path("clean/c.txt").exists() && !scratch.path("clean/deep/b.txt").exists());
    assert_eq!(scratch.read("c.tsv"), b"notes/a.txt\tnotes/a.txt\nnotes/deep/b.txt\tnotes/a.txt\n");
    scratch.run(&["dedup", "notes", "-o", "clean"]).fails_with("is there already");
    scratch
        .run(&["dedup", "notes", "-o", "notes/deep/clean"])
        .fails_with("is inside of notes, which is read");
    assert!(!scratch.path("notes/deep/clean").exists());
    scratch.run(&["dedup", "notes", "--field", "x"]).fails_with("each whole file is a document");
}

#[test]
fn folders_of_one_name_are_refused_before_one_replaces_the_other() {
    let scratch = Scratch::new();
    for (folder, text) in [("en/train", "one two three four"), ("fr/train", "un deux trois quatre")] {
        std::fs::create_dir_all(scratch.path(folder)).unwrap();
        scratch.write(&format!("{folder}/1.txt"), text);
    }
    for args in [
        &["dedup", "en/train", "fr/train", "-o", "out"][..],
        &["dedup", "--unit", "line", "en/train", "fr/train", "-o", "out"],
        &["passages", "en/train", "fr/train", "-o", "out"],
        &["overlap", "en/train", "fr/train", "--with", "en", "-o", "out"],
    ] {
        let message = "en/train and fr/train: their files would be written to the same folder train";
        scratch.run(args).fails_with(message);
        assert!(!scratch.path("out").exists());
    }
    // Without an output folder there is nothing to replace.
    assert_eq!(scratch.run(&["dedup", "en/train", "fr/train"]).ok(), "en/train/1.txt\nfr/train/1.txt\n");
    scratch.run(&["dedup", "en", "fr", "-o", "out"]).ok();
    assert_eq!(scratch.read("out/fr/train/1.txt"), b"un deux trois quatre");
    // A folder inside another one has a name of its own.
    scratch.run(&["dedup", "en", "en/train", "--dry-run", "--json"]).json();
    scratch.run(&["passages", "en", "en/train", "-o", "nested"]).ok();
    assert!(scratch.path("nested/en/train/1.txt").exists() && scratch.path("nested/train/1.txt").exists());
}

/// A file that cannot be read for root either.
#[cfg(target_os = "linux")]
#[test]
fn files_that_cannot_be_read_are_left_out_of_the_copy_on_request() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("notes")).unwrap();
    scratch.write("notes/a.txt", "one two three four five six");
    std::os::unix::fs::symlink("/proc/self/mem", scratch.path("notes/b.txt")).unwrap();
    scratch.run(&["dedup", "notes", "-o", "out"]).fails_with("notes/b.txt: Input/output error");
    for (command, folder) in [
        (&["dedup", "--json"][..], "documents"),
        (&["dedup", "--unit", "line", "--json"], "units"),
        (&["passages", "--json"], "passages"),
    ] {
        let run = scratch.run(&[command, &["notes", "--skip-bad", "-o", folder]].concat());
        run.ok();
        assert!(run.err.contains("1 files could not be read, and are not copied"), "{}", run.err);
        assert!(run.out.contains("\"skipped\":1,"), "{}", run.out);
        assert!(scratch.path(folder).join("a.txt").exists() && !scratch.path(folder).join("b.txt").exists());
    }
}
