//! Signed whole numbers of any length, with the operations that the moments need.

use core::cmp::Ordering;

#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// A whole number: its sign, and its magnitude in limbs of 32 bits, the lowest first, without zeros
/// at the end.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Whole {
    is_negative: bool,
    limbs: Vec<u32>,
}

impl Whole {
    /// Returns the number with these limbs. Zeros at the end are dropped.
    pub(super) fn new(is_negative: bool, mut limbs: Vec<u32>) -> Self {
        let length = limbs.iter().rposition(|&limb| limb > 0).map_or(0, |last| last + 1);
        limbs.truncate(length);
        Self { is_negative: is_negative && length > 0, limbs }
    }

    pub(super) fn of(number: u64) -> Self {
        Self::new(false, vec![number as u32, (number >> 32) as u32])
    }

    /// Returns whether the number is negative, and the limbs of its magnitude.
    pub(super) fn parts(&self) -> (bool, &[u32]) {
        (self.is_negative, &self.limbs)
    }

    /// Returns -1, 0 or 1 for a number below, at or above zero.
    pub(super) fn sign(&self) -> i32 {
        if self.limbs.is_empty() { 0 } else { 1 - 2 * i32::from(self.is_negative) }
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        let mut product = vec![0_u32; self.limbs.len() + other.limbs.len()];
        for (at, &mine) in self.limbs.iter().enumerate() {
            let mut carry = 0_u64;
            for (place, &theirs) in product[at..].iter_mut().zip(&other.limbs) {
                carry += u64::from(*place) + u64::from(mine) * u64::from(theirs);
                *place = carry as u32;
                carry >>= 32;
            }
            product[at + other.limbs.len()] = carry as u32;
        }
        Self::new(self.is_negative != other.is_negative, product)
    }

    pub(super) fn minus(&self, other: &Self) -> Self {
        let negated = Self { is_negative: !other.is_negative, limbs: other.limbs.clone() };
        self.plus(&negated)
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        if self.is_negative == other.is_negative {
            return Self::new(self.is_negative, add(&self.limbs, &other.limbs));
        }
        match compare(&self.limbs, &other.limbs) {
            Ordering::Less => Self::new(other.is_negative, subtract(&other.limbs, &self.limbs)),
            _ => Self::new(self.is_negative, subtract(&self.limbs, &other.limbs)),
        }
    }

    /// Returns a float and an exponent. The number is the float times two to that power, apart from
    /// one rounding.
    pub(super) fn scaled(&self) -> (f64, i32) {
        // The value has 64 bits or more. Its lowest bit also represents all bits below it, so that
        // rounding is correct.
        let top = self.limbs.len().saturating_sub(4);
        let high = self.limbs[top..].iter().rev().fold(0_u128, |high, &limb| high << 32 | u128::from(limb));
        let is_more = self.limbs[..top].iter().any(|&limb| limb > 0);
        let value = (high | u128::from(is_more)) as f64;
        (if self.is_negative { -value } else { value }, 32 * top as i32)
    }
}

fn add(one: &[u32], other: &[u32]) -> Vec<u32> {
    let (long, short) = if one.len() < other.len() { (other, one) } else { (one, other) };
    let mut carry = 0_u64;
    let mut sum: Vec<u32> = Vec::with_capacity(long.len() + 1);
    for (at, &limb) in long.iter().enumerate() {
        carry += u64::from(limb) + u64::from(short.get(at).copied().unwrap_or(0));
        sum.push(carry as u32);
        carry >>= 32;
    }
    sum.push(carry as u32);
    sum
}

/// Subtracts a magnitude from one that is not smaller.
fn subtract(from: &[u32], what: &[u32]) -> Vec<u32> {
    let mut borrow = 0_i64;
    let difference = from.iter().enumerate().map(|(at, &limb)| {
        borrow += i64::from(limb) - i64::from(what.get(at).copied().unwrap_or(0));
        let limb = borrow as u32;
        borrow >>= 32;
        limb
    });
    difference.collect()
}

fn compare(one: &[u32], other: &[u32]) -> Ordering {
    one.len().cmp(&other.len()).then_with(|| one.iter().rev().cmp(other.iter().rev()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(number: i128) -> Whole {
        let magnitude = number.unsigned_abs();
        Whole::new(number < 0, (0..4).map(|limb| (magnitude >> (32 * limb)) as u32).collect())
    }

    #[test]
    fn arithmetic_is_that_of_integers() {
        let mut bits = 7_u64;
        for _ in 0..20_000 {
            let mut next = || {
                bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                i128::from((bits as i64) >> (bits % 61))
            };
            let (one, other) = (next(), next());
            assert_eq!(of(one).times(&of(other)), of(one * other), "{one} · {other}");
            assert_eq!(of(one).plus(&of(other)), of(one + other), "{one} + {other}");
            assert_eq!(of(one).minus(&of(other)), of(one - other), "{one} − {other}");
            let product = of(one * other);
            let (float, exponent) = product.scaled();
            assert_eq!(libm::ldexp(float, exponent), (one * other) as f64, "{one} · {other}");
            assert_eq!(product.sign(), (one * other).signum() as i32);
        }
    }

    #[test]
    fn long_numbers_are_rounded_once() {
        // 2^200 + 2^147 is a tie of the last bit. Anything below it decides.
        let mut limbs = vec![0; 7];
        (limbs[6], limbs[4]) = (1 << 8, 1 << 19);
        assert_eq!(Whole::new(false, limbs.clone()).scaled(), (2_f64.powi(200 - 96), 96));
        limbs[0] = 1;
        let (float, exponent) = Whole::new(true, limbs).scaled();
        assert_eq!((float, exponent), (-(2_f64.powi(104) + 2_f64.powi(52)), 96));
    }
}
