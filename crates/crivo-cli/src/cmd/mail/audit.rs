//! `crivo mail audit`: lists lessons that contradict their label.

use std::process::ExitCode;

use crivo_mail::{Contradiction, Filter};
use serde::Serialize;

use super::super::Outcome;
use super::StoreArgs;
use crate::clock;
use crate::output::{self, Output};

/// Lists learned messages that contradict their label
///
/// Each learned message is judged by a model that has not learned it. Those are listed that are
/// more probably of the other class, if one label in a hundred is wrong: most of them were taught
/// by mistake. A message that was is corrected by learning it again, as what it is. Exit code 1 if
/// there is none.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo mail audit --store ~/.crivo-mail
  crivo mail audit --store ~/.crivo-mail --limit 100 --json")]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,

    /// How many messages are listed, the strongest contradictions first
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct AuditReport<'a> {
    messages: u64,
    contradictions: usize,
    listed: Vec<Listed<'a>>,
}

#[derive(Debug, Serialize)]
struct Listed<'a> {
    learned_as: &'static str,
    score: f64,
    subject: &'a str,
    sender: Option<&'a str>,
    learned: i64,
    reasons: &'a [String],
}

impl<'a> From<&'a Contradiction> for Listed<'a> {
    fn from(found: &'a Contradiction) -> Self {
        Self {
            learned_as: class(found),
            score: found.score,
            subject: &found.subject,
            sender: found.sender.as_deref(),
            learned: found.time.div_euclid(1000),
            reasons: &found.reasons,
        }
    }
}

fn class(found: &Contradiction) -> &'static str {
    if found.is_spam { "spam" } else { "ham" }
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let audit = Filter::open(&args.store.store)?.audit()?;
    let found = &audit.contradictions;
    let listed = &found[..found.len().min(args.limit)];
    if args.json {
        out.json(&AuditReport {
            messages: audit.messages,
            contradictions: found.len(),
            listed: listed.iter().map(Listed::from).collect(),
        })?;
    } else {
        let what = format!("of {} learned messages contradict their label", output::count(audit.messages));
        out.answer(output::count(found.len() as u64), &what)?;
        for contradiction in listed {
            let from = contradiction.sender.as_deref().unwrap_or("an unknown sender");
            out.line(format_args!(
                "{:?} from {from}: learned as {} on {}, probability of spam {}",
                contradiction.subject.trim(),
                class(contradiction),
                clock::shown(contradiction.time.div_euclid(1000)),
                output::percent(contradiction.score),
            ))?;
            for reason in &contradiction.reasons {
                out.detail(reason)?;
            }
        }
    }
    Ok(if found.is_empty() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
