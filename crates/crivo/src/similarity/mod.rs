//! Which are alike?

pub mod shingle;
