//! `crivo`: answers about data too big to hold, on the command line.
//!
//! This file parses, dispatches, and decides the exit code; nothing else does:
//!
//! | code | means |
//! |---|---|
//! | 0 | done, or yes; also when the reader of the output has read enough (a closed pipe) |
//! | 1 | no, or nothing found |
//! | 2 | an error, named on standard error; a wrong option too |
//! | 3 | an error of `crivo mail`, where 1 and 2 are answers |
//! | 130 | interrupted; nothing was written |
//!
//! One verb for each question: `cmd/<name>.rs` has its arguments, help, examples and work. What
//! the verbs share: [`args`] turns options into objects that are ready before work begins,
//! [`pass`] reads the input once, [`store`] reads and writes sketch files, and [`output`] is the
//! only place that prints.
//!
//! The features `interchange`, `lab`, `mail`, `near` and `parquet` are on by default. Each brings
//! its commands or formats; what a build leaves out, an error names ([`misunderstood`]).

#![cfg_attr(
    not(all(feature = "lab", feature = "mail", feature = "near")),
    allow(dead_code, unused_imports) // what only the commands that are left out use
)]

mod args;
mod cmd;
#[cfg(feature = "near")]
mod corpus;
mod every;
mod exact;
mod filter;
mod foreign_sketch;
mod form;
mod groups;
mod interrupt;
mod kinds;
mod layout_args;
mod lookup;
mod misunderstood;
mod output;
mod packing;
mod pass;
mod rows_file;
mod sizes;
mod spool;
mod store;
mod tally;
mod turn;
mod used_files;
#[cfg(feature = "near")]
mod watch;
mod window;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use crivo_rows::{condition, numbers, times as clock};

use crate::interrupt::Interrupted;
use crate::output::Output;

const FAILED: u8 = 2;

fn main() -> ExitCode {
    let typed: Vec<OsString> = std::env::args_os().skip(1).collect();
    let failed = || misunderstood::exit_code_for(&typed).unwrap_or(FAILED);
    let cli = match cmd::Cli::try_parse() {
        Ok(cli) => cli,
        Err(asked_or_wrong) => {
            if let Some(error) = misunderstood::left_out(&typed) {
                Output::new(false).error(&error);
            } else {
                // Help and version arrive here too. A closed pipe is no failure.
                let _ = asked_or_wrong.print();
                if !asked_or_wrong.use_stderr() {
                    return ExitCode::SUCCESS;
                }
            }
            misunderstood::rescue(&typed);
            return failed().into();
        }
    };
    let out = Output::new(cli.quiet);
    match cli.command.run(&out) {
        Ok(code) => code,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            out.error(&error);
            if error.is::<Interrupted>() { interrupt::EXIT_CODE.into() } else { failed().into() }
        }
    }
}
