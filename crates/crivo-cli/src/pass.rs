//! One pass over the input, ready to run: with progress, warnings, and an end at Ctrl-C.

use anyhow::{Result, bail};
use crivo::keys::{KeyKind, KeyScheme};
use crivo::sketch::{InsertKeys, Merge};
use crivo_rows::{Counts, Folded, Input, Items, RowBatch, Scan, Select};

use crate::exact::ExactKeys;
use crate::interrupt::{self, Interrupted};
use crate::output::{Meter, Output};

/// The input and how to read it.
#[derive(Debug)]
pub(crate) struct Pass {
    pub(crate) input: Input,
    pub(crate) select: Select,
    pub(crate) items: Items,
    pub(crate) threads: usize,
}

impl Pass {
    /// Makes sure that keys of this kind can be made of the input.
    pub(crate) fn require_keys(&self, scheme: KeyScheme) -> Result<()> {
        match (scheme.kind(), self.items) {
            (KeyKind::Integer, Items::Words(_)) => {
                bail!("--words: words are text, and the keys are integers")
            }
            (KeyKind::Hash, _) => {
                bail!("the sketch holds hashes that its maker computed; rows cannot be added to it")
            }
            _ => Ok(()),
        }
    }

    /// Adds the keys of every row to a sketch that begins as `empty`.
    pub(crate) fn sketch<S>(&self, empty: &S, scheme: KeyScheme, out: &Output) -> Result<(S, Counts)>
    where
        S: InsertKeys + Merge + Clone + Send + Sync,
    {
        self.fold(
            scheme,
            out,
            || empty.clone(),
            |sketch, batch| Ok(sketch.insert_batch(&batch.keys(0)?)?),
            |sketch, other| Ok(sketch.merge(&other)?),
        )
    }

    /// Collects every different key.
    pub(crate) fn exact(&self, scheme: KeyScheme, out: &Output) -> Result<(ExactKeys, Counts)> {
        self.fold(
            scheme,
            out,
            ExactKeys::default,
            |keys, batch| {
                keys.insert_batch(&batch.keys(0)?);
                Ok(())
            },
            |keys, other| {
                keys.merge(other);
                Ok(())
            },
        )
    }

    fn fold<S: Send>(
        &self,
        scheme: KeyScheme,
        out: &Output,
        make: impl Fn() -> S + Sync,
        step: impl Fn(&mut S, &mut RowBatch<'_>) -> crivo_rows::Result<()> + Sync,
        merge: impl FnMut(&mut S, S) -> crivo_rows::Result<()>,
    ) -> Result<(S, Counts)> {
        interrupt::watch();
        let meter = Meter::new(out);
        let Folded { state, counts, stopped, warnings, .. } = Scan::of(&self.input)
            .select(self.select.clone())
            .items(self.items)
            .keys(scheme)
            .threads(self.threads)
            .progress(&meter)
            .fold(make, step, merge)?;
        drop(meter);
        if stopped {
            return Err(Interrupted.into());
        }
        for warning in warnings {
            out.warn(warning);
        }
        Ok((state, counts))
    }
}
