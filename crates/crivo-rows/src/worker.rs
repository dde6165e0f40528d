//! The work of one thread: divides a chunk into batches, and passes each to the step function.

use crate::batch::{BatchSource, Origin, RowBatch};
use crate::error::Result;
use crate::feed::{Chunk, Task, Work};
use crate::keyer::Keyer;
use crate::layout::{Layout, Shape};
use crate::parquet::ParquetFile;
use crate::parse::jsonl::Wanted;
use crate::parse::{Table, Text, count_lines};
use crate::scan::{Counts, NeedsValues, RowFilter, Scan};

/// Processes one batch of records. A batch has about a thousand records, so the cost of a call
/// through a pointer is too small to measure. The reading code is compiled once instead of once for
/// each caller.
pub(crate) type Step<'s> = dyn FnMut(&mut RowBatch<'_>) -> Result<()> + 's;

/// The buffers of one thread, which are reused for every chunk.
pub(crate) struct Worker<'a> {
    pub(crate) chunk: Chunk,
    table: Table,
    batches: BatchMaker<'a>,
}

/// Makes batches of the records of a table, and passes them to the step function.
struct BatchMaker<'a> {
    keyer: Keyer,
    skip_bad: bool,
    filter: Option<RowFilter<'a>>,
    needs_values: Option<&'a NeedsValues<'a>>,
    /// The filter's flags for the records of the table, and the numbers of the flagged records.
    flags: Vec<bool>,
    numbers: Vec<u32>,
    counts: Counts,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(scan: &Scan<'a>) -> Self {
        Self {
            chunk: Chunk::default(),
            table: Table::default(),
            batches: BatchMaker {
                keyer: Keyer::new(scan.scheme, scan.items),
                skip_bad: scan.input.skip_bad,
                filter: scan.filter,
                needs_values: scan.needs_values,
                flags: Vec::new(),
                numbers: Vec::new(),
                counts: Counts::default(),
            },
        }
    }

    /// Returns the counts of what was read so far.
    pub(crate) fn counts(&self) -> Counts {
        self.batches.counts
    }

    /// Passes every batch of the work to `step`, even if the filter left out all of its rows.
    /// Returns the number of lines.
    pub(crate) fn run(&mut self, work: &Work, step: &mut Step<'_>) -> Result<u64> {
        match &work.task {
            Task::Text(layout) => self.run_text(layout, work.sequence, step),
            Task::RowGroup(file, group) => self.run_group(file, *group, work.sequence, step).map(|()| 0),
        }
    }

    fn run_text(&mut self, layout: &Layout, sequence: u64, step: &mut Step<'_>) -> Result<u64> {
        let Self { chunk, table, batches } = self;
        let skip_bad = batches.skip_bad;
        let mut text = Text {
            bytes: chunk.bytes(),
            layout,
            has_quotes: chunk.has_quotes,
            skip_bad,
            needs_values: batches.needs_values.filter(|_| !skip_bad),
            first_id: sequence << 32,
        };
        let mut source = BatchSource {
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
            table.join(&layout.chosen, text.bytes)?;
            let records = table.records.len();
            lines += records as u64 + table.bad + table.blank;
            batches.give(source, table, records, step)?;
            source.first += records as u64;
            text.first_id += records as u64;
        }
        // If every line is a record or an empty line, the lines are counted already.
        Ok(match layout.shape {
            Shape::Delimited(_) if chunk.has_quotes => count_lines(chunk.bytes()),
            _ => lines + count_lines(&chunk.bytes()[..chunk.start]),
        })
    }

    fn run_group(
        &mut self,
        file: &ParquetFile,
        group: usize,
        sequence: u64,
        step: &mut Step<'_>,
    ) -> Result<()> {
        let Self { table, batches, .. } = self;
        let mut source = BatchSource {
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
        let mut group = file.read_group(group, batches.keyer.scheme())?;
        while let Some(rows) = group.next_batch(table)? {
            table.join(&file.chosen, &[])?;
            batches.give(source, table, rows, step)?;
            source.first += rows as u64;
        }
        Ok(())
    }
}

impl BatchMaker<'_> {
    /// Passes the records of a table to `step`, without those that the filter leaves out.
    fn give(
        &mut self,
        source: BatchSource<'_>,
        table: &mut Table,
        records: usize,
        step: &mut Step<'_>,
    ) -> Result<()> {
        let Self { keyer, skip_bad, filter, flags, numbers, counts, .. } = self;
        let mut kept = None;
        if let Some(filter) = filter {
            flags.clear();
            flags.resize(records, false);
            filter.flag(&RowBatch::new(source, table, records, None, keyer, *skip_bad), flags)?;
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
