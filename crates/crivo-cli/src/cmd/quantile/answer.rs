//! The questions about quantiles and their answers, shared by `crivo quantile` and `crivo ask`.

use anyhow::{Result, anyhow, bail};
use crivo::Estimate;
use crivo::codec::AnySketch;
use crivo::quantiles::KeyQuantiles;
use crivo::sketch::Quantiles;
use serde::Serialize;

use super::place::{Between, Place, precise};
use crate::output::{self, Cell, Interval, Listing, Output};

/// The shares that are answered by default.
const DEFAULT_SHARES: [f64; 5] = [0.01, 0.25, 0.5, 0.75, 0.99];

/// The longest bar of a histogram, in characters.
const LONGEST_BAR: f64 = 30.0;

/// What is asked beside quantiles, whose option has another name in each command.
#[derive(Debug, clap::Args)]
pub(crate) struct Asked {
    /// Which share of all values is at most each of these
    #[arg(long = "rank", value_name = "VALUE", num_args = 1.., value_delimiter = ',', allow_negative_numbers = true)]
    values: Vec<String>,

    /// How many values lie in each of N parts of equal width
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "20", require_equals = true)]
    histogram: Option<usize>,
}

/// The answers in the form of JSON.
#[derive(Debug, Serialize)]
pub(crate) struct Answers {
    quantiles: Vec<AtShare>,
    ranks: Vec<AtValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    histogram: Option<Vec<InBar>>,
    /// Whether rows of a followed file may have been missed.
    #[serde(skip)]
    missed_rows: bool,
}

#[derive(Debug, Serialize)]
struct AtShare {
    q: f64,
    value: Option<Between>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    covered: Option<bool>,
}

#[derive(Debug, Serialize)]
struct AtValue {
    value: Place,
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
    /// Returns true if any question was asked.
    pub(crate) fn is_wanted(&self, shares: &[f64]) -> bool {
        !shares.is_empty() || !self.values.is_empty() || self.histogram.is_some()
    }

    /// Returns true if a histogram was requested.
    pub(super) fn has_histogram(&self) -> bool {
        self.histogram.is_some()
    }

    /// Refuses questions that cannot be answered.
    pub(crate) fn check(&self, shares: &[f64], are_texts: bool) -> Result<()> {
        if let Some(share) = shares.iter().find(|share| !(0.0..=1.0).contains(*share)) {
            bail!("--quantiles {share}: expected shares from 0 to 1, such as 0.5 or 99%");
        }
        if !are_texts {
            self.values.iter().try_for_each(|value| number(value).map(drop))?;
        }
        if self.histogram.is_some() && are_texts {
            bail!("--histogram: texts have no distances, so that there are no parts of equal width");
        }
        if let Some(bars) = self.histogram.filter(|bars| !(1..=1000).contains(bars)) {
            bail!("--histogram {bars}: expected 1 to 1000 bars");
        }
        Ok(())
    }

    /// Asks a sketch of numbers or texts.
    ///
    /// # Errors
    /// If the sketch does not answer quantiles, or a value is not of its kind.
    pub(crate) fn answers(&self, shares: &[f64], sketch: &AnySketch) -> Result<Answers> {
        match sketch.downcast_ref::<KeyQuantiles>() {
            Some(texts) => self.text_answers(self.or_default(shares), texts),
            None => self.answers_of_numbers(shares, sketch.quantiles()?),
        }
    }

    /// Returns the requested shares, or the default ones if no question was asked.
    fn or_default<'a>(&self, shares: &'a [f64]) -> &'a [f64] {
        if self.is_wanted(shares) { shares } else { &DEFAULT_SHARES[..] }
    }

    /// Asks any sketch of numbers.
    ///
    /// # Errors
    /// If a value is not a number.
    pub(crate) fn answers_of_numbers(&self, shares: &[f64], sketch: &dyn Quantiles) -> Result<Answers> {
        self.number_answers(self.or_default(shares), sketch)
    }

    fn number_answers(&self, shares: &[f64], sketch: &dyn Quantiles) -> Result<Answers> {
        let at_share = |&q: &f64| at_share(q, sketch.quantile(q).map(Between::of_rounded));
        let at_value = |value: &String| {
            let value = number(value)?;
            Ok(at_value(Place::Number(value), sketch.rank(value)))
        };
        let bars = |bars: usize| {
            let bars = sketch.histogram(bars).into_iter();
            bars.map(|bar| InBar { from: bar.from, to: bar.to, count: bar.count.into() }).collect()
        };
        Ok(Answers {
            quantiles: shares.iter().map(at_share).collect(),
            ranks: self.values.iter().map(at_value).collect::<Result<_>>()?,
            histogram: self.histogram.map(bars),
            missed_rows: false,
        })
    }

    fn text_answers(&self, shares: &[f64], sketch: &KeyQuantiles) -> Result<Answers> {
        let at_share = |&q: &f64| at_share(q, sketch.quantile(q).map(Into::into));
        let at_value = |value: &String| {
            let place = Place::Text(value.clone().into_bytes());
            Ok(at_value(place, sketch.rank(value.as_str())?))
        };
        Ok(Answers {
            quantiles: shares.iter().map(at_share).collect(),
            ranks: self.values.iter().map(at_value).collect::<Result<_>>()?,
            histogram: None,
            missed_rows: false,
        })
    }
}

fn at_share(q: f64, value: Option<Between>) -> AtShare {
    AtShare { q, value, exact: None, covered: None }
}

fn at_value(value: Place, rank: Option<Estimate>) -> AtValue {
    AtValue { value, rank: rank.map(Into::into), exact: None, covered: None }
}

fn number(text: &str) -> Result<f64> {
    let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| anyhow!("--rank {text}: expected a number"))
}

impl Answers {
    /// Widens all bounds if rows may have been missed.
    pub(super) fn honest(mut self, out: &Output) -> Self {
        self.missed_rows = out.has_missed_rows();
        if !self.missed_rows {
            return self;
        }
        for value in self.quantiles.iter_mut().filter_map(|at| at.value.as_mut()) {
            value.lose_bounds();
        }
        for rank in self.ranks.iter_mut().filter_map(|at| at.rank.as_mut()) {
            *rank = out.honest_within(rank.estimate(), [0.0, 1.0]).into();
        }
        for bar in self.histogram.iter_mut().flatten() {
            bar.count = out.honest(bar.count.estimate()).into();
        }
        self
    }

    /// Compares every answer with all values, which are sorted.
    pub(super) fn verify<T>(&mut self, sorted: &[T], place_of: impl Fn(&T) -> Place) {
        let count = sorted.len();
        let Some(last) = count.checked_sub(1) else { return };
        for answer in &mut self.quantiles {
            let at = ((answer.q * count as f64).ceil() as usize).saturating_sub(1).min(last);
            let exact = place_of(&sorted[at]);
            answer.covered = answer.value.as_ref().map(|value| value.covers(&exact));
            answer.exact = Some(exact);
        }
        for answer in &mut self.ranks {
            let up_to = sorted.partition_point(|value| place_of(value).order(&answer.value).is_le());
            let exact = up_to as f64 / count as f64;
            answer.exact = Some(exact);
            answer.covered = answer.rank.map(|rank| rank.estimate().covers(exact));
        }
    }

    /// The names of the columns for programs.
    pub(super) const NAMES: [&'static str; 8] =
        ["what", "at", "value", "value_lower", "value_upper", "value_confidence", "exact", "covered"];

    /// Returns the answers for programs: a row for each quantile, rank and bar.
    pub(crate) fn listing(&self) -> Listing {
        let mut listing = Listing::named(Self::NAMES);
        for cells in self.cells() {
            listing.push(Self::NAMES.into_iter().zip(cells));
        }
        listing
    }

    /// Returns the cells of these rows.
    pub(super) fn cells(&self) -> Vec<Vec<Cell>> {
        let yes = |covered: Option<bool>| covered.map_or(Cell::Unknown, Cell::Yes);
        let row = |what: &str, at: Cell, value: Option<Between>, exact: Cell, covered: Option<bool>| {
            let mut cells = vec![Cell::Text(what.into()), at];
            match value {
                Some(Between { value, lower, upper, confidence }) => {
                    cells.extend([value.cell(), lower.cell(), upper.cell(), Cell::Number(confidence)]);
                }
                None => cells.extend([const { Cell::Unknown }; 4]),
            }
            cells.extend([exact, yes(covered)]);
            cells
        };
        let of_interval = |interval: Interval| Between::from(interval.estimate());
        let quantiles = self.quantiles.iter().map(|at| {
            let exact = at.exact.as_ref().map_or(Cell::Unknown, Place::cell);
            row("quantile", Cell::Number(at.q), at.value.clone(), exact, at.covered)
        });
        let ranks = self.ranks.iter().map(|at| {
            row("rank", at.value.cell(), at.rank.map(of_interval), Cell::of_number(at.exact), at.covered)
        });
        let bars =
            self.histogram.iter().flatten().map(|bar| {
                row("bar", Cell::Number(bar.from), Some(of_interval(bar.count)), Cell::Unknown, None)
            });
        quantiles.chain(ranks).chain(bars).collect()
    }

    /// Returns the rows for people: the question, the answer, its bounds, and the result of the
    /// second pass.
    pub(super) fn rows(&self) -> Vec<[String; 4]> {
        let none = |name: String| [name, "none".into(), String::new(), String::new()];
        let verified = |exact: Option<String>, covered: Option<bool>| match exact {
            None => String::new(),
            Some(exact) if covered == Some(true) => format!("{exact} exactly, inside the bounds"),
            Some(exact) => format!("{exact} exactly, outside the bounds"),
        };
        let missed: &str = "rows may have been missed";
        let quantiles = self.quantiles.iter().map(|AtShare { q, value, exact, covered }| {
            let name = percent_of_rank(*q);
            let Some(value) = value else { return none(name) };
            let bounds = if self.missed_rows {
                missed.into()
            } else if value.is_exact() {
                "exactly".into()
            } else {
                format!("{} to {}", value.lower.shown(), value.upper.shown())
            };
            [name, value.value.shown(), bounds, verified(exact.as_ref().map(Place::shown), *covered)]
        });
        let ranks = self.ranks.iter().map(|AtValue { value, rank, exact, covered }| {
            let name = format!("≤ {}", value.shown());
            let Some(rank) = rank.map(Interval::estimate) else { return none(name) };
            let bounds = if self.missed_rows {
                missed.into()
            } else if rank.is_exact() {
                "exactly".into()
            } else {
                format!("{} to {}", percent_of_rank(rank.lower()), percent_of_rank(rank.upper()))
            };
            [name, percent_of_rank(rank.value()), bounds, verified(exact.map(percent_of_rank), *covered)]
        });
        quantiles.chain(ranks).collect()
    }

    pub(crate) fn print(&self, out: &Output) -> Result<()> {
        let rows = self.rows();
        out.columns(&rows)?;
        if let Some(bars) = &self.histogram {
            print_bars(bars, out)?;
        }
        if !self.missed_rows && rows.iter().any(|row| row[2] != "exactly" && !row[2].is_empty()) {
            let of_quantiles = self.quantiles.iter().filter_map(|at| Some(at.value.as_ref()?.confidence));
            let of_ranks = self.ranks.iter().filter_map(|at| Some(at.rank?.confidence));
            let sure = of_quantiles.chain(of_ranks).filter(|sure| *sure < 1.0).fold(1.0, f64::min);
            out.detail(match sure {
                1.0 => "the bounds are certain".into(),
                sure => format!("each {} sure", output::percent(sure)),
            })?;
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

/// Returns a rank in percent, with the digits that tails need: `99.99 %`.
fn percent_of_rank(share: f64) -> String {
    let text = format!("{:.4}", 100.0 * share);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}
