//! `crivo show`: shows the properties of a sketch.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use crivo::codec::{AnySketch, Parameter, Question, Summary};
use crivo::keys::KeyKind;
use crivo_interchange::AnyInterchange;
use serde::Serialize;
use serde_json::{Map, Value};

use super::Outcome;
use crate::args::key_word;
use crate::foreign_sketch::{self, Opened};
use crate::form::FormArgs;
use crate::kinds;
use crate::output::{self, Cell, Form, Interval, Listing, Output};
use crate::store::{self, Stored};

/// The default hash seed of DataSketches.
const DATASKETCHES_SEED: u64 = 9001;

/// What is in this sketch?
///
/// Prints the kind, parameters, keys, fill and size of a sketch file. A damaged file is refused.
/// Files of Apache DataSketches (crivo … --interchange) are shown too.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo show users.crivo
  crivo show users.crivo --json")]
pub(crate) struct Args {
    /// The sketch file; - is standard input
    #[arg(value_name = "SKETCH")]
    sketch: PathBuf,

    #[command(flatten)]
    form: FormArgs,
}

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct ShowReport {
    kind: &'static str,
    version: u8,
    parameters: Map<String, Value>,
    keys: &'static str,
    seed: u64,
    /// The hash function of keys.
    hash: String,
    items: Interval,
    fill: Option<f64>,
    fpr: Option<f64>,
    bytes: usize,
    file_bytes: usize,
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let stored = match foreign_sketch::open(&args.sketch)? {
        Opened::Foreign(sketch) => return show_foreign(&sketch, args.form.get(), out),
        Opened::Other(file) => store::read_from(file, &args.sketch)?,
    };
    match args.form.get() {
        Form::Table => print_table(&stored, out)?,
        Form::Json => print_json(&stored, out)?,
        form => out.listing(&listing(&stored), form)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints all properties of a sketch as one JSON object.
pub(crate) fn print_json(stored: &Stored, out: &Output) -> Result<()> {
    let summary = stored.sketch.summary();
    out.json(&ShowReport {
        kind: summary.family.name(),
        version: summary.family.version(),
        parameters: summary.parameters.iter().map(|(name, value)| ((*name).into(), to_json(value))).collect(),
        keys: keys_of(&stored.sketch),
        seed: summary.scheme.seed(),
        hash: summary.scheme.function().to_string(),
        items: out.honest(summary.items).into(),
        fill: summary.fill,
        fpr: summary.false_positive_rate,
        bytes: summary.memory,
        file_bytes: stored.file_bytes,
    })
}

/// Prints the properties of a sketch of another system.
fn show_foreign(sketch: &AnyInterchange, form: Form, out: &Output) -> Outcome {
    let (items, bytes, kind) = (sketch.items(), sketch.encode().len(), foreign_sketch::kind_of(sketch));
    match form {
        Form::Table => {
            let mut rows = vec![
                ("kind", sketch.name().to_string()),
                ("made by", format!("{}, or another system", kind.made_by)),
                ("answers", kind.answers.into()),
                ("items", output::items(items)),
            ];
            rows.extend(
                sketch
                    .parameters()
                    .into_iter()
                    .map(|(name, value)| (name_in_words(name), output::count(value))),
            );
            rows.extend(rate_of(sketch).map(|rate| ("false positives", output::percent(rate))));
            rows.push(("file", output::bytes(bytes)));
            out.table(&rows)?;
        }
        Form::Json => print_foreign_json(sketch, out)?,
        form => {
            let mut listing = Listing::default();
            listing.push([
                ("kind", Cell::Text(sketch.name().into())),
                ("items", Cell::Interval(items.into())),
                ("file_bytes", Cell::Whole(bytes as u64)),
            ]);
            out.listing(&listing, form)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the properties of a sketch of another system as one JSON object.
pub(crate) fn print_foreign_json(sketch: &AnyInterchange, out: &Output) -> Result<()> {
    let bytes = sketch.encode().len();
    let of_numbers = sketch.quantiles().is_some();
    let keys = match foreign_sketch::key_kind(sketch) {
        _ if of_numbers => "none",
        Some(KeyKind::Integer) => "int",
        _ => "text",
    };
    let hash = match sketch {
        _ if of_numbers => "none",
        AnyInterchange::Bloom(_) => "XXH64",
        _ => "MurmurHash3",
    };
    out.json(&ShowReport {
        kind: sketch.name(),
        version: 1,
        parameters: sketch
            .parameters()
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        keys,
        seed: DATASKETCHES_SEED,
        hash: hash.into(),
        items: sketch.items().into(),
        fill: None,
        fpr: rate_of(sketch),
        bytes,
        file_bytes: bytes,
    })
}

fn rate_of(sketch: &AnyInterchange) -> Option<f64> {
    match sketch {
        AnyInterchange::Bloom(filter) => Some(filter.false_positive_rate()),
        _ => None,
    }
}

fn name_in_words(name: &'static str) -> &'static str {
    match name {
        "lg_k" => "lg k",
        "lg_size" => "lg size",
        other => other,
    }
}

/// Returns the properties of a sketch as one row.
fn listing(stored: &Stored) -> Listing {
    let summary = stored.sketch.summary();
    let mut row: Vec<(String, Cell)> = vec![
        ("kind".into(), Cell::Text(summary.family.name().into())),
        ("version".into(), Cell::Whole(summary.family.version().into())),
        ("keys".into(), Cell::Text(keys_of(&stored.sketch).into())),
        ("seed".into(), Cell::Whole(summary.scheme.seed())),
        ("items".into(), Cell::Interval(summary.items.into())),
        ("fill".into(), Cell::of_number(summary.fill)),
        ("fpr".into(), Cell::of_number(summary.false_positive_rate)),
        ("bytes".into(), Cell::Whole(summary.memory as u64)),
        ("file_bytes".into(), Cell::Whole(stored.file_bytes as u64)),
    ];
    for (name, value) in &summary.parameters {
        let cell = match value {
            Parameter::Count(count) => Cell::Whole(*count),
            Parameter::Ratio(number) | Parameter::Number(number) => Cell::Number(*number),
            Parameter::Name(name) => Cell::Text((*name).into()),
            _ => Cell::Unknown,
        };
        row.push(((*name).into(), cell));
    }
    let mut listing = Listing::default();
    listing.push(row);
    listing
}

fn print_table(stored: &Stored, out: &Output) -> Result<()> {
    let summary = stored.sketch.summary();
    let keys = keys_of(&stored.sketch);
    let Summary { family, parameters, scheme, items, fill, false_positive_rate, memory } = summary;
    let kind = kinds::of(&stored.sketch);
    let mut rows = vec![
        ("kind".into(), format!("{family}, version {}", family.version())),
        ("made by".into(), kind.made_by.into()),
        ("answers".into(), kind.answers.into()),
        ("items".into(), output::items(items)),
    ];
    for (name, value) in &parameters {
        rows.push((name.replace('_', " "), output::parameter(value)));
    }
    rows.push(("keys".into(), keys.into()));
    rows.push(("seed".into(), scheme.seed().to_string()));
    rows.push(("hash".into(), scheme.function().to_string()));
    rows.extend(fill.map(|fill| ("fill".into(), output::percent(fill))));
    rows.extend(false_positive_rate.map(|rate| ("false positives".into(), output::percent(rate))));
    rows.push(("memory".into(), output::bytes(memory)));
    rows.push(("file".into(), output::bytes(stored.file_bytes)));
    out.table(&rows)
}

/// Returns the kind of keys in the words of `--keys`, or `none` for counters of events.
fn keys_of(sketch: &AnySketch) -> &'static str {
    let counts_events = sketch.family().question() == Question::HowManyEvents;
    let scheme = sketch.scheme();
    if counts_events && scheme.kind() == KeyKind::Hash { "none" } else { key_word(scheme) }
}

fn to_json(value: &Parameter) -> Value {
    match value {
        Parameter::Count(count) => (*count).into(),
        Parameter::Ratio(number) | Parameter::Number(number) => (*number).into(),
        Parameter::Name(name) => (*name).into(),
        _ => Value::Null,
    }
}
