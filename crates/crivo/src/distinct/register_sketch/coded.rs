//! Registers stored at their entropy: 4 bits each for an UltraLogLog, 2.8 for a HyperLogLog,
//! instead of 8.
//!
//! One number, the rate of items a register, determines the probability of each register value. The
//! coder turns these probabilities into bytes. Values that are too unlikely for a frequency of
//! their own share one, and each is written as a byte after it.
//!
//! Registers that did not come from random hashes may not shrink. Or their file may become far
//! smaller than the memory that decoding needs. Both are stored uncoded.

use super::kind::{RegisterArray, RegisterKind};
use super::rates::{Levels, ONE, Rate};
use crate::codec::rans::{self, Frequencies, RARE, TOTAL};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// Registers are stored uncoded if fewer than one in this many saw a hash. With random hashes, more
/// registers are used by the time the exact state ends.
const LEAST_USED: usize = 12;

/// Registers are stored uncoded if coding would put more than this many into a byte. This bounds
/// the memory that a decoder allocates for a file.
const MOST_IN_A_BYTE: usize = 20;

/// Registers in their coded form.
pub(super) struct Coded {
    pub(super) rate: Rate,
    pub(super) bytes: Vec<u8>,
}

/// Encodes the registers in fewer bytes than they have. Returns `None` if they are to be stored
/// uncoded.
pub(super) fn encode<K: RegisterKind>(registers: &K::Registers, precision: u8) -> Option<Coded> {
    let values = registers.values();
    let rate = rate_of::<K>(registers, precision)?;
    let bytes = rans::encode(values, &Frequencies::new(&counts::<K>(rate, precision)));
    is_worthwhile(bytes.len(), values.len()).then_some(Coded { rate, bytes })
}

/// Decodes registers that [`encode`] wrote. Returns `None` if it cannot have written these bytes.
pub(super) fn decode<K: RegisterKind>(rate: Rate, precision: u8, bytes: &[u8]) -> Option<K::Registers> {
    let length = 1 << precision;
    if !is_worthwhile(bytes.len(), length) {
        return None;
    }
    let mut values = vec![0; length];
    if !rans::decode(bytes, &Frequencies::new(&counts::<K>(rate, precision)), &mut values) {
        return None;
    }
    K::Registers::from_values(precision, &values)
        .filter(|registers| rate_of::<K>(registers, precision) == Some(rate))
}

fn is_worthwhile(coded: usize, registers: usize) -> bool {
    coded < registers && coded * MOST_IN_A_BYTE >= registers
}

/// Returns the rate with which registers are coded, or `None` if too few of them are used.
fn rate_of<K: RegisterKind>(registers: &K::Registers, precision: u8) -> Option<Rate> {
    let observed = K::observed(registers, precision);
    let length = registers.values().len();
    let used = length - observed.unused as usize;
    (used * LEAST_USED >= length).then(|| Rate::nearest(observed.rate()))
}

/// Returns the expected number of registers of each value, among [`TOTAL`] registers.
fn counts<K: RegisterKind>(rate: Rate, precision: u8) -> [u16; 256] {
    let share =
        |probability: u64| ((u128::from(probability) * u128::from(TOTAL)) >> (ONE.ilog2() - 1)) as u16;
    let highest = 64 - precision + 1;
    let probabilities = K::probabilities(&Levels::new(rate, highest));
    // `share` is twice the wanted share, so that halving rounds to the nearest whole number.
    let mut counts = probabilities.map(|probability| share(probability).div_ceil(2));

    let likely = probabilities.iter().zip(&counts).filter(|(_, count)| **count > 0);
    let rare = ONE.saturating_sub(likely.map(|(probability, _)| probability).sum());
    counts[usize::from(RARE)] = (share(rare) / 2).max(1);

    // Rounding leaves the total slightly off. The likeliest value takes the difference.
    let total: u16 = counts.iter().sum();
    let likeliest = (0..counts.len()).rev().max_by_key(|&value| counts[value]).unwrap_or(0);
    counts[likeliest] = counts[likeliest] + TOTAL - total;
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distinct::hyperloglog::HighestRank;
    use crate::distinct::ultraloglog::ThreeLevels;

    /// The frequencies of every rate and precision add up, and every register value can be coded.
    fn frequencies_add_up<K: RegisterKind>() {
        for precision in 4..=18 {
            for rate in (0..Rate::COUNT).filter_map(Rate::from_number) {
                let counts = counts::<K>(rate, precision);
                let total: u32 = counts.iter().map(|&count| u32::from(count)).sum();
                assert_eq!(total, u32::from(TOTAL), "{rate:?}, precision {precision}");
                assert!(counts[usize::from(RARE)] > 0);
            }
        }
    }

    #[test]
    fn frequencies_of_hyperloglog_add_up() {
        frequencies_add_up::<HighestRank>();
    }

    #[test]
    fn frequencies_of_ultraloglog_add_up() {
        frequencies_add_up::<ThreeLevels>();
    }

    /// The fixed-point table agrees with the exponential function, and each rate keeps its number.
    #[test]
    fn levels_are_as_likely_as_the_poisson_model_says() {
        for number in 0..Rate::COUNT {
            let rate = Rate::from_number(number).unwrap();
            let value = f64::from(32 + number % 32) / 32.0 * libm::exp2(f64::from(number / 32) - 20.0);
            assert_eq!(Rate::nearest(value), rate);
            assert_eq!(Rate::nearest(value * 1.007), rate);
            let levels = Levels::new(rate, 53);
            for level in 1..=53_usize {
                let expected = libm::exp(-value * libm::exp2(-(level.min(52) as f64)));
                let found = levels.absent(level) as f64 / ONE as f64;
                assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
            }
        }
        assert_eq!(Rate::nearest(0.0).number(), 0);
        assert_eq!(Rate::nearest(f64::INFINITY).number(), Rate::COUNT - 1);
    }
}
