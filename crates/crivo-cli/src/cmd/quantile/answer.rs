//! What is asked of a sketch that knows quantiles, and its answers: shared by `crivo quantile` and `crivo ask`.

use anyhow::{Result, bail};
use crivo::Estimate;
use crivo::sketch::Quantiles;
use serde::Serialize;

use crate::output::{self, Cell, Interval, Listing, Output};

/// The shares that are answered where nothing is asked for.
const DEFAULT_SHARES: [f64; 5] = [0.01, 0.25, 0.5, 0.75, 0.99];

/// The longest bar of a histogram, in characters.
const LONGEST_BAR: f64 = 30.0;

/// What is asked beside quantiles, whose option has another name in each command.
#[derive(Debug, clap::Args)]
pub(crate) struct Asked {
    /// Which share of all values is at most each of these
    #[arg(long = "rank", value_name = "VALUE", num_args = 1.., value_delimiter = ',', allow_negative_numbers = true)]
    values: Vec<f64>,

    /// How many values lie in each of N parts of equal width
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "20", require_equals = true)]
    histogram: Option<usize>,
}

/// The answers, as JSON has them.
#[derive(Debug, Serialize)]
pub(crate) struct Answers {
    quantiles: Vec<AtShare>,
    ranks: Vec<AtValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    histogram: Option<Vec<InBar>>,
}

#[derive(Debug, Serialize)]
struct AtShare {
    q: f64,
    value: Option<Interval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    covered: Option<bool>,
}

#[derive(Debug, Serialize)]
struct AtValue {
    value: f64,
    rank: Option<Interval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    covered: Option<bool>,
}

#[derive(Debug, Serialize)]
struct InBar {
    from: f64,
    to: f64,
    count: Interval,
}

impl Asked {
    /// Returns true if anything was asked for.
    pub(crate) fn is_wanted(&self, shares: &[f64]) -> bool {
        !shares.is_empty() || !self.values.is_empty() || self.histogram.is_some()
    }

    /// Refuses what has no answer.
    pub(crate) fn check(&self, shares: &[f64]) -> Result<()> {
        if let Some(share) = shares.iter().find(|share| !(0.0..=1.0).contains(*share)) {
            bail!("--quantiles {share}: expected shares from 0 to 1, such as 0.5 or 99%");
        }
        if let Some(value) = self.values.iter().find(|value| !value.is_finite()) {
            bail!("--rank {value}: expected a number");
        }
        if let Some(bars) = self.histogram.filter(|bars| !(1..=1000).contains(bars)) {
            bail!("--histogram {bars}: expected 1 to 1000 bars");
        }
        Ok(())
    }

    /// Asks the sketch.
    pub(crate) fn answers(&self, shares: &[f64], sketch: &dyn Quantiles) -> Answers {
        let shares = if self.is_wanted(shares) { shares } else { &DEFAULT_SHARES[..] };
        let at_share =
            |&q: &f64| AtShare { q, value: sketch.quantile(q).map(Into::into), exact: None, covered: None };
        let at_value = |&value: &f64| AtValue {
            value,
            rank: sketch.rank(value).map(Into::into),
            exact: None,
            covered: None,
        };
        let bars = |bars: usize| {
            let bars = sketch.histogram(bars).into_iter();
            bars.map(|bar| InBar { from: bar.from, to: bar.to, count: bar.count.into() }).collect()
        };
        Answers {
            quantiles: shares.iter().map(at_share).collect(),
            ranks: self.values.iter().map(at_value).collect(),
            histogram: self.histogram.map(bars),
        }
    }
}

impl Answers {
    /// Compares every answer with all numbers, which are sorted.
    pub(super) fn verify(&mut self, sorted: &[f64]) {
        let count = sorted.len();
        let Some(last) = count.checked_sub(1) else { return };
        for answer in &mut self.quantiles {
            let place = ((answer.q * count as f64).ceil() as usize).saturating_sub(1).min(last);
            answer.exact = Some(sorted[place]);
            answer.covered = answer.value.map(|value| value.estimate().covers(sorted[place]));
        }
        for answer in &mut self.ranks {
            let exact = sorted.partition_point(|&number| number <= answer.value) as f64 / count as f64;
            answer.exact = Some(exact);
            answer.covered = answer.rank.map(|rank| rank.estimate().covers(exact));
        }
    }

    /// The answers for programs: a row for each quantile, rank and bar.
    pub(crate) fn listing(&self) -> Listing {
        let names = ["what", "at", "value", "exact", "covered"];
        let mut listing = Listing::named(names).with_intervals(["value"]);
        let mut row =
            |what: &str, at: f64, value: Option<Interval>, exact: Option<f64>, covered: Option<bool>| {
                let cells = [
                    Cell::Text(what.into()),
                    Cell::Number(at),
                    value.map_or(Cell::Unknown, Cell::Interval),
                    Cell::of_number(exact),
                    covered.map_or(Cell::Unknown, Cell::Yes),
                ];
                listing.push(names.into_iter().zip(cells));
            };
        self.quantiles.iter().for_each(|at| row("quantile", at.q, at.value, at.exact, at.covered));
        self.ranks.iter().for_each(|at| row("rank", at.value, at.rank, at.exact, at.covered));
        self.histogram.iter().flatten().for_each(|bar| row("bar", bar.from, Some(bar.count), None, None));
        listing
    }

    pub(crate) fn print(&self, out: &Output) -> Result<()> {
        let bounds = |estimate: Estimate, show: &dyn Fn(f64) -> String| {
            if estimate.is_exact() {
                return "exactly".into();
            }
            format!("{} to {}", show(estimate.lower()), show(estimate.upper()))
        };
        let verified = |exact: Option<f64>, covered: Option<bool>, show: &dyn Fn(f64) -> String| match exact {
            None => String::new(),
            Some(exact) if covered == Some(true) => format!("{} exactly, inside the bounds", show(exact)),
            Some(exact) => format!("{} exactly, outside the bounds", show(exact)),
        };
        let mut rows: Vec<[String; 4]> = Vec::new();
        for AtShare { q, value, exact, covered } in &self.quantiles {
            let name = percent_of_rank(*q);
            let Some(value) = value.map(Interval::estimate) else {
                rows.push([name, "none".into(), String::new(), String::new()]);
                continue;
            };
            let show = &precise as &dyn Fn(f64) -> String;
            rows.push([name, show(value.value()), bounds(value, show), verified(*exact, *covered, show)]);
        }
        for AtValue { value, rank, exact, covered } in &self.ranks {
            let name = format!("≤ {}", precise(*value));
            let Some(rank) = rank.map(Interval::estimate) else {
                rows.push([name, "none".into(), String::new(), String::new()]);
                continue;
            };
            let show = &percent_of_rank as &dyn Fn(f64) -> String;
            rows.push([name, show(rank.value()), bounds(rank, show), verified(*exact, *covered, show)]);
        }
        out.columns(&rows)?;
        if let Some(bars) = &self.histogram {
            print_bars(bars, out)?;
        }
        if rows.iter().any(|row| row[2] != "exactly" && !row[2].is_empty()) {
            out.detail("each 95 % sure")?;
        }
        Ok(())
    }
}

fn print_bars(bars: &[InBar], out: &Output) -> Result<()> {
    let most = bars.iter().map(|bar| bar.count.value).fold(1.0, f64::max);
    let rows: Vec<[String; 4]> = bars
        .iter()
        .map(|bar| {
            let length = (LONGEST_BAR * bar.count.value / most).round() as usize;
            let (from, to) = (precise(bar.from), precise(bar.to));
            [from, format!("to {to}"), output::estimate(bar.count.estimate()), "█".repeat(length)]
        })
        .collect();
    out.columns(&rows)
}

/// A value with as many digits as its field may have had.
fn precise(value: f64) -> String {
    if value.abs() >= 1e15 || value != 0.0 && value.abs() < 1e-6 {
        return format!("{value:e}");
    }
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

/// A rank in percent, with the digits that tails need: `99.99 %`.
fn percent_of_rank(share: f64) -> String {
    let text = format!("{:.4}", 100.0 * share);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}
