//! What to compute for each group, and the groups that one thread holds.

use std::sync::Arc;

use crivo::groups::{GroupKind, Groups};
use crivo::keys::{KeyBuffer, KeyRef};
use crivo::window::Pane;
use crivo_rows::{RowBatch, Values};
use crivo_spill::Spill;

use crate::error::Result;
use crate::runs::{Run, RunWriter};

/// The memory that a process needs beside its groups: the program, and the input chunks of each
/// thread.
const BASE: u64 = 16 << 20;
const FOR_THREAD: u64 = 4 << 20;
/// The least memory for groups, even if the caller requested less.
const LEAST: u64 = 4 << 20;

/// What to compute for each group, and how much memory there is.
#[derive(Debug)]
pub struct Grouping<S> {
    kind: GroupKind<S>,
    pub(crate) threads: usize,
    /// The number of bytes that all groups together may take.
    pub(crate) memory: usize,
    pub(crate) spill: Arc<Spill>,
}

impl<S: Pane> Grouping<S> {
    /// Creates a grouping for a process of about `memory` bytes with that many threads.
    pub fn new(kind: GroupKind<S>, memory: u64, threads: usize) -> Self {
        let threads = threads.max(1);
        let rest = memory.saturating_sub(BASE + threads as u64 * FOR_THREAD).max(LEAST);
        // Allocators need up to a third more than what they hand out.
        let memory = (rest - rest / 4) as usize;
        Self { kind, threads, memory, spill: Arc::default() }
    }

    /// Returns the kind of the groups.
    pub fn kind(&self) -> &GroupKind<S> {
        &self.kind
    }

    /// Returns a worker with the groups that existed before the pass, to be
    /// [joined](GroupWorker::join) after it. If they take more than an eighth of the memory, they
    /// are written to the temporary file, because the groups of the pass may need all of it.
    ///
    /// # Errors
    /// If a temporary file cannot be written.
    pub fn worker_with(&self, groups: Groups<S>) -> Result<GroupWorker<S>> {
        let mut worker = GroupWorker { groups, ..self.worker() };
        if worker.groups.memory() > self.memory / 8 {
            worker.write_run()?;
        }
        Ok(worker)
    }

    /// Returns the initial state of a thread.
    pub fn worker(&self) -> GroupWorker<S> {
        GroupWorker {
            groups: Groups::of_kind(self.kind.clone()),
            share: self.memory / self.threads,
            spill: Arc::clone(&self.spill),
            runs: Vec::new(),
            others: Vec::new(),
            skipped: 0,
            bad: 0,
            keys: KeyBuffer::new(self.kind.group_scheme()),
            found: Vec::new(),
            of_rows: Vec::new(),
            of_keys: Vec::new(),
            hashes: Vec::new(),
        }
    }
}

/// The groups that one thread holds, and the runs that it wrote.
#[derive(Debug)]
pub struct GroupWorker<S: Pane> {
    pub(crate) groups: Groups<S>,
    share: usize,
    spill: Arc<Spill>,
    pub(crate) runs: Vec<Run>,
    /// The groups of other workers that joined this one.
    pub(crate) others: Vec<Groups<S>>,
    /// The number of rows with a value and without a group.
    skipped: u64,
    /// The number of values that the sketch refused.
    bad: u64,
    keys: KeyBuffer,
    found: Vec<u32>,
    /// The number of the group of each row of the batch, or [`NONE`].
    of_rows: Vec<u32>,
    of_keys: Vec<u32>,
    hashes: Vec<u64>,
}

/// Marks a row without a group.
const NONE: u32 = u32::MAX;

impl<S: Pane> GroupWorker<S> {
    /// Returns the number of rows that had a value and no group.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Returns the number of values that the sketch refused.
    pub fn bad(&self) -> u64 {
        self.bad
    }

    /// Finds or adds the group of each row, and puts its number into `of_rows`.
    fn find(&mut self, batch: &RowBatch<'_>, groups: usize) -> crivo_rows::Result<()> {
        if batch.has_elements(groups) {
            return Err(batch.error(0, "rows are grouped by one value, not by the elements of an array"));
        }
        let groups = batch.column(groups);
        let (spans, bytes) = groups.spans();
        if groups.missing() == 0 {
            let batch = self.keys.hash_spans_of(spans, bytes)?;
            return Ok(self.groups.find_or_add_batch(&batch, &mut self.of_rows)?);
        }
        self.keys.clear();
        let present = spans.iter().filter(|span| !span.range().is_empty());
        present.for_each(|span| self.keys.push_span(*span));
        let batch = self.keys.hash_spans(bytes)?;
        self.groups.find_or_add_batch(&batch, &mut self.found)?;
        let mut found = self.found.iter().copied();
        let number = |span: &crivo::keys::Span| {
            if span.range().is_empty() { NONE } else { found.next().unwrap_or(NONE) }
        };
        self.of_rows.clear();
        self.of_rows.extend(spans.iter().map(number));
        Ok(())
    }

    /// Counts rows that have a value and no group.
    fn count_skipped(&mut self, values: Values<'_>) {
        if self.of_rows.contains(&NONE) {
            let lost = self
                .of_rows
                .iter()
                .zip(values.iter())
                .filter(|(group, value)| **group == NONE && value.is_some());
            self.skipped += lost.count() as u64;
        }
    }

    /// Adds the hashes of the keys in one column to the groups in another. This is for sketches of
    /// sets.
    ///
    /// # Errors
    /// If a key cannot be made, or a temporary file cannot be written.
    pub fn add_hashes(
        &mut self,
        batch: &mut RowBatch<'_>,
        values: usize,
        groups: usize,
    ) -> crivo_rows::Result<()> {
        self.find(batch, groups)?;
        self.count_skipped(batch.column(values));
        let found = batch.keys_with_rows(values)?;
        let hashes = found.keys.hashes();
        let in_step = found.rows.len() == self.of_rows.len()
            && found.rows.iter().zip(0..).all(|(row, at)| *row == at)
            && !self.of_rows.contains(&NONE);
        if in_step {
            self.groups.insert_hashes(&self.of_rows, hashes)?;
        } else {
            self.of_keys.clear();
            self.hashes.clear();
            for (row, hash) in found.rows.iter().zip(hashes) {
                let group = self.of_rows[*row as usize];
                if group != NONE {
                    self.of_keys.push(group);
                    self.hashes.push(*hash);
                }
            }
            self.groups.insert_hashes(&self.of_keys, &self.hashes)?;
        }
        self.make_room()
    }

    /// Adds each key in one column to the group in another: `add` gets the sketch, the key and its
    /// row. If it refuses a key, that is an error with file and line, or with `skip_bad` the key is
    /// counted as bad.
    ///
    /// # Errors
    /// If a key cannot be made or is refused, or a temporary file cannot be written.
    pub fn add_keys(
        &mut self,
        batch: &mut RowBatch<'_>,
        values: usize,
        groups: usize,
        skip_bad: bool,
        mut add: impl FnMut(&mut S, KeyRef<'_>, usize) -> crivo::Result<()>,
    ) -> crivo_rows::Result<()> {
        self.find(batch, groups)?;
        self.count_skipped(batch.column(values));
        let found = batch.keys_with_rows(values)?;
        let mut refused = None;
        for ((key, _), &row) in found.keys.iter().zip(found.rows) {
            let group = self.of_rows[row as usize];
            if group == NONE {
                continue;
            }
            if let Err(error) = self.groups.update_at(group, |sketch| add(sketch, key, row as usize)) {
                if !skip_bad {
                    refused = Some((row as usize, error));
                    break;
                }
                self.bad += 1;
            }
        }
        match refused {
            Some((row, error)) => Err(batch.error(row, error)),
            None => self.make_room(),
        }
    }

    /// Updates the sketch of each row's group. `change` gets the row and returns the update of the
    /// sketch, or `None` if the row does not count.
    ///
    /// # Errors
    /// The errors of `change`, and an error if a temporary file cannot be written.
    pub fn add_rows<C: FnOnce(&mut S) -> crivo::Result<()>>(
        &mut self,
        batch: &RowBatch<'_>,
        groups: usize,
        mut change: impl FnMut(usize) -> crivo_rows::Result<Option<C>>,
    ) -> crivo_rows::Result<()> {
        self.find(batch, groups)?;
        for row in 0..self.of_rows.len() {
            let group = self.of_rows[row];
            let Some(change) = change(row)? else { continue };
            if group == NONE {
                self.skipped += 1;
                continue;
            }
            self.groups.update_at(group, change)?;
        }
        self.make_room()
    }

    /// Updates the sketch of each group once for all its rows in the batch, which is faster than
    /// row by row. `rows` are the rows that count. `change` gets the sketch and the positions of
    /// the group's rows in `rows`.
    ///
    /// # Errors
    /// The errors of `change`, and an error if a temporary file cannot be written.
    pub fn add_together(
        &mut self,
        batch: &RowBatch<'_>,
        groups: usize,
        rows: &[usize],
        mut change: impl FnMut(&mut S, &[u32]) -> crivo::Result<()>,
    ) -> crivo_rows::Result<()> {
        self.find(batch, groups)?;
        let mut placed: Vec<(u32, u32)> =
            rows.iter().zip(0..).map(|(&row, place)| (self.of_rows[row], place)).collect();
        placed.sort_unstable();
        let mut places = Vec::with_capacity(placed.len());
        for of_group in placed.chunk_by(|one, other| one.0 == other.0) {
            if of_group[0].0 == NONE {
                self.skipped += of_group.len() as u64;
                continue;
            }
            places.clear();
            places.extend(of_group.iter().map(|(_, place)| *place));
            self.groups.update_at(of_group[0].0, |sketch| change(sketch, &places))?;
        }
        self.make_room()
    }

    /// Writes the groups to the file if they take more than this thread's share of the memory.
    fn make_room(&mut self) -> crivo_rows::Result<()> {
        // Sorting takes 20 bytes a group.
        if self.groups.memory() + 20 * self.groups.len() > self.share {
            self.write_run().map_err(crivo_rows::Error::other)?;
        }
        Ok(())
    }

    /// Writes all groups as a sorted run, and removes them from memory.
    pub(crate) fn write_run(&mut self) -> Result<()> {
        write_run(&mut self.groups, &self.spill, &mut self.runs)
    }

    /// Takes over the groups, the runs and the counts of another worker.
    pub fn join(&mut self, other: Self) {
        self.runs.extend(other.runs);
        self.others.push(other.groups);
        self.others.extend(other.others);
        self.skipped += other.skipped;
        self.bad += other.bad;
    }
}

pub(crate) fn write_run<S: Pane>(
    groups: &mut Groups<S>,
    spill: &Arc<Spill>,
    runs: &mut Vec<Run>,
) -> Result<()> {
    if groups.is_empty() {
        return Ok(());
    }
    let mut writer = RunWriter::new(spill);
    for number in groups.sorted() {
        writer.push(|buffer| Ok(groups.pack(number, buffer)?))?;
    }
    runs.push(writer.finish()?);
    groups.clear();
    Ok(())
}
