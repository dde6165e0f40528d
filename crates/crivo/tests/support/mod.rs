//! Randomness for tests: seeded, specified, and changed for all of them by one variable.

#[allow(dead_code)] // each test program uses its own part
pub(crate) mod forge;
#[allow(dead_code, unused_macros, unused_imports)] // each test program uses its own part
pub(crate) mod register_sketches;
#[allow(dead_code)] // each test program uses its own part
pub(crate) mod tables;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A generator for the test called `name`. With `CRIVO_TEST_SEED` set (`cargo xtask test
/// --fresh-seeds` does) every test draws from another stream and must pass all the same.
pub(crate) fn generator(name: &str) -> Random {
    let base = match std::env::var("CRIVO_TEST_SEED") {
        Ok(seed) => seed.parse().unwrap_or_else(|_| panic!("CRIVO_TEST_SEED is no number: {seed}")),
        Err(_) => 0_u64,
    };
    let label = name.bytes().fold(0_u64, |label, byte| label.wrapping_mul(0x100_0000_01B3) ^ u64::from(byte));
    Random(Xoshiro256PlusPlus::seed_from_u64(base ^ label))
}

pub(crate) struct Random(Xoshiro256PlusPlus);

#[allow(dead_code)] // each test program uses its own part
impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    pub(crate) fn fill(&mut self, hashes: &mut [u64]) {
        hashes.iter_mut().for_each(|hash| *hash = self.bits());
    }

    /// Uniform in (0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// Uniform in `0..below`.
    pub(crate) fn below(&mut self, below: usize) -> usize {
        ((u128::from(self.bits()) * below as u128) >> 64) as usize
    }
}
