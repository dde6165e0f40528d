//! `--by`: one answer for each group, in bounded memory.
//!
//! A command supplies the empty sketch of a group, a step that adds a batch of rows to the groups,
//! and the answer of a group. The rest is the same for all commands: the option, the pass, the file
//! with all groups, and the output as a table or as a JSON object with the groups in an array.

use anyhow::{Result, anyhow, bail};
use clap::Args;
use crivo::codec::AnySketch;
use crivo::groups::{GroupKind, GroupSketch, Groups};
use crivo::keys::KeyScheme;
use crivo::window::Pane;
use crivo_groups::{Emit, Error, GroupWorker, Grouped, Grouping};
use crivo_rows::{Counts, RowBatch, Select, split_values, thread_count};
use serde::Serialize;

use crate::args::{InputArgs, SketchArgs};
use crate::interrupt::{self, Interrupted};
use crate::output::{self, Cell, Form, Grid, Listing, Output};
use crate::pass::Pass;
use crate::sizes::memory_size;
use crate::tally::Weights;

const DEFAULT_MEMORY: u64 = 1 << 30;
/// With less memory, a few threads and their buffers would take most of it.
const LEAST_MEMORY: u64 = 64 << 20;
/// The number of bytes of answers that are buffered before they are printed.
const SENT_AT_ONCE: usize = 1 << 16;

/// How rows are grouped.
#[derive(Debug, Args)]
#[command(next_help_heading = "Groups")]
pub(crate) struct GroupArgs {
    /// One answer for each value of this field; A,B groups by two fields
    #[arg(long, value_name = "FIELD")]
    by: Option<String>,

    /// How much memory to use for groups; what does not fit goes to a temporary file [default: 1G]
    #[arg(long, value_name = "SIZE", value_parser = memory_size, requires = "by")]
    memory: Option<u64>,
}

impl GroupArgs {
    /// The field to group by.
    pub(crate) fn by(&self) -> Option<&str> {
        self.by.as_deref()
    }

    fn memory(&self) -> Result<u64> {
        match self.memory {
            Some(memory) if memory < LEAST_MEMORY => bail!("--memory: groups need at least 64M"),
            memory => Ok(memory.unwrap_or(DEFAULT_MEMORY)),
        }
    }
}

/// The state of a thread while it reads.
pub(crate) struct GroupState<S: Pane> {
    pub(crate) worker: GroupWorker<S>,
    pub(crate) weights: Weights,
    /// The number of rows seen so far. It serves as the place of a row where the input has no
    /// other.
    pub(crate) seen: u64,
    pub(crate) bad: u64,
}

/// The inputs of a pass with `--by`.
pub(crate) struct GroupPass<'a> {
    pub(crate) args: &'a GroupArgs,
    pub(crate) input: &'a InputArgs,
    /// The options for a file with all groups, for commands that write one.
    pub(crate) sketch: Option<&'a SketchArgs>,
    pub(crate) pass: &'a Pass,
    pub(crate) scheme: KeyScheme,
}

/// The header of the first file, and the first file whose header differs from it.
#[derive(Debug)]
pub(crate) struct FirstHeader {
    pub(crate) header: Option<Vec<u8>>,
    pub(crate) odd: Option<String>,
}

/// Refuses an option that cannot be combined with `--by`.
pub(crate) fn refuse(option: &str, is_given: bool) -> Result<()> {
    if is_given {
        bail!("{option}: cannot be used with --by");
    }
    Ok(())
}

impl GroupPass<'_> {
    /// Reads the rows, writes the file with all groups if one is wanted, and returns the answers.
    pub(crate) fn run<S: Pane + Send + Sync>(
        &self,
        empty: S,
        out: &Output,
        step: impl Fn(&mut GroupState<S>, &mut RowBatch<'_>) -> crivo_rows::Result<()> + Sync,
        answer: impl Fn(&GroupKind<S>, &[u8], &GroupSketch<S>, &mut Emit<'_>) -> crivo_groups::Result<()> + Sync,
    ) -> Result<(Grouped, Counts)> {
        self.run_with_header(empty, out, step, answer).map(|(grouped, counts, _)| (grouped, counts))
    }

    /// Does the same as [`run`](Self::run), and returns the header of the first file too.
    pub(crate) fn run_with_header<S: Pane + Send + Sync>(
        &self,
        empty: S,
        out: &Output,
        step: impl Fn(&mut GroupState<S>, &mut RowBatch<'_>) -> crivo_rows::Result<()> + Sync,
        answer: impl Fn(&GroupKind<S>, &[u8], &GroupSketch<S>, &mut Emit<'_>) -> crivo_groups::Result<()> + Sync,
    ) -> Result<(Grouped, Counts, FirstHeader)> {
        let by = self.args.by.as_deref().unwrap_or_default();
        let fields = u8::try_from(by.split(',').count()).map_err(|_| anyhow!("--by: at most 255 fields"))?;
        let kind = GroupKind::new(empty, fields)?;
        let before = self.before(&kind)?;
        let destination = match self.sketch {
            Some(sketch) => sketch.destination(self.input)?,
            None => None,
        };
        let grouping = Grouping::new(kind, self.args.memory()?, thread_count(self.pass.threads));
        let before = before.map(|groups| grouping.worker_with(groups)).transpose().map_err(explained)?;
        let folded = self.pass.fold_rows(
            self.scheme,
            out,
            || GroupState { worker: grouping.worker(), weights: Weights::default(), seen: 0, bad: 0 },
            step,
            |state, other| {
                state.worker.join(other.worker);
                state.weights.skipped += other.weights.skipped;
                state.weights.bad += other.weights.bad;
                state.bad += other.bad;
                Ok(())
            },
        )?;
        let (mut state, mut counts) = (folded.state, folded.counts);
        let header = FirstHeader { header: folded.header, odd: folded.odd_header };
        let bad = state.bad + state.worker.bad();
        counts.skipped += state.worker.skipped();
        counts.bad += bad;
        counts.rows = counts.rows.saturating_sub(bad);
        state.weights.add_to(&mut counts);
        if let Some(before) = before {
            state.worker.join(before);
        }
        let stop = || interrupt::is_requested() && !self.pass.follow;
        let kind = grouping.kind();
        let grouped = grouping
            .finish(state.worker, destination.is_some(), &stop, |key, group, emit| {
                answer(kind, key, group, emit)
            })
            .map_err(explained)?;
        if let (Some(destination), Some(file)) = (&destination, &grouped.file) {
            destination.write_with(|to| file.write_to(to).map_err(explained))?;
        }
        Ok((grouped, counts, header))
    }

    /// Returns the groups that `--into` continues.
    fn before<S: Pane>(&self, kind: &GroupKind<S>) -> Result<Option<Groups<S>>> {
        let Some(sketch) = self.sketch else { return Ok(None) };
        let Some(before) = sketch.to_continue()? else { return Ok(None) };
        if before.sketch.downcast_ref::<Groups>().is_none() {
            return Err(before.refusal());
        }
        let asked = AnySketch::decode(&Groups::of_kind(kind.clone()).encode())?;
        before.require_same_sizes(&asked)?;
        if before.sketch.scheme() != asked.scheme() {
            let (name, found, asked) = (&before.name, before.sketch.scheme(), asked.scheme());
            bail!("{asked} was asked for: {name} has {found}, and it can only be continued so");
        }
        // The sketch and its bytes are not both kept while the groups are decoded.
        let bytes = before.sketch.encode();
        drop(before);
        Ok(Some(Groups::decode(&bytes)?))
    }
}

/// Converts an error of the engine into an error of the command.
pub(crate) fn explained(error: Error) -> anyhow::Error {
    match error {
        Error::Stopped => Interrupted.into(),
        // A printing error keeps its type, so that a closed pipe is recognised.
        Error::Caller(error) => match error.downcast::<std::io::Error>() {
            Ok(error) => (*error).into(),
            Err(error) => anyhow::Error::from_boxed(error),
        },
        other => other.into(),
    }
}

/// Returns the values of a group's key as they are shown.
pub(crate) fn shown_group(key: &[u8], fields: usize) -> Vec<String> {
    split_values(key, fields).iter().map(|value| output::key_text(value)).collect()
}

// ---- the answer ----

/// The answer of one group, as JSON and as rows of a table.
pub(crate) trait GroupAnswer: Serialize {
    /// The columns of the table after those of the group.
    fn columns(&self) -> &'static [Column];

    /// The cells of each row as text for people, without those of the group.
    fn rows(&self) -> Vec<Vec<String>>;

    /// The cells of each row as data for programs, in the order of the columns.
    fn cells(&self) -> Vec<Vec<Cell>>;
}

/// A column of the table after those of the group.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Column {
    Text(&'static str),
    Number(&'static str),
    Interval(&'static str),
}

impl Column {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Text(name) | Self::Number(name) | Self::Interval(name) => name,
        }
    }
}

/// How the answers are printed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown<'a> {
    pub(crate) args: &'a GroupArgs,
    pub(crate) form: Form,
    pub(crate) columns: &'a [Column],
}

impl Shown<'_> {
    /// The names of the fields of `--by`.
    fn fields(&self) -> impl Iterator<Item = &str> {
        self.args.by.as_deref().unwrap_or_default().split(',')
    }

    /// The names of all columns.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.fields().chain(self.columns.iter().map(|column| column.name()))
    }

    /// Returns a table without rows, in a form for programs.
    fn listing(&self) -> Listing {
        let intervals = self.columns.iter().filter(|column| matches!(column, Column::Interval(_)));
        Listing::named(self.names()).with_intervals(intervals.map(|column| column.name()))
    }
}

/// The fields of the JSON object before its groups. Fields may be added, but never renamed.
#[derive(Debug, Serialize)]
struct Head {
    rows: u64,
    skipped: u64,
    left_out: u64,
    bad: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'static str>,
}

#[derive(Serialize)]
struct Line<'a, A> {
    group: Vec<String>,
    #[serde(flatten)]
    answer: &'a A,
}

/// Emits the answer of a group in the form in which it is printed.
pub(crate) fn emit_answer<S: Pane, A: GroupAnswer>(
    kind: &GroupKind<S>,
    key: &[u8],
    answer: &A,
    shown: Shown<'_>,
    emit: &mut Emit<'_>,
) -> crivo_groups::Result<()> {
    let fields = usize::from(kind.fields());
    let mut group = shown_group(key, fields);
    let text = match shown.form {
        Form::Json => serde_json::to_vec(&Line { group, answer }).map_err(Error::caller)?,
        Form::Table => {
            group.resize(fields, String::new());
            let rows = answer.rows().into_iter().map(|cells| [group.clone(), cells].concat());
            serde_json::to_vec(&rows.collect::<Vec<_>>()).map_err(Error::caller)?
        }
        form => {
            group.resize(fields, String::new());
            let mut listing = shown.listing();
            for cells in answer.cells() {
                let row = group.iter().cloned().map(Cell::Text).chain(cells);
                listing.push(shown.names().zip(row));
            }
            listing.body(form).into_bytes()
        }
    };
    emit(key, &text)
}

/// Prints the answers of all groups and the counts of the pass. `method` names the method of
/// commands that have several.
pub(crate) fn print(
    grouped: &Grouped,
    shown: Shown<'_>,
    counts: Counts,
    method: Option<&'static str>,
    out: &Output,
) -> Result<()> {
    match shown.form {
        Form::Json => {
            let Counts { rows, skipped, left_out, bad, .. } = counts;
            print_json(grouped, &Head { rows, skipped, left_out, bad, method }, out)
        }
        Form::Table => {
            print_table(grouped, shown, out)?;
            print_size(grouped, out)?;
            out.counts(counts)
        }
        form => {
            out.raw(shown.listing().header(form).as_bytes())?;
            let mut text = Vec::new();
            let send = |_: &[u8], rows: &[u8]| {
                text.extend_from_slice(rows);
                send_if(&mut text, SENT_AT_ONCE, out)
            };
            grouped.answers.for_each(send).map_err(explained)?;
            send_if(&mut text, 0, out).map_err(explained)
        }
    }
}

/// Prints the buffered text if it has at least `least` bytes.
fn send_if(text: &mut Vec<u8>, least: usize, out: &Output) -> crivo_groups::Result<()> {
    if text.len() >= least {
        out.raw(text).map_err(sent)?;
        text.clear();
    }
    Ok(())
}

/// Wraps an error of printing for its way through the engine.
pub(crate) fn sent(error: anyhow::Error) -> Error {
    Error::Caller(error.reallocate_into_boxed_dyn_error_without_backtrace())
}

fn print_json(grouped: &Grouped, head: &Head, out: &Output) -> Result<()> {
    let mut text = serde_json::to_vec(head)?;
    // Removes the closing brace, because the groups follow.
    text.pop();
    text.extend_from_slice(b",\"groups\":[");
    let mut is_first = true;
    grouped
        .answers
        .for_each(|_, answer| {
            if !std::mem::take(&mut is_first) {
                text.push(b',');
            }
            text.extend_from_slice(answer);
            send_if(&mut text, SENT_AT_ONCE, out)
        })
        .map_err(explained)?;
    text.extend_from_slice(b"]}\n");
    send_if(&mut text, 0, out).map_err(explained)
}

fn print_table(grouped: &Grouped, shown: Shown<'_>, out: &Output) -> Result<()> {
    let texts = shown.columns.iter().take_while(|column| matches!(column, Column::Text(_))).count();
    let texts = shown.fields().count() + texts;
    let mut grid = Grid::new(shown.names().map(String::from).collect(), texts);
    each_row(grouped, |row| {
        grid.measure(row);
        Ok(())
    })?;
    grid.begin()?;
    each_row(grouped, |row| grid.row(row, out))?;
    grid.end(out)
}

fn each_row(grouped: &Grouped, mut each: impl FnMut(&[String]) -> Result<()>) -> Result<()> {
    let walk = |_: &[u8], answer: &[u8]| {
        let rows: Vec<Vec<String>> = serde_json::from_slice(answer).map_err(Error::caller)?;
        rows.iter().try_for_each(|row| each(row)).map_err(sent)
    };
    grouped.answers.for_each(walk).map_err(explained)
}

/// Prints a line about the groups below the table.
fn print_size(grouped: &Grouped, out: &Output) -> Result<()> {
    let unit = if grouped.groups == 1 { "group" } else { "groups" };
    let spilled = match grouped.spilled {
        0 => String::new(),
        bytes => format!(", {} in a temporary file", output::bytes(bytes as usize)),
    };
    out.detail(format_args!("{} {unit}{spilled}", output::count(grouped.groups)))
}

/// Adds the fields of a group to those that a pass reads, and returns the column.
pub(crate) fn select_group(pass: &mut Pass, by: &str) -> Result<usize> {
    match &mut pass.select {
        Select::Fields(fields) => {
            fields.push(by.into());
            Ok(fields.len() - 1)
        }
        _ => bail!("--by {by}: name the field with the values too: -f NAME"),
    }
}
