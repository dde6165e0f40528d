//! `crivo quantile --by`: quantiles of each group.

use std::process::ExitCode;

use crivo::codec::AnySketch;
use crivo::sketch::Merge as _;
use crivo_groups::Error;

use super::answer::Answers;
use super::{Args, method, new_sketch};
use crate::cmd::Outcome;
use crate::groups::{self, Column, GroupAnswer, GroupPass, GroupState, Shown, emit_answer, refuse};
use crate::numbers::FieldNumbers;
use crate::output::{Cell, Form, Output};
use crate::pass::Pass;

impl GroupAnswer for Answers {
    fn columns(&self) -> &'static [Column] {
        FOR_PROGRAMS
    }

    fn rows(&self) -> Vec<Vec<String>> {
        self.rows().into_iter().map(|[what, value, bounds, _]| vec![what, value, bounds]).collect()
    }

    fn cells(&self) -> Vec<Vec<Cell>> {
        // Answers about groups are not verified, so those columns are left out.
        self.cells().into_iter().map(|row| row.into_iter().take(FOR_PROGRAMS.len()).collect()).collect()
    }
}

const FOR_PEOPLE: &[Column] = &[Column::Text("rank"), Column::Number("value"), Column::Number("bounds")];
const FOR_PROGRAMS: &[Column] = &[
    Column::Text("what"),
    Column::Number("at"),
    Column::Number("value"),
    Column::Number("value_lower"),
    Column::Number("value_upper"),
    Column::Number("value_confidence"),
];

pub(super) fn run(args: &Args, pass: &mut Pass, by: &str, out: &Output) -> Outcome {
    refuse("--verify", args.how.verify)?;
    refuse("--window", args.window.is_wanted())?;
    let empty = new_sketch(args)?;
    let (method, scheme) = (method(&empty), empty.scheme());
    let group = groups::select_group(pass, by)?;
    let form = args.how.form.get();
    if form == Form::Table && args.how.asked.has_histogram() {
        anyhow::bail!("--histogram: with --by it is in the forms for programs, such as --json");
    }
    let columns = if form == Form::Table { FOR_PEOPLE } else { FOR_PROGRAMS };
    let shown = Shown { args: &args.groups, form, columns };
    let skip_bad = pass.skip_bad;
    let grouping =
        GroupPass { args: &args.groups, input: &args.input, sketch: Some(&args.sketch), pass, scheme };
    let (grouped, counts) = grouping.run(
        empty,
        out,
        |state: &mut GroupState<AnySketch>, batch| {
            if args.how.texts {
                let id = |row: usize| batch.id(row).to_u64();
                let texts: Vec<Option<&[u8]>> = batch.column(0).iter().collect();
                let rows: Vec<usize> = (0..texts.len()).filter(|&row| texts[row].is_some()).collect();
                return state.worker.add_together(batch, group, &rows, |sketch, places| {
                    begin(sketch, id(rows[places[0] as usize]));
                    let weights = sketch.weights_mut()?;
                    let texts = places.iter().filter_map(|&place| texts[rows[place as usize]]);
                    texts
                        .into_iter()
                        .try_for_each(|text| weights.add_ref(crivo::keys::KeyRef::Bytes(text), 1))
                });
            }
            let mut numbers = FieldNumbers::default();
            numbers.read(batch, 0, skip_bad)?;
            state.bad += numbers.bad;
            let mut of_group = Vec::new();
            state.worker.add_together(batch, group, &numbers.rows, |sketch, places| {
                begin(sketch, batch.id(numbers.rows[places[0] as usize]).to_u64());
                of_group.clear();
                of_group.extend(places.iter().map(|&place| numbers.values[place as usize]));
                sketch.numbers_mut()?.insert_numbers(&of_group);
                Ok(())
            })
        },
        |kind, key, group, emit| {
            let answers = args.how.asked.answers(&args.how.shares, &group.sketch(kind));
            emit_answer(kind, key, &answers.map_err(Error::caller)?.honest(out), shown, emit)
        },
    )?;
    groups::print(&grouped, shown, counts, Some(method), out)?;
    if shown.form == Form::Table && !out.has_missed_rows() {
        out.detail("bounds are 95 % sure")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Reseeds the sketch of a group that begins with this row. It then draws independently of the
/// other threads' sketches, which are merged with it later.
fn begin(sketch: &mut AnySketch, row: u64) {
    if sketch.is_empty() {
        sketch.reseed(row);
    }
}
