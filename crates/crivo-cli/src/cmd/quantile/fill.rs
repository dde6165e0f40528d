//! The numbers of a field, into a sketch of numbers.

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
    /// Whether the sketch draws independently of the other threads' already.
    is_reseeded: bool,
    numbers: FieldNumbers,
}

/// Adds the numbers of every row to a sketch that begins as `start`, which must be empty because each thread
/// begins with a copy.
pub(super) fn fill(pass: &Pass, start: AnySketch, out: &Output) -> Result<(AnySketch, Counts)> {
    let skip_bad = pass.skip_bad;
    let (scheme, bytes) = (start.scheme(), start.memory());
    let start = QuantileWorker { sketch: start, is_reseeded: false, numbers: FieldNumbers::default() };
    let (worker, mut counts) = pass.fold_copies(
        scheme,
        out,
        (start, bytes),
        |worker, batch| worker.step(batch, skip_bad),
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
    fn step(&mut self, batch: &mut RowBatch<'_>, skip_bad: bool) -> crivo_rows::Result<()> {
        if !self.is_reseeded {
            // Chunks are dealt to the threads in turn, so that the first row of each is the same every time.
            self.sketch.reseed(batch.id(0).to_u64());
            self.is_reseeded = true;
        }
        self.numbers.read(batch, 0, skip_bad)?;
        self.sketch.numbers_mut()?.insert_numbers(&self.numbers.values);
        Ok(())
    }
}
