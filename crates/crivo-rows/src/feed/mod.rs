//! Chunks of input for whoever is free to parse one.
//!
//! Workers share one feed behind a lock. The one that holds it reads (or decompresses) the next
//! chunk into a buffer of its own and cuts it at a record's border; then it lets go and parses,
//! while the next worker reads. So reading needs no thread of its own, pipes and compressed
//! streams take the same way as files, chunks have an order, and a quote that opens in one chunk
//! and closes in another is followed with certainty (see [`cut`]). What is done under the lock is
//! a copy out of the page cache and a search for quotes, several gigabytes a second; parsing and
//! hashing cost several times that, and they run in parallel.

mod cut;
mod open;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use self::cut::{Cut, Cutter};
use self::open::Stream;
pub use self::open::decompressed;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::input::{Format, Input, Source};
use crate::layout::{Layout, SeenFields};
use crate::parquet::ParquetFile;
use crate::parse::jsonl::first_names;
use crate::progress::Progress;
use crate::select::{Chosen, Select};

/// The longest line: positions in a chunk are 32 bits wide.
const LONGEST_LINE: usize = 1 << 31;
/// The longest record with quotes: where one is missing, the rest of the file is inside it.
const LONGEST_QUOTED: usize = 1 << 28;
/// How long to sleep before looking again whether a followed file has grown.
const FOLLOW_PAUSE: Duration = Duration::from_millis(100);
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
/// The same mark in UTF-16, the low byte first or last.
const WIDE_MARKS: [&[u8]; 2] = [b"\xFF\xFE", b"\xFE\xFF"];

/// A worker's buffer: one chunk of a file.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    bytes: Vec<u8>,
    /// The records are in `bytes[start..end]`; a header or byte order mark lies before them.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Whether the last newline was added here because the file ends without one.
    pub(crate) newline_added: bool,
    pub(crate) has_quotes: bool,
}

impl Chunk {
    /// Everything up to the end of the last record.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.end]
    }
}

/// What a worker is to do.
#[derive(Debug)]
pub(crate) struct Work {
    /// The place of the work in input order.
    pub(crate) sequence: u64,
    /// Whether it is the first of its file.
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
    sources: std::slice::Iter<'a, Source>,
    open: Option<Opened>,
    sequence: u64,
    read: Arc<AtomicU64>,
    total: Option<u64>,
    /// Whether the progress hook asked to stop.
    pub(crate) stopped: bool,
    /// Whether nothing more will come.
    pub(crate) ended: bool,
    /// The columns of the first file, and its header as it stands.
    pub(crate) first_names: Vec<String>,
    pub(crate) header: Option<Vec<u8>>,
    /// The first file whose header is not that of the first file.
    pub(crate) odd_header: Option<Arc<str>>,
    has_begun: bool,
    pub(crate) seen: SeenFields,
    /// What the user should know.
    pub(crate) warnings: Vec<String>,
}

/// The file being read.
enum Opened {
    Text(Open),
    Parquet { file: Arc<ParquetFile>, next_group: usize },
}

/// The file of text being read.
struct Open {
    stream: Stream,
    format: Format,
    cutter: Cutter,
    layout: Option<Arc<Layout>>,
    /// What was read after the last border.
    carry: Vec<u8>,
    is_last: bool,
    ended: bool,
}

impl Open {
    /// How long the byte order mark is, at the beginning of a file.
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
            has_begun: false,
            seen: SeenFields::default(),
            warnings: Vec::new(),
        }
    }

    /// Bytes read so far, as stored.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// The number of the chunk that comes next.
    pub(crate) fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Whether the next chunk is the first of its file.
    pub(crate) fn begins_file(&self) -> bool {
        match &self.open {
            None => true,
            Some(Opened::Text(open)) => open.layout.is_none(),
            Some(Opened::Parquet { next_group, .. }) => *next_group == 0,
        }
    }

    /// Reads the next chunk into the worker's buffer; nothing when all is read.
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
                    let Some(layout) = self.fill(&mut open, chunk)? else { continue };
                    self.open = Some(Opened::Text(open));
                    (begins_file, Task::Text(layout))
                }
                Opened::Parquet { file, next_group } if next_group < file.groups() => {
                    self.read.fetch_add(file.group_bytes(next_group), Ordering::Relaxed);
                    let task = Task::RowGroup(Arc::clone(&file), next_group);
                    self.open = Some(Opened::Parquet { file, next_group: next_group + 1 });
                    (next_group == 0, task)
                }
                Opened::Parquet { .. } => continue,
            };
            let sequence = self.sequence;
            self.sequence += 1;
            return Ok(Some(Work { sequence, begins_file, task }));
        }
    }

    /// The names of the next file's fields, from no more of it than that takes; nothing when there is no further file.
    pub(crate) fn next_names(&mut self) -> Result<Option<Vec<String>>> {
        let Some(opened) = self.open_next()? else { return Ok(None) };
        let mut open = match opened {
            Opened::Parquet { file, .. } => return Ok(Some(file.chosen.names.to_vec())),
            Opened::Text(open) => open,
        };
        let mut chunk = Chunk::default();
        // Empty lines before the first record may be a chunk of their own.
        while let Some(layout) = self.fill(&mut open, &mut chunk)? {
            if open.format != Format::Jsonl {
                return Ok(Some(layout.chosen.names.to_vec()));
            }
            let names = first_names(&chunk.bytes()[chunk.start..]);
            if !names.is_empty() {
                return Ok(Some(names));
            }
        }
        Ok(Some(Vec::new()))
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
        match self.input.format_of(source) {
            Format::Parquet => self.open_parquet(source).map(Some),
            format => self.open_text(source, format).map(Some),
        }
    }

    fn open_parquet(&mut self, source: &Source) -> Result<Opened> {
        let read_whole = || Stream::open(source, &Arc::default())?.read_to_end();
        let file = ParquetFile::open(source, self.select, read_whole, &mut self.warnings)?;
        self.note_header(&file.chosen, None, &file.file);
        // What is not in row groups counts as read at once, so that the sum is the file's length.
        let groups: u64 = (0..file.groups()).map(|group| file.group_bytes(group)).sum();
        self.read.fetch_add(file.length.saturating_sub(groups), Ordering::Relaxed);
        Ok(Opened::Parquet { file: Arc::new(file), next_group: 0 })
    }

    fn open_text(&mut self, source: &Source, format: Format) -> Result<Opened> {
        let cutter = match (format, self.input.delimiter_of(format)) {
            (Format::Csv | Format::Tsv, Some(delimiter)) if self.input.quotes => {
                Cutter::Quoted { delimiter: delimiter.to_vec() }
            }
            _ => Cutter::Newlines,
        };
        let stream = Stream::open(source, &self.read)?;
        let is_last = self.sources.len() == 0;
        Ok(Opened::Text(Open {
            stream,
            format,
            cutter,
            layout: None,
            carry: Vec::new(),
            is_last,
            ended: false,
        }))
    }

    /// Fills the buffer with whole records; nothing at the end of the file.
    fn fill(&mut self, open: &mut Open, chunk: &mut Chunk) -> Result<Option<Arc<Layout>>> {
        let mut length = open.carry.len();
        let size = self.chunk_size.max(length + self.chunk_size / 2);
        // A buffer that one long record made large is given back.
        if chunk.bytes.len() > size.saturating_mul(2) {
            chunk.bytes = Vec::new();
        }
        if chunk.bytes.len() < size {
            chunk.bytes.resize(size, 0);
        }
        chunk.bytes[..length].copy_from_slice(&open.carry);
        open.carry.clear();
        loop {
            let cut = self.read_and_cut(open, chunk, &mut length)?;
            if open.layout.is_none() {
                require_bytes_of_text(&chunk.bytes[..length], &open.stream.file)?;
            }
            let Some(border) = cut.border else {
                if open.ended {
                    return Ok(None);
                }
                let longest = if cut.has_quotes { LONGEST_QUOTED } else { LONGEST_LINE };
                if length >= longest {
                    return Err(too_long(longest, &open.stream.file));
                }
                if length == chunk.bytes.len() {
                    chunk.bytes.resize(length * 2, 0);
                }
                continue;
            };
            open.carry.extend_from_slice(&chunk.bytes[border..length]);
            (chunk.start, chunk.end, chunk.has_quotes) = (0, border, cut.has_quotes);
            if let Some(layout) = &open.layout {
                return Ok(Some(Arc::clone(layout)));
            }
            return self.begin_file(open, chunk).map(Some);
        }
    }

    /// Reads until the buffer is full, the source ends, or (where bytes come slowly) something
    /// came; then says where the last record ends.
    fn read_and_cut(&mut self, open: &mut Open, chunk: &mut Chunk, length: &mut usize) -> Result<Cut> {
        while !open.ended && *length < chunk.bytes.len() {
            let got = open.stream.read(&mut chunk.bytes[*length..])?;
            *length += got;
            if got == 0 {
                let waits = self.input.follow && open.is_last && self.advance().is_continue();
                if waits {
                    std::thread::sleep(FOLLOW_PAUSE);
                }
                open.ended = !waits;
            }
            if open.stream.is_live || self.input.follow {
                break;
            }
        }
        chunk.newline_added = false;
        // A byte order mark would hide that a quote opens the first field.
        let mark = open.mark(&chunk.bytes[..*length]);
        let mut cut = open.cutter.cut(&chunk.bytes[mark..*length]);
        cut.border = cut.border.map(|border| border + mark);
        if !open.ended || *length == mark {
            return Ok(cut);
        }
        if chunk.bytes[*length - 1] != b'\n' {
            if *length == chunk.bytes.len() {
                chunk.bytes.push(0);
            }
            chunk.bytes[*length] = b'\n';
            *length += 1;
            chunk.newline_added = true;
        }
        Ok(Cut { border: Some(*length), ..cut })
    }

    fn note_header(&mut self, chosen: &Chosen, header: Option<&Vec<u8>>, file: &Arc<str>) {
        let plain = |header: Option<&Vec<u8>>| header.map(|header| header.trim_ascii_end().to_vec());
        if !std::mem::replace(&mut self.has_begun, true) {
            self.first_names = chosen.names.to_vec();
            self.header = header.cloned();
        } else if plain(header) != plain(self.header.as_ref()) {
            self.odd_header.get_or_insert_with(|| Arc::clone(file));
        }
    }

    /// Looks at the first record of a file.
    fn begin_file(&mut self, open: &mut Open, chunk: &mut Chunk) -> Result<Arc<Layout>> {
        let mark = open.mark(chunk.bytes());
        let text = &chunk.bytes[mark..chunk.end];
        let (layout, data) =
            Layout::of_text(self.input, open.format, self.select, &open.stream.file, text, &mut self.seen)?;
        chunk.start = mark + data;
        let layout = Arc::new(layout);
        self.note_header(&layout.chosen, layout.header.as_ref(), &layout.file);
        open.layout = Some(Arc::clone(&layout));
        Ok(layout)
    }
}

/// Refuses what its byte order mark calls text of wider units: every second byte of it would be read as data.
fn require_bytes_of_text(start: &[u8], file: &Arc<str>) -> Result<()> {
    if !WIDE_MARKS.iter().any(|mark| start.starts_with(mark)) {
        return Ok(());
    }
    let message = format_args!("is UTF-16 text: convert it first, iconv -f UTF-16 -t UTF-8 {file}");
    Err(Error::new(ErrorKind::Unsupported, message).in_file(file))
}

#[cold]
fn too_long(longest: usize, file: &Arc<str>) -> Error {
    let message = format_args!("a record is longer than {} MiB: is a quote missing?", longest >> 20);
    Error::new(ErrorKind::RecordTooLong, message).in_file(file).at(Place::LineOfChunk(1))
}
