//! A fair sample?

pub(crate) mod reservoir;
