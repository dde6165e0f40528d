//! The numbers of a column.
//!
//! They are read as the command line reads them: a decimal number is the float nearest to its
//! digits. NULL and NaN are not numbers.

use crate::api::{Column, Values};
use crate::error::{Result, SqlError};
use crate::keys::{each, each_integer, each_text};

/// The numbers of a column, each with its row.
#[derive(Default)]
pub(crate) struct NumberRows {
    pub(crate) values: Vec<f64>,
    pub(crate) rows: Vec<u32>,
}

impl NumberRows {
    /// Reads the numbers of a column.
    ///
    /// # Errors
    /// If its type is not a number type.
    pub(crate) fn of(column: &Column<'_>) -> Result<Self> {
        let mut numbers = Self::default();
        let mut push = |row: usize, value: f64| {
            if !value.is_nan() {
                numbers.values.push(value);
                numbers.rows.push(row as u32);
            }
        };
        match column.values() {
            Values::Null => {}
            Values::Float(values) => each(column, values, |row, &value| push(row, value.into())),
            Values::Double(values) => each(column, values, |row, &value| push(row, value)),
            Values::UHuge(values) => each(column, values, |row, value| push(row, value.unsigned() as f64)),
            Values::Decimal(..) => each_text(column, |row, text| {
                let value = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
                push(row, value.unwrap_or(f64::NAN));
            }),
            Values::Int8(_)
            | Values::Int16(_)
            | Values::Int32(_)
            | Values::Int64(_)
            | Values::UInt8(_)
            | Values::UInt16(_)
            | Values::UInt32(_)
            | Values::UInt64(_)
            | Values::Huge(_) => {
                each_integer(column, column.values(), &mut |row, value| push(row, value as f64));
            }
            _ => {
                return Err(SqlError::new(
                    "type of the column: expected numbers, found another type: cast it to DOUBLE, or to BIGINT",
                ));
            }
        }
        Ok(numbers)
    }
}
