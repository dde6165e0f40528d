//! One pass over the input, ready to run: with progress, warnings, and an end at Ctrl-C.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, anyhow, bail};
use crivo::keys::{KeyKind, KeyScheme};
use crivo::sketch::{InsertKeys, Merge};
use crivo_near::thread_count;
use crivo_rows::{Copied, Counts, Folded, Format, Input, Items, Predicate, RowBatch, Scan, Select};

use crate::condition::Condition;
use crate::exact::ExactKeys;
use crate::interrupt::{self, Interrupted};
use crate::output::{self, Meter, Output};

/// What the states of all threads together should not exceed.
const MOST_MEMORY: usize = 1 << 30;

/// The input and how to read it.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // options, each with a name of its own
pub(crate) struct Pass {
    pub(crate) input: Input,
    pub(crate) select: Select,
    pub(crate) items: Items,
    /// Which rows count; the others are left out.
    pub(crate) condition: Option<Condition>,
    pub(crate) threads: usize,
    /// Whether the same threads must see the same rows every time: for sketches that depend on it.
    pub(crate) repeatable: bool,
    /// Whether bad records are counted instead of stopping at the first.
    pub(crate) skip_bad: bool,
    /// Whether the pass goes on until it is interrupted, and answers then.
    pub(crate) follow: bool,
    /// Whether the numbers of rows are asked for afterwards.
    pub(crate) numbers_rows: bool,
}

impl Pass {
    /// Makes sure that keys of this kind can be made of the input.
    pub(crate) fn require_keys(&self, scheme: KeyScheme) -> Result<()> {
        match (scheme.kind(), self.items) {
            (KeyKind::Integer, Items::Words(_)) => {
                bail!("--words: words are text, and the keys are integers")
            }
            (KeyKind::Hash, _) => {
                bail!("the sketch holds hashes that its maker computed; rows cannot be added to it")
            }
            _ => Ok(()),
        }
    }

    /// Makes sure that the input can be read a second time.
    pub(crate) fn require_twice(&self, why: &str) -> Result<()> {
        if self.input.is_rereadable() {
            return Ok(());
        }
        if self.follow {
            bail!("{why} reads the input twice, and with --follow it never ends: leave one of them out");
        }
        bail!(
            "{why} reads the input twice, and standard input or a pipe can be read only once: \
             save it to a file first"
        )
    }

    /// Refuses a second pass that saw other rows than the first.
    pub(crate) fn require_same(first: Counts, second: Counts) -> Result<()> {
        let records = |counts: Counts| counts.rows + counts.bad;
        if records(first) == records(second) {
            return Ok(());
        }
        bail!(
            "the input changed between the passes ({} rows, then {})",
            output::count(records(first)),
            output::count(records(second))
        )
    }

    /// Reads another field beside the one with the keys; it is column 1 then.
    pub(crate) fn read_beside(&mut self, field: &str, option: &str) -> Result<()> {
        match &mut self.select {
            Select::Fields(fields) => {
                fields.push(field.into());
                Ok(())
            }
            _ => bail!("{option} {field}: name the field with the keys too: -f NAME"),
        }
    }

    /// Adds the keys of every row to a small sketch that begins as `empty`.
    pub(crate) fn sketch<S>(&self, empty: &S, scheme: KeyScheme, out: &Output) -> Result<(S, Counts)>
    where
        S: InsertKeys + Merge + Clone + Send,
    {
        self.sketch_of_size(empty.clone(), 0, scheme, out)
    }

    /// The same for a sketch of so many bytes, which may be large.
    pub(crate) fn sketch_of_size<S>(
        &self,
        empty: S,
        bytes: usize,
        scheme: KeyScheme,
        out: &Output,
    ) -> Result<(S, Counts)>
    where
        S: InsertKeys + Merge + Clone + Send,
    {
        self.fold_copies(
            scheme,
            out,
            (empty, bytes),
            |sketch, batch| Ok(sketch.insert_batch(&batch.keys(0)?)?),
            |sketch, other| Ok(sketch.merge(&other)?),
        )
    }

    /// Every batch into a state that merges, of which each thread has a copy: of a state of so many bytes no
    /// more threads than there is room for, and the last to begin takes the original.
    pub(crate) fn fold_copies<S: Clone + Send>(
        &self,
        scheme: KeyScheme,
        out: &Output,
        (start, bytes): (S, usize),
        step: impl Fn(&mut S, &mut RowBatch<'_>) -> crivo_rows::Result<()> + Sync,
        mut merge: impl FnMut(&mut S, S) -> crivo_rows::Result<()>,
    ) -> Result<(S, Counts)> {
        let threads = thread_count(self.threads).min(MOST_MEMORY / bytes.max(1)).max(1);
        let original = Mutex::new((threads, Some(start)));
        let begin = || {
            let mut original = original.lock().unwrap_or_else(PoisonError::into_inner);
            original.0 = original.0.saturating_sub(1);
            if original.0 == 0 { original.1.take() } else { original.1.clone() }
        };
        let (state, counts) = self.on_threads(threads).fold(
            scheme,
            out,
            begin,
            |state, batch| state.as_mut().map_or(Ok(()), |state| step(state, batch)),
            |state, other| match (state, other) {
                (Some(state), Some(other)) => merge(state, other),
                _ => Ok(()),
            },
        )?;
        Ok((state.ok_or_else(|| anyhow!("the pass has no state"))?, counts))
    }

    fn on_threads(&self, threads: usize) -> Self {
        let (input, select, condition) = (self.input.clone(), self.select.clone(), self.condition.clone());
        Self { input, select, condition, threads, ..*self }
    }

    /// Collects every different key.
    pub(crate) fn exact(&self, scheme: KeyScheme, out: &Output) -> Result<(ExactKeys, Counts)> {
        self.fold(
            scheme,
            out,
            ExactKeys::default,
            |keys, batch| {
                keys.insert_batch(&batch.keys(0)?);
                Ok(())
            },
            |keys, other| {
                keys.merge(other);
                Ok(())
            },
        )
    }

    /// Every batch into a state that merges.
    pub(crate) fn fold<S: Send>(
        &self,
        scheme: KeyScheme,
        out: &Output,
        make: impl Fn() -> S + Sync,
        step: impl Fn(&mut S, &mut RowBatch<'_>) -> crivo_rows::Result<()> + Sync,
        merge: impl FnMut(&mut S, S) -> crivo_rows::Result<()>,
    ) -> Result<(S, Counts)> {
        let folded = self.fold_rows(scheme, out, make, step, merge)?;
        Ok((folded.state, folded.counts))
    }

    /// Every batch, in input order and on one thread, into one state: for what depends on the order, or is
    /// too large to have twice.
    pub(crate) fn fold_in_order<S: Send>(
        &self,
        scheme: KeyScheme,
        out: &Output,
        start: S,
        step: impl Fn(&mut S, &mut RowBatch<'_>) -> crivo_rows::Result<()> + Sync,
    ) -> Result<(S, Counts)> {
        let start = Mutex::new(Some(start));
        let (state, counts) = self.on_threads(1).fold(
            scheme,
            out,
            || start.lock().unwrap_or_else(PoisonError::into_inner).take(),
            |state, batch| state.as_mut().map_or(Ok(()), |state| step(state, batch)),
            |_, _| Ok(()),
        )?;
        Ok((state.ok_or_else(|| anyhow!("the pass has no state"))?, counts))
    }

    /// The same, with what is known about the rows.
    pub(crate) fn fold_rows<S: Send>(
        &self,
        scheme: KeyScheme,
        out: &Output,
        make: impl Fn() -> S + Sync,
        step: impl Fn(&mut S, &mut RowBatch<'_>) -> crivo_rows::Result<()> + Sync,
        merge: impl FnMut(&mut S, S) -> crivo_rows::Result<()>,
    ) -> Result<Folded<S>> {
        interrupt::watch(self.follow);
        let meter = Meter::new(out);
        let folded = self.with_scan(scheme, |scan| Ok(scan.progress(&meter).fold(make, step, merge)?))?;
        drop(meter);
        if folded.stopped && !self.follow {
            return Err(Interrupted.into());
        }
        for warning in &folded.warnings {
            out.warn(warning);
        }
        Ok(folded)
    }

    /// The rows that the predicate keeps, to standard output.
    pub(crate) fn copy(&self, scheme: KeyScheme, out: &Output, predicate: Predicate<'_>) -> Result<Copied> {
        self.run_copy(scheme, out, |scan| Ok(scan.copy_rows(predicate, &mut output::rows())?))
    }

    /// All rows that satisfy the condition, as they stand.
    pub(crate) fn copy_all(
        &self,
        scheme: KeyScheme,
        out: &Output,
        to: &mut (dyn Write + Send),
    ) -> Result<Copied> {
        self.run_copy(scheme, out, |scan| {
            let all = |_: &mut RowBatch<'_>, keep: &mut [bool]| {
                keep.fill(true);
                Ok(())
            };
            Ok(scan.copy_rows(Predicate::Each(&all), to)?)
        })
    }

    /// All rows that satisfy the condition, in another format. All fields have to be selected.
    pub(crate) fn convert(
        &self,
        scheme: KeyScheme,
        format: Format,
        out: &Output,
        to: &mut (dyn Write + Send),
    ) -> Result<Copied> {
        self.run_copy(scheme, out, |scan| {
            let all = |_: &mut RowBatch<'_>, keep: &mut [bool]| {
                keep.fill(true);
                Ok(())
            };
            Ok(scan.convert_rows(&all, format, to)?)
        })
    }

    fn run_copy(
        &self,
        scheme: KeyScheme,
        out: &Output,
        copy: impl FnOnce(Scan<'_>) -> Result<Copied>,
    ) -> Result<Copied> {
        interrupt::watch(self.follow);
        let meter = Meter::new(out);
        let copied = self.with_scan(scheme, |scan| copy(scan.progress(&meter)))?;
        drop(meter);
        if copied.stopped && !self.follow {
            return Err(Interrupted.into());
        }
        Ok(copied)
    }

    /// The scan of this pass, for as long as its filter lives.
    fn with_scan<T>(&self, scheme: KeyScheme, run: impl FnOnce(Scan<'_>) -> Result<T>) -> Result<T> {
        let scan = Scan::of(&self.input)
            .items(self.items)
            .keys(scheme)
            .threads(self.threads)
            .repeatable(self.repeatable)
            .number_rows(self.numbers_rows);
        let Some(condition) = &self.condition else { return run(scan.select(self.select.clone())) };
        let (select, first) = match &self.select {
            Select::Fields(fields) => {
                (Select::fields(fields.iter().chain(&condition.fields).cloned()), fields.len())
            }
            Select::All => {
                return run(scan.select(Select::All).only(&|batch, flags| condition.ask_named(batch, flags)));
            }
            other if condition.fields.is_empty() => (other.clone(), 0),
            _ => bail!("--where: name the field to take too: -f NAME"),
        };
        run(scan.select(select).only(&|batch, flags| {
            condition.ask(batch, |field| Some(first + field), flags);
            Ok(())
        }))
    }
}
