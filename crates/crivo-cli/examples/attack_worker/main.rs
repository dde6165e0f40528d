//! Runs the mutants of `cargo xtask attack` without a process for each.
//!
//! Starting the program takes twenty times as long as refusing a small file. So most mutants are
//! read here by the same library calls. A line of standard input names a task and a file, and a
//! line of standard output reports the result. A panic or an abort ends the process. The attack
//! counts that as a finding, and starts another process.
//!
//! `attack_worker TASK FILE` repeats one case, and `attack_worker seeds FOLDER` writes the files
//! that mutants are made of.

// A program for developers, which should stop at any failure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, clippy::exit)]

mod seeds;
mod tasks;
mod watchdog;

use std::io::{BufRead, Write};
use std::path::Path;

use self::watchdog::Watchdog;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [] => serve(),
        [task, folder] if task == "seeds" => seeds::write(Path::new(folder)),
        [task, file] => println!("{}", tasks::perform(task, Path::new(file))),
        _ => println!("attack_worker [TASK FILE | seeds FOLDER]"),
    }
}

fn serve() {
    let watchdog = Watchdog::start();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line of text");
        let (task, file) = line.split_once('\t').expect("a task and a file");
        watchdog.begin();
        let answer = tasks::perform(task, Path::new(file));
        watchdog.end();
        writeln!(out, "{answer}").and_then(|()| out.flush()).expect("a reader of the answers");
    }
}
