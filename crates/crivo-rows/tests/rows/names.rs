//! The names of fields, found before a scan.

use crivo_rows::{Input, Scan, Select};

use crate::support::{Folder, WAYS, read, row};

#[test]
fn names_of_every_file_are_those_that_a_scan_would_find() {
    let folder = Folder::new();
    let long = "x".repeat(200_000);
    for (name, text) in [
        ("1.csv", "user,\"the time\",user\n1,2,3\n".to_owned()),
        ("2.csv", format!("a{long},b\n1,2\n")),
        ("3.csv", String::new()),
        ("4.jsonl", format!("\n{{\"b\":1,\"a\\u0062\":\"{long}\"}}\n{{\"c\":1}}\n")),
        ("5.txt", "some line\nanother\n".to_owned()),
    ] {
        folder.write(name, text);
    }
    let names = |pattern: &str| Input::from_args([folder.path(pattern)]).unwrap().field_names().unwrap();
    let long_name = format!("a{long}");
    let expected: [&[&str]; 5] =
        [&["user", "the time", "user"], &[&long_name, "b"], &[], &["b", "ab"], &["line"]];
    assert_eq!(names("?.*"), expected);
    let unnamed = Input::file(folder.path("1.csv")).header(false).field_names().unwrap();
    assert_eq!(unnamed, [["1", "2", "3"]]);
    assert_eq!(Input::stdin().field_names().unwrap(), [[""; 0]], "what can be read only once is left alone");
}

#[test]
fn header_behind_empty_lines_is_found_wherever_chunks_end() {
    let folder = Folder::new();
    let csv = folder.input("a.csv", "\r\n\n\"the\nuser\",time\n\n1,2\n");
    let marked = folder.input("b.csv", "\u{FEFF}\r\n\"the\nuser\",time\n1,2\n");
    let json = folder.input("c.jsonl", "\n \r\n{\"user\":1}\n");
    for (threads, chunk) in WAYS {
        let scan = |input, select| Scan::of(input).select(select).threads(threads).chunk_size(chunk);
        for input in [&csv, &marked] {
            let all = scan(input, Select::All);
            assert_eq!(read(&all).unwrap().0, [row(&["1", "2"])], "{chunk}");
            let names = all.fold(|| (), |(), _| Ok(()), |(), ()| Ok(())).unwrap().names;
            assert_eq!(names, ["the\nuser", "time"], "{chunk}");
        }
        assert_eq!(read(&scan(&json, Select::Single)).unwrap().0, [row(&["1"])], "{chunk}");
    }
}
