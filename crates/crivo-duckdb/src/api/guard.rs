//! Runs callbacks so that errors and panics leave them only as error messages.

use std::any::Any;
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::Result;

/// Runs a callback of DuckDB. Passes the message of an error or a panic to `report`.
///
/// After a panic the states are still valid values, because they are Rust's own types. DuckDB drops
/// them after the error.
pub(super) fn guarded(function: &str, callback: impl FnOnce() -> Result<()>, report: impl FnOnce(&CString)) {
    let message = match catch_unwind(AssertUnwindSafe(callback)) {
        Ok(Ok(())) => return,
        Ok(Err(error)) => format!("{function}: {error}"),
        Err(panic) => format!("{function}: a defect of crivo, please report it: {}", text_of(panic.as_ref())),
    };
    // C ends a message at a zero byte. No text of the library has one.
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    let _ = catch_unwind(AssertUnwindSafe(|| report(&message)));
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a message")
}
