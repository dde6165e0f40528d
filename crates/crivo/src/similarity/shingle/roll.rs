//! The rolling hash of consecutive tokens, computed from the hashes of the tokens.

use crate::hash::split_mix::finish;

/// An odd multiplier without structure: the fraction of π, to 64 bits. `P − 1` is divisible by 2
/// only once, so swapping two tokens loses only one bit of their difference.
const P: u64 = 0x243F_6A88_85A3_08D3;

/// The polynomial of the last `n` tokens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Roll {
    sum: u64,
    /// `P^n`: the factor of the leaving token after the step.
    power: u64,
}

impl Roll {
    pub(crate) fn new(tokens: &[u64]) -> Self {
        let (sum, power) = tokens.iter().fold((0_u64, 1_u64), |(sum, power), &token| {
            (sum.wrapping_mul(P).wrapping_add(token), power.wrapping_mul(P))
        });
        Self { sum, power }
    }

    #[inline(always)]
    pub(crate) fn step(&mut self, leaves: u64, enters: u64) {
        // This does not depend on the last step, so the processor computes it in parallel.
        let change = enters.wrapping_sub(leaves.wrapping_mul(self.power));
        self.sum = self.sum.wrapping_mul(P).wrapping_add(change);
    }

    #[inline(always)]
    pub(crate) fn hash(self) -> u64 {
        finish(self.sum)
    }
}

/// Returns the hash of all of `tokens`.
pub(super) fn whole(tokens: &[u64]) -> u64 {
    Roll::new(tokens).hash()
}
