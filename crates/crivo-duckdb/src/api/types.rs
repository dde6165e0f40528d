//! The types of parameters and results, as functions declare them.

use std::ffi::CString;

use libduckdb_sys as duckdb;

use crate::error::{Result, SqlError};

/// A type of DuckDB.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Type {
    /// Any type. The actual type of the column is known at run time.
    Any,
    Boolean,
    BigInt,
    Double,
    Varchar,
    Blob,
    List(&'static Type),
    Struct(&'static [(&'static str, Type)]),
}

/// A value with its bounds.
pub(crate) const ESTIMATE: Type =
    Type::Struct(&[("value", Type::Double), ("lower", Type::Double), ("upper", Type::Double)]);

/// A logical type that DuckDB has allocated.
pub(super) struct LogicalType(pub(super) duckdb::duckdb_logical_type);

impl Drop for LogicalType {
    fn drop(&mut self) {
        // SAFETY: DuckDB created the type, and this value is its only owner.
        unsafe { duckdb::duckdb_destroy_logical_type(&raw mut self.0) };
    }
}

impl Type {
    pub(super) fn create(self) -> Result<LogicalType> {
        let simple = |id| {
            // SAFETY: DuckDB accepts any type number.
            Ok(LogicalType(unsafe { duckdb::duckdb_create_logical_type(id) }))
        };
        match self {
            Self::Any => simple(duckdb::DUCKDB_TYPE_DUCKDB_TYPE_ANY),
            Self::Boolean => simple(duckdb::DUCKDB_TYPE_DUCKDB_TYPE_BOOLEAN),
            Self::BigInt => simple(duckdb::DUCKDB_TYPE_DUCKDB_TYPE_BIGINT),
            Self::Double => simple(duckdb::DUCKDB_TYPE_DUCKDB_TYPE_DOUBLE),
            Self::Varchar => simple(duckdb::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR),
            Self::Blob => simple(duckdb::DUCKDB_TYPE_DUCKDB_TYPE_BLOB),
            Self::List(element) => {
                let element = element.create()?;
                // SAFETY: DuckDB copies the type of the elements.
                Ok(LogicalType(unsafe { duckdb::duckdb_create_list_type(element.0) }))
            }
            Self::Struct(fields) => {
                let types: Vec<LogicalType> =
                    fields.iter().map(|(_, field)| field.create()).collect::<Result<_>>()?;
                let names: Vec<CString> =
                    fields.iter().map(|(name, _)| c_string(name)).collect::<Result<_>>()?;
                let mut types: Vec<_> = types.iter().map(|field| field.0).collect();
                let mut names: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
                // SAFETY: both arrays have one element for each field; DuckDB copies them.
                Ok(LogicalType(unsafe {
                    duckdb::duckdb_create_struct_type(
                        types.as_mut_ptr(),
                        names.as_mut_ptr(),
                        fields.len() as u64,
                    )
                }))
            }
        }
    }
}

pub(super) fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| SqlError::expected("name", "no zero byte", text))
}
