//! Several fields as one key, fields inside JSON, elements of arrays; missing and empty.

use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray};
use crivo::keys::KeyScheme;
use crivo_rows::{Cell, Edit, Error, ErrorKind, Input, RowBatch, Scan, Select};

use crate::parquet_files::parquet_bytes;
use crate::support::{Folder, WAYS, read, row};

/// Returns the text keys of a field, sorted, which are the same for any number of threads.
fn keys(input: &Input, field: &str) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    for (threads, chunk) in WAYS {
        let scan = Scan::of(input).select(Select::field(field)).threads(threads).chunk_size(chunk);
        let folded = scan.fold(
            Vec::new,
            |keys, batch| {
                let made = batch.keys_with_rows(0)?;
                keys.extend(made.keys.iter().map(|(key, _)| key.to_string()));
                Ok(())
            },
            |keys, others| {
                keys.extend(others);
                Ok(())
            },
        )?;
        let mut keys = folded.state;
        keys.sort();
        assert!(found.is_empty() || found == keys, "{threads} threads, chunks of {chunk}");
        found = keys;
    }
    Ok(found)
}

#[test]
fn several_fields_are_one_key_in_every_format() {
    let folder = Folder::new();
    let csv = folder.input("a.csv", "a,n,b\nx,1,y\n\"x,y\",2,z\n,3,z\nx,4,\n\"q\"\"\",5,w\n");
    let jsonl = folder.input(
        "a.jsonl",
        "{\"a\":\"x\",\"b\":\"y\"}\n{\"a\":\"x,y\",\"b\":\"z\"}\n{\"b\":\"z\"}\n{\"a\":\"x\",\"b\":\"\"}\n{\"b\":\"w\",\"a\":\"q\\\"\"}\n",
    );
    let column = |values: [Option<&str>; 5]| -> ArrayRef { Arc::new(StringArray::from(values.to_vec())) };
    let parquet = folder.input(
        "a.parquet",
        parquet_bytes(
            vec![
                ("a", column([Some("x"), Some("x,y"), None, Some("x"), Some("q\"")])),
                ("b", column([Some("y"), Some("z"), Some("z"), Some(""), Some("w")])),
            ],
            2,
        ),
    );
    let expected = ["\"q\"\"\",w", "\"x,y\",z", "x,y"];
    for input in [&csv, &jsonl, &parquet] {
        assert_eq!(keys(input, "a,b").unwrap(), expected);
    }
    assert_eq!(keys(&csv.clone().header(false), "1,3").unwrap().len(), 4, "the header is data");
    let counted = read(&Scan::of(&csv).select(Select::field("a,b"))).unwrap().1;
    assert_eq!((counted.rows, counted.skipped), (5, 2), "a row that lacks one of the values has no key");
    let beside = read(&Scan::of(&csv).select(Select::fields(["n", "a,b", "b"]))).unwrap().0;
    assert_eq!(beside[1], row(&["2", "\"x,y\",z", "z"]));
    assert_eq!(keys(&csv, "a,c").unwrap_err().kind(), ErrorKind::NoSuchField);
}

#[test]
fn paths_lead_into_objects_unless_a_field_is_called_so() {
    let folder = Folder::new();
    let text = concat!(
        "{\"a\":{\"b\":{\"c\":1.50},\"d\":\"x\"}}\n",
        "{\"a\":{\"b\":{\"c\":\"two\"}},\"a.d\":\"y\"}\n",
        "{\"a\":7,\"n\":null}\n",
        "{\"a\":{\"b\":null}}\n",
    );
    let input = folder.input("a.jsonl", text);
    assert_eq!(keys(&input, "a.b.c").unwrap(), ["1.5", "two"]);
    assert_eq!(keys(&input, "a.d").unwrap(), ["x", "y"]);
    assert_eq!(keys(&input, "a.b").unwrap(), ["{\"c\":\"two\"}", "{\"c\":1.50}"]);
    assert_eq!(keys(&input, "a.b.c,a.d").unwrap(), ["1.5,x", "two,y"]);
    assert_eq!(keys(&input, "a.x").unwrap_err().kind(), ErrorKind::NoSuchField);
}

#[test]
fn of_a_name_that_occurs_twice_a_path_takes_the_last() {
    let folder = Folder::new();
    let text = concat!(
        "{\"a\":{\"b\":1},\"a\":{\"b\":2}}\n",
        "{\"a\":{\"b\":3,\"b\":4}}\n",
        "{\"a\":{\"b\":5},\"a.b\":6,\"a\":{\"b\":7}}\n",
        "{\"a.b\":8,\"a\":{\"b\":9}}\n",
    );
    let input = folder.input("a.jsonl", text);
    assert_eq!(keys(&input, "a.b").unwrap(), ["2", "4", "6", "8"], "the whole name takes precedence");
    let scan = Scan::of(&input).select(Select::field("a.b"));
    let mut edited = Vec::new();
    let edit = |_: &RowBatch<'_>, _, value: &mut Vec<u8>| {
        value.extend_from_slice(b"x");
        Ok(Edit::Replace)
    };
    scan.edit_rows(&edit, &mut edited).unwrap();
    let edited = String::from_utf8(edited).unwrap();
    assert_eq!(edited.lines().next(), Some("{\"a\":{\"b\":1},\"a\":{\"b\":\"x\"}}"));
}

#[test]
fn elements_of_an_array_are_items() {
    let folder = Folder::new();
    let text = concat!(
        "{\"tags\":[\"x\", \"y\\n\", 3, null, \"\"],\"deep\":{\"tags\":[1.50]}}\n",
        "{\"tags\":[]}\n",
        "{\"tags\":\"[\\\"z\\\"]\"}\n",
        "{\"tags\":[ [1, 2], {\"k\" : true} ]}\n",
        "{\"tags\":null}\n",
        "{}\n",
    );
    let input = folder.input("a.jsonl", text);
    let expected = ["3", "[\"z\"]", "[1,2]", "x", "y\n", "{\"k\":true}"];
    assert_eq!(keys(&input, "tags[]").unwrap(), expected);
    assert_eq!(keys(&input, "deep.tags[]").unwrap(), ["1.5"]);
    let counted = read(&Scan::of(&input).select(Select::field("tags[]"))).unwrap().1;
    assert_eq!((counted.rows, counted.skipped), (6, 3));
    assert_eq!(keys(&input, "a,tags[]").unwrap_err().kind(), ErrorKind::Unsupported);
    let integers = folder.input("b.jsonl", "{\"n\":[1,2]}\n{\"n\":[3]}\n");
    let scan = Scan::of(&integers).select(Select::field("n[]")).keys(KeyScheme::integers());
    let sum = scan.fold(
        || 0,
        |keys, batch| {
            let _: () = *keys += batch.keys(0)?.len();
            Ok(())
        },
        |keys, more| {
            let _: () = *keys += more;
            Ok(())
        },
    );
    assert_eq!(sum.unwrap().state, 3);
}

#[test]
fn missing_is_told_from_empty() {
    let folder = Folder::new();
    let cells = |input: &Input, field: &str| {
        let scan = Scan::of(input).select(Select::field(field)).threads(1);
        let folded = scan.fold(
            String::new,
            |all, batch| {
                for row in 0..batch.rows() {
                    all.push(match batch.cell(0, row) {
                        Cell::Missing => '?',
                        Cell::Empty => '_',
                        Cell::Value(_) => '+',
                    });
                }
                Ok(())
            },
            |_, _| Ok(()),
        );
        folded.unwrap().state
    };
    assert_eq!(cells(&folder.input("a.csv", "a,b\n,1\n\"\",1\nx,1\n\"q\"\"\",1\n"), "a"), "__++");
    let jsonl = "{\"a\":\"\"}\n{\"a\":null}\n{\"b\":1}\n{\"a\":\"\\u0041\"}\n{\"a\":\"\"}\n{}\n";
    assert_eq!(cells(&folder.input("a.jsonl", jsonl), "a"), "_??+_?");
    let column: ArrayRef = Arc::new(StringArray::from(vec![Some(""), None, Some("x")]));
    assert_eq!(cells(&folder.input("a.parquet", parquet_bytes(vec![("a", column)], 9)), "a"), "_?+");
    assert_eq!(cells(&folder.input("a.txt", "one two\none\n\n"), "2"), "+??");
}

#[test]
fn first_record_is_read_alone() {
    let folder = Folder::new();
    let csv = folder.input("a.csv", "a,b\n\n1,\"x\ny\"\nbad\n");
    let first = csv.first_record(Select::field("b")).unwrap();
    assert_eq!(first, Some(vec![Some(b"x\ny".to_vec())]));
    assert_eq!(csv.first_record(Select::field("c")).unwrap_err().kind(), ErrorKind::NoSuchField);
    assert_eq!(folder.input("b.csv", "a,b\n").first_record(Select::All).unwrap(), None);
    let bad = folder.input("c.jsonl", "not json\n{\"a\":1}\n").skip_bad(true);
    assert_eq!(bad.first_record(Select::field("a")).unwrap(), Some(vec![Some(b"1".to_vec())]));
    assert_eq!(Input::stdin().first_record(Select::Row).unwrap(), None);
}
