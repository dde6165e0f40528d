//! The values of one field over the records of a batch, as the parsers fill them.

use std::ops::Range;

use crivo::keys::Span;

use crate::error::Result;

/// Positions of values. They lie in the chunk while every value stands there as it is; the first
/// value that must be built (unescaped, or written out from a number) moves the column into bytes
/// of its own. An empty span is a missing value: empty and null are the same here.
#[derive(Debug, Default)]
pub(crate) struct Column {
    spans: Vec<Span>,
    built: Vec<u8>,
    owns: bool,
}

impl Column {
    pub(crate) fn clear(&mut self) {
        self.spans.clear();
        self.built.clear();
        self.owns = false;
    }

    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.spans.truncate(len);
    }

    /// Forgets the values without a flag.
    pub(crate) fn keep_only(&mut self, flags: &[bool]) {
        let mut flag = flags.iter();
        self.spans.retain(|_| flag.next().is_none_or(|flag| *flag));
    }

    /// Adds the value `chunk[start..end]`.
    #[inline]
    pub(crate) fn push(&mut self, chunk: &[u8], start: usize, end: usize) -> Result<()> {
        if self.owns {
            return self.push_bytes(&chunk[start..end]);
        }
        self.spans.push(Span::new(start..end)?);
        Ok(())
    }

    /// Adds a missing value.
    #[inline]
    pub(crate) fn push_missing(&mut self) -> Result<()> {
        self.spans.push(Span::new(0..0)?);
        Ok(())
    }

    /// Adds missing values until there are `len`.
    pub(crate) fn fill(&mut self, len: usize) -> Result<()> {
        while self.spans.len() < len {
            self.push_missing()?;
        }
        Ok(())
    }

    /// Adds a value that `write` appends to the column's own bytes.
    pub(crate) fn push_built(&mut self, chunk: &[u8], write: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        if !self.owns {
            self.owns = true;
            for span in &mut self.spans {
                let start = self.built.len();
                self.built.extend_from_slice(&chunk[span.range()]);
                *span = Span::new(start..self.built.len())?;
            }
        }
        let start = self.built.len();
        write(&mut self.built);
        self.spans.push(Span::new(start..self.built.len())?);
        Ok(())
    }

    /// Adds values that lie in other bytes, in order; some of them may be missing.
    pub(crate) fn push_texts(
        &mut self,
        bytes: &[u8],
        ranges: impl Iterator<Item = Range<usize>> + Clone,
        is_missing: impl Fn(usize) -> bool,
    ) -> Result<()> {
        let (Some(first), Some(last)) = (ranges.clone().next(), ranges.clone().last()) else { return Ok(()) };
        let start = self.built.len();
        self.owns = true;
        self.built.extend_from_slice(&bytes[first.start..last.end]);
        for (row, range) in ranges.enumerate() {
            if is_missing(row) {
                self.push_missing()?;
            } else {
                self.spans
                    .push(Span::new(start + range.start - first.start..start + range.end - first.start)?);
            }
        }
        Ok(())
    }

    fn push_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let start = self.built.len();
        self.built.extend_from_slice(bytes);
        self.spans.push(Span::new(start..self.built.len())?);
        Ok(())
    }

    /// The spans, and the bytes they are in.
    pub(crate) fn view<'a>(&'a self, chunk: &'a [u8]) -> Values<'a> {
        Values { bytes: if self.owns { &self.built } else { chunk }, spans: &self.spans }
    }
}

/// The values of one column of a batch, row by row; `None` is empty or null.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) spans: &'a [Span],
}

impl<'a> Values<'a> {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// How many values are empty or null.
    pub fn missing(&self) -> usize {
        self.spans.iter().filter(|span| span.range().is_empty()).count()
    }

    /// The value of a row; `None` if it is empty, null, or there is no such row.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&'a [u8]> {
        self.spans.get(row).map(|span| &self.bytes[span.range()]).filter(|value| !value.is_empty())
    }

    /// Every value in the order of the rows.
    pub fn iter(&self) -> impl Iterator<Item = Option<&'a [u8]>> + use<'a> {
        let bytes = self.bytes;
        self.spans.iter().map(move |span| Some(&bytes[span.range()]).filter(|value| !value.is_empty()))
    }
}
