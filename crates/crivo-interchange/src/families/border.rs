//! Guards the decoders of DataSketches against bytes of unknown origin.
//!
//! Those decoders check lengths, but trust much of the content. Three measures turn bad content
//! into an error: sizes are checked before a decoder allocates, content that would break later steps
//! is looked for, and a panic in these steps is caught. Every decoder runs inside of [`caught`].

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use crate::{Error, Result};

/// The most bytes that a decoder may allocate beyond the input, for a sketch that is stored as
/// empty.
pub(crate) const MOST_EMPTY_BYTES: u64 = 128 << 20;

thread_local! {
    /// Whether a panic of this thread will be caught, and so is not printed.
    static CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Runs a decoder of DataSketches. A panic in it becomes an error, and is not printed.
///
/// # Errors
/// The errors of `work`, and [`Error::Bytes`] for a panic.
pub(crate) fn caught<T>(kind: &'static str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    static QUIET_HOOK: Once = Once::new();
    QUIET_HOOK.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !CATCHING.get() {
                previous(info);
            }
        }));
    });
    let outer = CATCHING.replace(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(outer);
    outcome.unwrap_or_else(|_| Err(Error::bytes(kind, "a state that no such sketch can have")))
}

/// Returns the little-endian number at `place`, or `None` if the bytes are too short.
pub(crate) fn u32_at(bytes: &[u8], place: usize) -> Option<u32> {
    bytes.get(place..)?.first_chunk().map(|four| u32::from_le_bytes(*four))
}

/// Returns the little-endian number at `place`, or `None` if the bytes are too short.
pub(crate) fn u64_at(bytes: &[u8], place: usize) -> Option<u64> {
    bytes.get(place..)?.first_chunk().map(|eight| u64::from_le_bytes(*eight))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        let refused = caught("CPC", || -> Result<()> { panic!("inside of a decoder") });
        assert!(refused.unwrap_err().to_string().contains("CPC sketch"));
        assert_eq!(caught("CPC", || Ok(7)).unwrap(), 7);
    }
}
