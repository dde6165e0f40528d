//! Adds keys to a sketch that counts them, each once or with the weight in another field.
//!
//! A weight is a whole number from 0 on. A row without a weight is skipped. A key that the sketch
//! cannot count, because it is too long or outside its universe, is an error with file and line, or
//! is counted as bad.

use std::time::Duration;

use anyhow::Result;
use crivo::codec::AnySketch;
use crivo::keys::KeyKind;
use crivo::sketch::Merge;
use crivo_rows::{Counts, RowBatch};

use crate::every::fold_showing;
use crate::numbers;
use crate::output::Output;
use crate::pass::Pass;

/// The weights of a batch, and the number of rows without a valid one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Weights {
    /// The weight of each row of the batch. Rows that do not count have 0.
    pub(crate) of_rows: Vec<u64>,
    /// The numbers of rows without a weight, and of rows that could not be counted.
    pub(crate) skipped: u64,
    pub(crate) bad: u64,
}

impl Weights {
    /// Reads the weights in column 1.
    pub(crate) fn read(&mut self, batch: &RowBatch<'_>, skip_bad: bool) -> crivo_rows::Result<()> {
        let (keys, weights) = (batch.column(0), batch.column(1));
        self.of_rows.clear();
        for (row, weight) in weights.iter().enumerate() {
            let read = weight.map_or(Some(0), numbers::whole);
            self.skipped += u64::from(weight.is_none() && keys.get(row).is_some());
            if read.is_none() && !skip_bad {
                let found = numbers::shown(weight.unwrap_or_default());
                let message = format!("expected a whole number from 0 on as the weight, found '{found}'");
                return Err(batch.value_error(1, row, message));
            }
            self.bad += u64::from(read.is_none());
            self.of_rows.push(read.unwrap_or(0));
        }
        Ok(())
    }

    /// Gives every row the weight 1.
    fn all_one(&mut self, rows: usize) {
        self.of_rows.clear();
        self.of_rows.resize(rows, 1);
    }

    /// Adds the skipped and bad rows to the counts of a pass.
    pub(crate) fn add_to(&self, counts: &mut Counts) {
        counts.skipped += self.skipped;
        counts.bad += self.bad;
        counts.rows = counts.rows.saturating_sub(self.bad);
    }
}

/// The sketch of one thread and its buffers.
#[derive(Clone)]
struct TallyWorker {
    sketch: AnySketch,
    weights: Weights,
    /// The weight of each key.
    of_keys: Vec<u64>,
}

/// Adds the keys of all rows to a sketch that begins as `start`. `start` must be empty, because
/// each thread begins with a copy of it. The weights are in column 1 if the pass is `weighted`.
pub(crate) fn tally(
    pass: &Pass,
    start: AnySketch,
    weighted: bool,
    out: &Output,
) -> Result<(AnySketch, Counts)> {
    let skip_bad = pass.skip_bad;
    let (scheme, bytes) = (start.scheme(), start.memory());
    let start = TallyWorker { sketch: start, weights: Weights::default(), of_keys: Vec::new() };
    let (worker, mut counts) = pass.fold_copies(
        scheme,
        out,
        (start, bytes),
        |worker, batch| worker.step(batch, weighted, skip_bad),
        |worker, other| {
            worker.weights.skipped += other.weights.skipped;
            worker.weights.bad += other.weights.bad;
            Ok(Merge::merge(&mut worker.sketch, &other.sketch)?)
        },
    )?;
    worker.weights.add_to(&mut counts);
    Ok((worker.sketch, counts))
}

/// Does the same on one thread, and calls `show` with the sketch and the counts so far at every
/// interval.
pub(crate) fn tally_showing(
    pass: &Pass,
    start: AnySketch,
    weighted: bool,
    every: Duration,
    out: &Output,
    show: impl Fn(&AnySketch, Counts) -> Result<()> + Sync,
) -> Result<(AnySketch, Counts)> {
    let (skip_bad, scheme) = (pass.skip_bad, start.scheme());
    let start = TallyWorker { sketch: start, weights: Weights::default(), of_keys: Vec::new() };
    let step = |worker: &mut TallyWorker, batch: &mut RowBatch<'_>| worker.step(batch, weighted, skip_bad);
    let show = |worker: &TallyWorker, counts: Counts| show(&worker.sketch, counts);
    let (worker, mut counts) = fold_showing(pass, scheme, every, out, start, step, show)?;
    worker.weights.add_to(&mut counts);
    Ok((worker.sketch, counts))
}

impl TallyWorker {
    fn step(&mut self, batch: &mut RowBatch<'_>, weighted: bool, skip_bad: bool) -> crivo_rows::Result<()> {
        if weighted {
            self.weights.read(batch, skip_bad)?;
            return self.add_weighted(batch, skip_bad);
        }
        let sketch = self.sketch.weights_mut()?;
        let keys = batch.keys(0)?;
        // If the first bad key ends the pass, the sketch itself finds it at no extra cost.
        if !skip_bad || keys.iter().all(|(key, _)| sketch.check_key(key).is_ok()) {
            match sketch.insert_batch(&keys) {
                Err(_) if keys.iter().any(|(key, _)| sketch.check_key(key).is_err()) => {}
                counted => return Ok(counted?),
            }
        }
        self.weights.all_one(batch.rows());
        self.add_weighted(batch, skip_bad)
    }

    fn add_weighted(&mut self, batch: &mut RowBatch<'_>, skip_bad: bool) -> crivo_rows::Result<()> {
        let are_integers = self.sketch.scheme().kind() == KeyKind::Integer;
        let Self { sketch, weights: Weights { of_rows, bad, .. }, of_keys } = self;
        let sketch = sketch.weights_mut()?;
        let found = batch.keys_with_rows(0)?;
        let refused = found
            .keys
            .iter()
            .zip(found.rows)
            .find_map(|((key, _), &row)| sketch.check_key(key).err().map(|error| (row as usize, error)));
        match refused {
            None => {
                of_keys.clear();
                of_keys.extend(found.rows.iter().map(|&row| of_rows[row as usize]));
                Ok(sketch.add_batch(&found.keys, of_keys)?)
            }
            Some((row, error)) if !skip_bad => {
                // The sketch sees a negative integer as one from 2^63 on.
                let value = batch.value(0, row).filter(|_| are_integers && !batch.has_elements(0));
                let found = value.map_or_else(|| error.found().to_string(), numbers::shown);
                let message = format!(
                    "expected a {} of {}, found {found}: choose another field with -f, or count such rows as bad \
                     with --skip-bad",
                    error.field(),
                    error.expected(),
                );
                Err(batch.value_error(0, row, message))
            }
            Some(_) => {
                for ((key, _), &row) in found.keys.iter().zip(found.rows) {
                    if sketch.check_key(key).is_err() {
                        *bad += 1;
                    } else {
                        sketch.add_ref(key, of_rows[row as usize])?;
                    }
                }
                Ok(())
            }
        }
    }
}
