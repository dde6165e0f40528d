//! The first primitive: reads records into mergeable states, on all threads.

use crate::batch::{RowBatch, RowId};
use crate::error::Result;
use crate::scan::{Counts, Scan};
use crate::schedule::{OnPanic, Shared, WorkerNumber, on_threads};

/// The result of a fold.
#[derive(Debug)]
#[non_exhaustive]
pub struct Folded<S> {
    /// The merged state.
    pub state: S,
    /// What was read.
    pub counts: Counts,
    /// Whether the progress hook stopped the pass before its end.
    pub stopped: bool,
    /// The names of the first file's selected columns, even if it has no rows. Empty if columns are
    /// found record by record (all fields of JSONL).
    pub names: Vec<String>,
    /// The bytes of the first file's header, line end included.
    pub header: Option<Vec<u8>>,
    /// The first file whose header differs from that of the first file.
    pub odd_header: Option<String>,
    /// The first file whose columns have other names than those of the first file, or another
    /// order, if both have names.
    pub odd_names: Option<String>,
    /// What the user should know, each one sentence: for example columns that were left out.
    pub warnings: Vec<String>,
    /// The number of rows before each chunk, if rows are numbered.
    rows_before: Vec<u64>,
}

impl<S> Folded<S> {
    /// Returns the number of a record among all that were read, from 1, without the bad ones.
    /// Returns `None` unless the scan [numbers rows](Scan::number_rows).
    pub fn row_number(&self, id: RowId) -> Option<u64> {
        let (chunk, row) = id.parts();
        Some(self.rows_before.get(chunk)? + row + 1)
    }
}

impl Scan<'_> {
    /// Reads the input once. Each thread begins with its own state from `make`. `step` adds one
    /// batch of records to a state, and `merge` joins the states at the end.
    ///
    /// For sketches whose merge equals the sketch of the joined stream, the result does not depend
    /// on the number of threads. For other sketches see [`repeatable`](Scan::repeatable).
    ///
    /// # Errors
    /// The first error in input order, of reading, parsing, `step` or `merge`.
    ///
    /// ```
    /// use crivo::distinct::HyperLogLog;
    /// use crivo_rows::{Input, Scan, Select};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("sales.csv");
    /// std::fs::write(&path, "user,amount\nana,1\nrui,2\nana,3\n,4\n")?;
    /// let input = Input::file(&path);
    /// let empty = HyperLogLog::new(12)?;
    /// let folded = Scan::of(&input).select(Select::field("user")).keys(empty.scheme()).fold(
    ///     || empty.clone(),
    ///     |sketch, batch| Ok(sketch.insert_batch(&batch.keys(0)?)?),
    ///     |sketch, other| Ok(sketch.merge(&other)?),
    /// )?;
    /// assert_eq!(folded.state.estimate().value(), 2.0);
    /// assert_eq!((folded.counts.rows, folded.counts.skipped), (4, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fold<S: Send>(
        &self,
        make: impl Fn() -> S + Sync,
        step: impl Fn(&mut S, &mut RowBatch<'_>) -> Result<()> + Sync,
        mut merge: impl FnMut(&mut S, S) -> Result<()>,
    ) -> Result<Folded<S>> {
        self.check()?;
        let workers = self.thread_count();
        let shared = Shared::new(self);
        let work = |number: WorkerNumber| {
            let _guard = OnPanic(|| shared.stop());
            let mut state = make();
            let counts = shared.run_worker(self, number, &mut |batch| step(&mut state, batch));
            (state, counts)
        };
        let parts = on_threads(workers, work);
        let rows_before = shared.take_rows_before();
        let (feed, counts) = shared.conclude(parts.iter().map(|(_, counts)| *counts))?;
        let mut state = None;
        for (part, _) in parts {
            match &mut state {
                None => state = Some(part),
                Some(state) => merge(state, part)?,
            }
        }
        Ok(Folded {
            state: state.unwrap_or_else(&make),
            counts,
            stopped: feed.stopped,
            names: feed.first_names,
            header: feed.header,
            odd_header: feed.odd_header.map(|file| file.to_string()),
            odd_names: feed.odd_names.map(|file| file.to_string()),
            warnings: feed.warnings,
            rows_before,
        })
    }
}
