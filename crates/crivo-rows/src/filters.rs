//! Filters inside of Parquet files. These types are part of every build.

use crate::error::{Error, ErrorKind, Result};

/// The columns of a written Parquet file that get a filter in each row group.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnFilters {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The false positive rate of a filter.
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

    /// Returns the error for filters in an output that is not Parquet.
    #[cold]
    pub(crate) fn only_in_parquet() -> Error {
        let message =
            "filters of columns are part of Parquet files, and the output is none: name it .parquet";
        Error::new(ErrorKind::InvalidOption, message)
    }
}

/// The answers of the filters of a column about keys.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FilterAnswers {
    /// For each key whether the column may contain it. False is certain.
    pub members: Vec<bool>,
    /// The share of absent values that at least one row group's filter reports as present.
    pub false_positive_rate: f64,
    /// The size of all filters in bytes.
    pub bytes: u64,
}
