//! `crivo_top(x, k)`: which values are the most frequent?

use std::sync::Arc;

use crivo::codec::AnySketch;
use crivo::frequency::{HeavyHitters, Hitter};

use crate::api::{Aggregate, Chunk, Output, States, Type};
use crate::content::{Content, Growth};
use crate::error::{Result, SqlError};
use crate::rule::{COUNTERS, SameInAllRows, constant_integer};
use crate::sketch::insert_column;

pub(crate) struct Top;

/// A list of keys with their counts and bounds.
pub(crate) const HITTERS: Type = Type::List(&Type::Struct(&[
    ("key", Type::Varchar),
    ("count", Type::BigInt),
    ("lower", Type::BigInt),
    ("upper", Type::BigInt),
]));

#[derive(Default)]
pub(crate) struct TopState {
    /// The number of values to list and the empty sketch.
    asked: SameInAllRows<Arc<Asked>>,
    content: Content,
}

#[derive(Debug)]
struct Asked {
    k: usize,
    empty: AnySketch,
}

impl Asked {
    fn new(k: i64) -> Result<Self> {
        let most = *HeavyHitters::CAPACITIES.end();
        let wanted = u64::try_from(k).ok().filter(|k| (1..=most).contains(k));
        let wanted = wanted.ok_or_else(|| SqlError::expected("k", format_args!("1 to {most}"), k))?;
        // The number of counters is the same as for `crivo top -k`.
        let counters = wanted.saturating_mul(16).clamp(COUNTERS, most);
        Ok(Self { k: wanted as usize, empty: HeavyHitters::new(counters)?.into() })
    }

    fn growth(&self) -> Growth<'_> {
        Growth { empty: &self.empty, most_few: 0 }
    }
}

impl PartialEq for Asked {
    fn eq(&self, other: &Self) -> bool {
        self.k == other.k
    }
}

impl Aggregate for Top {
    type State = TopState;

    const NAME: &'static str = "crivo_top";
    const OVERLOADS: &'static [(&'static [Type], Type)] = &[(&[Type::Any, Type::BigInt], HITTERS)];

    fn update(chunk: &Chunk<'_>, states: &mut States<'_, TopState>) -> Result<()> {
        if chunk.rows() == 0 {
            return Ok(());
        }
        let k = constant_integer(&chunk.column(1)?, "k")?;
        let known = states.of_row(0).asked.get().filter(|asked| asked.k as i64 == k).map(Arc::clone);
        let asked = known.map_or_else(|| Asked::new(k).map(Arc::new), Ok)?;
        states.each(|state| state.asked.update(&asked, "k"))?;
        insert_column(&chunk.column(0)?, states, &asked.growth(), |state| &mut state.content)
    }

    fn combine(source: &TopState, target: &mut TopState) -> Result<()> {
        target.asked.combine(&source.asked, "k")?;
        let Some(asked) = source.asked.get() else { return Ok(()) };
        target.content.merge(&source.content, &asked.growth())
    }

    fn finish(state: &mut TopState, row: usize, out: &mut Output<'_>) -> Result<()> {
        match state.asked.get() {
            Some(asked) => write_hitters(&state.content.sketch(&asked.empty).top()?.top(asked.k), row, out),
            None => out.null(row),
        }
        Ok(())
    }
}

/// Writes a row of [`HITTERS`].
pub(crate) fn write_hitters(hitters: &[Hitter], row: usize, out: &mut Output<'_>) {
    let (mut elements, first) = out.list(row, hitters.len());
    let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    for (place, hitter) in (first..).zip(hitters) {
        // Keys that are not UTF-8 are shown in their text form.
        elements.field(0).bytes(place, hitter.key().to_string().as_bytes());
        elements.field(1).bigint(place, count(hitter.count()));
        elements.field(2).bigint(place, count(hitter.lower()));
        elements.field(3).bigint(place, count(hitter.upper()));
    }
}
