//! The names of fields, before anything is read.

use crivo_rows::Input;

use crate::support::Folder;

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
