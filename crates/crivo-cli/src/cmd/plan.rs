//! `crivo plan`: computes the size of a sketch for a question.

use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};
use clap::Subcommand;
use crivo::counting::{CounterArray, MorrisCounter};
use crivo::distinct::{HyperLogLog, UltraLogLog};
use crivo::frequency::CountMin;
use crivo::membership::{BlockedBloom, Bloom};
use crivo::quantiles::{Accuracy, NumberQuantiles};
use crivo::similarity::{Bands, MinHash};
use serde::Serialize;
use serde_json::{Map, Value};

use super::Outcome;
use crate::args::{share, whole};
use crate::form::FormArgs;
use crate::output::{self, Cell, Form, Listing, Output};

/// The default of `crivo dedup`.
const DEFAULT_HASHES: u32 = 128;

/// What size does a sketch need? Parameters, bytes and error for a goal
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo plan bloom --items 1M --fpr 1%
  crivo plan distinct --error 0.5% --json
  crivo plan count-min --error 0.1% --confidence 99%
  crivo plan counter --bits 8 --reach 1e10
  crivo plan lsh --threshold 0.8
  crivo plan quantile --error 0.5%")]
pub(crate) struct Args {
    #[command(subcommand)]
    goal: Goal,
}

#[derive(Debug, Subcommand)]
enum Goal {
    Bloom(BloomGoal),
    Distinct(DistinctGoal),
    CountMin(CountMinGoal),
    #[command(name = "minhash")]
    MinHash(MinHashGoal),
    Counter(CounterGoal),
    Lsh(LshGoal),
    Quantile(QuantileGoal),
}

/// A filter for a number of items and a rate of false positives
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo plan bloom --items 1M --fpr 1%
  crivo plan bloom --items 1e9 --fpr 0.001 --json")]
struct BloomGoal {
    /// How many different items
    #[arg(long, value_name = "N", value_parser = whole)]
    items: u64,

    /// The share of absent items that may be taken for members: 0.01 or 1%
    #[arg(long, value_name = "SHARE", value_parser = share)]
    fpr: f64,

    #[command(flatten)]
    form: FormArgs,
}

/// A count of different values with so small an error
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo plan distinct --error 1%
  crivo plan distinct --error 0.003 --json")]
struct DistinctGoal {
    /// The standard error: 0.01 or 1%
    #[arg(long, value_name = "SHARE", value_parser = share)]
    error: f64,

    #[command(flatten)]
    form: FormArgs,
}

/// Counts of any key, too high by so little, so often
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo plan count-min --error 0.1% --confidence 99%
  crivo plan count-min --error 1e-5 --confidence 0.999 --json")]
struct CountMinGoal {
    /// By what share of all rows an answer may be too high: 0.001 or 0.1%
    #[arg(long, value_name = "SHARE", value_parser = share)]
    error: f64,

    /// How many of 100 answers keep to that: 0.99 or 99%
    #[arg(long, value_name = "SHARE", value_parser = share)]
    confidence: f64,

    #[command(flatten)]
    form: FormArgs,
}

/// A counter of so few bits that counts so far
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo plan counter --bits 8 --reach 1e10
  crivo plan counter --bits 4 --reach 30000 --json")]
struct CounterGoal {
    /// The bits of the counter, 4 to 16
    #[arg(long, value_name = "BITS")]
    bits: u8,

    /// How far it must count
    #[arg(long, value_name = "N")]
    reach: f64,

    #[command(flatten)]
    form: FormArgs,
}

/// Signatures that tell the similarity of two sets with so small an error
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo plan minhash --error 0.05
  crivo plan minhash --error 1% --json")]
struct MinHashGoal {
    /// By how much a similarity may be off: 0.05 or 5%
    #[arg(long, value_name = "SHARE", value_parser = share)]
    error: f64,

    #[command(flatten)]
    form: FormArgs,
}

/// Bands in which pairs as similar as wanted meet, and few others
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo plan lsh --threshold 0.8
  crivo plan lsh --low 0.6:0.01 --high 0.9:0.99 --json")]
struct LshGoal {
    /// Pairs of this similarity meet with 99 %, those above more often
    #[arg(long, value_name = "J", value_parser = share, conflicts_with_all = ["low", "high"])]
    threshold: Option<f64>,

    /// How many hashes a signature has, for --threshold [default: 128]
    #[arg(long, value_name = "N", requires = "threshold")]
    hashes: Option<u32>,

    /// Pairs of at most similarity J meet with a probability of at most P: 0.6:0.01
    #[arg(long, value_name = "J:P", value_parser = point, requires = "high")]
    low: Option<(f64, f64)>,

    /// Pairs of at least similarity J meet with a probability of at least P: 0.9:0.99
    #[arg(long, value_name = "J:P", value_parser = point, requires = "low")]
    high: Option<(f64, f64)>,

    #[command(flatten)]
    form: FormArgs,
}

/// A sketch of ranks that are right to within so small a share
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo plan quantile --error 0.5%
  crivo plan quantile --error 1% --tails --json")]
struct QuantileGoal {
    /// By what share of all ranks an answer may be off, 95 % sure: 0.005 or 0.5%
    #[arg(long, value_name = "SHARE", value_parser = share)]
    error: f64,

    /// The error is a share of the distance from the nearer end
    #[arg(long)]
    tails: bool,

    /// How many numbers there are, for the memory [default: 1G]
    #[arg(long, value_name = "N", value_parser = whole)]
    items: Option<u64>,

    #[command(flatten)]
    form: FormArgs,
}

/// Parses a similarity and a probability.
fn point(text: &str) -> Result<(f64, f64), String> {
    match text.split_once(':').map(|(similarity, chance)| (share(similarity), share(chance))) {
        Some((Ok(similarity), Ok(chance))) => Ok((similarity, chance)),
        _ => Err("expected a similarity and a probability, such as 0.6:0.01".into()),
    }
}

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct Plan {
    kind: &'static str,
    parameters: Map<String, Value>,
    bytes: u64,
    error: Option<f64>,
    note: String,
}

impl Plan {
    fn listing(&self) -> Listing {
        let mut row = vec![("kind".to_string(), Cell::Text(self.kind.into()))];
        for (name, value) in &self.parameters {
            row.push((name.clone(), Cell::of_number(value.as_f64())));
        }
        row.extend([
            ("bytes".into(), Cell::Whole(self.bytes)),
            ("error".into(), Cell::of_number(self.error)),
            ("note".into(), Cell::Text(self.note.clone())),
        ]);
        let mut listing = Listing::default();
        listing.push(row);
        listing
    }
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let (plan, form) = match &args.goal {
        Goal::Bloom(goal) => (bloom(goal)?, goal.form),
        Goal::Distinct(goal) => (distinct(goal)?, goal.form),
        Goal::CountMin(goal) => (count_min(goal)?, goal.form),
        Goal::MinHash(goal) => (min_hash(goal)?, goal.form),
        Goal::Counter(goal) => (counter(goal)?, goal.form),
        Goal::Lsh(goal) => (lsh(goal)?, goal.form),
        Goal::Quantile(goal) => (quantile(goal)?, goal.form),
    };
    match form.get() {
        Form::Table => print(&plan, out)?,
        Form::Json => out.json(&plan)?,
        form => out.listing(&plan.listing(), form)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn bloom(goal: &BloomGoal) -> Result<Plan> {
    let &BloomGoal { items, fpr, .. } = goal;
    let (bits, hashes) = Bloom::size_for(items, fpr).map_err(|error| wrong("--items and --fpr", &error))?;
    let each = output::number(bits as f64 / items as f64);
    let blocked = match BlockedBloom::blocks_for(items, fpr) {
        Ok(blocks) => format!("; --blocked takes {}", output::bytes((blocks * 64) as usize)),
        Err(_) => String::new(),
    };
    Ok(Plan {
        kind: "Bloom",
        parameters: parameters([
            ("bits", bits.into()),
            ("hashes", hashes.into()),
            ("capacity", items.into()),
            ("bits_per_item", (bits as f64 / items as f64).into()),
        ]),
        bytes: bits.div_ceil(64) * 8,
        error: Some(Bloom::expected_rate(bits, hashes, items)),
        note: format!("{each} bits an item{blocked}: crivo set build --items {items} --fpr {fpr}"),
    })
}

fn distinct(goal: &DistinctGoal) -> Result<Plan> {
    let error = goal.error;
    let precision = HyperLogLog::precision_for(error).map_err(|error| wrong("--error", &error))?;
    let smaller = match UltraLogLog::precision_for(error) {
        Ok(ull) if ull < precision => {
            format!("; --method ull takes {}", output::bytes(1 << ull))
        }
        _ => String::new(),
    };
    let exact = output::count(HyperLogLog::exact_up_to(precision) as u64);
    Ok(Plan {
        kind: "HyperLogLog",
        parameters: parameters([
            ("precision", precision.into()),
            ("registers", (1_u64 << precision).into()),
            ("exact_up_to", HyperLogLog::exact_up_to(precision).into()),
        ]),
        bytes: 1 << precision,
        error: Some(HyperLogLog::standard_error(precision)),
        note: format!("exact up to {exact}{smaller}: crivo distinct --precision {precision}"),
    })
}

fn count_min(goal: &CountMinGoal) -> Result<Plan> {
    let &CountMinGoal { error, confidence, .. } = goal;
    let left = 1.0 - confidence;
    if !(left > 0.0 && left < 1.0) {
        bail!("--confidence {confidence}: expected a share between 0 and 1, such as 99%");
    }
    let (width, depth) = CountMin::size_for(error, left).map_err(|error| wrong("--error", &error))?;
    Ok(Plan {
        kind: "CountMin",
        parameters: parameters([
            ("width", width.into()),
            ("depth", depth.into()),
            ("epsilon", CountMin::epsilon(width).into()),
            ("delta", CountMin::delta(depth).into()),
        ]),
        bytes: u64::from(width) * u64::from(depth) * 8,
        error: Some(CountMin::epsilon(width)),
        note: format!(
            "never too low, too high by at most {} of all rows, {} sure: crivo freq --error {error} --confidence {confidence}",
            output::percent(CountMin::epsilon(width)),
            output::percent(1.0 - CountMin::delta(depth)),
        ),
    })
}

fn counter(goal: &CounterGoal) -> Result<Plan> {
    let &CounterGoal { bits, reach, .. } = goal;
    let base = MorrisCounter::base_for(reach, bits).map_err(|error| wrong("--bits and --reach", &error))?;
    let counter = MorrisCounter::new(base, bits, 0).map_err(|error| wrong("--bits", &error))?;
    let error = MorrisCounter::standard_error(base);
    let how = if CounterArray::COUNTER_BITS.contains(&bits) {
        format!(": crivo count --by FIELD --bits {bits} --reach {reach}")
    } else {
        String::new()
    };
    Ok(Plan {
        kind: "MorrisCounter",
        parameters: parameters([
            ("bits", bits.into()),
            ("base", base.into()),
            ("reach", counter.reach().into()),
            ("highest", counter.highest().into()),
        ]),
        bytes: u64::from(bits).div_ceil(8),
        error: Some(error),
        note: format!("{} off at any count{how}", output::percent(error)),
    })
}

fn min_hash(goal: &MinHashGoal) -> Result<Plan> {
    let hashes = MinHash::k_for(goal.error).map_err(|error| wrong("--error", &error))?;
    Ok(Plan {
        kind: "MinHash",
        parameters: parameters([("hashes", hashes.into())]),
        bytes: u64::from(hashes) * 8,
        error: Some(MinHash::bound(hashes)),
        note: "8 bytes a hash for each set; at most half of that error on average".into(),
    })
}

fn lsh(goal: &LshGoal) -> Result<Plan> {
    let (bands, hashes) = match (goal.threshold, goal.low, goal.high) {
        (Some(threshold), _, _) => {
            let hashes = goal.hashes.unwrap_or(DEFAULT_HASHES);
            let bands = Bands::for_threshold(threshold, hashes);
            (bands.map_err(|error| wrong("--threshold", &error))?, hashes)
        }
        (None, Some(low), Some(high)) => {
            let bands = Bands::for_points(low, high).map_err(|error| wrong("--low and --high", &error))?;
            (bands, bands.slots())
        }
        _ => bail!("name --threshold, or both --low and --high"),
    };
    let rise = bands.approximate_threshold();
    let (similar, met) = (output::number(rise), 100.0 * bands.probability(rise));
    let mut parameters = parameters([
        ("bands", bands.bands().into()),
        ("rows_per_band", bands.rows().into()),
        ("hashes", hashes.into()),
        ("approximate_threshold", bands.approximate_threshold().into()),
    ]);
    for (similarity, _) in
        [goal.low, goal.high, goal.threshold.map(|threshold| (threshold, 0.0))].into_iter().flatten()
    {
        parameters.insert(format!("met_at_{similarity}"), bands.probability(similarity).into());
    }
    Ok(Plan {
        kind: "Bands",
        parameters,
        bytes: u64::from(hashes) * 8,
        error: None,
        note: format!(
            "8 bytes a hash for each document; of pairs as similar as {similar} about {met:.0} % meet"
        ),
    })
}

fn quantile(goal: &QuantileGoal) -> Result<Plan> {
    let &QuantileGoal { error, tails, items, .. } = goal;
    let accuracy = if tails { Accuracy::Tails } else { Accuracy::Uniform };
    let size = NumberQuantiles::size_for(error, accuracy).map_err(|error| wrong("--error", &error))?;
    let most = NumberQuantiles::most_retained(size, accuracy, items.unwrap_or(1_000_000_000));
    let (option, of) =
        if tails { (" --tails", "the distance from the nearer end") } else { ("", "all ranks") };
    Ok(Plan {
        kind: "NumberQuantiles",
        parameters: parameters([
            ("size", size.into()),
            ("accuracy", accuracy.name().into()),
            ("numbers_kept_at_most", most.into()),
        ]),
        bytes: 8 * most,
        error: Some(NumberQuantiles::error_for(size, accuracy)),
        note: format!("a share of {of}, 95 % sure; exact while few: crivo quantile --error {error}{option}"),
    })
}

fn parameters<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn wrong(options: &str, error: &crivo::Error) -> anyhow::Error {
    anyhow!("{options}: {error}")
}

fn print(plan: &Plan, out: &Output) -> Result<()> {
    let mut rows = vec![("kind".to_string(), plan.kind.to_string())];
    for (name, value) in &plan.parameters {
        let text = value.as_u64().map_or_else(
            || {
                value.as_f64().map_or_else(
                    || value.as_str().map_or_else(|| value.to_string(), String::from),
                    output::number,
                )
            },
            output::count,
        );
        rows.push((name.replace('_', " "), text));
    }
    rows.extend(plan.error.map(|error| ("error".into(), output::percent(error))));
    rows.push(("memory".into(), output::bytes(plan.bytes as usize)));
    out.table(&rows)?;
    out.detail(&plan.note)
}
