//! The third primitive: kept records in another format.
//!
//! A record becomes the texts of its fields, as docs/keys.md writes values: CSV and TSV hold them, quoted where
//! they must be; JSONL holds them as strings, and a missing value as null; Parquet as columns of strings. So a
//! value is never changed by a guess about its type. The columns are those of all files, in the order in which
//! they are met; JSONL is read once before, because any record may bring a new field.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::batch::RowBatch;
use crate::column::Cell;
use crate::copy::{Copied, EachPredicate};
use crate::error::{Error, ErrorKind, Result};
use crate::input::Format;
use crate::parquet::cannot_write;
use crate::scan::Scan;
use crate::select::Select;

/// Rows of Parquet are written when so many bytes of values are waiting.
const WAITING_BYTES: usize = 8 << 20;
/// A row group is closed when it has taken this many bytes of memory.
const GROUP_BYTES: usize = 64 << 20;

impl Scan<'_> {
    /// Writes the records that the predicate keeps in input order, in another format; see the [module](self) for
    /// what becomes of values. All fields are written, whatever was selected.
    ///
    /// # Errors
    /// The first one in input order, of reading, parsing, the predicate or writing. If the format is
    /// [`Format::Lines`], which has no fields. If values are not UTF-8, and the format is JSONL or Parquet. What was
    /// written until then stays written.
    ///
    /// ```
    /// use crivo_rows::{Format, Input, Scan};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("sales.csv");
    /// std::fs::write(&path, "user,amount\nana,1\n\"rui\",\n")?;
    /// let mut output = Vec::new();
    /// let input = Input::file(&path);
    /// Scan::of(&input).convert_rows(&|_, keep| Ok(keep.fill(true)), Format::Jsonl, &mut output)?;
    /// assert_eq!(output, b"{\"user\":\"ana\",\"amount\":\"1\"}\n{\"user\":\"rui\",\"amount\":\"\"}\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn convert_rows(
        &self,
        predicate: &EachPredicate<'_>,
        to: Format,
        output: &mut (dyn Write + Send),
    ) -> Result<Copied> {
        if to == Format::Lines {
            let message = "lines have no fields: name a file of CSV, TSV, JSONL or Parquet";
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        let scan = self.clone().select(Select::All).threads(1);
        let names = if scan.input.is_rereadable() { scan.all_names()? } else { Vec::new() };
        let start = Mutex::new(Some(Converter::new(names, to, output)));
        let folded = scan.fold(
            || start.lock().unwrap_or_else(PoisonError::into_inner).take(),
            |converter, batch| {
                let Some(converter) = converter else { return Ok(()) };
                let mut keep = vec![false; batch.rows()];
                predicate(batch, &mut keep)?;
                converter.take(batch, &keep)
            },
            |_, _| Ok(()),
        )?;
        let kept = match folded.state {
            Some(converter) => converter.finish(&folded.names)?,
            None => 0,
        };
        Ok(Copied { counts: folded.counts, kept, stopped: folded.stopped })
    }

    /// The names of all fields, in the order in which they are met.
    fn all_names(&self) -> Result<Vec<String>> {
        let add = |names: &mut Vec<String>, others: &[String]| {
            for name in others {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
        };
        let mut names = Vec::new();
        for of_file in self.input.field_names()? {
            add(&mut names, &of_file);
        }
        let mut scan = self.clone();
        scan.filter = None;
        // Of JSONL the first record has told its own only. Other formats end this pass at their first batch.
        let folded = scan.fold(
            Vec::new,
            |found: &mut Vec<String>, batch| {
                if !batch.discovers_columns() {
                    return Err(batch.error(0, "the columns are known"));
                }
                add(found, batch.names());
                Ok(())
            },
            |_, _| Ok(()),
        );
        // What is wrong with a record is said by the pass that converts it.
        if let Ok(folded) = folded {
            add(&mut names, &folded.state);
        }
        Ok(names)
    }
}

/// The records on their way.
struct Converter<'o> {
    names: Vec<String>,
    /// Whether a field that is not among the names is an error, because the header is written already.
    is_fixed: bool,
    to: Target<'o>,
    /// The text of a batch.
    text: Vec<u8>,
    kept: u64,
}

enum Target<'o> {
    Delimited { separator: u8, output: &'o mut (dyn Write + Send) },
    Json { output: &'o mut (dyn Write + Send) },
    Parquet(ParquetTarget<'o>),
}

impl<'o> Converter<'o> {
    fn new(names: Vec<String>, to: Format, output: &'o mut (dyn Write + Send)) -> Self {
        let to = match to {
            Format::Jsonl => Target::Json { output },
            Format::Parquet => Target::Parquet(ParquetTarget::Unused(output)),
            Format::Tsv => Target::Delimited { separator: b'\t', output },
            Format::Csv | Format::Lines => Target::Delimited { separator: b',', output },
        };
        Self { names, is_fixed: false, to, text: Vec::new(), kept: 0 }
    }

    /// Writes what comes before the first record.
    fn begin(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.is_fixed, true) {
            return Ok(());
        }
        if let Target::Delimited { separator, output } = &mut self.to {
            let header: Vec<&[u8]> = self.names.iter().map(String::as_bytes).collect();
            put_delimited(&mut self.text, *separator, &header);
            output.write_all(&self.text).map_err(Error::io)?;
            self.text.clear();
        }
        Ok(())
    }

    /// Writes the flagged records of a batch.
    fn take(&mut self, batch: &RowBatch<'_>, keep: &[bool]) -> Result<()> {
        if !self.is_fixed && self.names.is_empty() {
            self.names = batch.names().to_vec();
        }
        self.begin()?;
        let places = self.places(batch)?;
        let cells = |row: usize| {
            places.iter().map(move |place| place.map_or(Cell::Missing, |column| batch.cell(column, row)))
        };
        self.kept += keep.iter().filter(|keep| **keep).count() as u64;
        let kept = (0..batch.rows()).filter(|row| keep[*row]);
        match &mut self.to {
            Target::Delimited { separator, output } => {
                let mut fields = Vec::with_capacity(places.len());
                for row in kept {
                    fields.clear();
                    fields.extend(cells(row).map(bytes_of));
                    put_delimited(&mut self.text, *separator, &fields);
                }
                output.write_all(&self.text).map_err(Error::io)?;
            }
            Target::Json { output } => {
                for row in kept {
                    put_json(&mut self.text, &self.names, cells(row))
                        .map_err(|name| not_text(batch, row, name))?;
                }
                output.write_all(&self.text).map_err(Error::io)?;
            }
            Target::Parquet(target) => {
                for row in kept {
                    for ((name, cell), waiting) in
                        self.names.iter().zip(cells(row)).zip(target.rows(&self.names)?)
                    {
                        let text = match cell {
                            Cell::Missing => None,
                            cell => Some(bytes_of(cell)),
                        };
                        let text = text.map(|text| std::str::from_utf8(text)).transpose();
                        waiting.push(text.map_err(|_| not_text(batch, row, name))?.map(String::from));
                    }
                    target.row_added()?;
                }
            }
        }
        self.text.clear();
        Ok(())
    }

    /// Where each of the names is in a batch.
    fn places(&self, batch: &RowBatch<'_>) -> Result<Vec<Option<usize>>> {
        if let Some(new) = batch.names().iter().find(|name| !self.names.contains(name)) {
            let message = format!(
                "the field '{new}' was not among those of the records before, which are written already: \
                 save the input to a file, which can be read twice"
            );
            return Err(batch.error(0, message));
        }
        let place = |name: &String| batch.names().iter().position(|other| other == name);
        Ok(self.names.iter().map(place).collect())
    }

    /// Ends the file; one without records has the columns of the input.
    fn finish(mut self, names: &[String]) -> Result<u64> {
        if self.names.is_empty() {
            self.names = names.to_vec();
        }
        self.begin()?;
        match self.to {
            Target::Delimited { output, .. } | Target::Json { output } => {
                output.flush().map_err(Error::io)?;
            }
            Target::Parquet(mut target) => {
                target.rows(&self.names)?;
                target.finish()?;
            }
        }
        Ok(self.kept)
    }
}

fn bytes_of(cell: Cell<'_>) -> &[u8] {
    match cell {
        Cell::Value(value) => value,
        Cell::Missing | Cell::Empty => b"",
    }
}

fn not_text(batch: &RowBatch<'_>, row: usize, name: &str) -> Error {
    batch.error(row, format_args!("field '{name}': is not UTF-8, and only CSV and TSV hold other bytes"))
}

/// Adds a record of CSV or TSV.
fn put_delimited(text: &mut Vec<u8>, separator: u8, fields: &[&[u8]]) {
    for (at, field) in fields.iter().enumerate() {
        if at > 0 {
            text.push(separator);
        }
        let special = |byte: &u8| *byte == separator || matches!(byte, b'"' | b'\n' | b'\r');
        // A record of one empty field would be an empty line, which is none.
        let is_quoted = field.iter().any(special) || (fields.len() == 1 && field.is_empty());
        if is_quoted {
            text.push(b'"');
            for byte in *field {
                if *byte == b'"' {
                    text.push(b'"');
                }
                text.push(*byte);
            }
            text.push(b'"');
        } else {
            text.extend_from_slice(field);
        }
    }
    text.push(b'\n');
}

/// Adds an object; the name of a field that is no text otherwise.
fn put_json<'n, 'v>(
    text: &mut Vec<u8>,
    names: &'n [String],
    cells: impl Iterator<Item = Cell<'v>>,
) -> std::result::Result<(), &'n str> {
    text.push(b'{');
    for (at, (name, cell)) in names.iter().zip(cells).enumerate() {
        if at > 0 {
            text.push(b',');
        }
        put_json_text(text, name);
        text.push(b':');
        match cell {
            Cell::Missing => text.extend_from_slice(b"null"),
            cell => put_json_text(text, std::str::from_utf8(bytes_of(cell)).map_err(|_| name.as_str())?),
        }
    }
    text.extend_from_slice(b"}\n");
    Ok(())
}

fn put_json_text(text: &mut Vec<u8>, value: &str) {
    text.push(b'"');
    for byte in value.bytes() {
        match byte {
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', byte]),
            b'\n' => text.extend_from_slice(b"\\n"),
            b'\r' => text.extend_from_slice(b"\\r"),
            b'\t' => text.extend_from_slice(b"\\t"),
            0..0x20 => text.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => text.push(byte),
        }
    }
    text.push(b'"');
}

/// A Parquet file of strings.
enum ParquetTarget<'o> {
    Unused(&'o mut (dyn Write + Send)),
    Open {
        writer: Box<ArrowWriter<&'o mut (dyn Write + Send)>>,
        schema: SchemaRef,
        waiting: Waiting,
    },
    /// Only while one of the others is becoming another.
    Nothing,
}

/// Values that are not written yet, by column.
#[derive(Default)]
struct Waiting {
    columns: Vec<Vec<Option<String>>>,
    bytes: usize,
}

impl ParquetTarget<'_> {
    /// The columns to add a row to.
    fn rows(&mut self, names: &[String]) -> Result<&mut [Vec<Option<String>>]> {
        if let Self::Unused(_) = self
            && let Self::Unused(output) = std::mem::replace(self, Self::Nothing)
        {
            let fields: Vec<Field> =
                names.iter().map(|name| Field::new(name, DataType::Utf8, true)).collect();
            let schema = Arc::new(Schema::new(fields));
            let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
            let writer = ArrowWriter::try_new(output, Arc::clone(&schema), Some(properties))
                .map_err(|error| cannot_write(&error))?;
            let waiting = Waiting { columns: vec![Vec::new(); names.len()], bytes: 0 };
            *self = Self::Open { writer: Box::new(writer), schema, waiting };
        }
        match self {
            Self::Open { waiting, .. } => Ok(&mut waiting.columns),
            _ => Ok(&mut []),
        }
    }

    fn row_added(&mut self) -> Result<()> {
        let Self::Open { waiting, .. } = self else { return Ok(()) };
        let last = waiting.columns.iter().filter_map(|column| column.last());
        waiting.bytes += last.map(|value| 16 + value.as_ref().map_or(0, String::len)).sum::<usize>();
        if waiting.bytes > WAITING_BYTES { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<()> {
        let Self::Open { writer, schema, waiting } = self else { return Ok(()) };
        let arrays: Vec<ArrayRef> = waiting
            .columns
            .iter_mut()
            .map(|column| Arc::new(StringArray::from(std::mem::take(column))) as ArrayRef)
            .collect();
        waiting.bytes = 0;
        if arrays.is_empty() {
            return Ok(());
        }
        let batch = RecordBatch::try_new(Arc::clone(schema), arrays)
            .map_err(|error| Error::new(ErrorKind::Io, format_args!("cannot write Parquet: {error}")))?;
        writer.write(&batch).map_err(|error| cannot_write(&error))?;
        if writer.in_progress_size() > GROUP_BYTES {
            writer.flush().map_err(|error| cannot_write(&error))?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        self.write()?;
        match self {
            Self::Open { writer, .. } => writer.close().map(drop).map_err(|error| cannot_write(&error)),
            _ => Ok(()),
        }
    }
}
