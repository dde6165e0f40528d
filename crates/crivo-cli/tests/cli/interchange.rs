//! `--interchange`: files of Apache DataSketches from every command that writes them, which are
//! then shown, asked and merged. Further tests of `distinct` are in `distinct.rs`.

use std::collections::BTreeMap;

use crivo_interchange::{AnyInterchange, FrequentItems};

use crate::support::{Scratch, column, table};

fn scratch() -> (Scratch, BTreeMap<String, u64>) {
    let values = column(20_000, 900, 4);
    let mut exact = BTreeMap::new();
    values
        .iter()
        .filter(|value| !value.is_empty())
        .for_each(|value| *exact.entry(value.clone()).or_default() += 1);
    (Scratch::with([("data.csv", table("csv", &values))]), exact)
}

#[test]
fn integers_are_asked_as_integers() {
    let scratch = Scratch::with([("ids.txt", "7\n7\n8\n")]);
    let set = ["set", "build", "ids.txt", "--keys", "int", "--interchange", "bloom", "-o", "s.bin"];
    scratch.run(&set).ok();
    scratch.run(&["set", "has", "s.bin", "7", "8", "--keys", "int"]).ok();
    assert_eq!(scratch.run(&["set", "has", "s.bin", "9", "10", "11", "12", "--keys", "int"]).code, Some(1));
    scratch
        .run(&["set", "has", "s.bin", "a", "--keys", "int"])
        .fails_with("the keys of this sketch are integers");
    scratch.run(&["top", "ids.txt", "--keys", "int", "--interchange", "frequent-items", "-o", "t.bin"]).ok();
    let json = scratch.run(&["ask", "t.bin", "7", "--json"]).json();
    assert_eq!(json["answers"][0]["count"]["value"], 2.0, "these bytes say what their keys are");
    scratch
        .run(&["ask", "t.bin", "7", "--keys", "text"])
        .fails_with("--keys text: the keys of t.bin are int");
}

#[test]
fn the_most_frequent_are_listed_and_come_back() {
    let (scratch, exact) = scratch();
    let args =
        ["top", "data.csv", "-f", "value", "-k", "5", "--interchange", "frequent-items", "-o", "t.bin"];
    let made = scratch.run(&[&args[..], &["--json"]].concat()).json();
    assert_eq!(made["total"], exact.values().sum::<u64>());
    let asked = scratch.run(&["ask", "t.bin", "--json"]).json();
    for json in [&made, &asked] {
        let top = json["top"].as_array().unwrap();
        assert_eq!(json["max_error"], 0, "all keys fit");
        let mut counts: Vec<u64> = exact.values().copied().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        for (line, expected) in top.iter().zip(counts) {
            assert_eq!(line["count"]["value"], expected as f64);
            assert_eq!(exact[line["key"].as_str().unwrap()], expected);
        }
    }
    assert_eq!((made["top"].as_array().unwrap().len(), asked["top"].as_array().unwrap().len()), (5, 10));
    let small = [&args[..], &["--counters", "48", "--threads", "2", "--json"]].concat();
    let small = scratch.run(&small).json();
    assert!(small["max_error"].as_u64().unwrap() > 0);
    for line in small["top"].as_array().unwrap() {
        let (truth, count) = (exact[line["key"].as_str().unwrap()] as f64, &line["count"]);
        assert!(count["lower"].as_f64() <= Some(truth) && Some(truth) <= count["upper"].as_f64(), "{line}");
    }
    let weighted = Scratch::with([("w.csv", "k,n\na,3\nb,9\na,4\n,1\n")]);
    let args = ["top", "w.csv", "-f", "k", "--weight", "n", "--interchange", "frequent-items", "-o", "w.bin"];
    weighted.run(&args).ok();
    let read = FrequentItems::decode(&weighted.read("w.bin")).unwrap();
    assert_eq!((read.frequency_bytes(b"a").value(), read.total()), (7.0, 16));
}

#[test]
fn quantiles_are_made_verified_and_asked() {
    let rows: String = (0..9_000_u32).map(|i| format!("{}\n", i * 7919 % 9001)).collect();
    let scratch = Scratch::with([("n.csv", format!("n\n{rows}"))]);
    for form in ["kll", "kll-float", "kll-long", "req", "tdigest"] {
        let args = ["quantile", "n.csv", "-f", "n", "-q", "0.5,0.99", "--interchange", form, "-o", "q.bin"];
        let made = scratch.run(&[&args[..], &["--verify", "--json", "--threads", "2"]].concat()).json();
        assert_eq!((&made["method"], &made["rows"]), (&form.into(), &9_000.into()));
        let asked =
            scratch.run(&["ask", "q.bin", "--quantiles", "0.5,0.99", "--rank", "4500", "--json"]).json();
        for (at, truth) in [(0, 4_500.0), (1, 8_910.0)] {
            assert_eq!(made["quantiles"][at]["value"], asked["quantiles"][at]["value"], "{form}");
            let value = asked["quantiles"][at]["value"]["value"].as_f64().unwrap();
            assert!((value - truth).abs() < 450.0, "{form}: five errors of 1 %: {value} for {truth}");
        }
        assert!((asked["ranks"][0]["rank"]["value"].as_f64().unwrap() - 0.5).abs() < 0.05, "{form}");
        scratch.run(&["merge", "q.bin", "q.bin", "-o", "qq.bin", "--json"]).ok();
        assert_eq!(scratch.run(&["show", "qq.bin", "--json"]).json()["items"]["value"], 18_000.0);
        scratch.run(&["ask", "q.bin", "7"]).fails_with("cannot answer about single keys");
    }
    // So few values are kept exactly.
    let few = Scratch::with([("n.txt", "3\n1\n2\n")]);
    few.run(&["quantile", "n.txt", "--interchange", "kll", "-o", "q.bin"]).ok();
    let json = few.run(&["ask", "q.bin", "--json"]).json();
    assert_eq!(
        (&json["quantiles"][2]["value"]["value"], &json["quantiles"][2]["value"]["confidence"]),
        (&2.0.into(), &1.0.into())
    );
}

#[test]
fn sets_are_made_and_asked() {
    let (scratch, exact) = scratch();
    let args = ["set", "build", "data.csv", "-f", "value", "--interchange", "bloom", "-o", "s.bin", "--json"];
    let made = scratch.run(&args).json();
    assert_eq!((&made["kind"], &made["hash"]), (&"DataSketches Bloom".into(), &"XXH64".into()));
    assert!(made["fpr"].as_f64().unwrap() < 0.02);
    let keys = exact.keys().cloned().collect::<Vec<_>>().join("\n");
    assert_eq!(scratch.feed(&["set", "has", "s.bin", "-", "--json"], keys).json()["all"], true);
    // One in a hundred absent keys is taken for a member, but never all of these.
    let absent = (0..30).map(|number| format!("absent {number}\n")).collect::<String>();
    assert_eq!(scratch.feed(&["set", "has", "s.bin", "-"], absent).code, Some(1));
    let asked = scratch.run(&["ask", "s.bin", "--json"]).json();
    let items = &asked["distinct"];
    assert!(
        items["lower"].as_f64() <= Some(exact.len() as f64)
            && Some(exact.len() as f64) <= items["upper"].as_f64()
    );
    let full =
        ["set", "build", "data.csv", "-f", "value", "--interchange", "bloom", "-o", "x.bin", "--items", "90"];
    scratch
        .run(&[&full[..], &["--on-full", "fail"]].concat())
        .fails_with("there are more values than --items");
    assert!(!scratch.path("x.bin").exists());
}

#[test]
fn what_other_systems_have_no_place_for_is_refused() {
    let (scratch, _) = scratch();
    for (args, part) in [
        (
            "top data.csv -f value --interchange frequent-items -o x.bin --verify",
            "--verify: cannot be stored",
        ),
        ("top data.csv -f value --interchange frequent-items -o x.bin --counters 60k", "at most 49152"),
        ("top data.csv -f value --by value --interchange frequent-items -o x.bin", "--interchange"),
        ("quantile data.csv -f value --interchange kll -o x.bin --texts", "--texts: cannot be stored"),
        (
            "quantile data.csv -f value --interchange tdigest -o x.bin --error 1%",
            "--error: chooses the size of kll; that of tdigest is fixed",
        ),
        ("set build data.csv -f value --interchange bloom -o x.bin --seed 3", "9001"),
        ("set build data.csv -f value --interchange bloom -o x.bin --blocked", "cannot be used with"),
        (
            "distinct data.csv -f value --interchange cpc -o x.bin --precision 17",
            "lg_k: expected 4 to 16, found 17",
        ),
    ] {
        scratch.run(&args.split(' ').collect::<Vec<_>>()).fails_with(part);
        assert!(!scratch.path("x.bin").exists());
    }
}

#[test]
fn damaged_files_say_so_and_texts_are_not_taken_for_them() {
    let (scratch, _) = scratch();
    scratch.run(&["distinct", "data.csv", "-f", "value", "--interchange", "cpc", "-o", "c.bin"]).ok();
    let bytes = scratch.read("c.bin");
    assert!(matches!(AnyInterchange::decode(&bytes), Ok(AnyInterchange::Cpc(_))));
    assert_eq!(scratch.run(&["show", "c.bin", "--json"]).json()["kind"], "DataSketches CPC");
    scratch.write("half.bin", &bytes[..bytes.len() / 2]);
    for command in ["show", "ask"] {
        scratch
            .run(&[command, "half.bin"])
            .fails_with("half.bin: bytes: expected an Apache DataSketches CPC sketch");
    }
    // The third byte of this text is the number of a family.
    scratch.write("text.txt", "ab\ncd\nef\n");
    let ran = scratch.run(&["show", "text.txt"]);
    assert_eq!(ran.code, Some(2));
}
