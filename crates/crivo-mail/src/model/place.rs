//! The numbers of derived records. Each is composed of a kind, a model, and an index.

/// The kinds of derived records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Coefficients, thresholds, names of labels.
    Head = 1,
    /// The weights of labels. In stores of version 2 also those in use.
    Weights = 2,
    /// The weights of the base, from which the later messages continue.
    Base = 3,
    /// The messages after the base, in blocks. In stores of version 2 all are in one record.
    Later = 4,
    /// Buckets of the keys of signatures in stores of version 2.
    OldKeys = 5,
    /// Buckets of senders.
    Senders = 6,
    /// The weights after the whole blocks of later messages. Missing if there is no whole block.
    Checkpoint = 7,
    /// The steps of the messages after those blocks.
    Steps = 8,
    /// Buckets of the keys of signatures.
    Keys = 9,
    /// The messages of the base that are taken for wrong labels.
    Aside = 10,
}

/// Returns the first and the last record number of a kind that belong to a model.
pub(crate) fn range(kind: Kind, model: u16) -> (i64, i64) {
    (place(kind, model, 0), place(kind, model, u32::MAX))
}

/// Returns the number of a derived record.
pub(crate) fn place(kind: Kind, model: u16, index: u32) -> i64 {
    (kind as i64) << 48 | i64::from(model) << 32 | i64::from(index)
}
