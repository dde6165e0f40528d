//! Sketches that return the value at a rank.

mod key_quantiles;
mod number_quantiles;

pub(crate) use key_quantiles::KeyQuantiles;
pub(crate) use number_quantiles::NumberQuantiles;

use crivo::quantiles::Accuracy;
use pyo3::prelude::*;

use crate::errors::{Failure, Result, setting};

fn accuracy_of(accuracy: &str) -> Result<Accuracy> {
    match accuracy {
        "uniform" => Ok(Accuracy::Uniform),
        "tails" => Ok(Accuracy::Tails),
        other => Err(Failure::Parameter(format!("accuracy: expected 'uniform' or 'tails', found '{other}'"))),
    }
}

fn seed_of(seed: Option<&Bound<'_, PyAny>>) -> Result<u64> {
    seed.map_or(Ok(0), |seed| setting("seed", seed, "0 to 2^64 - 1"))
}
