//! Why an index could not be used.

use std::fmt;
use std::path::{Path, PathBuf};

pub use crivo_records::Problem as IndexProblem;

use super::file::FORMAT;
use crate::error::Error;

/// Why an index could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexError {
    file: PathBuf,
    problem: IndexProblem,
}

impl IndexError {
    /// The file of the index.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the problem with the index.
    pub fn problem(&self) -> &IndexProblem {
        &self.problem
    }
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.write(f, &self.file, &FORMAT.words)
    }
}

impl std::error::Error for IndexError {}

/// Returns an error about a file.
pub(super) fn trouble(file: &Path, problem: IndexProblem) -> Error {
    Error::Index(IndexError { file: file.to_path_buf(), problem })
}

pub(super) fn damaged(file: &Path, what: impl fmt::Display) -> Error {
    trouble(file, IndexProblem::Damaged(what.to_string()))
}
