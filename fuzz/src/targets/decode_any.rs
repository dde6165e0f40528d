//! Any bytes at all give an error or a sound sketch.

/// Checks the promise for one input.
pub fn check(bytes: &[u8]) {
    crate::check_decoding(bytes)
}
