//! `crivo mail allow` and `block`: senders that the owner of a store allows or blocks.

use std::process::ExitCode;

use crivo_mail::{Filter, Listing, Lists};
use serde::Serialize;

use super::super::Outcome;
use super::StoreArgs;
use crate::output::{self, Output};

/// Calls mail of senders ham, whatever it says; without senders, lists those that are allowed
///
/// A sender is an address, or a domain with an @ before it, which means its subdomains too. The
/// most specific entry counts. Anyone can write anyone's address: where a trusted host cannot
/// confirm a sender (--trusted-host of check and serve), it is not allowed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo mail allow --store ~/.crivo-mail ana@example.org @university.example
  crivo mail allow --store ~/.crivo-mail --remove ana@example.org
  crivo mail allow --store ~/.crivo-mail")]
pub(crate) struct AllowArgs {
    #[command(flatten)]
    senders: SenderArgs,
}

/// Calls mail of senders spam, whatever it says; without senders, lists those that are blocked
///
/// A sender is an address, or a domain with an @ before it, which means its subdomains too. The
/// most specific entry counts.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo mail block --store ~/.crivo-mail offers@shop.example @casino.example
  crivo mail block --store ~/.crivo-mail --remove offers@shop.example
  crivo mail block --store ~/.crivo-mail --json")]
pub(crate) struct BlockArgs {
    #[command(flatten)]
    senders: SenderArgs,
}

#[derive(Debug, clap::Args)]
struct SenderArgs {
    #[command(flatten)]
    store: StoreArgs,

    /// Addresses such as ana@example.org, and domains such as @example.org
    senders: Vec<String>,

    /// Take the senders off the list
    #[arg(long, requires = "senders")]
    remove: bool,

    /// The lists after the change, as one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct ListsReport<'a> {
    allowed: Vec<&'a str>,
    blocked: Vec<&'a str>,
}

pub(crate) fn allow(args: &AllowArgs, out: &Output) -> Outcome {
    run(&args.senders, Listing::Allowed, out)
}

pub(crate) fn block(args: &BlockArgs, out: &Output) -> Outcome {
    run(&args.senders, Listing::Blocked, out)
}

fn run(args: &SenderArgs, listing: Listing, out: &Output) -> Outcome {
    let (lists, changed) = if args.senders.is_empty() {
        (Filter::open(&args.store.store)?.lists()?, 0)
    } else {
        Filter::open_or_create(&args.store.store)?.change_lists(|lists| change(lists, args, listing))?
    };
    if args.json {
        let entries = |listing| lists.entries(listing).collect();
        let report = ListsReport { allowed: entries(Listing::Allowed), blocked: entries(Listing::Blocked) };
        out.json(&report)?;
    } else if args.senders.is_empty() {
        for entry in lists.entries(listing) {
            out.line(entry)?;
        }
    } else {
        let now = if args.remove { format!("not {listing}") } else { listing.to_string() };
        let [changed, given] = [changed, args.senders.len() as u64].map(output::count);
        out.remark(format_args!("{now} now: {changed} of {given}"))?;
    }
    let is_empty = args.senders.is_empty() && lists.entries(listing).next().is_none();
    let nothing_removed = args.remove && changed == 0;
    Ok(if is_empty || nothing_removed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Adds or removes all senders, or none if one of them is invalid. Returns the lists and how many
/// entries changed.
fn change(lists: &mut Lists, args: &SenderArgs, listing: Listing) -> crivo_mail::Result<(Lists, u64)> {
    let mut changed = 0;
    for sender in &args.senders {
        let has_changed =
            if args.remove { lists.remove(sender, listing)? } else { lists.put(sender, listing)? };
        changed += u64::from(has_changed);
    }
    Ok((lists.clone(), changed))
}
