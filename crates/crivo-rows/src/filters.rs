//! Filters inside of Parquet files, as callers see them in every build.

use crate::error::{Error, ErrorKind, Result};

/// The columns of a written Parquet file that get a filter in each row group.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnFilters {
    /// Their names.
    pub columns: Vec<String>,
    /// The share of absent values that a filter may take for members.
    pub rate: f64,
}

impl ColumnFilters {
    #[cfg_attr(not(feature = "parquet"), allow(dead_code))]
    pub(crate) fn check(&self) -> Result<()> {
        if self.rate > 0.0 && self.rate < 1.0 {
            return Ok(());
        }
        let message = format_args!("the rate of a filter is a share between 0 and 1, not {}", self.rate);
        Err(Error::new(ErrorKind::InvalidOption, message))
    }

    /// What is said where no Parquet file is written.
    #[cold]
    pub(crate) fn only_in_parquet() -> Error {
        let message =
            "filters of columns are part of Parquet files, and the output is none: name it .parquet";
        Error::new(ErrorKind::InvalidOption, message)
    }
}

/// What the filters of a column say about keys.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FilterAnswers {
    /// For each key whether it may be a value of the column; false is certain.
    pub members: Vec<bool>,
    /// The share of absent values that get a yes from one of the row groups.
    pub false_positive_rate: f64,
    /// The bytes of all filters.
    pub bytes: u64,
}
