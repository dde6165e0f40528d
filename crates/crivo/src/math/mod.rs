//! Formulas that several sketches share: pure functions, each with its source and its own tests.

mod binomial;
mod chi_square;
mod crossing;
mod excess;
mod hypergeometric;
mod information;
mod likelihood;
mod normal;
mod sampled;
mod waiting;

pub(crate) use binomial::{at_least, at_most, chances};
pub(crate) use chi_square::{chi_square_above, chi_square_below};
pub(crate) use crossing::crossing;
pub(crate) use excess::excess;
pub(crate) use hypergeometric::drawn_at_least;
pub(crate) use information::{Observed, Point};
pub(crate) use likelihood::{exp2, solve_rate};
pub use normal::two_sided_quantile;
pub use sampled::sampled_total;
pub(crate) use waiting::Failures;
