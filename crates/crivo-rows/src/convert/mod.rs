//! The third primitive: writes kept records in another format.
//!
//! A value is never changed by a guess about its type. CSV and TSV have texts, written as in
//! docs/keys.md and quoted where necessary. If the input has types, JSONL and Parquet keep them:
//! numbers and booleans of JSON and of Parquet stay numbers and booleans. A Parquet column has one
//! type. So it is a column of texts if its values have several types, or are numbers that do not
//! fit in 64 bits. Every column from text without types is a column of texts too.
//!
//! The columns are those of all files, in the order in which they occur first. If a header repeats
//! a name, CSV and TSV repeat it too, and for JSONL and Parquet it is an error. JSONL is read once
//! before the conversion, because any record may have a new field. Threads convert chunks in any
//! order, and write them in turn.

mod columns;
#[cfg_attr(not(feature = "parquet"), path = "without_parquet.rs")]
mod parquet;
mod text;

use std::io::Write;
use std::sync::{Mutex, OnceLock, PoisonError};

use self::columns::{Columns, require_different_names};
use self::parquet::{ParquetTarget, Rows};
use self::text::{put_delimited, put_json};
use crate::batch::RowBatch;
use crate::column::{Cell, Values};
use crate::copy::{Copied, EachPredicate, Predicate};
use crate::error::{Error, ErrorKind, Result};
use crate::feed::Work;
use crate::filters::ColumnFilters;
use crate::input::Format;
use crate::scan::Scan;
use crate::schedule::{OnPanic, Shared, WorkerNumber, lock, on_threads};
use crate::select::Select;
use crate::turns::Turns;
use crate::worker::Worker;

/// A thread that has converted this many bytes of a chunk waits for its turn, and writes the
/// remaining records batch by batch, because a row group can be larger than memory.
const WAITING_BYTES: usize = 8 << 20;

impl Scan<'_> {
    /// Writes the records that the predicate keeps in input order, in another format. The module
    /// describes how values are converted. All fields are written, whatever was selected.
    ///
    /// # Errors
    /// The first error in input order, of reading, parsing, the predicate or writing. It is also an
    /// error if the format is [`Format::Lines`], which has no fields, if values are not UTF-8 and
    /// the format is JSONL or Parquet, or if the predicate judges in order. The output up to the
    /// error stays written.
    ///
    /// ```
    /// use crivo_rows::{Format, Input, Predicate, Scan};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("sales.csv");
    /// std::fs::write(&path, "user,amount\nana,1\n\"rui\",\n")?;
    /// let mut output = Vec::new();
    /// let input = Input::file(&path);
    /// Scan::of(&input).convert_rows(Predicate::All, Format::Jsonl, &mut output)?;
    /// assert_eq!(output, b"{\"user\":\"ana\",\"amount\":\"1\"}\n{\"user\":\"rui\",\"amount\":\"\"}\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[allow(clippy::needless_pass_by_value)] // as copy_rows takes it, which consumes some
    pub fn convert_rows(
        &self,
        predicate: Predicate<'_>,
        to: Format,
        output: &mut (dyn Write + Send),
    ) -> Result<Copied> {
        if to == Format::Lines {
            let message = "lines have no fields: name a file of CSV, TSV, JSONL or Parquet";
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        if self.column_filters.is_some() && to != Format::Parquet {
            return Err(ColumnFilters::only_in_parquet());
        }
        // This is checked before any input is read.
        #[cfg(not(feature = "parquet"))]
        if to == Format::Parquet {
            return Err(crate::parquet::left_out());
        }
        let predicate = match predicate {
            Predicate::All => None,
            Predicate::Each(predicate) => Some(predicate),
            Predicate::InOrder(_) | Predicate::Hashes(_) => {
                let message = "records that are converted are judged each by itself";
                return Err(Error::new(ErrorKind::InvalidOption, message));
            }
        };
        let mut scan = self.clone().of_all_columns();
        let columns = OnceLock::new();
        if scan.input.is_rereadable() {
            let _ = columns.set(scan.all_columns(to)?);
        } else {
            // The names are those of the first record that a thread reads, so it must be the first
            // record of the input.
            scan.threads = 1;
        }
        scan.check()?;
        let conversion = Conversion {
            to,
            columns,
            predicate,
            turns: Turns::default(),
            filters: self.column_filters,
            target: Mutex::new(Target::new(to, output)),
        };
        let shared = Shared::new(&scan);
        let work = |number: WorkerNumber| {
            let _guard = OnPanic(|| {
                shared.stop();
                conversion.turns.give_up();
            });
            let mut worker = Worker::new(&scan);
            let mut chunk = ConvertedChunk::default();
            while let Some(work) = shared.claim(number, &mut worker.chunk) {
                match conversion.convert(&mut worker, &work, &mut chunk) {
                    Ok(lines) => shared.finish(&work, lines, 0),
                    Err(error) => {
                        conversion.turns.abort(work.sequence);
                        shared.fail(&work, error);
                    }
                }
            }
            (chunk.kept, worker.counts())
        };
        let parts = on_threads(scan.thread_count(), work);
        let (feed, counts) = shared.conclude(parts.iter().map(|(_, counts)| *counts))?;
        conversion.finish(&feed.first_names)?;
        Ok(Copied { counts, kept: parts.iter().map(|(kept, _)| kept).sum(), stopped: feed.stopped })
    }

    /// Returns the same scan of all columns. A condition then finds its fields by name.
    fn of_all_columns(mut self) -> Self {
        self.filter = self.filter.map(crate::scan::RowFilter::by_name);
        self.select(Select::All)
    }
}

/// The state that the threads of a conversion share.
struct Conversion<'p, 'o> {
    to: Format,
    /// The columns, known from the start or from the first record.
    columns: OnceLock<Columns>,
    predicate: Option<&'p EachPredicate<'p>>,
    turns: Turns,
    /// The columns that get filters.
    filters: Option<&'p ColumnFilters>,
    target: Mutex<Target<'o>>,
}

/// The output.
struct Target<'o> {
    has_begun: bool,
    form: TargetForm<'o>,
}

enum TargetForm<'o> {
    Text(&'o mut (dyn Write + Send)),
    Parquet(Box<ParquetTarget<'o>>),
}

/// The converted records of a chunk that are not written yet.
#[derive(Default)]
struct ConvertedChunk {
    text: Vec<u8>,
    rows: Option<Rows>,
    flags: Vec<bool>,
    kept: u64,
}

impl Conversion<'_, '_> {
    /// Converts a chunk and writes it in its turn. Returns the number of lines.
    fn convert(&self, worker: &mut Worker<'_>, work: &Work, chunk: &mut ConvertedChunk) -> Result<u64> {
        let mut has_turn = false;
        let lines = worker.run(work, &mut |batch| {
            chunk.flags.clear();
            chunk.flags.resize(batch.rows(), self.predicate.is_none());
            if let Some(predicate) = self.predicate {
                predicate(batch, &mut chunk.flags)?;
            }
            self.take(batch, chunk)?;
            if chunk.waiting() > WAITING_BYTES {
                has_turn = has_turn || self.turns.wait_for(work.sequence);
                self.write(chunk, has_turn)?;
            }
            Ok(())
        })?;
        if has_turn || self.turns.wait_for(work.sequence) {
            self.write(chunk, true)?;
            self.turns.end();
        }
        Ok(lines)
    }

    /// Converts the flagged records of a batch.
    fn take(&self, batch: &RowBatch<'_>, chunk: &mut ConvertedChunk) -> Result<()> {
        // CSV and TSV keep both of two fields with the same name. JSONL has no such fields.
        if matches!(self.to, Format::Jsonl | Format::Parquet) && !batch.discovers_columns() {
            require_different_names(batch)?;
        }
        let columns = self.columns.get_or_init(|| Columns::texts(batch.names()));
        let values = columns.values_in(batch)?;
        let kept = (0..batch.rows()).filter(|row| chunk.flags[*row]);
        chunk.kept += chunk.flags.iter().filter(|flag| **flag).count() as u64;
        match self.to {
            Format::Jsonl => {
                for row in kept {
                    put_json(&mut chunk.text, columns, &values, row)
                        .map_err(|name| not_text(batch, row, name))?;
                }
            }
            Format::Parquet => {
                let rows = chunk.rows.get_or_insert_with(|| Rows::of(columns));
                for row in kept {
                    rows.push(&values, row)
                        .map_err(|column| wrong_value(batch, row, columns, &values, column))?;
                }
            }
            Format::Tsv => kept.for_each(|row| put_delimited(&mut chunk.text, b'\t', fields(&values, row))),
            Format::Csv | Format::Lines => {
                kept.for_each(|row| put_delimited(&mut chunk.text, b',', fields(&values, row)));
            }
        }
        Ok(())
    }

    /// Writes the converted records, or discards them if an earlier chunk failed.
    fn write(&self, chunk: &mut ConvertedChunk, has_turn: bool) -> Result<()> {
        let (rows, text) = (chunk.rows.take(), &mut chunk.text);
        if has_turn && let Some(columns) = self.columns.get() {
            let mut target = lock(&self.target);
            target.begin(self.to, columns, self.filters)?;
            match &mut target.form {
                TargetForm::Text(output) => output.write_all(text).map_err(Error::io)?,
                TargetForm::Parquet(target) => {
                    if let Some(rows) = rows {
                        target.write(rows)?;
                    }
                }
            }
        }
        text.clear();
        Ok(())
    }

    /// Ends the file. A file without records has the columns of the input.
    fn finish(self, names: &[String]) -> Result<()> {
        let columns = self.columns.get_or_init(|| Columns::texts(names));
        let mut target = self.target.into_inner().unwrap_or_else(PoisonError::into_inner);
        target.begin(self.to, columns, self.filters)?;
        match target.form {
            TargetForm::Text(output) => output.flush().map_err(Error::io),
            TargetForm::Parquet(target) => target.finish(),
        }
    }
}

impl<'o> Target<'o> {
    fn new(to: Format, output: &'o mut (dyn Write + Send)) -> Self {
        let form = match to {
            Format::Parquet => TargetForm::Parquet(Box::new(ParquetTarget::Unused(output))),
            _ => TargetForm::Text(output),
        };
        Self { has_begun: false, form }
    }

    /// Writes the beginning of the file, before the first record.
    fn begin(&mut self, to: Format, columns: &Columns, filters: Option<&ColumnFilters>) -> Result<()> {
        if std::mem::replace(&mut self.has_begun, true) {
            return Ok(());
        }
        match &mut self.form {
            TargetForm::Text(output) => {
                let mut header = Vec::new();
                let names = columns.names.iter().map(String::as_bytes);
                match to {
                    Format::Csv => put_delimited(&mut header, b',', names),
                    Format::Tsv => put_delimited(&mut header, b'\t', names),
                    _ => {}
                }
                output.write_all(&header).map_err(Error::io)
            }
            TargetForm::Parquet(target) => target.begin(columns, filters),
        }
    }
}

impl ConvertedChunk {
    /// Returns the number of converted bytes that are not written yet.
    fn waiting(&self) -> usize {
        self.text.len() + self.rows.as_ref().map_or(0, Rows::bytes)
    }
}

/// Returns the fields of a record. A missing field is empty.
fn fields<'v>(
    values: &'v [Option<Values<'v>>],
    row: usize,
) -> impl ExactSizeIterator<Item = &'v [u8]> + Clone {
    values.iter().map(move |values| values.and_then(|values| values.get(row)).unwrap_or_default())
}

/// Returns the content of a field of a record.
fn cell<'v>(values: Option<&Values<'v>>, row: usize) -> Cell<'v> {
    values.map_or(Cell::Missing, |values| values.cell(row))
}

fn not_text(batch: &RowBatch<'_>, row: usize, name: &str) -> Error {
    batch.error(row, format_args!("field '{name}': is not UTF-8, and only CSV and TSV hold other bytes"))
}

/// Returns the error for a value that does not fit its column: it is not UTF-8, or the input
/// changed while it was read.
fn wrong_value(
    batch: &RowBatch<'_>,
    row: usize,
    columns: &Columns,
    values: &[Option<Values<'_>>],
    column: usize,
) -> Error {
    let name = columns.names.get(column).map_or("", String::as_str);
    match cell(values.get(column).and_then(Option::as_ref), row) {
        Cell::Value(value) if std::str::from_utf8(value).is_err() => not_text(batch, row, name),
        _ => batch.error(row, format_args!("field '{name}': the input changed while it was read: run again")),
    }
}
