//! Reads the driver's answers. An unexpected answer ends the test.

use std::fmt::Display;

use serde_json::Value;

/// Returns the value, or panics.
pub(crate) fn must<T, E: Display>(result: Result<T, E>, what: &str) -> T {
    result.unwrap_or_else(|error| panic!("{what}: {error}"))
}

/// Returns the text of a JSON value, or panics.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("expected text from the browser, found {value}"))
}
