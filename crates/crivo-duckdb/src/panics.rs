//! Functions that panic, for tests: a panic must become an SQL error.

#![allow(clippy::panic)] // their only purpose

use crate::api::{Aggregate, Chunk, Output, Registry, Scalar, States, Type, Values};
use crate::error::Result;

pub(crate) fn register(registry: &Registry) -> Result<()> {
    registry.scalar::<Panic>()?;
    registry.aggregate::<PanicAt>()
}

struct Panic;

impl Scalar for Panic {
    const NAME: &'static str = "crivo_panic";
    const OVERLOADS: &'static [&'static [Type]] = &[&[Type::BigInt]];
    const RETURNS: Type = Type::BigInt;

    fn run(_: &Chunk<'_>, _: &mut Output<'_>) -> Result<()> {
        panic!("a panic that the tests have asked for")
    }
}

/// Panics in the callback with the given number: 1 update, 2 combine, 3 finish, 4 destroy.
struct PanicAt;

#[derive(Default)]
struct PanicState(i64);

impl Drop for PanicState {
    fn drop(&mut self) {
        assert!(self.0 != 4 || std::thread::panicking(), "a panic at the end of a state");
    }
}

impl Aggregate for PanicAt {
    type State = PanicState;

    const NAME: &'static str = "crivo_panic_at";
    const OVERLOADS: &'static [(&'static [Type], Type)] = &[(&[Type::BigInt], Type::BigInt)];

    fn update(chunk: &Chunk<'_>, states: &mut States<'_, PanicState>) -> Result<()> {
        if let Values::Int64(values) = chunk.column(0)?.values() {
            for (row, &value) in values.iter().enumerate() {
                states.of_row(row).0 = value;
                assert!(value != 1, "a panic in an update");
            }
        }
        Ok(())
    }

    fn combine(source: &PanicState, target: &mut PanicState) -> Result<()> {
        assert!(source.0 != 2, "a panic in a combination");
        target.0 = source.0;
        Ok(())
    }

    fn finish(state: &mut PanicState, row: usize, out: &mut Output<'_>) -> Result<()> {
        assert!(state.0 != 3, "a panic at the answer");
        out.bigint(row, state.0);
        Ok(())
    }
}
