//! The values of one field over the records of a batch, as the parsers fill them.
//!
//! A field may be missing (null, or not in the record) or empty. Neither is a value and neither
//! makes a key, but they differ: a record with an empty text is not a record without the field.

use std::ops::Range;
use std::sync::Arc;

use crivo::keys::{KeyDictionary, Span};

use crate::error::Result;

/// The positions of values. They are positions in the chunk while all values occur there literally.
/// The first value that must be built (unescaped, or formatted from a number) copies all values of
/// the column into its own bytes. A missing value has a span outside of all bytes, an empty value
/// has an empty span.
#[derive(Debug, Default)]
pub(crate) struct Column {
    spans: Vec<Span>,
    built: Vec<u8>,
    owns: bool,
    /// The kinds of the values, up to the last that is not text.
    kinds: Vec<ValueKind>,
    /// The dictionary that all values are from. `places` has the index of each value there.
    dictionary: Option<Arc<TextDictionary>>,
    places: Vec<u32>,
}

/// The distinct values of a column that is stored as a dictionary, each as text and hashed once.
#[derive(Debug)]
pub(crate) struct TextDictionary {
    /// The keys of the values. A missing value has an empty text here.
    pub(crate) keys: KeyDictionary<'static>,
    /// The positions of the values in the bytes of the keys.
    pub(crate) spans: Vec<Span>,
    pub(crate) kind: ValueKind,
}

#[cfg(feature = "parquet")]
impl TextDictionary {
    /// The index of a row without a value.
    pub(crate) const MISSING: u32 = u32::MAX;

    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }
}

/// The type of a value, in a format that has types. It is not part of the value's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ValueKind {
    /// A text, or a value of a type that JSON does not have.
    #[default]
    Text,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// An array or an object of JSON.
    Nested,
}

/// The position of a missing value, which is beyond any text.
const NOWHERE: usize = u32::MAX as usize;

fn is_nowhere(span: Span) -> bool {
    span.range().start == NOWHERE
}

/// The content of a field of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell<'a> {
    /// The field is null, or the record does not have it.
    Missing,
    /// The record has the field, and it is empty.
    Empty,
    /// A value of at least one byte.
    Value(&'a [u8]),
}

impl Column {
    pub(crate) fn clear(&mut self) {
        self.spans.clear();
        self.built.clear();
        self.kinds.clear();
        self.owns = false;
        self.dictionary = None;
        self.places.clear();
    }

    /// Sets the kind of the last value.
    #[inline]
    pub(crate) fn mark(&mut self, kind: ValueKind) {
        if let Some(before) = self.spans.len().checked_sub(1) {
            self.kinds.resize(before, ValueKind::Text);
            self.kinds.push(kind);
        }
    }

    /// Sets the kind of the values from a row on.
    pub(crate) fn mark_from(&mut self, row: usize, kind: ValueKind) {
        self.kinds.resize(row, ValueKind::Text);
        self.kinds.resize(self.spans.len(), kind);
    }

    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.spans.truncate(len);
        self.kinds.truncate(len);
    }

    /// Removes the values without a flag.
    pub(crate) fn keep_only(&mut self, flags: &[bool]) {
        let mut flag = flags.iter();
        self.spans.retain(|_| flag.next().is_none_or(|flag| *flag));
        let mut flag = flags.iter();
        self.kinds.retain(|_| flag.next().is_none_or(|flag| *flag));
        let mut flag = flags.iter();
        self.places.retain(|_| flag.next().is_none_or(|flag| *flag));
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
        self.spans.push(Span::new(NOWHERE..NOWHERE)?);
        Ok(())
    }

    /// Adds missing values until the column has `len` values.
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
            for span in self.spans.iter_mut().filter(|span| !is_nowhere(**span)) {
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

    /// Adds a value that `write` appends to the column's own bytes, or a missing one if `write`
    /// returns false. The column must not have values in a chunk.
    #[inline]
    pub(crate) fn push_written(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<bool>) -> Result<()> {
        let start = self.built.len();
        self.owns = true;
        if write(&mut self.built)? {
            self.spans.push(Span::new(start..self.built.len())?);
            return Ok(());
        }
        self.built.truncate(start);
        self.push_missing()
    }

    /// Adds values that are ranges of other bytes, in order. Some of them may be missing.
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

    /// Returns an upper bound on the length of the longest value: the bytes that the column has
    /// built.
    pub(crate) fn longest_possible(&self) -> usize {
        self.built.len()
    }

    /// Returns the length of the longest value.
    pub(crate) fn longest(&self) -> usize {
        self.spans.iter().map(|span| span.range().len()).max().unwrap_or(0)
    }

    /// Replaces the values by those of several columns, joined for each row as one CSV record. A
    /// row without a value in one of the columns has no value.
    pub(crate) fn join(&mut self, parts: &[Values<'_>]) -> Result<()> {
        self.clear();
        let rows = parts.iter().map(Values::len).min().unwrap_or(0);
        for row in 0..rows {
            if parts.iter().any(|part| part.get(row).is_none()) {
                self.push_missing()?;
                continue;
            }
            self.push_built(&[], |out| {
                for (at, part) in parts.iter().enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    push_csv(part.get(row).unwrap_or_default(), out);
                }
            })?;
        }
        Ok(())
    }

    fn push_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let start = self.built.len();
        self.built.extend_from_slice(bytes);
        self.spans.push(Span::new(start..self.built.len())?);
        Ok(())
    }

    /// Returns the values: the spans, and the bytes they are positions in.
    pub(crate) fn view<'a>(&'a self, chunk: &'a [u8]) -> Values<'a> {
        let bytes = match &self.dictionary {
            Some(dictionary) => dictionary.keys.bytes(),
            None if self.owns => &self.built,
            None => chunk,
        };
        let picked = self.dictionary.as_deref().map(|dictionary| (&dictionary.keys, &*self.places));
        Values { bytes, spans: &self.spans, kinds: &self.kinds, picked }
    }
}

#[cfg(feature = "parquet")]
impl Column {
    /// Replaces the values by those at `places` of a dictionary, which must have all of them.
    pub(crate) fn pick(&mut self, dictionary: &Arc<TextDictionary>, places: &[u32]) -> Result<()> {
        self.clear();
        let missing = Span::new(NOWHERE..NOWHERE)?;
        let span = |&place: &u32| dictionary.spans.get(place as usize).copied().unwrap_or(missing);
        self.spans.extend(places.iter().map(span));
        self.places.extend_from_slice(places);
        self.dictionary = Some(Arc::clone(dictionary));
        if dictionary.kind != ValueKind::Text {
            self.mark_from(0, dictionary.kind);
        }
        Ok(())
    }

    /// Returns the spans of the values, the bytes they are positions in, and the kind of all
    /// values.
    pub(crate) fn into_texts(self) -> (Vec<Span>, Vec<u8>, ValueKind) {
        (self.spans, self.built, self.kinds.first().copied().unwrap_or_default())
    }
}

/// Appends a value as a CSV field. It is quoted only if it would mean something else without
/// quotes.
fn push_csv(value: &[u8], out: &mut Vec<u8>) {
    if memchr::memchr3(b',', b'"', b'\n', value).is_none() && memchr::memchr(b'\r', value).is_none() {
        out.extend_from_slice(value);
        return;
    }
    out.push(b'"');
    for &byte in value {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

/// Returns the key of several values: the text of a column of several fields (docs/keys.md).
pub fn join_values<V: AsRef<[u8]>>(values: impl IntoIterator<Item = V>) -> Vec<u8> {
    let mut key = Vec::new();
    for (at, value) in values.into_iter().enumerate() {
        if at > 0 {
            key.push(b',');
        }
        push_csv(value.as_ref(), &mut key);
    }
    key
}

/// Returns the values that a key of several fields was made of. A key with another number of fields
/// is returned as one value.
pub fn split_values(key: &[u8], fields: usize) -> Vec<Vec<u8>> {
    let mut values = vec![Vec::new()];
    let (mut quoted, mut at) = (false, 0);
    while fields > 1 && at < key.len() {
        let last = values.len() - 1;
        match key[at] {
            b'"' if quoted && key.get(at + 1) == Some(&b'"') => {
                values[last].push(b'"');
                at += 1;
            }
            b'"' => quoted = !quoted,
            b',' if !quoted => values.push(Vec::new()),
            byte => values[last].push(byte),
        }
        at += 1;
    }
    if values.len() == fields && fields > 1 { values } else { vec![key.to_vec()] }
}

#[inline]
fn value_at(bytes: &[u8], span: Span) -> Option<&[u8]> {
    let range = span.range();
    if range.is_empty() { None } else { Some(&bytes[range]) }
}

/// The values of one column of a batch, row by row. `None` is empty or missing.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) spans: &'a [Span],
    pub(crate) kinds: &'a [ValueKind],
    /// The dictionary that the values are from, and the index of each. The index of a missing value
    /// is beyond the dictionary.
    pub(crate) picked: Option<(&'a KeyDictionary<'static>, &'a [u32])>,
}

impl<'a> Values<'a> {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Returns the span of each value, and the bytes they are positions in. The span of an empty or
    /// missing value is empty.
    pub fn spans(&self) -> (&'a [Span], &'a [u8]) {
        (self.spans, self.bytes)
    }

    /// Returns how many values are empty or null.
    pub fn missing(&self) -> usize {
        self.spans.iter().filter(|span| span.range().is_empty()).count()
    }

    /// Returns the value of a row, or `None` if it is empty, missing, or there is no such row.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&'a [u8]> {
        value_at(self.bytes, *self.spans.get(row)?)
    }

    /// Returns the content of the field of a row. It is missing if there is no such row.
    pub fn cell(&self, row: usize) -> Cell<'a> {
        match self.spans.get(row) {
            Some(span) if !is_nowhere(*span) => value_at(self.bytes, *span).map_or(Cell::Empty, Cell::Value),
            _ => Cell::Missing,
        }
    }

    /// Returns the kind of the value of a row. It is known if all columns are selected, or in
    /// Parquet. Otherwise it is text.
    pub fn kind(&self, row: usize) -> ValueKind {
        self.kinds.get(row).copied().unwrap_or_default()
    }

    /// Returns all values in the order of the rows.
    pub fn iter(&self) -> impl Iterator<Item = Option<&'a [u8]>> + use<'a> {
        let bytes = self.bytes;
        self.spans.iter().map(move |span| value_at(bytes, *span))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(cells: &[Cell<'_>]) -> Column {
        let mut column = Column::default();
        for cell in cells {
            match cell {
                Cell::Missing => column.push_missing().unwrap(),
                Cell::Empty => column.push_built(&[], |_| ()).unwrap(),
                Cell::Value(value) => column.push_built(&[], |out| out.extend_from_slice(value)).unwrap(),
            }
        }
        column
    }

    #[test]
    fn missing_is_not_empty_and_neither_is_a_value() {
        let cells = [Cell::Missing, Cell::Empty, Cell::Value(b"x"), Cell::Missing];
        let column = column(&cells);
        let values = column.view(&[]);
        assert_eq!([0, 1, 2, 3].map(|row| values.cell(row)), cells);
        assert_eq!(values.iter().collect::<Vec<_>>(), [None, None, Some(&b"x"[..]), None]);
        assert_eq!((values.missing(), values.cell(9)), (3, Cell::Missing));
    }

    #[test]
    fn keys_of_several_values_are_split_again() {
        for values in [["a", "b,c"], ["a,b", "c"], ["5\"", "x\ny"], ["\"", "\"\""]] {
            assert_eq!(split_values(&join_values(values), 2), values.map(|value| value.as_bytes().to_vec()));
        }
        assert_eq!(split_values(b"a,b", 1), [b"a,b"]);
        assert_eq!(split_values(b"a,b,c", 2), [b"a,b,c"]);
    }

    #[test]
    fn joined_values_are_unambiguous() {
        let left = column(&["a", "a,b", "", "x\"", "a"].map(|v| Cell::Value(v.as_bytes())));
        let right = column(&["b,c", "c", "z", "\n", "b"].map(|v| Cell::Value(v.as_bytes())));
        let mut joined = Column::default();
        joined.join(&[left.view(&[]), right.view(&[])]).unwrap();
        let found: Vec<_> =
            joined.view(&[]).iter().map(|v| v.map(|v| String::from_utf8_lossy(v).into_owned())).collect();
        let expected = [Some("a,\"b,c\""), Some("\"a,b\",c"), None, Some("\"x\"\"\",\"\n\""), Some("a,b")];
        assert_eq!(found, expected.map(|text| text.map(String::from)));
    }
}
