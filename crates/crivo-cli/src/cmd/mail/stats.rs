//! `crivo mail stats`: counts of a store's content.

use std::collections::BTreeMap;
use std::process::ExitCode;

use crivo_mail::Filter;
use serde::Serialize;

use super::super::Outcome;
use super::StoreArgs;
use crate::clock;
use crate::output::{self, Output};

/// What the store holds
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo mail stats --store ~/.crivo-mail
  crivo mail stats --store ~/.crivo-mail --verify --json")]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,

    /// Read everything first, and fail if anything is damaged
    #[arg(long)]
    verify: bool,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct StatsReport {
    method: String,
    messages: u64,
    spam: u64,
    ham: u64,
    labels: BTreeMap<String, u64>,
    senders: u64,
    oldest: Option<i64>,
    newest: Option<i64>,
    spam_from: Option<f64>,
    ham_to: Option<f64>,
    put_aside: u64,
    bytes: u64,
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let filter = Filter::open(&args.store.store)?;
    if args.verify {
        filter.verify()?;
    }
    let stats = filter.stats()?;
    let seconds = |time: Option<i64>| time.map(|time| time.div_euclid(1000));
    if args.json {
        out.json(&StatsReport {
            method: stats.method,
            messages: stats.messages,
            spam: stats.spam,
            ham: stats.ham,
            labels: stats.labels,
            senders: stats.senders,
            oldest: seconds(stats.oldest),
            newest: seconds(stats.newest),
            spam_from: stats.thresholds.map(|found| found.spam),
            ham_to: stats.thresholds.map(|found| found.ham),
            put_aside: stats.put_aside,
            bytes: stats.bytes,
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    out.answer(output::count(stats.messages), "messages learned")?;
    let mut rows =
        vec![("spam".to_string(), output::count(stats.spam)), ("ham".to_string(), output::count(stats.ham))];
    rows.extend(stats.labels.iter().map(|(name, count)| (format!("label {name}"), output::count(*count))));
    rows.push(("senders".into(), output::count(stats.senders)));
    if let (Some(oldest), Some(newest)) = (seconds(stats.oldest), seconds(stats.newest)) {
        rows.push(("learned".into(), format!("from {} to {}", clock::shown(oldest), clock::shown(newest))));
    }
    if let Some(thresholds) = stats.thresholds {
        rows.push(("spam from a score of".into(), format!("{:.4}", thresholds.spam)));
        rows.push(("ham up to a score of".into(), format!("{:.4}", thresholds.ham)));
    }
    if stats.put_aside > 0 {
        rows.push(("contradict their label".into(), output::count(stats.put_aside)));
    }
    rows.push(("method".into(), stats.method));
    rows.push(("on disk".into(), output::bytes(usize::try_from(stats.bytes).unwrap_or(usize::MAX))));
    out.table(&rows)?;
    Ok(ExitCode::SUCCESS)
}
