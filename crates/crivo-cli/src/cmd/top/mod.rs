// This file is long because it has the options of four kinds of questions: whole files, groups,
// windows and exact counts.

//! `crivo top`: the most frequent values.
//!
//! One pass with a `HeavyHitters` sketch, whose bounds for each key hold for every input. They also
//! tell whether some key has the majority. A second pass, if requested, counts the candidates
//! exactly.

mod choose;
pub(crate) mod groups;
mod interchange;
mod recount;

use std::num::NonZero;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use crivo::Estimate;
use crivo::codec::AnySketch;
use crivo::frequency::HeavyHitters;
use crivo::keys::OwnedKey;
use crivo_rows::Counts;
use serde::Serialize;

use self::choose::{Candidate, Guarantee, Wanted};
use super::Outcome;
use crate::args::{InputArgs, KeyArgs, SketchArgs, at_least_one, share, whole};
use crate::every::EveryArgs;
use crate::form::FormArgs;
use crate::groups::GroupArgs;
use crate::output::{self, Cell, Form, Interval, Listing, Output};
use crate::pass::Pass;
use crate::store::Destination;
use crate::tally::{tally, tally_showing};
use crate::window::{self, Covered, WindowArgs};

/// The default number of counters. They fit into the second-level cache, and no count has an error
/// above 0.01 % of all rows.
const DEFAULT_COUNTERS: u64 = 1 << 14;
/// The ratio of a threshold to the error of counts: to find a threshold, counts have errors of at
/// most a tenth of it.
const SHARPNESS: f64 = 10.0;

/// Which values come most often?
///
/// Lists the most frequent values of a field, or the most frequent lines, in one pass and about a
/// megabyte. The bounds of each count are certain, and exact while there are few different values.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo top -f url access.csv.gz
  crivo top -k 20 -f ip 'logs/*.jsonl' --verify
  crivo top -k 3 -f product --by country sales.csv
  crivo top -f customer --weight cents sales.csv -k 5 --min-share 1% --json
  crivo top -f url access.csv --output csv")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    keys: KeyArgs,

    #[command(flatten)]
    how: TopOptions,

    #[command(flatten)]
    groups: GroupArgs,

    #[command(flatten)]
    sketch: SketchArgs,

    #[command(flatten)]
    window: WindowArgs,

    #[command(flatten)]
    every: EveryArgs,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Counting")]
struct TopOptions {
    /// How many to list [default: 10]; with --min-share or --min-count the most that are listed of
    /// those
    #[arg(short, value_name = "N", value_parser = at_least_one)]
    k: Option<NonZero<u64>>,

    /// List those that are at least this share of all: 0.01 or 1%
    #[arg(long, value_name = "SHARE", value_parser = share, conflicts_with = "min_count")]
    min_share: Option<f64>,

    /// List those that came at least so often
    #[arg(long, value_name = "N", value_parser = whole)]
    min_count: Option<u64>,

    /// The field with the weight of each row, a whole number: add these up instead of counting rows
    #[arg(long, value_name = "FIELD")]
    weight: Option<String>,

    /// What the list may be wrong about: only those that certainly belong to it, or all that may
    #[arg(long, value_enum, value_name = "WHAT")]
    guarantee: Option<Guarantee>,

    /// How many values are kept in view [default: 16384, or what a small --min-share needs]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    counters: Option<NonZero<u64>>,

    /// Write the bytes of Apache DataSketches to -o, for other systems, instead of a crivo sketch
    #[arg(long, value_enum, value_name = "FORM")]
    interchange: Option<interchange::Form>,

    /// Count those listed exactly, in a second pass
    #[arg(long, conflicts_with = "into")]
    verify: bool,

    #[command(flatten)]
    form: FormArgs,
}

impl TopOptions {
    /// Returns the most keys to list, or no limit if the user gave none.
    fn most(&self) -> usize {
        self.k.map_or(usize::MAX, |k| usize::try_from(k.get()).unwrap_or(usize::MAX))
    }
}

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct TopReport {
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
    /// The bytes of a key that is not text.
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

/// A key of the list.
struct Listed {
    key: OwnedKey,
    estimate: Estimate,
    exact: Option<u64>,
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let TopOptions { verify, weight, .. } = &args.how;
    let mut pass = args.input.pass()?;
    pass.repeatable = true;
    if *verify {
        pass.require_twice("--verify")?;
    }
    if let Some(field) = weight {
        pass.read_beside(field, "--weight")?;
    }
    let wanted = wanted(&args.how)?;
    if let Some(by) = args.groups.by() {
        return groups::run(args, &mut pass, by, &wanted, out);
    }
    if args.how.interchange.is_some() {
        let interchange::ForeignCounted { sketch, counts, destination } =
            interchange::count(args, &pass, &wanted, out)?;
        destination.write(&sketch.encode())?;
        let most = if let Wanted::First(most) = wanted { most } else { usize::MAX };
        let (listed, totals) = interchange::listed(&sketch, most);
        report(args, totals, counts, listed, interchange::majority(&sketch), None, out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Counted { sketch, counts, destination, ring, window } = if args.window.is_wanted() {
        count_in_window(args, &mut pass, &wanted, out)?
    } else {
        count(args, &pass, &wanted, out)?
    };
    let (listed, majority) = if *verify {
        recounted(args, &pass, &sketch, &wanted, counts, out)?
    } else {
        listed(args, &sketch, &wanted, out)?
    };
    if let Some(destination) = destination {
        destination.write(&ring.map_or_else(|| sketch.encode(), |ring| ring.encode()))?;
    }
    let found_nothing = listed.is_empty() && !matches!(wanted, Wanted::First(_));
    report(args, Totals::from(&sketch), counts, listed, majority, window, out)?;
    Ok(if found_nothing { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The list, and the key that may have the majority, with whether it certainly has.
type Answer = (Vec<Listed>, Option<(OwnedKey, bool)>);

/// Returns the answer of the sketch alone.
fn listed(args: &Args, sketch: &HeavyHitters, wanted: &Wanted, out: &Output) -> Result<Answer> {
    let candidates = Candidate::of(sketch);
    let majority = choose::majority(&candidates, sketch.total());
    let chosen = choose::choose(candidates, sketch, wanted, args.how.guarantee, out)?;
    let listed = chosen.into_iter().map(|Candidate { key, lower, upper }| Listed {
        estimate: choose::estimate(lower, upper),
        key,
        exact: None,
    });
    Ok((listed.collect(), majority))
}

/// The totals of a sketch, which are reported beside its list.
#[derive(Debug, Clone, Copy)]
struct Totals {
    total: u64,
    max_error: u64,
    counters: usize,
    memory: usize,
}

impl From<&HeavyHitters> for Totals {
    fn from(sketch: &HeavyHitters) -> Self {
        let (total, max_error) = (sketch.total(), sketch.max_error());
        Self { total, max_error, counters: sketch.counters(), memory: sketch.memory() }
    }
}

/// Prints the answer in the requested form.
fn report(
    args: &Args,
    totals: Totals,
    counts: Counts,
    mut listed: Vec<Listed>,
    majority: Option<(OwnedKey, bool)>,
    window: Option<Covered>,
    out: &Output,
) -> Result<()> {
    listed.truncate(args.how.most());
    for line in &mut listed {
        line.estimate = out.honest(line.estimate);
    }
    if totals.total == u64::MAX {
        out.warn("the weights add up to 2^64 or more: counts at that end are lower bounds");
    }
    let is_certain = |certain| certain && !out.has_missed_rows();
    let majority =
        majority.map(|(key, certain)| Majority { key: output::key_of(&key), certain: is_certain(certain) });
    let form = args.how.form.get();
    if form == Form::Json {
        out.json(&TopReport {
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

/// Returns which keys the list should have.
fn wanted(how: &TopOptions) -> Result<Wanted> {
    match (how.min_share, how.min_count) {
        (Some(share), _) if share > 0.0 && share < 1.0 => Ok(Wanted::Share(share)),
        (Some(share), _) => bail!("--min-share {share}: expected a share between 0 and 1, such as 1%"),
        (None, Some(count)) => Ok(Wanted::Count(count.max(1))),
        (None, None) => Ok(Wanted::First(how.k.map_or(10, |_| how.most()))),
    }
}

/// The result of the first pass.
struct Counted {
    sketch: HeavyHitters,
    counts: Counts,
    destination: Option<Destination>,
    /// The ring to store instead of the sketch, and the times that it covers.
    ring: Option<AnySketch>,
    window: Option<Covered>,
}

/// Runs the first pass over the window of time before the latest row.
fn count_in_window(args: &Args, pass: &mut Pass, wanted: &Wanted, out: &Output) -> Result<Counted> {
    if args.how.verify {
        bail!("--verify: it counts all rows, and --window only the last: leave one of them out");
    }
    let window = if let Some(before) = args.sketch.to_continue()? {
        let (ring, name) = window::ring_of(before)?;
        args.keys.agree_with(ring.empty().scheme(), &name)?;
        args.window.go_on(ring, &name, pass)?
    } else {
        let empty = HeavyHitters::with_scheme(counters(&args.how, wanted)?, args.keys.scheme()?);
        args.window.begin(empty.context("--counters")?.into(), pass)?
    };
    if window.empty().downcast_ref::<HeavyHitters>().is_none() {
        bail!("--into: the panes of the file are not those of crivo top: {}", window.empty().family());
    }
    pass.require_keys(window.empty().scheme())?;
    let destination = args.sketch.destination(&args.input)?;
    let (window, counts) = window.fill(pass, args.how.weight.is_some(), out)?;
    let sketch = window.merged()?.downcast()?;
    let covered = window.covered()?;
    Ok(Counted { sketch, counts, destination, ring: Some(window.into_sketch()), window: covered })
}

/// Runs the first pass.
fn count(args: &Args, pass: &Pass, wanted: &Wanted, out: &Output) -> Result<Counted> {
    let before = match args.sketch.to_continue()? {
        None => None,
        Some(before) => {
            window::refuse_ring(&before.sketch, &before.name)?;
            let refusal = before.refusal();
            let Ok(sketch) = before.sketch.downcast::<HeavyHitters>() else { return Err(refusal) };
            args.keys.agree_with(sketch.scheme(), &before.name)?;
            if let Some(asked) = args.how.counters.filter(|asked| asked.get() != sketch.capacity()) {
                let (name, found) = (before.name, sketch.capacity());
                bail!("--counters {asked}: {name} has {found}, and it can only be continued so");
            }
            Some(sketch)
        }
    };
    let (capacity, scheme) = match &before {
        Some(sketch) => (sketch.capacity(), sketch.scheme()),
        None => (counters(&args.how, wanted)?, args.keys.scheme()?),
    };
    pass.require_keys(scheme)?;
    let empty = HeavyHitters::with_scheme(capacity, scheme).context("--counters")?;
    let destination = args.sketch.destination(&args.input)?;
    let weighted = args.how.weight.is_some();
    let (sketch, counts) = match args.every.interval() {
        None => tally(pass, empty.into(), weighted, out)?,
        Some(every) => tally_showing(pass, empty.into(), weighted, every, out, |sketch, counts| {
            let sketch: HeavyHitters = sketch.clone().downcast()?;
            let (listed, majority) = listed(args, &sketch, wanted, out)?;
            report(args, Totals::from(&sketch), counts, listed, majority, None, out)
        })?,
    };
    let mut sketch: HeavyHitters = sketch.downcast()?;
    if let Some(before) = before {
        sketch.merge(&before)?;
    }
    Ok(Counted { sketch, counts, destination, ring: None, window: None })
}

/// Returns the number of counters for the question.
fn counters(how: &TopOptions, wanted: &Wanted) -> Result<u64> {
    let needed = match (how.counters, wanted) {
        (Some(counters), _) => return Ok(counters.get()),
        (None, Wanted::Share(share)) => {
            let sharp = HeavyHitters::capacity_for(share / SHARPNESS);
            sharp.or_else(|_| HeavyHitters::capacity_for(*share)).context("--min-share")?
        }
        (None, Wanted::First(k)) => (*k as u64).saturating_mul(16).min(*HeavyHitters::CAPACITIES.end()),
        (None, Wanted::Count(_)) => 0,
    };
    Ok(needed.max(DEFAULT_COUNTERS))
}

/// Runs the second pass: counts every candidate exactly.
fn recounted(
    args: &Args,
    pass: &Pass,
    sketch: &HeavyHitters,
    wanted: &Wanted,
    first: Counts,
    out: &Output,
) -> Result<Answer> {
    let candidates = choose::possible(Candidate::of(sketch), sketch, wanted);
    let keys = candidates.iter().map(|candidate| candidate.key.clone());
    let (exact, counts) = recount::recount(pass, sketch.scheme(), keys, args.how.weight.is_some(), out)?;
    Pass::require_same(first, counts).context("--verify")?;
    let mut listed: Vec<Listed> = candidates
        .into_iter()
        .zip(exact)
        .map(|(Candidate { key, lower, upper }, exact)| Listed {
            key,
            estimate: choose::estimate(lower, upper),
            exact: Some(exact),
        })
        .collect();
    listed.sort_by(|a, b| b.exact.cmp(&a.exact).then_with(|| a.key.cmp(&b.key)));
    let majority = listed
        .first()
        .filter(|first| first.exact.is_some_and(|exact| exact > sketch.total() / 2))
        .map(|first| (first.key.clone(), true));
    match wanted {
        Wanted::First(k) => listed.truncate(*k),
        _ => listed.retain(|line| line.exact >= Some(wanted.limit(sketch.total()))),
    }
    let least = match wanted {
        Wanted::First(k) if listed.len() == *k => listed.last().and_then(|line| line.exact).unwrap_or(0),
        Wanted::First(_) => 0,
        _ => wanted.limit(sketch.total()).saturating_sub(1),
    };
    let may_miss = sketch.max_error() > least;
    match args.how.guarantee {
        Some(Guarantee::NoFalseNegatives) if may_miss => return Err(choose::cannot_list_all(sketch)),
        Some(Guarantee::NoFalsePositives) if matches!(wanted, Wanted::First(_)) => {
            // A value without a counter may have a larger count than the others.
            listed.retain(|line| line.exact >= Some(sketch.max_error()));
        }
        None if may_miss => choose::warn_of_missing(sketch, out),
        _ => {}
    }
    Ok((listed, majority))
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

/// Returns the list for programs: key, count and share of each.
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
