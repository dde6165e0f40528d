//! Where derived records are: a kind, a model, and a number within.

/// What is derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Coefficients, thresholds, names of labels.
    Head = 1,
    /// The weights in use.
    Weights = 2,
    /// The weights of the base, from which the later messages continue.
    Base = 3,
    /// Which messages came after the base.
    Later = 4,
    /// Buckets of the keys of signatures.
    Keys = 5,
    /// Buckets of senders.
    Senders = 6,
}

/// The number of a derived record.
pub(crate) fn place(kind: Kind, model: u16, index: u32) -> i64 {
    (kind as i64) << 48 | i64::from(model) << 32 | i64::from(index)
}
