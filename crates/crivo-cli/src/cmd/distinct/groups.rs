//! `crivo distinct --by`: the number of different values in each group.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use crivo::Estimate;
use crivo_groups::Error;
use serde::Serialize;

use super::{Args, Method, method};
use crate::args::OnFull;
use crate::cmd::Outcome;
use crate::groups::{self, Column, GroupAnswer, GroupPass, Shown, emit_answer, refuse};
use crate::output::{self, Cell, Interval, Output};
use crate::pass::Pass;

#[derive(Debug, Serialize)]
pub(crate) struct Answer {
    distinct: Interval,
}

const COLUMNS: &[Column] = &[Column::Interval("distinct")];

impl GroupAnswer for Answer {
    fn columns(&self) -> &'static [Column] {
        COLUMNS
    }

    fn rows(&self) -> Vec<Vec<String>> {
        vec![vec![output::estimate(self.distinct.estimate())]]
    }

    fn cells(&self) -> Vec<Vec<Cell>> {
        vec![vec![self.distinct.into()]]
    }
}

impl From<Estimate> for Answer {
    fn from(distinct: Estimate) -> Self {
        Self { distinct: distinct.into() }
    }
}

const FULL: &str = "a sketch is full, and its answer only a lower bound: a larger one reaches further";

pub(super) fn run(args: &Args, pass: &mut Pass, by: &str, out: &Output) -> Outcome {
    refuse("--verify", args.how.verify)?;
    refuse("--window", args.window.is_wanted())?;
    refuse("--interchange", args.how.interchange.is_some())?;
    let method = args.how.method.unwrap_or(Method::Hll);
    let empty = method::new_sketch(method, args)?;
    let scheme = empty.scheme();
    pass.require_keys(scheme)?;
    let group = groups::select_group(pass, by)?;
    let shown = Shown { args: &args.groups, form: args.how.form.get(), columns: COLUMNS };
    let grouping =
        GroupPass { args: &args.groups, input: &args.input, sketch: Some(&args.sketch), pass, scheme };
    let some_full = AtomicBool::new(false);
    let (grouped, counts) = grouping.run(
        empty,
        out,
        |state, batch| state.worker.add_hashes(batch, 0, group),
        |kind, key, group, emit| {
            let distinct = group.distinct(kind).unwrap_or_else(|| Estimate::exact(0.0));
            if distinct.upper().is_infinite() {
                some_full.store(true, Ordering::Relaxed);
                if args.how.on_full == OnFull::Fail {
                    return Err(Error::caller(FULL));
                }
            }
            emit_answer(kind, key, &Answer::from(out.honest(distinct)), shown, emit)
        },
    )?;
    if some_full.into_inner() {
        args.how.on_full.report(FULL, out)?;
    }
    groups::print(&grouped, shown, counts, Some(method.name()), out)?;
    Ok(ExitCode::SUCCESS)
}
