//! Converts Arrow columns to text, value by value. The rules are those of `crivo-arrow`.

use std::sync::Arc;

use arrow_array::{Array, BooleanArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use crivo::keys::text::push_boolean;
use crivo::keys::{KeyDictionary, KeyKind, KeyScheme, Span};
use crivo_arrow::{ColumnVisitor, Offset, walk};

use crate::column::{Column, TextDictionary, ValueKind};
use crate::error::{Error, Result};

/// Appends every value of the array to the column.
pub(crate) fn append(array: &dyn Array, column: &mut Column) -> Result<()> {
    let before = column.len();
    walk(array, &mut AppendTexts(column))?;
    let data_type = array.data_type();
    if *data_type == DataType::Boolean {
        column.mark_from(before, ValueKind::Boolean);
    } else if data_type.is_numeric() {
        column.mark_from(before, ValueKind::Number);
    }
    Ok(())
}

/// Both boolean values as a dictionary, so that each is hashed once.
pub(super) struct Booleans {
    dictionary: Arc<TextDictionary>,
    places: Vec<u32>,
}

impl Booleans {
    /// Returns `None` if keys are not bytes.
    pub(super) fn new(scheme: KeyScheme) -> Result<Option<Self>> {
        if scheme.kind() != KeyKind::Bytes {
            return Ok(None);
        }
        let (mut bytes, mut spans) = (Vec::new(), Vec::new());
        for value in [false, true] {
            let start = bytes.len();
            push_boolean(&mut bytes, value);
            spans.push(Span::new(start..bytes.len())?);
        }
        let keys = KeyDictionary::new(scheme, spans.clone(), bytes)?;
        let dictionary = Arc::new(TextDictionary { keys, spans, kind: ValueKind::Boolean });
        Ok(Some(Self { dictionary, places: Vec::new() }))
    }

    /// Replaces the values of a column by those of an array.
    pub(super) fn append(&mut self, array: &BooleanArray, column: &mut Column) -> Result<()> {
        let place = |value: Option<bool>| value.map_or(TextDictionary::MISSING, u32::from);
        self.places.clear();
        self.places.extend(array.iter().map(place));
        column.pick(&self.dictionary, &self.places)
    }
}

struct AppendTexts<'c>(&'c mut Column);

impl ColumnVisitor for AppendTexts<'_> {
    type Error = Error;

    /// Copies the values at once if they are adjacent.
    fn offsets<O: Offset>(&mut self, bytes: &[u8], offsets: &[O], nulls: Option<&NullBuffer>) -> Result<()> {
        let ranges = offsets.windows(2).map(|ends| ends[0].as_usize()..ends[1].as_usize());
        self.0.push_texts(bytes, ranges, |row| nulls.is_some_and(|nulls| nulls.is_null(row)))
    }

    fn written(
        &mut self,
        rows: usize,
        mut write: impl FnMut(usize, &mut Vec<u8>) -> crivo_arrow::Result<bool>,
    ) -> Result<()> {
        (0..rows).try_for_each(|row| self.0.push_written(|out| Ok(write(row, out)?)))
    }

    fn missing(&mut self, rows: usize) -> Result<()> {
        self.0.fill(self.0.len() + rows)
    }
}
