//! The texts of a column of text, borrowed row by row.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_schema::DataType;

use crate::error::{Error, ErrorKind, Result};
use crate::picked::PickedValues;

/// Appends the bytes of each row of a column of text or bytes, and `None` for a null.
///
/// # Errors
/// If the values are neither text nor bytes.
pub fn texts_of<'a>(array: &'a dyn Array, out: &mut Vec<Option<&'a [u8]>>) -> Result<()> {
    match array.data_type() {
        DataType::Utf8 => out.extend(array.as_string::<i32>().iter().map(|text| text.map(str::as_bytes))),
        DataType::LargeUtf8 => {
            out.extend(array.as_string::<i64>().iter().map(|text| text.map(str::as_bytes)));
        }
        DataType::Utf8View => out.extend(array.as_string_view().iter().map(|text| text.map(str::as_bytes))),
        DataType::Binary => out.extend(array.as_binary::<i32>()),
        DataType::LargeBinary => out.extend(array.as_binary::<i64>()),
        DataType::BinaryView => out.extend(array.as_binary_view()),
        DataType::Null => out.extend((0..array.len()).map(|_| None)),
        other => {
            let Some(picked) = PickedValues::of(array)? else {
                return Err(Error::new(ErrorKind::UnsupportedType, "a column of text", other));
            };
            let mut values = Vec::with_capacity(picked.values().len());
            texts_of(picked.values(), &mut values)?;
            picked.places(|places| {
                out.extend(places.iter().map(|place| place.and_then(|place| values[place as usize])));
                Ok::<(), Error>(())
            })?;
        }
    }
    Ok(())
}
