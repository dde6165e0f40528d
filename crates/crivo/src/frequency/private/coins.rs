//! Random bits with an exact probability, 64 at a time.

use crate::random::Generator;

/// A source of random bits, passed in by the caller that makes reports.
///
/// Privacy is only as good as these bits: take them from the operating system, or from a
/// cryptographic generator seeded by it. Every closure that returns a `u64` is a source:
///
/// ```
/// use crivo::frequency::private::RandomBits;
/// let mut state = 1_u64;
/// let mut source = || { state = state.wrapping_mul(6364136223846793005).wrapping_add(1); state };
/// assert_ne!(source.bits(), source.bits());
/// ```
///
/// A source that fails returns any bits and remembers the failure, so that its owner can discard
/// the report. No sequence of bits, not even zeros alone, blocks a client.
pub trait RandomBits {
    /// Returns the next 64 bits.
    fn bits(&mut self) -> u64;
}

impl<F: FnMut() -> u64> RandomBits for F {
    fn bits(&mut self) -> u64 {
        self()
    }
}

/// Bits that anyone who knows the seed can compute, for tests and simulations. Reports made with
/// them are **not private**.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PredictableBits(Generator);

impl PredictableBits {
    /// Returns the bits of xoshiro256++ from the given seed.
    pub fn new(seed: u64) -> Self {
        Self(Generator::new(seed))
    }
}

impl RandomBits for PredictableBits {
    fn bits(&mut self) -> u64 {
        self.0.bits()
    }
}

/// A random bit that is one ("heads") with probability `threshold/2^64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Coin {
    threshold: u64,
}

impl Coin {
    /// Returns the coin that decides whether a bit of a report is flipped. Its probability of heads
    /// is `1/(1 + e^(ε/2))`, or more by less than 2^−55. A higher probability means more privacy,
    /// so rounding cannot break the guarantee.
    pub(super) fn flipping(epsilon: f64) -> Self {
        let power = exp_of_minus_half(epsilon);
        let share = (u128::from(power) << 64) / u128::from(ONE + power);
        Self { threshold: share as u64 + 1 + MOST_ERROR }
    }

    /// Tosses 64 coins; ones are heads.
    ///
    /// Each coin is a random binary fraction compared with the threshold, digit by digit from the
    /// highest: the first digit that differs decides. All 64 take their next digits from one word.
    /// On average, all are decided after seven words. The number of words drawn depends only on the
    /// coins, so neither that number nor the time reveals anything about a key.
    #[inline]
    pub(super) fn toss(self, random: &mut (impl RandomBits + ?Sized)) -> u64 {
        let (mut heads, mut undecided, mut digits) = (0, u64::MAX, self.threshold);
        while undecided != 0 && digits != 0 {
            let drawn = random.bits();
            if digits >> 63 == 1 {
                heads |= undecided & !drawn; // less than the threshold
                undecided &= drawn;
            } else {
                undecided &= !drawn; // more than the threshold
            }
            digits <<= 1;
        }
        heads // a fraction that equals the threshold is not less
    }
}

/// The number 1 in integers of 63 binary digits after the point.
const ONE: u64 = 1 << 63;

/// The error of the share: it is off by less than 2^−56, in integers of 64 digits after the point.
const MOST_ERROR: u64 = 1 << 8;

/// Returns `e^(−ε/2)` for ε up to 32, off by less than 2^−56.
///
/// It is computed in integers, because no library specifies the direction in which its exponential
/// is rounded. Twenty terms of the series give the 32nd root, which is off by less than 3·2^−63.
/// Five squarings make that error less than a hundred times 2^−63.
fn exp_of_minus_half(epsilon: f64) -> u64 {
    let times = |a: u64, b: u64| ((u128::from(a) * u128::from(b)) >> 63) as u64;
    let exponent = (epsilon / 64.0 * ONE as f64) as u64;
    let root = (1..=20).rev().fold(ONE, |sum, term| ONE - times(exponent, sum) / term);
    (0..5).fold(root, |power, _| times(power, power))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every sequence of words, for thresholds of four digits: as many heads as the threshold says.
    #[test]
    fn the_probability_is_exact() {
        for threshold in 1..16_u64 {
            let coin = Coin { threshold: threshold << 60 };
            let mut heads = 0;
            for digits in 0..16_u64 {
                // Every lane draws the same fraction.
                let mut position = 4;
                let mut source = || {
                    position -= 1;
                    if digits >> position & 1 == 1 { u64::MAX } else { 0 }
                };
                let tossed = coin.toss(&mut source);
                assert!(tossed == 0 || tossed == u64::MAX);
                heads += tossed & 1;
            }
            assert_eq!(heads, threshold);
        }
    }

    /// Lanes are independent of each other: each compares its own fraction.
    #[test]
    fn every_lane_compares_its_own_fraction() {
        let mut random = Generator::new(3);
        for _ in 0..1000 {
            let coin = Coin { threshold: random.bits() };
            let words: Vec<u64> = (0..64).map(|_| random.bits()).collect();
            let mut given = words.iter().copied();
            let heads = coin.toss(&mut || given.next().unwrap());
            for lane in 0..64 {
                let fraction = words.iter().fold(0_u64, |fraction, word| fraction << 1 | (word >> lane & 1));
                assert_eq!(heads >> lane & 1 == 1, fraction < coin.threshold);
            }
        }
    }

    #[test]
    fn flips_are_never_rarer_than_privacy_needs_nor_wrong_by_more_than_2_to_the_minus_53() {
        for epsilon in [0.001, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0] {
            let Coin { threshold } = Coin::flipping(epsilon);
            // 1/2 − tanh(ε/4)/2, an independent formula.
            let expected = 0.5 - libm::tanh(epsilon / 4.0) / 2.0;
            let probability = threshold as f64 / 2_f64.powi(64);
            let error = probability - expected;
            assert!(error.abs() <= 2_f64.powi(-53), "{epsilon}: {error:e}");
            let kept = (u64::MAX - threshold + 1) as f64;
            let spent = 2.0 * libm::log(kept / threshold as f64);
            assert!(spent <= epsilon * (1.0 + 1e-15), "{epsilon}: a report spends {spent}");
            assert!(spent >= epsilon * (1.0 - 1e-10), "{epsilon}: a report spends {spent}");
        }
    }

    /// 2^64/(1 + e^(ε/2)), rounded down, from a calculator of sixty digits.
    #[test]
    fn thresholds_are_those_of_a_calculator() {
        for (epsilon, exact) in [
            (0.5, 8_076_418_037_615_682_945_u64),
            (1.0, 6_964_396_094_736_529_934),
            (2.0, 4_961_093_570_831_980_853),
            (4.0, 2_198_905_795_380_358_825),
            (8.0, 331_787_012_026_708_147),
            (32.0, 2_075_907_333_723),
        ] {
            let Coin { threshold } = Coin::flipping(epsilon);
            assert!((1..512).contains(&(threshold - exact)), "{epsilon}: {threshold} for {exact}");
        }
    }

    #[test]
    fn a_source_that_has_failed_makes_nobody_wait() {
        assert_eq!(Coin::flipping(1.0).toss(&mut || 0), u64::MAX);
        assert_eq!(Coin::flipping(1.0).toss(&mut || u64::MAX), 0);
    }
}
