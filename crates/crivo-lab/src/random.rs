//! Seeded random numbers. The generator is xoshiro256++, whose values are specified, so that an
//! experiment repeats on any machine.

use crivo::sketch::InsertHashes;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A random number generator; see [`Context::random`](crate::Context::random).
#[derive(Debug, Clone)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// Creates the generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a uniform number in (0, 1), both ends excluded.
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// Returns a uniform number in `0..size`. The bias of one part in `2^64/size` is far below what
    /// any test here detects.
    pub fn below(&mut self, size: usize) -> usize {
        ((u128::from(self.bits()) * size as u128) >> 64) as usize
    }

    /// Returns true with this probability.
    pub fn happens(&mut self, chance: f64) -> bool {
        self.unit() < chance
    }

    /// Returns an exponential variable with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(self.unit())
    }

    /// Fills a slice with random bits.
    pub fn fill(&mut self, hashes: &mut [u64]) {
        hashes.iter_mut().for_each(|hash| *hash = self.bits());
    }

    /// Returns the given number of random hashes.
    pub fn hashes(&mut self, count: usize) -> Vec<u64> {
        let mut hashes = vec![0; count];
        self.fill(&mut hashes);
        hashes
    }

    /// Inserts `count` random hashes, which are distinct items.
    pub fn feed(&mut self, sketch: &mut impl InsertHashes, count: u64) {
        let mut hashes = [0; 512];
        let mut left = count as usize;
        while left > 0 {
            let batch = &mut hashes[..left.min(512)];
            self.fill(batch);
            sketch.insert_hashes(batch);
            left -= batch.len();
        }
    }

    /// Shuffles a list.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// Returns a text of 1 to `longest` letters and digits.
    pub fn text(&mut self, longest: usize) -> String {
        const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let length = 1 + self.below(longest);
        let mut bits = 0;
        (0..length)
            .map(|place| {
                if place % 10 == 0 {
                    bits = self.bits();
                }
                let letter = LETTERS[(bits & 63) as usize] as char;
                bits >>= 6;
                letter
            })
            .collect()
    }
}

/// Draws from a fixed list of weights.
#[derive(Debug, Clone)]
pub(crate) struct Weighted {
    sums: Vec<f64>,
}

impl Weighted {
    pub(crate) fn new(weights: impl IntoIterator<Item = f64>) -> Self {
        let mut sum = 0.0;
        let sums = weights.into_iter().map(|weight| {
            sum += weight;
            sum
        });
        Self { sums: sums.collect() }
    }

    /// Creates the weights `1/rank^exponent` for the given number of ranks.
    pub(crate) fn zipf(ranks: usize, exponent: f64) -> Self {
        Self::new((1..=ranks).map(|rank| libm::pow(rank as f64, -exponent)))
    }

    /// Draws the index of one of the weights.
    pub(crate) fn draw(&self, random: &mut Random) -> usize {
        let total = self.sums.last().copied().unwrap_or(0.0);
        let place = random.unit() * total;
        self.sums.partition_point(|&sum| sum < place).min(self.sums.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_decide_how_often() {
        let mut random = Random::new(1);
        let weighted = Weighted::new([1.0, 0.0, 3.0]);
        let mut counts = [0; 3];
        (0..40_000).for_each(|_| counts[weighted.draw(&mut random)] += 1);
        assert!(counts[1] == 0 && (9_000..11_000).contains(&counts[0]), "{counts:?}");
    }

    #[test]
    fn texts_are_as_long_as_allowed() {
        let mut random = Random::new(2);
        let lengths: Vec<usize> = (0..1000).map(|_| random.text(12).len()).collect();
        assert!(
            lengths.contains(&1) && lengths.contains(&12) && lengths.iter().all(|&l| (1..=12).contains(&l))
        );
    }
}
