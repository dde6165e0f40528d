//! Adds the numbers or texts of a field to a sketch of their ranks.

use anyhow::Result;
use crivo::codec::AnySketch;
use crivo::sketch::Merge as _;
use crivo_rows::{Counts, RowBatch};

use crate::numbers::FieldNumbers;
use crate::output::Output;
use crate::pass::Pass;

/// The sketch of one thread, and its buffer.
#[derive(Clone)]
struct QuantileWorker {
    sketch: AnySketch,
    /// Whether the sketch already draws independently of the other threads.
    is_reseeded: bool,
    numbers: FieldNumbers,
}

/// Returns a sketch of the field's numbers or texts, and the counts of rows. `start` must be an
/// empty sketch, because each thread begins with a copy of it.
pub(super) fn fill(
    pass: &Pass,
    start: AnySketch,
    are_texts: bool,
    out: &Output,
) -> Result<(AnySketch, Counts)> {
    let skip_bad = pass.skip_bad;
    let (scheme, bytes) = (start.scheme(), start.memory());
    let start = QuantileWorker { sketch: start, is_reseeded: false, numbers: FieldNumbers::default() };
    let (worker, mut counts) = pass.fold_copies(
        scheme,
        out,
        (start, bytes),
        |worker, batch| {
            if are_texts { worker.take_texts(batch) } else { worker.take_numbers(batch, skip_bad) }
        },
        |worker, other| {
            worker.numbers.bad += other.numbers.bad;
            Ok(worker.sketch.merge(&other.sketch)?)
        },
    )?;
    counts.bad += worker.numbers.bad;
    counts.rows = counts.rows.saturating_sub(worker.numbers.bad);
    Ok((worker.sketch, counts))
}

impl QuantileWorker {
    fn begin(&mut self, batch: &RowBatch<'_>) {
        if !self.is_reseeded {
            // Chunks are dealt to the threads in turn, so the first row of each thread is the same
            // in every run.
            self.sketch.reseed(batch.id(0).to_u64());
            self.is_reseeded = true;
        }
    }

    fn take_texts(&mut self, batch: &mut RowBatch<'_>) -> crivo_rows::Result<()> {
        self.begin(batch);
        Ok(self.sketch.keys_mut()?.insert_batch(&batch.keys(0)?)?)
    }

    fn take_numbers(&mut self, batch: &RowBatch<'_>, skip_bad: bool) -> crivo_rows::Result<()> {
        self.begin(batch);
        self.numbers.read(batch, 0, skip_bad)?;
        self.sketch.numbers_mut()?.insert_numbers(&self.numbers.values);
        Ok(())
    }
}
