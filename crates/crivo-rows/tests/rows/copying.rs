//! Copied rows have their original bytes, in the original order.

use std::collections::HashSet;

use crivo_rows::{Copied, ErrorKind, Input, Items, Predicate, Result, RowBatch, Scan, Select};

use crate::compressed::gzip;
use crate::support::{Folder, Random, WAYS};

fn copy(scan: &Scan<'_>, keep: impl Fn(&[u8]) -> bool + Sync) -> Result<(String, Copied)> {
    let mut output = Vec::new();
    let judge = |batch: &mut RowBatch<'_>, flags: &mut [bool]| {
        for (flag, value) in flags.iter_mut().zip(batch.column(0).iter()) {
            *flag = keep(value.unwrap_or_default());
        }
        Ok(())
    };
    let copied = scan.copy_rows(Predicate::Each(&judge), &mut output)?;
    Ok((String::from_utf8(output).unwrap(), copied))
}

#[test]
fn keeping_everything_copies_the_file() {
    let folder = Folder::new();
    let mut random = Random::new(8);
    for _ in 0..500 {
        let text = random.soup(&["a", "\"", "x,y", "\n", "\r\n", "é"], 30);
        let input = folder.input("soup.txt", &text);
        for (threads, chunk) in WAYS {
            let scan = Scan::of(&input).threads(threads).chunk_size(chunk);
            assert_eq!(copy(&scan, |_| true).unwrap().0, text);
        }
    }
}

#[test]
fn kept_records_are_unchanged_and_in_order_below_the_header() {
    let folder = Folder::new();
    let mut random = Random::new(9);
    for _ in 0..200 {
        let line_end = random.pick(&["\n", "\r\n"]);
        let header = format!("\"k\",v{line_end}");
        let records: Vec<(String, String)> = (0..random.below(60))
            .map(|_| {
                let key = random.pick(&["a", "b", "c"]);
                let quote = random.pick(&["", "\""]);
                let field = format!("{quote}{key}{quote}");
                (key.to_owned(), format!("{field},\"x\n{}\"{line_end}", random.below(1000)))
            })
            .collect();
        let mut text =
            header.clone() + &records.iter().map(|(_, record)| record.as_str()).collect::<String>();
        let mut expected: String = header
            + &records
                .iter()
                .filter(|(key, _)| key == "b")
                .map(|(_, record)| record.as_str())
                .collect::<String>();
        if random.below(2) == 0 {
            text += "b,last";
            expected += "b,last";
        }
        let input = folder.input("kept.csv", &text);
        let packed = folder.input("kept.csv.gz", gzip(text.as_bytes()));
        for (threads, chunk) in WAYS {
            for input in [&input, &packed] {
                let scan = Scan::of(input).select(Select::field("k")).threads(threads).chunk_size(chunk);
                let (output, copied) = copy(&scan, |key| key == b"b").unwrap();
                assert_eq!(output, expected);
                assert_eq!(copied.kept, expected.matches('b').count() as u64);
            }
        }
    }
}

#[test]
fn json_lines_keep_their_blanks_and_line_ends() {
    let folder = Folder::new();
    let text = "  {\"k\": \"b\", \"n\": 1}  \r\n\n{\"k\":\"a\"}\n\t{\"k\":\"\\u0062\"} \n{\"k\":\"b\"}";
    let expected = "  {\"k\": \"b\", \"n\": 1}  \r\n\t{\"k\":\"\\u0062\"} \n{\"k\":\"b\"}";
    let input = folder.input("kept.jsonl", text);
    for (threads, chunk) in WAYS {
        let scan = Scan::of(&input).select(Select::field("k")).threads(threads).chunk_size(chunk);
        assert_eq!(copy(&scan, |key| key == b"b").unwrap().0, expected);
    }
}

#[test]
fn predicate_in_order_sees_records_in_order() {
    let folder = Folder::new();
    let mut random = Random::new(10);
    let lines: Vec<String> = (0..3000).map(|_| format!("{}", random.below(200))).collect();
    let input = folder.input("repeats.txt", lines.join("\n"));
    let mut seen = HashSet::new();
    let expected: Vec<&str> = lines.iter().filter(|line| seen.insert(*line)).map(String::as_str).collect();
    for (threads, chunk) in [(1, 50), (4, 50), (4, 1000)] {
        let mut seen = HashSet::new();
        let mut first = |batch: &mut RowBatch<'_>, flags: &mut [bool]| {
            let found = batch.keys_with_rows(0)?;
            for (&row, &hash) in found.rows.iter().zip(found.keys.hashes()) {
                flags[row as usize] = seen.insert(hash);
            }
            Ok(())
        };
        let mut output = Vec::new();
        let scan = Scan::of(&input).threads(threads).chunk_size(chunk);
        let copied = scan.copy_rows(Predicate::InOrder(&mut first), &mut output).unwrap();
        assert_eq!(String::from_utf8(output).unwrap().lines().collect::<Vec<_>>(), expected);
        assert_eq!((copied.kept, copied.counts.rows), (expected.len() as u64, 3000));
    }
}

#[test]
fn files_with_one_header_are_joined_and_with_others_refused() {
    let folder = Folder::new();
    folder.write("1.csv", "a,b\n1,2");
    folder.write("2.csv", "a,b\r\n3,4\n");
    let join = || Input::from_args([folder.path("?.csv")]).unwrap();
    for (threads, chunk) in WAYS {
        let input = join();
        let scan = Scan::of(&input).select(Select::field("a")).threads(threads).chunk_size(chunk);
        assert_eq!(copy(&scan, |_| true).unwrap().0, "a,b\n1,2\n3,4\n");
    }
    folder.write("3.csv", "b,a\n5,6\n");
    let input = join();
    let error = copy(&Scan::of(&input).select(Select::field("a")), |_| true).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FieldCount);
    assert!(error.to_string().contains("3.csv: the header differs from the first file's (a,b)"), "{error}");
}

#[test]
fn rows_named_in_one_pass_are_found_in_the_next() {
    let folder = Folder::new();
    let text: String = (0..2000).map(|n| format!("{n}\n")).collect();
    let input = folder.input("numbers.txt", &text);
    let named = Scan::of(&input).threads(4).chunk_size(100).fold(
        HashSet::new,
        |ids, batch| {
            ids.extend(
                (0..batch.rows())
                    .filter(|&row| batch.record(row).is_some_and(|r| r.ends_with(b"7")))
                    .map(|row| batch.id(row)),
            );
            Ok(())
        },
        |ids, others| {
            ids.extend(others);
            Ok(())
        },
    );
    let named = named.unwrap().state;
    let mut output = Vec::new();
    let judge = |batch: &mut RowBatch<'_>, flags: &mut [bool]| {
        flags.iter_mut().enumerate().for_each(|(row, flag)| *flag = named.contains(&batch.id(row)));
        Ok(())
    };
    Scan::of(&input).threads(2).chunk_size(100).copy_rows(Predicate::Each(&judge), &mut output).unwrap();
    let expected: String = (0..2000).filter(|n| n % 10 == 7).map(|n| format!("{n}\n")).collect();
    assert_eq!(String::from_utf8(output).unwrap(), expected);
}

#[test]
fn error_of_the_predicate_or_the_output_ends_the_copy() {
    struct Closed;
    impl std::io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let folder = Folder::new();
    let input = folder.input("numbers.txt", (0..2000).map(|n| format!("{n}\n")).collect::<String>());
    for threads in [1, 4] {
        let scan = Scan::of(&input).threads(threads).chunk_size(100);
        let all = |_: &mut RowBatch<'_>, flags: &mut [bool]| {
            flags.fill(true);
            Ok(())
        };
        let error = scan.copy_rows(Predicate::Each(&all), &mut Closed).unwrap_err();
        assert_eq!(error.io_kind(), Some(std::io::ErrorKind::BrokenPipe), "{error}");
        let refuse = |batch: &mut RowBatch<'_>, flags: &mut [bool]| {
            flags.fill(true);
            match batch.column(0).iter().position(|value| value == Some(b"777")) {
                Some(row) => Err(batch.error(row, "unlucky")),
                None => Ok(()),
            }
        };
        let mut output = Vec::new();
        let error = scan.copy_rows(Predicate::Each(&refuse), &mut output).unwrap_err();
        assert!(error.to_string().ends_with("line 778: unlucky"), "{error}");
        let output = String::from_utf8(output).unwrap();
        assert!(output.lines().map(|line| line.parse::<u32>().unwrap()).eq(0..output.lines().count() as u32));
    }
}

#[test]
fn hashes_are_judged_in_order_whatever_the_threads_and_chunks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.csv");
    let rows: Vec<String> = (0..3_000_u32).map(|n| format!("{n},{}", n * n % 97 % 40)).collect();
    // Every seventh has no value, and the last no line end.
    let rows: Vec<String> = rows
        .iter()
        .enumerate()
        .map(|(n, row)| if n % 7 == 3 { format!("{n},") } else { row.clone() })
        .collect();
    std::fs::write(&path, format!("id,key\r\n{}", rows.join("\r\n"))).unwrap();
    let mut seen = HashSet::new();
    let first =
        rows.iter().filter(|row| row.ends_with(',') || seen.insert(row.split(',').nth(1).map(str::to_owned)));
    let expected = first.fold(String::from("id,key\r\n"), |text, row| text + row + "\r\n");
    // The last row is kept unchanged, without a line end.
    let expected = expected.trim_end();
    let input = Input::file(&path);
    for (threads, chunk) in [(1, 1 << 18), (2, 100), (4, 37), (3, 1)] {
        let mut seen = HashSet::new();
        let mut output = Vec::new();
        let copied = Scan::of(&input)
            .select(Select::field("key"))
            .threads(threads)
            .chunk_size(chunk)
            .copy_rows(
                Predicate::Hashes(&mut |hashes, keep| {
                    keep.clear();
                    keep.extend(hashes.iter().map(|&hash| seen.insert(hash)));
                }),
                &mut output,
            )
            .unwrap();
        assert_eq!(String::from_utf8(output).unwrap(), expected, "{threads} threads, chunks of {chunk}");
        assert_eq!((copied.kept, copied.counts.rows), (expected.lines().count() as u64 - 1, 3_000));
    }
    let words = Scan::of(&input).select(Select::field("key")).items(Items::Words(1));
    let refused = words.copy_rows(Predicate::Hashes(&mut |_, _| {}), &mut Vec::new());
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidOption);
}

#[test]
fn rows_of_different_text_formats_are_not_mixed() {
    let folder = Folder::new();
    let csv = folder.write("a.csv", "x,y\n1,2\n");
    let jsonl = folder.write("b.jsonl", "{\"x\":1}\n");
    let unnamed = folder.write("c", "x,y\n3,4\n");
    for paths in [[&csv, &jsonl], [&jsonl, &csv]] {
        let input = Input::from_args(paths).unwrap();
        for (threads, chunk) in WAYS {
            let scan = Scan::of(&input).select(Select::field("x")).threads(threads).chunk_size(chunk);
            let error = copy(&scan, |_| true).unwrap_err();
            assert!(error.to_string().contains("the format differs from the first file's"), "{error}");
            assert_eq!(error.file(), paths[1].to_str());
        }
    }
    // A file whose first line tells its format is like one whose name does.
    let input = Input::from_args([&csv, &unnamed]).unwrap();
    let copied = copy(&Scan::of(&input).select(Select::field("x")), |_| true).unwrap();
    assert_eq!(copied.0, "x,y\n1,2\n3,4\n");
}
