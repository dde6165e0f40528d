//! Where derived records are: a kind, a model, and a number within.

/// What is derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Coefficients, thresholds, names of labels.
    Head = 1,
    /// The weights of labels. In stores of version 2 also those in use.
    Weights = 2,
    /// The weights of the base, from which the later messages continue.
    Base = 3,
    /// Which messages came after the base, in blocks. In stores of version 2 all in one record.
    Later = 4,
    /// Buckets of the keys of signatures in stores of version 2.
    OldKeys = 5,
    /// Buckets of senders.
    Senders = 6,
    /// The weights after the whole blocks of later messages; none if there is no whole block.
    Checkpoint = 7,
    /// The steps towards the messages after those blocks.
    Steps = 8,
    /// Buckets of the keys of signatures.
    Keys = 9,
    /// The messages of the base that are taken for wrong labels.
    Aside = 10,
}

/// The numbers of all records of a kind that belong to a model: the first and the last.
pub(crate) fn range(kind: Kind, model: u16) -> (i64, i64) {
    (place(kind, model, 0), place(kind, model, u32::MAX))
}

/// The number of a derived record.
pub(crate) fn place(kind: Kind, model: u16, index: u32) -> i64 {
    (kind as i64) << 48 | i64::from(model) << 32 | i64::from(index)
}
