//! What `crivo top` prints: a list of keys with their counts, and what is known beside it.

use anyhow::Result;
use crivo::Estimate;
use crivo::frequency::HeavyHitters;
use crivo::keys::OwnedKey;
use crivo_rows::Counts;
use serde::Serialize;

use super::{Args, Listed};
use crate::output::{self, Cell, Form, Interval, Listing, Output};
use crate::window::Covered;

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct Report {
    rows: u64,
    skipped: u64,
    left_out: u64,
    bad: u64,
    total: u64,
    max_error: u64,
    top: Vec<Line>,
    majority: Option<Majority>,
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<Covered>,
}

#[derive(Debug, Serialize)]
struct Line {
    key: String,
    /// The bytes of a key that is no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    key_hex: Option<String>,
    count: Interval,
    #[serde(flatten)]
    verified: Option<Verified>,
}

#[derive(Debug, Serialize)]
struct Verified {
    exact: u64,
    estimate: Interval,
    covered: bool,
}

#[derive(Debug, Serialize)]
struct Majority {
    key: String,
    certain: bool,
}

/// What a sketch says beside its list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Totals {
    pub(super) total: u64,
    pub(super) max_error: u64,
    pub(super) counters: usize,
    pub(super) memory: usize,
}

impl From<&HeavyHitters> for Totals {
    fn from(sketch: &HeavyHitters) -> Self {
        let (total, max_error) = (sketch.total(), sketch.max_error());
        Self { total, max_error, counters: sketch.counters(), memory: sketch.memory() }
    }
}

/// Gives the answer in the form that was asked for.
pub(super) fn report(
    args: &Args,
    totals: Totals,
    counts: Counts,
    mut listed: Vec<Listed>,
    majority: Option<(OwnedKey, bool)>,
    window: Option<Covered>,
    out: &Output,
) -> Result<()> {
    if let Some(most) = args.how.k {
        listed.truncate(usize::try_from(most.get()).unwrap_or(usize::MAX));
    }
    for line in &mut listed {
        line.estimate = out.honest(line.estimate);
    }
    if totals.total == u64::MAX {
        out.warn("the weights add up to 2^64 or more: counts at that end are lower bounds");
    }
    let majority = majority.map(|(key, certain)| Majority { key: output::key_of(&key), certain });
    let form = args.how.form.get();
    if form == Form::Json {
        out.json(&Report {
            rows: counts.rows,
            skipped: counts.skipped,
            left_out: counts.left_out,
            bad: counts.bad,
            total: totals.total,
            max_error: totals.max_error,
            top: listed.into_iter().map(Line::of).collect(),
            majority,
            bytes: totals.memory,
            window,
        })?;
    } else if form != Form::Table {
        out.listing(&listing(listed, totals.total), form)?;
    } else {
        print(totals, counts, &listed, majority.as_ref(), out)?;
        if let Some(covered) = window {
            covered.print(out)?;
        }
    }
    Ok(())
}

impl Line {
    fn of(listed: Listed) -> Self {
        let Listed { key, estimate, exact } = listed;
        let verified = exact.map(|exact| Verified {
            exact,
            estimate: estimate.into(),
            covered: estimate.covers(exact as f64),
        });
        let count = exact.map_or(estimate, |exact| Estimate::exact(exact as f64));
        let (key, key_hex) = (output::key_of(&key), output::key_hex_of(&key));
        Self { key, key_hex, count: count.into(), verified }
    }
}

/// The list for programs: key, count and share of each.
fn listing(listed: Vec<Listed>, total: u64) -> Listing {
    let mut listing = Listing::named(["key", "count", "share"]);
    for line in listed.into_iter().map(Line::of) {
        let share = line.count.value / total.max(1) as f64;
        let mut row =
            vec![("key", Cell::Text(line.key)), ("count", line.count.into()), ("share", Cell::Number(share))];
        row.extend(line.verified.map(|verified| ("covered", Cell::Yes(verified.covered))));
        listing.push(row);
    }
    listing
}

fn print(
    totals: Totals,
    counts: Counts,
    listed: &[Listed],
    majority: Option<&Majority>,
    out: &Output,
) -> Result<()> {
    let total = totals.total.max(1) as f64;
    let rows: Vec<_> = listed
        .iter()
        .map(|Listed { key, estimate, exact }| {
            let count = exact.map_or(*estimate, |exact| Estimate::exact(exact as f64));
            [output::estimate(count), output::percent(count.value() / total), output::key_of(key)]
        })
        .collect();
    out.columns(&rows)?;
    if listed.is_empty() {
        out.detail("nothing came so often")?;
    }
    if let Some(Majority { key, certain }) = majority {
        let how = if *certain { "has" } else { "may have" };
        out.detail(format_args!("{key} {how} the majority"))?;
    }
    match totals.max_error {
        _ if out.has_missed_rows() => out.detail("not exact: rows may have been missed")?,
        _ if totals.total == u64::MAX => out.detail("not exact: counts end at 2^64 - 1")?,
        0 => out.detail("exact: every value was kept in view")?,
        error => out.detail(format_args!("others came at most {} times", output::count(error)))?,
    }
    out.counts(counts)?;
    let counters = totals.counters as u64;
    let unit = if counters == 1 { "counter" } else { "counters" };
    out.detail(format_args!("{} {unit}, {}", output::count(counters), output::bytes(totals.memory)))
}
