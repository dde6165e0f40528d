//! Documents that are records in files.

use std::io::Write;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, bail};
use crivo_html::PageText;
use crivo_near::{Documents, Error as NearError, TakeText};
use crivo_rows::{Counts, Edit, Folded, Format, Input, Predicate, Progress, RowBatch, RowId, Scan, Select};

use super::names::{IdReader, IdWriter, not_written};
use super::{CorpusArgs, EditText, ID_FIELD, Id, InputFiles, TEXT_FIELD};
use crate::interrupt::{self, Interrupted};
use crate::output::{Meter, Output, RunStage};
use crate::spool::Spool;

/// The first column of every batch is the text. The second is the id, if there are ids.
const TEXT: usize = 0;
const ID: usize = 1;

/// Records with a text.
pub(crate) struct RowCorpus<'a> {
    input: Input,
    /// Copies of standard input and of pipes, because they are read more than once.
    spools: Vec<Spool>,
    text: Select,
    /// The name of the text field in JSONL, where a record may lack it.
    jsonl_field: Option<String>,
    with_ids: Option<Select>,
    args: &'a CorpusArgs,
    out: &'a Output,
    files: InputFiles,
    /// The number of records before each chunk of the input, counted by the last reading.
    rows_before: Mutex<Vec<u64>>,
    skipped: AtomicU64,
    bytes_read: AtomicU64,
    /// The stage that the progress of the next reading shows.
    stage: Mutex<RunStage>,
}

/// The state of one thread during a reading: the caller's state, and the number of rows in each
/// chunk that the thread has read.
struct ReadingThread<S> {
    state: S,
    page: PageText,
    rows: Vec<(u32, u32)>,
}

impl<S> ReadingThread<S> {
    /// Counts the rows of a batch.
    fn count(&mut self, batch: &RowBatch<'_>) {
        let Some(last) = batch.rows().checked_sub(1) else { return };
        let place = batch.id(last).to_u64();
        let (chunk, rows) = ((place >> 32) as u32, place as u32 + 1);
        match self.rows.last_mut() {
            Some((known, counted)) if *known == chunk => *counted = rows,
            _ => self.rows.push((chunk, rows)),
        }
    }
}

impl<'a> RowCorpus<'a> {
    pub(super) fn new(input: Input, args: &'a CorpusArgs, out: &'a Output) -> Result<Self> {
        let files = InputFiles::of(input.paths().filter(|path| path.is_file()))?;
        let mut spools = Vec::new();
        let mut input = input.with_copies(|path| -> Result<_> {
            let spool = Spool::of_pipe(path)?;
            let copy = spool.path().to_path_buf();
            spools.push(spool);
            Ok(copy)
        })?;
        let mut format = args.layout.format_of_first();
        // The name of a pipe seldom gives its format.
        if !spools.is_empty() && input.told_format().is_none() && begins_with_object(&input) {
            format = Format::Jsonl;
            input = input.format(format);
        }
        let field = match (&args.layout.field, format) {
            (Some(field), _) => Some(field.clone()),
            (None, Format::Lines) => None,
            (None, _) => Some(TEXT_FIELD.to_owned()),
        };
        let text = field.as_ref().map_or(Select::Single, Select::field);
        if let Some(id) = args.id.as_ref().filter(|id| !has_field(&input, id)) {
            bail!("--id {id}: the first record has no such field");
        }
        let with_ids = match (&field, &args.id) {
            (Some(field), Some(id)) => Some(Select::fields([field, id])),
            (Some(field), None) if has_field(&input, ID_FIELD) => {
                Some(Select::fields([field.as_str(), ID_FIELD]))
            }
            (None, Some(id)) => Some(Select::fields(["1", id.as_str()])),
            _ => None,
        };
        let jsonl_field = field.filter(|_| format == Format::Jsonl);
        Ok(Self {
            input,
            spools,
            text,
            jsonl_field,
            with_ids,
            args,
            out,
            files,
            rows_before: Mutex::default(),
            skipped: AtomicU64::new(0),
            bytes_read: AtomicU64::new(0),
            stage: Mutex::default(),
        })
    }

    /// Sets the stage that the progress of the next readings shows.
    pub(super) fn set_stage(&self, stage: impl Into<RunStage>) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage.into();
    }

    fn meter(&self) -> Meter {
        Meter::of_stage(*self.stage.lock().unwrap_or_else(PoisonError::into_inner), self.out)
    }

    /// Returns the number of a record, counted from 1 by the last reading.
    pub(super) fn record_number(&self, place: u64) -> Option<u64> {
        let rows_before = self.rows_before.lock().unwrap_or_else(PoisonError::into_inner);
        Some(rows_before.get((place >> 32) as usize)? + u64::from(place as u32) + 1)
    }

    /// Returns true if all records have been read at least once.
    pub(super) fn has_read(&self) -> bool {
        !self.rows_before.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Estimates the number of records from the size of the files and the records in the first 64
    /// KiB. Compressed files have more.
    pub(super) fn estimated_records(&self) -> u64 {
        let scan = Scan::of(&self.input).select(Select::Row).threads(1).chunk_size(64 << 10);
        let first = scan.progress(&OnlyTheFirst).fold(
            || (0_u64, 0_u64),
            |(rows, bytes), batch| {
                *rows += batch.rows() as u64;
                *bytes += batch.column(0).iter().flatten().map(|row| row.len() as u64 + 1).sum::<u64>();
                Ok(())
            },
            |(rows, bytes), (more_rows, more_bytes)| {
                *rows += more_rows;
                *bytes += more_bytes;
                Ok(())
            },
        );
        let (rows, bytes) = first.map_or((0, 0), |folded| folded.state);
        (u128::from(self.files.bytes()) * u128::from(rows) / u128::from(bytes.max(1))) as u64
    }

    /// Returns the files as they were at the beginning, or `None` if the input includes a pipe or
    /// standard input.
    pub(super) fn files(&self) -> Option<&InputFiles> {
        self.spools.is_empty().then_some(&self.files)
    }

    /// The bytes read so far, over all readings.
    pub(super) fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// Adds the bytes of a reading to the total, and checks that no file has changed in the
    /// meantime.
    fn finish_reading(&self, counts: Counts) -> Result<()> {
        self.bytes_read.fetch_add(counts.bytes, Ordering::Relaxed);
        self.files.check()
    }

    /// Writes the ids of the wanted documents to disk. Returns `None` if documents are named by
    /// their number.
    pub(super) fn id_file(&self, wanted: &(dyn Fn(u64) -> bool + Sync)) -> Result<Option<IdReader>> {
        let Some(select) = &self.with_ids else { return Ok(None) };
        let writer = IdWriter::new()?;
        let meter = self.meter();
        let needed = |id: RowId| wanted(id.to_u64());
        let scan = Scan::of(&self.input).select(select.clone()).threads(self.args.threads()).progress(&meter);
        let scan = scan.values_of(&needed);
        let folded = scan.fold(
            Vec::new,
            |ids: &mut Vec<Id>, batch| {
                ids.clear();
                collect_ids(batch, wanted, ids)?;
                writer.add(ids).map_err(|error| batch.error(0, not_written(&error)))
            },
            |_, _| Ok(()),
        )?;
        if folded.stopped {
            return Err(Interrupted.into());
        }
        self.finish_reading(folded.counts)?;
        writer.finish().map(Some)
    }

    pub(super) fn skipped(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }

    /// Returns the ids of the wanted documents, or `None` if documents are named by their number.
    pub(super) fn ids(&self, wanted: &(dyn Fn(u64) -> bool + Sync)) -> Result<Option<Vec<Id>>> {
        let Some(select) = &self.with_ids else { return Ok(None) };
        let meter = self.meter();
        let needed = |id: RowId| wanted(id.to_u64());
        let scan = Scan::of(&self.input).select(select.clone()).threads(self.args.threads()).progress(&meter);
        let scan = scan.values_of(&needed);
        let folded = scan.fold(
            Vec::new,
            |ids: &mut Vec<Id>, batch| collect_ids(batch, wanted, ids),
            |ids, mut others| {
                ids.append(&mut others);
                Ok(())
            },
        )?;
        if folded.stopped {
            return Err(Interrupted.into());
        }
        let mut ids = folded.state;
        ids.sort_unstable();
        Ok(Some(ids))
    }

    /// Returns the format of the records, if an option or the name of the first file gives it.
    pub(super) fn format(&self) -> Option<Format> {
        self.input.told_format()
    }

    pub(super) fn copy(
        &self,
        keep: &(dyn Fn(u64) -> bool + Sync),
        format: Option<Format>,
        to: &mut (dyn Write + Send),
    ) -> Result<()> {
        let meter = self.meter();
        let scan =
            Scan::of(&self.input).select(self.text.clone()).threads(self.args.threads()).progress(&meter);
        let stays = |batch: &mut RowBatch<'_>, kept: &mut [bool]| {
            kept.iter_mut().enumerate().for_each(|(row, kept)| *kept = keep(batch.id(row).to_u64()));
            Ok(())
        };
        let copied = match format {
            // Earlier readings have decided which records are kept.
            None => scan.values_of(&|_| false).copy_rows(Predicate::Each(&stays), to)?,
            Some(format) => scan.convert_rows(Predicate::Each(&stays), format, to)?,
        };
        if copied.stopped { Err(Interrupted.into()) } else { self.finish_reading(copied.counts) }
    }

    /// Writes the records in their order, unchanged or in another format, some of them with another
    /// text. Records whose place is not wanted stay as they are. `edit` is not necessarily called
    /// for them.
    pub(super) fn edit(
        &self,
        wanted: &(dyn Fn(u64) -> bool + Sync),
        edit: &EditText<'_>,
        format: Option<Format>,
        to: &mut (dyn Write + Send),
    ) -> Result<()> {
        let Some(format) = format else { return self.edit_as_they_stand(wanted, edit, to) };
        // A text may be a field inside an object, and only JSONL can hold such a field. So records
        // are first edited in their own format, then converted.
        let edited = Spool::of(|to| self.edit_as_they_stand(wanted, edit, to))?;
        let input = Input::file(edited.path()).format(self.format().unwrap_or(Format::Lines));
        let input = self.args.layout.laid_out(input)?;
        let meter = self.meter();
        let scan = Scan::of(&input).threads(self.args.threads()).progress(&meter);
        let converted = scan.convert_rows(Predicate::All, format, to)?;
        if converted.stopped { Err(Interrupted.into()) } else { Ok(()) }
    }

    fn edit_as_they_stand(
        &self,
        wanted: &(dyn Fn(u64) -> bool + Sync),
        edit: &EditText<'_>,
        to: &mut (dyn Write + Send),
    ) -> Result<()> {
        let meter = self.meter();
        let needed = |id: RowId| wanted(id.to_u64());
        let scan =
            Scan::of(&self.input).select(self.text.clone()).threads(self.args.threads()).progress(&meter);
        let scan = scan.values_of(&needed);
        let edited = scan.edit_rows(
            &|batch, row, new| {
                let text = batch.value(TEXT, row).unwrap_or_default();
                if text.is_empty() {
                    return Ok(Edit::Keep);
                }
                edit(batch.id(row).to_u64(), text, new)
                    .map_err(|error| batch.error(row, format_args!("{error:#}")))
            },
            to,
        )?;
        if edited.stopped { Err(Interrupted.into()) } else { self.finish_reading(edited.counts) }
    }

    /// Returns true if a JSONL record lacks the text field, because the user may have misspelt its
    /// name. An empty text or a null makes the record no document, but is no error.
    fn lacks_text(&self, batch: &RowBatch<'_>, row: usize) -> bool {
        let (Some(field), Some(record)) = (&self.jsonl_field, batch.record(row)) else { return false };
        let Ok(serde_json::Value::Object(object)) = serde_json::from_slice(record) else { return false };
        let mut found = object.get(field);
        if found.is_none() {
            let mut parts = field.split('.');
            found = parts.next().and_then(|first| object.get(first));
            found = parts.fold(found, |found, part| found.and_then(|value| value.get(part)));
        }
        found.is_none()
    }
}

impl Documents for RowCorpus<'_> {
    fn read<S: Send>(
        &self,
        make: &(dyn Fn() -> S + Sync),
        take: &TakeText<'_, S>,
    ) -> crivo_near::Result<Vec<S>> {
        interrupt::watch(false);
        self.skipped.store(0, Ordering::Relaxed);
        let failure = Mutex::new(None);
        let meter = self.meter();
        let scan =
            Scan::of(&self.input).select(self.text.clone()).threads(self.args.threads()).progress(&meter);
        let folded = scan.fold(
            || vec![ReadingThread { state: make(), page: PageText::default(), rows: Vec::new() }],
            |threads, batch| {
                let Some(thread) = threads.first_mut() else { return Ok(()) };
                thread.count(batch);
                for row in 0..batch.rows() {
                    let text = batch.value(TEXT, row).unwrap_or_default();
                    if text.is_empty() && !self.args.layout.skip_bad && self.lacks_text(batch, row) {
                        let field = self.jsonl_field.as_deref().unwrap_or(TEXT_FIELD);
                        return Err(batch.error(row, format_args!("no text in field {field:?}: name another with --field, or leave such records out with --skip-bad")));
                    }
                    let text = if self.args.html { thread.page.of(text) } else { text };
                    if text.is_empty() {
                        self.skipped.fetch_add(1, Ordering::Relaxed);
                        continue;
                    }
                    if let Err(error) = take(&mut thread.state, batch.id(row).to_u64(), text) {
                        let told = batch.error(row, &error);
                        *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                        return Err(told);
                    }
                }
                Ok(())
            },
            |threads, mut others| {
                threads.append(&mut others);
                Ok(())
            },
        );
        match folded {
            Ok(Folded { stopped: true, .. }) => Err(NearError::Stopped),
            Ok(Folded { state: threads, counts, warnings, .. }) => {
                self.skipped.fetch_add(counts.bad, Ordering::Relaxed);
                warnings.iter().for_each(|warning| self.out.warn(warning));
                self.finish_reading(counts).map_err(|error| NearError::Documents(error.into()))?;
                let mut rows: Vec<_> =
                    threads.iter().flat_map(|thread| thread.rows.iter().copied()).collect();
                rows.sort_unstable();
                let mut before = Vec::with_capacity(rows.len());
                let mut count = 0;
                for (chunk, rows) in rows {
                    before.resize(chunk as usize + 1, count);
                    count += u64::from(rows);
                }
                *self.rows_before.lock().unwrap_or_else(PoisonError::into_inner) = before;
                Ok(threads.into_iter().map(|thread| thread.state).collect())
            }
            Err(error) => Err(match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
                Some(error) => error,
                None => NearError::Documents(Box::new(error)),
            }),
        }
    }
}

/// Appends the ids of the wanted records of a batch.
fn collect_ids(
    batch: &RowBatch<'_>,
    wanted: &(dyn Fn(u64) -> bool + Sync),
    ids: &mut Vec<Id>,
) -> crivo_rows::Result<()> {
    for row in 0..batch.rows() {
        let place = batch.id(row).to_u64();
        if wanted(place) {
            let id = batch.value(ID, row).ok_or_else(|| batch.error(row, "the record has no id"))?;
            ids.push((place, one_line(id)));
        }
    }
    Ok(())
}

/// Returns true if the first line is a JSON object, which means that the input is JSONL.
fn begins_with_object(input: &Input) -> bool {
    let first = first_record(&input.clone().format(Format::Lines)).unwrap_or_default();
    serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(&first).is_ok()
}

/// Replaces tabs and line ends by spaces, because ids are printed in lines with tabs between
/// columns.
fn one_line(id: &[u8]) -> Vec<u8> {
    id.iter().map(|&byte| if matches!(byte, b'\t' | b'\n' | b'\r') { b' ' } else { byte }).collect()
}

/// Returns true if the first record has a field.
fn has_field(input: &Input, field: &str) -> bool {
    of_first(input, Select::field(field)).is_some()
}

/// Returns the first record unchanged.
pub(crate) fn first_record(input: &Input) -> Option<Vec<u8>> {
    of_first(input, Select::Row)
}

/// Returns the selected part of the first record, or `None` if it is missing or cannot be read.
fn of_first(input: &Input, wanted: Select) -> Option<Vec<u8>> {
    input.first_record(wanted).ok().flatten()?.into_iter().next().flatten()
}

/// Stops a pass after its first chunk, which is enough to estimate the number of records.
struct OnlyTheFirst;

impl Progress for OnlyTheFirst {
    fn advance(&self, read: u64, _: Option<u64>) -> ControlFlow<()> {
        if read > 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
