//! The keys of a column. docs/keys.md has the rules for DuckDB's types.
//!
//! NULL, NaN and empty texts are not keys, as on the command line.
//!
//! `crivo-arrow` applies the same rules to Arrow arrays. It is not used here, because DuckDB's
//! vectors are not Arrow arrays: texts of up to 12 bytes are inside the vector, decimals and ENUMs
//! have widths of their own, and Arrow has no HUGEINT. The C API v1.2.0 does not convert a vector,
//! so each chunk of 2,048 values would be copied into arrays first. Both crates write the text of a
//! value with `crivo::keys::text`. The table of every type in python/tests checks that they give
//! the same bytes.

use crivo::keys::text::{
    parse_integer, push_boolean, push_date, push_decimal, push_f32, push_f64, push_i64, push_time,
    push_timestamp, push_u64,
};
use crivo::keys::{KeyBatch, KeyBuffer, KeyKind, KeyRef, KeyScheme, Span};

use crate::api::{Column, Huge, Values};
use crate::error::{Result, SqlError};

/// The hashes of the keys in a column, each with its row.
pub(crate) struct HashedRows {
    pub(crate) hashes: Vec<u64>,
    /// The row of each hash, or `None` if every row has a key.
    rows: Option<Vec<u32>>,
}

impl HashedRows {
    /// Hashes the keys of a column.
    ///
    /// # Errors
    /// If a value is not a key of the scheme's kind.
    pub(crate) fn of(column: &Column<'_>, scheme: KeyScheme) -> Result<Self> {
        if let (KeyKind::Bytes, Values::Int64(values), true) =
            (scheme.kind(), column.values(), column.is_full())
        {
            let mut hashes = Vec::new();
            scheme.hash_decimals(values, &mut hashes)?;
            return Ok(Self { hashes, rows: None });
        }
        let mut hashes = Vec::with_capacity(column.rows());
        let mut rows = Vec::new();
        let mut failed = None;
        each_key(column, scheme.kind(), |row, key| match scheme.hash_ref(key) {
            Ok(hash) => {
                hashes.push(hash);
                rows.push(row as u32);
            }
            Err(error) => failed = failed.take().or(Some(error)),
        })?;
        match failed {
            Some(error) => Err(error.into()),
            None if rows.len() == column.rows() => Ok(Self { hashes, rows: None }),
            None => Ok(Self { hashes, rows: Some(rows) }),
        }
    }

    /// Returns the row of the hash at a position.
    #[inline]
    pub(crate) fn row(&self, place: usize) -> usize {
        self.rows.as_ref().map_or(place, |rows| rows[place] as usize)
    }
}

/// The keys of a column, one after the other, each with its row.
pub(crate) struct KeyRows {
    bytes: Vec<u8>,
    spans: Vec<Span>,
    pub(crate) rows: Vec<u32>,
}

impl KeyRows {
    /// Collects the texts of a column.
    pub(crate) fn of(column: &Column<'_>) -> Result<Self> {
        let mut keys = Self {
            bytes: Vec::with_capacity(16 * column.rows()),
            spans: Vec::with_capacity(column.rows()),
            rows: Vec::with_capacity(column.rows()),
        };
        let mut failed = None;
        each_text(column, |row, text| {
            let start = keys.bytes.len();
            keys.bytes.extend_from_slice(text);
            match Span::new(start..keys.bytes.len()) {
                Ok(span) => keys.spans.push(span),
                Err(error) => failed = failed.take().or(Some(error)),
            }
            keys.rows.push(row as u32);
        });
        failed.map_or(Ok(keys), |error| Err(error.into()))
    }

    /// Hashes all keys.
    pub(crate) fn whole<'a>(&'a self, buffer: &'a mut KeyBuffer) -> Result<KeyBatch<'a>> {
        Ok(buffer.hash_spans_of(&self.spans, &self.bytes)?)
    }

    /// Hashes the keys at some positions, as a batch for a sketch.
    pub(crate) fn batch<'a>(
        &'a self,
        places: &[u32],
        spans: &'a mut Vec<Span>,
        buffer: &'a mut KeyBuffer,
    ) -> Result<KeyBatch<'a>> {
        spans.clear();
        spans.extend(places.iter().map(|&place| self.spans[place as usize]));
        Ok(buffer.hash_spans_of(spans, &self.bytes)?)
    }
}

/// Passes the key of every row that has one to `take`: its text, or an integer if the sketch has
/// integer keys.
///
/// # Errors
/// If a value is not a key of that kind.
pub(crate) fn each_key(
    column: &Column<'_>,
    kind: KeyKind,
    mut take: impl FnMut(usize, KeyRef<'_>),
) -> Result<()> {
    match kind {
        KeyKind::Bytes => {
            each_text(column, |row, text| take(row, KeyRef::Bytes(text)));
            Ok(())
        }
        KeyKind::Integer => {
            let mut wrong = None;
            each_text(column, |row, text| match parse_integer(text) {
                Some(integer) => take(row, KeyRef::Integer(integer)),
                None => wrong = Some(String::from_utf8_lossy(text).into_owned()),
            });
            match wrong {
                Some(text) => {
                    Err(SqlError::expected("key", "an integer, which the sketch was made of", text))
                }
                None => Ok(()),
            }
        }
        KeyKind::Hash => {
            Err(SqlError::expected("keys of the sketch", "text or integers", "hashes of the maker's own"))
        }
    }
}

/// Passes the text of every row that has one to `take`.
pub(crate) fn each_text(column: &Column<'_>, mut take: impl FnMut(usize, &[u8])) {
    let mut out = Vec::with_capacity(48);
    let mut written = |row: usize, write: &dyn Fn(&mut Vec<u8>) -> bool| {
        out.clear();
        if write(&mut out) {
            take(row, &out);
        }
    };
    match column.values() {
        Values::Null => {}
        Values::Bytes(strings) => each(column, strings, |row, string| {
            let bytes = string.bytes();
            if !bytes.is_empty() {
                take(row, bytes);
            }
        }),
        Values::Int64(values) => each(column, values, |row, &value| {
            out.clear();
            push_i64(&mut out, value);
            take(row, &out);
        }),
        Values::Enum(numbers, dictionary) => {
            let mut texts: Vec<Option<Vec<u8>>> = Vec::new();
            each_integer(column, numbers, &mut |row, number| {
                let number = number as usize;
                if number >= texts.len() {
                    texts.resize(number + 1, None);
                }
                let text = texts[number].get_or_insert_with(|| dictionary.text(number as u64));
                if !text.is_empty() {
                    take(row, text);
                }
            });
        }
        Values::Boolean(values) => each(column, values, |row, &value| {
            written(row, &|out| {
                push_boolean(out, value != 0);
                true
            });
        }),
        Values::Float(values) => {
            each(column, values, |row, &value| written(row, &|out| push_f32(out, value)));
        }
        Values::Double(values) => {
            each(column, values, |row, &value| written(row, &|out| push_f64(out, value)));
        }
        Values::UHuge(values) => each(column, values, |row, value| {
            written(row, &|out| {
                push_unsigned(out, value.unsigned());
                true
            });
        }),
        Values::Decimal(numbers, scale) => each_integer(column, numbers, &mut |row, number| {
            written(row, &|out| {
                push_decimal(out, &number.to_string(), *scale);
                true
            });
        }),
        Values::Date(values) => each(column, values, |row, &days| {
            written(row, &|out| {
                push_date(out, days.into());
                true
            });
        }),
        Values::Time(values, unit) => each(column, values, |row, &time| {
            written(row, &|out| {
                push_time(out, time.unsigned_abs() * unit);
                true
            });
        }),
        Values::Timestamp { values, per_second, universal } => each(column, values, |row, &value| {
            written(row, &|out| {
                push_timestamp(out, value, *per_second, *universal);
                true
            });
        }),
        integers => each_integer(column, integers, &mut |row, number| {
            written(row, &|out| {
                push_signed(out, number);
                true
            });
        }),
    }
}

/// Passes every row that has a value to `take`.
pub(crate) fn each<T>(column: &Column<'_>, values: &[T], mut take: impl FnMut(usize, &T)) {
    for (row, value) in values.iter().enumerate() {
        if column.is_valid(row) {
            take(row, value);
        }
    }
}

/// Passes the integer of every row that has one to `take`. Does nothing for UHUGEINT, and for
/// values that are not integers.
pub(crate) fn each_integer(column: &Column<'_>, values: &Values<'_>, take: &mut dyn FnMut(usize, i128)) {
    match values {
        Values::Int8(values) => each(column, values, |row, &value| take(row, value.into())),
        Values::Int16(values) => each(column, values, |row, &value| take(row, value.into())),
        Values::Int32(values) => each(column, values, |row, &value| take(row, value.into())),
        Values::Int64(values) => each(column, values, |row, &value| take(row, value.into())),
        Values::UInt8(values) => each(column, values, |row, &value| take(row, value.into())),
        Values::UInt16(values) => each(column, values, |row, &value| take(row, value.into())),
        Values::UInt32(values) => each(column, values, |row, &value| take(row, value.into())),
        Values::UInt64(values) => each(column, values, |row, &value| take(row, value.into())),
        Values::Huge(values) => each(column, values, |row, value: &Huge| take(row, value.unsigned() as i128)),
        _ => {}
    }
}

fn push_signed(out: &mut Vec<u8>, number: i128) {
    if let Ok(small) = i64::try_from(number) {
        push_i64(out, small);
    } else {
        if number < 0 {
            out.push(b'-');
        }
        push_unsigned(out, number.unsigned_abs());
    }
}

fn push_unsigned(out: &mut Vec<u8>, number: u128) {
    if let Ok(small) = u64::try_from(number) {
        push_u64(out, small);
    } else {
        out.extend_from_slice(number.to_string().as_bytes());
    }
}
