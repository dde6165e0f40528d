//! Chunks of rows, and their columns as typed slices.

use std::ffi::CStr;
use std::marker::PhantomData;

use libduckdb_sys as duckdb;

use super::types::LogicalType;
use crate::error::{Result, SqlError};

/// The rows of a function's parameters that DuckDB passes in one call.
pub(crate) struct Chunk<'a> {
    data: duckdb::duckdb_data_chunk,
    rows: usize,
    life: PhantomData<&'a ()>,
}

impl Chunk<'_> {
    /// # Safety
    /// The chunk must be valid as long as the value, and its vectors flat. DuckDB passes such
    /// chunks to functions.
    pub(super) unsafe fn new(chunk: duckdb::duckdb_data_chunk) -> Self {
        // SAFETY: the chunk is valid.
        let rows = unsafe { duckdb::duckdb_data_chunk_get_size(chunk) } as usize;
        Self { data: chunk, rows, life: PhantomData }
    }

    /// Returns the number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of parameters.
    pub(crate) fn columns(&self) -> usize {
        // SAFETY: the chunk is valid.
        unsafe { duckdb::duckdb_data_chunk_get_column_count(self.data) as usize }
    }

    /// Returns the column of a parameter.
    ///
    /// # Errors
    /// If values of the column's type are neither keys nor numbers.
    pub(crate) fn column(&self, index: usize) -> Result<Column<'_>> {
        // SAFETY: the chunk is valid and lives as long as the column.
        unsafe {
            let vector = duckdb::duckdb_data_chunk_get_vector(self.data, index as u64);
            Column::new(vector, self.rows)
        }
    }
}

/// A column of some rows.
pub(crate) struct Column<'a> {
    rows: usize,
    /// One bit for each row, or `None` if every row has a value.
    validity: Option<&'a [u64]>,
    values: Values<'a>,
}

/// The values of a column. The entries of rows without a value are arbitrary.
pub(crate) enum Values<'a> {
    /// A column of the constant NULL.
    Null,
    Boolean(&'a [u8]),
    Int8(&'a [i8]),
    Int16(&'a [i16]),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
    UInt8(&'a [u8]),
    UInt16(&'a [u16]),
    UInt32(&'a [u32]),
    UInt64(&'a [u64]),
    Huge(&'a [Huge]),
    UHuge(&'a [Huge]),
    Float(&'a [f32]),
    Double(&'a [f64]),
    /// Integers, and how many of their digits are after the decimal point.
    Decimal(Box<Values<'a>>, i32),
    /// Days since 1970.
    Date(&'a [i32]),
    /// Times of day, and the number of nanoseconds of their unit.
    Time(&'a [i64], u64),
    Timestamp {
        values: &'a [i64],
        per_second: i64,
        universal: bool,
    },
    /// Texts or bytes.
    Bytes(&'a [StringRef]),
    /// Numbers that are positions in a dictionary of texts.
    Enum(Box<Values<'a>>, Dictionary),
}

/// A 128-bit integer as DuckDB stores it, in two's complement if it is signed.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Huge {
    lower: u64,
    upper: u64,
}

impl Huge {
    pub(crate) fn unsigned(self) -> u128 {
        u128::from(self.upper) << 64 | u128::from(self.lower)
    }
}

/// A text or bytes as DuckDB stores them: up to 12 bytes are inline, longer ones are behind a
/// pointer.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct StringRef {
    length: u32,
    prefix: [u8; 4],
    rest: Rest,
}

#[derive(Clone, Copy)]
#[repr(C)]
union Rest {
    inlined: [u8; 8],
    pointer: *const u8,
}

const INLINED: u32 = 12;

impl StringRef {
    /// Returns the bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: DuckDB keeps the bytes inline or behind the pointer, depending on their length.
        // The value is borrowed from a vector that keeps both alive.
        unsafe {
            let start = if self.length <= INLINED {
                std::ptr::from_ref(self).cast::<u8>().add(4)
            } else {
                self.rest.pointer
            };
            std::slice::from_raw_parts(start, self.length as usize)
        }
    }

    /// Returns true if both have the same bytes for certain: the same inline bytes or the same
    /// pointer.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        // SAFETY: all 16 bytes of both are initialised.
        self.length == other.length
            && unsafe { self.prefix == other.prefix && self.rest.inlined == other.rest.inlined }
    }
}

/// The texts of an ENUM.
pub(crate) struct Dictionary(LogicalType);

impl Dictionary {
    /// Returns the text at a position.
    pub(crate) fn text(&self, number: u64) -> Vec<u8> {
        // SAFETY: DuckDB returns a text that ends with a zero; it is freed after it is copied.
        unsafe {
            let text = duckdb::duckdb_enum_dictionary_value(self.0.0, number);
            if text.is_null() {
                return Vec::new();
            }
            let copy = CStr::from_ptr(text).to_bytes().to_vec();
            duckdb::duckdb_free(text.cast());
            copy
        }
    }
}

impl<'a> Column<'a> {
    /// # Safety
    /// The vector must be valid and flat, have `rows` rows, and live as long as the column.
    unsafe fn new(vector: duckdb::duckdb_vector, rows: usize) -> Result<Self> {
        // SAFETY: the vector is valid; its type determines the type of its data.
        unsafe {
            let logical = LogicalType(duckdb::duckdb_vector_get_column_type(vector));
            let data = duckdb::duckdb_vector_get_data(vector).cast::<u8>();
            let validity = duckdb::duckdb_vector_get_validity(vector);
            let validity = (!validity.is_null() && rows > 0)
                .then(|| std::slice::from_raw_parts(validity, rows.div_ceil(64)));
            Ok(Self { rows, validity, values: values_of(logical, data, rows)? })
        }
    }

    /// Returns the number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn values(&self) -> &Values<'a> {
        &self.values
    }

    /// Returns true if the row has a value.
    #[inline]
    pub(crate) fn is_valid(&self, row: usize) -> bool {
        match self.validity {
            Some(bits) => bits[row / 64] >> (row % 64) & 1 == 1 && !matches!(self.values, Values::Null),
            None => !matches!(self.values, Values::Null),
        }
    }

    /// Returns true if every row has a value.
    pub(crate) fn is_full(&self) -> bool {
        !matches!(self.values, Values::Null)
            && (self.validity.is_none() || (0..self.rows).all(|row| self.is_valid(row)))
    }

    /// Returns the texts or bytes of a column that the function declares with such a type.
    pub(crate) fn strings(&self) -> &'a [StringRef] {
        if let Values::Bytes(strings) = self.values { strings } else { &[] }
    }
}

/// # Safety
/// The data must have the type `logical` and `rows` rows.
unsafe fn values_of<'a>(logical: LogicalType, data: *const u8, rows: usize) -> Result<Values<'a>> {
    // SAFETY: the caller guarantees the type and the number of rows; DuckDB aligns vectors.
    unsafe fn slice<'a, T>(data: *const u8, rows: usize) -> &'a [T] {
        if rows == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data.cast(), rows) } }
    }
    // SAFETY: each element type is the one that DuckDB documents for the type.
    unsafe {
        let timestamp =
            |per_second, universal| Values::Timestamp { values: slice(data, rows), per_second, universal };
        Ok(match duckdb::duckdb_get_type_id(logical.0) {
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_DECIMAL => {
                let inner = duckdb::duckdb_decimal_internal_type(logical.0);
                let scale = i32::from(duckdb::duckdb_decimal_scale(logical.0));
                Values::Decimal(Box::new(simple_values(inner, data, rows)?), scale)
            }
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_ENUM => {
                let inner = duckdb::duckdb_enum_internal_type(logical.0);
                Values::Enum(Box::new(simple_values(inner, data, rows)?), Dictionary(logical))
            }
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_DATE => Values::Date(slice(data, rows)),
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_TIME => Values::Time(slice(data, rows), 1000),
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_TIME_NS => Values::Time(slice(data, rows), 1),
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP => timestamp(1_000_000, false),
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_S => timestamp(1, false),
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_MS => timestamp(1000, false),
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_NS => timestamp(1_000_000_000, false),
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_TZ => timestamp(1_000_000, true),
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_TZ_NS => timestamp(1_000_000_000, true),
            simple => simple_values(simple, data, rows)?,
        })
    }
}

/// # Safety
/// The same as for [`values_of`].
unsafe fn simple_values<'a>(id: duckdb::duckdb_type, data: *const u8, rows: usize) -> Result<Values<'a>> {
    // SAFETY: the caller guarantees the type and the number of rows; DuckDB aligns vectors.
    unsafe fn slice<'a, T>(data: *const u8, rows: usize) -> &'a [T] {
        if rows == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data.cast(), rows) } }
    }
    // SAFETY: each element type is the one that DuckDB documents for the type.
    unsafe {
        Ok(match id {
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_SQLNULL => Values::Null,
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_BOOLEAN => Values::Boolean(slice(data, rows)),
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_TINYINT => Values::Int8(slice(data, rows)),
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_SMALLINT => Values::Int16(slice(data, rows)),
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_INTEGER => Values::Int32(slice(data, rows)),
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_BIGINT => Values::Int64(slice(data, rows)),
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_UTINYINT => Values::UInt8(slice(data, rows)),
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_USMALLINT => Values::UInt16(slice(data, rows)),
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_UINTEGER => Values::UInt32(slice(data, rows)),
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_UBIGINT => Values::UInt64(slice(data, rows)),
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_HUGEINT => Values::Huge(slice(data, rows)),
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_UHUGEINT => Values::UHuge(slice(data, rows)),
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_FLOAT => Values::Float(slice(data, rows)),
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_DOUBLE => Values::Double(slice(data, rows)),
            duckdb::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR | duckdb::DUCKDB_TYPE_DUCKDB_TYPE_BLOB => {
                Values::Bytes(slice(data, rows))
            }
            other => {
                return Err(SqlError::expected(
                    "type of the column",
                    "text, a number, a boolean, a date, a time, a timestamp or BLOB (docs/keys.md)",
                    format_args!("{}: cast it to VARCHAR", name_of(other)),
                ));
            }
        })
    }
}

fn name_of(id: duckdb::duckdb_type) -> String {
    match id {
        duckdb::DUCKDB_TYPE_DUCKDB_TYPE_LIST => "LIST",
        duckdb::DUCKDB_TYPE_DUCKDB_TYPE_ARRAY => "ARRAY",
        duckdb::DUCKDB_TYPE_DUCKDB_TYPE_STRUCT => "STRUCT",
        duckdb::DUCKDB_TYPE_DUCKDB_TYPE_MAP => "MAP",
        duckdb::DUCKDB_TYPE_DUCKDB_TYPE_UNION => "UNION",
        duckdb::DUCKDB_TYPE_DUCKDB_TYPE_UUID => "UUID",
        duckdb::DUCKDB_TYPE_DUCKDB_TYPE_BIT => "BIT",
        duckdb::DUCKDB_TYPE_DUCKDB_TYPE_INTERVAL => "INTERVAL",
        duckdb::DUCKDB_TYPE_DUCKDB_TYPE_TIME_TZ => "TIME WITH TIME ZONE",
        duckdb::DUCKDB_TYPE_DUCKDB_TYPE_BIGNUM => "BIGNUM",
        other => return format!("the type with the number {other}"),
    }
    .to_owned()
}
