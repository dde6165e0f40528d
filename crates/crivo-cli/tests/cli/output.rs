//! `--output`: tables for programs, in every form, with all digits.

use serde_json::Value;

use crate::support::Scratch;

fn lines(numbers: u32) -> String {
    (0..numbers).map(|number| format!("{number}\n")).collect()
}

#[test]
fn every_answer_that_is_a_table_has_every_form() {
    let scratch = Scratch::with([
        ("n.txt", lines(5_000)),
        ("r.csv", "user,film,n\nana,x,1\nana,y,2\nrui,x,3\nrui,y,4\n".into()),
    ]);
    scratch.run(&["freq", "n.txt", "-o", "f.crivo", "-q"]).ok();
    scratch.run(&["set", "build", "n.txt", "-o", "s.crivo", "-q"]).ok();
    for (command, first) in [
        (&["distinct", "n.txt"][..], "distinct"),
        (&["top", "n.txt"], "key"),
        (&["count", "n.txt"], "count"),
        (&["ask", "f.crivo", "17"], "key"),
        (&["show", "s.crivo"], "kind"),
        (&["set", "has", "s.crivo", "17"], "key"),
        (&["plan", "bloom", "--items", "1000", "--fpr", "1%"], "kind"),
        (&["profile", "r.csv"], "table"),
        (&["similar", "pairs", "r.csv", "--sets", "user,film", "--threshold", "1"], "a"),
        (&["similar", "files", "n.txt", "n.txt"], "similarity"),
    ] {
        let run = |form: &str| scratch.run(&[command, &["--output", form, "-q"]].concat()).ok().to_string();
        let (tsv, csv) = (run("tsv"), run("csv"));
        assert!(
            tsv.starts_with(&format!("{first}\t"))
                || tsv.starts_with(&format!("{first}_"))
                || command[0] == "similar",
            "{tsv}"
        );
        assert!(csv.starts_with(first), "{csv}");
        assert_eq!(tsv.lines().count(), csv.lines().count());
        let fields =
            |text: &str, by: char| text.lines().map(|line| line.matches(by).count()).collect::<Vec<_>>();
        let of_tsv = fields(&tsv, '\t');
        assert!(of_tsv.iter().all(|count| *count == of_tsv[0]), "{tsv}");
        assert!(run("markdown").lines().nth(1).unwrap().starts_with("|---|"));
        let objects: Vec<Value> =
            run("jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(objects.len(), tsv.lines().count() - 1, "{command:?}");
        let whole: Value = serde_json::from_str(&run("json")).unwrap();
        assert_eq!(
            whole,
            serde_json::from_str::<Value>(&scratch.run(&[command, &["--json", "-q"]].concat()).out).unwrap()
        );
    }
}

#[test]
fn off_a_terminal_no_number_has_blanks() {
    let scratch = Scratch::with([("n.txt", lines(5_000))]);
    for command in ["distinct", "count"] {
        assert!(scratch.run(&[command, "n.txt"]).ok().starts_with("5000 "), "{command}");
    }
    assert!(scratch.run(&["distinct", "--output", "users.crivo", "n.txt"]).err.contains("possible values"));
}

#[test]
fn exact_numbers_have_all_their_digits() {
    let scratch = Scratch::with([("v.csv", "v\n1e308\n1e308\n-1e308\n"), ("p.csv", "p\n0.1\n426738.7\n")]);
    let counted = scratch.run(&["count", "--sum", "v", "v.csv", "--json"]).json();
    assert_eq!(counted["sum"].as_f64(), Some(1e308));
    assert!(scratch.run(&["count", "--sum", "p", "p.csv"]).ok().contains("sum 426738.8"));
    let scratch =
        Scratch::with([("f.csv", "x\n0.5\n0.999999\n"), ("one.csv", "x\n1\n"), ("z.csv", "c\n007\n008\n")]);
    assert!(scratch.run(&["profile", "f.csv"]).ok().contains("0.5 … 0.999999"));
    assert!(scratch.run(&["count", "one.csv"]).ok().starts_with("1 row, exactly"));
    assert!(scratch.run(&["profile", "z.csv"]).ok().contains("leading zero"));
}

#[test]
fn different_keys_that_are_no_text_look_different() {
    let scratch = Scratch::new();
    scratch.write("b.txt", b"a\xFF\na\xFE\n");
    let top = scratch.run(&["top", "b.txt", "--json"]).json();
    let keys: Vec<_> = top["top"].as_array().unwrap().iter().map(|line| line["key_hex"].clone()).collect();
    assert_eq!(keys, ["61fe", "61ff"]);
    assert_ne!(top["top"][0]["key"], top["top"][1]["key"]);
}

#[test]
fn weights_beyond_all_counters_are_not_called_exact() {
    let scratch = Scratch::with([("w.csv", "k,w\na,18446744073709551615\na,5\n")]);
    let run = scratch.run(&["top", "-f", "k", "--weight", "w", "w.csv"]);
    assert!(run.ok().contains("at least") && run.out.contains("not exact: counts end"), "{run:?}");
    assert!(run.err.contains("2^64"), "{run:?}");
}

#[test]
fn messages_speak_of_the_command_and_once_of_an_option() {
    let scratch = Scratch::with([("n.txt", lines(10)), ("long.txt", "a".repeat(5_000))]);
    let error = |command: &[&str]| scratch.run(command).err;
    for (command, message) in [
        (&["distinct", "--error", "5", "n.txt"][..], "--error: expected a standard error"),
        (&["sample", "-n", "0", "n.txt"], "expected a number of rows"),
        (&["top", "-k", "0", "n.txt"], "expected a whole number from 1 on"),
        (&["top", "long.txt"], "--skip-bad"),
        (&["distinct", "--verify", "--follow", "n.txt"], "--follow it never ends"),
        (&["freq", "--ranges", "64", "n.txt", "-o", "r.crivo"], "more than the 256 MiB of --memory"),
    ] {
        let found = error(command);
        assert!(found.contains(message) && !found.contains("KeyScheme"), "{command:?}: {found}");
    }
    assert_eq!(scratch.run(&["sample", "-n", "100%", "n.txt"]).ok(), lines(10));
    assert_eq!(scratch.run(&["sample", "-n", "1k", "n.txt"]).ok(), lines(10));
}

#[test]
fn help_lists_no_option_that_is_always_refused() {
    let scratch = Scratch::new();
    for (command, option) in [
        (&["uniq"][..], "--words"),
        (&["sample"], "--words"),
        (&["quantile"], "--words"),
        (&["similar", "pairs"], "--field"),
    ] {
        let help = scratch.run(&[command, &["--help"]].concat());
        assert!(!help.ok().contains(option), "{command:?}: {option}");
    }
    assert!(!scratch.run(&["set", "subtract", "--help"]).ok().contains("side by side"));
}
