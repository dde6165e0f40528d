//! What sketches are made of and what they hand out, the same in every build.

use crivo::keys::OwnedKey;

/// A key with the certain bounds of its count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrequentItem {
    /// The key: bytes or an integer.
    pub key: OwnedKey,
    /// It came at least so often.
    pub lower: u64,
    /// It came at most so often.
    pub upper: u64,
}

/// The numbers that other systems have in KLL sketches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NumberKind {
    /// 64 bits: Spark's `double`.
    #[default]
    Double,
    /// 32 bits: Spark's `float`.
    Float,
    /// Whole numbers of 64 bits: Spark's `bigint`.
    Long,
}
