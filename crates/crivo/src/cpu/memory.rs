//! Large arrays of zeros: allocated with an error instead of an abort, on huge pages if possible.
//!
//! An array far larger than the caches is read at random by most sketches. With pages of 4 KiB
//! nearly every such access also misses the table of page addresses, which costs as much again;
//! pages of 2 MiB make that rare.

use crate::error::{Error, ErrorKind, Result};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// `len` elements, all zero.
///
/// # Errors
/// If the memory cannot be allocated.
pub(crate) fn zeroed<T: Copy + Default>(len: u64) -> Result<Vec<T>> {
    let mut array = reserved(len)?;
    array.resize(len as usize, T::default());
    Ok(array)
}

/// Creates an empty array with room for `len` elements.
///
/// # Errors
/// If the memory cannot be allocated.
pub(crate) fn reserved<T>(len: u64) -> Result<Vec<T>> {
    let mut array = Vec::new();
    let fits = usize::try_from(len).ok().filter(|&len| array.try_reserve_exact(len).is_ok());
    if fits.is_none() {
        return Err(Error::new(
            ErrorKind::OutOfMemory,
            "memory",
            format_args!("{} bytes", u128::from(len) * size_of::<T>() as u128),
            "less than that",
            "ask for fewer items or a larger error",
        ));
    }
    advise_huge_pages(&array);
    Ok(array)
}

#[cfg(all(feature = "std", target_os = "linux"))]
fn advise_huge_pages<T>(array: &Vec<T>) {
    const HUGE_PAGE: usize = 2 << 20;
    let start = array.as_ptr() as usize;
    let end = start + array.capacity() * size_of::<T>();
    let aligned = start.next_multiple_of(HUGE_PAGE);
    if aligned + HUGE_PAGE <= end {
        #[allow(unsafe_code)]
        // SAFETY: the range lies inside the array's own allocation and begins at a page; the advice
        // changes how the kernel backs it, never what it holds. A refusal is no harm.
        unsafe {
            libc::madvise(aligned as *mut libc::c_void, end - aligned, libc::MADV_HUGEPAGE);
        }
    }
}

#[cfg(not(all(feature = "std", target_os = "linux")))]
fn advise_huge_pages<T>(_: &Vec<T>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_zero_whatever_their_size() {
        for len in [0, 1, 1000, (3 << 20) + 7, 9 << 20] {
            let array = zeroed::<u64>(len).unwrap();
            assert_eq!(array.len() as u64, len);
            assert!(array.iter().all(|&word| word == 0));
        }
    }

    #[test]
    fn absurd_sizes_are_an_error() {
        for len in [1 << 60, u64::MAX] {
            let error = zeroed::<u64>(len).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::OutOfMemory);
        }
    }
}
