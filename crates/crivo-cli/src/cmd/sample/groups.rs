//! `crivo sample --by`: a uniform sample of each group, all in input order.

use std::cell::OnceCell;
use std::num::NonZero;
use std::process::ExitCode;

use anyhow::bail;
use crivo::keys::KeyScheme;
use crivo::sampling::RowSample;

use super::{Args, Lines, copy_by_place};
use crate::cmd::Outcome;
use crate::groups::{self, GroupPass, explained};
use crate::numbers;
use crate::output::Output;
use crate::pass::Pass;

/// The rows that are drawn from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draw {
    /// Whether rows are identified by their number, because the input has no other stable position.
    pub(super) numbered: bool,
    /// Whether column 0 must have a value.
    pub(super) must_have: bool,
    /// The column with the weights.
    pub(super) weight: Option<usize>,
}

/// The first byte of a sampled record: its text follows, or a second pass copies the row by its
/// place.
const TEXT: u8 = 1;
const PLACE: u8 = 0;

pub(super) fn run(
    args: &Args,
    size: NonZero<u64>,
    pass: &mut Pass,
    by: &str,
    draw: Draw,
    out: &Output,
) -> Outcome {
    let group = groups::select_group(pass, by)?;
    let seed = args.seed.number()?;
    let empty = match draw.weight {
        Some(_) => RowSample::weighted(size.get(), seed)?,
        None => RowSample::new(size.get(), seed)?,
    };
    let skip_bad = pass.skip_bad;
    let scheme = KeyScheme::bytes();
    let grouping = GroupPass { args: &args.groups, input: &args.input, sketch: None, pass, scheme };
    let (grouped, _, first) = grouping.run_with_header(
        empty,
        out,
        |state, batch| {
            let first = state.seen;
            state.seen += batch.rows() as u64;
            let batch = &*batch;
            let values = batch.column(0);
            let weights = draw.weight.map(|column| (column, batch.column(column)));
            let bad = &mut state.bad;
            state.worker.add_rows(batch, group, |row| {
                if draw.must_have && values.get(row).is_none() {
                    return Ok(None);
                }
                let weight = match weights.map(|(column, weights)| (column, weights.get(row))) {
                    None => None,
                    Some((_, None)) => return Ok(None),
                    Some((column, Some(text))) => {
                        match numbers::decimal(text).filter(|weight| *weight >= 0.0) {
                            Some(weight) => Some(weight),
                            None if skip_bad => {
                                *bad += 1;
                                return Ok(None);
                            }
                            None => {
                                let found = numbers::shown(text);
                                let message =
                                    format!("expected a number from 0 on as the weight, found '{found}'");
                                return Err(batch.value_error(column, row, message));
                            }
                        }
                    }
                };
                let place = if draw.numbered { first + row as u64 } else { batch.id(row).to_u64() };
                Ok(Some(move |sample: &mut RowSample| {
                    let record = OnceCell::new();
                    // Most rows are not sampled, so rows are copied only when needed.
                    let record = || {
                        let copy = || {
                            let line = batch.line(row);
                            let form = if line.is_some() { TEXT } else { PLACE };
                            [&[form], line.unwrap_or_default()].concat()
                        };
                        record.get_or_init(copy).as_slice()
                    };
                    match weight {
                        Some(weight) => sample.insert_weighted(place, weight, record),
                        None => sample.insert_with(place, record),
                    }
                }))
            })
        },
        |kind, _, group, emit| {
            let sample = group.sketch(kind);
            sample.rows().iter().try_for_each(|sampled| emit(&sampled.place.to_be_bytes(), sampled.row))
        },
    )?;
    if let Some(file) = first.odd {
        bail!("{file}: has another header than the first file: sample files with different fields apart");
    }
    let mut lines = Lines::new();
    if let Some(header) = &first.header {
        lines.add(header)?;
    }
    let (mut is_text, mut places) = (first.header.is_some(), Vec::new());
    grouped
        .answers
        .for_each(|place, record| {
            match record.split_first() {
                Some((&TEXT, line)) => {
                    is_text = true;
                    lines.add(line).map_err(|error| groups::sent(error.into()))?;
                }
                _ => places.push(place.first_chunk().map_or(0, |place| u64::from_be_bytes(*place))),
            }
            Ok(())
        })
        .map_err(explained)?;
    // Without rows, it is unknown whether the input is text. Both ways of copying are then right.
    if is_text || (places.is_empty() && !pass.input.is_rereadable()) {
        lines.end()?;
    } else {
        copy_by_place(pass, &places, out)?;
    }
    Ok(ExitCode::SUCCESS)
}
