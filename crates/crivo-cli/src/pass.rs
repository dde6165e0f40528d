//! One pass over the input, with progress, warnings, and an end at Ctrl-C.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, anyhow, bail};
use crivo::keys::{KeyKind, KeyScheme};
use crivo::sketch::{InsertKeys, Merge};
use crivo_rows::{
    ColumnFilters, Copied, Counts, Folded, Format, Input, Items, Predicate, RowBatch, Scan, Select,
    thread_count,
};

use crate::condition::Condition;
use crate::exact::ExactKeys;
use crate::interrupt::{self, Interrupted};
use crate::output::{self, Meter, Output};
use crate::spool::Spool;

/// The most memory for the states of all threads together.
const MOST_MEMORY: usize = 1 << 30;

/// The input and how to read it.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // options, each with a name of its own
pub(crate) struct Pass {
    pub(crate) input: Input,
    pub(crate) select: Select,
    pub(crate) items: Items,
    /// The condition that rows must satisfy. Other rows are left out.
    pub(crate) condition: Option<Condition>,
    pub(crate) threads: usize,
    /// True if each thread must see the same rows in every run, for sketches that depend on it.
    pub(crate) repeatable: bool,
    /// True if bad records are counted. Otherwise the first one is an error.
    pub(crate) skip_bad: bool,
    /// True if the pass reads until it is interrupted, and answers then.
    pub(crate) follow: bool,
    /// True if row numbers are needed after the pass.
    pub(crate) numbers_rows: bool,
    /// The columns that get their own Parquet filters, if rows are written as Parquet.
    pub(crate) column_filters: Option<ColumnFilters>,
}

impl Pass {
    /// Fails if keys of this scheme cannot be made from the input.
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

    /// Returns the maximum number of items in the counted rows, or `None` if a row may hold
    /// several.
    pub(crate) fn most_items(&self, counts: Counts) -> Option<u64> {
        let is_one_a_row = self.items == Items::Values && !self.select.may_have_elements();
        is_one_a_row.then(|| counts.rows.saturating_sub(counts.skipped + counts.left_out))
    }

    /// Fails if the input cannot be read a second time.
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

    /// Fails if the second pass read another number of rows than the first.
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

    /// Adds a field to read besides the keys. It becomes column 1.
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

    /// Does the same for a sketch of `bytes` bytes, which may be large.
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

    /// Folds every batch into a mergeable state. Each thread has a copy of the state, and the number
    /// of threads is limited so that all copies fit in memory. The last thread to start reuses the
    /// original state instead of a clone.
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

    pub(crate) fn on_threads(&self, threads: usize) -> Self {
        let (input, select, condition) = (self.input.clone(), self.select.clone(), self.condition.clone());
        Self { input, select, condition, threads, column_filters: self.column_filters.clone(), ..*self }
    }

    /// Collects all distinct keys.
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

    /// Folds every batch into a mergeable state.
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

    /// Folds every batch into one state, in input order and on one thread. For states that depend
    /// on the order, or are too large for copies.
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

    /// Does the same as [`fold`](Self::fold), and returns what else is known about the rows.
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
        let folded = self.scan(scheme)?.progress(&meter).fold(make, step, merge)?;
        drop(meter);
        self.check_end(folded.stopped)?;
        for warning in &folded.warnings {
            out.warn(warning);
        }
        Ok(folded)
    }

    /// Copies the rows that the predicate keeps to standard output.
    pub(crate) fn copy(&self, scheme: KeyScheme, out: &Output, predicate: Predicate<'_>) -> Result<Copied> {
        self.run_copy(scheme, out, |scan| Ok(scan.copy_rows(predicate, &mut output::rows())?))
    }

    /// Copies all rows that satisfy the condition, unchanged.
    pub(crate) fn copy_all(
        &self,
        scheme: KeyScheme,
        out: &Output,
        to: &mut (dyn Write + Send),
    ) -> Result<Copied> {
        self.run_copy(scheme, out, |scan| Ok(scan.copy_rows(Predicate::All, to)?))
    }

    /// Writes all rows that satisfy the condition in another format.
    pub(crate) fn convert(
        &self,
        scheme: KeyScheme,
        format: Format,
        out: &Output,
        to: &mut (dyn Write + Send),
    ) -> Result<Copied> {
        let is_inside = |field: &String| field.contains('.') || field.ends_with("[]");
        let asks_inside = self.condition.as_ref().is_some_and(|asked| asked.fields.iter().any(is_inside));
        let Some(from) = self.input.told_format().filter(|from| asks_inside && *from == Format::Jsonl) else {
            return self.run_copy(scheme, out, |scan| Ok(scan.convert_rows(Predicate::All, format, to)?));
        };
        // Fields inside objects are columns only if the user names them. So the rows that satisfy
        // the condition are first copied, then converted.
        let mut copied = None;
        let kept = Spool::of(|to| {
            copied = Some(self.copy_all(scheme, out, to)?);
            Ok(())
        })?;
        let input = Input::file(kept.path()).format(from);
        let scan = self.with_filters(Scan::of(&input).threads(self.threads));
        let converted = scan.convert_rows(Predicate::All, format, to)?;
        Ok(copied.unwrap_or(converted))
    }

    fn run_copy(
        &self,
        scheme: KeyScheme,
        out: &Output,
        copy: impl FnOnce(Scan<'_>) -> Result<Copied>,
    ) -> Result<Copied> {
        interrupt::watch(self.follow);
        let meter = Meter::new(out);
        let copied = copy(self.scan(scheme)?.progress(&meter))?;
        drop(meter);
        self.check_end(copied.stopped)?;
        Ok(copied)
    }

    /// Returns an error if the user stopped a pass that was not followed. A followed one always
    /// ends so, and its answer comes next.
    fn check_end(&self, stopped: bool) -> Result<()> {
        if self.follow {
            interrupt::begin_answer();
        } else if stopped {
            return Err(Interrupted.into());
        }
        Ok(())
    }

    fn with_filters<'a>(&'a self, scan: Scan<'a>) -> Scan<'a> {
        match &self.column_filters {
            None => scan,
            Some(filters) => scan.column_filters(filters),
        }
    }

    /// Returns a scan with these options.
    fn scan(&self, scheme: KeyScheme) -> Result<Scan<'_>> {
        let scan = Scan::of(&self.input)
            .select(self.select.clone())
            .items(self.items)
            .keys(scheme)
            .threads(self.threads)
            .repeatable(self.repeatable)
            .number_rows(self.numbers_rows);
        let scan = self.with_filters(scan);
        match &self.condition {
            None => Ok(scan),
            Some(condition) => scan
                .satisfying(condition)
                .map_err(|_| anyhow!("--where: name the field to take too: -f NAME")),
        }
    }
}
