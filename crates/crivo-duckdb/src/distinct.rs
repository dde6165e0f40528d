//! `crivo_distinct(x)`: how many different values?

use std::sync::OnceLock;

use crivo::codec::AnySketch;
use crivo::distinct::HyperLogLog;

use crate::api::{Aggregate, Chunk, ESTIMATE, Output, States, Type};
use crate::content::{Content, Growth, MOST_FEW, insert_rows};
use crate::error::{Result, SqlError};
use crate::keys::HashedRows;
use crate::rule::PRECISION;

pub(crate) struct Distinct;

/// The sketch that every group begins as: that of `crivo distinct`.
fn growth() -> Result<Growth<'static>> {
    static EMPTY: OnceLock<Option<AnySketch>> = OnceLock::new();
    let empty = EMPTY.get_or_init(|| HyperLogLog::new(PRECISION).ok().map(AnySketch::from)).as_ref();
    let empty = empty.ok_or_else(|| SqlError::new("the sketch cannot be made"))?;
    Ok(Growth { empty, most_few: MOST_FEW })
}

impl Aggregate for Distinct {
    type State = Content;

    const NAME: &'static str = "crivo_distinct";
    const OVERLOADS: &'static [(&'static [Type], Type)] = &[(&[Type::Any], ESTIMATE)];

    fn update(chunk: &Chunk<'_>, states: &mut States<'_, Content>) -> Result<()> {
        let growth = growth()?;
        let hashed = HashedRows::of(&chunk.column(0)?, growth.empty.scheme())?;
        insert_rows(&hashed, states, &growth, |content| content)
    }

    fn combine(source: &Content, target: &mut Content) -> Result<()> {
        target.merge(source, &growth()?)
    }

    fn finish(content: &mut Content, row: usize, out: &mut Output<'_>) -> Result<()> {
        match content.distinct(growth()?.empty) {
            Some(estimate) => out.estimate(row, estimate),
            None => out.null_struct(row, 3),
        }
        Ok(())
    }
}
