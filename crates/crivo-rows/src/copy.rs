// This file is long because the formats share the steps of a copy.

//! The second primitive: writes the records that a predicate keeps, unchanged and in input order.
//!
//! Threads judge chunks in any order, but write them in turn. A predicate that depends on earlier
//! records waits for its turn before it judges.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use crivo::keys::Span;

use crate::batch::{RowBatch, with_line_end};
use crate::edit::{Edit, push_replaced};
use crate::error::{Error, ErrorKind, Result};
use crate::feed::{Task, Work};
use crate::filters::ColumnFilters;
use crate::input::Format;
use crate::keyer::Items;
use crate::layout::Layout;
use crate::parquet::{ParquetCopy, ParquetFile, with_column};
use crate::scan::{Counts, Scan};
use crate::schedule::{OnPanic, Shared, WorkerNumber, lock, on_threads};
use crate::turns::Turns;
use crate::worker::Worker;

/// Judges each record by itself, and sets `keep[row]` for the records to keep.
pub type EachPredicate<'p> = dyn Fn(&mut RowBatch<'_>, &mut [bool]) -> Result<()> + Sync + 'p;
type HashPredicate<'p> = dyn FnMut(&[u64], &mut Vec<bool>) + Send + 'p;
type EditRow<'p> = dyn Fn(&RowBatch<'_>, usize, &mut Vec<u8>) -> Result<Edit> + Sync + 'p;
type InOrderPredicate<'p> = dyn FnMut(&mut RowBatch<'_>, &mut [bool]) -> Result<()> + Send + 'p;

/// Decides which records to keep. It sets `keep[row]` for the records of the batch. All flags begin
/// as false.
pub enum Predicate<'p> {
    /// Keeps all records of the scan.
    All,
    /// Judges each record by itself, on all threads.
    Each(&'p EachPredicate<'p>),
    /// Gets the batches one after the other in input order, because its decisions depend on earlier
    /// records.
    InOrder(&'p mut InOrderPredicate<'p>),
    /// Gets the hashes of the first column, many at a time in input order. It replaces the flags by
    /// one for each hash, which says whether to keep the record. All threads parse and hash; only
    /// the decision waits for its turn. Records without a value are always kept.
    Hashes(&'p mut HashPredicate<'p>),
}

/// The result of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Copied {
    /// What was read.
    pub counts: Counts,
    /// The number of records that were written.
    pub kept: u64,
    /// Whether the progress hook stopped the pass before its end.
    pub stopped: bool,
}

/// A predicate that threads can share.
enum Judge<'p> {
    All,
    Each(&'p EachPredicate<'p>),
    InOrder(Mutex<&'p mut InOrderPredicate<'p>>),
    Hashes(Mutex<&'p mut HashPredicate<'p>>),
    Edits(&'p EditRow<'p>),
}

impl Judge<'_> {
    fn judge(&self, batch: &mut RowBatch<'_>, keep: &mut [bool]) -> Result<()> {
        match self {
            Self::All => {
                keep.fill(true);
                Ok(())
            }
            Self::Each(predicate) => predicate(batch, keep),
            Self::InOrder(predicate) => lock(predicate)(batch, keep),
            // `KeptRecords` applies edits record by record, when it collects the output.
            Self::Edits(_) => Ok(()),
            Self::Hashes(predicate) => {
                let (mut hashes, mut rows) = (Vec::new(), Vec::new());
                hashes_of_rows(batch, |row, hash| match hash {
                    Some(hash) => {
                        hashes.push(hash);
                        rows.push(row);
                    }
                    None => keep[row] = true,
                })?;
                let mut flags = Vec::new();
                lock(predicate)(&hashes, &mut flags);
                rows.into_iter().zip(flags).for_each(|(row, flag)| keep[row] = flag);
                Ok(())
            }
        }
    }
}

/// Passes each row with the hash of its value to `each`, or with `None` if it has no value. Records
/// whose value cannot be a key are left out.
fn hashes_of_rows(batch: &mut RowBatch<'_>, mut each: impl FnMut(usize, Option<u64>)) -> Result<()> {
    if batch.has_elements(0) {
        return Err(batch.error(0, "records are told apart by one value, not by the elements of an array"));
    }
    let (rows, values) = (batch.rows(), batch.column(0));
    let found = batch.keys_with_rows(0)?;
    let mut keyed = found.rows.iter().zip(found.keys.hashes()).peekable();
    for row in 0..rows {
        match keyed.next_if(|(at, _)| **at as usize == row) {
            Some((_, &hash)) => each(row, Some(hash)),
            None if values.get(row).is_none() => each(row, None),
            None => {}
        }
    }
    Ok(())
}

impl Scan<'_> {
    /// Writes the records that the predicate keeps, byte for byte and in input order, after the
    /// first file's header. A record keeps its own line end. A line end is added only if a file
    /// ends without one and another record follows.
    ///
    /// Text files must have the same format, and the same header if they have one. Rows of Parquet
    /// files are written as one Parquet file, one row group after the other: all columns, with the
    /// types, schema and codec of the first file. Text and Parquet cannot be mixed.
    ///
    /// # Errors
    /// The first error in input order, of reading, parsing, the predicate or writing. The output up
    /// to the error stays written. Callers that need all or nothing write to a temporary file.
    ///
    /// ```
    /// use crivo_rows::{Input, Predicate, Scan, Select};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("sales.csv");
    /// std::fs::write(&path, "user,amount\nana,1\n\"rui\",2\nana,3")?;
    /// let input = Input::file(&path);
    /// let mut output = Vec::new();
    /// let copied = Scan::of(&input).select(Select::field("user")).copy_rows(
    ///     Predicate::Each(&|batch, keep| {
    ///         let users = batch.column(0);
    ///         users.iter().zip(keep).for_each(|(user, keep)| *keep = user == Some(b"rui"));
    ///         Ok(())
    ///     }),
    ///     &mut output,
    /// )?;
    /// assert_eq!(output, b"user,amount\n\"rui\",2\n");
    /// assert_eq!((copied.kept, copied.counts.rows), (1, 3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn copy_rows(&self, predicate: Predicate<'_>, output: &mut (dyn Write + Send)) -> Result<Copied> {
        let judge = match predicate {
            Predicate::All => Judge::All,
            Predicate::Each(predicate) => Judge::Each(predicate),
            Predicate::InOrder(predicate) => Judge::InOrder(Mutex::new(predicate)),
            Predicate::Hashes(_) if self.items != Items::Values => {
                let message = "records are told apart by their values, not by the words in them";
                return Err(Error::new(ErrorKind::InvalidOption, message));
            }
            Predicate::Hashes(predicate) => Judge::Hashes(Mutex::new(predicate)),
        };
        self.copy_judged(&judge, output)
    }

    /// Writes records in input order like [`copy_rows`](Self::copy_rows), and replaces the value of
    /// the first column in some of them. `edit` gets each record, by batch and row. It appends the
    /// new value if it returns [`Edit::Replace`].
    ///
    /// # Errors
    /// The errors of [`copy_rows`](Self::copy_rows). It is also an error if the value cannot be
    /// replaced, because fields are separated by blanks, or the Parquet column is not text.
    pub fn edit_rows(&self, edit: &EditRow<'_>, output: &mut (dyn Write + Send)) -> Result<Copied> {
        self.copy_judged(&Judge::Edits(edit), output)
    }

    fn copy_judged(&self, judge: &Judge<'_>, output: &mut (dyn Write + Send)) -> Result<Copied> {
        self.check()?;
        let workers = self.thread_count();
        let shared = Shared::new(self);
        let writer = TurnWriter::new(output, self.column_filters);
        let work = |number: WorkerNumber| {
            let _guard = OnPanic(|| {
                shared.stop();
                writer.turns.give_up();
            });
            let mut worker = Worker::new(self);
            let mut kept = KeptRecords::default();
            while let Some(work) = shared.claim(number, &mut worker.chunk) {
                match copy_chunk(&mut worker, &work, judge, &writer, &mut kept) {
                    Ok(lines) => shared.finish(&work, lines, 0),
                    Err(error) => {
                        writer.turns.abort(work.sequence);
                        shared.fail(&work, error);
                    }
                }
            }
            (kept.count, worker.counts())
        };
        let parts = on_threads(workers, work);
        let (feed, counts) = shared.conclude(parts.iter().map(|(_, counts)| *counts))?;
        let kept = parts.iter().map(|(kept, _)| kept).sum();
        writer.finish(feed.rowless.as_deref())?;
        Ok(Copied { counts, kept, stopped: feed.stopped })
    }
}

fn copy_chunk(
    worker: &mut Worker<'_>,
    work: &Work,
    judge: &Judge<'_>,
    writer: &TurnWriter<'_>,
    kept: &mut KeptRecords,
) -> Result<u64> {
    let in_order = matches!(judge, Judge::InOrder(_)) || matches!(work.task, Task::RowGroup(..));
    if in_order && !writer.turns.wait_for(work.sequence) {
        return Ok(0);
    }
    match &work.task {
        Task::Text(layout) => {
            kept.bytes.clear();
            if let Judge::Hashes(predicate) = judge {
                return copy_by_hash(worker, work, layout, predicate, writer, kept);
            }
            let lines = worker.run(work, &mut |batch| {
                if let Judge::Edits(edit) = judge {
                    return kept.edit(batch, layout, *edit);
                }
                kept.judge(batch, judge)?;
                kept.take(batch);
                Ok(())
            })?;
            writer.write(work, layout, &kept.bytes)?;
            Ok(lines)
        }
        // Rows are written as soon as they are judged, because a row group can be larger than
        // memory.
        Task::RowGroup(file, group) => {
            let blocks = file.all_columns()?;
            let mut whole = file.read_whole(&blocks, *group)?;
            let text = file.chosen.columns.first().and_then(|&column| file.chosen.fields.get(column));
            let lines = worker.run(work, &mut |batch| {
                if let Judge::Edits(edit) = judge {
                    let values = kept.edit_values(batch, *edit)?;
                    let rows = whole.next(batch.records)?;
                    let rows = with_column(&rows, text.copied().unwrap_or(usize::MAX), &values, &file.file)?;
                    return lock(&writer.state).parquet(file)?.write(file, &rows, kept.flags.clone());
                }
                kept.judge(batch, judge)?;
                kept.count += kept.flags.iter().filter(|keep| **keep).count() as u64;
                let rows = whole.next(batch.records)?;
                lock(&writer.state).parquet(file)?.write(file, &rows, batch.unfiltered(&kept.flags))
            })?;
            // If the row group has no rows, nothing has been written yet.
            lock(&writer.state).first_parquet.get_or_insert_with(|| Arc::clone(file));
            writer.turns.end();
            Ok(lines)
        }
    }
}

/// Parses and hashes the chunk, waits for its turn, and then calls the predicate.
fn copy_by_hash(
    worker: &mut Worker<'_>,
    work: &Work,
    layout: &Layout,
    predicate: &Mutex<&mut HashPredicate<'_>>,
    writer: &TurnWriter<'_>,
    kept: &mut KeptRecords,
) -> Result<u64> {
    let KeptRecords { flags, hashes, lines, bytes, count } = kept;
    hashes.clear();
    lines.clear();
    let parsed = worker.run(work, &mut |batch| {
        let records = &batch.table.records;
        hashes_of_rows(batch, |row, hash| {
            hashes.extend(hash);
            lines.push((records[row], hash.is_some()));
        })
    })?;
    if !writer.turns.wait_for(work.sequence) {
        return Ok(0);
    }
    lock(predicate)(hashes, flags);
    let chunk = worker.chunk.bytes();
    let limit = worker.chunk.end - usize::from(worker.chunk.newline_added);
    let mut answers = flags.iter().copied();
    for (line, has_value) in lines {
        if !*has_value || answers.next().unwrap_or(false) {
            bytes.extend_from_slice(with_line_end(chunk, line.range(), limit));
            *count += 1;
        }
    }
    writer.write(work, layout, bytes)?;
    Ok(parsed)
}

/// The kept records of a chunk.
#[derive(Default)]
struct KeptRecords {
    flags: Vec<bool>,
    /// For a predicate on hashes: the hashes of the chunk, and its records with whether each has a
    /// hash.
    hashes: Vec<u64>,
    lines: Vec<(Span, bool)>,
    bytes: Vec<u8>,
    count: u64,
}

impl KeptRecords {
    fn judge(&mut self, batch: &mut RowBatch<'_>, judge: &Judge<'_>) -> Result<()> {
        self.flags.clear();
        self.flags.resize(batch.rows(), false);
        judge.judge(batch, &mut self.flags)
    }

    /// Appends the edited records of a batch of text.
    fn edit(&mut self, batch: &RowBatch<'_>, layout: &Layout, edit: &EditRow<'_>) -> Result<()> {
        let mut value = Vec::new();
        for row in 0..batch.rows() {
            value.clear();
            let line = batch.line(row).unwrap_or_default();
            match edit(batch, row, &mut value)? {
                Edit::Drop => continue,
                Edit::Keep => self.bytes.extend_from_slice(line),
                Edit::Replace => {
                    let record = batch.record(row).unwrap_or_default();
                    push_replaced(record, layout, &value, &mut self.bytes)?;
                    self.bytes.extend_from_slice(&line[record.len()..]);
                }
            }
            self.count += 1;
        }
        Ok(())
    }

    /// Flags the records of a batch to keep, and returns the replaced values. Both have an entry
    /// for each record, those that the filter left out included.
    fn edit_values(&mut self, batch: &RowBatch<'_>, edit: &EditRow<'_>) -> Result<Vec<Option<Vec<u8>>>> {
        self.flags.clear();
        self.flags.resize(batch.records, false);
        let mut values = vec![None; batch.records];
        for row in 0..batch.rows() {
            let (mut value, record) = (Vec::new(), batch.record_number(row));
            let edited = edit(batch, row, &mut value)?;
            self.flags[record] = edited != Edit::Drop;
            values[record] = (edited == Edit::Replace).then_some(value);
        }
        self.count += self.flags.iter().filter(|keep| **keep).count() as u64;
        Ok(values)
    }

    /// Appends the flagged records with their line ends, except a line end that the file does not
    /// have.
    fn take(&mut self, batch: &RowBatch<'_>) {
        for (row, _) in self.flags.iter().enumerate().filter(|(_, keep)| **keep) {
            self.bytes.extend_from_slice(batch.line(row).unwrap_or_default());
            self.count += 1;
        }
    }
}

/// Writes chunks in input order, whichever thread has judged them.
struct TurnWriter<'o> {
    turns: Turns,
    state: Mutex<Written<'o>>,
}

struct Written<'o> {
    output: Output<'o>,
    /// The columns that get filters in a Parquet file.
    filters: Option<&'o ColumnFilters>,
    /// The format and the header of the first text file.
    format: Option<Format>,
    header: Option<Vec<u8>>,
    /// The first Parquet file with row groups, even if they have no rows.
    first_parquet: Option<Arc<ParquetFile>>,
    /// Whether the last written byte ends a line.
    at_line_start: bool,
}

/// The output. The first input file decides its format.
enum Output<'o> {
    Unused(&'o mut (dyn Write + Send)),
    Text(&'o mut (dyn Write + Send)),
    Parquet(Box<ParquetCopy<'o>>),
    /// Only while one variant is replaced by another.
    Nothing,
}

impl<'o> TurnWriter<'o> {
    fn new(output: &'o mut (dyn Write + Send), filters: Option<&'o ColumnFilters>) -> Self {
        let output = Output::Unused(output);
        let state =
            Written { output, filters, format: None, header: None, first_parquet: None, at_line_start: true };
        Self { turns: Turns::default(), state: Mutex::new(state) }
    }

    fn write(&self, work: &Work, layout: &Layout, records: &[u8]) -> Result<()> {
        if !self.turns.wait_for(work.sequence) {
            return Ok(());
        }
        let mut state = lock(&self.state);
        if work.begins_file {
            state.begin_file(layout)?;
        }
        state.write(records, layout)?;
        drop(state);
        self.turns.end();
        Ok(())
    }

    /// Ends the output. If nothing was written and there is a Parquet file without rows, writes a
    /// Parquet file with its columns.
    fn finish(self, rowless: Option<&ParquetFile>) -> Result<()> {
        let mut state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let first = state.first_parquet.take();
        if let (Output::Unused(_), Some(file)) = (&state.output, rowless.or(first.as_deref())) {
            state.parquet(file)?;
        }
        match state.output {
            Output::Parquet(copy) => copy.finish(),
            Output::Text(output) | Output::Unused(output) => output.flush().map_err(Error::io),
            Output::Nothing => Ok(()),
        }
    }
}

impl<'o> Written<'o> {
    /// Returns the Parquet file being written. If nothing is written yet, begins it with the
    /// columns of `file`.
    fn parquet(&mut self, file: &ParquetFile) -> Result<&mut ParquetCopy<'o>> {
        if let Output::Unused(_) = self.output
            && let Output::Unused(output) = std::mem::replace(&mut self.output, Output::Nothing)
        {
            self.output = Output::Parquet(Box::new(ParquetCopy::begin(output, file, self.filters)?));
        }
        match &mut self.output {
            Output::Parquet(copy) => Ok(copy),
            _ => Err(mixed_formats(&file.file)),
        }
    }

    fn text(&mut self, file: &Arc<str>) -> Result<&mut (dyn Write + Send)> {
        if let Output::Unused(_) = self.output
            && let Output::Unused(output) = std::mem::replace(&mut self.output, Output::Nothing)
        {
            if self.filters.is_some() {
                return Err(ColumnFilters::only_in_parquet());
            }
            self.output = Output::Text(output);
        }
        match &mut self.output {
            Output::Text(output) => Ok(*output),
            _ => Err(mixed_formats(file)),
        }
    }

    fn write(&mut self, bytes: &[u8], layout: &Layout) -> Result<()> {
        let Some(&last) = bytes.last() else { return Ok(()) };
        let line_end: &[u8] = if self.at_line_start { b"" } else { b"\n" };
        let output = self.text(&layout.file)?;
        output.write_all(line_end).map_err(Error::io)?;
        output.write_all(bytes).map_err(Error::io)?;
        self.at_line_start = last == b'\n';
        Ok(())
    }

    /// Writes the header of the first file. The other files must be like the first.
    fn begin_file(&mut self, layout: &Layout) -> Result<()> {
        if *self.format.get_or_insert(layout.format) != layout.format {
            let message = "the format differs from the first file's: rows can be copied together only \
                           from files of one format: copy them apart, or convert them to one";
            return Err(Error::new(ErrorKind::Unsupported, message).in_file(&layout.file));
        }
        let Some(header) = &layout.header else { return Ok(()) };
        match &self.header {
            None => {
                self.write(header, layout)?;
                self.header = Some(header.clone());
                Ok(())
            }
            Some(first) if first.trim_ascii_end() == header.trim_ascii_end() => Ok(()),
            Some(first) => Err(Error::new(
                ErrorKind::FieldCount,
                format_args!(
                    "the header differs from the first file's ({}): rows can be copied together only \
                     from files with the same fields",
                    String::from_utf8_lossy(first.trim_ascii_end())
                ),
            )
            .in_file(&layout.file)),
        }
    }
}

fn mixed_formats(file: &Arc<str>) -> Error {
    let message = "rows of text and of Parquet cannot be copied into one file: copy them apart";
    Error::new(ErrorKind::Unsupported, message).in_file(file)
}
