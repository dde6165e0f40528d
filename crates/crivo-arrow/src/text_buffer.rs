//! A copy of the texts of a small column, such as the values of a dictionary.

use std::ops::Range;

use arrow_buffer::NullBuffer;
use crivo::keys::Span;

use crate::error::{Error, Result};
use crate::values::Offset;
use crate::walk::{ColumnVisitor, is_valid};

/// The text of each row. The text of a missing value is empty.
#[derive(Default)]
pub(crate) struct TextBuffer {
    pub(crate) bytes: Vec<u8>,
    pub(crate) spans: Vec<Span>,
}

impl TextBuffer {
    fn end(&mut self, start: usize) -> Result<()> {
        self.spans.push(Span::new(start..self.bytes.len())?);
        Ok(())
    }
}

impl ColumnVisitor for TextBuffer {
    type Error = Error;

    fn offsets<O: Offset>(&mut self, bytes: &[u8], offsets: &[O], nulls: Option<&NullBuffer>) -> Result<()> {
        for (row, range) in ranges(offsets).enumerate() {
            let start = self.bytes.len();
            if is_valid(nulls, row) {
                self.bytes.extend_from_slice(&bytes[range]);
            }
            self.end(start)?;
        }
        Ok(())
    }

    fn written(
        &mut self,
        rows: usize,
        mut write: impl FnMut(usize, &mut Vec<u8>) -> Result<bool>,
    ) -> Result<()> {
        for row in 0..rows {
            let start = self.bytes.len();
            if !write(row, &mut self.bytes)? {
                self.bytes.truncate(start);
            }
            self.end(start)?;
        }
        Ok(())
    }
}

/// Returns the range between each offset and the next.
pub(crate) fn ranges<O: Offset>(offsets: &[O]) -> impl Iterator<Item = Range<usize>> + Clone + '_ {
    offsets.windows(2).map(|pair| pair[0].as_usize()..pair[1].as_usize())
}
