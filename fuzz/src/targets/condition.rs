//! Any text is a condition or an error that says what was expected.

use crivo_rows::condition::Condition;

/// Checks the promise for one input.
pub fn check(text: &str) {
    match text.parse::<Condition>() {
        Ok(_) => {}
        Err(message) => assert!(!message.is_empty()),
    }
}
