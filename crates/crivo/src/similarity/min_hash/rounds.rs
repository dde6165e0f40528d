//! The rounds in which slots are filled.
//!
//! In each of the first `k` rounds every element falls into one slot, which its hash for the round
//! selects. In each of the next `k` rounds every element falls into the same slot, one slot a
//! round, so that no slot stays empty. A slot keeps the smallest value that fell into it, and
//! values of an earlier round are smaller than those of any later one. So filling may end after the
//! first round that leaves no slot empty: all later values are larger than the values in the slots.
//! With many more elements than slots that is the first round, and an element costs a few
//! nanoseconds whatever `k` is.
//!
//! Everything here is part of the file format: it never changes.

use crate::hash::split_mix::{GOLDEN, MULTIPLIERS, finish};

/// The value of a slot before anything fell into it. It is larger than any candidate.
pub(super) const EMPTY: u64 = u64::MAX;

/// The position of the round in a slot. The bits below it are compared within a round.
const ROUND_SHIFT: u32 = 48;

/// The number of bits by which a 64-bit value is shifted to lie below the round.
const VALUE_SHIFT: u32 = 64 - ROUND_SHIFT;

/// Returns the round in which a slot was filled. For an empty slot this is 65,535, which no round
/// has.
pub(super) fn round_of(slot: u64) -> u32 {
    (slot >> ROUND_SHIFT) as u32
}

/// Returns the value of the slot within its round, as a number from 0 to below 1.
pub(super) fn fraction_of(slot: u64) -> f64 {
    (slot << VALUE_SHIFT >> VALUE_SHIFT) as f64 / (1_u64 << ROUND_SHIFT) as f64
}

/// Returns how many rounds there are for `k` slots.
pub(super) fn all_rounds(k: u32) -> u32 {
    2 * k
}

/// Returns how many rounds an element has to run through: all up to the last in which a slot was
/// filled.
pub(super) fn rounds_of(slots: &[u64]) -> u32 {
    let most = all_rounds(slots.len() as u32);
    if any_from(slots, 1) { slots.iter().max().map_or(most, |&slot| round_of(slot) + 1).min(most) } else { 1 }
}

/// Returns true if a slot was filled in this round or later, or not at all. It tests the sign of a
/// difference, because the oldest processors cannot compare two 64-bit words at once.
fn any_from(slots: &[u64], round: u32) -> bool {
    let last_before = (u64::from(round) << (ROUND_SHIFT - 1)) - 1;
    slots.iter().fold(0, |signs, slot| signs | last_before.wrapping_sub(slot >> 1)) >> 63 != 0
}

/// Returns the key of a round's hash function: SplitMix64 of the round's number.
#[inline(always)]
fn round_key(round: u32) -> u64 {
    finish(GOLDEN.wrapping_mul(u64::from(round) + 1))
}

/// Mixes every bit of a word into the high bits, which are the only ones used here. The function is
/// a bijection, so that different elements never tie. It is strong enough for elements that are
/// arbitrary integers: neighbours fall into unrelated slots.
#[inline(always)]
fn mix(word: u64) -> u64 {
    let mixed = word.wrapping_mul(MULTIPLIERS[0]);
    (mixed ^ mixed >> 32).wrapping_mul(MULTIPLIERS[1])
}

/// Returns the slot into which an element falls in one of the first `k` rounds, and its value
/// without the round. The index is the high half of the product with the number of slots. The value
/// comes from the low half, which the index does not depend on.
#[inline(always)]
fn fall(hash: u64, key: u64, k: u64) -> (usize, u64) {
    let product = u128::from(mix(hash ^ key)) * u128::from(k);
    ((product >> 64) as usize, (product as u64) >> VALUE_SHIFT)
}

/// Runs one round for many elements.
fn run_round(slots: &mut [u64], hashes: &[u64], round: u32) {
    let (key, mark, k) = (round_key(round), u64::from(round) << ROUND_SHIFT, slots.len());
    if (round as usize) < k {
        fall_all(slots, hashes, key, mark);
    } else if let Some(slot) = slots.get_mut(round as usize - k) {
        let least = hashes.iter().fold(u64::MAX, |least, &hash| least.min(mix(hash ^ key)));
        *slot = (*slot).min(mark | least >> VALUE_SHIFT);
    }
}

/// Runs one of the first `k` rounds. No branch depends on the elements.
fn fall_all(slots: &mut [u64], hashes: &[u64], key: u64, mark: u64) {
    let k = slots.len() as u64;
    if k.is_power_of_two() {
        // Multiplying by a power of two is a shift, so a rotation moves the index to the low bits.
        // These bits are fewer than those that a value loses, so the value does not contain them.
        let (bits, mask) = (k.ilog2(), k - 1);
        fall_each(slots, hashes, mark, |hash| {
            let turned = mix(hash ^ key).rotate_left(bits);
            ((turned & mask) as usize, turned >> VALUE_SHIFT)
        });
    } else {
        fall_each(slots, hashes, mark, |hash| fall(hash, key, k));
    }
}

/// Lets each element fall into the slot that `place` returns. It is never inlined: a compiler that
/// knows the origin of `mark` joins it to the value with an instruction slower than all others
/// here.
#[inline(never)]
fn fall_each(slots: &mut [u64], hashes: &[u64], mark: u64, place: impl Fn(u64) -> (usize, u64)) {
    let mut step = |hash: u64| {
        let (index, value) = place(hash);
        let slot = &mut slots[index];
        *slot = (mark | value).min(*slot);
    };
    let (fours, rest) = hashes.as_chunks::<4>();
    for four in fours {
        four.iter().for_each(|&hash| step(hash));
    }
    rest.iter().for_each(|&hash| step(hash));
}

/// Inserts many elements. `rounds` is the number of rounds that an element has to run through.
pub(super) fn insert_all(slots: &mut [u64], hashes: &[u64], rounds: u32) {
    if hashes.is_empty() {
        return;
    }
    run_round(slots, hashes, 0);
    // Looking at eight slots costs about as much as one element, so with few elements the slots are
    // checked less often.
    let between_looks = (slots.len() / (2 * hashes.len())).max(1) as u32;
    for round in 1..rounds {
        if round % between_looks == 0 && !any_from(slots, round) {
            break;
        }
        run_round(slots, hashes, round);
    }
}

/// Returns the slot into which one element falls in any round, and its value with the round.
#[inline(always)]
fn fall_in(hash: u64, round: u32, k: u32) -> (usize, u64) {
    let (key, mark) = (round_key(round), u64::from(round) << ROUND_SHIFT);
    if round < k {
        let (index, value) = fall(hash, key, k.into());
        (index, mark | value)
    } else {
        ((round - k) as usize, mark | mix(hash ^ key) >> VALUE_SHIFT)
    }
}

/// Inserts one element. `rounds` is the result of [`rounds_of`] for the slots before. Returns the
/// result for the slots afterwards.
#[inline]
pub(super) fn insert_one(slots: &mut [u64], hash: u64, rounds: u32) -> u32 {
    let k = slots.len() as u32;
    let mut filled_last = false;
    for round in 0..rounds {
        let (index, candidate) = fall_in(hash, round, k);
        let slot = &mut slots[index];
        if candidate < *slot {
            filled_last |= round_of(*slot) + 1 >= rounds;
            *slot = candidate;
        }
    }
    if filled_last && rounds > 1 { rounds_of(slots) } else { rounds }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, word for word: all rounds, and the smallest of all values that fall into a
    /// slot.
    fn by_definition(hashes: &[u64], k: u32) -> Vec<u64> {
        let mut slots = vec![EMPTY; k as usize];
        for round in 0..all_rounds(k) {
            for &hash in hashes {
                let (index, candidate) = fall_in(hash, round, k);
                slots[index] = slots[index].min(candidate);
            }
        }
        slots
    }

    #[test]
    fn stopping_early_changes_nothing() {
        for k in [1, 2, 3, 16, 100, 128, 257] {
            for count in [1, 2, 3, 10, 50, 300, 2_000] {
                let hashes: Vec<u64> = (0..count).map(|i| i * i * 977 + u64::from(k)).collect();
                let expected = by_definition(&hashes, k);
                let mut at_once = vec![EMPTY; k as usize];
                insert_all(&mut at_once, &hashes, all_rounds(k));
                assert!(at_once == expected, "{count} elements in {k} slots");
                let mut one_by_one = vec![EMPTY; k as usize];
                let rounds = hashes.iter().fold(all_rounds(k), |rounds, &hash| {
                    let rounds = insert_one(&mut one_by_one, hash, rounds);
                    assert_eq!(rounds, rounds_of(&one_by_one));
                    rounds
                });
                assert!(one_by_one == expected && rounds == rounds_of(&expected));
                let (first, second) = hashes.split_at(hashes.len() / 3);
                let mut in_two = vec![EMPTY; k as usize];
                insert_all(&mut in_two, first, all_rounds(k));
                let rounds = rounds_of(&in_two);
                insert_all(&mut in_two, second, rounds);
                assert!(in_two == expected, "{count} elements in two batches in {k} slots");
            }
        }
    }

    #[test]
    fn one_element_fills_every_slot() {
        for k in [1, 5, 128, 32_767] {
            let mut slots = vec![EMPTY; k];
            insert_all(&mut slots, &[42], all_rounds(k as u32));
            assert!(slots.iter().enumerate().all(|(index, &slot)| {
                let round = round_of(slot) as usize;
                round < k || round == k + index
            }));
        }
    }

    /// These values decide the contents of every stored sketch.
    #[test]
    fn rounds_never_change() {
        assert_eq!(round_key(0), 0xE220_A839_7B1D_CDAF);
        assert_eq!(fall_in(0, 0, 128), (51, 0x5595_1824_B1F5));
        assert_eq!(fall_in(1, 77, 100), (31, 0x4D << 48 | 0x2BFB_C9DC_93F1));
        assert_eq!(fall_in(u64::MAX, 150, 100), (50, 0x96 << 48 | 0x35F6_C765_6D51));
    }

    #[test]
    fn looks_find_the_slots_of_late_rounds() {
        for (slot, round) in [(0, 0), ((1 << 48) - 1, 0), (1 << 48, 1), (3 << 48 | 5, 3), (EMPTY, 65_535)] {
            assert_eq!(round_of(slot), round);
            for asked in 1..6 {
                assert_eq!(any_from(&[0, slot, 7], asked), round >= asked, "{slot:x} from {asked}");
            }
        }
    }
}
