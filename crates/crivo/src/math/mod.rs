//! Formulas that several sketches share: pure functions, each with its source and its own tests.

mod likelihood;
mod normal;

pub(crate) use likelihood::{exp2, solve_rate};
pub use normal::two_sided_quantile;
