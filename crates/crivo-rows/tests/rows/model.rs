//! Compares each text format with a simple parser, which reads one character at a time.

use crivo_rows::{Format, Input, Scan, Select};

use crate::support::{Folder, Random, Row, WAYS, read, row};

/// The expected result of a parser.
struct Expected {
    rows: Vec<Row>,
    bad: u64,
}

/// A record as the model splits it. A blank one is a line without any character, not even quotes.
#[derive(Default)]
struct Record {
    fields: Vec<String>,
    is_blank: bool,
}

/// Returns all records, and whether the last one ends inside quotes.
fn split_csv(text: &str, delimiter: &str, quotes: bool) -> (Vec<Record>, bool) {
    let mut records = Vec::new();
    let mut record = Record { is_blank: true, ..Record::default() };
    let mut field = String::new();
    let (mut at_start, mut in_quotes) = (true, false);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let mut length = c.len_utf8();
        let ends_line = c == '\n' || rest == "\r" || rest.starts_with("\r\n");
        if in_quotes && rest.starts_with("\"\"") {
            field.push('"');
            length = 2;
        } else if in_quotes && c == '"' {
            in_quotes = false;
        } else if in_quotes {
            field.push(c);
        } else if quotes && at_start && c == '"' {
            (in_quotes, at_start, record.is_blank) = (true, false, false);
        } else if rest.starts_with(delimiter) {
            record.fields.push(std::mem::take(&mut field));
            (at_start, record.is_blank) = (true, false);
            length = delimiter.len();
        } else if ends_line {
            record.fields.push(std::mem::take(&mut field));
            records.push(std::mem::replace(&mut record, Record { is_blank: true, ..Record::default() }));
            at_start = true;
            length = if rest.starts_with("\r\n") { 2 } else { 1 };
        } else {
            field.push(c);
            (at_start, record.is_blank) = (false, false);
        }
        rest = &rest[length..];
    }
    if !record.is_blank {
        record.fields.push(field);
        records.push(record);
    }
    (records, in_quotes)
}

fn expect_csv(text: &str, delimiter: &str, quotes: bool) -> Expected {
    let (mut records, unclosed) = split_csv(text, delimiter, quotes);
    let mut expected = Expected { rows: Vec::new(), bad: 0 };
    if unclosed {
        records.pop();
        expected.bad += 1;
    }
    let width = records.iter().find(|record| !record.is_blank).map_or(0, |record| record.fields.len());
    for record in &records {
        if record.fields.len() == width {
            expected.rows.push(row(&record.fields.iter().map(String::as_str).collect::<Vec<_>>()));
        } else if !record.is_blank {
            expected.bad += 1;
        }
    }
    expected
}

fn check_csv(seed: u64, delimiter: &str, quotes: bool) {
    let folder = Folder::new();
    let mut random = Random::new(seed);
    let alphabet = ["a", "b", "é", delimiter, delimiter, "\n", "\r\n", "\r", "\"", "\"", "\"\"", ":", " "];
    for case in 0..1500 {
        let first = ["x", "x{d}y", "x{d}\"y\n\"{d}z"][case % 3].replace("{d}", delimiter);
        let first = if quotes { first } else { first.replace(['"', '\n'], "") };
        let text = format!("{first}\n{}", random.soup(&alphabet, 40));
        let expected = expect_csv(&text, delimiter, quotes);
        let mark = if case % 4 == 0 { "\u{FEFF}" } else { "" };
        let input = folder.input("soup.csv", format!("{mark}{text}"));
        let input = input.delimiter(delimiter).unwrap().header(false).quotes(quotes).skip_bad(true);
        for (threads, chunk) in WAYS {
            let scan = Scan::of(&input).select(Select::All).threads(threads).chunk_size(chunk);
            let (rows, counts) = read(&scan).unwrap();
            let latin: Vec<Row> = expected.rows.iter().map(as_latin).collect();
            assert_eq!(rows, latin, "{text:?} with {threads} threads, chunks of {chunk}");
            assert_eq!(counts.bad, expected.bad, "{text:?} with {threads} threads, chunks of {chunk}");
            assert_eq!(counts.rows, rows.len() as u64);
            assert_eq!(counts.bytes, (mark.len() + text.len()) as u64);
        }
    }
}

fn as_latin(row: &Row) -> Row {
    let latin = |text: &String| text.bytes().map(|byte| byte as char).collect();
    row.iter().map(|value| value.as_ref().map(latin)).collect()
}

#[test]
fn csv_soup_is_read_as_the_model_reads_it() {
    check_csv(1, ",", true);
}

#[test]
fn csv_soup_with_a_long_delimiter_is_read_as_the_model_reads_it() {
    check_csv(2, "::", true);
}

#[test]
fn csv_soup_with_an_overlapping_delimiter_is_read_as_the_model_reads_it() {
    check_csv(3, "aba", true);
}

#[test]
fn without_quoting_quotes_are_data() {
    check_csv(4, ";", false);
}

#[test]
fn quoted_fields_come_back_whatever_is_in_them() {
    let folder = Folder::new();
    let mut random = Random::new(5);
    let alphabet = ["a", ",", "\n", "\r\n", "\"", "é", " ", ""];
    for _ in 0..300 {
        let table: Vec<Vec<String>> =
            (0..random.below(30)).map(|_| (0..3).map(|_| random.soup(&alphabet, 6)).collect()).collect();
        let line_end = random.pick(&["\n", "\r\n"]);
        let quote = |field: &String| format!("\"{}\"", field.replace('"', "\"\""));
        let mut text = format!("\"one, two\",\"th\"\"ree\",\"fo\nur\"{line_end}");
        for record in &table {
            text += &(record.iter().map(quote).collect::<Vec<_>>().join(",") + line_end);
        }
        let input = folder.input("quoted.csv", &text);
        for (threads, chunk) in WAYS {
            let select = Select::fields(["fo\nur", "th\"ree", "1"]);
            let scan = Scan::of(&input).select(select).threads(threads).chunk_size(chunk);
            let (rows, _) = read(&scan).unwrap();
            let expected: Vec<Row> = table
                .iter()
                .map(|r| as_latin(&row(&[r[2].as_str(), r[1].as_str(), r[0].as_str()])))
                .collect();
            assert_eq!(rows, expected, "{text:?}");
        }
    }
}

#[test]
fn lines_are_records_and_empty_ones_are_skipped_and_counted() {
    let folder = Folder::new();
    let mut random = Random::new(6);
    for _ in 0..1000 {
        let text = random.soup(&["a", "b c", "\"", ",", "\n", "\n", "\r\n", "\r", "\u{FEFF}"], 40);
        let input = folder.input("soup.txt", &text);
        let body = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
        let mut expected: Vec<&str> = body.split('\n').collect();
        if body.is_empty() || body.ends_with('\n') {
            expected.pop();
        }
        let expected: Vec<Row> =
            expected.iter().map(|line| as_latin(&row(&[line.strip_suffix('\r').unwrap_or(line)]))).collect();
        for (threads, chunk) in WAYS {
            let (rows, counts) = read(&Scan::of(&input).threads(threads).chunk_size(chunk)).unwrap();
            assert_eq!(rows, expected, "{text:?}");
            assert_eq!(counts.skipped, expected.iter().filter(|row| row[0].is_none()).count() as u64);
        }
    }
}

#[test]
fn fields_of_lines_stand_between_blanks_or_a_delimiter() {
    let folder = Folder::new();
    let text = "  ana\t7 \n\nrui\nx  8  9\r\n";
    for (threads, chunk) in WAYS {
        let input = folder.input("blanks.txt", text);
        let scan = Scan::of(&input).select(Select::fields(["2", "1"])).threads(threads).chunk_size(chunk);
        let (rows, counts) = read(&scan).unwrap();
        assert_eq!(rows, [row(&["7", "ana"]), row(&["", ""]), row(&["", "rui"]), row(&["8", "x"])]);
        assert_eq!((counts.rows, counts.skipped), (4, 2));

        let input = folder.input("colons.txt", "a::\"b::c\r\n\nd\n").delimiter("::").unwrap();
        let scan = Scan::of(&input).select(Select::field("2")).threads(threads).chunk_size(chunk);
        assert_eq!(read(&scan).unwrap().0, [row(&["\"b"]), row(&[""]), row(&[""])]);
    }
}

#[test]
fn json_values_have_their_text() {
    let folder = Folder::new();
    let text = concat!(
        "{\"a\": \"x\\u00e9\\n\", \"b\": 1}\n",
        "\r\n",
        "{\"b\": 1.50, \"c\": null, \"a\": \"\"}\r\n",
        "{\"a\": {\"k\": [1, \"a b\"]}, \"b\": true, \"a\\u0062\": -0}\n",
        "  {\"a\": 1e5, \"a\": 12345678901234567890}\n",
        "{}"
    );
    let input = folder.input("values.jsonl", text);
    for (threads, chunk) in WAYS {
        let scan =
            Scan::of(&input).select(Select::fields(["a", "b", "ab"])).threads(threads).chunk_size(chunk);
        let (rows, counts) = read(&scan).unwrap();
        let expected = [
            as_latin(&row(&["xé\n", "1", ""])),
            row(&["", "1.5", ""]),
            row(&["{\"k\":[1,\"a b\"]}", "true", "0"]),
            row(&["12345678901234567890", "", ""]),
            row(&["", "", ""]),
        ];
        assert_eq!(rows, expected);
        assert_eq!((counts.rows, counts.skipped), (5, 2));
    }
}

#[test]
fn all_columns_of_json_appear_as_they_are_found() {
    let folder = Folder::new();
    let mut random = Random::new(7);
    for _ in 0..100 {
        let mut text = String::new();
        let mut expected: Vec<Vec<(String, String)>> = Vec::new();
        for number in 0..random.below(40) {
            let names: Vec<usize> = (0..6).filter(|_| random.below(2) == 0).collect();
            let fields: Vec<String> =
                names.iter().map(|name| format!("\"f{name}\":\"v{name} {number}\"")).collect();
            text += &format!("{{{}}}\n", fields.join(","));
            expected.push(names.iter().map(|n| (format!("f{n}"), format!("v{n} {number}"))).collect());
        }
        let input = folder.input("wide.jsonl", &text);
        for (threads, chunk) in WAYS {
            let scan = Scan::of(&input).select(Select::All).threads(threads).chunk_size(chunk);
            let folded = scan
                .fold(
                    Vec::new,
                    |rows, batch| {
                        for at in 0..batch.rows() {
                            let mut row: Vec<(String, String)> = batch
                                .names()
                                .iter()
                                .enumerate()
                                .filter_map(|(c, name)| {
                                    let value = batch.value(c, at)?;
                                    Some((name.clone(), String::from_utf8_lossy(value).into_owned()))
                                })
                                .collect();
                            row.sort();
                            rows.push((batch.id(at), row));
                        }
                        Ok(())
                    },
                    |rows, others| {
                        rows.extend(others);
                        Ok(())
                    },
                )
                .unwrap();
            let mut rows = folded.state;
            rows.sort();
            assert_eq!(rows.into_iter().map(|(_, row)| row).collect::<Vec<_>>(), expected, "{text}");
        }
    }
}

#[test]
fn bytes_that_are_no_utf8_are_data_in_every_text_format() {
    let folder = Folder::new();
    let found = |input: &Input, select: Select| {
        read(&Scan::of(input).select(select).threads(2).chunk_size(5)).unwrap().0
    };
    let expected = vec![vec![Some("\u{FF}\u{C0}x".to_owned())]];
    assert_eq!(found(&folder.input("a.txt", b"\xFF\xC0x\n"), Select::Row), expected);
    assert_eq!(found(&folder.input("a.csv", b"h,i\n\xFF\xC0x,1\n"), Select::field("h")), expected);
    assert_eq!(found(&folder.input("a.jsonl", b"{\"h\":\"\xFF\xC0x\"}\n"), Select::field("h")), expected);
}

#[test]
fn empty_files_have_no_rows() {
    let folder = Folder::new();
    for format in [Format::Lines, Format::Csv, Format::Tsv, Format::Jsonl] {
        let input = folder.input("empty", "").format(format);
        let (rows, counts) = read(&Scan::of(&input).select(Select::field("1")).threads(3)).unwrap();
        assert!(rows.is_empty() && counts == crivo_rows::Counts::default(), "{format:?}");
    }
    let input = folder.input("header.csv", "a,b\n");
    assert_eq!(read(&Scan::of(&input).select(Select::field("b"))).unwrap().1.rows, 0);
    let input = folder.input("mark.csv", "\u{FEFF}a,b");
    assert_eq!(read(&Scan::of(&input).select(Select::field("a"))).unwrap().1.rows, 0);
}

#[test]
fn each_file_has_its_own_header_and_its_own_order() {
    let folder = Folder::new();
    folder.write("1.csv", "a,b\n1,2\n");
    folder.write("2.csv", "b,c,a\n3,4,5");
    folder.write("3.csv", "");
    folder.write("4.csv", "a\n\n6\n");
    let input = Input::from_args([folder.path("*.csv")]).unwrap();
    for (threads, chunk) in WAYS {
        let scan = Scan::of(&input).select(Select::field("a")).threads(threads).chunk_size(chunk);
        assert_eq!(read(&scan).unwrap().0, [row(&["1"]), row(&["5"]), row(&[""]), row(&["6"])]);
    }
}
