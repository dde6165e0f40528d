//! `crivo filter`: rows copied unchanged, or converted to another format.

use serde_json::Value;

use crate::support::{Scratch, column, compress, table};

const LOG: &str =
    "time,status,\"url, full\",note\r\n1,200,/a,\n2,500,\"/b \"\"x\"\"\",\"two\nlines\"\n3,503,/c,x\n4,,/d,";

#[test]
fn rows_are_copied_byte_for_byte_after_the_header() {
    let scratch = Scratch::with([("log.csv", LOG)]);
    let header = "time,status,\"url, full\",note\r\n";
    for (condition, rows) in [
        ("status >= 500", "2,500,\"/b \"\"x\"\"\",\"two\nlines\"\n3,503,/c,x\n"),
        ("status is empty", "4,,/d,"),
        ("'url, full' in (/a, /d)", "1,200,/a,\n4,,/d,"),
        ("0 ~ two", "2,500,\"/b \"\"x\"\"\",\"two\nlines\"\n"),
    ] {
        assert_eq!(
            scratch.run(&["filter", condition, "log.csv"]).ok(),
            format!("{header}{rows}"),
            "{condition}"
        );
    }
    assert_eq!(scratch.run(&["filter", "true", "log.csv"]).ok(), LOG);
    let none = scratch.run(&["filter", "status = 404", "log.csv"]);
    assert_eq!((none.code, none.out.as_str()), (Some(1), header));
    scratch.run(&["filter", "status >=", "log.csv"]).fails_with("expected a value at the end");
    scratch.run(&["filter", "colour = red", "log.csv"]).fails_with("no field 'colour'");
}

#[test]
fn every_format_gives_the_rows_of_an_exact_model() {
    let values = column(5_000, 50, 1);
    for format in ["csv", "tsv", "jsonl", "parquet"] {
        let scratch = Scratch::new();
        let input = format!("in.{format}");
        scratch.write(&input, table(format, &values));
        let expected = values.iter().filter(|value| *value == "user7").count() as u64;
        let output = format!("out.{format}");
        scratch.run(&["filter", "value = user7", &input, "-o", &output]).ok();
        let counted = scratch.run(&["count", &output, "--where", "value = user7", "--json"]).json();
        assert_eq!(counted["count"]["value"].as_f64(), Some(expected as f64), "{format}");
        assert_eq!(counted["rows"].as_u64(), Some(expected), "{format}");
    }
}

/// From every format to every other and back, the values stay the same.
#[test]
fn the_name_of_the_output_chooses_format_and_compression() {
    let values = column(2_000, 300, 2);
    let distinct = |scratch: &Scratch, name: &str| {
        let found = scratch.run(&["distinct", "--method", "exact", "-f", "value", name, "--json"]).json();
        (found["rows"].clone(), found["skipped"].clone(), found["distinct"]["value"].clone())
    };
    for from in ["csv", "tsv", "jsonl", "parquet"] {
        let scratch = Scratch::new();
        let input = format!("in.{from}");
        scratch.write(&input, table(from, &values));
        let expected = distinct(&scratch, &input);
        for to in ["out.csv", "out.tsv.gz", "out.jsonl.zst", "out.jsonl", "out.csv.xz", "out.parquet"] {
            scratch.run(&["filter", "true", &input, "-o", to, "-q"]).ok();
            assert_eq!(distinct(&scratch, to), expected, "{from} to {to}");
        }
    }
}

#[test]
fn converted_rows_keep_their_texts() {
    let scratch = Scratch::with([("log.csv", LOG)]);
    scratch.run(&["filter", "time <= 2", "log.csv", "-o", "log.jsonl", "-q"]).ok();
    let text = String::from_utf8(scratch.read("log.jsonl")).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1]["url, full"], "/b \"x\"");
    assert_eq!(rows[1]["note"], "two\nlines");
    assert_eq!(rows[0]["status"], "200");
    // Fields that only later records have.
    let late = Scratch::with([("a.jsonl", "{\"a\":1}\n{\"b\":\"x,y\"}\n{\"a\":null,\"b\":2}\n")]);
    late.run(&["filter", "true", "a.jsonl", "-o", "a.csv", "-q"]).ok();
    assert_eq!(String::from_utf8(late.read("a.csv")).unwrap(), "a,b\n1,\n,\"x,y\"\n,2\n");
}

const TYPED: &str = "{\"n\":1,\"f\":1.50,\"b\":true,\"s\":\"007\",\"m\":1,\"o\":{\"k\": [1]},\"big\":12345678901234567890123}\n\
     {\"n\":-2,\"f\":3,\"b\":false,\"s\":\"\",\"m\":\"x\",\"o\":null,\"late\":9007199254740993}\n";

/// Numbers and booleans keep their type on the way to Parquet and back. A column of several kinds
/// becomes text.
#[test]
fn types_of_the_input_are_kept() {
    let scratch = Scratch::with([("t.jsonl", TYPED)]);
    for threads in ["1", "2"] {
        scratch.run(&["filter", "true", "t.jsonl", "-o", "t.parquet", "-q", "--threads", threads]).ok();
        scratch.run(&["filter", "true", "t.parquet", "-o", "back.jsonl", "-q", "--threads", threads]).ok();
        let text = String::from_utf8(scratch.read("back.jsonl")).unwrap();
        assert_eq!(
            text,
            "{\"n\":1,\"f\":1.5,\"b\":true,\"s\":\"007\",\"m\":\"1\",\"o\":\"{\\\"k\\\":[1]}\",\
             \"big\":\"12345678901234567890123\",\"late\":null}\n\
             {\"n\":-2,\"f\":3.0,\"b\":false,\"s\":\"\",\"m\":\"x\",\"o\":null,\"big\":null,\
             \"late\":9007199254740993}\n"
        );
    }
    scratch.run(&["filter", "true", "t.jsonl", "-o", "t.csv", "-q"]).ok();
    let text = String::from_utf8(scratch.read("t.csv")).unwrap();
    assert_eq!(
        text,
        "n,f,b,s,m,o,big,late\n1,1.5,true,007,1,\"{\"\"k\"\":[1]}\",12345678901234567890123,\n\
         -2,3,false,,x,,,9007199254740993\n"
    );
}

/// Many chunks on several threads: rows keep their order, and columns are in the order of their
/// first occurrence.
#[test]
fn converted_rows_stay_in_order() {
    use std::fmt::Write as _;
    let (mut text, mut expected) = (String::new(), String::from("row,text,every_7001\n"));
    for row in 0..60_000 {
        let late = row % 7001 == 7000;
        writeln!(
            text,
            "{{\"row\":{row},\"text\":\"some text of row {row}\"{}}}",
            if late { ",\"every_7001\":true" } else { "" }
        )
        .unwrap();
        writeln!(expected, "{row},some text of row {row},{}", if late { "true" } else { "" }).unwrap();
    }
    let scratch = Scratch::with([("t.jsonl", &text)]);
    for threads in ["1", "2", "5"] {
        scratch.run(&["filter", "true", "t.jsonl", "-o", "t.csv", "-q", "--threads", threads]).ok();
        assert!(scratch.read("t.csv") == expected.as_bytes(), "{threads} threads");
    }
}

#[test]
fn conditions_about_fields_inside_of_objects_convert_too() {
    let scratch = Scratch::with([("t.jsonl", "{\"a\":{\"b\":1},\"n\":1}\n{\"a\":{\"b\":2},\"n\":2}\n")]);
    scratch.run(&["filter", "a.b = 2", "t.jsonl", "-o", "t.csv", "-q"]).ok();
    assert_eq!(String::from_utf8(scratch.read("t.csv")).unwrap(), "a,n\n\"{\"\"b\"\":2}\",2\n");
}

#[test]
fn what_the_name_cannot_mean_is_an_error() {
    let scratch = Scratch::with([("log.csv", LOG)]);
    scratch.run(&["filter", "true", "log.csv", "-o", "x.parquet.gz"]).fails_with("compressed inside");
    scratch.run(&["filter", "true", "log.csv", "-o", "x.csv.bz2"]).fails_with("bzip2");
    scratch.run(&["filter", "true", "log.csv", "-o", "log.csv"]).fails_with("is read");
    scratch.feed(&["filter", "true", "-o", "x.parquet"], "a\n").fails_with("--format");
    assert_eq!(scratch.names(), ["log.csv"]);
    // `dedup` follows the same rule.
    let texts = "id,text\n1,a b c d e f\n2,a b c d e f\n3,something else at all\n";
    let scratch = Scratch::with([("d.csv", texts)]);
    scratch.run(&["dedup", "d.csv", "-o", "x.parquet", "-q"]).ok();
    let counted = scratch.run(&["distinct", "-f", "text", "x.parquet", "--json"]).json();
    assert_eq!(counted["rows"], 2);
    assert_eq!(compress("", b"a"), b"a");
}

#[test]
fn an_output_of_another_format_needs_that_of_the_input_and_is_named_once() {
    let scratch = Scratch::with([("in.txt", "a\nb\n")]);
    let run = scratch.run(&["filter", "true", "in.txt", "-o", "out.csv"]);
    run.fails_with("crivo: out.csv: its name chooses a format, and nothing tells that of the input");
    assert!(!scratch.path("out.csv").exists());
}

#[test]
fn a_column_of_a_repeated_name_is_kept_or_refused() {
    let scratch = Scratch::with([
        ("d.csv", "a,b,a\n1,2,3\n"),
        ("e.csv", "b,a\n4,5\n"),
        ("unnamed.csv", ",\n1,2\n"),
        ("d.jsonl", "{\"a\":1,\"a\":2}\n"),
    ]);
    scratch.run(&["filter", "true", "d.csv", "-o", "d.tsv", "-q"]).ok();
    assert_eq!(scratch.read("d.tsv"), b"a\tb\ta\n1\t2\t3\n");
    scratch.run(&["filter", "true", "d.csv", "e.csv", "-o", "both.tsv", "-q"]).ok();
    assert_eq!(scratch.read("both.tsv"), b"a\tb\ta\n1\t2\t3\n5\t4\t\n");
    scratch.run(&["filter", "true", "unnamed.csv", "-o", "unnamed.tsv", "-q"]).ok();
    assert_eq!(scratch.read("unnamed.tsv"), b"\t\n1\t2\n");
    for to in ["x.jsonl", "x.parquet"] {
        let refused = "d.csv: fields 1 and 3 are both called 'a'";
        scratch.run(&["filter", "true", "d.csv", "-o", to]).fails_with(refused);
        scratch.run(&["filter", "true", "e.csv", "d.csv", "-o", to]).fails_with(refused);
        scratch.run(&["filter", "true", "unnamed.csv", "-o", to]).fails_with("fields 1 and 2");
        let piped = scratch.feed(&["filter", "true", "--format", "csv", "-o", to], "a,a\n1,2\n");
        piped.fails_with("standard input: fields 1 and 2 are both called 'a'");
        assert!(!scratch.names().contains(&to.to_owned()));
    }
    scratch
        .run(&["filter", "a = 1", "d.csv", "-o", "x.tsv"])
        .fails_with("fields 1 and 3 are both called 'a'");
    // Of a name that occurs twice in an object, the last value counts.
    scratch.run(&["filter", "true", "d.jsonl", "-o", "e.tsv", "-q"]).ok();
    assert_eq!(scratch.read("e.tsv"), b"a\n2\n");
}

#[test]
fn an_output_has_one_format_whatever_the_formats_of_its_inputs() {
    let scratch = Scratch::with([("a.csv", "x,y\n1,2\n"), ("b.jsonl", "{\"x\":1,\"z\":\"q\"}\n")]);
    scratch.run(&["filter", "x = 1", "a.csv", "b.jsonl", "-o", "out.csv", "-q"]).ok();
    assert_eq!(scratch.read("out.csv"), b"x,y,z\n1,2,\n1,,q\n");
    scratch.run(&["filter", "x = 1", "b.jsonl", "a.csv", "-o", "out.csv", "-q"]).ok();
    assert_eq!(scratch.read("out.csv"), b"x,z,y\n1,q,\n1,,2\n");
    scratch.run(&["filter", "x = 1", "b.jsonl", "a.csv", "-o", "out.jsonl", "-q"]).ok();
    let rows = String::from_utf8(scratch.read("out.jsonl")).unwrap();
    let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((rows.len(), &rows[1]["y"]), (2, &Value::from("2")));
    for (first, other) in [("a.csv", "b.jsonl"), ("b.jsonl", "a.csv")] {
        let run = scratch.run(&["filter", "x = 1", first, other]);
        assert_eq!(run.code, Some(2));
        assert!(run.err.contains(&format!("{other}: the format differs from the first file's")), "{run:?}");
    }
}

#[test]
fn large_whole_numbers_are_compared_exactly_in_every_format() {
    let ids = ["12345678901234567", "12345678901234568"];
    let scratch = Scratch::with([
        ("ids.csv", format!("id\n{}\n{}\n", ids[0], ids[1])),
        ("ids.jsonl", format!("{{\"id\":{}}}\n{{\"id\":{}}}\n", ids[0], ids[1])),
    ]);
    scratch.run(&["filter", "true", "ids.jsonl", "-o", "ids.parquet", "-q"]).ok();
    for file in ["ids.csv", "ids.jsonl", "ids.parquet"] {
        for (condition, expected) in [
            (format!("id = {}", ids[0]), 1),
            (format!("id != {}", ids[0]), 1),
            (format!("id >= {}", ids[1]), 1),
            (format!("id in ({}, 12345678901234566)", ids[1]), 1),
            (format!("id >= {}", ids[0]), 2),
        ] {
            let json = scratch.run(&["count", file, "--where", &condition, "--json"]).json();
            assert_eq!(json["count"]["value"], f64::from(expected), "{file}: {condition}");
        }
    }
}
