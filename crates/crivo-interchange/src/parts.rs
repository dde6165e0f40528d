//! Parameters and answers of the sketches, which are the same in every build.

use crivo::keys::OwnedKey;

/// A key with the certain bounds of its count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrequentItem {
    /// The key: bytes or an integer.
    pub key: OwnedKey,
    /// The least possible count.
    pub lower: u64,
    /// The greatest possible count.
    pub upper: u64,
}

/// The types of numbers in the KLL sketches of other systems.
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
