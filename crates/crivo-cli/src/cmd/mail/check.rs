//! `crivo mail check`: judges a message.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use crivo_mail::{Filter, Judgement, MESSAGE_LIMIT, Verdict, passthrough};
use serde::Serialize;

use super::super::Outcome;
use super::{PolicyArgs, StoreArgs, TrustArgs};
use crate::misunderstood::MAIL_FAILED;
use crate::output::{self, Output};

/// What the filter says about the message on standard input
///
/// With --passthrough the message comes out with a header X-Crivo that has the verdict, and the
/// exit code is 0 whatever that is; on an error it comes out unchanged, with exit code 3.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo mail check --store ~/.crivo-mail < message.eml
  crivo mail check --store ~/.crivo-mail --json < message.eml
  crivo mail check --store ~/.crivo-mail --trusted-host mx.example.org < message.eml
  crivo mail check --store ~/.crivo-mail --passthrough < message.eml > marked.eml

Exit codes: 0 spam, 1 ham, 2 unsure, 3 an error.")]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,

    #[command(flatten)]
    policy: PolicyArgs,

    #[command(flatten)]
    trust: TrustArgs,

    /// The message with the verdict in its head, for procmail and its kin
    #[arg(long, conflicts_with = "json")]
    passthrough: bool,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct CheckReport {
    verdict: &'static str,
    score: f64,
    reasons: Vec<String>,
    labels: BTreeMap<String, f64>,
    spam_from: f64,
    ham_to: f64,
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    if args.passthrough {
        return pass_through(args, out);
    }
    let message = super::message()?;
    let judgement = filter(args)?.check(&message)?;
    let code = match judgement.verdict {
        Verdict::Spam => 0,
        Verdict::Ham => 1,
        Verdict::Unsure => 2,
    };
    // If the reader closed the pipe, the exit code still has the verdict.
    match show(args, out, judgement) {
        Err(error) if !output::is_closed_pipe(&error) => Err(error),
        _ => Ok(ExitCode::from(code)),
    }
}

fn show(args: &Args, out: &Output, judgement: Judgement) -> Result<()> {
    if args.json {
        return out.json(&CheckReport {
            verdict: judgement.verdict.name(),
            score: judgement.score,
            reasons: judgement.reasons.iter().map(ToString::to_string).collect(),
            labels: judgement.labels,
            spam_from: judgement.thresholds.spam,
            ham_to: judgement.thresholds.ham,
        });
    }
    let what = format!("with a probability of {} to be spam", output::percent(judgement.score));
    out.answer(judgement.verdict, &what)?;
    for reason in &judgement.reasons {
        out.detail(reason)?;
    }
    for (label, probability) in &judgement.labels {
        out.detail(format_args!("label {label}: {}", output::percent(*probability)))?;
    }
    Ok(())
}

/// Writes the message to standard output with headers for the verdict and labels. If judging fails,
/// the message is written unchanged. All of the message is read before the first byte is written.
/// Otherwise this program would deadlock with a caller that writes a whole message before it reads.
fn pass_through(args: &Args, out: &Output) -> Outcome {
    let mut message = Vec::new();
    let read = io::stdin().lock().read_to_end(&mut message);
    let looked_at = message.len().min(MESSAGE_LIMIT);
    let judged = read
        .map_err(|error| anyhow!("standard input: {error}"))
        .and_then(|_| judge(args, &message[..looked_at]));
    let code = match judged {
        Ok(judgement) => {
            let head = passthrough(&message[..looked_at], &judgement);
            message.splice(..looked_at, head);
            ExitCode::SUCCESS
        }
        Err(error) => {
            out.error(&error);
            MAIL_FAILED.into()
        }
    };
    out.raw(&message).context("standard output")?;
    Ok(code)
}

/// Opens the store, with the policy of verdicts and the trusted hosts.
fn filter(args: &Args) -> crivo_mail::Result<Filter> {
    let filter = Filter::open(&args.store.store)?.with_trusted_hosts(args.trust.hosts());
    filter.with_policy(args.policy.policy())
}

/// Judges a message. A panic becomes an error, because it would otherwise lose the message.
fn judge(args: &Args, message: &[u8]) -> Result<Judgement> {
    let judged = std::panic::catch_unwind(|| filter(args)?.check(message));
    match judged {
        Ok(judged) => Ok(judged?),
        Err(_) => Err(anyhow!("the message could not be judged")),
    }
}
