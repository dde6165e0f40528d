//! Prefetches memory before it is needed.

/// Prefetches the cache line of `slice[index]`, to be written soon. Does nothing if there is no
/// such element. Only the time of later accesses changes.
#[inline(always)]
pub(crate) fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = slice.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = std::ptr::from_ref(element).cast();
        #[allow(unsafe_code)]
        // SAFETY: a prefetch reads and writes nothing, and SSE is part of the x86-64 architecture.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(address);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_index_is_harmless() {
        let slice = [1, 2, 3];
        for index in [0, 2, 3, usize::MAX] {
            prefetch(&slice, index);
        }
        prefetch::<u8>(&[], 0);
        assert_eq!(slice, [1, 2, 3]);
    }
}
