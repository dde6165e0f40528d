//! Short texts in 16 bytes, which one comparison tells apart.

/// A text of at most 15 bytes, zeros, and its length; or the start of a longer text, its length,
/// and [`Label::LONG`]. Two labels of short texts are equal exactly if the texts are equal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(align(16))]
pub(super) struct Label([u8; 16]);

impl Label {
    /// The most bytes of a text that a label holds.
    const ROOM: usize = 15;

    /// The last byte of the label of a text that lies in the array.
    const LONG: u8 = u8::MAX;

    /// Returns the label of a text, if the text is short enough to lie in it.
    #[inline]
    pub(super) fn of_short(text: &[u8]) -> Option<Self> {
        let length = text.len();
        // Where the first and the last bytes of a text overlap, they are the same bytes.
        let [low, high] = match length {
            0 => [0, 0],
            1..=3 => {
                let byte = |index: usize| u64::from(text[index]) << (8 * index);
                [byte(0) | byte(length / 2) | byte(length - 1), 0]
            }
            4..=7 => {
                let [first, last] = ends(text).map(|end| u64::from(u32::from_le_bytes(end)));
                [first | last << (8 * (length - 4)), 0]
            }
            8..=Self::ROOM => {
                let [first, last] = ends(text).map(u64::from_le_bytes);
                // Shifted in two steps, because one shift would be by 64 bits if there are eight
                // bytes.
                [first, last >> 8 >> (8 * (Self::ROOM - length))]
            }
            _ => return None,
        };
        Some(Self::of_words([low, high], length))
    }

    /// Returns the label of the first `length` bytes of `bytes`, if they are short enough to lie in
    /// it.
    #[inline]
    pub(super) fn of_short_before_others(bytes: &[u8], length: usize) -> Option<Self> {
        match (bytes.first_chunk::<16>(), MASKS.get(length)) {
            (_, None) => None,
            (None, _) => Self::of_short(&bytes[..length]),
            (Some(bytes), Some(mask)) => {
                let word = u128::from_le_bytes(*bytes);
                Some(Self::of_words([word as u64 & mask[0], (word >> 64) as u64 & mask[1]], length))
            }
        }
    }

    #[inline]
    fn of_words([low, high]: [u64; 2], length: usize) -> Self {
        Self((u128::from(low) | u128::from(high | (length as u64) << 56) << 64).to_le_bytes())
    }

    /// Returns the label of a text that lies in the array.
    pub(super) fn of_long(start: usize, length: usize) -> Self {
        let mut label = [0; 16];
        label[..8].copy_from_slice(&(start as u64).to_le_bytes());
        label[8..10].copy_from_slice(&(length as u16).to_le_bytes());
        label[Self::ROOM] = Self::LONG;
        Self(label)
    }

    pub(super) fn is_long(&self) -> bool {
        self.0[Self::ROOM] == Self::LONG
    }

    /// Returns how many bytes the text takes in the array.
    pub(super) fn len_beside(&self) -> usize {
        let [.., low, high, _, _, _, _, _, _] = self.0;
        if self.is_long() { u16::from_le_bytes([low, high]).into() } else { 0 }
    }

    /// Returns the text, given the array of bytes.
    #[inline]
    pub(super) fn text<'a>(&'a self, bytes: &'a [u8]) -> &'a [u8] {
        if self.is_long() {
            let [start @ .., _, _, _, _, _, _, _, _] = self.0;
            let start = u64::from_le_bytes(start) as usize;
            &bytes[start..start + self.len_beside()]
        } else {
            &self.0[..usize::from(self.0[Self::ROOM])]
        }
    }
}

/// For every number of bytes that a label holds, the mask of those bytes in two words.
const MASKS: [[u64; 2]; Label::ROOM + 1] = {
    let mut masks = [[0; 2]; Label::ROOM + 1];
    let mut length = 1;
    while length <= Label::ROOM {
        let bits = u128::MAX >> (128 - 8 * length);
        masks[length] = [bits as u64, (bits >> 64) as u64];
        length += 1;
    }
    masks
};

/// Returns the first and the last `N` bytes of a text, or zeros if it has fewer.
#[inline]
fn ends<const N: usize>(text: &[u8]) -> [[u8; N]; 2] {
    [text.first_chunk(), text.last_chunk()].map(|end| end.copied().unwrap_or([0; N]))
}

/// Returns how many bytes a text of a given length takes in the array.
pub(super) fn len_beside(length: usize) -> usize {
    if length <= Label::ROOM { 0 } else { length }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_hold_texts_up_to_their_room_and_differ_where_texts_do() {
        let bytes: Vec<u8> = (0..40).map(|i| [0, 1, 15, 255][i * i % 4]).collect();
        let mut labels = Vec::new();
        for length in 0..=20 {
            for start in 0..20 {
                let text = &bytes[start..start + length];
                let label = Label::of_short(text);
                assert_eq!(label.is_some(), length <= Label::ROOM, "{length} bytes");
                assert_eq!(
                    Label::of_short_before_others(&bytes[start..], length),
                    label,
                    "{length} bytes before others"
                );
                assert_eq!(Label::of_short_before_others(text, length), label, "{length} bytes at the end");
                if let Some(label) = label {
                    assert_eq!((label.text(&[]), label.len_beside()), (text, 0));
                    labels.push((label, text));
                }
                let long = Label::of_long(start, length);
                assert_eq!((long.text(&bytes), long.len_beside()), (text, length));
            }
        }
        for (label, text) in &labels {
            assert!(labels.iter().all(|(other, of)| (label == other) == (text == of)));
        }
    }
}
