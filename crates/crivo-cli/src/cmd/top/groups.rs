//! `crivo top --by`: the most frequent values of each group.

use std::process::ExitCode;

use anyhow::{Context, Result};
use crivo::frequency::HeavyHitters;
use crivo_interchange::{FrequentItem, FrequentItems};
use serde::Serialize;

use super::{Args, Candidate, Guarantee, Wanted, choose, counters};
use crate::cmd::Outcome;
use crate::groups::{self, Column, GroupAnswer, GroupPass, Shown, emit_answer, refuse};
use crate::output::{self, Cell, Interval, Output};
use crate::pass::Pass;

#[derive(Debug, Serialize)]
pub(crate) struct Answer {
    top: Vec<Line>,
    total: u64,
    max_error: u64,
}

#[derive(Debug, Serialize)]
struct Line {
    key: String,
    count: Interval,
}

impl Answer {
    /// Returns the list of one group, of at most `most` keys.
    fn new(
        sketch: &HeavyHitters,
        wanted: &Wanted,
        most: usize,
        guarantee: Option<Guarantee>,
        out: &Output,
    ) -> Result<Self> {
        let chosen = choose::choose(Candidate::of(sketch), sketch, wanted, guarantee, out)?;
        let lines = chosen.into_iter().take(most).map(|Candidate { key, lower, upper }| Line {
            key: key.to_string(),
            count: out.honest(choose::estimate(lower, upper)).into(),
        });
        Ok(Self { top: lines.collect(), total: sketch.total(), max_error: sketch.max_error() })
    }

    /// Returns the most frequent keys of a sketch of DataSketches.
    pub(crate) fn of_items(sketch: &FrequentItems) -> Self {
        let lines = sketch.top(10).into_iter().map(|FrequentItem { key, lower, upper }| Line {
            key: key.to_string(),
            count: choose::estimate(lower, upper).into(),
        });
        Self { top: lines.collect(), total: sketch.total(), max_error: sketch.max_error() }
    }

    /// Returns the most frequent keys of a sketch.
    pub(crate) fn most_frequent(sketch: &HeavyHitters, out: &Output) -> Result<Self> {
        Self::new(sketch, &Wanted::First(10), 10, None, out)
    }
}

const COLUMNS: &[Column] = &[Column::Text("value"), Column::Interval("count"), Column::Number("share")];

impl GroupAnswer for Answer {
    fn columns(&self) -> &'static [Column] {
        COLUMNS
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let total = self.total.max(1) as f64;
        let row = |Line { key, count }: &Line| {
            let estimate = count.estimate();
            vec![key.clone(), output::estimate(estimate), output::percent(estimate.value() / total)]
        };
        self.top.iter().map(row).collect()
    }

    fn cells(&self) -> Vec<Vec<Cell>> {
        let total = self.total.max(1) as f64;
        let row = |Line { key, count }: &Line| {
            vec![Cell::Text(key.clone()), Cell::Interval(*count), Cell::Number(count.value / total)]
        };
        self.top.iter().map(row).collect()
    }
}

pub(super) fn run(args: &Args, pass: &mut Pass, by: &str, wanted: &Wanted, out: &Output) -> Outcome {
    refuse("--verify", args.how.verify)?;
    refuse("--window", args.window.is_wanted())?;
    refuse("--interchange", args.how.interchange.is_some())?;
    let scheme = args.keys.scheme()?;
    pass.require_keys(scheme)?;
    let empty = HeavyHitters::with_scheme(counters(&args.how, wanted)?, scheme).context("--counters")?;
    let group = groups::select_group(pass, by)?;
    let (guarantee, skip_bad) = (args.how.guarantee, pass.skip_bad);
    let most = args.how.most();
    let shown = Shown { args: &args.groups, form: args.how.form.get(), columns: COLUMNS };
    let weighted = args.how.weight.is_some();
    // The `max_error` of each group says what its list may miss, so no warning is printed.
    let silent = out.silenced();
    let grouping =
        GroupPass { args: &args.groups, input: &args.input, sketch: Some(&args.sketch), pass, scheme };
    let (grouped, counts) = grouping.run(
        empty,
        out,
        |state, batch| {
            if weighted {
                state.weights.read(batch, skip_bad)?;
            }
            let weights = &state.weights.of_rows;
            state.worker.add_keys(batch, 0, group, skip_bad, |sketch, key, row| {
                let weight = if weighted { weights[row] } else { 1 };
                crivo::sketch::AddWeights::add_ref(sketch, key, weight)
            })
        },
        |kind, key, group, emit| {
            let answer = Answer::new(&group.sketch(kind), wanted, most, guarantee, &silent);
            emit_answer(kind, key, &answer.map_err(groups::sent)?, shown, emit)
        },
    )?;
    groups::print(&grouped, shown, counts, None, out)?;
    Ok(ExitCode::SUCCESS)
}
