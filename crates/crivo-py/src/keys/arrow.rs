//! Reads Arrow columns: any object with `__arrow_c_array__` or `__arrow_c_stream__`. `crivo-arrow`
//! decides which keys they contain.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, NullArray};
use arrow_schema::{DataType, Field};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3_arrow::ffi::{ArrayIterator, ArrayReader};
use pyo3_arrow::input::AnyArray;

use super::Feed;
use crate::errors::{Failure, Result, broken_stream};

/// The description of a suitable column, for messages.
const COLUMN: &str = "a column of text, bytes, numbers, booleans or times";

/// Opens the chunks of a column. A table with one column counts as that column, because results of
/// queries have this form.
pub(super) fn open(values: &Bound<'_, PyAny>) -> Result<Box<dyn ArrayReader + Send>> {
    let py = values.py();
    let mut chunks = values.extract::<AnyArray>()?.into_reader()?;
    let mut field = chunks.field();
    if let DataType::Struct(fields) = field.data_type()
        && let [only] = &fields[..]
        && values.hasattr(intern!(py, "__arrow_c_stream__"))?
    {
        let only = only.clone();
        // Rows of a table are never null. A column of structures may have nulls, and is then
        // refused as such.
        let columns = chunks.map(|chunk| {
            chunk.map(|rows| if rows.null_count() == 0 { rows.as_struct().column(0).clone() } else { rows })
        });
        chunks = Box::new(ArrayIterator::new(columns, only.clone()));
        field = only;
    }
    require_known(&field)?;
    if field.data_type() == &DataType::Null
        && let Ok(len) = values.len()
    {
        // Polars gives such a column a buffer, which Arrow's importer does not expect.
        let missing: ArrayRef = Arc::new(NullArray::new(len));
        return Ok(Box::new(ArrayIterator::new([Ok(missing)], field)));
    }
    Ok(chunks)
}

/// Refuses Arrow extension types whose meaning differs from their storage. For example, pandas
/// stores months as integers, which would be the wrong keys. Text is accepted under any extension
/// type.
fn require_known(field: &Field) -> Result<()> {
    let text = matches!(field.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    match field.metadata().get("ARROW:extension:name") {
        Some(name) if !text && !matches!(name.as_str(), "arrow.uuid" | "arrow.json") => {
            let found = format_args!("the extension type '{name}' of {}", field.data_type());
            Err(Failure::key(COLUMN, found, "convert it to text, or to what it is stored as"))
        }
        _ => Ok(()),
    }
}

/// Returns pyarrow's conversion of a pandas column without the Arrow interface. Since pandas 3,
/// columns have that interface and convert in the same way. Plain numbers and dates are left to
/// NumPy, which need not copy them.
pub(super) fn from_pandas<'py>(values: &Bound<'py, PyAny>) -> Result<Option<Bound<'py, PyAny>>> {
    let py = values.py();
    if !values.get_type().module()?.to_str()?.starts_with("pandas") {
        return Ok(None);
    }
    let Some(dtype) = values.getattr_opt("dtype")? else { return Ok(None) };
    let kind: Option<char> = dtype.getattr_opt("kind")?.and_then(|kind| kind.extract().ok());
    if dtype.is_instance(&py.import("numpy")?.getattr("dtype")?)? && kind != Some('O') {
        return Ok(None);
    }
    // If pyarrow is missing, or finds no type for all values, the values are read one by one.
    let array = py.import("pyarrow").and_then(|pyarrow| pyarrow.call_method1("array", (values,)));
    Ok(array.ok())
}

/// Reads every chunk without the GIL. A stream that is Python code acquires the GIL when needed.
pub(super) fn read(py: Python<'_>, chunks: Box<dyn ArrayReader + Send>, feed: &mut Feed<'_>) -> Result<()> {
    let field = chunks.field();
    py.detach(|| {
        for chunk in chunks {
            let chunk = chunk.map_err(broken_stream)?;
            feed.column(field.name(), &chunk)?;
        }
        Ok(())
    })
}
