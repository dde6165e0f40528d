//! `crivo count --by`: the number of rows in each group, and the sum of a field.

use std::process::ExitCode;

use anyhow::bail;
use crivo::Estimate;
use crivo::counting::Tally;
use crivo_rows::{Items, Select};
use serde::Serialize;

use super::Args;
use crate::cmd::Outcome;
use crate::groups::{self, Column, GroupAnswer, GroupPass, Shown, emit_answer};
use crate::numbers;
use crate::output::{self, Cell, Interval, Output};
use crate::pass::Pass;

#[derive(Debug, Serialize)]
pub(crate) struct Answer {
    count: Interval,
    sum: Option<f64>,
    mean: Option<f64>,
    #[serde(skip)]
    has_sum: bool,
}

impl Answer {
    pub(crate) fn new(tally: &Tally, has_sum: bool) -> Self {
        let count = Estimate::exact(tally.count() as f64).into();
        let finite = |number: Option<f64>| number.filter(|_| has_sum);
        Self { count, sum: finite(tally.sum()), mean: finite(tally.mean()), has_sum }
    }
}

/// The columns with a sum, and those without.
const COLUMNS: &[Column] = &[Column::Interval("count"), Column::Number("sum"), Column::Number("mean")];
const COUNT_ONLY: &[Column] = &[Column::Interval("count")];

const fn columns(has_sum: bool) -> &'static [Column] {
    if has_sum { COLUMNS } else { COUNT_ONLY }
}

impl GroupAnswer for Answer {
    fn columns(&self) -> &'static [Column] {
        columns(self.has_sum)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let mut row = vec![output::estimate(self.count.estimate())];
        if self.has_sum {
            let shown = |number: Option<f64>| number.map_or_else(String::new, output::number);
            row.extend([shown(self.sum), shown(self.mean)]);
        }
        vec![row]
    }

    fn cells(&self) -> Vec<Vec<Cell>> {
        let mut row = vec![Cell::Interval(self.count)];
        if self.has_sum {
            row.extend([Cell::of_number(self.sum), Cell::of_number(self.mean)]);
        }
        vec![row]
    }
}

pub(super) fn run(args: &Args, pass: &mut Pass, by: &str, out: &Output) -> Outcome {
    if pass.items != Items::Values {
        bail!("--by counts rows, not their words: leave --words out");
    }
    // The first column decides which rows count as skipped. It is the field if one is given, and
    // the group otherwise.
    let mut fields: Vec<String> = args.input.field().map(String::from).into_iter().collect();
    fields.push(by.into());
    let group = fields.len() - 1;
    let sum = args.how.sum.as_ref().map(|field| {
        fields.push(field.clone());
        fields.len() - 1
    });
    pass.select = Select::Fields(fields);
    let skip_bad = pass.skip_bad;
    let shown = Shown { args: &args.groups, form: args.how.form.get(), columns: columns(sum.is_some()) };
    let scheme = args.keys.scheme()?;
    let grouping =
        GroupPass { args: &args.groups, input: &args.input, sketch: Some(&args.sketch), pass, scheme };
    let (grouped, counts) = grouping.run(
        Tally::new(),
        out,
        |state, batch| {
            let numbers = sum.map(|column| (column, batch.column(column)));
            let values = batch.column(0);
            let bad = &mut state.bad;
            let batch = &*batch;
            state.worker.add_rows(batch, group, |row| {
                if values.get(row).is_none() {
                    return Ok(None);
                }
                let text = numbers.and_then(|(column, numbers)| Some((column, numbers.get(row)?)));
                let number = match text.map(|(column, text)| (column, text, numbers::decimal_and_rest(text)))
                {
                    Some((.., None)) if skip_bad => {
                        *bad += 1;
                        return Ok(None);
                    }
                    Some((column, text, None)) => {
                        let found = numbers::shown(text);
                        let message = format!("expected a number to add up, found '{found}'");
                        return Err(batch.value_error(column, row, message));
                    }
                    Some((.., number)) => number,
                    None => None,
                };
                Ok(Some(move |tally: &mut Tally| {
                    match number {
                        Some(parts) => tally.add_sum(parts),
                        None => tally.add(1),
                    }
                    Ok(())
                }))
            })
        },
        |kind, key, group, emit| {
            let mut answer = Answer::new(&group.sketch(kind), sum.is_some());
            answer.count = out.honest(answer.count.estimate()).into();
            emit_answer(kind, key, &answer, shown, emit)
        },
    )?;
    groups::print(&grouped, shown, counts, None, out)?;
    Ok(ExitCode::SUCCESS)
}
