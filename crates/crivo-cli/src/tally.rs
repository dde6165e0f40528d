//! Counting keys, each once or with the weight in another field, into a sketch that keeps counts.
//!
//! A weight is a whole number from 0 on; a row without one is skipped. What a sketch cannot count (a key
//! that is too long, or outside its universe) is an error with file and line, or is counted as bad.

use anyhow::Result;
use crivo::frequency::{CountMin, HeavyHitters, RangeCountMin};
use crivo::keys::{KeyBatch, KeyRef, KeyScheme};
use crivo::sketch::Merge;
use crivo_rows::{Counts, RowBatch};

use crate::numbers;
use crate::output::Output;
use crate::pass::Pass;

/// A sketch that counts keys.
pub(crate) trait Tally: Merge + Clone + Send {
    fn scheme(&self) -> KeyScheme;

    /// Bytes of memory.
    fn bytes(&self) -> usize;

    /// Why a key cannot be counted, if it cannot.
    fn refusal(&self, key: KeyRef<'_>) -> Option<String> {
        let _ = key;
        None
    }

    /// Counts every key once.
    fn count(&mut self, keys: &KeyBatch<'_>) -> crivo::Result<()>;

    /// Counts every key as often as its weight says.
    fn weigh(&mut self, keys: &KeyBatch<'_>, weights: &[u64]) -> crivo::Result<()>;

    /// Counts one key.
    fn add(&mut self, key: KeyRef<'_>, weight: u64) -> crivo::Result<()>;
}

impl Tally for HeavyHitters {
    fn scheme(&self) -> KeyScheme {
        self.scheme()
    }

    fn bytes(&self) -> usize {
        self.memory()
    }

    #[inline]
    fn refusal(&self, key: KeyRef<'_>) -> Option<String> {
        match key {
            KeyRef::Bytes(text) if text.len() > Self::MAX_KEY_BYTES => Some(format!(
                "the key has {} bytes, and at most {} are counted: choose a field with -f",
                text.len(),
                Self::MAX_KEY_BYTES
            )),
            _ => None,
        }
    }

    fn count(&mut self, keys: &KeyBatch<'_>) -> crivo::Result<()> {
        self.insert_batch(keys)
    }

    fn weigh(&mut self, keys: &KeyBatch<'_>, weights: &[u64]) -> crivo::Result<()> {
        self.add_batch(keys, weights)
    }

    fn add(&mut self, key: KeyRef<'_>, weight: u64) -> crivo::Result<()> {
        self.add_ref(key, weight)
    }
}

impl Tally for CountMin {
    fn scheme(&self) -> KeyScheme {
        self.scheme()
    }

    fn bytes(&self) -> usize {
        self.memory()
    }

    fn count(&mut self, keys: &KeyBatch<'_>) -> crivo::Result<()> {
        self.insert_batch(keys)
    }

    fn weigh(&mut self, keys: &KeyBatch<'_>, weights: &[u64]) -> crivo::Result<()> {
        self.add_batch(keys, weights)
    }

    fn add(&mut self, key: KeyRef<'_>, weight: u64) -> crivo::Result<()> {
        let hash = self.scheme().hash_ref(key)?;
        self.add_hash(hash, weight);
        Ok(())
    }
}

impl Tally for RangeCountMin {
    fn scheme(&self) -> KeyScheme {
        self.scheme()
    }

    fn bytes(&self) -> usize {
        self.memory()
    }

    #[inline]
    fn refusal(&self, key: KeyRef<'_>) -> Option<String> {
        match key {
            KeyRef::Integer(integer) if integer > self.greatest() => Some(format!(
                "{key} is not between 0 and {}: more --ranges BITS reach further",
                self.greatest()
            )),
            _ => None,
        }
    }

    fn count(&mut self, keys: &KeyBatch<'_>) -> crivo::Result<()> {
        self.insert_batch(keys)
    }

    fn weigh(&mut self, keys: &KeyBatch<'_>, weights: &[u64]) -> crivo::Result<()> {
        self.add_batch(keys, weights)
    }

    fn add(&mut self, key: KeyRef<'_>, weight: u64) -> crivo::Result<()> {
        match key {
            KeyRef::Integer(integer) => self.add(&integer, weight),
            _ => Ok(()),
        }
    }
}

/// The weights of a batch, and how many rows had none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Weights {
    /// The weight of each row of the batch; 0 for what does not count.
    pub(crate) of_rows: Vec<u64>,
    /// Rows without a weight, and rows that could not be counted.
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
                return Err(batch.error(row, message));
            }
            self.bad += u64::from(read.is_none());
            self.of_rows.push(read.unwrap_or(0));
        }
        Ok(())
    }

    /// Every row counts once.
    fn all_one(&mut self, rows: usize) {
        self.of_rows.clear();
        self.of_rows.resize(rows, 1);
    }

    /// What they add to the counts of a pass.
    pub(crate) fn add_to(&self, counts: &mut Counts) {
        counts.skipped += self.skipped;
        counts.bad += self.bad;
        counts.rows = counts.rows.saturating_sub(self.bad);
    }
}

/// One thread's part.
#[derive(Clone)]
struct Part<S> {
    sketch: S,
    weights: Weights,
    /// The weight of each key.
    of_keys: Vec<u64>,
}

/// Adds the keys of every row to a sketch that begins as `start`, with the weights in column 1 if the
/// pass is `weighted`. On several threads what `start` holds is counted several times, so it is empty.
pub(crate) fn tally<S: Tally>(pass: &Pass, start: S, weighted: bool, out: &Output) -> Result<(S, Counts)> {
    let skip_bad = pass.skip_bad;
    let (scheme, bytes) = (start.scheme(), start.bytes());
    let start = Part { sketch: start, weights: Weights::default(), of_keys: Vec::new() };
    let (part, mut counts) = pass.fold_copies(
        scheme,
        out,
        (start, bytes),
        |part, batch| part.step(batch, weighted, skip_bad),
        |part, other| {
            part.weights.skipped += other.weights.skipped;
            part.weights.bad += other.weights.bad;
            Ok(part.sketch.merge(&other.sketch)?)
        },
    )?;
    part.weights.add_to(&mut counts);
    Ok((part.sketch, counts))
}

impl<S: Tally> Part<S> {
    fn step(&mut self, batch: &mut RowBatch<'_>, weighted: bool, skip_bad: bool) -> crivo_rows::Result<()> {
        if weighted {
            self.weights.read(batch, skip_bad)?;
            return self.add_weighted(batch, skip_bad);
        }
        let Self { sketch, .. } = self;
        let keys = batch.keys(0)?;
        // Where the pass ends with the first bad key the sketch finds it, at no cost.
        if !skip_bad || keys.iter().all(|(key, _)| sketch.refusal(key).is_none()) {
            match sketch.count(&keys) {
                Err(_) if keys.iter().any(|(key, _)| sketch.refusal(key).is_some()) => {}
                counted => return Ok(counted?),
            }
        }
        self.weights.all_one(batch.rows());
        self.add_weighted(batch, skip_bad)
    }

    fn add_weighted(&mut self, batch: &mut RowBatch<'_>, skip_bad: bool) -> crivo_rows::Result<()> {
        let Self { sketch, weights: Weights { of_rows, bad, .. }, of_keys } = self;
        let found = batch.keys_with_rows(0)?;
        let refused = found
            .keys
            .iter()
            .zip(found.rows)
            .find_map(|((key, _), &row)| sketch.refusal(key).map(|message| (row as usize, message)));
        match refused {
            None => {
                of_keys.clear();
                of_keys.extend(found.rows.iter().map(|&row| of_rows[row as usize]));
                Ok(sketch.weigh(&found.keys, of_keys)?)
            }
            Some((row, message)) if !skip_bad => Err(batch.error(row, message)),
            Some(_) => {
                for ((key, _), &row) in found.keys.iter().zip(found.rows) {
                    if sketch.refusal(key).is_some() {
                        *bad += 1;
                    } else {
                        sketch.add(key, of_rows[row as usize])?;
                    }
                }
                Ok(())
            }
        }
    }
}
