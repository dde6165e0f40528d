//! `crivo mail doctor`: checks whether the set-up works.

use std::path::PathBuf;
use std::process::ExitCode;

use crivo_mail::doctor::{Checkup, Health, examine_milter, examine_spamd, examine_store, examine_users};
use serde::Serialize;

use super::super::Outcome;
use super::StoreArgs;
use crate::output::Output;

/// Checks a set-up: the store, the stores of users, and servers that should answer
///
/// Reads every record. Exit code 1 if something does not work; warnings are no reason for it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo mail doctor --store ~/.crivo-mail
  crivo mail doctor --store /var/lib/crivo-mail/shared --users /var/lib/crivo-mail/users --milter 127.0.0.1:8891")]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,

    /// The folder of users
    #[arg(long, value_name = "DIR")]
    users: Option<PathBuf>,

    /// Where spamd's protocol should be served: 127.0.0.1:1783, or unix: and a path
    #[arg(long, value_name = "ADDRESS")]
    spamd: Option<String>,

    /// Where the milter protocol should be served: 127.0.0.1:8891, or unix: and a path
    #[arg(long, value_name = "ADDRESS")]
    milter: Option<String>,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct DoctorReport<'a> {
    problems: usize,
    checks: Vec<Listed<'a>>,
}

#[derive(Debug, Serialize)]
struct Listed<'a> {
    what: &'a str,
    state: &'static str,
    says: &'a str,
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let mut found = examine_store(&args.store.store);
    found.extend(args.users.iter().flat_map(|folder| examine_users(folder)));
    found.extend(args.spamd.iter().map(|address| examine_spamd(address)));
    found.extend(args.milter.iter().map(|address| examine_milter(address)));
    let problems = found.iter().filter(|checkup| checkup.state == Health::Broken).count();
    if args.json {
        let checks =
            found.iter().map(|Checkup { what, state, says }| Listed { what, state: state.name(), says });
        out.json(&DoctorReport { problems, checks: checks.collect() })?;
    } else {
        for Checkup { what, state, says } in &found {
            out.line(format_args!("{}: {what}: {says}", state.name()))?;
        }
    }
    Ok(if problems == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
