//! Checks the lengths of texts in pages with delta encodings, before the Parquet crate allocates
//! memory for them.
//!
//! Such a page begins with streams of packed differences. The streams are the lengths of the texts,
//! or the lengths of the prefixes shared with the text before and of the suffixes. Each stream
//! declares its number of values, for which the crate allocates without a check. Layout: block
//! size, miniblocks per block, number of values and first value, all of variable length; then
//! blocks of a least difference, a byte of width for each miniblock, and the miniblocks that have
//! values.

/// Returns true if the first `streams` streams of a page have at most `most` values each. A stream
/// that cannot be followed ends the check.
pub(super) fn has_at_most(mut page: &[u8], streams: usize, most: u64) -> bool {
    for stream in 0..streams {
        let Some(head) = StreamHead::read(&mut page) else { return stream > 0 };
        if head.values > most {
            return false;
        }
        // The crate refuses such a stream, and allocates for a stream only after it has read the
        // one before.
        let Some(rest) = head.skip_blocks(page) else { return true };
        page = rest;
    }
    true
}

/// The header of a stream.
struct StreamHead {
    block: u64,
    miniblocks: u64,
    values: u64,
}

impl StreamHead {
    fn read(page: &mut &[u8]) -> Option<Self> {
        let (block, miniblocks, values) = (number(page)?, number(page)?, number(page)?);
        let _first_value = number(page)?;
        Some(Self { block, miniblocks, values })
    }

    /// Returns the bytes after the blocks.
    fn skip_blocks<'p>(&self, mut page: &'p [u8]) -> Option<&'p [u8]> {
        let of_miniblock = self.block.checked_div(self.miniblocks).filter(|&values| values > 0)?;
        let mut left = self.values.saturating_sub(1);
        while left > 0 {
            let _least_difference = number(&mut page)?;
            let (widths, rest) = page.split_at_checked(usize::try_from(self.miniblocks).ok()?)?;
            page = rest;
            for &width in widths {
                if left == 0 {
                    break;
                }
                let bytes = u64::from(width).checked_mul(of_miniblock)? / 8;
                page = page.get(usize::try_from(bytes).ok()?..)?;
                left = left.saturating_sub(of_miniblock);
            }
        }
        Some(page)
    }
}

/// Reads a number of variable length, low bits first.
fn number(page: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = page.split_first()?;
        *page = rest;
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a stream of equal values: blocks of 128 in four miniblocks of width 0.
    fn stream(values: u8) -> Vec<u8> {
        let mut bytes = vec![0x80, 1, 4, values, 0];
        (0..(usize::from(values).saturating_sub(1)).div_ceil(128)).for_each(|_| bytes.extend([0; 5]));
        bytes
    }

    #[test]
    fn every_stream_is_compared() {
        let two = [stream(100), stream(99), b"text".to_vec()].concat();
        assert!(has_at_most(&two, 2, 100) && has_at_most(&two, 1, 100) && !has_at_most(&two, 2, 99));
        let second = [stream(3), stream(100)].concat();
        assert!(has_at_most(&second, 1, 3) && !has_at_most(&second, 2, 3));
        // The widths of miniblocks without values have no meaning.
        let odd = [&[0x80, 1, 4, 3, 0, 0, 8, 9, 9, 9][..], &[7; 32], &stream(100)].concat();
        assert!(!has_at_most(&odd, 2, 99) && has_at_most(&odd, 2, 100));
    }

    #[test]
    fn what_is_cut_off_or_without_blocks_ends() {
        assert!(!has_at_most(&[], 1, 9));
        assert!(has_at_most(&stream(100)[..7], 2, 100));
        assert!(has_at_most(&[0, 0, 5, 0, 1, 1], 2, 100));
        assert!(!has_at_most(&[0xFF; 40], 1, 100));
        // A block of width 0 that is longer than any page.
        assert!(has_at_most(&[0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 1, 0xFF, 0x7F, 0, 0, 0], 2, 1 << 20));
    }
}
