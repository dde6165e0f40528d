//! The random generator of the sketches, seeded by the caller and specified value by value.
//!
//! A sketch that draws random numbers takes a seed when it is built. It keeps the generator's
//! state, and stores it with its bytes. So the same seed and the same items give the same sketch on
//! every machine, and a stored sketch continues as if it had never been stored. The library never
//! asks the system for randomness.
//!
//! The generator is xoshiro256++ (Blackman and Vigna 2021), its four words seeded by SplitMix64 as
//! its authors advise. It is written here because its state has to be read, which the published
//! crates do not allow. A test compares its values with those of such a crate. Draws that decide a
//! sketch's state use `libm`, so that they do not depend on the platform. docs/format.md describes
//! each.
//!
//! Sketches that will be merged must draw independently. With the same seed they draw the same
//! numbers, and their errors add up instead of cancelling out. The one way to avoid it is
//! [`Merge::reseed`](crate::sketch::Merge::reseed): copy one empty sketch for each part of the
//! stream, and reseed each copy with the number of its part. The command line's threads, a window's
//! panes, Python and Spark's partitions all do that.

use crate::codec::{Reader, Writer};
use crate::error::{Error, Result};
use crate::hash::split_mix::{GOLDEN, mix};
use crate::keys::hash_bytes;

/// xoshiro256++, with a state that can be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Generator {
    state: [u64; 4],
}

impl Generator {
    /// The least number that [`unit`](Self::unit) can return.
    pub(crate) const LEAST_UNIT: f64 = 0.5 / (1_u64 << 52) as f64;

    pub(crate) fn new(seed: u64) -> Self {
        let state = std::array::from_fn(|word| mix(seed.wrapping_add(GOLDEN.wrapping_mul(word as u64))));
        Self { state }
    }

    /// Returns a generator for one part of many. Its seed is the hash of this generator's state
    /// under the part's number, so the same part always gets the same generator.
    pub(crate) fn fork(&self, part: u64) -> Self {
        let mut bytes = [0; 32];
        for (bytes, word) in bytes.chunks_exact_mut(8).zip(self.state) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        Self::new(hash_bytes(&bytes, part))
    }

    /// Returns 64 random bits.
    #[inline]
    pub(crate) fn bits(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// Returns a number uniform in (0, 1), both ends excluded: the middle of one of 2^52 equal
    /// parts.
    #[inline]
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) * (1.0 / (1_u64 << 52) as f64)
    }

    /// Returns a number uniform in `0..size`, without bias, or 0 if the size is 0.
    #[inline]
    pub(crate) fn below(&mut self, size: u64) -> u64 {
        let mut product = u128::from(self.bits()) * u128::from(size);
        if (product as u64) < size {
            // The 2^64 values of the generator do not divide evenly by the size. A draw that falls
            // among the few left over is repeated (Lemire 2019).
            let left_over = size.wrapping_neg() % size;
            while (product as u64) < left_over {
                product = u128::from(self.bits()) * u128::from(size);
            }
        }
        (product >> 64) as u64
    }

    /// Draws the number of trials that fail before the first success, if each succeeds with the
    /// given chance: `⌊ln U/ln(1 − chance)⌋`, at most `u64::MAX`.
    #[inline]
    pub(crate) fn failures(&mut self, chance: f64) -> u64 {
        failures_for(self.unit(), chance)
    }

    /// Same as [`failures`](Self::failures), but takes the [`log_of_failure`] of the chance, so
    /// that callers that draw many times at one chance compute it only once.
    #[inline]
    pub(crate) fn failures_with(&mut self, log_of_failure: f64) -> u64 {
        quotient(self.unit(), log_of_failure)
    }

    /// Returns the largest number that [`failures`](Self::failures) can draw.
    pub(crate) fn most_failures(chance: f64) -> u64 {
        failures_for(Self::LEAST_UNIT, chance)
    }

    pub(crate) fn encode(&self, writer: &mut Writer) {
        writer.u64s(self.state);
    }

    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self> {
        let mut state = [0; 4];
        for (word, read) in state.iter_mut().zip(reader.u64s("generator", 4)?) {
            *word = read;
        }
        // From a state of zeros the generator would return zeros forever. No seed leads there.
        if state == [0; 4] {
            return Err(Error::contents("generator", "a state that is not all zero", "zeros"));
        }
        Ok(Self { state })
    }
}

/// Returns the logarithm of the probability that a trial fails, `ln(1 − chance)`.
pub(crate) fn log_of_failure(chance: f64) -> f64 {
    libm::log1p(-chance)
}

fn failures_for(unit: f64, chance: f64) -> u64 {
    quotient(unit, log_of_failure(chance))
}

fn quotient(unit: f64, log_of_failure: f64) -> u64 {
    // A chance of 1 divides by −∞ and gives 0. A chance of 0 divides by −0 and gives `u64::MAX`.
    (libm::log(unit) / log_of_failure) as u64
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn values_are_those_of_xoshiro256plusplus() {
        for seed in [0, 1, 42, u64::MAX] {
            let mut theirs = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut ours = Generator::new(seed);
            for _ in 0..1000 {
                assert_eq!(ours.bits(), theirs.next_u64());
            }
        }
    }

    #[test]
    fn forks_are_repeatable_and_different() {
        let generator = Generator::new(1);
        let firsts: Vec<u64> = (0..100).map(|part| generator.fork(part).bits()).collect();
        assert_eq!(firsts[7], generator.fork(7).bits());
        for (position, first) in firsts.iter().enumerate() {
            assert!(!firsts[..position].contains(first));
        }
        assert_ne!(generator.fork(0), Generator::new(2).fork(0));
    }

    #[test]
    fn units_are_the_middles_of_equal_parts() {
        let (mut generator, mut twin) = (Generator::new(1), Generator::new(1));
        for _ in 0..1000 {
            let scaled = generator.unit() * (1_u64 << 52) as f64;
            assert_eq!(scaled, (twin.bits() >> 12) as f64 + 0.5);
        }
    }

    #[test]
    fn every_index_below_a_size_is_drawn() {
        let mut generator = Generator::new(2);
        assert_eq!(generator.below(0), 0);
        let mut counts = [0; 3];
        (0..3000).for_each(|_| counts[generator.below(3) as usize] += 1);
        assert!(counts.iter().all(|&count| count > 850), "{counts:?}");
        // Nearly half of all draws are repeated here.
        let size = (1 << 63) + 1;
        assert!((0..1000).all(|_| generator.below(size) < size));
    }

    #[test]
    fn failures_are_counted_up_to_any_number() {
        assert_eq!(failures_for(0.9, 1.0), 0);
        assert_eq!(failures_for(0.9, 0.0), u64::MAX);
        assert_eq!((failures_for(0.51, 0.5), failures_for(0.49, 0.5)), (0, 1));
        assert_eq!(Generator::most_failures(1.0), 0);
        assert_eq!(Generator::most_failures(0.5), 53);
        assert_eq!(Generator::most_failures(1e-300), u64::MAX);
    }
}
