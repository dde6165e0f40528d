//! Tests of random samples.

pub(crate) mod reservoir;
