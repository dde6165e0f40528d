//! `crivo_distinct(x)`: how many different values are there?

use std::sync::{Arc, OnceLock};

use crivo::codec::AnySketch;
use crivo::distinct::HyperLogLog;

use crate::api::{Aggregate, Chunk, ESTIMATE, Output, States, Type};
use crate::content::{Content, Growth, insert_rows, most_few};
use crate::error::{Result, SqlError};
use crate::keys::HashedRows;
use crate::rule::{PRECISION, SameInAllRows, constant_double};

pub(crate) struct Distinct;

#[derive(Default)]
pub(crate) struct DistinctState {
    /// The requested error, if there is one.
    asked: SameInAllRows<Arc<Asked>>,
    content: Content,
}

/// A requested standard error, and the empty sketch that has it.
#[derive(Debug)]
struct Asked {
    error: f64,
    empty: AnySketch,
    most_few: usize,
}

impl Asked {
    fn new(error: f64) -> Result<Self> {
        let empty = HyperLogLog::for_error(error)?.into();
        Ok(Self { error, most_few: most_few(&empty), empty })
    }
}

impl PartialEq for Asked {
    fn eq(&self, other: &Self) -> bool {
        self.error == other.error
    }
}

/// Returns the growth rule of a query. Without a requested error it uses the sketch of `crivo
/// distinct`.
fn growth(asked: Option<&Asked>) -> Result<Growth<'_>> {
    static DEFAULT: OnceLock<Option<(AnySketch, usize)>> = OnceLock::new();
    if let Some(Asked { empty, most_few, .. }) = asked {
        return Ok(Growth { empty, most_few: *most_few });
    }
    let made = DEFAULT.get_or_init(|| {
        let empty = HyperLogLog::new(PRECISION).ok()?.into();
        let most_few = most_few(&empty);
        Some((empty, most_few))
    });
    let (empty, most_few) = made.as_ref().ok_or_else(|| SqlError::new("the sketch cannot be made"))?;
    Ok(Growth { empty, most_few: *most_few })
}

impl Aggregate for Distinct {
    type State = DistinctState;

    const NAME: &'static str = "crivo_distinct";
    const OVERLOADS: &'static [(&'static [Type], Type)] =
        &[(&[Type::Any], ESTIMATE), (&[Type::Any, Type::Double], ESTIMATE)];

    fn update(chunk: &Chunk<'_>, states: &mut States<'_, DistinctState>) -> Result<()> {
        let mut asked = None;
        if chunk.columns() > 1 && chunk.rows() > 0 {
            let error = constant_double(&chunk.column(1)?, "error")?;
            let known = states.of_row(0).asked.get().filter(|asked| asked.error == error).map(Arc::clone);
            let found = known.map_or_else(|| Asked::new(error).map(Arc::new), Ok)?;
            states.each(|state| state.asked.update(&found, "error"))?;
            asked = Some(found);
        }
        let growth = growth(asked.as_deref())?;
        let hashed = HashedRows::of(&chunk.column(0)?, growth.empty.scheme())?;
        insert_rows(&hashed, states, &growth, |state| &mut state.content)
    }

    fn combine(source: &DistinctState, target: &mut DistinctState) -> Result<()> {
        target.asked.combine(&source.asked, "error")?;
        target.content.merge(&source.content, &growth(source.asked.get().map(Arc::as_ref))?)
    }

    fn finish(state: &mut DistinctState, row: usize, out: &mut Output<'_>) -> Result<()> {
        match state.content.distinct(growth(state.asked.get().map(Arc::as_ref))?.empty) {
            Some(estimate) => out.estimate(row, estimate),
            None => out.null_struct(row, 3),
        }
        Ok(())
    }
}
