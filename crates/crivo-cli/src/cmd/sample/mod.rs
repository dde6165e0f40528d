//! `crivo sample`: a uniform sample of the rows.
//!
//! The sample is the library's [`RowSample`]: every row draws a number from the seed and its place
//! in the input. So it does not matter which thread saw a row, and the same seed gives the same
//! sample of the same file.

mod share;

mod groups;

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use crivo::keys::KeyScheme;
use crivo::sampling::{RowSample, SampledRow};
use crivo_rows::{Items, Predicate, RowBatch, Select};

use self::share::{SampleSize, share_of_rows};

use super::Outcome;
use crate::args::{InputArgs, Seeded};
use crate::groups::GroupArgs;
use crate::numbers;
use crate::output::{self, Output};
use crate::pass::Pass;

/// Print a fair sample of the rows, in their order, after the header
///
/// Every set of K rows is as likely as any other; with a share each row is drawn by itself, so that
/// any input streams through. With -f only rows with a value in that field are drawn. With --by K
/// rows of each group are drawn. The same seed gives the same sample of the same file. With
/// --weight a row of twice the weight is twice as likely to be drawn next.
#[derive(Debug, clap::Args)]
// A sample is of whole rows.
#[command(mut_arg("words", |words| words.hide(true)))]
#[command(after_help = "\
Examples:
  crivo sample -n 1000 visits.csv.gz > some.csv
  crivo sample -n 1% access.log.gz
  crivo sample -n 5 --seed random access.log
  crivo sample -n 3 --by country visits.csv
  crivo sample -n 100 --weight amount sales.parquet > audit.parquet")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,

    /// How many rows: 1000, 10k; or each row with this chance: 10%
    #[arg(short, value_name = "K|SHARE%", help_heading = "Sampling")]
    n: SampleSize,

    /// The field with the weight of each row, a number from 0 on
    #[arg(long, value_name = "FIELD", help_heading = "Sampling")]
    weight: Option<String>,

    #[command(flatten)]
    seed: Seeded,

    #[command(flatten)]
    groups: GroupArgs,
}

/// The sample of one thread; after merging, that of all threads.
#[derive(Debug)]
struct Sampled {
    rows: RowSample,
    /// The number of rows read, which identifies rows if the input has no other stable position.
    read: u64,
    /// The number of rows without a valid weight.
    bad: u64,
    /// Whether rows have no lines of text. Then only their places are sampled.
    by_place: bool,
}

impl Sampled {
    fn merge(&mut self, other: &Self) -> crivo::Result<()> {
        self.read += other.read;
        self.bad += other.bad;
        self.by_place |= other.by_place;
        self.rows.merge(&other.rows)
    }
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let mut pass = args.input.pass()?;
    let size = match args.n {
        SampleSize::Rows(rows) => rows,
        SampleSize::Share(share) => return share_of_rows(args, pass, share, out),
    };
    if pass.items != Items::Values {
        bail!("--words: a sample is of whole rows, not of their words");
    }
    // A named field only restricts the sample to rows with a value.
    let mut fields: Vec<String> = match &pass.select {
        Select::Fields(fields) => fields.clone(),
        _ => Vec::new(),
    };
    let must_have = !fields.is_empty();
    fields.extend(args.weight.clone());
    let weight = args.weight.as_ref().map(|_| fields.len() - 1);
    pass.select = Select::Fields(fields);
    // A pipe is divided where its writer paused, so only the number of a row is a stable position.
    let numbered = !pass.input.is_rereadable();
    if numbered {
        pass.threads = 1;
    }
    if let Some(by) = args.groups.by() {
        let draw = groups::Draw { numbered, must_have, weight };
        return groups::run(args, size, &mut pass, by, draw, out);
    }
    let (capacity, seed) = (size.get(), args.seed.number()?);
    let empty = if weight.is_some() { RowSample::weighted } else { RowSample::new }(capacity, seed)?;
    let draw = Draw { numbered, must_have, weight, skip_bad: pass.skip_bad };
    let folded = pass.fold_rows(
        KeyScheme::bytes(),
        out,
        || Sampled { rows: empty.clone(), read: 0, bad: 0, by_place: false },
        |sampled, batch| draw.step(sampled, batch),
        |sampled, other| Ok(sampled.merge(&other)?),
    )?;
    if let Some(file) = folded.odd_header {
        bail!("{file}: has another header than the first file: sample files with different fields apart");
    }
    let Sampled { rows, bad, by_place, .. } = folded.state;
    if bad > 0 {
        out.warn(format_args!(
            "{} rows were left out: their weight is not a number from 0 on",
            output::count(bad)
        ));
    }
    // Without rows, it is unknown whether the input is text. Both ways of copying are then right.
    if by_place || (rows.rows().is_empty() && pass.input.is_rereadable()) {
        let places: Vec<u64> = rows.rows().iter().map(|sampled| sampled.place).collect();
        copy_by_place(&pass, &places, out)?;
    } else {
        print(folded.header.as_deref(), &rows.rows())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The rows of a batch that the sample draws from.
#[derive(Debug, Clone, Copy)]
struct Draw {
    numbered: bool,
    must_have: bool,
    weight: Option<usize>,
    skip_bad: bool,
}

impl Draw {
    fn step(self, sampled: &mut Sampled, batch: &RowBatch<'_>) -> crivo_rows::Result<()> {
        let first = sampled.read;
        sampled.read += batch.rows() as u64;
        let place = |row| if self.numbered { first + row as u64 } else { batch.id(row).to_u64() };
        sampled.by_place |= batch.line(0).is_none();
        let line = |row| batch.line(row).unwrap_or_default();
        if let Some(column) = self.weight {
            return self.weighted(sampled, batch, place, column);
        }
        if !self.must_have {
            for row in 0..batch.rows() {
                sampled.rows.insert_with(place(row), || line(row))?;
            }
            return Ok(());
        }
        for (row, _) in batch.column(0).iter().enumerate().filter(|(_, value)| value.is_some()) {
            sampled.rows.insert_with(place(row), || line(row))?;
        }
        Ok(())
    }

    fn weighted(
        self,
        sampled: &mut Sampled,
        batch: &RowBatch<'_>,
        place: impl Fn(usize) -> u64,
        column: usize,
    ) -> crivo_rows::Result<()> {
        let values = batch.column(0);
        for (row, text) in batch.column(column).iter().enumerate() {
            let Some(text) = text else { continue };
            if self.must_have && values.get(row).is_none() {
                continue;
            }
            let Some(weight) = numbers::decimal(text).filter(|weight| *weight >= 0.0) else {
                if self.skip_bad {
                    sampled.bad += 1;
                    continue;
                }
                let found = numbers::shown(text);
                let message = format!("expected a number from 0 on as the weight, found '{found}'");
                return Err(batch.value_error(column, row, message));
            };
            sampled.rows.insert_weighted(place(row), weight, || batch.line(row).unwrap_or_default())?;
        }
        Ok(())
    }
}

/// Prints the header and the lines.
fn print(header: Option<&[u8]>, rows: &[SampledRow<'_>]) -> Result<()> {
    let mut lines = Lines::new();
    header.into_iter().chain(rows.iter().map(|sampled| sampled.row)).try_for_each(|line| lines.add(line))?;
    lines.end()
}

/// Prints lines, each with its line end. The last line of a file may have none.
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

/// Copies rows that are not text in a second pass. `places` are their ids, in ascending order.
fn copy_by_place(pass: &Pass, places: &[u64], out: &Output) -> Result<()> {
    pass.require_twice("a sample of Parquet")?;
    let predicate = |batch: &mut RowBatch<'_>, keep: &mut [bool]| {
        for (row, keep) in keep.iter_mut().enumerate() {
            *keep = places.binary_search(&batch.id(row).to_u64()).is_ok();
        }
        Ok(())
    };
    pass.copy(KeyScheme::bytes(), out, Predicate::Each(&predicate))?;
    Ok(())
}
