//! `crivo_merge(sketch)`: merges stored sketches.

use std::sync::Arc;

use crivo::codec::AnySketch;

use crate::api::{Aggregate, Chunk, Output, States, Type};
use crate::error::Result;
use crate::keys::each;

pub(crate) struct Merge;

impl Aggregate for Merge {
    /// `None` before the first sketch.
    type State = Option<Arc<AnySketch>>;

    const NAME: &'static str = "crivo_merge";
    const OVERLOADS: &'static [(&'static [Type], Type)] = &[(&[Type::Blob], Type::Blob)];

    fn update(chunk: &Chunk<'_>, states: &mut States<'_, Self::State>) -> Result<()> {
        let column = chunk.column(0)?;
        let mut failed = None;
        each(&column, column.strings(), |row, blob| {
            if failed.is_none() {
                let added = AnySketch::decode(blob.bytes()).map_err(Into::into);
                failed = added.and_then(|sketch| add(states.of_row(row), sketch)).err();
            }
        });
        failed.map_or(Ok(()), Err)
    }

    fn combine(source: &Self::State, target: &mut Self::State) -> Result<()> {
        match (source, &mut *target) {
            (None, _) => Ok(()),
            (Some(theirs), Some(mine)) => Ok(Arc::make_mut(mine).merge(theirs)?),
            (Some(theirs), None) => {
                *target = Some(Arc::clone(theirs));
                Ok(())
            }
        }
    }

    fn finish(state: &mut Self::State, row: usize, out: &mut Output<'_>) -> Result<()> {
        match state {
            Some(sketch) => out.bytes(row, &sketch.encode()),
            None => out.null(row),
        }
        Ok(())
    }
}

fn add(state: &mut Option<Arc<AnySketch>>, sketch: AnySketch) -> Result<()> {
    if let Some(mine) = state {
        return Ok(Arc::make_mut(mine).merge(&sketch)?);
    }
    *state = Some(Arc::new(sketch));
    Ok(())
}
