//! Finds the newlines, delimiters and quotes in 64 bytes at once.
//!
//! A search for the next newline costs a call and a restart for every hit, and lines of eleven
//! bytes have many hits. To classify a block once and walk over the bits of the result costs a few
//! instructions for each hit.

use wide::u8x16;

/// The number of bytes in a block, which is the number of bits in a mask.
pub(crate) const BLOCK: usize = 64;

/// A block of bytes in vector registers.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    lanes: [u8x16; 4],
    /// The bits of valid bytes, because the last block of a chunk is shorter.
    valid: u64,
}

impl Block {
    /// Loads the first 64 bytes, or all if there are fewer.
    #[inline]
    pub(crate) fn load(bytes: &[u8]) -> Self {
        match bytes.first_chunk::<BLOCK>() {
            Some(full) => Self { lanes: lanes(full), valid: u64::MAX },
            None => Self::load_rest(bytes),
        }
    }

    #[cold]
    fn load_rest(bytes: &[u8]) -> Self {
        let mut padded = [0; BLOCK];
        padded[..bytes.len()].copy_from_slice(bytes);
        Self { lanes: lanes(&padded), valid: (1 << bytes.len()) - 1 }
    }

    /// Returns a mask with a bit for each byte that equals `byte`.
    #[inline]
    pub(crate) fn equal(&self, byte: u8) -> u64 {
        let wanted = u8x16::splat(byte);
        let bits = |lane: usize| u64::from(self.lanes[lane].cmp_eq(wanted).move_mask() as u32);
        (bits(0) | bits(1) << 16 | bits(2) << 32 | bits(3) << 48) & self.valid
    }
}

#[inline]
fn lanes(block: &[u8; BLOCK]) -> [u8x16; 4] {
    let lane = |at: usize| {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&block[at * 16..at * 16 + 16]);
        u8x16::new(bytes)
    };
    [lane(0), lane(1), lane(2), lane(3)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_equal_a_byte_by_byte_search_at_every_length() {
        let bytes: Vec<u8> = (0..BLOCK + 9).map(|i| b"ab\n,\"\0\xFF"[i * i % 7]).collect();
        for length in 0..=bytes.len() {
            for wanted in [b'\n', b',', b'"', 0, 0xFF] {
                let expected =
                    (0..length.min(BLOCK)).filter(|&i| bytes[i] == wanted).fold(0, |m, i| m | 1 << i);
                assert_eq!(Block::load(&bytes[..length]).equal(wanted), expected, "{length} {wanted}");
            }
        }
    }
}
