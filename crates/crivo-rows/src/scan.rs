//! A pass over the input: which fields and records, how values become keys, on how many threads.

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

/// Sets the flags of the records that pass. All flags begin as false. An error ends the scan.
pub type Filter<'f> = dyn Fn(&RowBatch<'_>, &mut [bool]) -> Result<()> + Sync + 'f;

/// Returns true if the values of a record are needed.
pub type NeedsValues<'n> = dyn Fn(RowId) -> bool + Sync + 'n;

/// Which records pass.
#[derive(Clone, Copy)]
pub(crate) enum RowFilter<'a> {
    /// The records that a function flags.
    Flagged(&'a Filter<'a>),
    /// The records that satisfy a condition. Its fields are the columns from this one on.
    Satisfying(&'a Condition, usize),
    /// The records that satisfy a condition. Its fields are found by name among all columns.
    SatisfyingNamed(&'a Condition),
}

impl RowFilter<'_> {
    /// Sets the flags of the records that pass.
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

    /// Returns the same filter for a scan of all columns.
    pub(crate) fn by_name(self) -> Self {
        match self {
            Self::Satisfying(condition, _) => Self::SatisfyingNamed(condition),
            other => other,
        }
    }
}

/// A pass over an [`Input`], which is [folded](Scan::fold) or [copied](Scan::copy_rows).
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
    /// Creates a pass over whole records, keyed by their bytes, on all processors.
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

    /// Sets which fields of each record a step gets.
    #[must_use]
    pub fn select(mut self, select: Select) -> Self {
        self.select = select;
        self
    }

    /// Sets how values become keys: text or integers, and the seed. Take it from the sketch.
    #[must_use]
    pub fn keys(mut self, scheme: KeyScheme) -> Self {
        self.scheme = scheme;
        self
    }

    /// Sets the items of a value: the value itself, or its word n-grams.
    #[must_use]
    pub fn items(mut self, items: Items) -> Self {
        self.items = items;
        self
    }

    /// Sets the number of threads; 0 means the number of processors.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets whether the chunks are dealt to the threads in turn. Then the same input on the same
    /// number of threads gives the same result even if merging is not exact (heavy hitters,
    /// samples). It costs some waiting; sketches that merge exactly do not need it.
    #[must_use]
    pub fn repeatable(mut self, repeatable: bool) -> Self {
        self.repeatable = repeatable;
        self
    }

    /// Leaves out the records that the filter does not flag, before any step gets them. The filter
    /// sees only the selected fields.
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

    /// Leaves out the records that do not satisfy a condition. Its fields are read in addition to
    /// the selected ones, and their columns come after them.
    ///
    /// # Errors
    /// If the condition uses fields, but the selection is neither fields by name or number
    /// ([`Select::fields`]) nor [`Select::All`].
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

    /// Reads only the values of the records for which the function returns true. This is for files
    /// that were read before. The values of other records may be missing, because JSON records are
    /// then neither parsed nor checked, which saves most of the time. The step still gets all
    /// records, with the same ids. If bad records are skipped, all records are parsed.
    #[must_use]
    pub fn values_of(mut self, needs_values: &'a NeedsValues<'a>) -> Self {
        self.needs_values = Some(needs_values);
        self
    }

    /// Sets whether [`Folded::row_number`](crate::Folded::row_number) is available. It takes 8
    /// bytes for each chunk of input.
    #[must_use]
    pub fn number_rows(mut self, numbers_rows: bool) -> Self {
        self.numbers_rows = numbers_rows;
        self
    }

    /// Sets the hook that is told how far the pass is, and that can stop it.
    #[must_use]
    pub fn progress(mut self, progress: &'a dyn Progress) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Sets the columns that get filters in a written Parquet file. Writing rows as text is then an
    /// error.
    #[must_use]
    pub fn column_filters(mut self, filters: &'a ColumnFilters) -> Self {
        self.column_filters = Some(filters);
        self
    }

    /// Sets the size of chunks, for tests with many chunk borders.
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

/// The numbers of what was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Records without the bad ones.
    pub rows: u64,
    /// Records whose first selected field is empty or null.
    pub skipped: u64,
    /// Records that the filter left out. They are included in `rows`.
    pub left_out: u64,
    /// Records that were skipped because they were bad.
    pub bad: u64,
    /// Bytes read as stored, which is compressed if the file is.
    pub bytes: u64,
    /// How often a followed file became shorter than the part that was already read. Rows may have
    /// been missed then, and no count is exact.
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
