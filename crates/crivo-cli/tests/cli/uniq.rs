//! `crivo uniq` compared with an exact model.

use std::collections::HashSet;

use crate::support::{Scratch, column, table};

/// Returns the lines whose value occurs for the first time.
fn first_occurrences(lines: &[&str], values: &[String]) -> String {
    let mut seen = HashSet::new();
    let first =
        lines.iter().zip(values).filter(|(_, value)| value.is_empty() || seen.insert((*value).clone()));
    first.fold(String::new(), |text, (line, _)| text + line)
}

#[test]
fn first_occurrences_stay_in_order_and_as_they_stand() {
    let values = column(5_000, 900, 1);
    let scratch = Scratch::new();
    for format in ["lines", "csv", "jsonl"] {
        let name = format!("data.{format}");
        let bytes = table(format, &values);
        scratch.write(&name, &bytes);
        let text = String::from_utf8(bytes).unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let header = usize::from(format == "csv");
        let expected = lines[..header].concat() + &first_occurrences(&lines[header..], &values);
        for threads in ["1", "3"] {
            for more in [&[][..], &["--items", "2000"]] {
                let mut args = vec!["uniq", &name, "--fpr", "1e-9", "--threads", threads];
                args.extend(more);
                if format != "lines" {
                    args.extend(["-f", "value"]);
                }
                assert_eq!(scratch.run(&args).ok(), expected, "{format} on {threads} {more:?}");
            }
        }
    }
    assert_eq!(scratch.feed(&["uniq"], "b\na\nb\n\na\n\nc").ok(), "b\na\n\n\nc");
}

#[test]
fn new_rows_are_left_out_as_rarely_as_was_asked_for() {
    let text = (0..40_000).fold(String::new(), |text, n| text + &format!("row {n}\n"));
    let scratch = Scratch::with([("data.txt", &text)]);
    let run = scratch.run(&["uniq", "data.txt", "--fpr", "1%"]);
    let left_out = 40_000 - run.ok().lines().count();
    // The false-positive rate is 1 % at capacity, and less while the filter is filled: about a
    // fifth of that on average.
    assert!((1..400).contains(&left_out), "{left_out}");
    assert_eq!(run.err, "");
}

#[test]
fn state_remembers_over_runs() {
    let scratch = Scratch::new();
    let args = ["uniq", "--state", "seen.crivo"];
    assert_eq!(scratch.feed(&[&args[..], &["--items", "1000"]].concat(), "a\nb\na\n\n").ok(), "a\nb\n\n");
    assert_eq!(scratch.feed(&args, "b\nc\n\n").ok(), "c\n\n");
    assert_eq!(scratch.feed(&args, "a\nb\nc\n").ok(), "");
    assert_eq!(scratch.run(&["show", "seen.crivo", "--json"]).json()["kind"], "BlockedBloom");
    scratch.feed(&[&args[..], &["--items", "5"]].concat(), "a\n").fails_with("was asked for");
    scratch.feed(&[&args[..], &["--keys", "int"]].concat(), "1\n").fails_with("--keys int");
    // If a later run cannot read its input, the state stays as it was.
    let before = scratch.read("seen.crivo");
    scratch.write("bad.jsonl", "{\"a\":1}\n{\n");
    let run = scratch.run(&["uniq", "bad.jsonl", "-f", "a", "--state", "seen.crivo"]);
    assert_eq!((run.code, scratch.read("seen.crivo") == before), (Some(2), true), "{run:?}");
    scratch.feed(&["top", "-o", "t.crivo"], "a\n").ok();
    scratch.feed(&["uniq", "--state", "t.crivo"], "a\n").fails_with("t.crivo: this is a HeavyHitters");
    // A set that another command built can be continued.
    scratch.feed(&["set", "build", "--items", "100", "-o", "s.crivo"], "a\n").ok();
    assert_eq!(scratch.feed(&["uniq", "--state", "s.crivo"], "a\nb\n").ok(), "b\n");
    assert_eq!(scratch.run(&["set", "has", "s.crivo", "b"]).code, Some(0));
}

#[test]
fn files_are_told_apart_by_their_content() {
    let scratch = Scratch::with([("a.html", "one"), ("b.html", "two"), ("c.html", "one"), ("d.txt", "one")]);
    let args = ["uniq", "--files", "--state", "pages.crivo"];
    assert_eq!(scratch.run(&[&args[..], &["*.html", "d.txt"]].concat()).ok(), "a.html\nb.html\n");
    scratch.write("e.html", "three");
    assert_eq!(scratch.run(&[&args[..], &["*.html"]].concat()).ok(), "e.html\n");
    assert_eq!(scratch.feed(&["uniq", "--files"], "d.txt\na.html\nb.html\n").ok(), "d.txt\nb.html\n");
    scratch.run(&["uniq", "--files", "none.html"]).fails_with("none.html: no such file");
    scratch.feed(&["uniq", "--files"], "none.html\n").fails_with("none.html: no such file");
    scratch.run(&["uniq", "--files", "a.html", "-f", "2"]).fails_with("--files: ");
}

#[test]
fn full_filter_warns_or_fails_and_keeps_the_state() {
    let text = (0..5_000).fold(String::new(), |text, n| text + &format!("{n}\n"));
    let scratch = Scratch::with([("data.txt", text)]);
    let args = ["uniq", "data.txt", "--items", "1000", "--state", "s.crivo"];
    let run = scratch.run(&args);
    run.ok();
    assert!(run.err.contains("warning: the filter was made for 1000 items"), "{run:?}");
    std::fs::remove_file(scratch.path("s.crivo")).unwrap();
    let failed = scratch.run(&[&args[..], &["--on-full", "fail"]].concat());
    assert_eq!(failed.code, Some(2));
    assert_eq!(scratch.names(), ["data.txt"]);
}

#[test]
fn words_and_impossible_rates_are_refused() {
    let scratch = Scratch::new();
    scratch.feed(&["uniq", "--words", "2"], "a\n").fails_with("--words");
    scratch.feed(&["uniq", "--fpr", "0"], "a\n").fails_with("--fpr 0");
    scratch.feed(&["uniq", "--items", "0"], "a\n").fails_with("items: expected 1 to");
    assert_eq!(scratch.feed(&["uniq", "--keys", "int"], "1\n01\n\n2\n\n").ok(), "1\n\n2\n\n");
}

#[test]
fn parquet_rows_stay_parquet() {
    let values = column(3_000, 200, 4);
    let scratch = Scratch::with([("data.parquet", table("parquet", &values))]);
    let output = scratch.command(&["uniq", "data.parquet", "-f", "value", "--fpr", "1e-9"]).output().unwrap();
    scratch.write("once.parquet", output.stdout);
    let count = |name: &str, method: &str| {
        scratch.run(&["distinct", name, "-f", method, "--method", "exact", "--json"]).json()
    };
    let different: HashSet<&String> = values.iter().filter(|value| !value.is_empty()).collect();
    let empty = values.iter().filter(|value| value.is_empty()).count();
    // Rows without a value are all kept.
    assert_eq!(count("once.parquet", "id")["rows"], different.len() + empty);
    assert_eq!(count("once.parquet", "value")["skipped"], empty);
}

#[test]
fn rows_without_a_value_are_all_kept() {
    let scratch = Scratch::new();
    let run = scratch.feed(&["uniq", "-f", "k", "--format", "csv"], "k,v\na,1\n,2\n,3\nb,4\na,5\n");
    assert_eq!((run.ok(), run.err.as_str()), ("k,v\na,1\n,2\n,3\nb,4\n", ""));
    scratch.write("a.csv", "k,v\na,1\n,2\n,3\nb,4\n");
    let run = scratch.run(&["uniq", "a.csv", "-f", "k"]);
    assert_eq!((run.ok(), run.err.as_str()), ("k,v\na,1\n,2\n,3\nb,4\n", ""), "and nothing is full");
}

#[test]
fn reader_that_has_enough_is_no_error_and_leaves_no_state() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    let text = (0..200_000).fold(String::new(), |text, n| text + &format!("{n}\n"));
    let scratch = Scratch::with([("data.txt", text)]);
    for args in [
        &["uniq", "data.txt", "--state", "s.crivo"][..],
        &["sample", "data.txt", "-n", "100000"],
        &["set", "drop", "few.crivo", "data.txt"],
    ] {
        scratch.feed(&["set", "build", "--items", "10", "-o", "few.crivo"], "x\n").ok();
        let mut command = scratch.command(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{args:?}");
    }
    assert_eq!(scratch.names(), ["data.txt", "few.crivo"]);
}
