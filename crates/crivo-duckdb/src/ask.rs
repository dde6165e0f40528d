//! Functions that query a stored sketch.

use crivo::codec::AnySketch;
use crivo::keys::text::parse_integer;
use crivo::keys::{KeyKind, KeyRef};

use crate::api::{Chunk, Column, ESTIMATE, Output, Scalar, StringRef, Type, Values, engine_version};
use crate::error::{Result, SqlError};
use crate::keys::each_text;
use crate::quantile::{check_share, write_quantile};
use crate::top::{HITTERS, write_hitters};

/// `crivo_estimate(sketch)`: how many different keys, events or values does it count?
pub(crate) struct EstimateOf;

impl Scalar for EstimateOf {
    const NAME: &'static str = "crivo_estimate";
    const OVERLOADS: &'static [&'static [Type]] = &[&[Type::Blob]];
    const RETURNS: Type = ESTIMATE;

    fn run(chunk: &Chunk<'_>, out: &mut Output<'_>) -> Result<()> {
        let column = chunk.column(0)?;
        each_sketch(&column, |rows, sketch| {
            let estimate = sketch.summary().items;
            rows.for_each(|row| out.estimate(row, estimate));
            Ok(())
        })?;
        null_where(chunk, &[&column], |row| out.null_struct(row, 3));
        Ok(())
    }
}

/// `crivo_contains(sketch, key)`: does the set contain the key?
pub(crate) struct Contains;

impl Scalar for Contains {
    const NAME: &'static str = "crivo_contains";
    const OVERLOADS: &'static [&'static [Type]] = &[&[Type::Blob, Type::Any]];
    const RETURNS: Type = Type::Boolean;

    fn run(chunk: &Chunk<'_>, out: &mut Output<'_>) -> Result<()> {
        let (column, keys) = (chunk.column(0)?, KeyTexts::of(&chunk.column(1)?));
        each_sketch(&column, |rows, sketch| {
            let (membership, kind) = (sketch.membership()?, sketch.scheme().kind());
            for row in rows {
                match keys.key(row, kind)? {
                    Some(key) => out.boolean(row, membership.contains_ref(key)?),
                    None => out.null(row),
                }
            }
            Ok(())
        })?;
        null_where(chunk, &[&column], |row| out.null(row));
        Ok(())
    }
}

/// `crivo_frequency(sketch, key)`: how often does the key occur?
pub(crate) struct Frequency;

impl Scalar for Frequency {
    const NAME: &'static str = "crivo_frequency";
    const OVERLOADS: &'static [&'static [Type]] = &[&[Type::Blob, Type::Any]];
    const RETURNS: Type = ESTIMATE;

    fn run(chunk: &Chunk<'_>, out: &mut Output<'_>) -> Result<()> {
        let (column, keys) = (chunk.column(0)?, KeyTexts::of(&chunk.column(1)?));
        each_sketch(&column, |rows, sketch| {
            let (frequency, kind) = (sketch.frequency()?, sketch.scheme().kind());
            for row in rows {
                match keys.key(row, kind)? {
                    Some(key) => out.estimate(row, frequency.frequency_ref(key)?),
                    None => out.null_struct(row, 3),
                }
            }
            Ok(())
        })?;
        null_where(chunk, &[&column], |row| out.null_struct(row, 3));
        Ok(())
    }
}

/// `crivo_quantile_of(sketch, q)`: which value has rank `q`?
pub(crate) struct QuantileOf;

impl Scalar for QuantileOf {
    const NAME: &'static str = "crivo_quantile_of";
    const OVERLOADS: &'static [&'static [Type]] = &[&[Type::Blob, Type::Double]];
    const RETURNS: Type = ESTIMATE;

    fn run(chunk: &Chunk<'_>, out: &mut Output<'_>) -> Result<()> {
        let (column, shares) = (chunk.column(0)?, chunk.column(1)?);
        each_sketch(&column, |rows, sketch| {
            let quantiles = sketch.quantiles()?;
            for row in rows {
                let share = match shares.values() {
                    Values::Double(values) if shares.is_valid(row) => Some(check_share(values[row])?),
                    _ => None,
                };
                write_quantile(quantiles, share, row, out);
            }
            Ok(())
        })?;
        null_where(chunk, &[&column], |row| out.null_struct(row, 3));
        Ok(())
    }
}

/// `crivo_top_of(sketch, k)`: which keys are the most frequent?
pub(crate) struct TopOf;

impl Scalar for TopOf {
    const NAME: &'static str = "crivo_top_of";
    const OVERLOADS: &'static [&'static [Type]] = &[&[Type::Blob, Type::BigInt]];
    const RETURNS: Type = HITTERS;

    fn run(chunk: &Chunk<'_>, out: &mut Output<'_>) -> Result<()> {
        let (column, counts) = (chunk.column(0)?, chunk.column(1)?);
        each_sketch(&column, |rows, sketch| {
            let top = sketch.top()?;
            for row in rows {
                match counts.values() {
                    Values::Int64(values) if counts.is_valid(row) => {
                        let k = usize::try_from(values[row])
                            .map_err(|_| SqlError::expected("k", "0 or more", values[row]))?;
                        write_hitters(&top.top(k), row, out);
                    }
                    _ => out.null(row),
                }
            }
            Ok(())
        })?;
        null_where(chunk, &[&column], |row| out.null(row));
        Ok(())
    }
}

/// `crivo_version()`: which version of crivo, in which version of DuckDB?
pub(crate) struct Version;

/// The versions of DuckDB that the tests load the extension into.
const TESTED: [&str; 2] = ["v1.4.4", "v2.0.0"];

impl Scalar for Version {
    const NAME: &'static str = "crivo_version";
    const OVERLOADS: &'static [&'static [Type]] = &[&[]];
    const RETURNS: Type = Type::Varchar;

    fn run(chunk: &Chunk<'_>, out: &mut Output<'_>) -> Result<()> {
        let engine = engine_version();
        let tested = if TESTED.contains(&engine.as_str()) { "tested" } else { "not tested" };
        let version = format!("crivo {} in DuckDB {engine} ({tested})", env!("CARGO_PKG_VERSION"));
        (0..chunk.rows().max(1)).for_each(|row| out.bytes(row, version.as_bytes()));
        Ok(())
    }
}

/// Passes the sketch of each row that has one to `take`. Consecutive rows with the same bytes share
/// one sketch, which is decoded once.
///
/// # Errors
/// The errors of `take`, and an error if the bytes are not a sketch.
pub(crate) fn each_sketch(
    column: &Column<'_>,
    mut take: impl FnMut(std::ops::Range<usize>, &AnySketch) -> Result<()>,
) -> Result<()> {
    let blobs = column.strings();
    let is_same = |one: &StringRef, other: &StringRef| one.is_same(other) || one.bytes() == other.bytes();
    let mut row = 0;
    while row < blobs.len() {
        if !column.is_valid(row) {
            row += 1;
            continue;
        }
        let same =
            (row..blobs.len()).take_while(|&at| column.is_valid(at) && is_same(&blobs[at], &blobs[row]));
        let end = row + same.count();
        take(row..end, &AnySketch::decode(blobs[row].bytes())?)?;
        row = end;
    }
    Ok(())
}

/// Calls `null` for each row in which one of the columns has no value.
pub(crate) fn null_where(chunk: &Chunk<'_>, columns: &[&Column<'_>], null: impl FnMut(usize)) {
    (0..chunk.rows()).filter(|&row| columns.iter().any(|column| !column.is_valid(row))).for_each(null);
}

/// The texts of a column of keys, by row.
struct KeyTexts {
    bytes: Vec<u8>,
    places: Vec<Option<(usize, usize)>>,
}

impl KeyTexts {
    fn of(column: &Column<'_>) -> Self {
        let mut texts = Self { bytes: Vec::new(), places: vec![None; column.rows()] };
        each_text(column, |row, text| {
            let start = texts.bytes.len();
            texts.bytes.extend_from_slice(text);
            texts.places[row] = Some((start, texts.bytes.len()));
        });
        texts
    }

    /// Returns the key of a row in the sketch's kind, or `None` if the row has no key.
    ///
    /// # Errors
    /// If the text is not a key of that kind.
    fn key(&self, row: usize, kind: KeyKind) -> Result<Option<KeyRef<'_>>> {
        let Some((start, end)) = self.places[row] else { return Ok(None) };
        let text = &self.bytes[start..end];
        if kind != KeyKind::Integer {
            // A sketch of hashes refuses the key with an error of its own.
            return Ok(Some(KeyRef::Bytes(text)));
        }
        let integer = parse_integer(text).ok_or_else(|| {
            let found = String::from_utf8_lossy(text).into_owned();
            SqlError::expected("key", "an integer, because the sketch was made of integers", found)
        })?;
        Ok(Some(KeyRef::Integer(integer)))
    }
}
