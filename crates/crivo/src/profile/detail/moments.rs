//! Standard deviation and skew, from sums without rounding.
//!
//! If numbers are close together and far from zero, rounded sums of squares lose all digits: for
//! timestamps in nanoseconds nothing is left. Formulas that subtract a running mean keep the
//! digits, but depend on the order of the numbers. Here the sums of squares and of cubes are kept
//! exactly, as [`ExactSum`] keeps the sum. So the moments do not depend on the order of the numbers
//! or on how they were split, and are rounded only at the end.
//!
//! A sum is only as long as its numbers need: prices take about ten limbs. Small integers, which
//! most numbers are, are first added up in 128 bits.

use super::whole::Whole;
use super::wide_sum::WideSum;
use crate::codec::{Reader, Writer};
use crate::error::{Error, Result};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::profile::ExactSum;

/// The sums of squares and of cubes of finite numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Moments {
    squares: WideSum,
    cubes: WideSum,
    /// The sums of small integers, not yet included in the others.
    small: SmallSums,
}

#[derive(Debug, Clone, Copy, Default)]
struct SmallSums {
    squares: i128,
    cubes: i128,
}

/// The cubes of integers below this have 63 bits, so 2^64 of them fit in 127 bits.
const SMALL: f64 = 2_097_152.0;

/// The lowest bit of a float is `2^-LOWEST`. Its exponent is twice as large for the square, and
/// three times for the cube.
const LOWEST: u32 = 1074;

impl Moments {
    /// Adds a finite number `weight` times.
    #[inline]
    pub(super) fn add(&mut self, value: f64, weight: u64) {
        if value.abs() < SMALL {
            let integer = value as i64;
            if integer as f64 == value {
                let (square, weight) = (integer * integer, i128::from(weight));
                self.small.squares += i128::from(square) * weight;
                self.small.cubes += i128::from(square * integer) * weight;
                return;
            }
        }
        self.add_any(value, weight);
    }

    fn add_any(&mut self, value: f64, weight: u64) {
        let (square, cube) = powers(value);
        self.add_powers((value.to_bits() >> 52) as u32, square, cube, weight);
    }

    /// Adds powers of numbers with the same sign and exponent, which `upper` has: the upper 12 bits
    /// of a float.
    fn add_powers(&mut self, upper: u32, square: u128, cube: [u64; 3], weight: u64) {
        let position = (upper & 0x7FF).max(1) - 1;
        self.squares.add([square as u64, (square >> 64) as u64, 0], weight, 2 * position, false);
        self.cubes.add(cube, weight, 3 * position, upper > 0x7FF);
    }

    /// Adds finite numbers, each once. Same result as one by one. Powers of numbers with the same
    /// sign and exponent are added up first, which takes two additions where a long sum takes many.
    pub(super) fn add_all(&mut self, values: &[f64]) {
        for values in values.chunks(SameExponent::MOST_NUMBERS) {
            let mut sums = [SameExponent::default(); SameExponent::SLOTS];
            for &value in values {
                let integer = value as i64;
                if value.abs() < SMALL && integer as f64 == value {
                    let square = integer * integer;
                    self.small.squares += i128::from(square);
                    self.small.cubes += i128::from(square * integer);
                    continue;
                }
                let upper = (value.to_bits() >> 52) as u32;
                let sum = &mut sums[SameExponent::slot(upper)];
                if sum.upper != upper {
                    self.add_same_exponent(sum);
                    *sum = SameExponent { upper, ..SameExponent::default() };
                }
                sum.add(value);
            }
            sums.iter().for_each(|sum| self.add_same_exponent(sum));
        }
    }

    fn add_same_exponent(&mut self, sum: &SameExponent) {
        if sum.square > 0 {
            self.add_powers(sum.upper, sum.square, sum.cube, 1);
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.squares.merge(&other.settled_squares());
        self.cubes.merge(&other.settled_cubes());
    }

    /// Removes all numbers, because the count of numbers is saturated.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    fn settled_squares(&self) -> WideSum {
        self.squares.with_integer(self.small.squares, 2 * LOWEST)
    }

    fn settled_cubes(&self) -> WideSum {
        self.cubes.with_integer(self.small.cubes, 3 * LOWEST)
    }

    /// Returns the standard deviation and the skew of the numbers with these sums; see [`Spread`].
    pub(super) fn spread(&self, sum: &ExactSum, count: u64) -> Spread {
        let (second, third) = self.central(sum, count);
        let n = count as f64;
        let (square, exponent) = second.scaled();
        // Exponents of limbs are even, so the square root of the power of two is a power of two.
        let root = (square.sqrt(), exponent / 2);
        let is_spread = second.sign() > 0;
        let deviation = || libm::ldexp((square / (n * (n - 1.0))).sqrt(), root.1 - LOWEST as i32);
        let skew = || {
            let (cube, exponent) = third.scaled();
            // Both the third moment and the third power of the root are in units of 2^−3222.
            let ratio = libm::ldexp(cube / square / root.0, exponent - 3 * root.1);
            ratio * ((n * (n - 1.0)).sqrt() / (n - 2.0))
        };
        Spread {
            standard_deviation: match count {
                0 | 1 => None,
                _ if !is_spread => Some(0.0),
                _ => Some(deviation()),
            },
            skew: (count > 2 && is_spread).then(skew),
        }
    }

    /// Returns the second and the third central moment, times n² and n³, in units of 2^−2148 and
    /// 2^−3222.
    fn central(&self, sum: &ExactSum, count: u64) -> (Whole, Whole) {
        let (is_negative, limbs) = sum.limbs();
        let (n, first) = (Whole::of(count), Whole::new(is_negative, limbs));
        let (squares, cubes) = (self.settled_squares().whole(), self.settled_cubes().whole());
        let square_of_sum = first.times(&first);
        let scaled = n.times(&squares);
        let second = scaled.minus(&square_of_sum);
        // n²·Σx³ − 3·Σx·n·Σx² + 2·(Σx)³.
        let three = first.times(&scaled).times(&Whole::of(3));
        let two = square_of_sum.times(&first).times(&Whole::of(2));
        (second, n.times(&n).times(&cubes).minus(&three).plus(&two))
    }

    /// Returns true if numbers with this sum can have these sums of powers.
    pub(super) fn are_possible(&self, sum: &ExactSum, count: u64) -> bool {
        let (second, third) = self.central(sum, count);
        match count {
            0 => *self == Self::default(),
            // One number, or only equal ones: there is no spread, and then no skew.
            _ => second.sign() > 0 && count > 1 || second.sign() == 0 && third.sign() == 0,
        }
    }

    pub(super) fn memory(&self) -> usize {
        self.squares.memory() + self.cubes.memory()
    }

    /// The most memory behind the pointers: the sums of the least and the greatest float, in lists
    /// that may be half full.
    pub(super) const MOST_MEMORY: usize =
        2 * size_of::<i64>() * (WideSum::MOST_LIMBS[0] + WideSum::MOST_LIMBS[1]);

    pub(super) fn encode(&self, writer: &mut Writer) {
        self.settled_squares().encode(writer);
        self.settled_cubes().encode(writer);
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self> {
        let [squares, cubes] = WideSum::MOST_LIMBS;
        let moments = Self {
            squares: WideSum::decode("sum of squares", squares, reader)?,
            cubes: WideSum::decode("sum of cubes", cubes, reader)?,
            small: SmallSums::default(),
        };
        if moments.squares.is_negative() {
            return Err(Error::contents("sum of squares", "no sign", "one below zero"));
        }
        Ok(moments)
    }
}

impl PartialEq for Moments {
    fn eq(&self, other: &Self) -> bool {
        self.settled_squares() == other.settled_squares() && self.settled_cubes() == other.settled_cubes()
    }
}

/// Returns the square and the cube of a float's mantissa.
#[inline]
fn powers(value: f64) -> (u128, [u64; 3]) {
    let bits = value.to_bits();
    let is_normal = bits >> 52 & 0x7FF > 0;
    let mantissa = bits & ((1 << 52) - 1) | u64::from(is_normal) << 52;
    let square = u128::from(mantissa) * u128::from(mantissa);
    let lower = u128::from(square as u64) * u128::from(mantissa);
    let upper = (square >> 64) * u128::from(mantissa) + (lower >> 64);
    (square, [lower as u64, upper as u64, (upper >> 64) as u64])
}

/// Sums of the powers of numbers with the same sign and exponent.
#[derive(Debug, Clone, Copy, Default)]
struct SameExponent {
    /// The upper 12 bits of the numbers.
    upper: u32,
    square: u128,
    cube: [u64; 3],
}

impl SameExponent {
    /// Sixteen exponents of either sign, which are enough for the numbers of most columns.
    const SLOTS: usize = 32;
    /// Cubes have 159 bits, so the sum of this many has at most 192 bits.
    const MOST_NUMBERS: usize = 1 << 20;

    #[inline]
    fn slot(upper: u32) -> usize {
        (upper & 15 | upper >> 7 & 16) as usize
    }

    #[inline]
    fn add(&mut self, value: f64) {
        let (square, cube) = powers(value);
        self.square += square;
        let mut carry = 0;
        for (sum, word) in self.cube.iter_mut().zip(cube) {
            carry += u128::from(*sum) + u128::from(word);
            *sum = carry as u64;
            carry >>= 64;
        }
    }
}

/// How far numbers spread, and to which side.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spread {
    /// The standard deviation of a sample, with `n − 1` in the denominator. `None` for fewer than
    /// two numbers.
    pub standard_deviation: Option<f64>,
    /// The adjusted skewness of Fisher and Pearson, `G1`, as in pandas and DuckDB. `None` for fewer
    /// than three numbers, or if all are equal.
    pub skew: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Generator;

    #[test]
    fn sums_of_many_are_those_of_one_by_one() {
        let mut random = Generator::new(5);
        for round in 0..40 {
            let number = |random: &mut Generator| {
                let bits = random.below(u64::MAX);
                let number = match round % 4 {
                    0 => f64::from_bits(bits),
                    1 => (bits % 1_000_000) as f64 / 100.0 - 3000.0,
                    2 => (bits % 7) as f64 - 3.0,
                    _ => f64::from_bits((bits % 1000) | (bits & 1 << 63)),
                };
                if number.is_finite() { number } else { -1.5e300 }
            };
            let numbers: Vec<f64> = (0..300).map(|_| number(&mut random)).collect();
            let (mut one_by_one, mut together) = (Moments::default(), Moments::default());
            numbers.iter().for_each(|number| one_by_one.add(*number, 1));
            together.add_all(&numbers[..100]);
            together.add_all(&numbers[100..]);
            assert_eq!(one_by_one, together, "round {round}");
        }
    }
}
