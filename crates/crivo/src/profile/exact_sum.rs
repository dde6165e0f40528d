//! A sum of floats without rounding.
//!
//! Adding floats rounds, so the sum depends on the order of the numbers and on how they were split
//! over threads. This sum does not: every float is a multiple of 2^−1074, and a sum of fewer than
//! 2^64 floats fits in 2176 bits and a sign. (The idea is Kulisch's long accumulator; *Advanced
//! arithmetic for the digital computer*, 2002.)
//!
//! The bits are kept in limbs of 32, each in a signed word of 64 bits. So an addition changes three
//! limbs and carries nothing. Carries are settled after 2^29 additions, or when the sum is read.

use crate::codec::{Reader, Writer};
use crate::error::{Error, Result};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// 2098 bits of floats, 64 bits of weights, and a limb for the sign.
const LIMBS: usize = 69;
const LIMB_BITS: u32 = 32;
/// The number of zero limbs below the sum before it is divided. A count has 64 bits, and the
/// quotient must still have 64.
const BELOW: usize = 4;
/// The exponent of the lowest bit.
const LOWEST: i32 = -1074;

/// The sum of floats, exact until it is read; see the [module](self).
///
/// ```
/// use crivo::profile::ExactSum;
/// let mut sum = ExactSum::new();
/// [1e308, 1e308, -1e308, 0.25].iter().for_each(|number| sum.add(*number));
/// assert_eq!(sum.value(), 1e308);
/// ```
#[derive(Debug, Clone)]
pub struct ExactSum {
    limbs: Box<[i64; LIMBS]>,
    /// The number of additions since carries were settled.
    additions: u32,
}

impl Default for ExactSum {
    fn default() -> Self {
        Self::new()
    }
}

impl ExactSum {
    /// Each addition changes a limb by less than 2^33, and a settled limb is below 2^32.
    const MOST_ADDITIONS: u32 = 1 << 29;

    /// Returns an empty sum, which is 0.
    pub fn new() -> Self {
        Self { limbs: Box::new([0; LIMBS]), additions: 0 }
    }

    /// Adds a finite number. Infinities and NaNs are ignored.
    #[inline]
    pub fn add(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        let (mantissa, limb, offset) = parts(value);
        let bits = u128::from(mantissa) << offset;
        let sign = if value < 0.0 { -1 } else { 1 };
        if let Some([low, middle, high]) = self.limbs[limb..].first_chunk_mut() {
            *low += sign * (bits as u32 as i64);
            *middle += sign * ((bits >> LIMB_BITS) as u32 as i64);
            *high += sign * ((bits >> (2 * LIMB_BITS)) as i64);
        }
        self.count_addition();
    }

    /// Adds a finite number `weight` times. Infinities and NaNs are ignored.
    pub fn add_weighted(&mut self, value: f64, weight: u64) {
        if !value.is_finite() {
            return;
        }
        let (mantissa, limb, offset) = parts(value);
        let sign = if value < 0.0 { -1 } else { 1 };
        for (half, factor) in [weight as u32, (weight >> 32) as u32].into_iter().enumerate() {
            // 53 bits of the mantissa, 32 of the factor and 31 of the offset.
            let bits = (u128::from(mantissa) * u128::from(factor)) << offset;
            for (place, to) in self.limbs[limb + half..].iter_mut().take(4).enumerate() {
                *to += sign * ((bits >> (LIMB_BITS * place as u32)) as u32 as i64);
            }
            self.count_addition();
        }
    }

    #[inline]
    fn count_addition(&mut self) {
        self.additions += 1;
        if self.additions == Self::MOST_ADDITIONS {
            self.settle();
        }
    }

    /// Adds another sum to this one.
    pub fn merge(&mut self, other: &Self) {
        self.settle();
        self.limbs.iter_mut().zip(other.settled()).for_each(|(mine, theirs)| *mine += theirs);
        self.settle();
    }

    /// Settles the carries. Every limb but the last becomes 0 to 2^32 − 1; the last has the sign.
    #[cold]
    fn settle(&mut self) {
        let mut carry = 0;
        let (last, others) = self.limbs.split_last_mut().map_or((None, &mut [][..]), |(l, o)| (Some(l), o));
        for limb in others {
            let sum = *limb + carry;
            *limb = i64::from(sum as u32);
            carry = sum >> LIMB_BITS;
        }
        if let Some(last) = last {
            *last += carry;
        }
        self.additions = 0;
    }

    /// Returns the settled limbs, which are the same for equal sums.
    fn settled(&self) -> [i64; LIMBS] {
        let mut copy = self.clone();
        copy.settle();
        *copy.limbs
    }

    /// Returns whether the sum is negative, and the limbs of its magnitude.
    fn magnitude(&self) -> (bool, [u32; LIMBS]) {
        let settled = self.settled();
        let negative = settled[LIMBS - 1] < 0;
        let mut carry = i64::from(negative);
        let limbs = settled.map(|limb| {
            // The two's complement: invert every bit and add one.
            let bits = if negative { i64::from(!(limb as u32)) } else { limb } + carry;
            carry = if negative { bits >> LIMB_BITS } else { 0 };
            bits as u32
        });
        (negative, limbs)
    }

    /// Returns the nearest float, or infinity if the sum is beyond the largest float.
    pub fn value(&self) -> f64 {
        let (negative, limbs) = self.magnitude();
        let value = nearest(&limbs, 0, false);
        if negative { -value } else { value }
    }

    /// Returns the float nearest to the sum divided by a count. It can be finite even if the sum is
    /// not.
    pub fn mean(&self, count: u64) -> f64 {
        let (negative, limbs) = self.magnitude();
        // With zeros below the sum, the quotient of any sum and any count has 64 bits or more.
        let mut digits = [0; LIMBS + BELOW];
        digits[BELOW..].copy_from_slice(&limbs);
        let divisor = u128::from(count.max(1));
        let mut remainder = 0;
        for digit in digits.iter_mut().rev() {
            let part = remainder << LIMB_BITS | u128::from(*digit);
            *digit = (part / divisor) as u32;
            remainder = part % divisor;
        }
        let value = nearest(&digits, BELOW as u32 * LIMB_BITS, remainder > 0);
        if negative { -value } else { value }
    }

    /// Returns true if `count` numbers from `least` to `most` can have this sum.
    pub(crate) fn lies_between(&self, least: f64, most: f64, count: u64) -> bool {
        let difference = |bound: f64| {
            let mut difference = self.clone();
            difference.settle();
            difference.add_weighted(-bound, count);
            difference.magnitude()
        };
        let (below, above) = (difference(least), difference(most));
        let is_zero = |limbs: &[u32; LIMBS]| limbs.iter().all(|&limb| limb == 0);
        !below.0 && (above.0 || is_zero(&above.1))
    }

    /// Returns whether the sum is negative, and the limbs of its magnitude in units of 2^−1074.
    pub(super) fn limbs(&self) -> (bool, Vec<u32>) {
        let (negative, limbs) = self.magnitude();
        (negative, limbs.to_vec())
    }

    pub(crate) fn memory(&self) -> usize {
        size_of_val(&*self.limbs)
    }

    /// Writes the sign, and the limbs of the magnitude from the first to the last that is not 0.
    pub(crate) fn encode(&self, writer: &mut Writer) {
        let (negative, limbs) = self.magnitude();
        let first = limbs.iter().position(|&limb| limb > 0).unwrap_or(0);
        let end = limbs.iter().rposition(|&limb| limb > 0).map_or(0, |last| last + 1);
        writer.u8(u8::from(negative));
        writer.u8(first as u8);
        writer.u8((end - first) as u8);
        limbs[first..end].iter().for_each(|&limb| writer.u32(limb));
    }

    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self> {
        let negative = reader.u8("sign of the sum")?;
        let first = usize::from(reader.u8("sum")?);
        let count = usize::from(reader.u8("sum")?);
        let mut sum = Self::new();
        // The last limb is only for the sign.
        let room = sum.limbs[..LIMBS - 1].get_mut(first..first + count);
        let Some(limbs) =
            room.filter(|limbs| negative < 2 && (!limbs.is_empty() || (negative, first) == (0, 0)))
        else {
            let expected = format_args!("a sign and at most {} limbs", LIMBS - 1).to_string();
            return Err(Error::contents("sum", expected, format_args!("{count} from {first} on")));
        };
        for limb in limbs.iter_mut() {
            *limb = reader.u32("sum")?.into();
        }
        if limbs.first() == Some(&0) || limbs.last() == Some(&0) {
            return Err(Error::contents("sum", "a first and a last limb that are not 0", 0));
        }
        if negative == 1 {
            sum.limbs.iter_mut().for_each(|limb| *limb = -*limb);
            sum.settle();
        }
        Ok(sum)
    }
}

impl PartialEq for ExactSum {
    fn eq(&self, other: &Self) -> bool {
        self.settled() == other.settled()
    }
}

/// Returns the float nearest to a number, and the even one of two equally near floats. `below` is
/// the number of bits of the limbs below the lowest bit of a float. `is_more` means that the number
/// is slightly larger than the limbs.
fn nearest(limbs: &[u32], below: u32, is_more: bool) -> f64 {
    let Some(top) = limbs.iter().rposition(|&limb| limb > 0) else { return 0.0 };
    let bits = (top as u32 + 1) * LIMB_BITS - limbs[top].leading_zeros();
    // Keep as many bits as a float has, and none below its lowest bit.
    let dropped = bits.saturating_sub(f64::MANTISSA_DIGITS).max(below);
    let is_set = |bit: u32| limbs[(bit / LIMB_BITS) as usize] >> (bit % LIMB_BITS) & 1 == 1;
    let kept = (dropped..bits).rev().fold(0_u64, |kept, bit| kept << 1 | u64::from(is_set(bit)));
    let is_half = dropped > 0 && is_set(dropped - 1);
    let is_above_half = is_half && (is_more || (0..dropped - 1).any(is_set));
    let rounded = kept + u64::from(is_above_half || is_half && kept & 1 == 1);
    libm::ldexp(rounded as f64, LOWEST + (dropped - below) as i32)
}

/// Returns the mantissa of a number, the limb of its lowest bit, and the position of that bit in
/// the limb.
#[inline]
fn parts(value: f64) -> (u64, usize, u32) {
    let bits = value.to_bits();
    let exponent = (bits >> 52) as u32 & 0x7FF;
    let mantissa = bits & ((1 << 52) - 1) | u64::from(exponent > 0) << 52;
    let position = exponent.max(1) - 1;
    (mantissa, (position / LIMB_BITS) as usize, position % LIMB_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum_of(values: &[f64]) -> ExactSum {
        let mut sum = ExactSum::new();
        values.iter().for_each(|&value| sum.add(value));
        sum
    }

    #[test]
    fn sums_are_the_nearest_float_to_the_true_sum() {
        for (values, expected) in [
            (&[][..], 0.0),
            (&[0.1, 0.2], 0.1 + 0.2),
            (&[1e308, 1e308, -1e308], 1e308),
            (&[1e308, 1e308], f64::INFINITY),
            (&[1.0, 1e100, 1.0, -1e100], 2.0),
            (&[5e-324, 5e-324], 1e-323),
            (&[-5e-324], -5e-324),
            (&[f64::MAX, -f64::MAX, -0.5], -0.5),
            (&[9_007_199_254_740_992.0, 1.0], 9_007_199_254_740_992.0), // a tie: to even
            (&[9_007_199_254_740_994.0, 1.0], 9_007_199_254_740_996.0),
            (&[9_007_199_254_740_992.0, 1.0, 5e-324], 9_007_199_254_740_994.0), // just above the tie
            (&[-9_007_199_254_740_992.0, -1.0, -5e-324], -9_007_199_254_740_994.0),
            (&[f64::MIN_POSITIVE, -5e-324], 2.225_073_858_507_201e-308),
        ] {
            assert_eq!(sum_of(values).value(), expected, "{values:?}");
        }
    }

    #[test]
    fn means_are_the_nearest_float_to_the_true_mean() {
        for (values, expected) in [
            (&[1.0, 2.0][..], 1.5),
            (&[1.0, 1.0, 2.0], 4.0 / 3.0),
            (&[-1.0, -1.0, -2.0], -4.0 / 3.0),
            (&[0.0, 0.0], 0.0),
            (&[f64::MAX, f64::MAX, f64::MAX], f64::MAX),
            // Half of the least float is a tie, which rounds to zero. Two thirds of it are nearer
            // to it.
            (&[5e-324, 0.0], 0.0),
            (&[5e-324, 5e-324, 0.0], 5e-324),
            (&[1.5e-323, 0.0], 1e-323),
            (&[f64::MIN_POSITIVE, 5e-324], 1.112_536_929_253_600_7e-308),
            // Here the float nearest to the sum, divided by the count, would be rounded a second
            // time to the neighbour.
            (
                &[6_801_055_214_453_969.0, 8_966_079_744_306_057.0, 8_552_258_112_220_996.0],
                8_106_464_356_993_674.0,
            ),
        ] {
            assert_eq!(sum_of(values).mean(values.len() as u64), expected, "{values:?}");
        }
    }

    #[test]
    fn order_and_splits_and_weights_do_not_matter() {
        let mut bits = 1_u64;
        let mut values: Vec<f64> = std::iter::repeat_with(|| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from_bits(bits)
        })
        .filter(|value| value.is_finite())
        .take(1000)
        .collect();
        let whole = sum_of(&values);
        let mut parts = sum_of(&values[..300]);
        parts.merge(&sum_of(&values[300..]));
        assert_eq!((&parts, parts.value()), (&whole, whole.value()));
        values.reverse();
        assert_eq!(sum_of(&values), whole);
        for value in &values[..50] {
            let mut weighted = ExactSum::new();
            weighted.add_weighted(*value, (7 << 40) + 3);
            let mut shifted = ExactSum::new();
            (0..7).for_each(|_| shifted.add_weighted(*value, 1 << 40));
            (0..3).for_each(|_| shifted.add(*value));
            assert_eq!(weighted, shifted);
        }
    }

    #[test]
    fn the_largest_sum_there_can_be_fits() {
        let mut sum = ExactSum::new();
        sum.add_weighted(-f64::MAX, u64::MAX);
        assert_eq!(sum.value(), f64::NEG_INFINITY);
        assert!(sum.lies_between(-f64::MAX, -f64::MAX, u64::MAX));
        assert!(!sum.lies_between(-f64::MAX, -f64::MAX, u64::MAX - 1));
        sum.add_weighted(f64::MAX, u64::MAX - 1);
        assert_eq!(sum.value(), -f64::MAX);
    }

    #[test]
    fn stored_sums_are_read_back() {
        for values in [&[][..], &[1.5, -2.25], &[-1e300, 1e-300], &[f64::MAX; 9], &[-5e-324; 3]] {
            let sum = sum_of(values);
            let mut writer = Writer::default();
            sum.encode(&mut writer);
            let bytes = writer.into_bytes();
            let mut reader = Reader::new(&bytes);
            assert!(ExactSum::decode(&mut reader) == Ok(sum), "{values:?}");
        }
    }

    #[test]
    fn carries_are_settled_in_time() {
        let mut sum = sum_of(&[1.0 - f64::EPSILON / 2.0]);
        sum.additions = ExactSum::MOST_ADDITIONS - 1;
        sum.limbs.iter_mut().for_each(|limb| *limb <<= 29);
        let scaled = sum.value();
        sum.add(0.0);
        assert_eq!((sum.additions, sum.value()), (0, scaled));
    }
}
