//! An entropy coder for bytes. Each byte costs the logarithm of its frequency, and equal bytes have
//! equal codes.
//!
//! **Source.** Duda: *Asymmetric numeral systems* (arXiv 1311.2540), the variant with ranges. A
//! state is a number. Coding a byte of frequency `f` among [`TOTAL`] makes it about `TOTAL/f` times
//! as large, and decoding reverses that. Before the state exceeds 63 bits, its low 32 bits move to
//! the stream.
//!
//! Decoding runs backwards through the coded bytes, so the coder takes the last byte first. Two
//! states take turns, so that the steps of one need not wait for those of the other. Both begin at
//! [`LEAST`]. If a decoder does not end there, or has words left, its input was not the output of a
//! coder. Between the limits each step is reversible, so different streams decode to different
//! bytes.

#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The base-2 logarithm of [`TOTAL`].
const TOTAL_BITS: u32 = 12;

/// The sum of the frequencies of all bytes.
pub(crate) const TOTAL: u16 = 1 << TOTAL_BITS;

/// Marks a byte without a frequency of its own, which follows uncompressed. So a byte of this value
/// cannot be coded.
pub(crate) const RARE: u8 = u8::MAX;

/// The least state between two bytes. A state is less than 2^32 times this.
const LEAST: u64 = 1 << 31;

/// The number of bytes of the states, which come before the words of a stream.
const STATES_LEN: usize = 16;

/// The slots of a byte, among [`TOTAL`]: as many as its frequency, beginning with `start`.
#[derive(Debug, Clone, Copy, Default)]
struct Slots {
    start: u16,
    count: u16,
}

/// The frequencies of all bytes.
#[derive(Debug)]
pub(crate) struct Frequencies([Slots; 256]);

impl Frequencies {
    /// Creates the frequencies from numbers that add up to [`TOTAL`]. The frequency of [`RARE`]
    /// must not be zero.
    pub(crate) fn new(counts: &[u16; 256]) -> Self {
        let mut start = 0;
        Self(counts.map(|count| {
            let slots = Slots { start, count };
            start += count;
            slots
        }))
    }

    /// Returns true if the byte has a frequency of its own.
    fn has(&self, byte: u8) -> bool {
        self.0[usize::from(byte)].count > 0
    }
}

/// The slots of one byte in the form that a coder needs.
#[derive(Debug, Clone, Copy, Default)]
struct Step {
    /// `2^(63 + shift)/count`, rounded up: multiplying by it divides a state by `count` exactly,
    /// because the state is less than 2^63 and `count` at most `2^shift`.
    reciprocal: u64,
    shift: u32,
    start: u16,
    count: u16,
}

impl Step {
    fn new(Slots { start, count }: Slots) -> Self {
        let shift = u32::from(count).next_power_of_two().ilog2();
        let divisor = u64::from(count.max(1));
        let (whole, rest) = ((1 << 63) / divisor, (1 << 63) % divisor);
        let reciprocal = (whole << shift) + (rest << shift).div_ceil(divisor);
        Self { reciprocal, shift, start, count }
    }

    /// Returns the state with the byte of these slots coded in it. The low 32 bits of a state that
    /// is too large move to the words.
    #[inline(always)]
    fn push(self, mut state: u64, words: &mut Vec<u32>) -> u64 {
        let count = u64::from(self.count);
        if state >= count << (63 - TOTAL_BITS) {
            words.push(state as u32);
            state >>= 32;
        }
        let quotient = self.divide(state);
        (quotient << TOTAL_BITS) + (state - quotient * count) + u64::from(self.start)
    }

    #[inline(always)]
    fn divide(self, state: u64) -> u64 {
        let product = u128::from(2 * state) * u128::from(self.reciprocal);
        (product >> u64::BITS) as u64 >> self.shift
    }
}

/// Returns the coded form of an even number of bytes, none of them [`RARE`].
pub(crate) fn encode(bytes: &[u8], frequencies: &Frequencies) -> Vec<u8> {
    let steps = frequencies.0.map(|slots| if slots.count > 0 { Step::new(slots) } else { Step::default() });
    let mut words = Vec::with_capacity(bytes.len() / 4);
    let mut states = (LEAST, LEAST);
    for &[first, second] in bytes.as_chunks::<2>().0.iter().rev() {
        states.1 = push(&steps, states.1, second, &mut words);
        states.0 = push(&steps, states.0, first, &mut words);
    }

    let mut coded = Vec::with_capacity(STATES_LEN + 4 * words.len());
    coded.extend_from_slice(&states.0.to_le_bytes());
    coded.extend_from_slice(&states.1.to_le_bytes());
    words.iter().rev().for_each(|word| coded.extend_from_slice(&word.to_le_bytes()));
    coded
}

/// Returns the state with a byte coded in it.
#[inline(always)]
fn push(steps: &[Step; 256], state: u64, byte: u8, words: &mut Vec<u32>) -> u64 {
    match steps[usize::from(byte)] {
        Step { count: 0, .. } => push_rare(state, byte, steps[usize::from(RARE)], words),
        step => step.push(state, words),
    }
}

/// Codes a byte that has no frequency of its own.
#[cold]
#[inline(never)]
fn push_rare(state: u64, byte: u8, rare: Step, words: &mut Vec<u32>) -> u64 {
    rare.push(Step::new(slots_of_any(byte)).push(state, words), words)
}

/// Fills `bytes`, of even length, with the decoded bytes. Returns true if the stream is the output
/// of a coder with these frequencies.
#[must_use]
pub(crate) fn decode(coded: &[u8], frequencies: &Frequencies, bytes: &mut [u8]) -> bool {
    let Some((states, words)) = coded.split_first_chunk::<STATES_LEN>() else { return false };
    let (words, []) = words.as_chunks::<4>() else { return false };
    let state = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| states[at + byte]));
    let mut states = (state(0), state(8));
    let limits = LEAST..LEAST << 32;
    if !limits.contains(&states.0) || !limits.contains(&states.1) {
        return false;
    }

    let table = SlotTable::new(frequencies);
    let mut words = words.iter();
    let mut is_coded = true;
    let mut next = |state: &mut u64| {
        let byte = table.next(state, &mut words);
        if byte != RARE {
            return byte;
        }
        let byte = next_of_any(state, &mut words);
        is_coded &= !frequencies.has(byte);
        byte
    };
    for [first, second] in bytes.as_chunks_mut::<2>().0 {
        *first = next(&mut states.0);
        *second = next(&mut states.1);
    }
    is_coded && states == (LEAST, LEAST) && words.len() == 0
}

/// For each slot, the byte that it belongs to and the byte's slots, in the form that a decoder
/// needs.
struct SlotTable([u32; TOTAL as usize]);

impl SlotTable {
    fn new(frequencies: &Frequencies) -> Self {
        let mut table = [0; TOTAL as usize];
        for (byte, &Slots { start, count }) in
            frequencies.0.iter().enumerate().filter(|(_, slots)| slots.count > 0)
        {
            let head = (byte as u32) << 24 | u32::from(count - 1) << TOTAL_BITS;
            let slots = &mut table[usize::from(start)..usize::from(start + count)];
            slots.iter_mut().zip(0..).for_each(|(slot, offset)| *slot = head | offset);
        }
        Self(table)
    }

    /// Decodes a byte from a state.
    #[inline(always)]
    fn next(&self, state: &mut u64, words: &mut std::slice::Iter<'_, [u8; 4]>) -> u8 {
        const MASK: u32 = TOTAL as u32 - 1;
        let entry = self.0[*state as usize % TOTAL as usize];
        let count = u64::from(entry >> TOTAL_BITS & MASK) + 1;
        *state = refilled(count * (*state >> TOTAL_BITS) + u64::from(entry & MASK), words);
        (entry >> 24) as u8
    }
}

/// Decodes a byte from a state that was coded with equal frequencies.
#[cold]
fn next_of_any(state: &mut u64, words: &mut std::slice::Iter<'_, [u8; 4]>) -> u8 {
    let count = u64::from(slots_of_any(0).count);
    let slot = *state % u64::from(TOTAL);
    *state = refilled(count * (*state >> TOTAL_BITS) + slot % count, words);
    (slot / count) as u8
}

/// Returns the state after its next word, if it needs one. Past the last word it becomes 0, and can
/// never be [`LEAST`] again.
#[inline(always)]
fn refilled(state: u64, words: &mut std::slice::Iter<'_, [u8; 4]>) -> u64 {
    if state >= LEAST {
        return state;
    }
    words.next().map_or(0, |&word| state << 32 | u64::from(u32::from_le_bytes(word)))
}

/// Returns the slots of a byte if all 256 bytes are equally frequent.
const fn slots_of_any(byte: u8) -> Slots {
    let count = TOTAL >> u8::BITS;
    Slots { start: byte as u16 * count, count }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;

    /// Returns frequencies with a few bytes that fill most slots, and bytes drawn from them and
    /// others.
    fn sample(random: &mut Xoshiro256PlusPlus) -> (Frequencies, Vec<u8>) {
        let mut counts = [0; 256];
        let kinds = 1 + random.next_u64() % 60;
        let mut left = TOTAL - 1;
        for _ in 0..kinds {
            let count = (random.next_u64() % u64::from(left / 2 + 1)) as u16;
            counts[(random.next_u64() % 255) as usize] += count;
            left -= count;
        }
        counts[usize::from(RARE)] = left + 1;
        let length = 2 * (random.next_u64() % 500) as usize;
        let likely: Vec<u8> = (0..RARE).filter(|&byte| counts[usize::from(byte)] > 0).collect();
        let bytes = (0..length)
            .map(|_| match (random.next_u64() % 20, likely.is_empty()) {
                (1.., false) => likely[random.next_u64() as usize % likely.len()],
                _ => (random.next_u64() % 255) as u8,
            })
            .collect();
        (Frequencies::new(&counts), bytes)
    }

    #[test]
    fn bytes_come_back() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..3_000 {
            let (frequencies, bytes) = sample(&mut random);
            let coded = encode(&bytes, &frequencies);
            let mut decoded = vec![0; bytes.len()];
            assert!(decode(&coded, &frequencies, &mut decoded));
            assert_eq!(decoded, bytes);
        }
    }

    /// A stream that is accepted is the one that the coder writes for its bytes.
    #[test]
    fn every_accepted_stream_is_written_the_same() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
        let mut accepted = 0;
        for _ in 0..20_000 {
            let (frequencies, bytes) = sample(&mut random);
            let mut coded = encode(&bytes, &frequencies);
            let place = random.next_u64() as usize % coded.len();
            coded[place] ^= 1 << (random.next_u64() % 8);
            let mut decoded = vec![0; bytes.len()];
            if decode(&coded, &frequencies, &mut decoded) {
                assert!(decoded.iter().all(|&byte| byte != RARE));
                assert_eq!(encode(&decoded, &frequencies), coded);
                accepted += 1;
            }
        }
        assert!(accepted < 20_000, "most damage is noticed");
    }

    #[test]
    fn reciprocals_divide_exactly() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        for count in 1..=TOTAL {
            let step = Step::new(Slots { start: 0, count });
            for _ in 0..50 {
                let near = (random.next_u64() >> 1) / u64::from(count) * u64::from(count);
                for state in [near, near.saturating_sub(1), (1 << 63) - 1, 0, random.next_u64() >> 1] {
                    assert_eq!(step.divide(state), state / u64::from(count), "{state} by {count}");
                }
            }
        }
    }

    #[test]
    fn cost_is_the_logarithm_of_the_frequency() {
        let mut counts = [0; 256];
        (counts[1], counts[2], counts[usize::from(RARE)]) = (1024, 3071, 1);
        let frequencies = Frequencies::new(&counts);
        let bytes: Vec<u8> = (0..40_000).map(|i| if i % 4 == 0 { 1 } else { 2 }).collect();
        let expected = 10_000.0 * 2.0 + 30_000.0 * libm::log2(4096.0 / 3071.0);
        let found = 8.0 * encode(&bytes, &frequencies).len() as f64;
        assert!((found - expected).abs() < 130.0, "{found} bits, not {expected}");
    }
}
