//! Converts values to keys: to text, to integers, or to their word n-grams. Only this module does
//! it.

use crivo::keys::text::parse_integer;
use crivo::keys::{KeyBatch, KeyBuffer, KeyKind, KeyScheme, Span, Words};

use crate::column::Values;
use crate::error::{Error, ErrorKind, Result};
use crate::parse::json::each_element;

/// The items of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Items {
    /// The value itself.
    #[default]
    Values,
    /// The value's runs of this many consecutive words. A word is a run of letters, digits and `_`
    /// of any script, in lower case. The words of an item are separated by one blank. A value with
    /// fewer words has no item.
    Words(usize),
}

/// The keys of a batch, and the row of each.
#[derive(Debug, Clone, Copy)]
pub struct RowKeys<'a> {
    /// The keys.
    pub keys: KeyBatch<'a>,
    /// The row of each key in the batch, ascending. Rows without a key do not occur. With word
    /// n-grams a row can occur more than once.
    pub rows: &'a [u32],
}

/// The reusable buffers for keys.
#[derive(Debug)]
pub(crate) struct Keyer {
    items: Items,
    buffer: KeyBuffer,
    rows: Vec<u32>,
    integers: Vec<u64>,
    /// The indexes of values in a dictionary, without the missing ones.
    places: Vec<u32>,
    ngrams: Ngrams,
}

impl Keyer {
    pub(crate) fn new(scheme: KeyScheme, items: Items) -> Self {
        Self {
            items,
            buffer: KeyBuffer::new(scheme),
            rows: Vec::new(),
            integers: Vec::new(),
            places: Vec::new(),
            ngrams: Ngrams::default(),
        }
    }

    pub(crate) fn scheme(&self) -> KeyScheme {
        self.buffer.scheme()
    }

    /// Returns the keys of the values. `as_they_are` says that no value is missing, so that the
    /// spans of the values can be used directly. `bad` gets each value that cannot be a key; its
    /// error ends the conversion, otherwise the value is skipped.
    pub(crate) fn keys<'a>(
        &'a mut self,
        values: Values<'a>,
        as_they_are: bool,
        with_rows: bool,
        mut bad: impl FnMut(usize, &[u8]) -> Result<()>,
    ) -> Result<RowKeys<'a>> {
        let Self { items, buffer, rows, integers, places, ngrams } = self;
        buffer.clear();
        rows.clear();
        match (buffer.scheme().kind(), *items) {
            (KeyKind::Integer, _) => {
                integers.clear();
                for (row, value) in values.iter().enumerate() {
                    let Some(value) = value else { continue };
                    match parse_integer(value) {
                        Some(integer) => {
                            integers.push(integer);
                            rows.push(row as u32);
                        }
                        None => bad(row, value)?,
                    }
                }
                Ok(RowKeys { keys: buffer.hash_integers(integers)?, rows })
            }
            (_, Items::Words(n)) => {
                ngrams.clear();
                for (row, value) in values.iter().enumerate() {
                    let Some(value) = value else { continue };
                    ngrams.of(value, n.max(1), |span| {
                        buffer.push_span(span);
                        rows.push(row as u32);
                    })?;
                }
                Ok(RowKeys { keys: buffer.hash_spans(&ngrams.text)?, rows })
            }
            (_, Items::Values) if as_they_are => {
                if with_rows {
                    rows.extend(0..values.spans.len() as u32);
                }
                let keys = match values.picked {
                    Some((dictionary, places)) => buffer.pick(dictionary, places)?,
                    None => buffer.hash_spans_of(values.spans, values.bytes)?,
                };
                Ok(RowKeys { keys, rows })
            }
            (_, Items::Values) => {
                let present = values.spans.iter().enumerate().filter(|(_, span)| !span.range().is_empty());
                if let Some((dictionary, all)) = values.picked {
                    places.clear();
                    for (row, _) in present {
                        places.push(all[row]);
                        rows.push(row as u32);
                    }
                    return Ok(RowKeys { keys: buffer.pick(dictionary, places)?, rows });
                }
                for (row, span) in present {
                    buffer.push_span(*span);
                    rows.push(row as u32);
                }
                Ok(RowKeys { keys: buffer.hash_spans(values.bytes)?, rows })
            }
        }
    }
}

impl Keyer {
    /// Returns the keys of the elements of values that are JSON arrays. Elements that are null or
    /// empty have no key.
    pub(crate) fn keys_of_elements<'a>(&'a mut self, values: Values<'a>) -> Result<RowKeys<'a>> {
        let Self { buffer, rows, integers, ngrams, items, .. } = self;
        let kind = buffer.scheme().kind();
        if *items != Items::Values {
            let message = "the items are the elements of an array, and cannot be word n-grams too";
            return Err(Error::new(ErrorKind::InvalidOption, message));
        }
        buffer.clear();
        rows.clear();
        integers.clear();
        let text = &mut ngrams.text;
        text.clear();
        for (row, value) in values.iter().enumerate() {
            let Some(value) = value else { continue };
            each_element(value, |element| {
                let start = text.len();
                element.push_text(value, text);
                if text.len() == start {
                    return Ok(());
                }
                match (kind, parse_integer(&text[start..])) {
                    (KeyKind::Integer, Some(integer)) => integers.push(integer),
                    (KeyKind::Integer, None) => return Err(not_an_integer(&text[start..])),
                    _ => buffer.push_span(Span::new(start..text.len())?),
                }
                rows.push(row as u32);
                Ok(())
            })?;
        }
        let keys = match kind {
            KeyKind::Integer => buffer.hash_integers(integers)?,
            _ => buffer.hash_spans(text)?,
        };
        Ok(RowKeys { keys, rows })
    }
}

#[cold]
pub(crate) fn not_an_integer(value: &[u8]) -> Error {
    let shown = String::from_utf8_lossy(&value[..value.len().min(60)]);
    let message = format_args!("expected a 64-bit integer, found '{shown}' (the keys are integers)");
    Error::new(ErrorKind::NotInteger, message)
}

/// Words separated by single blanks, so that every n-gram of them is one stretch of the text.
#[derive(Debug, Default)]
struct Ngrams {
    words: Words,
    text: Vec<u8>,
    starts: Vec<usize>,
}

impl Ngrams {
    fn clear(&mut self) {
        self.text.clear();
    }

    fn of(&mut self, value: &[u8], n: usize, mut each: impl FnMut(Span)) -> Result<()> {
        let Self { words, text, starts } = self;
        starts.clear();
        words.read(value);
        for word in words.iter() {
            starts.push(text.len());
            text.extend_from_slice(word);
            text.push(b' ');
        }
        starts.push(text.len());
        for window in starts.windows(n + 1) {
            each(Span::new(window[0]..window[n] - 1)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_those_of_64_bits_signed_or_not() {
        for (text, expected) in [
            ("0", Some(0)),
            ("007", Some(7)),
            (" +42 ", Some(42)),
            ("-1", Some(u64::MAX)),
            ("-0", Some(0)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("-9223372036854775808", Some(1 << 63)),
            ("-9223372036854775809", None),
            ("", None),
            ("-", None),
            ("1.0", None),
            ("1e3", None),
            ("--1", None),
            ("１", None),
        ] {
            assert_eq!(parse_integer(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn word_ngrams_ignore_case_and_what_stands_between() {
        let mut ngrams = Ngrams::default();
        let mut spans = Vec::new();
        ngrams.of("Só uma  VEZ, só_1\u{2014}".as_bytes(), 2, |span| spans.push(span)).unwrap();
        ngrams.of(b"one\xFFtwo", 2, |span| spans.push(span)).unwrap();
        ngrams.of(b"short", 2, |span| spans.push(span)).unwrap();
        let found: Vec<_> =
            spans.iter().map(|s| std::str::from_utf8(&ngrams.text[s.range()]).unwrap()).collect();
        assert_eq!(found, ["só uma", "uma vez", "vez só_1", "one two"]);
    }
}
