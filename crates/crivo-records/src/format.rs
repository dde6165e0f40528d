//! What distinguishes the file of one crate from that of another: its header, its tables, and the
//! wording of its errors.
//!
//! These are constants and pure functions of the crate that keeps the file. Everything else is the
//! same for all, and written once in [`File`](crate::File). The tables are part of its type, so two
//! kinds of file cannot be confused.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use crate::problem::Problem;

/// The tables of a file, as an enum of the crate that keeps them.
pub trait Table: Copy + fmt::Debug + 'static {
    /// The error type of that crate.
    type Error;

    /// The kind of file that has the tables.
    const FORMAT: Format;

    /// Every table once.
    const ALL: &'static [Self];

    /// Returns the name of the table in the file.
    fn name(self) -> &'static str;

    /// Returns the seed of a record's checksum, which differs for every table and number.
    fn seed(self, number: i64) -> u64;

    /// Returns the name of a record in errors.
    fn describe(self, number: i64) -> String {
        format!("record {number} of its {}", self.name())
    }

    /// Returns the error about a problem with a file.
    fn error(file: &Path, problem: Problem) -> Self::Error;
}

/// A kind of file. The values in its header must never change, or older files are refused.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// The name of the file in its folder.
    pub file_name: &'static str,
    /// The four letters in the header that name the application the file belongs to.
    pub application: [u8; 4],
    /// The version in the header of a new file.
    pub version: i32,
    /// The oldest version that can be read. Versions outside `oldest..=version` are refused.
    pub oldest: i32,
    /// The page size in bytes. Long records need a larger one.
    pub page_size: u32,
    /// True if a new file may be read by its owner only.
    pub private: bool,
    /// How long to wait for another writer's commit by default.
    pub patience: Duration,
    /// The wording of errors.
    pub words: Wording,
}

/// The wording of errors about a kind of file.
#[derive(Debug, Clone, Copy)]
pub struct Wording {
    /// A noun for the file: `index`.
    pub name: &'static str,
    /// The article of the noun: `an`.
    pub article: &'static str,
    /// The program that writes such files.
    pub program: &'static str,
    /// A message that there is no such file, and how to make one.
    pub missing: &'static str,
    /// What to do about damage.
    pub repair: &'static str,
    /// The participle for writing to the file: `committed`.
    pub done: &'static str,
}
