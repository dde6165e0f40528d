//! The checksum at the end of a record.
//!
//! It is the XXH3 of the bytes before it, seeded with the place where the record belongs. A record
//! that was changed is refused, and so is one that a damaged page shows in the place of another. It
//! protects from accidents, not from attackers, who can compute a checksum too.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The number of bytes of a checksum.
pub const SEAL: usize = 8;

/// Appends the checksum to a record.
pub fn seal(seed: u64, record: &mut Vec<u8>) {
    let sum = xxh3_64_with_seed(record, seed);
    record.extend_from_slice(&sum.to_le_bytes());
}

/// Returns the record without its checksum, or `None` if the checksum is wrong.
pub fn unseal(seed: u64, bytes: &[u8]) -> Option<&[u8]> {
    let (record, sum) = bytes.split_at_checked(bytes.len().checked_sub(SEAL)?)?;
    (xxh3_64_with_seed(record, seed).to_le_bytes() == sum).then_some(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_bit_every_cut_and_every_other_place_is_seen() {
        let mut bytes = b"a record".to_vec();
        seal(7, &mut bytes);
        assert_eq!(unseal(7, &bytes), Some(&b"a record"[..]));
        assert_eq!(unseal(8, &bytes), None, "it belongs elsewhere");
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(unseal(7, &bytes), None, "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        for length in 0..bytes.len() {
            assert_eq!(unseal(7, &bytes[..length]), None, "{length} bytes");
        }
    }
}
