//! crivo's sketches as functions of DuckDB: one SQL function for each question.
//!
//! docs/duckdb.md has every function with an example. Values become keys by docs/keys.md, so a
//! sketch from SQL has the bytes that the command line writes for the same column.
//!
//! | question | module |
//! |---|---|
//! | what does DuckDB's C API ask of an extension? | [`api`]: the only module with `unsafe` code |
//! | which keys and numbers are in a column? | [`keys`], [`numbers`] |
//! | how is a group held while it grows? | [`content`] |
//! | which sketch is meant, and of what size? | [`rule`] |
//! | how many different, which most often, which value has that rank? | [`distinct`], [`top`], [`quantile`] |
//! | a sketch to keep, and sketches together | [`sketch`], [`merge`] |
//! | what does a stored sketch say? | [`ask`] |
//! | which texts are similar? | [`similarity`], [`near`] |

mod api;
mod ask;
mod content;
mod distinct;
mod error;
mod keys;
mod merge;
mod near;
mod numbers;
#[cfg(feature = "test-panic")]
mod panics;
mod quantile;
mod rule;
mod similarity;
mod sketch;
mod top;

use self::api::Registry;
use self::error::Result;

/// Registers every function.
fn register(registry: &Registry) -> Result<()> {
    registry.aggregate::<distinct::Distinct>()?;
    registry.aggregate::<top::Top>()?;
    registry.aggregate::<quantile::Quantile>()?;
    registry.aggregate::<sketch::Sketch>()?;
    registry.aggregate::<merge::Merge>()?;
    registry.aggregate::<near::NearDuplicates>()?;
    registry.scalar::<ask::EstimateOf>()?;
    registry.scalar::<ask::Contains>()?;
    registry.scalar::<ask::Frequency>()?;
    registry.scalar::<ask::QuantileOf>()?;
    registry.scalar::<ask::TopOf>()?;
    registry.scalar::<ask::Version>()?;
    registry.scalar::<similarity::Signature>()?;
    registry.scalar::<similarity::Similarity>()?;
    registry.scalar::<similarity::Jaccard>()?;
    #[cfg(feature = "test-panic")]
    panics::register(registry)?;
    Ok(())
}
