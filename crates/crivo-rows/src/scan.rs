//! A pass over the input: what to hand on, how values become keys, on how many threads.

use crivo::keys::{KeyKind, KeyScheme};

use crate::batch::{RowBatch, RowId};
use crate::condition::Condition;
use crate::error::{Error, ErrorKind, Result};
use crate::filters::ColumnFilters;
use crate::input::Input;
use crate::keyer::Items;
use crate::progress::Progress;
use crate::schedule::thread_count;
use crate::select::Select;

/// A chunk fits the second-level cache beside what the parser and a sketch use.
const CHUNK: usize = 256 << 10;

/// Says which records of a batch are handed on, by setting their flags, which begin as false. An
/// error ends the pass.
pub type Filter<'f> = dyn Fn(&RowBatch<'_>, &mut [bool]) -> Result<()> + Sync + 'f;

/// Says of which records the values are needed.
pub type NeedsValues<'n> = dyn Fn(RowId) -> bool + Sync + 'n;

/// Which records are handed on.
#[derive(Clone, Copy)]
pub(crate) enum RowFilter<'a> {
    /// Those that a function flags.
    Flagged(&'a Filter<'a>),
    /// Those that satisfy a condition, whose fields are the columns from this one on.
    Satisfying(&'a Condition, usize),
    /// Those that satisfy a condition, whose fields are found among all columns by their names.
    SatisfyingNamed(&'a Condition),
}

impl RowFilter<'_> {
    /// Sets the flags of the records that are handed on.
    pub(crate) fn flag(self, batch: &RowBatch<'_>, flags: &mut [bool]) -> Result<()> {
        match self {
            Self::Flagged(filter) => filter(batch, flags),
            Self::Satisfying(condition, first) => {
                if (0..condition.fields.len()).any(|field| batch.has_elements(first + field)) {
                    return Err(
                        batch.error(0, "a condition is about one value, not about the elements of an array")
                    );
                }
                condition.ask(batch, |field| Some(first + field), flags);
                Ok(())
            }
            Self::SatisfyingNamed(condition) => condition.ask_named(batch, flags),
        }
    }

    /// The same for a scan of all columns.
    pub(crate) fn by_name(self) -> Self {
        match self {
            Self::Satisfying(condition, _) => Self::SatisfyingNamed(condition),
            other => other,
        }
    }
}

/// A pass over an [`Input`], to be [folded](Scan::fold) or [copied](Scan::copy_rows).
#[derive(Clone)]
pub struct Scan<'a> {
    pub(crate) input: &'a Input,
    pub(crate) select: Select,
    pub(crate) scheme: KeyScheme,
    pub(crate) items: Items,
    pub(crate) threads: usize,
    pub(crate) repeatable: bool,
    pub(crate) filter: Option<RowFilter<'a>>,
    pub(crate) needs_values: Option<&'a NeedsValues<'a>>,
    pub(crate) numbers_rows: bool,
    pub(crate) progress: Option<&'a dyn Progress>,
    pub(crate) column_filters: Option<&'a ColumnFilters>,
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
            needs_values: None,
            numbers_rows: false,
            progress: None,
            column_filters: None,
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

    /// Leaves out the records that the filter does not flag, before anything else sees them. The
    /// fields it looks at are among those that are selected.
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
        self.filter = Some(RowFilter::Flagged(filter));
        self
    }

    /// Leaves out the records that do not satisfy a condition. Its fields are read behind those
    /// that are selected.
    ///
    /// # Errors
    /// If the condition is about fields, and no fields are selected by name or number:
    /// [`Select::fields`] or [`Select::All`].
    ///
    /// ```
    /// use crivo_rows::condition::Condition;
    /// use crivo_rows::{Input, Scan, Select};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("visits.csv");
    /// std::fs::write(&path, "user,status\nana,200\nrui,500\nana,500\n")?;
    /// let (input, failed) = (Input::file(&path), "status >= 500".parse::<Condition>()?);
    /// let scan = Scan::of(&input).select(Select::field("user")).satisfying(&failed)?;
    /// let folded = scan.fold(|| 0, |rows, batch| Ok(*rows += batch.rows()), |rows, more| Ok(*rows += more))?;
    /// assert_eq!((folded.state, folded.counts.rows, folded.counts.left_out), (2, 3, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn satisfying(mut self, condition: &'a Condition) -> Result<Self> {
        let filter = match &self.select {
            Select::Fields(fields) => {
                let first = fields.len();
                self.select = Select::fields(fields.iter().chain(&condition.fields).cloned());
                RowFilter::Satisfying(condition, first)
            }
            Select::All => RowFilter::SatisfyingNamed(condition),
            _ if condition.fields.is_empty() => RowFilter::Satisfying(condition, 0),
            _ => {
                let message = "a condition about fields needs the field to take to be named too";
                return Err(Error::new(ErrorKind::InvalidOption, message));
            }
        };
        self.filter = Some(filter);
        Ok(self)
    }

    /// For a later reading of files that were read before: the values of other records may be
    /// missing, because records of JSON are then neither parsed nor checked, which saves most of
    /// the time. All records are handed on, with the same ids. Where bad records are skipped, all
    /// are parsed.
    #[must_use]
    pub fn values_of(mut self, needs_values: &'a NeedsValues<'a>) -> Self {
        self.needs_values = Some(needs_values);
        self
    }

    /// Whether [`Folded::row_number`](crate::Folded::row_number) is to be answered, which takes 8
    /// bytes a chunk of input.
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

    /// The columns for which a Parquet file that is written gets filters. Rows that are written as
    /// text are refused then.
    #[must_use]
    pub fn column_filters(mut self, filters: &'a ColumnFilters) -> Self {
        self.column_filters = Some(filters);
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
        thread_count(self.threads)
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
    /// How often a followed file became shorter than what was read of it. Rows may have been missed
    /// then, and no count is exact.
    pub truncations: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.skipped += other.skipped;
        self.left_out += other.left_out;
        self.bad += other.bad;
        self.bytes += other.bytes;
        self.truncations += other.truncations;
    }
}
