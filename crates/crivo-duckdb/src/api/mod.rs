//! The interface to DuckDB's C API.
//!
//! All `unsafe` code is in this module. The other modules of the crate use columns, states and
//! results as safe types. Every callback runs through [`guard::guarded`], so an error or a panic
//! becomes an SQL error.
//!
//! Only functions of the stable C API v1.2.0 are called, so one binary loads into every later
//! DuckDB of version 1 and 2.

#![allow(unsafe_code)] // DuckDB hands out pointers

mod aggregate;
mod column;
mod guard;
mod output;
mod prefetch;
mod scalar;
mod types;

use std::ffi::CStr;

use libduckdb_sys as duckdb;

pub(crate) use self::aggregate::{Aggregate, States};
pub(crate) use self::column::{Chunk, Column, Huge, StringRef, Values};
pub(crate) use self::output::Output;
pub(crate) use self::prefetch::prefetch;
pub(crate) use self::scalar::Scalar;
pub(crate) use self::types::{ESTIMATE, Type};

use crate::error::{Result, SqlError};

/// The version of the C API that the extension requests; xtask stamps the same version into the
/// file.
const API_VERSION: &str = "v1.2.0";

/// Registers functions, through a connection that is open during the registration.
pub(crate) struct Registry {
    connection: duckdb::duckdb_connection,
}

/// Returns the version of the DuckDB that loaded the extension, such as `v2.0.0`.
pub(crate) fn engine_version() -> String {
    // SAFETY: DuckDB returns a constant text that ends with a zero.
    let version = unsafe { CStr::from_ptr(duckdb::duckdb_library_version()) };
    version.to_string_lossy().into_owned()
}

/// The entry point for DuckDB. Its name must be `<name of the file>_init_c_api`.
///
/// # Safety
/// DuckDB calls it with pointers that are valid for the call.
#[unsafe(no_mangle)]
unsafe extern "C" fn crivo_init_c_api(
    info: duckdb::duckdb_extension_info,
    access: *const duckdb::duckdb_extension_access,
) -> bool {
    let mut loaded = false;
    let load = || {
        // SAFETY: both pointers come from DuckDB and are valid for this call.
        loaded = unsafe { load(info, access) }?;
        Ok(())
    };
    guard::guarded("crivo", load, |message| {
        // SAFETY: as above. DuckDB copies the message.
        if let Some(set_error) = unsafe { (*access).set_error } {
            unsafe { set_error(info, message.as_ptr()) };
        }
    });
    loaded
}

/// Loads the extension. Returns false if DuckDB has refused the version of the C API and has set an
/// error itself.
///
/// # Safety
/// The pointers must be those that DuckDB passed to the entry point.
unsafe fn load(
    info: duckdb::duckdb_extension_info,
    access: *const duckdb::duckdb_extension_access,
) -> Result<bool> {
    // SAFETY: the caller has received the pointers from DuckDB.
    if !unsafe { duckdb::duckdb_rs_extension_api_init(info, access, API_VERSION) }.map_err(SqlError::new)? {
        return Ok(false);
    }
    let get_database = unsafe { (*access).get_database }
        .ok_or_else(|| SqlError::new("DuckDB gives no database to extensions"))?;
    let mut connection: duckdb::duckdb_connection = std::ptr::null_mut();
    // SAFETY: the database is valid while the extension is loaded; the connection is closed below.
    let state = unsafe {
        let database = get_database(info);
        if database.is_null() {
            return Ok(false);
        }
        duckdb::duckdb_connect(*database, &raw mut connection)
    };
    if state != duckdb::DuckDBSuccess {
        return Err(SqlError::new("crivo cannot connect to the database that loads it"));
    }
    let mut registry = Registry { connection };
    let registered = crate::register(&registry);
    // SAFETY: the connection was opened above and is used nowhere else.
    unsafe { duckdb::duckdb_disconnect(&raw mut registry.connection) };
    registered.map(|()| true)
}
