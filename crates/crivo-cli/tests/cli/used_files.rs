//! Outputs that would replace a file the command reads, or another output.

use crate::support::Scratch;

const IS_READ: &str = "is read, and would be replaced";
const IS_TWICE: &str = "is the name of two outputs";

fn scratch() -> Scratch {
    let text = "the quick brown fox jumps over the lazy dog and runs far away";
    let documents = format!("{{\"id\":1,\"text\":\"{text}\"}}\n{{\"id\":2,\"text\":\"{text}\"}}\n");
    Scratch::with([
        ("c.jsonl", documents.clone()),
        ("b.jsonl", documents),
        ("t.csv", "city,size\nFaro,1\nBeja,2\n".into()),
        ("words.txt", "the\nand\n".into()),
        ("rules.toml", "[columns.city]\nnot_empty = true\n".into()),
    ])
}

/// Runs a command that has to fail, and to leave every file as it was.
#[track_caller]
fn refuses(scratch: &Scratch, args: &str, message: &str) {
    let files = |scratch: &Scratch| {
        let names = scratch.names().into_iter().filter(|name| scratch.path(name).is_file());
        names.map(|name| (scratch.read(&name), name)).collect::<Vec<_>>()
    };
    let before = files(scratch);
    scratch.run(&args.split(' ').collect::<Vec<_>>()).fails_with(message);
    assert!(files(scratch) == before, "{args}: changed a file");
}

#[test]
fn no_file_that_a_command_reads_is_replaced_by_its_output() {
    let scratch = scratch();
    scratch.run(&["profile", "t.csv", "-o", "P.crivo"]).ok();
    for args in [
        "dedup c.jsonl --shingle stopwords --stop-words words.txt -o words.txt",
        "dedup c.jsonl --shingle stopwords --stop-words words.txt --pairs ./words.txt",
        "dedup c.jsonl --clusters c.jsonl",
        "overlap c.jsonl --with b.jsonl --report b.jsonl",
        "overlap c.jsonl --with b.jsonl -o b.jsonl",
        "overlap c.jsonl --with b*.jsonl -o b.jsonl",
        "profile t.csv --against P.crivo --html P.crivo",
        "profile t.csv --against P.crivo -o P.crivo",
        "profile t.csv --expect rules.toml -o rules.toml",
        "profile t.csv --expect rules.toml --write-rules rules.toml",
    ] {
        refuses(&scratch, args, IS_READ);
    }
}

#[test]
fn no_file_in_a_folder_that_a_command_reads_is_replaced_by_its_output() {
    let scratch = scratch();
    std::fs::create_dir_all(scratch.path("notes/old")).unwrap();
    scratch.write("notes/old/a.txt", "one two three four five six");
    scratch.run(&["dedup", "notes", "--dry-run", "--pairs", "notes/old/a.txt"]).fails_with(IS_READ);
    assert_eq!(scratch.read("notes/old/a.txt"), b"one two three four five six");

    scratch.run(&["similar", "index", "idx", "add", "c.jsonl"]).ok();
    let before = scratch.read("idx/index.sqlite");
    scratch.run(&["dedup", "b.jsonl", "--against", "idx", "-o", "idx/index.sqlite"]).fails_with(IS_READ);
    assert!(scratch.read("idx/index.sqlite") == before);
    // Only the database is read.
    scratch.run(&["dedup", "b.jsonl", "--against", "idx", "-o", "idx/kept.jsonl"]).ok();
    scratch.run(&["dedup", "b.jsonl", "--against", "idx", "-o", "idx/kept.jsonl"]).ok();
}

#[test]
fn a_mail_store_is_not_replaced_by_its_export() {
    let scratch =
        Scratch::with([("a.eml", "Subject: offer\n\nbuy now\n"), ("b.eml", "Subject: hi\n\nlunch?\n")]);
    scratch.run(&["mail", "train", "--store", "st", "--spam", "a.eml", "--ham", "b.eml"]).ok();
    let run = scratch.run(&["mail", "export", "--store", "st", "st/mail.sqlite"]);
    assert!(run.code == Some(3) && run.err.contains(IS_READ), "{run:?}");
    scratch.run(&["mail", "stats", "--store", "st", "--verify"]).ok();
    scratch.run(&["mail", "export", "--store", "st", "st/backup"]).ok();
    scratch.run(&["mail", "export", "--store", "st", "st/backup"]).ok();
}

#[test]
fn two_outputs_have_two_names() {
    let scratch = scratch();
    std::fs::create_dir(scratch.path("notes")).unwrap();
    scratch.write("notes/a.txt", "one two three four five six");
    for args in [
        "dedup c.jsonl -o same --removed same",
        "dedup c.jsonl -o same --removed ./same",
        "dedup c.jsonl --dry-run --pairs same --clusters same",
        "dedup notes -o same --pairs same",
        "dedup c.jsonl --unit line -o same --most-frequent same",
        "passages c.jsonl -o same --report same",
        "passages c.jsonl -o same --html same",
        "passages c.jsonl --cut none --report same --html ./same",
        "overlap c.jsonl --with b.jsonl -o same --report same",
        "profile t.csv -o same --html same",
        "profile t.csv -o same --write-rules notes/../same",
    ] {
        refuses(&scratch, args, IS_TWICE);
    }
}

/// What is written to a device replaces nothing.
#[cfg(unix)]
#[test]
fn a_device_takes_several_outputs() {
    let scratch = scratch();
    scratch.run(&["dedup", "c.jsonl", "-o", "/dev/null", "--pairs", "/dev/null"]).ok();
}
