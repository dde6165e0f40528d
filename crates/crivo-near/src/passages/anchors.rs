//! The record of an anchor in a temporary file.

use crivo::similarity::winnow::{Anchor, Winnow};

use crate::spill::Record;

/// The bits of an address, enough for 10¹² words.
pub(crate) const ADDRESS_BITS: u32 = 40;

/// The bits of an anchor's hash that are kept beside the number of its partition. Different anchors
/// that share these bits are distinguished by their windows.
const HASH_BITS: u32 = 32;

/// An anchor: its hash, a hash of the words of all windows that select it (its context), and its
/// address. Records sort by hash, then by context, then by address. So occurrences of the same
/// anchor are adjacent, and among them those with the same windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AnchorRecord([u32; 5]);

impl AnchorRecord {
    pub(crate) fn new(hash: u64, context: u64, address: u64) -> Self {
        // The partition has the first eight bits.
        let hash = hash << 8 >> (64 - HASH_BITS);
        Self([
            hash as u32,
            (context >> 32) as u32,
            context as u32,
            (address >> 8) as u32,
            address as u32 & 0xFF,
        ])
    }

    /// Returns the partition of an anchor's hash.
    pub(crate) fn partition(hash: u64) -> usize {
        (hash >> 56) as usize
    }

    /// Returns the bits of the hash that are kept.
    pub(crate) fn hash(self) -> u64 {
        self.0[0].into()
    }

    pub(crate) fn context(self) -> u64 {
        u64::from(self.0[1]) << 32 | u64::from(self.0[2])
    }

    pub(crate) fn address(self) -> u64 {
        u64::from(self.0[3]) << 8 | u64::from(self.0[4])
    }
}

/// Returns the first word of the first window that selects an anchor, given the previous anchor of
/// the text. The last such window is the one before the next anchor's first.
pub(crate) fn first_window(winnow: Winnow, before: Option<&Anchor>, anchor: &Anchor) -> usize {
    match before {
        None => 0,
        // It was selected as soon as it entered the window.
        Some(before) if anchor.hash <= before.hash => (anchor.position + 1).saturating_sub(winnow.window()),
        // It was selected when the previous anchor had left the window.
        Some(before) => before.position + 1,
    }
}

impl Record for AnchorRecord {
    const SIZE: usize = 17;

    fn write(self, out: &mut Vec<u8>) {
        let [words @ .., last] = self.0;
        words.iter().for_each(|part| out.extend_from_slice(&part.to_le_bytes()));
        out.push(last as u8);
    }

    fn read(bytes: &[u8]) -> Self {
        let mut parts = [0; 5];
        let (words, last) = bytes.as_chunks::<4>();
        for (part, bytes) in parts.iter_mut().zip(words) {
            *part = u32::from_le_bytes(*bytes);
        }
        parts[4] = last.first().copied().unwrap_or(0).into();
        Self(parts)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crivo::similarity::winnow::gram_hashes;

    use super::*;

    proptest! {
        #[test]
        fn windows_belong_to_the_anchor_that_they_select(
            words in (1_u64..40).prop_flat_map(|words| proptest::collection::vec(0..words, 0..160)),
            window in 1_usize..20, gram in 1_usize..8
        ) {
            let winnow = Winnow::new(window, gram).unwrap();
            let (mut hashes, mut anchors) = (Vec::new(), Vec::new());
            gram_hashes(&words, gram, &mut hashes);
            winnow.anchors(&words, &mut anchors);
            let mut before = None;
            for anchor in &anchors {
                let (first, _) = winnow.windows_of(&hashes, anchor.position).unwrap();
                prop_assert_eq!(first_window(winnow, before, anchor), first);
                before = Some(anchor);
            }
        }

        #[test]
        fn parts_come_back_and_decide_the_order(
            one in (any::<u64>(), any::<u64>(), 0_u64..1 << ADDRESS_BITS),
            other in (any::<u64>(), any::<u64>(), 0_u64..1 << ADDRESS_BITS),
            same_hash in any::<bool>(), same_context in any::<bool>()
        ) {
            let other = (if same_hash { one.0 } else { other.0 }, if same_context { one.1 } else { other.1 }, other.2);
            let parts = [one, other].map(|(hash, context, address)| {
                let record = AnchorRecord::new(hash, context, address);
                let mut bytes = Vec::new();
                record.write(&mut bytes);
                assert_eq!((AnchorRecord::read(&bytes), bytes.len()), (record, AnchorRecord::SIZE));
                let kept = (hash << 8 >> 32, context, address);
                assert_eq!((record.hash(), record.context(), record.address()), kept);
                (record, kept)
            });
            prop_assert_eq!(parts[0].0.cmp(&parts[1].0), parts[0].1.cmp(&parts[1].1));
        }
    }
}
