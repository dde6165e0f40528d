//! Provides chunks of input to the workers that parse them.
//!
//! Workers share one feed behind a lock. The worker that holds the lock reads the next chunk into
//! its own buffer and cuts it at the border of a record. Then it releases the lock and parses,
//! while the next worker reads. So reading needs no separate thread. Each chunk begins where the
//! chunk before was cut, outside quotes, so its quotes can be followed with certainty (see
//! [`cut`]). The work under the lock is a copy from the page cache and a search for quotes, at
//! several gigabytes a second. Parsing and hashing take several times as long, and run in parallel.
//! Only decompression has a separate thread (see [`ahead`]), because it takes as long as parsing.

mod ahead;
mod cut;
mod fill;
mod open;
mod sniff;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use self::cut::{Borders, Cutter};
use self::fill::Filled;
pub use self::open::decompressed;
use self::open::{Fate, Stream};
use crate::error::Result;
use crate::foreign;
use crate::input::{Format, Input, InputSource};
use crate::layout::{Layout, SeenFields};
use crate::parquet::ParquetFile;
use crate::parse::jsonl::first_names;
use crate::progress::Progress;
use crate::select::{Chosen, Select};

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A worker's buffer: one chunk of a file.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    bytes: Vec<u8>,
    /// The records are `bytes[start..end]`. A header or byte order mark comes before them.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Whether the last newline was added because the file ends without one.
    pub(crate) newline_added: bool,
    pub(crate) has_quotes: bool,
}

impl Chunk {
    /// Makes the buffer `size` bytes long, or returns an error if there is no memory for it. A file
    /// is read until the buffer is full, so this length decides where the chunk ends. Record ids
    /// depend on that, and the worker of a chunk differs between passes. So the length must not
    /// depend on what this buffer held before.
    fn begin(&mut self, size: usize) -> Result<()> {
        // The memory of a buffer that one long record made large is freed.
        if self.bytes.capacity() > size.saturating_mul(2) {
            self.bytes = Vec::new();
        }
        self.bytes.truncate(size);
        self.grow(size)
    }

    /// Makes the buffer at least this large, or returns an error if there is no memory for it.
    fn grow(&mut self, size: usize) -> Result<()> {
        if let Some(more) = size.checked_sub(self.bytes.len()) {
            foreign::reserve(&mut self.bytes, more)?;
            self.bytes.resize(size, 0);
        }
        Ok(())
    }

    /// Returns all bytes up to the end of the last record.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.end]
    }
}

/// A task for a worker.
#[derive(Debug)]
pub(crate) struct Work {
    /// The number of the task in input order.
    pub(crate) sequence: u64,
    /// Whether it is the first task of its file.
    pub(crate) begins_file: bool,
    pub(crate) task: Task,
}

#[derive(Debug)]
pub(crate) enum Task {
    /// Parse the chunk that was read.
    Text(Arc<Layout>),
    /// Read this row group.
    RowGroup(Arc<ParquetFile>, usize),
}

pub(crate) struct Feed<'a> {
    input: &'a Input,
    select: &'a Select,
    progress: Option<&'a dyn Progress>,
    chunk_size: usize,
    sources: std::slice::Iter<'a, InputSource>,
    open: Option<Opened>,
    sequence: u64,
    read: Arc<AtomicU64>,
    total: Option<u64>,
    /// Whether the progress hook asked to stop.
    pub(crate) stopped: bool,
    /// Whether there is no more work.
    pub(crate) ended: bool,
    /// The columns of the first file, and the bytes of its header.
    pub(crate) first_names: Vec<String>,
    pub(crate) header: Option<Vec<u8>>,
    /// The first file whose header is not that of the first file.
    pub(crate) odd_header: Option<Arc<str>>,
    /// The first file whose columns have other names than those of the first file.
    pub(crate) odd_names: Option<Arc<str>>,
    has_begun: bool,
    /// The first Parquet file without row groups. No task refers to it, but a copy needs its
    /// columns.
    pub(crate) rowless: Option<Arc<ParquetFile>>,
    pub(crate) seen: SeenFields,
    /// How often a followed file became shorter, so that rows may have been missed.
    pub(crate) truncations: u64,
    /// What the user should know, as sentences.
    pub(crate) warnings: Vec<String>,
}

/// The file being read.
enum Opened {
    Text(Box<Open>),
    Parquet { file: Arc<ParquetFile>, next_group: usize },
}

/// The file of text being read.
struct Open {
    source: InputSource,
    stream: Stream,
    format: Format,
    /// Whether neither the caller nor the name told the format, so that the first line may.
    is_untold: bool,
    cutter: Cutter,
    layout: Option<Arc<Layout>>,
    /// The bytes that were read after the last border.
    carry: Vec<u8>,
    is_last: bool,
    ended: bool,
    /// What happened to a followed file, if that ended it.
    fate: Fate,
    /// The bytes read of all files before this one was opened.
    read_before: u64,
}

impl Open {
    /// Returns the length of the byte order mark at the beginning of a file, or 0.
    fn mark(&self, bytes: &[u8]) -> usize {
        if self.layout.is_none() && bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }
    }
}

impl<'a> Feed<'a> {
    pub(crate) fn new(
        input: &'a Input,
        select: &'a Select,
        progress: Option<&'a dyn Progress>,
        chunk_size: usize,
    ) -> Self {
        Self {
            input,
            select,
            progress,
            chunk_size: chunk_size.max(1),
            sources: input.sources.iter(),
            open: None,
            sequence: 0,
            read: Arc::default(),
            total: input.total_bytes(),
            stopped: false,
            ended: false,
            first_names: Vec::new(),
            header: None,
            odd_header: None,
            odd_names: None,
            has_begun: false,
            rowless: None,
            seen: SeenFields::default(),
            truncations: 0,
            warnings: Vec::new(),
        }
    }

    /// Returns the number of bytes read so far, as stored.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Returns the number of the next chunk.
    pub(crate) fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Returns true if the next chunk is the first of its file.
    pub(crate) fn begins_file(&self) -> bool {
        match &self.open {
            None => true,
            Some(Opened::Text(open)) => open.layout.is_none(),
            Some(Opened::Parquet { next_group, .. }) => *next_group == 0,
        }
    }

    /// Reads the next chunk into the worker's buffer. Returns `None` at the end of the input.
    pub(crate) fn next(&mut self, chunk: &mut Chunk) -> Result<Option<Work>> {
        let work = if self.ended { Ok(None) } else { self.find_work(chunk) };
        self.ended = !matches!(work, Ok(Some(_)));
        work
    }

    fn find_work(&mut self, chunk: &mut Chunk) -> Result<Option<Work>> {
        loop {
            if self.advance().is_break() {
                return Ok(None);
            }
            let Some(opened) = self.open.take().map_or_else(|| self.open_next(), |open| Ok(Some(open)))?
            else {
                return Ok(None);
            };
            let (begins_file, task) = match opened {
                Opened::Text(mut open) => {
                    let begins_file = open.layout.is_none();
                    let layout = match self.fill(&mut open, chunk)? {
                        Filled::Records(layout) => layout,
                        Filled::End => continue,
                        Filled::Parquet(start) => {
                            self.open = Some(self.open_parquet_stream(&mut open, start)?);
                            continue;
                        }
                    };
                    self.open = Some(Opened::Text(open));
                    (begins_file, Task::Text(layout))
                }
                Opened::Parquet { file, next_group } if next_group < file.groups() => {
                    self.read.fetch_add(file.group_bytes(next_group), Ordering::Relaxed);
                    let task = Task::RowGroup(Arc::clone(&file), next_group);
                    self.open = Some(Opened::Parquet { file, next_group: next_group + 1 });
                    (next_group == 0, task)
                }
                Opened::Parquet { file, next_group } => {
                    if next_group == 0 {
                        self.rowless.get_or_insert(file);
                    }
                    continue;
                }
            };
            let sequence = self.sequence;
            self.sequence += 1;
            return Ok(Some(Work { sequence, begins_file, task }));
        }
    }

    /// Returns the names of the next file's fields, or `None` if there is no further file. Reads
    /// only as much of the file as needed.
    pub(crate) fn next_names(&mut self) -> Result<Option<Vec<String>>> {
        let Some(opened) = self.open_next()? else { return Ok(None) };
        let mut open = match opened {
            Opened::Parquet { file, .. } => return Ok(Some(file.chosen.names.to_vec())),
            Opened::Text(open) => open,
        };
        let mut chunk = Chunk::default();
        // The first chunk may have only empty lines.
        loop {
            let layout = match self.fill(&mut open, &mut chunk)? {
                Filled::Records(layout) => layout,
                Filled::End => return Ok(Some(Vec::new())),
                Filled::Parquet(start) => match self.open_parquet_stream(&mut open, start)? {
                    Opened::Parquet { file, .. } => return Ok(Some(file.chosen.names.to_vec())),
                    Opened::Text(_) => return Ok(Some(Vec::new())),
                },
            };
            if open.format != Format::Jsonl {
                return Ok(Some(layout.chosen.names.to_vec()));
            }
            let names = first_names(&chunk.bytes()[chunk.start..]);
            if !names.is_empty() {
                return Ok(Some(names));
            }
        }
    }

    fn advance(&mut self) -> ControlFlow<()> {
        if let Some(progress) = self.progress
            && progress.advance(self.bytes_read(), self.total).is_break()
        {
            self.stopped = true;
        }
        if self.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn open_next(&mut self) -> Result<Option<Opened>> {
        let Some(source) = self.sources.next() else { return Ok(None) };
        match self.input.told_format_of(source) {
            Some(Format::Parquet) => self.open_parquet(source).map(Some),
            format => self.open_text(source, format).map(Some),
        }
    }

    fn open_parquet(&mut self, source: &InputSource) -> Result<Opened> {
        let limits = self.input.limits;
        let read_whole = || Stream::open(source, &Arc::default())?.read_to_end(Vec::new(), limits);
        let file = ParquetFile::open(source, self.select, limits, read_whole, &mut self.warnings)?;
        Ok(self.begin_parquet(file))
    }

    /// Opens a Parquet file that was opened as a text stream. `start` is the part that was already
    /// read.
    fn open_parquet_stream(&mut self, open: &mut Open, start: Vec<u8>) -> Result<Opened> {
        let limits = self.input.limits;
        let stream = &mut open.stream;
        let read_rest = || stream.read_to_end(start, limits);
        let file = ParquetFile::open(&open.source, self.select, limits, read_rest, &mut self.warnings)?;
        // Its bytes are counted again, for each row group.
        self.read.store(open.read_before, Ordering::Relaxed);
        Ok(self.begin_parquet(file))
    }

    fn begin_parquet(&mut self, file: ParquetFile) -> Opened {
        self.note_header(&file.chosen, None, &file.file);
        // The bytes outside row groups count as read now, so that the sum is the file's length.
        let groups: u64 = (0..file.groups()).map(|group| file.group_bytes(group)).sum();
        self.read.fetch_add(file.length().saturating_sub(groups), Ordering::Relaxed);
        Opened::Parquet { file: Arc::new(file), next_group: 0 }
    }

    fn open_text(&mut self, source: &InputSource, told: Option<Format>) -> Result<Opened> {
        let format = told.unwrap_or(Format::Lines);
        let read_before = self.bytes_read();
        Ok(Opened::Text(Box::new(Open {
            source: source.clone(),
            stream: Stream::open(source, &self.read)?,
            format,
            is_untold: told.is_none(),
            cutter: self.cutter_of(format),
            layout: None,
            carry: Vec::new(),
            is_last: self.sources.len() == 0,
            ended: false,
            fate: Fate::Same,
            read_before,
        })))
    }

    fn cutter_of(&self, format: Format) -> Cutter {
        Cutter::new(match (format, self.input.delimiter_of(format)) {
            (Format::Csv | Format::Tsv, Some(delimiter)) if self.input.quotes => {
                Borders::Quoted { delimiter: delimiter.to_vec() }
            }
            _ => Borders::Newlines,
        })
    }

    fn note_header(&mut self, chosen: &Chosen, header: Option<&Vec<u8>>, file: &Arc<str>) {
        let plain = |header: Option<&Vec<u8>>| header.map(|header| header.trim_ascii_end().to_vec());
        if !std::mem::replace(&mut self.has_begun, true) {
            self.first_names = chosen.names.to_vec();
            self.header = header.cloned();
            return;
        }
        if plain(header) != plain(self.header.as_ref()) {
            self.odd_header.get_or_insert_with(|| Arc::clone(file));
        }
        let have_names = !chosen.names.is_empty() && !self.first_names.is_empty();
        if have_names && *chosen.names != *self.first_names {
            self.odd_names.get_or_insert_with(|| Arc::clone(file));
        }
    }
}
