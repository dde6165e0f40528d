//! The handling of input by all commands: formats, bad records, missing files.

use crate::support::{Scratch, compress};

#[track_caller]
fn distinct(scratch: &Scratch, args: &[&str]) -> (u64, u64, u64, f64) {
    let json = scratch.run(&[&["distinct", "--json"], args].concat()).json();
    let number = |name: &str| json[name].as_u64().unwrap();
    (number("rows"), number("skipped"), number("bad"), json["distinct"]["value"].as_f64().unwrap())
}

#[test]
fn files_patterns_and_standard_input_are_one_stream() {
    let scratch = Scratch::with([("a1.txt", "x\ny\n"), ("a2.txt", "y\nz\n"), ("b.txt", "w\n")]);
    assert_eq!(distinct(&scratch, &["a1.txt", "a2.txt"]), (4, 0, 0, 3.0));
    assert_eq!(distinct(&scratch, &["a*.txt"]), (4, 0, 0, 3.0));
    let json = scratch.feed(&["distinct", "--json", "b.txt", "-"], "w\nv\n").json();
    assert_eq!((json["rows"].as_u64(), json["distinct"]["value"].as_f64()), (Some(3), Some(2.0)));
}

#[test]
fn empty_input_answers_zero() {
    let scratch = Scratch::with([("empty.txt", ""), ("empty.csv", ""), ("header.csv", "user,time\n")]);
    for args in [&["empty.txt"][..], &["header.csv", "-f", "user"], &["empty.txt", "--method", "exact"]] {
        assert_eq!(distinct(&scratch, args), (0, 0, 0, 0.0), "{args:?}");
    }
    assert_eq!(scratch.feed(&["distinct", "--json"], "").json()["distinct"]["value"], 0.0);
    assert_eq!(distinct(&scratch, &["empty.csv", "-f", "user"]), (0, 0, 0, 0.0));
}

#[test]
fn byte_order_marks_line_ends_and_foreign_bytes_are_handled() {
    let scratch = Scratch::with([
        ("mark.csv", &b"\xEF\xBB\xBFuser,n\r\nana,1\r\nrui,2\r\nana,3\r\n"[..]),
        ("latin1.csv", b"user\ncaf\xE9\ncaf\xC3\xA9\ncaf\xE9\n\xFF\xFE\n"),
        ("quotes.csv", b"user,n\nthe \"best\",1\n\"a, b\"\"c\",2\n\"two\nlines\",3\n"),
        ("open.txt", b"a\nb"),
    ]);
    assert_eq!(distinct(&scratch, &["mark.csv", "-f", "user"]), (3, 0, 0, 2.0));
    assert_eq!(distinct(&scratch, &["mark.csv", "-f", "1"]), (3, 0, 0, 2.0));
    assert_eq!(distinct(&scratch, &["latin1.csv", "-f", "user"]), (4, 0, 0, 3.0));
    assert_eq!(distinct(&scratch, &["quotes.csv", "-f", "user"]), (3, 0, 0, 3.0));
    assert_eq!(distinct(&scratch, &["open.txt"]), (2, 0, 0, 2.0));
}

#[test]
fn options_say_what_the_name_does_not() {
    let scratch = Scratch::with([
        ("ratings.dat", "1::Toy Story::5\n2::Heat::4\n3::Heat::\n"),
        ("semi.csv", "a;b\n1;x\n2;x\n"),
        ("tab.txt", "1\tx\n2\tx\n"),
        ("words.txt", "GET  /a\nGET /b\nPUT\n"),
        ("one.csv", "user\nana\nrui\n"),
    ]);
    let dat = ["ratings.dat", "--format", "csv", "--no-header", "--delimiter", "::", "-f"];
    assert_eq!(distinct(&scratch, &[&dat[..], &["2"]].concat()), (3, 0, 0, 2.0));
    assert_eq!(distinct(&scratch, &[&dat[..], &["3"]].concat()), (3, 1, 0, 2.0));
    assert_eq!(distinct(&scratch, &["semi.csv", "--delimiter", ";", "-f", "b"]), (2, 0, 0, 1.0));
    assert_eq!(distinct(&scratch, &["tab.txt", "--delimiter", "\\t", "-f", "2"]), (2, 0, 0, 1.0));
    assert_eq!(distinct(&scratch, &["words.txt", "-f", "1"]), (3, 0, 0, 2.0));
    assert_eq!(distinct(&scratch, &["one.csv"]), (2, 0, 0, 2.0));
    scratch.run(&["distinct", "tab.txt", "--delimiter", ""]).fails_with("--delimiter: a delimiter is");
    scratch.run(&["distinct", "tab.txt", "--threads", "0"]).fails_with("--threads");
    scratch.run(&["distinct", "tab.txt", "--format", "xls"]).fails_with("parquet");
}

#[test]
fn missing_files_and_folders_are_named() {
    let scratch = Scratch::with([("there.csv", "a,b\n")]);
    std::fs::create_dir(scratch.path("folder")).unwrap();
    scratch.run(&["distinct", "none.csv"]).fails_with("crivo: none.csv: no such file\n");
    scratch
        .run(&["distinct", "there.csv", "*.tsv"])
        .fails_with("crivo: *.tsv: no file matches this pattern\n");
    scratch.run(&["distinct", "folder"]).fails_with("crivo: folder: is a folder: name its files");
    scratch.run(&["distinct", "-", "-"]).fails_with("standard input");
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_text_are_names_too() {
    use std::os::unix::ffi::OsStrExt;

    let name = std::ffi::OsStr::from_bytes(b"caf\xE9.csv");
    let scratch = Scratch::new();
    std::fs::write(scratch.path("").join(name), "user\nana\nrui\n").unwrap();
    let output = scratch.command(&["distinct", "--json"]).arg(name).output().unwrap();
    assert_eq!(crate::support::Ran::from(output).json()["distinct"]["value"], 2.0);
}

#[test]
fn missing_field_lists_those_there_are_and_suggests_one() {
    let scratch = Scratch::with([("a.csv", "user,time\nana,1\n"), ("a.jsonl", "{\"user\":1}\n")]);
    scratch
        .run(&["distinct", "a.csv", "-f", "usr"])
        .fails_with("crivo: a.csv: there is no field 'usr'; did you mean 'user'? (fields: user, time)");
    scratch.run(&["distinct", "a.csv", "-f", "3"]).fails_with("there is no field '3'");
    scratch.run(&["distinct", "a.csv"]).fails_with("user, time");
    scratch.run(&["distinct", "a.jsonl", "-f", "usr"]).fails_with("usr");
}

#[test]
fn bad_records_stop_with_file_and_line_or_are_counted() {
    let scratch = Scratch::with([
        ("ragged.csv", "a,b,c\n1,2,3\n4,5\n6,7,8\n"),
        ("bad.jsonl", "{\"a\":1}\n\n{\"a\":2}\n{a:3}\n[4]\n{\"a\":5}\n"),
        ("mixed.csv", "a\n1\ntwo\n3\n"),
    ]);
    for (file, more, place, counts) in [
        ("ragged.csv", &[][..], "ragged.csv:3: expected 3 fields, found 2", (2, 0, 1, 2.0)),
        ("bad.jsonl", &[], "bad.jsonl:4: ", (3, 0, 2, 3.0)),
        (
            "mixed.csv",
            &["--keys", "int"],
            "mixed.csv:3: column 'a': expected a 64-bit integer, found 'two'",
            (2, 0, 1, 2.0),
        ),
    ] {
        for threads in ["1", "4"] {
            let args = [&[file, "-f", "a", "--threads", threads], more].concat();
            scratch.run(&[&["distinct"], &args[..]].concat()).fails_with(&format!("crivo: {place}"));
            let skipping = [&args[..], &["--skip-bad"]].concat();
            assert_eq!(distinct(&scratch, &skipping), counts, "{file}");
        }
    }
    let text = scratch.run(&["distinct", "ragged.csv", "-f", "a", "--skip-bad"]);
    assert!(text.ok().contains("2 rows, 0 skipped, 1 bad\n"), "{text:?}");
}

#[test]
fn unclosed_quote_is_found() {
    let scratch = Scratch::with([("a.csv", "a,b\n1,\"x\n2,y\n")]);
    scratch.run(&["distinct", "a.csv", "-f", "a"]).fails_with("crivo: a.csv:2: ");
}

#[test]
fn damaged_compression_and_parquet_are_named() {
    let text = (0..20_000).fold(String::from("a\n"), |text, n| text + &format!("{n}\n"));
    let scratch = Scratch::new();
    for kind in ["gz", "zst", "xz"] {
        let whole = compress(kind, text.as_bytes());
        let cut = format!("cut.csv.{kind}");
        scratch.write(&cut, &whole[..whole.len() / 2]);
        scratch.run(&["distinct", &cut, "-f", "a"]).fails_with(&format!("crivo: {cut}: "));
        let mut flipped = whole.clone();
        let middle = flipped.len() / 2;
        flipped[middle] ^= 0xFF;
        flipped[middle + 1] ^= 0xFF;
        let corrupt = format!("corrupt.csv.{kind}");
        scratch.write(&corrupt, flipped);
        scratch.run(&["distinct", &corrupt, "-f", "a"]).fails_with(&format!("crivo: {corrupt}: "));
        scratch.write(&format!("whole.csv.{kind}"), whole);
        assert_eq!(
            distinct(&scratch, &[&format!("whole.csv.{kind}"), "-f", "a", "--method", "exact"]).3,
            20_000.0
        );
    }
    scratch.write("broken.parquet", "PAR1 this is not one PAR1");
    scratch.run(&["distinct", "broken.parquet", "-f", "a"]).fails_with("crivo: broken.parquet: ");
}

#[test]
fn misspelt_commands_and_options_get_a_suggestion() {
    let scratch = Scratch::new();
    scratch.run(&["distnct"]).fails_with("'distinct'");
    scratch.run(&["distinct", "--verfy"]).fails_with("'--verify'");
    scratch.run(&["distinct", "--no-headers"]).fails_with("'--no-header'");
    let nothing = scratch.run(&[]);
    assert_eq!((nothing.code, nothing.out.as_str()), (Some(2), ""));
    assert!(nothing.err.contains("Usage"), "{nothing:?}");
}

#[test]
fn several_fields_paths_and_elements_are_keys() {
    let scratch = Scratch::with([
        ("a.csv", "country,year,n\nPT,2024,1\nPT,2025,2\nPT,2024,3\n\"a,b\",c,4\na,\"b,c\",5\nPT,,6\n"),
        (
            "a.jsonl",
            "{\"b\":{\"c\":\"x\"},\"tags\":[\"p\",\"q\",\"r\"]}\n{\"b\":{\"c\":\"y\"},\"tags\":[\"q\"]}\n{\"b\":null}\n",
        ),
        ("a.tsv", "k\tv\n\"x\t1\n\"y\t2\n"),
    ]);
    let json = scratch.run(&["distinct", "a.csv", "-f", "country,year", "--json"]).json();
    assert_eq!((json["distinct"]["value"].as_f64(), json["skipped"].as_u64()), (Some(4.0), Some(1)));
    scratch.run(&["top", "a.csv", "-f", "country,year", "-o", "t.crivo", "-q"]).ok();
    let json = scratch.run(&["ask", "t.crivo", "PT,2024", "\"a,b\",c", "--json"]).json();
    let counts: Vec<_> = (0..2).map(|at| json["answers"][at]["count"]["value"].as_f64()).collect();
    assert_eq!(counts, [Some(2.0), Some(1.0)]);
    let value = |field: &str| {
        scratch.run(&["distinct", "a.jsonl", "-f", field, "--json"]).json()["distinct"]["value"].as_f64()
    };
    assert_eq!((value("b.c"), value("tags[]")), (Some(2.0), Some(3.0)));
    scratch.run(&["uniq", "a.jsonl", "-f", "tags[]", "--items", "10"]).fails_with("elements of an array");
    let json = scratch.run(&["distinct", "a.tsv", "-f", "k", "--no-quotes", "--json"]).json();
    assert_eq!((json["rows"].as_u64(), json["distinct"]["value"].as_f64()), (Some(2), Some(2.0)));
}

#[test]
fn errors_about_a_value_name_its_field() {
    let scratch = Scratch::with([("o.csv", "id,time,amount\n1,soon,\"1,826.65\"\n")]);
    let says = |field: &str, what: &str| format!("crivo: o.csv:2: column '{field}': expected {what}");
    let (number, whole) = (says("amount", "a number"), says("amount", "a whole number"));
    let time = says("time", "a time");
    for (args, message) in [
        (&["count", "--sum", "amount"][..], &number),
        (&["count", "--by", "id", "--sum", "amount"], &number),
        (&["quantile", "-f", "amount"], &number),
        (&["quantile", "-f", "amount", "--by", "id"], &number),
        (&["sample", "-n", "1", "--weight", "amount"], &number),
        (&["sample", "-n", "1", "--by", "id", "--weight", "amount"], &number),
        (&["top", "-f", "id", "--weight", "amount"], &whole),
        (&["freq", "-f", "id", "--weight", "amount", "-o", "f.crivo"], &whole),
        (&["distinct", "-f", "amount", "--keys", "int"], &says("amount", "a 64-bit integer")),
        (&["distinct", "-f", "id", "--window", "1h", "--time-field", "time"], &time),
    ] {
        scratch.run(&[args, &["o.csv"]].concat()).fails_with(message);
    }
}

#[test]
fn no_field_without_a_name_is_suggested() {
    let scratch = Scratch::with([("u.csv", ",b\n1,2\n")]);
    let run = scratch.run(&["distinct", "u.csv", "-f", "x"]);
    assert!(run.err.contains("there is no field 'x'") && !run.err.contains("''"), "{}", run.err);
}

#[test]
fn field_numbers_beyond_any_record_are_refused() {
    let scratch = Scratch::with([("words.txt", "a b\n")]);
    for field in ["65537", "99999999999", "18446744073709551615"] {
        let says = format!("there is no field {field}: fields have numbers from 1 to 65536");
        scratch.run(&["distinct", "-f", field, "words.txt"]).fails_with(&says);
        let condition = format!("{field} = 1");
        scratch.run(&["count", "words.txt", "--where", &condition]).fails_with(&says);
    }
    assert_eq!(scratch.run(&["distinct", "-f", "65536", "words.txt", "--json"]).json()["skipped"], 1);
}

/// The superuser can read every folder, so the test gives its rights up if it has them.
#[cfg(unix)]
#[test]
fn folder_of_a_pattern_that_cannot_be_read_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;

    const UNPRIVILEGED: u32 = 65534;
    let scratch = Scratch::new();
    for folder in ["open", "locked"] {
        std::fs::create_dir(scratch.path(folder)).unwrap();
        scratch.write(&format!("{folder}/a.txt"), "x\n");
    }
    let permit = |name: &str, mode| {
        std::fs::set_permissions(scratch.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    permit("", 0o755);
    permit("locked", 0o000);
    let mut command = scratch.command(&["count", "*/*.txt"]);
    if std::fs::read_dir(scratch.path("locked")).is_ok() {
        command.uid(UNPRIVILEGED);
    }
    let outcome = command.output();
    permit("locked", 0o755);
    // Where the program itself is in a folder that others cannot read, there is nothing to test.
    if let Ok(output) = outcome {
        crate::support::Ran::from(output).fails_with("locked: ");
    }
}
