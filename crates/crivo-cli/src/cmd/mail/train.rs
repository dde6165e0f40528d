//! `crivo mail train`: learns whole mailboxes.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use crivo_mail::{Filter, Label, Mail, Method, Policy, Trained};
use serde::Serialize;

use super::super::Outcome;
use super::{KnownMail, PolicyArgs, StoreArgs};
use crate::clock::duration;
use crate::output::{self, Output};

/// Learns whole mailboxes, in one step: all of them or, on an error, none
///
/// A store that is not there is made. Messages that were learned already count once. One that is
/// given as spam and as ham is an error. --false-positive-rate, --spam-from, --ham-to and
/// --half-life are kept in the store.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo mail train --store ~/.crivo-mail --spam Mail/Junk --ham Mail/Archive Mail/Inbox
  crivo mail train --store ~/.crivo-mail --label social=Mail/Social --label lists=Mail/Lists
  crivo mail train --store classic/ --method classic --spam spam.mbox --ham ham.mbox")]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,

    #[command(flatten)]
    known: KnownMail,

    /// Mail with a label of your own
    #[arg(long, value_name = "NAME=PATH", value_parser = label)]
    label: Vec<(Label, PathBuf)>,

    /// How a new store is to judge
    #[arg(long, value_enum, value_name = "METHOD")]
    method: Option<MethodName>,

    #[command(flatten)]
    policy: PolicyArgs,

    /// Let lessons count half for each such time that they are older than the newest ones, such as
    /// 365d; 0d lets all count the same, as they do at first
    #[arg(long, value_name = "TIME", value_parser = duration)]
    half_life: Option<u64>,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum MethodName {
    /// All evidence, combined into a probability
    Default,
    /// Blocked senders, then similarity to learned spam; kept for comparison
    Classic,
}

#[derive(Debug, Serialize)]
struct TrainReport {
    read: u64,
    learned: u64,
    already: u64,
    put_aside: u64,
}

fn label(text: &str) -> Result<(Label, PathBuf), String> {
    let Some((name, path)) = text.split_once('=') else {
        return Err("expected NAME=PATH, such as social=Mail/Social".into());
    };
    Ok((Label::named(name).map_err(|error| error.to_string())?, path.into()))
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let spam = args.known.spam.iter().map(|path| (&Label::Spam, path));
    let ham = args.known.ham.iter().map(|path| (&Label::Ham, path));
    let labels = args.label.iter().map(|(label, path)| (label, path));
    let sources: Vec<(&Label, &PathBuf)> = spam.chain(ham).chain(labels).collect();
    if sources.is_empty() {
        bail!("nothing to learn: name mail with --spam PATH, --ham PATH or --label NAME=PATH");
    }
    // A wrong path is found before anything is read.
    let sources = sources
        .into_iter()
        .map(|(label, path)| Ok((label, Mail::of(path)?)))
        .collect::<Result<Vec<_>, crivo_mail::Error>>()?;
    let policy = args.policy.policy();
    policy.check()?;
    let method = match args.method {
        Some(MethodName::Classic) => Method::Classic,
        _ => Method::Default,
    };
    let mut mail = sources
        .into_iter()
        .flat_map(|(label, mail)| mail.map(move |bytes| Ok((bytes?, label.clone()))))
        .peekable();
    let trained = match Filter::open(&args.store.store) {
        Ok(filter) if args.method.is_some() && filter.method() != method => bail!(
            "--method {}: the store has the method {}, which cannot change: name another folder",
            method.name(),
            filter.method().name()
        ),
        Ok(filter) => {
            policy.check_for(filter.method())?;
            let trained = filter.train(mail)?;
            keep(&filter, policy, args.half_life)?;
            trained
        }
        // No store is created if there is no mail.
        Err(error) if error.is_missing_store() && mail.peek().is_none() => Trained::default(),
        Err(error) if error.is_missing_store() => Filter::create(&args.store.store, method, |new| {
            let trained = new.train(mail)?;
            keep(new, policy, args.half_life)?;
            Ok(trained)
        })?,
        Err(error) => return Err(error.into()),
    };
    let put_aside = match trained.read {
        0 => 0,
        _ => Filter::open(&args.store.store)?.stats()?.put_aside,
    };
    if args.json {
        let Trained { read, learned, already } = trained;
        out.json(&TrainReport { read, learned, already, put_aside })?;
    } else {
        let [learned, read] = [trained.learned, trained.read].map(output::count);
        out.remark(format_args!("{learned} of {read} messages learned"))?;
        if put_aside > 0 {
            out.warn(format_args!(
                "about {} learned messages contradict their label and were put aside: crivo mail audit lists them",
                output::count(put_aside)
            ));
        }
    }
    Ok(if trained.read == 0 { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Stores the policy of verdicts and the half-life of lessons, if they are given.
fn keep(filter: &Filter, policy: Policy, half_life: Option<u64>) -> crivo_mail::Result<()> {
    if !policy.is_empty() {
        filter.keep_policy(policy)?;
    }
    match half_life {
        Some(milliseconds) => filter.keep_half_life(Some(Duration::from_millis(milliseconds))),
        None => Ok(()),
    }
}
