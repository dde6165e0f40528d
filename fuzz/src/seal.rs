//! Envelopes around arbitrary bytes.
//!
//! A checksum stops nearly every mutation at the door, and what lies behind it would never be
//! tried. This makes the outside right, whatever the inside is.

const MAGIC: &[u8; 4] = b"CRVO";
const LENGTH_OFFSET: usize = 20;
const HEADER_LEN: usize = 28;
const CHECKSUM_LEN: usize = 4;

/// The bytes with the magic, the length and the checksum that fit them, and with the checksums of
/// the envelopes inside where their lengths fit. Missing bytes are zero.
pub fn seal(bytes: &[u8]) -> Vec<u8> {
    let mut sealed = bytes.to_vec();
    sealed.resize(sealed.len().max(HEADER_LEN + CHECKSUM_LEN), 0);
    let payload_len = (sealed.len() - HEADER_LEN - CHECKSUM_LEN) as u64;
    sealed[..MAGIC.len()].copy_from_slice(MAGIC);
    sealed[LENGTH_OFFSET..HEADER_LEN].copy_from_slice(&payload_len.to_le_bytes());

    // From the back, because an envelope's checksum covers those inside it.
    for start in (0..sealed.len() - HEADER_LEN).rev() {
        if sealed[start..].starts_with(MAGIC) {
            write_checksum(&mut sealed[start..]);
        }
    }
    sealed
}

/// Writes the checksum of the envelope that `bytes` begin with, if it ends among them.
fn write_checksum(bytes: &mut [u8]) {
    let mut length = [0; 8];
    length.copy_from_slice(&bytes[LENGTH_OFFSET..HEADER_LEN]);
    let end = usize::try_from(u64::from_le_bytes(length)).ok().and_then(|n| n.checked_add(HEADER_LEN));
    if let Some((checked, rest)) = end.and_then(|end| bytes.split_at_mut_checked(end))
        && let Some(checksum) = rest.first_chunk_mut::<CHECKSUM_LEN>()
    {
        *checksum = crc32fast::hash(checked).to_le_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crivo::ErrorKind;
    use crivo::codec::AnySketch;
    use crivo::distinct::HyperLogLog;

    #[test]
    fn sealing_what_is_sealed_changes_nothing() {
        let bytes = HyperLogLog::new(10).unwrap().encode();
        assert_eq!(seal(&bytes), bytes);
    }

    #[test]
    fn sealed_bytes_get_past_the_checksum() {
        let mut bytes = HyperLogLog::new(10).unwrap().encode();
        bytes[HEADER_LEN] = 200;
        assert_eq!(AnySketch::decode(&bytes).unwrap_err().kind(), ErrorKind::Damaged);
        assert_eq!(AnySketch::decode(&seal(&bytes)).unwrap_err().kind(), ErrorKind::InvalidContents);
    }
}
