//! The file of an index: its tables and its header.
//!
//! A record's checksum is seeded with its kind in the highest byte and its number in the other
//! bytes. In `head`, kind 1 is the settings, 2 the state and 5 the numbers of removed documents.
//! Kind 3 is a bucket, 4 a document.

use std::path::Path;
use std::time::Duration;

use crivo_records::{Format, Wording};

use super::error::{IndexProblem, trouble};
use super::record::State;
use crate::error::{Error, Result};

/// A connection to the file.
pub(super) type File = crivo_records::File<Table>;

/// The name, the header and the messages of the file.
pub(super) const FORMAT: Format = Format {
    file_name: "index.sqlite",
    application: *b"cvix",
    // The settings have the version, so that a person can read it too.
    version: 0,
    oldest: 0,
    // Three sets of usual length fit in a page.
    page_size: 8192,
    private: false,
    patience: Duration::from_secs(10),
    words: Wording {
        name: "index",
        article: "an",
        program: "crivo",
        missing: "there is no index: make one by adding documents to it",
        repair: "restore it from a copy, or build it again",
        done: "committed",
    },
};

/// The records of the table `head`.
pub(super) const SETTINGS: i64 = 1;
pub(super) const STATE: i64 = 2;
pub(super) const REMOVED: i64 = 3;

/// The tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    Head,
    Documents,
    Buckets,
}

impl crivo_records::Table for Table {
    type Error = Error;

    const FORMAT: Format = FORMAT;
    const ALL: &'static [Self] = &[Self::Head, Self::Documents, Self::Buckets];

    fn name(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::Documents => "documents",
            Self::Buckets => "buckets",
        }
    }

    fn seed(self, number: i64) -> u64 {
        let number = number as u64;
        match self {
            Self::Head if number == REMOVED as u64 => 5 << 56,
            Self::Head => number << 56,
            Self::Buckets => 3 << 56 | number,
            Self::Documents => 4 << 56 | number,
        }
    }

    fn describe(self, number: i64) -> String {
        match (self, number) {
            (Self::Head, SETTINGS) => "the record of its settings".into(),
            (Self::Head, STATE) => "the record of its state".into(),
            (Self::Head, _) => "the record of removed documents".into(),
            (Self::Documents, _) => format!("the record of document {number}"),
            (Self::Buckets, _) => format!("the record of bucket {number}"),
        }
    }

    fn error(file: &Path, problem: IndexProblem) -> Error {
        trouble(file, problem)
    }
}

/// Makes a new file with no documents. It appears complete or not at all.
pub(super) fn create(folder: &Path, settings: &str) -> Result<()> {
    File::create(folder, |file| {
        file.put(Table::Head, SETTINGS, settings.as_bytes().to_vec())?;
        State::default().write(&file)?;
        Ok((file, ()))
    })
}

/// Replaces the text of the settings, in a transaction of the caller.
pub(super) fn write_settings(file: &File, settings: &str) -> Result<()> {
    file.put(Table::Head, SETTINGS, settings.as_bytes().to_vec())
}

/// Returns the text of the settings.
pub(super) fn settings(file: &File) -> Result<String> {
    file.need(Table::Head, SETTINGS, |record| String::from_utf8(record.to_vec()).ok())
}

#[cfg(test)]
mod tests {
    use crivo_records::{Table as _, seal};

    use super::*;

    /// The checksum of a head record must stay as it was when the layout was fixed.
    #[test]
    fn files_written_before_are_believed() {
        let settings =
            "format 1\nthreshold 0.8\nshingles words:5\nstop-words\nseed 0\nhashes 128\nbands 16x6\n";
        let mut record = settings.as_bytes().to_vec();
        seal(Table::Head.seed(SETTINGS), &mut record);
        assert_eq!(record[settings.len()..], [0x58, 0xBF, 0x5B, 0x00, 0x46, 0xE5, 0xD0, 0xB9]);
        assert_eq!(Table::Head.seed(STATE), 2 << 56);
        assert_eq!(Table::Buckets.seed(5), 3 << 56 | 5);
        assert_eq!(Table::Documents.seed(7), 4 << 56 | 7);
        assert_eq!(i32::from_be_bytes(FORMAT.application), 0x6376_6978);
    }
}
