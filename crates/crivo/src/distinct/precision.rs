//! The sizing that all sketches of `2^precision` registers share: how many registers for an error?

use std::ops::RangeInclusive;

use crate::error::{Error, Result};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// Returns the standard error of a large count, as a share of it: `constant/√(2^precision)`.
pub(super) fn standard_error(constant: f64, precision: u8) -> f64 {
    constant / f64::from(1_u32 << precision.min(31)).sqrt()
}

/// Returns the smallest precision of the range whose standard error is at most `error`.
pub(super) fn precision_for(error: f64, constant: f64, precisions: &RangeInclusive<u8>) -> Result<u8> {
    let reaches = |precision: &u8| error < 1.0 && standard_error(constant, *precision) <= error;
    precisions.clone().find(reaches).ok_or_else(|| {
        let least = standard_error(constant, *precisions.end());
        Error::parameter("error", format_args!("a standard error from {least:.5} to below 1"), error)
    })
}

/// Returns an error if the precision is outside the range.
pub(super) fn check(precision: u8, precisions: &RangeInclusive<u8>) -> Result<()> {
    if precisions.contains(&precision) {
        Ok(())
    } else {
        let (least, most) = precisions.clone().into_inner();
        Err(Error::parameter("precision", format_args!("{least} to {most}"), precision))
    }
}
