//! Any text is a condition or an error that says what was expected.
#![no_main]

use crivo_rows::condition::Condition;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| match text.parse::<Condition>() {
    Ok(_) => {}
    Err(message) => assert!(!message.is_empty()),
});
