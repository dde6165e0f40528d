//! A pass over the input: what to hand on, how values become keys, on how many threads.

use std::num::NonZero;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crivo::keys::{KeyKind, KeyScheme};

use crate::batch::{Origin, RowBatch};
use crate::error::{Error, ErrorKind, Result};
use crate::feed::{Chunk, Feed, Task, Work};
use crate::input::Input;
use crate::keyer::{Items, Keyer};
use crate::layout::{Layout, Shape};
use crate::ledger::{ChunkLines, Ledger};
use crate::parquet::ParquetFile;
use crate::parse::jsonl::Wanted;
use crate::parse::{Table, Text, count_lines};
use crate::progress::Progress;
use crate::select::Select;

/// A chunk fits the second-level cache beside what the parser and a sketch use.
const CHUNK: usize = 256 << 10;

/// A pass over an [`Input`], to be [folded](Scan::fold) or [copied](Scan::copy_rows).
#[derive(Clone)]
pub struct Scan<'a> {
    pub(crate) input: &'a Input,
    pub(crate) select: Select,
    pub(crate) scheme: KeyScheme,
    pub(crate) items: Items,
    pub(crate) threads: usize,
    pub(crate) repeatable: bool,
    pub(crate) progress: Option<&'a dyn Progress>,
    pub(crate) chunk_size: usize,
}

impl<'a> Scan<'a> {
    /// A pass that hands on whole records, keyed by their bytes, on all processors.
    pub fn of(input: &'a Input) -> Self {
        Self {
            input,
            select: Select::Row,
            scheme: KeyScheme::bytes(),
            items: Items::Values,
            threads: 0,
            repeatable: false,
            progress: None,
            chunk_size: CHUNK,
        }
    }

    /// What of each record is handed on.
    #[must_use]
    pub fn select(mut self, select: Select) -> Self {
        self.select = select;
        self
    }

    /// How values become keys: text or integers, and the seed. Take it from the sketch.
    #[must_use]
    pub fn keys(mut self, scheme: KeyScheme) -> Self {
        self.scheme = scheme;
        self
    }

    /// What of a value is an item: itself, or its word n-grams.
    #[must_use]
    pub fn items(mut self, items: Items) -> Self {
        self.items = items;
        self
    }

    /// On how many threads; 0 means as many as there are processors.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Whether the chunks are dealt to the threads in turn, so that the same input on the same
    /// number of threads gives the same result even where merging is not exact (heavy hitters,
    /// samples). It costs some waiting; sketches that merge exactly do not need it.
    #[must_use]
    pub fn repeatable(mut self, repeatable: bool) -> Self {
        self.repeatable = repeatable;
        self
    }

    /// Whom to tell how far the pass has come, and who may stop it.
    #[must_use]
    pub fn progress(mut self, progress: &'a dyn Progress) -> Self {
        self.progress = Some(progress);
        self
    }

    /// The size of chunks, for tests that want borders everywhere.
    #[doc(hidden)]
    #[must_use]
    pub fn chunk_size(mut self, bytes: usize) -> Self {
        self.chunk_size = bytes;
        self
    }

    /// Refuses settings that contradict each other.
    pub(crate) fn check(&self) -> Result<()> {
        match (self.items, self.scheme.kind()) {
            (Items::Words(0), _) => {
                Err(Error::new(ErrorKind::InvalidOption, "an item has at least one word, not 0"))
            }
            (Items::Words(_), kind) if kind != KeyKind::Bytes => Err(Error::new(
                ErrorKind::InvalidOption,
                format_args!("word n-grams are text, and {kind} keys were asked for"),
            )),
            _ => Ok(()),
        }
    }

    pub(crate) fn thread_count(&self) -> usize {
        if self.threads > 0 {
            self.threads
        } else {
            std::thread::available_parallelism().map_or(1, NonZero::get)
        }
    }
}

/// What was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Records, without the bad ones.
    pub rows: u64,
    /// Records whose first wanted field is empty or null.
    pub skipped: u64,
    /// Records that were left out because they were bad.
    pub bad: u64,
    /// Bytes read, as stored: compressed where the file is.
    pub bytes: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.skipped += other.skipped;
        self.bad += other.bad;
        self.bytes += other.bytes;
    }
}

/// What the workers of a pass share.
pub(crate) struct Shared<'a> {
    feed: Mutex<Feed<'a>>,
    turn: Condvar,
    ledger: Mutex<Ledger>,
    /// With how many workers chunks are dealt in turn; 0 if whoever is free takes the next.
    dealt_to: usize,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A worker that panicked takes the whole pass with it; what it locked is not used again.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Shared<'a> {
    pub(crate) fn new(scan: &'a Scan<'a>, workers: usize) -> Self {
        Self {
            feed: Mutex::new(Feed::new(scan.input, &scan.select, scan.progress, scan.chunk_size)),
            turn: Condvar::new(),
            ledger: Mutex::default(),
            dealt_to: if scan.repeatable && workers > 1 { workers } else { 0 },
        }
    }

    /// The next work for this worker; nothing when the pass is over.
    pub(crate) fn claim(&self, worker: usize, chunk: &mut Chunk) -> Option<Work> {
        let mut feed = lock(&self.feed);
        while self.dealt_to > 0 && !feed.ended && feed.sequence() % self.dealt_to as u64 != worker as u64 {
            feed = self.turn.wait(feed).unwrap_or_else(PoisonError::into_inner);
        }
        let (sequence, begins_file) = (feed.sequence(), feed.begins_file());
        let work = feed.next(chunk);
        drop(feed);
        if self.dealt_to > 0 {
            self.turn.notify_all();
        }
        work.unwrap_or_else(|error| {
            lock(&self.ledger).fail(sequence, begins_file, error);
            None
        })
    }

    pub(crate) fn finish(&self, work: &Work, lines: u64) {
        lock(&self.ledger).finish(work.sequence, ChunkLines { begins_file: work.begins_file, lines });
    }

    /// Stops the pass: nothing more is handed out.
    pub(crate) fn fail(&self, work: &Work, error: Error) {
        lock(&self.ledger).fail(work.sequence, work.begins_file, error);
        self.stop();
    }

    /// Nothing more is handed out.
    pub(crate) fn stop(&self) {
        lock(&self.feed).ended = true;
        self.turn.notify_all();
    }

    /// The end of the pass, once every worker has stopped: the first error, or what was read.
    pub(crate) fn conclude(self, parts: impl Iterator<Item = Counts>) -> Result<(Feed<'a>, Counts)> {
        if let Some(error) = self.ledger.into_inner().unwrap_or_else(PoisonError::into_inner).into_failure() {
            return Err(error);
        }
        let feed = self.feed.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut counts = Counts { bytes: feed.bytes_read(), ..Counts::default() };
        parts.for_each(|part| counts.add(part));
        if counts.rows > 0 && !feed.stopped {
            feed.seen.require_all()?;
        }
        Ok((feed, counts))
    }
}

/// Runs its closure if the thread is panicking when it is dropped: whoever waits for this worker's
/// turn must not wait for ever.
pub(crate) struct OnPanic<F: Fn()>(pub(crate) F);

impl<F: Fn()> Drop for OnPanic<F> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0();
        }
    }
}

/// One thread's memory, used again for every chunk.
pub(crate) struct Worker {
    pub(crate) chunk: Chunk,
    table: Table,
    keyer: Keyer,
    skip_bad: bool,
    pub(crate) counts: Counts,
}

impl Worker {
    pub(crate) fn new(scan: &Scan<'_>) -> Self {
        Self {
            chunk: Chunk::default(),
            table: Table::default(),
            keyer: Keyer::new(scan.scheme, scan.items),
            skip_bad: scan.input.skip_bad,
            counts: Counts::default(),
        }
    }

    /// Gives every batch of the work to `step`; the number of lines in it.
    pub(crate) fn run(
        &mut self,
        work: &Work,
        step: impl FnMut(&mut RowBatch<'_>) -> Result<()>,
    ) -> Result<u64> {
        match &work.task {
            Task::Text(layout) => self.run_text(layout, work.sequence, step),
            Task::RowGroup(file, group) => self.run_group(file, *group, work.sequence, step).map(|()| 0),
        }
    }

    fn run_text(
        &mut self,
        layout: &Layout,
        sequence: u64,
        mut step: impl FnMut(&mut RowBatch<'_>) -> Result<()>,
    ) -> Result<u64> {
        let Self { chunk, table, keyer, skip_bad, counts } = self;
        let text = Text { bytes: chunk.bytes(), layout, has_quotes: chunk.has_quotes, skip_bad: *skip_bad };
        let mut position = chunk.start;
        let mut first = 0;
        let mut lines = 0;
        while position < chunk.end {
            position = text.next_batch(position, table)?;
            lines += table.records.len() as u64 + table.bad + table.blank;
            let (names, columns) = match layout.shape {
                Shape::Json(Wanted::All) => (table.discovered.names.as_slice(), &table.discovered.columns),
                _ => (&*layout.chosen.names, &layout.chosen.columns),
            };
            let mut batch = RowBatch {
                file: &layout.file,
                names,
                columns,
                whole: layout.whole,
                bytes: text.bytes,
                table,
                rows: table.records.len(),
                keyer,
                first_missing: None,
                skip_bad: *skip_bad,
                bad_keys: 0,
                sequence,
                first,
                origin: Origin::Chunk,
                limit: chunk.end - usize::from(chunk.newline_added),
            };
            if batch.rows > 0 {
                step(&mut batch)?;
            }
            counts.add(batch.counts());
            first += batch.rows as u64;
        }
        // Where every line is a record or an empty one, they have been counted.
        Ok(match layout.shape {
            Shape::Json(_) => count_lines(chunk.bytes()),
            Shape::Delimited(_) if chunk.has_quotes => count_lines(chunk.bytes()),
            _ => lines + count_lines(&chunk.bytes()[..chunk.start]),
        })
    }

    fn run_group(
        &mut self,
        file: &ParquetFile,
        group: usize,
        sequence: u64,
        mut step: impl FnMut(&mut RowBatch<'_>) -> Result<()>,
    ) -> Result<()> {
        let Self { table, keyer, skip_bad, counts, .. } = self;
        let mut batches = file.read_group(group)?;
        let mut first = 0;
        while let Some(rows) = batches.next_batch(table)? {
            let mut batch = RowBatch {
                file: &file.file,
                names: &file.chosen.names,
                columns: &file.chosen.columns,
                whole: false,
                bytes: &[],
                table,
                rows,
                keyer,
                first_missing: None,
                skip_bad: *skip_bad,
                bad_keys: 0,
                sequence,
                first,
                origin: Origin::Rows(file.rows_before(group)),
                limit: 0,
            };
            if batch.rows > 0 {
                step(&mut batch)?;
            }
            counts.add(batch.counts());
            first += rows as u64;
        }
        Ok(())
    }
}
