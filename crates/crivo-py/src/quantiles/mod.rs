//! Which value has that rank?

mod number_quantiles;

pub(crate) use number_quantiles::NumberQuantiles;
