//! Every recipe of the cookbook does what it shows.

use std::process::Command;

use crate::support::{Ran, Scratch};

const COOKBOOK: &str = include_str!("../../../../docs/cookbook.md");
const VISITS: &str = include_str!("../../../../samples/visits.csv");

/// The commands of the recipes, each with the output shown below it.
fn steps() -> Vec<(&'static str, String)> {
    let mut steps: Vec<(&str, String)> = Vec::new();
    for block in COOKBOOK.split("```console\n").skip(1) {
        for line in block.split("```").next().unwrap().lines() {
            match line.strip_prefix("$ ") {
                Some(command) => steps.push((command, String::new())),
                None => steps.last_mut().unwrap().1.extend([line, "\n"]),
            }
        }
    }
    steps
}

#[cfg(unix)]
#[test]
fn every_recipe_prints_what_it_shows() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("samples")).unwrap();
    scratch.write("samples/visits.csv", VISITS);
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_crivo"));
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let steps = steps();
    assert!(steps.len() >= 25);
    for (command, expected) in steps {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(scratch.path("")).env("PATH", &path).env_remove("NO_COLOR");
        let ran = Ran::from(shell.output().unwrap());
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{command}: {ran:?}");
        // Chance decides what comes below an ellipsis.
        let (shown, chance) =
            expected.split_once("…\n").map_or((&*expected, false), |(shown, _)| (shown, true));
        if chance {
            assert!(ran.out.starts_with(shown) && ran.out.len() > shown.len(), "{command}: {ran:?}");
        } else {
            assert_eq!(ran.out, shown, "{command}");
        }
    }
}
