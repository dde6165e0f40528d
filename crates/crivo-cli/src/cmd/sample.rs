//! `crivo sample`: a fair sample of the rows.
//!
//! Every row draws a number from the seed and its place in the input, and the rows with the smallest
//! numbers are the sample. So it does not matter which thread saw a row, and the same seed gives the same
//! sample of the same file. With weights the number is the time at which a clock of that rate rings
//! (as in `crivo::sampling::WeightedReservoir`), so that a row of twice the weight is twice as
//! likely to be drawn next.

mod groups;

use std::collections::BinaryHeap;
use std::io::Write;
use std::num::NonZero;
use std::process::ExitCode;

use anyhow::{Result, bail};
use crivo::keys::KeyScheme;
use crivo_rows::{Items, Predicate, RowBatch, Select};

use super::Outcome;
use crate::args::{InputArgs, Seeded};
use crate::groups::GroupArgs;
use crate::numbers;
use crate::output::{self, Output};
use crate::pass::Pass;

/// Print a fair sample of the rows, in their order, after the header
///
/// Every set of so many rows is as likely as any other. With --by so many rows of each group are drawn. The same seed gives the same sample of the same
/// file. With --weight a row of twice the weight is twice as likely to be drawn next.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo sample -n 1000 visits.csv.gz > some.csv
  crivo sample -n 5 --seed random access.log
  crivo sample -n 3 --by country visits.csv
  crivo sample -n 100 --weight amount sales.parquet > audit.parquet")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,

    /// How many rows
    #[arg(short, value_name = "K", help_heading = "Sampling")]
    n: NonZero<u32>,

    /// The field with the weight of each row, a number from 0 on
    #[arg(long, value_name = "FIELD", help_heading = "Sampling")]
    weight: Option<String>,

    #[command(flatten)]
    seed: Seeded,

    #[command(flatten)]
    groups: GroupArgs,
}

/// A row that is in the sample so far: the number it drew, its place, and itself where it is text.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Drawn {
    number: u64,
    id: u64,
    line: Option<Vec<u8>>,
}

/// The rows with the smallest numbers.
#[derive(Debug)]
struct Sample {
    size: usize,
    drawn: BinaryHeap<Drawn>,
    /// Rows seen, which are their places where the input has no others.
    seen: u64,
    bad: u64,
}

impl Sample {
    fn new(size: usize) -> Self {
        Self { size, drawn: BinaryHeap::new(), seen: 0, bad: 0 }
    }

    /// Numbers below this get in.
    fn limit(&self) -> u64 {
        match self.drawn.peek() {
            Some(last) if self.drawn.len() == self.size => last.number,
            _ => u64::MAX,
        }
    }

    #[cold]
    fn admit(&mut self, number: u64, id: u64, line: Option<&[u8]>) {
        // The memory of the one that leaves is used again.
        let mut memory = Vec::new();
        if self.drawn.len() == self.size {
            memory = self.drawn.pop().and_then(|last| last.line).unwrap_or_default();
        }
        memory.clear();
        let line = line.map(|line| {
            memory.extend_from_slice(line);
            memory
        });
        self.drawn.push(Drawn { number, id, line });
    }

    fn merge(&mut self, other: Self) {
        self.seen += other.seen;
        self.bad += other.bad;
        for drawn in other.drawn {
            if drawn.number < self.limit() {
                if self.drawn.len() == self.size {
                    self.drawn.pop();
                }
                self.drawn.push(drawn);
            }
        }
    }
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let mut pass = args.input.pass()?;
    if pass.items != Items::Values {
        bail!("--words: a sample is of whole rows, not of their words");
    }
    // A named field only says which rows count: those that have a value.
    let mut fields: Vec<String> = match &pass.select {
        Select::Fields(fields) => fields.clone(),
        _ => Vec::new(),
    };
    let must_have = !fields.is_empty();
    fields.extend(args.weight.clone());
    let weight = args.weight.as_ref().map(|_| fields.len() - 1);
    pass.select = Select::Fields(fields);
    // A pipe is cut where its writer paused, so only the number of a row is a place that stays.
    let numbered = !pass.input.is_rereadable();
    if numbered {
        pass.threads = 1;
    }
    if let Some(by) = args.groups.by() {
        return groups::run(args, &mut pass, by, groups::Draw { numbered, must_have, weight }, out);
    }
    let draw = Draw { seed: mix(args.seed.number()?), numbered, must_have, weight, skip_bad: pass.skip_bad };
    let folded = pass.fold_rows(
        KeyScheme::bytes(),
        out,
        || Sample::new(args.n.get() as usize),
        |sample, batch| draw.step(sample, batch),
        |sample, other| {
            sample.merge(other);
            Ok(())
        },
    )?;
    if let Some(file) = folded.odd_header {
        bail!("{file}: has another header than the first file: sample files with different fields apart");
    }
    let mut rows = folded.state.drawn.into_vec();
    rows.sort_unstable_by_key(|row| row.id);
    if rows.iter().any(|row| row.line.is_none()) {
        let places: Vec<u64> = rows.iter().map(|row| row.id).collect();
        copy_by_place(&pass, &places, out)?;
    } else {
        print(folded.header.as_deref(), &rows)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// How rows draw their numbers.
#[derive(Debug, Clone, Copy)]
struct Draw {
    seed: u64,
    numbered: bool,
    must_have: bool,
    weight: Option<usize>,
    skip_bad: bool,
}

impl Draw {
    fn step(self, sample: &mut Sample, batch: &RowBatch<'_>) -> crivo_rows::Result<()> {
        let first = if self.numbered { sample.seen } else { batch.id(0).to_u64() };
        sample.seen += batch.rows() as u64;
        match self.weight {
            Some(column) => return self.weighted(sample, batch, first, column),
            None if self.must_have => {}
            None => {
                let mut limit = sample.limit();
                for row in 0..batch.rows() {
                    let id = first + row as u64;
                    let number = mix(self.seed ^ id);
                    if number < limit {
                        sample.admit(number, id, batch.line(row));
                        limit = sample.limit();
                    }
                }
                return Ok(());
            }
        }
        for (row, _) in batch.column(0).iter().enumerate().filter(|(_, value)| value.is_some()) {
            let id = first + row as u64;
            let number = mix(self.seed ^ id);
            if number < sample.limit() {
                sample.admit(number, id, batch.line(row));
            }
        }
        Ok(())
    }

    fn weighted(
        self,
        sample: &mut Sample,
        batch: &RowBatch<'_>,
        first: u64,
        column: usize,
    ) -> crivo_rows::Result<()> {
        let values = batch.column(0);
        for (row, text) in batch.column(column).iter().enumerate() {
            let Some(text) = text else { continue };
            if self.must_have && values.get(row).is_none() {
                continue;
            }
            let weight = match numbers::decimal(text).filter(|weight| *weight >= 0.0) {
                Some(weight) if weight > 0.0 => weight,
                Some(_) => continue,
                None if self.skip_bad => {
                    sample.bad += 1;
                    continue;
                }
                None => {
                    let found = numbers::shown(text);
                    let message = format!("expected a number from 0 on as the weight, found '{found}'");
                    return Err(batch.error(row, message));
                }
            };
            let id = first + row as u64;
            let unit = ((mix(self.seed ^ id) >> 12) as f64 + 0.5) / (1_u64 << 52) as f64;
            let limit = f64::from_bits(sample.limit());
            // −ln u is at least 1 − u: most rows need no logarithm. (A limit that is no number is none.)
            if 1.0 - unit >= limit * weight {
                continue;
            }
            // Of numbers that are not negative the bits have the same order.
            let clock = (-libm::log(unit) / weight).min(f64::MAX).to_bits();
            if clock < sample.limit() {
                sample.admit(clock, id, batch.line(row));
            }
        }
        Ok(())
    }
}

/// The finalizer of SplitMix64: one to one, and without a trace of the order of the places.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let value = (value ^ value >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ value >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ value >> 31
}

/// The header and the lines.
fn print(header: Option<&[u8]>, rows: &[Drawn]) -> Result<()> {
    let mut lines = Lines::new();
    header
        .into_iter()
        .chain(rows.iter().filter_map(|row| row.line.as_deref()))
        .try_for_each(|line| lines.add(line))?;
    lines.end()
}

/// Prints lines, each with the line end it had; the last of a file may have had none.
struct Lines {
    text: std::io::BufWriter<Box<dyn Write>>,
    ended: bool,
}

impl Lines {
    fn new() -> Self {
        Self { text: std::io::BufWriter::new(Box::new(output::rows())), ended: true }
    }

    fn add(&mut self, line: &[u8]) -> std::io::Result<()> {
        if !self.ended {
            self.text.write_all(b"\n")?;
        }
        self.ended = line.ends_with(b"\n");
        self.text.write_all(line)
    }

    fn end(mut self) -> Result<()> {
        Ok(self.text.flush()?)
    }
}

/// Rows that are not text are copied in a second pass.
fn copy_by_place(pass: &Pass, places: &[u64], out: &Output) -> Result<()> {
    pass.require_twice("a sample of Parquet")?;
    let kept = |id: u64| places.partition_point(|place| *place < id);
    let predicate = |batch: &mut RowBatch<'_>, keep: &mut [bool]| {
        let first = batch.id(0).to_u64();
        for place in &places[kept(first)..kept(first + keep.len() as u64)] {
            keep[(place - first) as usize] = true;
        }
        Ok(())
    };
    pass.copy(KeyScheme::bytes(), out, Predicate::Each(&predicate))?;
    Ok(())
}
