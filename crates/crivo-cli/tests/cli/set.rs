//! `crivo set` compared with exact sets.

use std::collections::HashSet;

use crivo::membership::{BinaryFuse, Bloom};

use crate::support::{Random, Scratch, column, table};

#[test]
fn filter_has_the_librarys_bytes_and_every_member() {
    let values = column(4_000, 2_000, 1);
    let mut expected = Bloom::for_items(3_000, 0.02).unwrap();
    for key in values.iter().filter(|value| !value.is_empty()) {
        expected.insert(key.as_str()).unwrap();
    }
    for format in ["lines", "csv", "jsonl", "parquet"] {
        let scratch = Scratch::new();
        let name = format!("data.{format}");
        scratch.write(&name, table(format, &values));
        let mut args = vec!["set", "build", &name, "--items", "3000", "--fpr", "2%", "-o", "s.crivo"];
        if format != "lines" {
            args.extend(["-f", "value"]);
        }
        scratch.run(&args).ok();
        assert!(scratch.read("s.crivo") == expected.encode(), "{format}");
    }
}

#[test]
fn first_pass_finds_the_size() {
    let text = (0..50_000).fold(String::new(), |text, n| text + &format!("{}\n", n % 20_000));
    let scratch = Scratch::with([("data.txt", text)]);
    for (more, kind) in
        [(&[][..], "Bloom"), (&["--blocked"], "BlockedBloom"), (&["--counting", "4"], "CountingBloom")]
    {
        let args = [&["set", "build", "data.txt", "--fpr", "1%", "--json", "-o", "s.crivo"], more].concat();
        let json = scratch.run(&args).json();
        assert_eq!(json["kind"], kind);
        let capacity = json["parameters"]["capacity"].as_f64().unwrap();
        assert!((20_000.0..21_000.0).contains(&capacity), "{json}");
        let rate = json["fpr"].as_f64().unwrap();
        assert!((0.005..0.011).contains(&rate), "{json}");
    }
    scratch
        .feed(&["set", "build", "-o", "s.crivo"], "a\n")
        .fails_with("such as --items 1M, or save it to a file");
}

#[test]
fn has_answers_by_its_exit_code() {
    let scratch = Scratch::new();
    scratch.feed(&["set", "build", "--items", "1000", "--fpr", "1e-6", "-o", "s.crivo"], "ana\nrui\n").ok();
    assert!(scratch.run(&["set", "has", "s.crivo", "ana", "rui"]).ok().starts_with("ana  yes\nrui  yes\n"));
    let no = scratch.run(&["set", "has", "s.crivo", "ana", "eva"]);
    assert_eq!((no.code, no.out.as_str()), (Some(1), "ana  yes\neva  no, certainly\n"));
    let from_input = scratch.feed(&["set", "has", "s.crivo", "-", "--json"], "eva\n");
    assert_eq!(from_input.code, Some(1));
    assert!(from_input.out.starts_with("{\"all\":false,\"answers\":[{\"key\":\"eva\",\"member\":false,"));
    scratch.feed(&["distinct", "-o", "d.crivo"], "a\n").ok();
    scratch.run(&["set", "has", "d.crivo", "a"]).fails_with("HyperLogLog made by `crivo distinct`");
    scratch.run(&["set", "has", "d.crivo", "a"]).fails_with("make one with crivo set build");
}

#[test]
fn rows_are_kept_or_dropped_as_they_stand() {
    let values = column(3_000, 400, 2);
    let chosen: HashSet<&String> = values.iter().filter(|value| value.ends_with('7')).collect();
    let scratch = Scratch::new();
    scratch.write("chosen.txt", chosen.iter().fold(String::new(), |text, value| text + value + "\n"));
    scratch.run(&["set", "build", "chosen.txt", "--fpr", "1e-9", "-o", "s.crivo"]).ok();
    for format in ["csv", "tsv", "jsonl"] {
        let name = format!("data.{format}");
        let bytes = table(format, &values);
        scratch.write(&name, &bytes);
        let text = String::from_utf8(bytes).unwrap();
        let header = usize::from(format != "jsonl");
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let expected = |keep: bool| {
            let rows =
                lines[header..].iter().zip(&values).filter(|(_, value)| chosen.contains(value) == keep);
            rows.fold(lines[..header].concat(), |text, (line, _)| text + line)
        };
        for threads in ["1", "3"] {
            for (verb, keep) in [("keep", true), ("drop", false)] {
                let run = scratch.run(&["set", verb, "s.crivo", &name, "-f", "value", "--threads", threads]);
                assert_eq!(run.ok(), expected(keep), "{format} {verb}");
            }
        }
    }
    let kept = scratch.feed(&["set", "keep", "s.crivo", "--words", "1"], "no\nuser7 and more\nuser 9");
    assert_eq!(kept.ok(), if chosen.contains(&"user7".to_string()) { "user7 and more\n" } else { "" });
}

#[test]
fn algebra_is_that_of_sets() {
    let mut random = Random::new(7);
    let sets: Vec<HashSet<u64>> = (0..2).map(|_| (0..800).map(|_| random.below(1_500)).collect()).collect();
    let scratch = Scratch::new();
    for kind in [&[][..], &["--blocked"], &["--counting", "8"]] {
        for (name, set) in ["a.crivo", "b.crivo"].iter().zip(&sets) {
            let text = set.iter().fold(String::new(), |text, n| text + &format!("{n}\n"));
            let args = ["set", "build", "--items", "2000", "--fpr", "1e-6", "--keys", "int", "-o", name];
            scratch.feed(&[&args[..], kind].concat(), text).ok();
        }
        for (verb, holds) in
            [("union", &(|a, b| a || b) as &dyn Fn(bool, bool) -> bool), ("intersect", &|a, b| a && b)]
        {
            scratch.run(&["set", verb, "a.crivo", "b.crivo", "-o", "c.crivo"]).ok();
            let all = (0..1_500).fold(String::new(), |text, n| text + &format!("{n}\n"));
            let json = scratch.feed(&["ask", "c.crivo", "-", "--json"], all).json();
            for (n, answer) in (0..1_500).zip(json["answers"].as_array().unwrap()) {
                let expected = holds(sets[0].contains(&n), sets[1].contains(&n));
                assert_eq!(answer["member"], expected, "{verb} {n}");
            }
        }
    }
    // Sets of counting filters: the union, less one of its parts.
    scratch.run(&["set", "union", "a.crivo", "b.crivo", "-o", "c.crivo"]).ok();
    scratch.run(&["set", "subtract", "c.crivo", "b.crivo", "-o", "c.crivo"]).ok();
    assert!(scratch.read("c.crivo") == scratch.read("a.crivo"));
}

#[test]
fn what_cannot_be_combined_is_refused_by_name_and_nothing_is_written() {
    let scratch = Scratch::new();
    let build = |name: &str, more: &[&str]| {
        let args = ["set", "build", "--items", "100", "-o", name];
        scratch.feed(&[&args[..], more].concat(), "1\n2\n").ok();
    };
    build("a.crivo", &[]);
    build("blocked.crivo", &["--blocked"]);
    build("seed.crivo", &["--seed", "4"]);
    build("counting.crivo", &["--counting", "8"]);
    scratch.feed(&["set", "build", "--items", "100", "--counting", "8", "-o", "other.crivo"], "9\n").ok();
    scratch.feed(&["set", "build", "--items", "200", "-o", "larger.crivo"], "1\n").ok();
    let before = scratch.names();
    for (verb, a, b, message) in [
        (
            "union",
            "a.crivo",
            "seed.crivo",
            "seed.crivo: cannot be united with a.crivo: seed: expected 0, found 4",
        ),
        ("subtract", "a.crivo", "a.crivo", "only sets that count can be subtracted"),
        (
            "subtract",
            "counting.crivo",
            "other.crivo",
            "other.crivo: cannot be subtracted with counting.crivo",
        ),
    ] {
        scratch.run(&["set", verb, a, b, "-o", "c.crivo"]).fails_with(message);
    }
    assert_eq!(scratch.names(), before);
}

#[test]
fn too_many_items_warn_or_fail() {
    let text = (0..5_000).fold(String::new(), |text, n| text + &format!("{n}\n"));
    let scratch = Scratch::with([("data.txt", text)]);
    for kind in [&[][..], &["--blocked"], &["--counting", "4"]] {
        let args = [&["set", "build", "data.txt", "--items", "1000", "-o", "s.crivo"], kind].concat();
        let warned = scratch.run(&args);
        assert!(warned.ok().contains(" different in s.crivo"));
        assert!(warned.err.contains("warning: the filter was made for 1000 items and has"), "{warned:?}");
        std::fs::remove_file(scratch.path("s.crivo")).unwrap();
        scratch
            .run(&[&args[..], &["--on-full", "fail"]].concat())
            .fails_with("the filter was made for 1000 items");
        assert_eq!(scratch.names(), ["data.txt"]);
    }
}

#[test]
fn filter_is_continued() {
    let scratch = Scratch::new();
    for kind in [&[][..], &["--blocked"], &["--counting", "8"]] {
        let args = [&["set", "build", "--items", "100"], kind].concat();
        scratch.feed(&[&args[..], &["-o", "all.crivo"]].concat(), "a\nb\nc\n").ok();
        scratch.feed(&[&args[..], &["--into", "s.crivo"]].concat(), "a\nb\n").ok();
        scratch.feed(&["set", "build", "--into", "s.crivo"], "c\n").ok();
        assert!(scratch.read("s.crivo") == scratch.read("all.crivo"), "{kind:?}");
        std::fs::remove_file(scratch.path("s.crivo")).unwrap();
    }
    scratch
        .feed(&["set", "build", "--into", "all.crivo", "--items", "5"], "c\n")
        .fails_with("a Bloom was asked for: all.crivo is a CountingBloom");
}

#[test]
fn impossible_sizes_are_refused() {
    let scratch = Scratch::new();
    for (args, message) in [
        (&["--items", "0", "-o", "s.crivo"][..], "items: expected 1 to"),
        (&["--items", "5", "--fpr", "0", "-o", "s.crivo"], "--fpr 0"),
        (&["--items", "5", "--fpr", "100%", "-o", "s.crivo"], "--fpr 1"),
        (&["--items", "5", "--counting", "5", "-o", "s.crivo"], "expected 4, 8, 16 or 32"),
        (&["--items", "5", "--counting", "4", "--blocked", "-o", "s.crivo"], "cannot be used with"),
        (&["--items", "5"], "name a file for it"),
    ] {
        scratch.feed(&[&["set", "build"], args].concat(), "a\n").fails_with(message);
    }
    assert!(scratch.names().is_empty());
}

#[test]
fn static_filter_has_the_librarys_bytes_and_answers_everywhere() {
    let values = column(4_000, 2_000, 1);
    let expected = BinaryFuse::of_keys(values.iter().filter(|value| !value.is_empty())).unwrap();
    let members: HashSet<&String> = values.iter().filter(|value| !value.is_empty()).collect();
    for format in ["lines", "csv", "jsonl", "parquet"] {
        let scratch = Scratch::new();
        let name = format!("data.{format}");
        scratch.write(&name, table(format, &values));
        let mut args = vec!["set", "build", "--static", &name, "-o", "s.crivo"];
        if format != "lines" {
            args.extend(["-f", "value"]);
        }
        scratch.run(&args).ok();
        assert!(scratch.read("s.crivo") == expected.encode(), "{format}");
    }

    let text = values.iter().fold(String::new(), |text, value| text + value + "\n");
    let scratch = Scratch::with([("data.txt", text.clone()), ("more.txt", text + "never seen\n")]);
    // The input is read once, so a pipe gives the same bytes as a file.
    scratch.feed(&["set", "build", "--static", "-o", "s.crivo"], scratch.read("data.txt")).ok();
    assert!(scratch.read("s.crivo") == expected.encode());
    let json = scratch.run(&["show", "s.crivo", "--json"]).json();
    assert_eq!((&json["kind"], &json["parameters"]["fingerprint_bits"]), (&"BinaryFuse".into(), &8.into()));
    assert_eq!(json["items"]["value"].as_f64(), Some(members.len() as f64));
    assert_eq!((json["items"]["confidence"].as_f64(), json["fpr"].as_f64()), (Some(1.0), Some(1.0 / 256.0)));
    let member = values.iter().find(|value| !value.is_empty()).unwrap();
    scratch.run(&["set", "has", "s.crivo", member]).ok();
    let stranger =
        (0..1_000).map(|i| format!("stranger {i}")).find(|key| !expected.contains(key).unwrap()).unwrap();
    assert_eq!(scratch.run(&["set", "has", "s.crivo", member, &stranger]).code, Some(1));
    let asked = scratch.run(&["ask", "s.crivo", member, &stranger, "--json"]).json();
    assert_eq!(
        (&asked["answers"][0]["member"], &asked["answers"][1]["member"]),
        (&true.into(), &false.into())
    );
    assert_eq!(asked["answers"][0]["fpr"].as_f64(), Some(1.0 / 256.0));

    let kept = scratch.run(&["set", "keep", "s.crivo", "more.txt"]).ok().to_owned();
    let dropped = scratch.run(&["set", "drop", "s.crivo", "more.txt"]).ok().to_owned();
    let rows = scratch.read("more.txt");
    let rows: Vec<&str> = std::str::from_utf8(&rows).unwrap().lines().collect();
    let may_be = |row: &&str| !row.is_empty() && expected.contains(*row).unwrap();
    assert!(kept.lines().eq(rows.iter().copied().filter(may_be)));
    assert!(dropped.lines().eq(rows.iter().copied().filter(|row| !may_be(row))));
}

#[test]
fn static_filter_refuses_what_it_cannot_do() {
    let scratch = Scratch::with([("data.txt", "ana\nrui\n")]);
    let build = ["set", "build", "--static", "data.txt"];
    scratch.run(&[&build[..], &["-o", "s.crivo"]].concat()).ok();
    scratch.run(&["set", "build", "data.txt", "--items", "9", "-o", "b.crivo"]).ok();
    let before = scratch.read("s.crivo");
    for (args, words) in [
        (&["set", "build", "data.txt", "--into", "s.crivo"][..], "a static filter cannot be added to"),
        (
            &["set", "build", "data.txt", "--fpr", "2%", "--into", "s.crivo"],
            "a static filter cannot be added to",
        ),
        (&["set", "build", "--static", "data.txt", "--into", "s.crivo"], "write it with -o"),
        (&["set", "build", "--static", "data.txt", "--fpr", "0.1%", "-o", "x.crivo"], "has a rate of 0.39 %"),
        (&["set", "build", "--static", "data.txt", "--items", "9", "-o", "x.crivo"], "cannot be used with"),
        (&["set", "build", "--static", "--blocked", "data.txt", "-o", "x.crivo"], "cannot be used with"),
        (
            &["set", "union", "s.crivo", "s.crivo", "-o", "x.crivo"],
            "whose keys were placed together and are gone",
        ),
        (
            &["set", "union", "s.crivo", "b.crivo", "-o", "x.crivo"],
            "b.crivo: cannot be united with s.crivo: sketch: expected one that takes hashes, found a BinaryFuse",
        ),
        (
            &["set", "union", "b.crivo", "s.crivo", "-o", "x.crivo"],
            "s.crivo: cannot be united with b.crivo: sketch: expected one that takes hashes, found a BinaryFuse",
        ),
        (&["set", "intersect", "s.crivo", "b.crivo", "-o", "x.crivo"], "whose keys were placed together"),
        (
            &["set", "intersect", "b.crivo", "s.crivo", "-o", "x.crivo"],
            "one that takes hashes, found a BinaryFuse",
        ),
        (&["set", "subtract", "s.crivo", "s.crivo", "-o", "x.crivo"], "made by `crivo set build --static`"),
        (
            &["merge", "s.crivo", "s.crivo", "-o", "x.crivo"],
            "build one from the keys of both sets, or use Bloom",
        ),
        (&["uniq", "data.txt", "--state", "s.crivo"], "BinaryFuse"),
    ] {
        scratch.run(args).fails_with(words);
        assert!(scratch.read("s.crivo") == before && !scratch.path("x.crivo").exists(), "{args:?}");
    }
    scratch.write("times.csv", "t,user\n1,ana\n");
    scratch
        .run(&[
            "set",
            "build",
            "--static",
            "-f",
            "user",
            "--window",
            "1h",
            "--time-field",
            "t",
            "times.csv",
            "-o",
            "x.crivo",
        ])
        .fails_with("cannot see a window");
    // A larger requested rate gives the same filter.
    scratch.run(&[&build[..], &["--fpr", "1%", "-o", "y.crivo"]].concat()).ok();
    assert!(scratch.read("y.crivo") == before);
    // The empty set has no members.
    scratch.feed(&["set", "build", "--static", "-o", "empty.crivo"], "").ok();
    assert_eq!(scratch.run(&["set", "has", "empty.crivo", "ana"]).code, Some(1));
}
