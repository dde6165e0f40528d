//! `crivo similar pairs`: finds similar pairs of sets.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use crivo::Estimate;
use crivo::keys::KeyScheme;
use crivo_near::{SetBuilder, SetCollection, Settings, all_similar_sets, similar_sets, thread_count};
use crivo_rows::{Counts, Format, Select};
use serde::Serialize;

use super::super::Outcome;
use crate::args::{InputArgs, Seeded, share};
use crate::corpus::{explained, first_record};
use crate::form::FormArgs;
use crate::output::{self, Cell, Form, Interval, Listing, Output};
use crate::pass::Pass;
use crate::spool::Spool;
use crate::watch::Interruptible;

/// Which sets are alike, by the items they hold
///
/// Each row says that a set (a user) holds an item (a film): --sets names the two fields. Pairs of
/// sets with at least the similarity (Jaccard) are printed as set, set, similarity, separated by
/// tabs; all similarities are exact. With --threshold 1 sets that are equal are found.
#[derive(Debug, clap::Args)]
// --sets names the fields.
#[command(mut_arg("field", |field| field.hide(true)))]
#[command(after_help = "\
Examples:
  crivo similar pairs ratings.dat --sets 1,2 --threshold 1
  crivo similar pairs visits.csv --sets user,page --threshold 0.7 --json
  crivo similar pairs follows.tsv --sets 1,2 --threshold 0.5 --exact
  crivo similar pairs foreign.csv --sets user,page --seed random

Fields of lines are separated by ::, tab, comma or blanks, whichever the first line has; --delimiter \
says otherwise.")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,

    /// The fields with the set and the item, by name or number, separated by a comma
    #[arg(long, value_name = "SET,ITEM", required = true)]
    sets: String,

    /// From which similarity on sets are alike: above 0, at most 1
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "0.8")]
    threshold: f64,

    /// Miss no pair: slower for low thresholds
    #[arg(long)]
    exact: bool,

    /// List every pair found, also of very many sets that are nearly equal
    #[arg(long, conflicts_with = "exact")]
    all_pairs: bool,

    /// The length of a signature
    #[arg(long, value_name = "K", default_value = "128", conflicts_with = "exact")]
    hashes: u32,

    #[command(flatten)]
    seed: Seeded,

    #[command(flatten)]
    form: FormArgs,
}

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct PairsReport<'a> {
    sets: usize,
    rows: u64,
    skipped: u64,
    pairs: Vec<Pair<'a>>,
    /// The estimate of pairs that share no band, and the pairs of very many nearly equal sets that
    /// are not listed.
    expected_missed: Interval,
    not_listed: Interval,
}

#[derive(Debug, Serialize)]
struct Pair<'a> {
    a: std::borrow::Cow<'a, str>,
    b: std::borrow::Cow<'a, str>,
    similarity: f64,
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let Some((set, item)) =
        args.sets.split_once(',').filter(|(set, item)| !set.is_empty() && !item.is_empty())
    else {
        bail!("--sets {}: expected two fields, such as user,film or 1,2", args.sets);
    };
    if args.input.has_field() {
        bail!("--field: --sets names the fields");
    }
    let settings = Settings {
        threshold: args.threshold,
        hashes: args.hashes,
        all_pairs: args.all_pairs,
        seed: args.seed.number()?,
        ..Settings::default()
    };
    settings.bands()?;
    let mut pass = args.input.pass()?;
    pass.select = Select::fields([set, item]);
    let _spools = separate_lines(args, [set, item], &mut pass)?;

    let (sets, counts) = collect(&pass, settings.seed, out)?;
    let (mut missed, mut not_listed) = (Estimate::exact(0.0), Estimate::exact(0.0));
    let pairs = if args.exact {
        all_similar_sets(&sets, args.threshold).map_err(explained)?
    } else {
        let found = similar_sets(&sets, &Settings { threads: pass.threads, ..settings }, &Interruptible);
        let mut pairs = Vec::new();
        let take = |one, other, similarity| {
            pairs.push((one, other, similarity));
            Ok(())
        };
        let found = found.map_err(explained)?;
        (missed, not_listed) = (found.expected_missed(), found.not_listed());
        found.for_each_pair(take).map_err(explained)?;
        pairs
    };
    let form = args.form.get();
    if !matches!(form, Form::Json | Form::Table) {
        let mut listing = Listing::named(["a", "b", "similarity"]);
        for &(one, other, similarity) in &pairs {
            let name = |set| Cell::Text(output::key_text(sets.name(set)));
            listing.push([("a", name(one)), ("b", name(other)), ("similarity", Cell::Number(similarity))]);
        }
        out.listing(&listing, form)?;
    } else if form == Form::Json {
        let name = |set| String::from_utf8_lossy(sets.name(set));
        let pair =
            |&(one, other, similarity): &(u32, u32, f64)| Pair { a: name(one), b: name(other), similarity };
        let pairs = pairs.iter().map(pair).collect();
        out.json(&PairsReport {
            sets: sets.len(),
            rows: counts.rows,
            skipped: counts.skipped,
            pairs,
            expected_missed: missed.into(),
            not_listed: not_listed.into(),
        })?;
    } else {
        print(&sets, &pairs)?;
        let (pairs, sets) = (output::count(pairs.len() as u64), output::count(sets.len() as u64));
        let unit = if pairs == "1" { "pair" } else { "pairs" };
        out.tell(format_args!("{pairs} {unit} among {sets} sets"));
        let [value, upper] =
            [not_listed.value(), not_listed.upper()].map(|pairs| output::count(pairs.round() as u64));
        if not_listed.upper() > 0.0 {
            out.tell(format_args!(
                "about {value} more (at most {upper}) are not listed, of very many nearly equal sets: --all-pairs lists them"
            ));
        }
        let upper = output::count(missed.upper().ceil() as u64);
        if missed.upper() > 0.0 {
            out.tell(format_args!("at most {upper} missed (95 % sure): --exact misses none"));
        }
    }
    Ok(if pairs.is_empty() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Chooses the delimiter from the first line, if none was given. Standard input and pipes are kept
/// in temporary files for that, which must live as long as the input.
fn separate_lines(args: &Args, fields: [&str; 2], pass: &mut Pass) -> Result<Vec<Spool>> {
    let mut spools = Vec::new();
    let is_numbered = |field: &&str| field.parse::<usize>().is_ok();
    if args.input.has_delimiter() || args.input.format_of_first() != Format::Lines || pass.follow {
        return Ok(spools);
    }
    // Fields of lines have only numbers. If names were given, the first line may be a header, from
    // which the pass recognises the format.
    if !pass.input.is_rereadable() && !fields.iter().all(is_numbered) {
        return Ok(spools);
    }
    pass.input = pass.input.clone().with_copies(|path| -> Result<_> {
        let spool = Spool::of_pipe(path)?;
        let copy = spool.path().to_path_buf();
        spools.push(spool);
        Ok(copy)
    })?;
    let first = first_record(&pass.input).unwrap_or_default();
    // The pass recognises JSONL by its first line.
    if serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(&first).is_ok() {
        return Ok(spools);
    }
    for delimiter in ["::", "\t", ","] {
        if first.windows(delimiter.len()).any(|part| part == delimiter.as_bytes()) {
            pass.input = pass.input.clone().delimiter(delimiter).context("--delimiter")?;
            break;
        }
    }
    Ok(spools)
}

/// Reads the rows; those without a set or an item are skipped and counted.
fn collect(pass: &Pass, seed: u64, out: &Output) -> Result<(SetCollection, Counts)> {
    let scheme = KeyScheme::bytes().with_seed(seed);
    let (builders, mut counts) = pass.fold(
        scheme,
        out,
        || (vec![SetBuilder::default()], 0),
        |(builders, skipped), batch| {
            let Some(builder) = builders.first_mut() else { return Ok(()) };
            let (sets, items) = (batch.column(0), batch.column(1));
            for (row, (set, item)) in sets.iter().zip(items.iter()).enumerate() {
                let (Some(set), Some(item)) = (set, item) else {
                    *skipped += 1;
                    continue;
                };
                let inserted = builder.insert(batch.id(row).to_u64(), set, scheme.hash(item)?);
                inserted.map_err(|error| batch.error(row, error))?;
            }
            Ok(())
        },
        |(builders, skipped), (mut others, more)| {
            builders.append(&mut others);
            *skipped += more;
            Ok(())
        },
    )?;
    counts.skipped = builders.1;
    Ok((SetCollection::new(builders.0, thread_count(pass.threads)).map_err(explained)?, counts))
}

fn print(sets: &SetCollection, pairs: &[(u32, u32, f64)]) -> Result<()> {
    let mut to = std::io::BufWriter::new(output::rows());
    for &(one, other, similarity) in pairs {
        to.write_all(sets.name(one))?;
        to.write_all(b"\t")?;
        to.write_all(sets.name(other))?;
        writeln!(to, "\t{similarity}")?;
    }
    Ok(to.flush()?)
}
