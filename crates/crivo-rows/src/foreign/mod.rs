//! The defences against bytes of unknown origin.
//!
//! A file may be damaged or malicious. Four things here turn that into an error:
//!
//! - [`Limits`]: the longest record, and the most bytes to hold in memory at once;
//! - [`buffer`] and [`reserve`]: allocations whose size a file decides, and which may fail;
//! - [`caught`]: turns a panic of the crates that decode Parquet into an error that names the file;
//! - [`thrift`]: a checked walk over Parquet's metadata, before the crates read it.

#[cfg(feature = "parquet")]
pub(crate) mod thrift;

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Once};

use crate::error::{Error, ErrorKind, Remedy, Result};

/// The limits on what a file may require.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The longest record, in bytes.
    pub(crate) record: usize,
    /// The most bytes of a file that are held in memory, if it cannot be read at any position.
    pub(crate) held: usize,
}

impl Limits {
    /// The greatest limit of a record, because positions in a chunk are 32 bits wide.
    pub(crate) const LONGEST_RECORD: usize = 1 << 31;
}

impl Default for Limits {
    fn default() -> Self {
        Self { record: 64 << 20, held: 1 << 30 }
    }
}

/// Returns an empty vector with room for `bytes`.
///
/// # Errors
/// If the system has not enough memory.
pub(crate) fn buffer(bytes: usize) -> Result<Vec<u8>> {
    let mut buffer = Vec::new();
    reserve(&mut buffer, bytes)?;
    Ok(buffer)
}

/// Reserves room for `more` bytes.
///
/// # Errors
/// If the system has not enough memory.
pub(crate) fn reserve(buffer: &mut Vec<u8>, more: usize) -> Result<()> {
    buffer.try_reserve_exact(more).map_err(|_| out_of_memory(buffer.len().saturating_add(more)))
}

/// Returns an error if the system cannot allocate `bytes` now. This is for memory that other crates
/// allocate without a check, where a failed allocation ends the process.
pub(crate) fn require_memory(bytes: usize) -> Result<()> {
    // A small allocation is not worth a system call, because it always succeeds.
    const ALWAYS: usize = 4 << 20;
    if bytes <= ALWAYS { Ok(()) } else { buffer(bytes).map(drop) }
}

#[cold]
pub(crate) fn out_of_memory(bytes: usize) -> Error {
    let message = format_args!("there is no memory for the {} that it needs", in_mebibytes(bytes));
    Error::new(ErrorKind::OutOfMemory, message)
}

/// Formats a size as whole mebibytes, at least one.
pub(crate) fn in_mebibytes(bytes: usize) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

#[cold]
pub(crate) fn record_too_long(limit: usize) -> Error {
    let message =
        format_args!("a record is longer than {}: is a quote or a line end missing?", in_mebibytes(limit));
    Error::new(ErrorKind::RecordTooLong, message).with_remedy(Remedy::LongerRecords)
}

thread_local! {
    /// Whether a panic of this thread will be caught, and so is not printed.
    static CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Runs code of other crates on a file's bytes. A panic becomes an error, and is not printed.
///
/// # Errors
/// The errors of `work`, and [`ErrorKind::Damaged`] for a panic.
pub(crate) fn caught<T>(file: &Arc<str>, work: impl FnOnce() -> Result<T>) -> Result<T> {
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
    outcome
        .unwrap_or_else(|_| {
            let message =
                "not a Parquet file, or damaged (its values cannot be decoded): fetch or write it again";
            Err(Error::new(ErrorKind::Damaged, message))
        })
        .map_err(|error| error.in_file(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_becomes_an_error_that_names_the_file() {
        let file: Arc<str> = "a.parquet".into();
        let empty: [u8; 0] = [];
        let error = caught(&file, || Ok(empty[file.len()])).unwrap_err();
        assert_eq!((error.kind(), error.file()), (ErrorKind::Damaged, Some("a.parquet")));
        assert!(!CATCHING.get());
        assert_eq!(caught(&file, || Ok(7)).unwrap(), 7);
    }

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        let error = buffer(usize::MAX / 4).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfMemory);
        assert!(buffer(1000).unwrap().capacity() >= 1000);
    }
}
