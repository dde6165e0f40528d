//! `crivo similar`: sets compared with brute force, and streams with the truth.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::support::{Random, Scratch};

/// Returns rows of users and films. Some users saw the same films, and some rows occur twice.
fn rows(count: usize, seed: u64) -> Vec<(String, String)> {
    let mut random = Random::new(seed);
    let mut rows = Vec::new();
    for user in 0..count {
        let films = random.below(12) + 1;
        for _ in 0..films {
            rows.push((format!("user {user}"), format!("f{}", random.below(15))));
        }
        if random.below(4) == 0 && user > 0 {
            let twin = format!("user {}", random.below(user as u64));
            let same: Vec<_> = rows.iter().filter(|(name, _)| *name == twin).cloned().collect();
            rows.extend(same.into_iter().map(|(_, film)| (format!("twin {user}"), film)));
        }
    }
    for at in 0..rows.len() / 10 {
        rows.push(rows[at * 7 % rows.len()].clone());
    }
    rows
}

fn exact(rows: &[(String, String)], threshold: f64) -> BTreeMap<BTreeSet<String>, f64> {
    let mut sets: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (user, film) in rows {
        sets.entry(user).or_default().insert(film);
    }
    let sets: Vec<_> = sets.into_iter().collect();
    let mut pairs = BTreeMap::new();
    for (at, (one, films)) in sets.iter().enumerate() {
        for (other, others) in &sets[at + 1..] {
            let similarity = films.intersection(others).count() as f64 / films.union(others).count() as f64;
            if similarity >= threshold {
                pairs.insert([one, other].map(ToString::to_string).into(), similarity);
            }
        }
    }
    pairs
}

fn found(lines: &str) -> BTreeMap<BTreeSet<String>, f64> {
    let mut pairs = BTreeMap::new();
    for line in lines.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let pair = fields[..2].iter().map(ToString::to_string).collect();
        assert!(pairs.insert(pair, fields[2].parse().unwrap()).is_none(), "{line} came twice");
    }
    pairs
}

#[test]
fn pairs_of_sets_are_those_of_brute_force() {
    let rows = rows(150, 1);
    let line =
        |between: &str| rows.iter().map(|(u, f)| format!("{u}{between}{f}{between}5\n")).collect::<String>();
    let scratch = Scratch::with([
        ("ratings.dat", line("::")),
        ("ratings.tab", line("\t")),
        ("ratings.csv", format!("who,what,stars\n{}", line(","))),
    ]);
    for threshold in ["0.5", "0.8", "1"] {
        let expected = exact(&rows, threshold.parse().unwrap());
        assert!(!expected.is_empty());
        for (file, sets) in [("ratings.dat", "1,2"), ("ratings.tab", "1,2"), ("ratings.csv", "who,what")] {
            let args = ["similar", "pairs", file, "--sets", sets, "--threshold", threshold];
            assert_eq!(found(scratch.run(&[&args[..], &["--exact"]].concat()).ok()), expected, "{file}");
            let quick = found(scratch.run(&args).ok());
            assert!(quick.iter().all(|(pair, similarity)| expected.get(pair) == Some(similarity)));
            assert!(quick.len() * 100 >= expected.len() * 98, "{} of {}", quick.len(), expected.len());
            if threshold == "1" {
                assert_eq!(quick, expected, "equal sets are never missed");
            }
        }
    }
}

#[test]
fn json_names_sets_and_pairs_and_nothing_found_is_no() {
    let scratch = Scratch::with([("r.csv", "u,f\nana,1\nana,2\nrui,2\nrui,1\nana,\neva,9\n")]);
    let args = ["similar", "pairs", "r.csv", "--sets", "u,f", "--json", "--threshold", "1"];
    let report = scratch.run(&args).json();
    assert_eq!(report["pairs"], json!([{"a": "ana", "b": "rui", "similarity": 1.0}]));
    assert_eq!((&report["sets"], &report["rows"], &report["skipped"]), (&json!(3), &json!(6), &json!(1)));
    scratch.write("r.csv", "u,f\nana,1\nrui,2\n");
    let none = scratch.run(&args);
    assert_eq!((none.code, none.out.contains("\"pairs\":[]")), (Some(1), true));
}

#[test]
fn wrong_questions_about_sets_are_refused() {
    let scratch = Scratch::with([("r.csv", "u,f\nana,1\n")]);
    let fails = |args: &[&str], message: &str| {
        scratch.run(&[&["similar", "pairs", "r.csv"], args].concat()).fails_with(message);
    };
    fails(&["--sets", "u"], "expected two fields");
    fails(&["--sets", "u,none"], "none");
    fails(&["--sets", "u,f", "--threshold", "2"], "above 0");
    fails(&["--sets", "u,f", "--hashes", "0"], "hashes");
}

#[test]
fn streams_are_compared_within_the_stated_bounds() {
    let scratch = Scratch::new();
    let lines = |range: std::ops::Range<u32>| range.map(|i| format!("line {i}\n")).collect::<String>();
    scratch.write("a.txt", lines(0..30_000));
    scratch.write("b.txt", lines(10_000..40_000) + &lines(10_000..15_000));
    let report = scratch.run(&["similar", "files", "a.txt", "b.txt", "--json"]).json();
    let similarity = &report["similarity"];
    let of = |name: &str| similarity[name].as_f64().unwrap();
    assert!(of("lower") <= 0.5 && 0.5 <= of("upper") && of("upper") - of("lower") < 0.1, "{similarity}");
    assert_eq!(report["rows"], json!([30_000, 35_000]));
    assert_eq!(
        scratch.run(&["similar", "files", "a.txt", "a.txt", "--json"]).json()["similarity"]["value"],
        1.0
    );
    let fed = scratch.feed(&["similar", "files", "-", "a.txt", "--json"], lines(0..30_000)).json();
    assert_eq!(fed["similarity"]["value"], 1.0);
    let text = scratch.run(&["similar", "files", "a.txt", "b.txt"]);
    assert!(text.ok().contains("of their items in common"));
    // Two signatures of 2,401 hashes.
    assert!(text.ok().contains("30000 and 35000 rows, 39 KiB"), "{text:?}");
}

#[test]
fn two_files_are_compared_and_not_one_or_three() {
    let scratch = Scratch::with([("a.txt", "x\n"), ("empty.txt", "")]);
    scratch.run(&["similar", "files", "a.txt"]).fails_with("two files");
    scratch.run(&["similar", "files", "a.txt", "a.txt", "a.txt"]).fails_with("two files");
    scratch.run(&["similar", "files", "empty.txt", "empty.txt"]).fails_with("nothing to compare");
    scratch.run(&["similar", "files", "a.txt", "a.txt", "--error", "0"]).fails_with("error");
}

#[test]
fn delimiter_of_standard_input_is_that_of_its_first_line() {
    let scratch = Scratch::new();
    let rows =
        |between: &str| ["u1 a", "u1 b", "u2 a", "u2 b"].map(|row| row.replace(' ', between) + "\n").concat();
    for between in ["::", "\t", ",", " "] {
        let args = ["similar", "pairs", "--sets", "1,2", "--threshold", "0.9", "-q"];
        assert_eq!(scratch.feed(&args, rows(between)).ok(), "u1\tu2\t1\n", "{between:?}");
    }
    // With names, the header tells the format.
    let named = ["similar", "pairs", "--sets", "who,what", "--threshold", "0.9", "-q"];
    assert_eq!(scratch.feed(&named, "who,what\n".to_owned() + &rows(",")).ok(), "u1\tu2\t1\n");
    let objects = "{\"1\":\"u1\",\"2\":\"a\"}\n{\"1\":\"u2\",\"2\":\"a\"}\n";
    let numbered = ["similar", "pairs", "--sets", "1,2", "--threshold", "0.9", "-q"];
    assert_eq!(scratch.feed(&numbered, objects).ok(), "u1\tu2\t1\n");
}
