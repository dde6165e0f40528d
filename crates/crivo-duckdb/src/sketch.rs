//! `crivo_sketch(x, kind)`: a sketch that can be stored.

use std::sync::Arc;

use crivo::keys::KeyBuffer;
use crivo::sketch::Sketch as _;

use crate::api::{Aggregate, Chunk, Column, Output, States, Type};
use crate::content::{Content, Growth, insert_rows};
use crate::error::Result;
use crate::keys::{HashedRows, KeyRows};
use crate::numbers::NumberRows;
use crate::rule::{Rule, SameInAllRows};

pub(crate) struct Sketch;

/// The parameters of a [`Rule`], for errors.
const KIND_AND_SIZE: &str = "kind and size";

#[derive(Default)]
pub(crate) struct SketchState {
    /// Known from the first row on, even if that row has no value.
    rule: SameInAllRows<Arc<Rule>>,
    content: Content,
}

impl Aggregate for Sketch {
    type State = SketchState;

    const NAME: &'static str = "crivo_sketch";
    const OVERLOADS: &'static [(&'static [Type], Type)] =
        &[(&[Type::Any, Type::Varchar], Type::Blob), (&[Type::Any, Type::Varchar, Type::BigInt], Type::Blob)];

    fn update(chunk: &Chunk<'_>, states: &mut States<'_, SketchState>) -> Result<()> {
        if chunk.rows() == 0 {
            return Ok(());
        }
        let rule = Rule::of(chunk, 1)?;
        states.each(|state| state.rule.update(&rule, KIND_AND_SIZE))?;
        insert_column(&chunk.column(0)?, states, &rule.growth(), |state| &mut state.content)
    }

    fn combine(source: &SketchState, target: &mut SketchState) -> Result<()> {
        target.rule.combine(&source.rule, KIND_AND_SIZE)?;
        let Some(rule) = source.rule.get() else { return Ok(()) };
        target.content.merge(&source.content, &rule.growth())
    }

    fn finish(state: &mut SketchState, row: usize, out: &mut Output<'_>) -> Result<()> {
        match state.rule.get() {
            Some(rule) => out.bytes(row, &rule.finish(&state.content)?),
            None => out.null(row),
        }
        Ok(())
    }
}

/// Adds the values of a column to the sketches of their groups, in the form that the sketch takes:
/// hashes, numbers or keys.
pub(crate) fn insert_column<S>(
    column: &Column<'_>,
    states: &mut States<'_, S>,
    growth: &Growth<'_>,
    content_of: impl Fn(&mut S) -> &mut Content,
) -> Result<()> {
    let mut empty = growth.empty.clone();
    let scheme = empty.scheme();
    if empty.takes_hashes().is_some() {
        return insert_rows(&HashedRows::of(column, scheme)?, states, growth, content_of);
    }
    if empty.takes_numbers().is_some() {
        let numbers = NumberRows::of(column)?;
        let mut values = Vec::new();
        return states.by_group(&numbers.rows, |state, places| {
            values.clear();
            values.extend(places.iter().map(|&place| numbers.values[place as usize]));
            content_of(state).insert_numbers(&values, growth)
        });
    }
    let keys = KeyRows::of(column)?;
    if states.is_single() {
        let mut buffer = KeyBuffer::new(scheme);
        let content = content_of(states.of_row(0));
        return Ok(content.sketch_mut(growth).keys_mut()?.insert_batch(&keys.whole(&mut buffer)?)?);
    }
    let (mut spans, mut buffer) = (Vec::new(), KeyBuffer::new(scheme));
    states.by_group(&keys.rows, |state, places| {
        let batch = keys.batch(places, &mut spans, &mut buffer)?;
        Ok(content_of(state).sketch_mut(growth).keys_mut()?.insert_batch(&batch)?)
    })
}
