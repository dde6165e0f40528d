//! What the README shows is what the program prints.

use std::io::Write;

use flate2::write::GzEncoder;

use crate::support::Scratch;

const README: &str = include_str!("../../../../README.md");
const VISITS: &str = include_str!("../../../../samples/visits.csv");
const ORDERS: &str = include_str!("../../../../samples/orders.csv");
const NOTICES: &str = include_str!("../../../../samples/notices.jsonl");
const LIKES: &str = include_str!("../../../../samples/likes.csv");

/// The commands of the README's console examples, each with the output shown below it.
fn examples() -> Vec<(Vec<&'static str>, String)> {
    let mut examples: Vec<(Vec<&str>, String)> = Vec::new();
    for block in README.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for line in block.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => examples.push((command.split_whitespace().collect(), String::new())),
                None => examples.last_mut().unwrap().1.extend([line, "\n"]),
            }
        }
    }
    examples.retain(|(command, _)| command[0] == "crivo");
    examples
}

#[test]
fn the_readme_shows_what_the_program_prints() {
    let (header, rows) = VISITS.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    let day = |rows: &[&str]| format!("{header}\n{}\n", rows.join("\n"));
    let mut tuesday = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    tuesday.write_all(day(&rows[2500..]).as_bytes()).unwrap();

    let scratch = Scratch::with([("monday.csv", day(&rows[..2500]))]);
    scratch.write("tuesday.csv.gz", tuesday.finish().unwrap());
    std::fs::create_dir(scratch.path("samples")).unwrap();
    scratch.write("samples/visits.csv", VISITS);
    scratch.write("samples/orders.csv", ORDERS);
    scratch.write("samples/notices.jsonl", NOTICES);
    scratch.write("samples/likes.csv", LIKES);

    let examples = examples();
    assert!(examples.len() >= 4);
    for (command, expected) in examples {
        let ran = scratch.run(&command[1..]);
        // A change since a saved profile is exit code 1.
        assert!(ran.code == Some(0) || ran.code == Some(1) && command.contains(&"--against"), "{ran:?}");
        assert_eq!(ran.out, expected, "{}", command.join(" "));
    }
}
