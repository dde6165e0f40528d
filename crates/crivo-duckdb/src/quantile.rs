//! `crivo_quantile(x, q)`: which value has rank `q`?

use std::sync::OnceLock;

use crivo::codec::AnySketch;
use crivo::sketch::Quantiles;

use crate::api::{Aggregate, Chunk, ESTIMATE, Output, States, Type};
use crate::content::{Content, Growth};
use crate::error::{Result, SqlError};
use crate::rule::{SameInAllRows, constant_double, numbers};
use crate::sketch::insert_column;

pub(crate) struct Quantile;

#[derive(Default)]
pub(crate) struct QuantileState {
    /// The requested share of all values.
    share: SameInAllRows<f64>,
    content: Content,
}

fn growth() -> Result<Growth<'static>> {
    static EMPTY: OnceLock<Option<AnySketch>> = OnceLock::new();
    let empty = EMPTY.get_or_init(|| numbers(None).ok().map(AnySketch::from)).as_ref();
    let empty = empty.ok_or_else(|| SqlError::new("the sketch cannot be made"))?;
    Ok(Growth { empty, most_few: 0 })
}

impl Aggregate for Quantile {
    type State = QuantileState;

    const NAME: &'static str = "crivo_quantile";
    const OVERLOADS: &'static [(&'static [Type], Type)] = &[(&[Type::Any, Type::Double], ESTIMATE)];

    fn update(chunk: &Chunk<'_>, states: &mut States<'_, QuantileState>) -> Result<()> {
        if chunk.rows() == 0 {
            return Ok(());
        }
        let share = check_share(constant_double(&chunk.column(1)?, "q")?)?;
        states.each(|state| state.share.update(&share, "q"))?;
        insert_column(&chunk.column(0)?, states, &growth()?, |state| &mut state.content)
    }

    fn combine(source: &QuantileState, target: &mut QuantileState) -> Result<()> {
        target.share.combine(&source.share, "q")?;
        target.content.merge(&source.content, &growth()?)
    }

    fn finish(state: &mut QuantileState, row: usize, out: &mut Output<'_>) -> Result<()> {
        let sketch = state.content.sketch(growth()?.empty);
        write_quantile(sketch.quantiles()?, state.share.get().copied(), row, out);
        Ok(())
    }
}

/// Returns a share if it is between 0 and 1.
pub(crate) fn check_share(share: f64) -> Result<f64> {
    if (0.0..=1.0).contains(&share) {
        return Ok(share);
    }
    Err(SqlError::expected("q", "a share from 0 to 1, such as 0.5", share))
}

/// Writes a quantile, or NULL if there is no value.
pub(crate) fn write_quantile(sketch: &dyn Quantiles, share: Option<f64>, row: usize, out: &mut Output<'_>) {
    match share.and_then(|share| sketch.quantile(share)) {
        Some(estimate) => out.estimate(row, estimate),
        None => out.null_struct(row, 3),
    }
}
