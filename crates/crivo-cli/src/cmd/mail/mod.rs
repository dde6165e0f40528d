//! `crivo mail`: the mail filter.
//!
//! An error is always exit code 3 here, also for a wrong option, because 1 and 2 are answers of
//! `check`. Mail that is piped through `check --passthrough` is returned after any error, because a
//! failing filter must not lose mail.

mod audit;
mod check;
mod doctor;
mod eval;
mod learn;
mod learning_page;
mod lists;
mod online;
mod serve;
mod set;
mod stats;
mod train;
mod watch;

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use crivo_mail::Policy;

use super::Outcome;
use crate::output::Output;

/// Is this mail wanted: a filter that learns
///
/// A store holds what was learned. Mail is named by paths: an mbox, a Maildir, a file with one
/// message, or a folder of such files.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo mail train --store ~/.crivo-mail --spam Mail/Junk --ham Mail/Archive
  crivo mail check --store ~/.crivo-mail < message.eml
  crivo mail learn --store ~/.crivo-mail spam < message.eml

Exit codes: of check 0 spam, 1 ham, 2 unsure; of the others 0 done, 1 nothing to do; of all 3 for an error.")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Train(train::Args),
    Check(check::Args),
    Learn(learn::LearnArgs),
    Unlearn(learn::UnlearnArgs),
    Eval(eval::Args),
    Serve(serve::Args),
    Watch(watch::Args),
    Stats(stats::Args),
    Allow(lists::AllowArgs),
    Block(lists::BlockArgs),
    Audit(audit::Args),
    Doctor(doctor::Args),
    Repair(set::RepairArgs),
    Expire(set::ExpireArgs),
    Export(set::ExportArgs),
    Import(set::ImportArgs),
    Merge(set::MergeArgs),
}

/// Mail whose class is known.
#[derive(Debug, clap::Args)]
struct KnownMail {
    /// Unwanted mail
    #[arg(long, value_name = "PATH", num_args = 1..)]
    spam: Vec<PathBuf>,

    /// Mail that is wanted
    #[arg(long, value_name = "PATH", num_args = 1..)]
    ham: Vec<PathBuf>,
}

/// Where what was learned is kept.
#[derive(Debug, clap::Args)]
struct StoreArgs {
    /// The folder of the store
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
}

/// What is wanted of verdicts.
#[derive(Debug, Clone, Copy, clap::Args)]
struct PolicyArgs {
    /// The largest share of ham that may be called spam, such as 0.0005 [default: 0.001]
    #[arg(long, value_name = "RATE")]
    false_positive_rate: Option<f64>,

    /// Call messages spam from this score on, instead of the learned threshold; in a store of the
    /// classic method, from this similarity to learned spam on, instead of 0.1
    #[arg(long, value_name = "SCORE")]
    spam_from: Option<f64>,

    /// Call messages ham up to this score, instead of the learned threshold
    #[arg(long, value_name = "SCORE")]
    ham_to: Option<f64>,
}

impl PolicyArgs {
    fn policy(self) -> Policy {
        Policy {
            false_positive_rate: self.false_positive_rate,
            spam_from: self.spam_from,
            ham_to: self.ham_to,
        }
    }
}

/// Whose findings about senders are believed.
#[derive(Debug, Clone, clap::Args)]
struct TrustArgs {
    /// A host whose Authentication-Results (SPF, DKIM, DMARC) are believed, by the name it writes;
    /// those of others are ignored
    #[arg(long, value_name = "NAME")]
    trusted_host: Vec<String>,
}

impl TrustArgs {
    fn hosts(&self) -> Arc<[String]> {
        self.trusted_host.clone().into()
    }
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    match &args.command {
        Command::Train(args) => train::run(args, out),
        Command::Check(args) => check::run(args, out),
        Command::Learn(args) => learn::learn(args, out),
        Command::Unlearn(args) => learn::unlearn(args, out),
        Command::Eval(args) => eval::run(args, out),
        Command::Serve(args) => serve::run(args, out),
        Command::Watch(args) => watch::run(args, out),
        Command::Stats(args) => stats::run(args, out),
        Command::Allow(args) => lists::allow(args, out),
        Command::Block(args) => lists::block(args, out),
        Command::Audit(args) => audit::run(args, out),
        Command::Doctor(args) => doctor::run(args, out),
        Command::Repair(args) => set::repair(args, out),
        Command::Expire(args) => set::expire(args, out),
        Command::Export(args) => set::export(args, out),
        Command::Import(args) => set::import(args, out),
        Command::Merge(args) => set::merge(args, out),
    }
}

/// Returns the message on standard input, up to the size that is judged. Further bytes are read and
/// dropped, so that the writer gets no error.
fn message() -> Result<Vec<u8>> {
    let mut input = io::stdin().lock();
    let mut message = Vec::new();
    let read = input.by_ref().take(crivo_mail::MESSAGE_LIMIT as u64).read_to_end(&mut message);
    read.and_then(|_| io::copy(&mut input, &mut io::sink()))
        .map_err(|error| anyhow!("standard input: {error}"))?;
    Ok(message)
}
