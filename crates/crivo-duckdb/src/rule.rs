//! The kind and the size of a sketch.

use std::cell::RefCell;
use std::sync::Arc;

use crivo::codec::AnySketch;
use crivo::distinct::{HyperLogLog, KMinValues, UltraLogLog};
use crivo::frequency::{CountMin, HeavyHitters};
use crivo::membership::Bloom;
use crivo::quantiles::{Accuracy, NumberQuantiles};

use crate::api::{Chunk, Column, Values};
use crate::content::{Content, Growth, most_few};
use crate::error::{Result, SqlError};

/// The rule for the sketches of a query's groups. Rules are equal if kind and size are.
#[derive(Debug)]
pub(crate) struct Rule {
    kind: Vec<u8>,
    size: Option<i64>,
    empty: AnySketch,
    most_few: usize,
    /// True if the filter gets the size for its content, which is known at the end.
    is_sized_at_end: bool,
}

/// The default sizes of the command line.
pub(crate) const PRECISION: u8 = 14;
const K: u32 = 1 << 14;
pub(crate) const COUNTERS: u64 = 1 << 14;
const FREQUENCY_ERROR: f64 = 0.001;
const FREQUENCY_CONFIDENCE: f64 = 0.99;
const RATE: f64 = 0.01;
const RANK_ERROR: f64 = 0.005;

type Make = fn(Option<i64>) -> Result<AnySketch>;

/// The names of sketches, and the functions that make them.
const KINDS: [(&str, Make); 7] = [
    ("hll", |size| {
        let precision = whole("precision", size)?.unwrap_or(PRECISION);
        Ok(HyperLogLog::new(precision)?.into())
    }),
    ("ull", |size| {
        let precision = whole("precision", size)?.unwrap_or(PRECISION);
        Ok(UltraLogLog::new(precision)?.into())
    }),
    ("kmv", |size| Ok(KMinValues::new(whole("k", size)?.unwrap_or(K))?.into())),
    ("bloom", |size| Ok(Bloom::for_items(whole("items", size)?.unwrap_or(1), RATE)?.into())),
    ("countmin", |size| {
        let (width, depth) = CountMin::size_for(FREQUENCY_ERROR, 1.0 - FREQUENCY_CONFIDENCE)?;
        Ok(CountMin::new(whole("width", size)?.unwrap_or(width), depth)?.into())
    }),
    ("top", |size| Ok(HeavyHitters::new(whole("counters", size)?.unwrap_or(COUNTERS))?.into())),
    ("kll", |size| Ok(numbers(whole("size", size)?)?.into())),
];

/// Returns an empty sketch of numbers, of the default size if none is given.
pub(crate) fn numbers(size: Option<u32>) -> Result<NumberQuantiles> {
    let size = match size {
        Some(size) => size,
        None => NumberQuantiles::size_for(RANK_ERROR, Accuracy::Uniform)?,
    };
    Ok(NumberQuantiles::new(size, Accuracy::Uniform, 0)?)
}

fn whole<T: TryFrom<i64>>(name: &str, size: Option<i64>) -> Result<Option<T>> {
    let whole = |size| T::try_from(size).map_err(|_| SqlError::expected(name, "a number in its range", size));
    size.map(whole).transpose()
}

thread_local! {
    /// The rule of the last chunk, which is nearly always the rule of the next one too.
    static LAST: RefCell<Option<Arc<Rule>>> = const { RefCell::new(None) };
}

impl Rule {
    /// Returns the rule of a chunk, from the kind and the size in its columns from `first` on. The
    /// chunk must have rows.
    ///
    /// # Errors
    /// If kind or size differ from row to row, or such a sketch does not exist.
    pub(crate) fn of(chunk: &Chunk<'_>, first: usize) -> Result<Arc<Self>> {
        let column = chunk.column(first)?;
        let kind =
            constant(&column, "kind", |row| column.strings().get(row).map(|text| text.bytes().to_vec()))?;
        let size = if chunk.columns() > first + 1 {
            Some(constant_integer(&chunk.column(first + 1)?, "size")?)
        } else {
            None
        };
        LAST.with_borrow_mut(|last| {
            if let Some(rule) = last
                && rule.kind == kind
                && rule.size == size
            {
                return Ok(Arc::clone(rule));
            }
            let rule = Arc::new(Self::new(kind, size)?);
            *last = Some(Arc::clone(&rule));
            Ok(rule)
        })
    }

    fn new(kind: Vec<u8>, size: Option<i64>) -> Result<Self> {
        let Some((name, make)) = KINDS.iter().find(|(name, _)| name.as_bytes() == kind) else {
            let names = KINDS.map(|(name, _)| name).join(", ");
            let found = String::from_utf8_lossy(&kind).into_owned();
            return Err(SqlError::expected(
                "kind",
                format_args!("one of {names}"),
                format_args!("'{found}'"),
            ));
        };
        let empty = make(size)?;
        let is_sized_at_end = *name == "bloom" && size.is_none();
        let most_few = if is_sized_at_end { usize::MAX } else { most_few(&empty) };
        Ok(Self { kind, size, empty, most_few, is_sized_at_end })
    }

    pub(crate) fn growth(&self) -> Growth<'_> {
        Growth { empty: &self.empty, most_few: self.most_few }
    }

    /// Returns the bytes of a group's sketch.
    pub(crate) fn finish(&self, content: &Content) -> Result<Vec<u8>> {
        if let (true, Content::Few(hashes)) = (self.is_sized_at_end, content) {
            // The filter is sized as by `crivo set build`: for the number of items that a first
            // reading counts.
            let mut counted = HyperLogLog::new(PRECISION)?;
            counted.insert_hashes(hashes);
            let items = (counted.estimate().upper().ceil() as u64).max(1);
            let mut filter = Bloom::for_items(items, RATE)?;
            filter.insert_hashes(hashes);
            return Ok(filter.encode());
        }
        Ok(content.sketch(&self.empty).encode())
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.size == other.size
    }
}

impl Eq for Rule {}

/// A parameter that must have the same value in all rows of a group. It is known from the first row
/// on.
///
/// The rows of a group are in several chunks, and on several threads in several states, which are
/// combined later. Each chunk is checked by [`constant_double`] and its like.
#[derive(Debug)]
pub(crate) struct SameInAllRows<T>(Option<T>);

impl<T> Default for SameInAllRows<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Clone + PartialEq> SameInAllRows<T> {
    /// Returns the value, or `None` before the first row.
    pub(crate) fn get(&self) -> Option<&T> {
        self.0.as_ref()
    }

    /// Takes the value of more rows. `name` is the parameter's name for the error.
    ///
    /// # Errors
    /// If earlier rows have another value.
    pub(crate) fn update(&mut self, value: &T, name: &str) -> Result<()> {
        match &self.0 {
            Some(known) if known == value => Ok(()),
            Some(_) => Err(several_values(name)),
            None => {
                self.0 = Some(value.clone());
                Ok(())
            }
        }
    }

    /// Takes the value of another state, which may have no rows.
    ///
    /// # Errors
    /// If both have a value and these are different.
    pub(crate) fn combine(&mut self, other: &Self, name: &str) -> Result<()> {
        other.get().map_or(Ok(()), |value| self.update(value, name))
    }
}

fn several_values(name: &str) -> SqlError {
    SqlError::expected(name, "the same value in all rows", "several")
}

/// Returns the value that all rows of a column have.
fn constant<T: PartialEq>(column: &Column<'_>, name: &str, at: impl Fn(usize) -> Option<T>) -> Result<T> {
    let first = if column.rows() > 0 && column.is_valid(0) { at(0) } else { None };
    let first = first.ok_or_else(|| SqlError::expected(name, "a value", "NULL"))?;
    for row in 1..column.rows() {
        let is_same = column.is_valid(row)
            && match column.values() {
                // Copies of a constant have the same pointer or the same inline bytes.
                Values::Bytes(texts) if texts[row].is_same(&texts[0]) => true,
                _ => at(row).as_ref() == Some(&first),
            };
        if !is_same {
            return Err(several_values(name));
        }
    }
    Ok(first)
}

/// Returns the integer that all rows of a BIGINT column have.
pub(crate) fn constant_integer(column: &Column<'_>, name: &str) -> Result<i64> {
    let values: &[i64] = if let Values::Int64(values) = column.values() { values } else { &[] };
    constant_number(column, values, name)
}

/// Returns the number that all rows of a DOUBLE column have.
pub(crate) fn constant_double(column: &Column<'_>, name: &str) -> Result<f64> {
    let values: &[f64] = if let Values::Double(values) = column.values() { values } else { &[] };
    constant_number(column, values, name)
}

#[allow(clippy::needless_bitwise_bool)] // a lazy operator would keep vectors out
fn constant_number<T: PartialEq + Copy>(column: &Column<'_>, values: &[T], name: &str) -> Result<T> {
    match values.first() {
        // The usual case, in a loop that the compiler can vectorize.
        Some(first)
            if column.is_full() && values.iter().fold(true, |same, value| same & (value == first)) =>
        {
            Ok(*first)
        }
        _ => constant(column, name, |row| values.get(row).copied()),
    }
}
