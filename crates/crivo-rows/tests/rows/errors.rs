//! Every fault of an input is reported with its file and line, the same for any number of threads.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use crivo::keys::KeyScheme;
use crivo_rows::{Error, ErrorKind, Format, Input, Items, Scan, Select};

use crate::support::{Folder, WAYS, read, row};

/// Returns the error of reading a field, which must be the same in every way of reading.
fn error_of(input: &Input, select: &Select) -> Error {
    let errors = WAYS.map(|(threads, chunk)| {
        let scan = Scan::of(input).select(select.clone()).threads(threads).chunk_size(chunk);
        read(&scan).expect_err("the input is bad")
    });
    for error in &errors {
        assert_eq!(error.to_string(), errors[0].to_string());
    }
    errors.into_iter().next().unwrap()
}

#[track_caller]
fn check(input: &Input, field: &str, kind: ErrorKind, line: Option<u64>, says: &str) {
    let error = error_of(input, &Select::field(field));
    assert_eq!((error.kind(), error.line()), (kind, line), "{error}");
    assert!(error.to_string().contains(says), "{error}");
    assert!(error.file().is_some(), "{error}");
}

#[test]
fn missing_files_and_folders_are_named() {
    let folder = Folder::new();
    check(&Input::file(folder.path("none.csv")), "1", ErrorKind::NotFound, None, "none.csv: no such file");
    check(&Input::file(folder.path("")), "1", ErrorKind::Folder, None, "is a folder");
    check(&Input::file(folder.path("")).format(Format::Parquet), "1", ErrorKind::Folder, None, "is a folder");
    check(&Input::file(folder.path("no.parquet")), "1", ErrorKind::NotFound, None, "no such file");
}

#[test]
fn unknown_fields_are_told_with_the_known_ones() {
    let folder = Folder::new();
    let csv = folder.input("a.csv", "user,time\nana,1\n");
    check(&csv, "usr", ErrorKind::NoSuchField, None, "did you mean 'user'? (fields: user, time)");
    check(&csv, "3", ErrorKind::NoSuchField, None, "fields: user, time");
    check(&csv.clone().header(false), "user", ErrorKind::NoSuchField, None, "numbers");
    check(&csv.header(false), "3", ErrorKind::NoSuchField, None, "the records have 2");
    let lines = folder.input("a.txt", "ana 1\n");
    check(&lines, "user", ErrorKind::NoSuchField, None, "lines have no header");
    let jsonl = folder.input("a.jsonl", "{\"user\":null}\n{\"time\":1}\n");
    check(&jsonl, "tiem", ErrorKind::NoSuchField, None, "'tiem'");
    let found = Scan::of(&jsonl).select(Select::fields(["user", "time"]));
    assert_eq!(read(&found).unwrap().0, [row(&["", ""]), row(&["", "1"])], "null is not absent");
}

#[test]
fn text_of_two_bytes_a_unit_is_refused_with_the_way_out() {
    let folder = Folder::new();
    let wide = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
        "\u{FEFF}user,time\nana,1\n".encode_utf16().flat_map(order).collect()
    };
    for bytes in [wide(u16::to_le_bytes), wide(u16::to_be_bytes)] {
        for name in ["a.csv", "a.tsv", "a.jsonl", "a.txt"] {
            let says = format!("{name}: is UTF-16 text: convert it first, iconv -f UTF-16 -t UTF-8 ");
            check(&folder.input(name, &bytes), "1", ErrorKind::Unsupported, None, &says);
        }
    }
    assert!(folder.input("a.csv", wide(u16::to_le_bytes)).field_names().is_err());
    // The UTF-8 byte order mark is skipped.
    let marked = folder.input("b.csv", "\u{FEFF}user,time\nana,1\n");
    assert_eq!(read(&Scan::of(&marked).select(Select::field("user"))).unwrap().0, [row(&["ana"])]);
}

#[test]
fn an_empty_file_is_no_parquet_file() {
    let folder = Folder::new();
    check(
        &folder.input("a.parquet", ""),
        "1",
        ErrorKind::Damaged,
        None,
        "a.parquet: not a Parquet file: it is empty",
    );
}

#[test]
fn record_with_another_number_of_fields_is_told_with_its_line() {
    let folder = Folder::new();
    let says = "expected 2 fields, found 3";
    let csv = folder.input("a.csv", "a,b\n1,2\n\n\"x\ny\",4\n5,6,7\n8\n");
    check(&csv, "a", ErrorKind::FieldCount, Some(6), says);
    check(&folder.input("b.csv", "a,b\n1,2\n3"), "b", ErrorKind::FieldCount, Some(3), "found 1");
    check(&folder.input("c.tsv", "a\tb\r\n1\t2\r\n1\t2\t3\r\n"), "b", ErrorKind::FieldCount, Some(3), says);
    let (rows, counts) = read(&Scan::of(&csv.skip_bad(true)).select(Select::field("b"))).unwrap();
    assert_eq!(rows, [row(&["2"]), row(&["4"])]);
    assert_eq!((counts.rows, counts.bad), (2, 2));
}

#[test]
fn lines_are_counted_from_the_file_that_is_bad() {
    let folder = Folder::new();
    folder.write("1.csv", "a,b\n1,2\n3,4\n");
    folder.write("2.csv", "a,b\n1,2\n3,4\n5\n");
    let input = Input::from_args([folder.path("?.csv")]).unwrap();
    check(&input, "a", ErrorKind::FieldCount, Some(4), "2.csv, line 4:");
}

#[test]
fn quote_that_never_closes_is_told_where_its_record_begins() {
    let folder = Folder::new();
    let csv = folder.input("a.csv", "a,b\n1,2\n3,\"4\n5,6\n7,8\n");
    check(&csv, "a", ErrorKind::UnclosedQuote, Some(3), "never ends");
}

#[test]
fn invalid_json_is_told_with_its_line() {
    let folder = Folder::new();
    let jsonl = folder.input("a.jsonl", "{\"a\":1}\n\n{\"a\":2,}\n{\"a\":3}\n");
    check(&jsonl, "a", ErrorKind::InvalidJson, Some(3), "line 3: invalid JSON: expected a string");
    check(&folder.input("b.jsonl", "[1]\n"), "a", ErrorKind::InvalidJson, Some(1), "expected an object");
    check(
        &folder.input("c.jsonl", "{\"a\":\n1}\n"),
        "a",
        ErrorKind::InvalidJson,
        Some(1),
        "expected a value",
    );
    let (rows, counts) = read(&Scan::of(&jsonl.skip_bad(true)).select(Select::field("a"))).unwrap();
    assert_eq!(rows, [row(&["1"]), row(&["3"])]);
    assert_eq!(counts.bad, 1);
}

#[test]
fn value_that_is_no_integer_is_told_with_its_line() {
    let folder = Folder::new();
    let csv = folder.input("a.csv", "a,b\n1,\"x\ny\"\n,\n-7,\n1.5,\n9,\n");
    let hashes = |input: &Input, threads, chunk| {
        let scan = Scan::of(input).select(Select::field("a")).keys(KeyScheme::integers());
        scan.threads(threads).chunk_size(chunk).fold(
            Vec::new,
            |all, batch| {
                all.extend_from_slice(batch.keys(0)?.hashes());
                Ok(())
            },
            |all, others| {
                all.extend(others);
                Ok(())
            },
        )
    };
    for (threads, chunk) in WAYS {
        let error = hashes(&csv, threads, chunk).unwrap_err();
        assert_eq!((error.kind(), error.line()), (ErrorKind::NotInteger, Some(6)), "{error}");
        assert!(error.to_string().contains("found '1.5'"), "{error}");
        let mut folded = hashes(&csv.clone().skip_bad(true), threads, chunk).unwrap();
        let mut expected: Vec<u64> =
            [1_i64, -7, 9].iter().map(|key| KeyScheme::integers().hash(key).unwrap()).collect();
        expected.sort_unstable();
        folded.state.sort_unstable();
        assert_eq!(folded.state, expected);
        let counts = folded.counts;
        assert_eq!((counts.rows, counts.skipped, counts.bad), (4, 1, 1));
    }
}

#[test]
fn a_row_with_two_bad_keys_is_one_bad_row() {
    let folder = Folder::new();
    let csv = folder.input("two.csv", "a,b\n1,2\nx,y\n3,z\n").skip_bad(true);
    for (threads, chunk) in WAYS {
        let scan = Scan::of(&csv).select(Select::fields(["a", "b"])).keys(KeyScheme::integers());
        let folded = scan.threads(threads).chunk_size(chunk).fold(
            || 0,
            |keys, batch| {
                *keys += batch.keys(0)?.len() + batch.keys(1)?.len();
                Ok(())
            },
            |keys, more| {
                *keys += more;
                Ok(())
            },
        );
        let folded = folded.unwrap();
        assert_eq!((folded.state, folded.counts.rows, folded.counts.bad), (3, 1, 2));
    }
}

#[test]
fn error_of_a_step_stops_the_pass_and_is_given_back() {
    let folder = Folder::new();
    let input = folder.input("a.txt", "1\n2\nx\n4\n");
    for (threads, chunk) in WAYS {
        let result = Scan::of(&input).threads(threads).chunk_size(chunk).fold(
            || (),
            |(), batch| match batch.column(0).iter().position(|value| value == Some(b"x")) {
                Some(row) => Err(batch.error(row, "no x here")),
                None => Ok(()),
            },
            |(), ()| Ok(()),
        );
        let error = result.unwrap_err();
        assert!(error.to_string().ends_with("a.txt, line 3: no x here"), "{error}");
    }
    let refused = crivo::distinct::HyperLogLog::new(99).unwrap_err();
    let error = Error::from(refused.clone());
    assert_eq!((error.kind(), error.sketch()), (ErrorKind::Sketch, Some(&refused)));
    assert_eq!(Error::other("why").to_string(), "why");
}

#[test]
fn progress_sees_every_byte_and_can_stop() {
    let folder = Folder::new();
    let input = folder.input("a.txt", "line\n".repeat(1000));
    let most = AtomicU64::new(0);
    let watch = |read: u64, total: Option<u64>| {
        assert_eq!(total, Some(5000));
        most.fetch_max(read, Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    let scan = Scan::of(&input).chunk_size(100).threads(3).progress(&watch);
    let folded = scan.fold(|| (), |(), _| Ok(()), |(), ()| Ok(())).unwrap();
    assert_eq!((most.load(Ordering::Relaxed), folded.stopped), (5000, false));

    let stop = |read: u64, _: Option<u64>| {
        if read > 2000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let scan = Scan::of(&input).chunk_size(100).threads(3).progress(&stop);
    let folded = scan.fold(|| (), |(), _| Ok(()), |(), ()| Ok(())).unwrap();
    assert!(folded.stopped && (400..600).contains(&folded.counts.rows), "{:?}", folded.counts);
}

#[test]
fn followed_file_is_read_as_it_grows_until_told_to_stop() {
    let folder = Folder::new();
    let path = folder.write("a.txt", "one\ntw");
    let input = Input::file(&path).follow(true);
    let steps = AtomicU64::new(0);
    let grow = |read: u64, _: Option<u64>| {
        match (read, steps.fetch_add(1, Ordering::Relaxed)) {
            (6, _) => std::fs::write(&path, "one\ntwo\nthr").unwrap(),
            (11, 20..) => return ControlFlow::Break(()),
            _ => {}
        }
        ControlFlow::Continue(())
    };
    let folded = Scan::of(&input).threads(2).progress(&grow).fold(
        Vec::new,
        |all, batch| {
            all.extend(batch.column(0).iter().flatten().map(<[u8]>::to_vec));
            Ok(())
        },
        |all, others| {
            all.extend(others);
            Ok(())
        },
    );
    let folded = folded.unwrap();
    let mut lines = folded.state;
    lines.sort();
    assert_eq!(lines, [&b"one"[..], b"thr", b"two"]);
    assert!(folded.stopped);
}

#[test]
fn panic_of_a_step_ends_the_pass_on_every_thread() {
    let folder = Folder::new();
    let input = folder.input("a.txt", "line\n".repeat(1000));
    for repeatable in [false, true] {
        let result = std::panic::catch_unwind(|| {
            let scan = Scan::of(&input).chunk_size(20).threads(4).repeatable(repeatable);
            scan.fold(
                || (),
                |(), batch| {
                    assert!(batch.id(0).to_u64() >> 32 != 100, "on purpose");
                    Ok(())
                },
                |(), ()| Ok(()),
            )
        });
        assert!(result.is_err());
    }
    let judge = |batch: &mut crivo_rows::RowBatch<'_>, _: &mut [bool]| {
        assert!(batch.id(0).to_u64() >> 32 != 100, "on purpose");
        Ok(())
    };
    let result = std::panic::catch_unwind(|| {
        let scan = Scan::of(&input).chunk_size(20).threads(4);
        scan.copy_rows(crivo_rows::Predicate::Each(&judge), &mut Vec::new())
    });
    assert!(result.is_err());
}

#[test]
fn words_of_integers_are_refused() {
    let folder = Folder::new();
    let input = folder.input("a.txt", "1\n");
    for (scheme, items) in [(KeyScheme::integers(), Items::Words(2)), (KeyScheme::bytes(), Items::Words(0))] {
        let error = read(&Scan::of(&input).keys(scheme).items(items)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidOption, "{error}");
    }
}

#[test]
fn no_field_means_the_only_one_there_is() {
    let folder = Folder::new();
    let single = |input: &Input| read(&Scan::of(input).select(Select::Single).threads(2).chunk_size(4));
    let one = [row(&["1"]), row(&["2"])];
    assert_eq!(single(&folder.input("a.txt", "1\n2\n")).unwrap().0, one);
    assert_eq!(single(&folder.input("a.csv", "n\n1\n2\n")).unwrap().0, one);
    assert_eq!(single(&folder.input("a.csv", "1\n2\n").header(false)).unwrap().0, one);
    assert_eq!(single(&folder.input("a.jsonl", "{\"n\":1}\n{\"n\":2}\n")).unwrap().0, one);
    for input in [
        folder.input("b.csv", "x,y\n1,2\n"),
        folder.input("c.csv", "1,2\n").header(false),
        folder.input("d.jsonl", "{\"x\":1,\"y\":2}\n"),
    ] {
        let error = single(&input).unwrap_err();
        assert!(error.to_string().contains("records have 2 fields: choose one (fields: "), "{error}");
    }
}

#[test]
fn names_and_header_of_the_first_file_come_back_even_without_rows() {
    let folder = Folder::new();
    let input = folder.input("a.csv", "\u{FEFF}x,\"y\"\r\n");
    let folded = Scan::of(&input).select(Select::All).fold(|| (), |(), _| Ok(()), |(), ()| Ok(())).unwrap();
    assert_eq!(folded.names, ["x", "y"]);
    assert_eq!(folded.header.as_deref(), Some(&b"x,\"y\"\r\n"[..]));
}
