//! A pass over the input: what to hand on, how values become keys, on how many threads.

use std::num::NonZero;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crivo::keys::{KeyKind, KeyScheme};

use crate::batch::{Origin, RowBatch, Source};
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

/// Says which records of a batch are handed on, by setting their flags, which begin as false. An error ends the pass.
pub type Filter<'f> = dyn Fn(&RowBatch<'_>, &mut [bool]) -> Result<()> + Sync + 'f;

/// A pass over an [`Input`], to be [folded](Scan::fold) or [copied](Scan::copy_rows).
#[derive(Clone)]
pub struct Scan<'a> {
    pub(crate) input: &'a Input,
    pub(crate) select: Select,
    pub(crate) scheme: KeyScheme,
    pub(crate) items: Items,
    pub(crate) threads: usize,
    pub(crate) repeatable: bool,
    pub(crate) filter: Option<&'a Filter<'a>>,
    pub(crate) numbers_rows: bool,
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
            filter: None,
            numbers_rows: false,
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

    /// Leaves out the records that the filter does not flag, before anything else sees them. The fields it
    /// looks at are among those that are selected.
    ///
    /// ```
    /// use crivo_rows::{Input, Scan, Select};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("visits.csv");
    /// std::fs::write(&path, "user,status\nana,200\nrui,500\nana,500\n")?;
    /// let input = Input::file(&path);
    /// let scan = Scan::of(&input).select(Select::fields(["user", "status"]));
    /// let failed = scan.only(&|batch, flags| {
    ///     batch.column(1).iter().zip(flags).for_each(|(status, flag)| *flag = status == Some(b"500"));
    ///     Ok(())
    /// });
    /// let folded = failed.fold(|| 0, |rows, batch| Ok(*rows += batch.rows()), |rows, more| Ok(*rows += more))?;
    /// assert_eq!((folded.state, folded.counts.rows, folded.counts.left_out), (2, 3, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn only(mut self, filter: &'a Filter<'a>) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Whether [`Folded::row_number`](crate::Folded::row_number) is to be answered, which takes 8 bytes a chunk of input.
    #[must_use]
    pub fn number_rows(mut self, numbers_rows: bool) -> Self {
        self.numbers_rows = numbers_rows;
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
    /// Records that the filter left out; they are among `rows`.
    pub left_out: u64,
    /// Records that were skipped because they were bad.
    pub bad: u64,
    /// Bytes read, as stored: compressed where the file is.
    pub bytes: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.skipped += other.skipped;
        self.left_out += other.left_out;
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
            ledger: Mutex::new(Ledger::new(scan.numbers_rows)),
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

    pub(crate) fn finish(&self, work: &Work, lines: u64, rows: u64) {
        lock(&self.ledger).finish(work.sequence, ChunkLines { begins_file: work.begins_file, lines, rows });
    }

    /// The rows before each chunk, if rows are numbered.
    pub(crate) fn take_rows_before(&self) -> Vec<u64> {
        lock(&self.ledger).take_rows_before()
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
pub(crate) struct Worker<'a> {
    pub(crate) chunk: Chunk,
    table: Table,
    hands: Hands<'a>,
}

/// What takes the records of a table on to a step.
struct Hands<'a> {
    keyer: Keyer,
    skip_bad: bool,
    filter: Option<&'a Filter<'a>>,
    /// Which records of the table the filter flags, and the numbers of those.
    flags: Vec<bool>,
    numbers: Vec<u32>,
    counts: Counts,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(scan: &Scan<'a>) -> Self {
        Self {
            chunk: Chunk::default(),
            table: Table::default(),
            hands: Hands {
                keyer: Keyer::new(scan.scheme, scan.items),
                skip_bad: scan.input.skip_bad,
                filter: scan.filter,
                flags: Vec::new(),
                numbers: Vec::new(),
                counts: Counts::default(),
            },
        }
    }

    /// What was read so far.
    pub(crate) fn counts(&self) -> Counts {
        self.hands.counts
    }

    /// Gives every batch of the work to `step`, also if the filter left no row in it; the number of lines.
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
        let Self { chunk, table, hands } = self;
        let skip_bad = hands.skip_bad;
        let text = Text { bytes: chunk.bytes(), layout, has_quotes: chunk.has_quotes, skip_bad };
        let mut source = Source {
            file: &layout.file,
            chosen: &layout.chosen,
            discovers: matches!(layout.shape, Shape::Json(Wanted::All)),
            whole: layout.whole,
            bytes: text.bytes,
            limit: chunk.end - usize::from(chunk.newline_added),
            origin: Origin::Chunk,
            sequence,
            first: 0,
        };
        let mut position = chunk.start;
        let mut lines = 0;
        while position < chunk.end {
            position = text.next_batch(position, table)?;
            let records = table.records.len();
            lines += records as u64 + table.bad + table.blank;
            hands.hand_on(source, table, records, &mut step)?;
            source.first += records as u64;
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
        let Self { table, hands, .. } = self;
        let mut source = Source {
            file: &file.file,
            chosen: &file.chosen,
            discovers: false,
            whole: false,
            bytes: &[],
            limit: 0,
            origin: Origin::Rows(file.rows_before(group)),
            sequence,
            first: 0,
        };
        let mut batches = file.read_group(group)?;
        while let Some(rows) = batches.next_batch(table)? {
            hands.hand_on(source, table, rows, &mut step)?;
            source.first += rows as u64;
        }
        Ok(())
    }
}

impl Hands<'_> {
    /// Gives the records of a table to `step`, without those that the filter leaves out.
    fn hand_on(
        &mut self,
        source: Source<'_>,
        table: &mut Table,
        records: usize,
        step: &mut impl FnMut(&mut RowBatch<'_>) -> Result<()>,
    ) -> Result<()> {
        let Self { keyer, skip_bad, filter, flags, numbers, counts } = self;
        let mut kept = None;
        if let Some(filter) = filter {
            flags.clear();
            flags.resize(records, false);
            filter(&RowBatch::new(source, table, records, None, keyer, *skip_bad), flags)?;
            numbers.clear();
            numbers.extend((0..).zip(&*flags).filter(|(_, flag)| **flag).map(|(number, _)| number));
            table.keep_only(flags);
            kept = Some(numbers.as_slice());
        }
        let mut batch = RowBatch::new(source, table, records, kept, keyer, *skip_bad);
        if records > 0 {
            step(&mut batch)?;
        }
        counts.add(batch.counts());
        Ok(())
    }
}
