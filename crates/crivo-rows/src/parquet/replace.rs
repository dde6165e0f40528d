//! Replaces values in one column of rows of Parquet files.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BinaryArray, LargeBinaryArray, LargeStringArray, RecordBatch, StringArray,
    StringViewArray,
};
use arrow_schema::DataType;

use crate::error::{Error, ErrorKind, Result};

/// Returns the rows with the values in one column replaced by those that are `Some`.
pub(crate) fn with_column(
    rows: &RecordBatch,
    column: usize,
    values: &[Option<Vec<u8>>],
    file: &Arc<str>,
) -> Result<RecordBatch> {
    let failed = |message: String| Error::new(ErrorKind::Unsupported, message).in_file(file);
    let old = rows.columns().get(column).ok_or_else(|| failed("there is no such column".into()))?;
    let text = |row: usize| values.get(row).and_then(Option::as_deref);
    let utf8 = |bytes: &[u8]| {
        String::from_utf8(bytes.to_vec()).map_err(|error| failed(format!("a text that is no UTF-8: {error}")))
    };
    macro_rules! texts {
        ($array:ty, $old:expr) => {{
            let old = $old;
            let new = (0..old.len()).map(|row| match text(row) {
                Some(bytes) => utf8(bytes).map(Some),
                None => Ok(old.is_valid(row).then(|| old.value(row).to_owned())),
            });
            Arc::new(<$array>::from_iter(new.collect::<Result<Vec<Option<String>>>>()?)) as ArrayRef
        }};
    }
    macro_rules! bytes {
        ($array:ty, $old:expr) => {{
            let old = $old;
            let new = (0..old.len()).map(|row| {
                text(row)
                    .map_or_else(|| old.is_valid(row).then(|| old.value(row).to_vec()), |b| Some(b.to_vec()))
            });
            Arc::new(<$array>::from_iter(new.collect::<Vec<Option<Vec<u8>>>>())) as ArrayRef
        }};
    }
    let new = match old.data_type() {
        DataType::Utf8 => texts!(StringArray, old.as_string::<i32>()),
        DataType::LargeUtf8 => texts!(LargeStringArray, old.as_string::<i64>()),
        DataType::Utf8View => texts!(StringViewArray, old.as_string_view()),
        DataType::Binary => bytes!(BinaryArray, old.as_binary::<i32>()),
        DataType::LargeBinary => bytes!(LargeBinaryArray, old.as_binary::<i64>()),
        other => {
            return Err(failed(format!(
                "values of type {other} cannot be replaced: expected a column of text"
            )));
        }
    };
    let mut columns = rows.columns().to_vec();
    columns[column] = new;
    RecordBatch::try_new(rows.schema(), columns).map_err(|error| failed(error.to_string()))
}
