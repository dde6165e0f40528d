//! Answers of the driver, taken apart; what is not as expected ends the test.

use std::fmt::Display;

use serde_json::Value;

/// The value, or the end of the test.
pub(crate) fn must<T, E: Display>(result: Result<T, E>, what: &str) -> T {
    result.unwrap_or_else(|error| panic!("{what}: {error}"))
}

/// Text in JSON.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("expected text from the browser, found {value}"))
}
