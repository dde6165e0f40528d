//! Decodes Parquet's run-length encoding of small numbers: levels, and indexes into a dictionary.
//!
//! A stretch is either one number with its count, or a sequence of bit-packed numbers, eight at a
//! time.

use bytes::Bytes;

/// Numbers of one width, which are read in order.
#[derive(Debug, Default)]
pub(super) struct Runs {
    bytes: Bytes,
    /// The position of the next stretch.
    at: usize,
    /// The number of bits of a number.
    width: usize,
    stretch: Stretch,
}

#[derive(Debug, Clone, Copy)]
enum Stretch {
    Same {
        number: u32,
        left: usize,
    },
    /// Bit-packed numbers. `bit` is the first bit of the next number.
    Packed {
        bit: usize,
        left: usize,
    },
}

impl Default for Stretch {
    fn default() -> Self {
        Self::Same { number: 0, left: 0 }
    }
}

impl Runs {
    /// The greatest width that is read, in bits.
    pub(super) const WIDEST: u8 = 32;

    pub(super) fn new(bytes: Bytes, width: u8) -> Self {
        Self { bytes, at: 0, width: width.min(Self::WIDEST).into(), stretch: Stretch::default() }
    }

    /// Appends the next `count` numbers. Returns `None` if there are fewer, or the bytes are not
    /// valid in this encoding.
    pub(super) fn read(&mut self, mut count: usize, numbers: &mut Vec<u32>) -> Option<()> {
        while count > 0 {
            match &mut self.stretch {
                Stretch::Same { left: 0, .. } | Stretch::Packed { left: 0, .. } => self.next_stretch()?,
                Stretch::Same { number, left } => {
                    let part = count.min(*left);
                    numbers.resize(numbers.len() + part, *number);
                    *left -= part;
                    count -= part;
                }
                Stretch::Packed { bit, left } => {
                    let part = count.min(*left);
                    unpack(&self.bytes, *bit, self.width, part, numbers)?;
                    *bit += part * self.width;
                    *left -= part;
                    count -= part;
                }
            }
        }
        Some(())
    }

    /// Skips the next `count` numbers if all of them are `number` and in one stretch. Returns false
    /// otherwise.
    pub(super) fn pass_all(&mut self, number: u32, count: usize) -> bool {
        let is_over = matches!(self.stretch, Stretch::Same { left: 0, .. } | Stretch::Packed { left: 0, .. });
        if is_over && self.next_stretch().is_none() {
            return false;
        }
        match &mut self.stretch {
            Stretch::Same { number: same, left } if *same == number && *left >= count => {
                *left -= count;
                true
            }
            _ => false,
        }
    }

    fn next_stretch(&mut self) -> Option<()> {
        let head = self.varint()?;
        let count = (head >> 1) as usize;
        if head & 1 == 1 {
            let left = count.checked_mul(8)?;
            self.stretch = Stretch::Packed { bit: self.at.checked_mul(8)?, left };
            self.at = self.at.checked_add(count.checked_mul(self.width)?)?;
        } else {
            let length = self.width.div_ceil(8);
            let bytes = self.bytes.get(self.at..self.at + length)?;
            let number = bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte));
            self.stretch = Stretch::Same { number, left: count };
            self.at += length;
        }
        // An empty stretch would make the search for the next number endless.
        (count > 0).then_some(())
    }

    fn varint(&mut self) -> Option<u32> {
        let mut value = 0_u32;
        for shift in (0..32).step_by(7) {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            value |= u32::from(byte & 0x7F).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
}

/// Appends `count` numbers of `width` bits, from `bit` on. Returns `None` if there are too few
/// bytes.
fn unpack(bytes: &[u8], bit: usize, width: usize, count: usize, numbers: &mut Vec<u32>) -> Option<()> {
    let end = bit.checked_add(count.checked_mul(width)?)?;
    if end.div_ceil(8) > bytes.len() {
        return None;
    }
    let mask = (1_u64 << width) - 1;
    let number = |at: usize| {
        let bit = bit + at * width;
        let word = match bytes[bit / 8..].first_chunk::<8>() {
            Some(word) => u64::from_le_bytes(*word),
            None => bytes[bit / 8..].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
        };
        (word >> (bit % 8) & mask) as u32
    };
    numbers.extend((0..count).map(number));
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packs numbers into bits, eight at a time.
    fn packed(numbers: &[u32], width: usize) -> Vec<u8> {
        let groups = numbers.len().div_ceil(8);
        let mut bytes = vec![0; groups * width];
        for (at, number) in numbers.iter().enumerate() {
            for bit in 0..width {
                bytes[(at * width + bit) / 8] |= ((number >> bit & 1) as u8) << ((at * width + bit) % 8);
            }
        }
        [vec![(groups as u8) << 1 | 1], bytes].concat()
    }

    #[test]
    fn numbers_of_every_width_are_read_in_pieces_of_any_size() {
        for width in 0..=32_usize {
            let mask = ((1_u64 << width) - 1) as u32;
            let first: Vec<u32> = (1..=40_u32).map(|at| at.wrapping_mul(0x9E37_79B9) & mask).collect();
            let mut bytes = packed(&first, width);
            bytes.push(100 << 1 & 0x7F | 0x80);
            bytes.push((100_u32 << 1 >> 7) as u8);
            bytes.extend_from_slice(&(7 & mask).to_le_bytes()[..width.div_ceil(8)]);
            let expected: Vec<u32> = first.iter().copied().chain([7 & mask; 100]).collect();
            for piece in [1, 3, 8, 64, 140] {
                let mut runs = Runs::new(bytes.clone().into(), width as u8);
                let mut found = Vec::new();
                while found.len() < expected.len() {
                    let part = piece.min(expected.len() - found.len());
                    runs.read(part, &mut found).unwrap();
                }
                assert_eq!(found, expected, "{width} bits, {piece} at once");
                assert_eq!(runs.read(1, &mut found), None);
            }
        }
    }

    #[test]
    fn equal_numbers_are_passed_at_once() {
        let mut runs = Runs::new(vec![10 << 1, 1, 2 << 1, 0].into(), 1);
        assert!(runs.pass_all(1, 4) && runs.pass_all(1, 6));
        assert!(!runs.pass_all(1, 1) && !runs.pass_all(0, 3));
        let mut left = Vec::new();
        assert_eq!((runs.read(2, &mut left), left), (Some(()), vec![0, 0]));
        assert!(!runs.pass_all(0, 1));
    }

    #[test]
    fn damaged_bytes_are_refused() {
        for bytes in [&[][..], &[0x80], &[0xFF; 9], &[3, 1, 2], &[0, 0], &[20 << 1], &[1]] {
            let mut numbers = Vec::new();
            assert_eq!(Runs::new(bytes.to_vec().into(), 9).read(16, &mut numbers), None, "{bytes:?}");
        }
    }
}
