//! `crivo ask`: asks a sketch about keys.

mod groups;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};
use crivo::Estimate;
use crivo::codec::AnySketch;
use crivo::frequency::{CountMin, RangeCountMin};
use crivo::groups::Groups;
use crivo::quantiles::KeyQuantiles;
use crivo::sketch::Sketch as _;
use crivo_interchange::AnyInterchange;
use serde::Serialize;

use super::Outcome;
use super::quantile::answer::Asked;
use crate::args::{AskedKeyArgs, share};
use crate::foreign_sketch::{self, Opened};
use crate::form::FormArgs;
use crate::kinds;
use crate::lookup::{Answer, Lookup, about_rate, each_key, rate_in_words};
use crate::output::{self, Cell, Form, Interval, Listing, Output};
use crate::store;
use crate::window;

/// What does a sketch say about these keys?
///
/// Sketches that answer about keys say how often each came, or whether it is in there. A sketch of
/// ranges says how many lie in one, and two sketches of frequencies how many rows their join has.
/// Of a file made with --by, --group says which group is asked. Without a key, sketches of sets say
/// how many different keys they hold, and sketches made by crivo top list the most frequent. Files
/// of Apache DataSketches are asked in the same way.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo ask visits.crivo ana rui
  cut -f1 users.tsv | crivo ask visits.crivo - --json
  crivo ask latencies.crivo --range 100 250
  crivo ask prices.crivo --quantiles 0.5,0.99 --rank 100
  crivo ask orders.crivo --join visits.crivo
  crivo ask users-by-country.crivo --group PT --output csv
  crivo ask users.bin --json")]
pub(crate) struct Args {
    /// The sketch file
    #[arg(value_name = "SKETCH")]
    sketch: PathBuf,

    /// The keys to ask about; - reads them from standard input, one a line
    #[arg(value_name = "KEY", allow_negative_numbers = true)]
    keys: Vec<OsString>,

    /// How many keys lie between these two integers, both included (freq --ranges)
    #[arg(long, num_args = 2, value_names = ["LOW", "HIGH"], allow_negative_numbers = true)]
    #[arg(conflicts_with_all = ["keys", "join"])]
    range: Option<Vec<u64>>,

    /// How many rows the join with the keys of this other sketch has (both from freq)
    #[arg(long, value_name = "SKETCH", conflicts_with = "keys")]
    join: Option<PathBuf>,

    /// Ask the sketch of this group, in a file made with --by; V,W is a group of two fields
    #[arg(long, value_name = "VALUE")]
    group: Option<OsString>,

    /// Of a sketch made by crivo quantile: which values have these ranks, such as 0.5,0.99
    #[arg(long = "quantiles", value_name = "SHARE", value_delimiter = ',', value_parser = share)]
    shares: Vec<f64>,

    #[command(flatten, next_help_heading = "Quantiles")]
    asked: Asked,

    #[command(flatten)]
    kind: AskedKeyArgs,

    #[command(flatten)]
    form: FormArgs,
}

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct AskReport {
    answers: Vec<Line>,
}

#[derive(Debug, Serialize)]
struct Line {
    key: String,
    /// The bytes of a key that is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    key_hex: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<Interval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fpr: Option<f64>,
}

impl AskReport {
    fn listing(self) -> Listing {
        let mut listing = Listing::named(["key", "count", "member", "fpr"]);
        for Line { key, count, member, fpr, .. } in self.answers {
            listing.push([
                ("key", Cell::Text(key)),
                ("count", count.map_or(Cell::Unknown, Cell::Interval)),
                ("member", member.map_or(Cell::Unknown, Cell::Yes)),
                ("fpr", Cell::of_number(fpr)),
            ]);
        }
        listing
    }
}

#[derive(Debug, Serialize)]
struct InRange {
    count: Interval,
}

#[derive(Debug, Serialize)]
struct Joined {
    size: Interval,
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let name = store::name_of(&args.sketch);
    let file = match foreign_sketch::open(&args.sketch)? {
        Opened::Foreign(sketch) => {
            ask_foreign(&sketch, args, &name, out)?;
            return Ok(ExitCode::SUCCESS);
        }
        Opened::Other(file) => file,
    };
    // A window is asked as of its latest time.
    let mut sketch = window::seen_by(store::read_from(file, &args.sketch)?.sketch)?;
    let asks_nothing = args.keys.is_empty()
        && args.range.is_none()
        && args.join.is_none()
        && !args.asked.is_wanted(&args.shares);
    // Programs get the answer of an empty group for one that is not there.
    let mut exit = ExitCode::SUCCESS;
    if let Some(group) = &args.group {
        let found = groups::find(&sketch, group.as_encoded_bytes(), &name)?;
        if !found.is_known {
            out.warn(format_args!("{name}: no group {}", group.display()));
            if args.form.get() == Form::Table {
                return Ok(ExitCode::FAILURE);
            }
            exit = ExitCode::FAILURE;
        }
        if asks_nothing {
            groups::answer(&found.sketch, Some(&found.group), &name, args, out)?;
            return Ok(exit);
        }
        sketch = found.sketch;
    } else if sketch.downcast_ref::<Groups>().is_some() {
        bail!("{name}: holds one sketch for each group: name one with --group VALUE");
    } else if asks_nothing {
        groups::answer(&sketch, None, &name, args, out)?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.asked.is_wanted(&args.shares) {
        let are_texts = sketch.downcast_ref::<KeyQuantiles>().is_some();
        if !are_texts && sketch.answers_quantiles().is_none() {
            return Err(cannot(&sketch, &name, "--quantiles", "crivo quantile"));
        }
        args.asked.check(&args.shares, are_texts)?;
        let answers = args.asked.answers(&args.shares, &sketch)?;
        match args.form.get() {
            Form::Json => out.json(&answers)?,
            Form::Table => answers.print(out)?,
            form => out.listing(&answers.listing(), form)?,
        }
        return Ok(exit);
    }
    match (&args.range, &args.join) {
        (Some(range), _) => {
            let count = in_range(&sketch, range, &name)?;
            match args.form.get() {
                Form::Table => print(count, "in the range", out),
                Form::Json => out.json(&InRange { count: count.into() }),
                form => out.listing(&one("count", count), form),
            }
        }
        (None, Some(other)) => {
            let size = join_size(&sketch, other, &name)?;
            match args.form.get() {
                Form::Table => print(size, "rows in the join", out),
                Form::Json => out.json(&Joined { size: size.into() }),
                form => out.listing(&one("size", size), form),
            }
        }
        (None, None) => {
            args.kind.agree_with(sketch.scheme(), &name)?;
            about_keys(args, &Lookup::of(&sketch, &name)?, about_rate(&sketch), out)
        }
    }?;
    Ok(exit)
}

/// Asks a sketch of DataSketches.
fn ask_foreign(sketch: &AnyInterchange, args: &Args, name: &str, out: &Output) -> Result<()> {
    let (kind, form) = (sketch.name(), args.form.get());
    let others = [
        ("--group", args.group.is_some()),
        ("--range", args.range.is_some()),
        ("--join", args.join.is_some()),
        ("--quantiles", args.asked.is_wanted(&args.shares) && sketch.quantiles().is_none()),
    ];
    if let Some((option, _)) = others.iter().find(|(_, is_given)| *is_given) {
        let answers = foreign_sketch::kind_of(sketch).answers;
        bail!("{option}: {name} is a {kind}, which answers {answers}");
    }
    if !args.keys.is_empty() {
        let lookup = Lookup::of_foreign(sketch, &args.kind, name)?;
        let rate = lookup.false_positive_rate.map(rate_in_words);
        return about_keys(args, &lookup, rate.into_iter().collect(), out);
    }
    if let Some(quantiles) = sketch.quantiles() {
        args.asked.check(&args.shares, false)?;
        return groups::print(None, &args.asked.answers_of_numbers(&args.shares, quantiles)?, form, out);
    }
    if let AnyInterchange::FrequentItems(items) = sketch {
        return groups::print(None, &super::top::groups::Answer::of_items(items), form, out);
    }
    let Some(distinct) = sketch.distinct() else {
        let answers = foreign_sketch::kind_of(sketch).answers;
        bail!("{name}: answers {answers}: name a key too, crivo ask {name} KEY");
    };
    groups::print(None, &super::distinct::groups::Answer::from(distinct), form, out)
}

/// Returns a table of one number.
fn one(name: &str, estimate: Estimate) -> Listing {
    let mut listing = Listing::default();
    listing.push([(name, Cell::Interval(estimate.into()))]);
    listing
}

fn in_range(sketch: &AnySketch, range: &[u64], name: &str) -> Result<Estimate> {
    let Some(sketch) = sketch.downcast_ref::<RangeCountMin>() else {
        return Err(cannot(sketch, name, "--range", "crivo freq --ranges BITS"));
    };
    let &[low, high] = range else { bail!("--range: expected two integers") };
    sketch.range(low..=high).map_err(|error| anyhow!("--range {low} {high}: {error}"))
}

fn join_size(sketch: &AnySketch, other: &Path, name: &str) -> Result<Estimate> {
    let Some(sketch) = sketch.downcast_ref::<CountMin>() else {
        return Err(cannot(sketch, name, "--join", "crivo freq"));
    };
    let other_name = store::name_of(other);
    let other = store::read(other)?.sketch;
    match other.downcast_ref() {
        Some(other) => sketch
            .inner_product(other)
            .map_err(|error| anyhow!("{other_name}: cannot be joined with {name}: {error}")),
        None => Err(cannot(&other, &other_name, "--join", "crivo freq")),
    }
}

/// Returns an error that says why a sketch does not answer a question, and which command makes one
/// that does.
fn cannot(sketch: &AnySketch, name: &str, question: &str, maker: &str) -> anyhow::Error {
    let family = kinds::with_article(sketch.family().name());
    let kind = kinds::of(sketch);
    anyhow!(
        "{question}: {name} is {family} made by `{}`, which answers {}; {question} needs one made by `{maker}`",
        kind.made_by,
        kind.answers
    )
}

fn print(estimate: Estimate, what: &str, out: &Output) -> Result<()> {
    out.answer(output::estimate(estimate), what)?;
    sureness(estimate, out)
}

fn sureness(estimate: Estimate, out: &Output) -> Result<()> {
    if estimate.is_exact() {
        return Ok(());
    }
    let sure = if estimate.is_certain() {
        "certainly".into()
    } else {
        format!("{} sure", output::percent(estimate.confidence().level()))
    };
    out.detail(format_args!("{}, {sure}", output::between(estimate)))
}

fn about_keys(args: &Args, lookup: &Lookup<'_>, about_rate: Vec<String>, out: &Output) -> Result<()> {
    let form = args.form.get();
    let mut report = AskReport { answers: Vec::new() };
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut last = None;
    each_key(&args.keys, |key| {
        let answer = lookup.ask(key)?;
        let (key, key_hex) = (output::key_text(key), output::key_hex(key));
        if form == Form::Table {
            rows.push((key, in_words(answer)));
            last = answer.count.filter(|count| !count.is_exact()).or(last);
        } else {
            report.answers.push(Line {
                key,
                key_hex,
                count: answer.count.map(Into::into),
                member: answer.member,
                fpr: lookup.false_positive_rate.filter(|_| answer.member.is_some()),
            });
        }
        Ok(())
    })?;
    match form {
        Form::Table => out.table(&rows)?,
        Form::Json => return out.json(&report),
        form => return out.listing(&report.listing(), form),
    }
    about_rate.into_iter().try_for_each(|line| out.detail(line))?;
    match last {
        Some(count) if !count.is_certain() => {
            out.detail(format_args!("{} sure", output::percent(count.confidence().level())))
        }
        Some(_) => out.detail("the bounds are certain"),
        None => Ok(()),
    }
}

fn in_words(answer: Answer) -> String {
    match (answer.count, answer.member) {
        (Some(count), _) => output::estimate(count),
        (None, Some(true)) => "yes".into(),
        (None, _) => "no, certainly".into(),
    }
}
