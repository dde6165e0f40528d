//! What distinguishes one crate's file from another's: its header, its tables, and how its errors
//! speak.
//!
//! These are constants and pure functions of the crate that keeps the file. Everything else is the
//! same for all, and written once in [`File`](crate::File), whose type has the tables: two kinds of
//! file cannot be mistaken for each other.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use crate::problem::Problem;

/// The tables of a file, as an enum of the crate that keeps them.
pub trait Table: Copy + fmt::Debug + 'static {
    /// That crate's error.
    type Error;

    /// The file they are in.
    const FORMAT: Format;

    /// Each of them once.
    const ALL: &'static [Self];

    /// The name in the file.
    fn name(self) -> &'static str;

    /// The seed of a record's checksum, another one for every place.
    fn seed(self, number: i64) -> u64;

    /// What errors call a record.
    fn describe(self, number: i64) -> String {
        format!("record {number} of its {}", self.name())
    }

    /// The error about a file.
    fn error(file: &Path, problem: Problem) -> Self::Error;
}

/// A kind of file. What is in its header must never change, or files written before are refused.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// The name of the file in its folder.
    pub file_name: &'static str,
    /// Four letters in the header of the file: what it is an application's file of.
    pub application: [u8; 4],
    /// The version in the header of a new file.
    pub version: i32,
    /// The oldest version that is read; any other than from here to `version` is refused.
    pub oldest: i32,
    /// Larger for long records.
    pub page_size: u32,
    /// True if only its owner may read a new file.
    pub private: bool,
    /// How long to wait for another writer's commit by default.
    pub patience: Duration,
    /// How to speak of it.
    pub words: Words,
}

/// What errors say about a kind of file.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// A noun: `index`.
    pub name: &'static str,
    /// Its article: `an`.
    pub article: &'static str,
    /// Who writes such files.
    pub program: &'static str,
    /// That there is none, and how to make one.
    pub missing: &'static str,
    /// What to do about damage.
    pub repair: &'static str,
    /// What was done to have something in the file: `committed`.
    pub done: &'static str,
}
