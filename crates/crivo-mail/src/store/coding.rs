//! Encodes features as bytes: the steps from each feature to the next, in one of two codes.
//!
//! Features are hashes, so their steps follow a geometric distribution, for which Rice codes are as
//! good as any. A step is divided by a power of two. The quotient is written as that number of
//! zeros and a one, the remainder in bits. That takes 11.8 bits a feature, where whole bytes take
//! 15.2.
//!
//! The last byte says which power is used. It is 0x80 or more. The older code has seven bits of a
//! step in each byte, and its last byte is always below 0x80. Exports are written in the older
//! code, so that any version reads them.

/// The mark of the last byte, to which the base-2 logarithm of the divisor is added.
const RICE: u8 = 0x80;

/// The largest base-2 logarithm of a divisor.
const MOST_BITS: u32 = 24;

/// A quotient below this is written together with its remainder, in 32 bits or less.
const SHORT: u32 = 32 - MOST_BITS;

/// Encodes ascending features, each once, for the store.
pub(crate) fn encode_features(features: &[u32]) -> Vec<u8> {
    let Some(&last) = features.last() else { return Vec::new() };
    // The best divisor is near ln 2 times the mean step.
    let mean = f64::from(last) / features.len() as f64;
    let bits = libm::log2((mean * std::f64::consts::LN_2).max(1.0)) as u32;
    let bits = bits.min(MOST_BITS);
    let mut writer =
        BitWriter { bytes: Vec::with_capacity(features.len() * 3 / 2 + 16), waiting: 0, bits: 0 };
    for step in steps(features) {
        let (quotient, rest) = (step >> bits, u64::from(step) & ((1 << bits) - 1));
        if quotient < SHORT {
            // The quotient, the one and the remainder at once: the zeros are the high bits of the
            // value.
            writer.put(1 << bits | rest, quotient + 1 + bits);
        } else {
            writer.zeros(quotient);
            writer.put(1 << bits | rest, 1 + bits);
        }
    }
    let mut record = writer.finish();
    record.push(RICE | bits as u8);
    record
}

/// Returns the steps between features, less one, because a step is at least one. The first step is
/// the first feature itself.
fn steps(features: &[u32]) -> impl Iterator<Item = u32> {
    let mut next = 0_u32;
    features.iter().map(move |&feature| feature - std::mem::replace(&mut next, feature.wrapping_add(1)))
}

/// Appends the features of a record in either code. Returns `None` if the record is damaged.
pub(crate) fn decode_features(record: &[u8], features: &mut Vec<u32>) -> Option<()> {
    match record.split_last() {
        Some((&last, body)) if last >= RICE => {
            let bits = u32::from(last - RICE);
            if bits > MOST_BITS {
                return None;
            }
            decode_rice(body, bits, features)
        }
        _ => decode_bytes(record, features),
    }
}

fn decode_rice(body: &[u8], bits: u32, features: &mut Vec<u32>) -> Option<()> {
    let mut reader = BitReader { bytes: body, window: 0, left: 0 };
    let mut next = 0_u64;
    loop {
        let mut quotient = 0_u64;
        loop {
            reader.refill();
            let zeros = reader.window.leading_zeros().min(reader.left);
            quotient += u64::from(zeros);
            if zeros < reader.left {
                reader.skip(zeros + 1);
                break;
            }
            reader.skip(zeros);
            if reader.bytes.is_empty() {
                // The padding of the last byte is no feature.
                return (quotient < 8).then_some(());
            }
        }
        reader.refill();
        let feature = next + (quotient << bits | reader.take(bits)?);
        features.push(u32::try_from(feature).ok()?);
        next = feature + 1;
    }
}

/// Encodes features for an export: seven bits of a step in each byte.
pub(crate) fn encode_bytes(features: &[u32]) -> Vec<u8> {
    let mut record = Vec::with_capacity(features.len() * 2 + 16);
    let mut last = 0;
    for &feature in features {
        let mut step = feature.wrapping_sub(last);
        last = feature;
        while step >= 0x80 {
            record.push(step as u8 | 0x80);
            step >>= 7;
        }
        record.push(step as u8);
    }
    record
}

fn decode_bytes(record: &[u8], features: &mut Vec<u32>) -> Option<()> {
    let (mut last, mut step, mut shift) = (0_u32, 0_u32, 0_u32);
    for &byte in record {
        step |= u32::from(byte & 0x7F).checked_shl(shift)?;
        shift += 7;
        if byte < 0x80 {
            last = last.checked_add(step)?;
            features.push(last);
            (step, shift) = (0, 0);
        }
    }
    (shift == 0).then_some(())
}

/// Writes bits into bytes, the highest bit of each byte first.
struct BitWriter {
    bytes: Vec<u8>,
    /// Bits that are not in `bytes` yet, the last one lowest: fewer than 32.
    waiting: u64,
    bits: u32,
}

impl BitWriter {
    /// Writes the lowest bits of a number: at most 32.
    #[inline]
    fn put(&mut self, number: u64, bits: u32) {
        self.waiting = self.waiting << bits | number;
        self.bits += bits;
        if self.bits >= 32 {
            self.bits -= 32;
            self.bytes.extend_from_slice(&((self.waiting >> self.bits) as u32).to_be_bytes());
        }
    }

    fn zeros(&mut self, mut count: u32) {
        while count > 0 {
            let some = count.min(32);
            self.put(0, some);
            count -= some;
        }
    }

    /// Returns the bytes, the last one padded with zeros.
    fn finish(mut self) -> Vec<u8> {
        let last = ((self.waiting << (32 - self.bits)) as u32).to_be_bytes();
        self.bytes.extend_from_slice(&last[..self.bits.div_ceil(8) as usize]);
        self.bytes
    }
}

/// Reads bits from bytes, the highest bit of each byte first.
struct BitReader<'a> {
    bytes: &'a [u8],
    /// The next bits, the first one highest. The bits below the `left` valid ones are zeros, or the
    /// first bits of the next byte.
    window: u64,
    left: u32,
}

impl BitReader<'_> {
    /// Refills the window to at least 57 bits, unless the bytes end.
    #[inline]
    fn refill(&mut self) {
        if self.left > 56 {
            return;
        }
        if let Some(next) = self.bytes.first_chunk() {
            // A byte that fits only in part is read again by the next call, to the same place.
            self.window |= u64::from_be_bytes(*next) >> self.left;
            let taken = (64 - self.left) / 8;
            self.left += taken * 8;
            self.bytes = &self.bytes[taken as usize..];
            return;
        }
        while self.left <= 56 {
            let Some((&byte, rest)) = self.bytes.split_first() else { return };
            self.window |= u64::from(byte) << (56 - self.left);
            self.left += 8;
            self.bytes = rest;
        }
    }

    #[inline]
    fn skip(&mut self, bits: u32) {
        self.window = self.window.checked_shl(bits).unwrap_or(0);
        self.left -= bits;
    }

    /// Returns the next bits as a number, or `None` if there are fewer.
    #[inline]
    fn take(&mut self, bits: u32) -> Option<u64> {
        if bits > self.left {
            return None;
        }
        let number = self.window.checked_shr(64 - bits).unwrap_or(0);
        self.skip(bits);
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(record: &[u8]) -> Option<Vec<u32>> {
        let mut features = Vec::new();
        decode_features(record, &mut features).map(|()| features)
    }

    proptest! {
        #[test]
        fn features_come_back_from_both_codes(features in prop::collection::btree_set(any::<u32>(), 0..300),
                dense in prop::collection::btree_set(0_u32..2000, 0..300)) {
            for features in [features, dense] {
                let features: Vec<u32> = features.into_iter().collect();
                prop_assert_eq!(decoded(&encode_features(&features)), Some(features.clone()));
                prop_assert_eq!(decoded(&encode_bytes(&features)), Some(features));
            }
        }

        #[test]
        fn any_bytes_are_features_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some(features) = decoded(&bytes) && bytes.last().is_some_and(|last| *last >= RICE) {
                prop_assert!(features.is_sorted_by(|a, b| a < b));
            }
        }
    }

    #[test]
    fn codes_are_what_they_were() {
        assert_eq!(decoded(&[]), Some(vec![]));
        assert_eq!(decoded(&[0x05, 0x80, 0x01]), Some(vec![5, 133]));
        // Divisor 4: 5 is 01|01, and 130 − 6 = 124 is 31 zeros, 1, 00.
        assert_eq!(decoded(&[0b0101_0000, 0, 0, 0, 0b0001_0000, RICE | 2]), Some(vec![5, 130]));
        assert_eq!(decoded(&[0b0101_0000, 0, 0, 0, RICE | 2]), None, "too many zeros at the end");
        assert_eq!(decoded(&[0b0101_0000, RICE | 31]), None);
    }

    #[test]
    fn codes_are_within_a_hundredth_of_the_entropy() {
        let features: Vec<u32> = (0..1400_u64)
            .map(|n| (crivo::hash::split_mix::mix(n) % (1 << 21)) as u32)
            .collect::<std::collections::BTreeSet<u32>>()
            .into_iter()
            .collect();
        let bits = encode_features(&features).len() as f64 * 8.0 / features.len() as f64;
        let entropy = libm::log2((1 << 21) as f64 / 1400.0) + std::f64::consts::LOG2_E;
        assert!(bits < entropy * 1.01 && bits > entropy * 0.98, "{bits} bits for {entropy}");
    }
}
