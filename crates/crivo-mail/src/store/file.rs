//! The format of a store's file: its tables, and the checksum seed of each record.
//!
//! The numbers of messages are fingerprints, which use all 64 bits. So the seed of a record's
//! checksum is a hash of its number, which is itself seeded with its table.

use std::path::Path;
use std::time::Duration;

use crivo_records::{Format, Wording};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::error::{Error, Problem};

/// One connection to the file.
pub(crate) type File = crivo_records::File<Table>;

/// The format of the file.
pub(crate) const FORMAT: Format = Format {
    file_name: "mail.sqlite",
    application: *b"cvml",
    // Version 2 has weights and keys in a longer form, and weights up to version 3 are for features
    // without groups. Both are read until the next lesson.
    version: 4,
    oldest: 2,
    // Weights and buckets are long, so pages are fewer and larger.
    page_size: 16384,
    private: true,
    patience: Duration::from_secs(30),
    words: Wording {
        name: "store",
        article: "a",
        program: "crivo mail",
        missing: "there is no store of learned mail: make one with crivo mail train or learn",
        repair: "restore it from a copy or an export, or train it again",
        done: "learned",
    },
};

/// The tables of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    Head,
    Messages,
    Features,
    Derived,
}

impl crivo_records::Table for Table {
    type Error = Error;

    const FORMAT: Format = FORMAT;
    const ALL: &'static [Self] = &[Self::Head, Self::Messages, Self::Features, Self::Derived];

    fn name(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::Messages => "messages",
            Self::Features => "features",
            Self::Derived => "derived",
        }
    }

    fn seed(self, number: i64) -> u64 {
        xxh3_64_with_seed(&number.to_le_bytes(), self as u64 + 1)
    }

    fn error(file: &Path, problem: Problem) -> Error {
        Error::Store { file: file.to_path_buf(), problem }
    }
}

#[cfg(test)]
mod tests {
    use crivo_records::{Table as _, seal};

    use super::*;

    /// The record of the table `head` when the layout was settled.
    #[test]
    fn files_written_before_are_believed() {
        let mut record = b"method default".to_vec();
        seal(Table::Head.seed(1), &mut record);
        assert_eq!(record[14..], [0xB5, 0xDC, 0x98, 0x0E, 0xD6, 0x8D, 0xA2, 0xFB]);
        assert_eq!(Table::ALL.iter().map(|table| *table as u64).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(i32::from_be_bytes(FORMAT.application), 0x6376_6D6C);
    }
}
