//! `crivo ask`, with every kind of sketch.

use serde_json::json;

use crate::support::Scratch;

#[test]
fn sketch_that_knows_no_keys_says_what_it_answers_and_who_made_it() {
    let scratch = Scratch::new();
    scratch.feed(&["distinct", "-o", "s.crivo"], "a\n").ok();
    for more in [&[][..], &["--json"]] {
        let run = scratch.run(&[&["ask", "s.crivo", "a"], more].concat());
        run.fails_with("s.crivo: this is a HyperLogLog made by `crivo distinct`");
        run.fails_with("only how many different: crivo show s.crivo");
    }
}

#[test]
fn missing_keys_and_files_are_errors() {
    let scratch = Scratch::with([("data.csv", "a,b\n")]);
    scratch.run(&["ask", "data.csv"]).fails_with("this is not a crivo sketch");
    scratch.run(&["ask", "data.csv", "a"]).fails_with("this is not a crivo sketch");
    scratch.run(&["ask", "none.crivo", "a"]).fails_with("none.crivo: no such file");
}

#[test]
fn every_kind_that_knows_keys_answers() {
    let scratch = Scratch::new();
    let text = "ana\nrui\nana\n";
    for make in [
        &["freq", "-o", "freq.crivo"][..],
        &["top", "-o", "top.crivo"],
        &["set", "build", "--items", "100", "-o", "bloom.crivo"],
        &["set", "build", "--items", "100", "--blocked", "-o", "blocked.crivo"],
        &["set", "build", "--items", "100", "--counting", "8", "-o", "counting.crivo"],
    ] {
        scratch.feed(make, text).ok();
    }
    for (sketch, counts, knows_members) in [
        ("freq.crivo", true, false),
        ("top.crivo", true, false),
        ("bloom.crivo", false, true),
        ("blocked.crivo", false, true),
        ("counting.crivo", true, true),
    ] {
        let json = scratch.run(&["ask", sketch, "ana", "nobody", "--json"]).json();
        for (answer, key, count) in [(&json["answers"][0], "ana", 2.0), (&json["answers"][1], "nobody", 0.0)]
        {
            assert_eq!(answer["key"], key, "{sketch}");
            assert_eq!(answer["count"]["value"].as_f64(), counts.then_some(count), "{sketch}: {answer}");
            assert_eq!(
                answer["member"].as_bool(),
                knows_members.then_some(count > 0.0),
                "{sketch}: {answer}"
            );
            assert_eq!(answer["fpr"].is_number(), knows_members, "{sketch}: {answer}");
        }
    }
    let text = scratch.run(&["ask", "bloom.crivo", "ana", "nobody"]);
    assert!(text.ok().starts_with("ana     yes\nnobody  no, certainly\n"), "{text:?}");
    assert!(scratch.run(&["ask", "top.crivo", "ana"]).ok().starts_with("ana  2\n"));
}

#[test]
fn keys_come_from_standard_input_too() {
    let scratch = Scratch::new();
    scratch.feed(&["top", "-o", "s.crivo"], "a b\nc\na b\n").ok();
    let json = scratch.feed(&["ask", "s.crivo", "c", "-", "--json"], "a b\r\n\nzoe\n").json();
    let keys: Vec<_> =
        json["answers"].as_array().unwrap().iter().map(|answer| answer["key"].clone()).collect();
    assert_eq!(keys, ["c", "a b", "zoe"]);
    assert_eq!(json["answers"][1]["count"]["value"], 2.0);
}

#[test]
fn integers_are_asked_as_integers() {
    let scratch = Scratch::new();
    scratch.feed(&["freq", "--keys", "int", "-o", "s.crivo"], "-5\n7\n007\n").ok();
    let json = scratch.run(&["ask", "s.crivo", "7", "-5", "--json"]).json();
    assert_eq!(json["answers"][0]["count"]["value"], 2.0);
    assert_eq!(json["answers"][1]["count"]["value"], 1.0);
    scratch.run(&["ask", "s.crivo", "seven"]).fails_with("'seven': the keys of this sketch are integers");
}

#[test]
fn questions_of_the_wrong_kind_name_the_sketch_and_the_command_to_use() {
    let scratch = Scratch::new();
    scratch.feed(&["freq", "-o", "f.crivo"], "a\n").ok();
    scratch.feed(&["top", "-o", "t.crivo"], "a\n").ok();
    scratch.run(&["ask", "f.crivo", "--range", "1", "2"]).fails_with(
        "--range: f.crivo is a CountMin made by `crivo freq`, which answers how often any key came",
    );
    scratch
        .run(&["ask", "f.crivo", "--range", "1", "2"])
        .fails_with("needs one made by `crivo freq --ranges BITS`");
    scratch.run(&["ask", "t.crivo", "--join", "f.crivo"]).fails_with("t.crivo is a HeavyHitters");
    scratch.run(&["ask", "f.crivo", "--join", "t.crivo"]).fails_with("t.crivo is a HeavyHitters");
    scratch.run(&["ask", "f.crivo", "a", "--join", "t.crivo"]).fails_with("cannot be used with");
}

#[test]
fn without_a_key_a_sketch_of_a_set_says_how_many() {
    let scratch = Scratch::with([("data.txt", "a\nb\nb\n")]);
    scratch.run(&["distinct", "data.txt", "-o", "d.crivo"]).ok();
    scratch.run(&["distinct", "data.txt", "--interchange", "hll", "-o", "h.bin"]).ok();
    scratch.run(&["distinct", "data.txt", "--interchange", "theta", "-o", "t.bin"]).ok();
    for file in ["d.crivo", "h.bin", "t.bin"] {
        let json = scratch.run(&["ask", file, "--json"]).json();
        assert!((json["distinct"]["value"].as_f64().unwrap() - 2.0).abs() < 0.01, "{file}: {json}");
        let csv = scratch.run(&["ask", file, "--output", "csv"]);
        assert!(csv.ok().starts_with("distinct,distinct_lower,"), "{csv:?}");
    }
    scratch.run(&["ask", "h.bin", "a"]).fails_with("cannot answer about single keys");
    scratch.run(&["freq", "data.txt", "-o", "f.crivo"]).ok();
    scratch.run(&["ask", "f.crivo"]).fails_with("name a key too");
}

/// Programs get the answer of an empty group, and the exit code says that there is no such group.
#[test]
fn a_group_that_is_not_there_has_nothing() {
    let scratch = Scratch::with([("v.csv", "user,country,n\nana,PT,1\nrui,PT,2\n")]);
    for (make, name, expected) in [
        (
            &["distinct", "-f", "user"][..],
            "distinct",
            json!({"value": 0.0, "lower": 0.0, "upper": 0.0, "confidence": 1.0}),
        ),
        (&["top", "-f", "user"], "top", json!([])),
        (
            &["count", "--sum", "n"],
            "count",
            json!({"value": 0.0, "lower": 0.0, "upper": 0.0, "confidence": 1.0}),
        ),
        (&["quantile", "-f", "n", "-q", "0.5"], "ranks", json!([])),
    ] {
        scratch.run(&[make, &["v.csv", "--by", "country", "-o", "g.crivo"]].concat()).ok();
        let run = scratch.run(&["ask", "g.crivo", "--group", "XX", "--json"]);
        assert_eq!(
            (run.code, run.err.as_str()),
            (Some(1), "crivo: warning: g.crivo: no group XX\n"),
            "{make:?}"
        );
        let object: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!((&object["group"], &object[name]), (&json!(["XX"]), &expected), "{make:?}");
        let run = scratch.run(&["ask", "g.crivo", "--group", "XX"]);
        assert_eq!((run.code, run.out.as_str()), (Some(1), ""), "{make:?}");
    }
}

/// The errors advise commands that can be typed.
#[test]
fn a_sketch_that_knows_no_keys_says_how_it_is_asked() {
    let scratch = Scratch::with([("n.csv", "n\n1\n2\n")]);
    scratch.run(&["quantile", "n.csv", "-o", "q.crivo"]).ok();
    scratch.run(&["quantile", "n.csv", "--interchange", "kll", "-o", "q.bin"]).ok();
    for file in ["q.crivo", "q.bin"] {
        let advised = format!("crivo ask {file} --quantiles 0.5");
        scratch.run(&["ask", file, "1"]).fails_with(&advised);
        scratch.run(&advised.split(' ').skip(1).collect::<Vec<_>>()).ok();
    }
}

#[test]
fn a_sketch_that_knows_no_keys_is_not_asked_for_them() {
    let scratch = Scratch::with([("a.csv", "n\n1\n2\n")]);
    scratch.run(&["count", "a.csv", "--counter", "morris", "-o", "c.crivo"]).ok();
    scratch.run(&["profile", "a.csv", "-o", "p.crivo"]).ok();
    scratch.run(&["ask", "c.crivo"]).fails_with("c.crivo: answers how many events: crivo show c.crivo\n");
    scratch
        .run(&["ask", "p.crivo"])
        .fails_with("p.crivo: answers what is in a table: crivo profile p.crivo\n");
}

#[test]
fn a_kind_has_its_article() {
    let scratch = Scratch::with([("a.txt", "1\n2\n")]);
    for (method, kind) in [
        ("hll", "a HyperLogLog"),
        ("ull", "an UltraLogLog"),
        ("exact", "an ExactDistinct"),
        ("kmv", "a KMinValues"),
    ] {
        scratch.run(&["distinct", "a.txt", "--method", method, "-o", "s.crivo"]).ok();
        scratch.run(&["ask", "s.crivo", "1"]).fails_with(&format!("s.crivo: this is {kind} made by"));
        scratch
            .run(&["top", "a.txt", "--into", "s.crivo"])
            .fails_with(&format!("s.crivo: this is {kind} made by"));
    }
}

/// The program reads a pipe by its path, as the shell passes `<(command)`.
#[cfg(target_os = "linux")]
#[test]
fn sketch_from_a_pipe_is_whole() {
    use std::io::Write;
    use std::process::Stdio;

    let scratch = Scratch::new();
    scratch.feed(&["set", "build", "--items", "2", "-o", "s.crivo"], "a\nb\n").ok();
    scratch.feed(&["distinct", "--interchange", "hll", "-o", "s.bin"], "a\nb\n").ok();
    for (sketch, command) in [
        ("s.crivo", &["ask", "/proc/self/fd/0", "a"][..]),
        ("s.crivo", &["show", "/proc/self/fd/0"]),
        ("s.crivo", &["set", "has", "/proc/self/fd/0", "a"]),
        ("s.crivo", &["merge", "/proc/self/fd/0", "s.crivo", "-o", "merged.crivo"]),
        ("s.bin", &["show", "/proc/self/fd/0"]),
    ] {
        let mut program = scratch.command(command);
        program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = program.spawn().unwrap();
        child.stdin.take().unwrap().write_all(&scratch.read(sketch)).unwrap();
        crate::support::Ran::from(child.wait_with_output().unwrap()).ok();
    }
}
