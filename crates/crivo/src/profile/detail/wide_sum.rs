//! A sum of whole numbers of any length, without rounding.

use super::whole::Whole;
use crate::codec::{Reader, Writer};
use crate::error::{Error, Result};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// A sum of long whole numbers without rounding, in limbs of 32 bits. Each limb is in a signed word
/// of 64 bits.
#[derive(Debug, Clone, Default)]
pub(super) struct WideSum {
    /// The position of the first limb.
    first: usize,
    limbs: Vec<i64>,
    additions: u32,
}

impl WideSum {
    /// The most limbs of a sum of squares and of a sum of cubes: 2·2098 and 3·2098 bits, 64 bits of
    /// weights, and the sign.
    pub(super) const MOST_LIMBS: [usize; 2] = [135, 201];
    const MOST_ADDITIONS: u32 = 1 << 29;

    /// Adds a number of three words times a weight, shifted left by `position` bits.
    #[inline]
    pub(super) fn add(&mut self, words: [u64; 3], weight: u64, position: u32, is_negative: bool) {
        let (limb, shift) = ((position / 32) as usize, position % 32);
        let weighted = if weight == 1 { [words[0], words[1], words[2], 0] } else { times(words, weight) };
        let sign = if is_negative { -1 } else { 1 };
        let mut carry = 0_u128;
        // 159 bits of a cube, 64 of a weight and 31 of the shift fit in eight limbs.
        for (pair, word) in self.eight_limbs(limb).chunks_exact_mut(2).zip(weighted) {
            carry += u128::from(word) << shift;
            pair[0] += sign * i64::from(carry as u32);
            pair[1] += sign * i64::from((carry >> 32) as u32);
            carry >>= 64;
        }
        self.additions += 1;
        if self.additions == Self::MOST_ADDITIONS {
            self.settle();
        }
    }

    /// Returns eight limbs from a position on.
    #[inline]
    fn eight_limbs(&mut self, from: usize) -> &mut [i64] {
        if from < self.first || from + 8 > self.first + self.limbs.len() {
            self.make_room(from, from + 8);
        }
        let at = from - self.first;
        &mut self.limbs[at..at + 8]
    }

    #[cold]
    fn make_room(&mut self, from: usize, end: usize) {
        if self.limbs.is_empty() {
            self.first = from;
        }
        let before = self.first.saturating_sub(from);
        let after = end.saturating_sub(self.first + self.limbs.len());
        // Allocates the largest possible size at once, so that the memory does not depend on the
        // number of rows.
        let missing = Self::MOST_LIMBS[1].saturating_sub(self.limbs.capacity());
        self.limbs.reserve_exact((before + after).max(missing));
        self.limbs.splice(0..0, core::iter::repeat_n(0, before));
        self.first -= before;
        self.limbs.resize(self.limbs.len() + after, 0);
    }

    /// Returns the sum with an integer added whose lowest bit is at `place`.
    pub(super) fn with_integer(&self, integer: i128, place: u32) -> Self {
        let mut sum = self.clone();
        if integer != 0 {
            let magnitude = integer.unsigned_abs();
            sum.add([magnitude as u64, (magnitude >> 64) as u64, 0], 1, place, integer < 0);
        }
        sum
    }

    pub(super) fn merge(&mut self, other: &Self) {
        let theirs = other.whole();
        if theirs.sign() != 0 {
            *self = Self::of(&self.whole().plus(&theirs));
        }
    }

    /// Returns the sum with this value, whose first and last limbs are not zero.
    fn of(value: &Whole) -> Self {
        let (is_negative, limbs) = value.parts();
        let first = limbs.iter().position(|&limb| limb > 0).unwrap_or(0);
        let sign = if is_negative { -1 } else { 1 };
        let limbs: Vec<i64> = limbs[first..].iter().map(|&limb| sign * i64::from(limb)).collect();
        Self { first: if limbs.is_empty() { 0 } else { first }, limbs, additions: 0 }
    }

    #[cold]
    fn settle(&mut self) {
        *self = Self::of(&self.whole());
    }

    /// Returns the value of all limbs.
    pub(super) fn whole(&self) -> Whole {
        let mut carry = 0_i64;
        let mut limbs = vec![0_u32; self.first];
        for &limb in &self.limbs {
            carry += limb;
            limbs.push(carry as u32);
            carry >>= 32;
        }
        let is_negative = carry < 0;
        // The final carry and its sign need two more limbs.
        limbs.extend([carry as u32, (carry >> 32) as u32]);
        if is_negative {
            let mut borrow = 1_u64;
            for limb in &mut limbs {
                borrow += u64::from(!*limb);
                *limb = borrow as u32;
                borrow >>= 32;
            }
        }
        Whole::new(is_negative, limbs)
    }

    pub(super) fn is_negative(&self) -> bool {
        self.whole().sign() < 0
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn memory(&self) -> usize {
        self.limbs.capacity() * size_of::<i64>()
    }

    /// Writes the sign, and the limbs of the magnitude from the first to the last that is not 0.
    pub(super) fn encode(&self, writer: &mut Writer) {
        let value = self.whole();
        let (is_negative, limbs) = value.parts();
        let first = limbs.iter().position(|&limb| limb > 0).unwrap_or(0);
        writer.u8(u8::from(is_negative));
        writer.u8(first as u8);
        writer.u8((limbs.len() - first) as u8);
        limbs[first..].iter().for_each(|&limb| writer.u32(limb));
    }

    pub(super) fn decode(field: &'static str, most: usize, reader: &mut Reader<'_>) -> Result<Self> {
        let (sign, first, count) = (reader.u8(field)?, reader.u8(field)?, reader.u8(field)?);
        let (first, count) = (usize::from(first), usize::from(count));
        if sign > 1 || first + count > most || count == 0 && (sign, first) != (0, 0) {
            let expected = format!("a sign and at most {most} limbs");
            return Err(Error::contents(field, expected, format_args!("{count} from {first} on")));
        }
        let mut limbs = Vec::new();
        for _ in 0..count {
            let limb = i64::from(reader.u32(field)?);
            limbs.push(if sign == 1 { -limb } else { limb });
        }
        if limbs.first() == Some(&0) || limbs.last() == Some(&0) {
            return Err(Error::contents(field, "a first and a last limb that are not 0", 0));
        }
        Ok(Self { first, limbs, additions: 0 })
    }
}

impl PartialEq for WideSum {
    fn eq(&self, other: &Self) -> bool {
        self.whole() == other.whole()
    }
}

/// Returns the product of a number of three words and a weight.
fn times(words: [u64; 3], weight: u64) -> [u64; 4] {
    let mut product = [0; 4];
    let mut carry = 0_u128;
    for (place, word) in product.iter_mut().zip(words) {
        carry += u128::from(word) * u128::from(weight);
        *place = carry as u64;
        carry >>= 64;
    }
    product[3] = carry as u64;
    product
}
