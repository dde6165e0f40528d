//! Builds a table from a set of hashes. The slots of each hash give its fingerprint.
//!
//! Every hash is an equation: the exclusive or of its three slots is its fingerprint. A slot that
//! only one hash uses can be set last, which makes that equation true whatever the other slots
//! hold. So the hash is removed, which may leave other slots with one hash. When all hashes are
//! removed, slots are set in the opposite order. If some hashes remain, all are spread anew with
//! another seed.

use super::shape::{ARITY, Shape, fingerprint};
use crate::cpu::{reserved, zeroed};
use crate::error::{Error, ErrorKind, Result};
use crate::hash::split_mix::{finish, mix};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The most attempts with different seeds. An attempt fails in a few percent of small sets and
/// hardly ever in large ones. Seeds depend on all hashes, so no set can be made for which many
/// attempts fail.
const ATTEMPTS: u32 = 100;
/// The approximate number of hashes of a part, unless there would be too many parts.
const PART: usize = 256;
/// The base-2 logarithm of the most parts. More parts at once are slower to write than they save.
const MOST_PARTS_BITS: u32 = 10;

/// A finished table, and the seed that its hashes are spread with.
pub(super) struct Built {
    pub(super) keys: u64,
    pub(super) seed: u64,
    pub(super) shape: Shape,
    pub(super) table: Vec<u8>,
}

/// Returns the hash that determines the slots and the fingerprint. Seed 0 leaves the hash
/// unchanged, because hashes of keys are uniform already. Ascending hashes then have ascending
/// first slots.
#[inline(always)]
pub(super) fn spread(hash: u64, seed: u64) -> u64 {
    if seed == 0 { hash } else { finish(hash ^ seed) }
}

/// Builds the table of the distinct hashes. It depends only on their set.
pub(super) fn build(hashes: &[u64]) -> Result<Built> {
    build_within(hashes, ATTEMPTS)
}

fn build_within(hashes: &[u64], attempts: u32) -> Result<Built> {
    // Most inputs repeat no hash and can be placed without a seed. They are not sorted, because the
    // table is the same in any order.
    if attempts > 0
        && let Some(built) = attempt(dealt(hashes)?.0, 0)?
    {
        return Ok(built);
    }
    let set = sorted_set(hashes)?;
    // Without repetitions, the hashes were already tried without a seed.
    let tried = u32::from(set.len() == hashes.len());
    // Seeds depend on every hash, so a set made to fail with one seed would have to know it.
    let mut state = set.iter().fold(set.len() as u64, |state, hash| mix(state ^ hash));
    for number in tried..attempts {
        state = if number == 0 { state } else { mix(state).max(1) };
        let seed = if number == 0 { 0 } else { state };
        let spread: Vec<u64> = set.iter().map(|&hash| spread(hash, seed)).collect();
        if let Some(built) = attempt(dealt(&spread)?.0, seed)? {
            return Ok(built);
        }
    }
    Err(Error::new(
        ErrorKind::InvalidParameter,
        "hashes",
        "hashes that can be placed",
        format_args!("{} that could not in {attempts} attempts", set.len()),
        "hash the keys with another seed",
    ))
}

/// Returns the table of hashes that were spread with a seed, if they are distinct and can all be
/// placed.
fn attempt(hashes: Vec<u64>, seed: u64) -> Result<Option<Built>> {
    let keys = hashes.len() as u64;
    let shape = Shape::for_keys(keys);
    let Some(peeled) = Slots::new(shape)?.peel(shape, hashes)? else { return Ok(None) };
    Ok(Some(Built { keys, seed, shape, table: peeled.assign(shape)? }))
}

/// The data about each slot while hashes are removed: 9 bytes.
struct Slots {
    /// The exclusive or of the hashes that use it.
    joined: Vec<u64>,
    /// For each slot, four times the number of hashes that use it, plus the exclusive or of its
    /// position (0 to 2) among the slots of each.
    uses: Vec<u8>,
}

/// The hashes in the order of their removal. For each, which of its slots only it used.
struct Peeled {
    order: Vec<u64>,
    own: Vec<u8>,
}

impl Slots {
    fn new(shape: Shape) -> Result<Self> {
        Ok(Self { joined: zeroed(shape.slots())?, uses: zeroed(shape.slots())? })
    }

    /// Counts a hash at its slots. Returns false if a slot cannot count it.
    #[inline(always)]
    fn count(&mut self, shape: Shape, hash: u64) -> bool {
        let mut counts = true;
        for (which, slot) in shape.slots_of(hash).into_iter().enumerate() {
            self.joined[slot] ^= hash;
            counts &= self.uses[slot] < 252;
            self.uses[slot] = self.uses[slot].wrapping_add(4) ^ which as u8;
        }
        counts
    }

    /// Removes hashes one by one, and returns them in that order. Returns `None` if some cannot be
    /// removed.
    fn peel(mut self, shape: Shape, hashes: Vec<u64>) -> Result<Option<Peeled>> {
        let keys = hashes.len();
        if !hashes.iter().fold(true, |counts, &hash| self.count(shape, hash) & counts) {
            return Ok(None);
        }
        // From here on the slots know the hashes, so the memory of the hashes can hold the order.
        let (mut order, mut own) = (hashes, reserved(keys as u64)?);
        order.clear();
        let Self { joined, uses } = &mut self;
        let mut alone = Vec::new();
        for start in 0..uses.len() {
            // All hashes that one slot leads to are removed before the next slot is looked at,
            // because their slots are near and still in the cache.
            if uses[start] >> 2 == 1 {
                alone.push(start);
            }
            while let Some(slot) = alone.pop() {
                if uses[slot] >> 2 != 1 {
                    continue; // its hash was taken away by another of its slots
                }
                let (hash, which) = (joined[slot], uses[slot] & 3);
                uses[slot] = 0;
                order.push(hash);
                own.push(which);
                let slots = shape.slots_of(hash);
                for other in others(which) {
                    let slot = slots[other];
                    joined[slot] ^= hash;
                    uses[slot] = (uses[slot] - 4) ^ other as u8;
                    if uses[slot] >> 2 == 1 {
                        alone.push(slot);
                    }
                }
            }
        }
        Ok((order.len() == keys).then_some(Peeled { order, own }))
    }
}

impl Peeled {
    /// Sets the slots, in the opposite order of removal.
    fn assign(self, shape: Shape) -> Result<Vec<u8>> {
        let mut table = zeroed::<u8>(shape.slots())?;
        for (&hash, &which) in self.order.iter().zip(&self.own).rev() {
            let slots = shape.slots_of(hash);
            let [one, other] = others(which);
            table[slots[usize::from(which)]] = fingerprint(hash) ^ table[slots[one]] ^ table[slots[other]];
        }
        Ok(table)
    }
}

/// Returns the positions of the other two slots of a hash.
#[inline(always)]
fn others(which: u8) -> [usize; ARITY - 1] {
    match which {
        0 => [1, 2],
        1 => [0, 2],
        _ => [0, 1],
    }
}

/// Sorts the hashes into parts by their top bits. Returns them, and the end of each part. The
/// hashes of a part have their slots near each other, so that building stays in the cache.
fn dealt(hashes: &[u64]) -> Result<(Vec<u64>, Vec<usize>)> {
    let mut dealt: Vec<u64> = zeroed(hashes.len() as u64)?;
    let parts_bits = (hashes.len() / PART).max(1).ilog2().clamp(1, MOST_PARTS_BITS);
    let part_of = |hash: u64| (hash >> (u64::BITS - parts_bits)) as usize;
    let mut ends = vec![0_usize; 1 << parts_bits];
    hashes.iter().for_each(|&hash| ends[part_of(hash)] += 1);
    let mut start = 0;
    for end in &mut ends {
        (start, *end) = (start + *end, start);
    }
    for &hash in hashes {
        let end = &mut ends[part_of(hash)];
        dealt[*end] = hash;
        *end += 1;
    }
    Ok((dealt, ends))
}

/// Returns the distinct hashes in ascending order. Sorting parts that fit in the cache takes half
/// of the time.
fn sorted_set(hashes: &[u64]) -> Result<Vec<u64>> {
    let (mut sorted, ends) = dealt(hashes)?;
    let mut start = 0;
    for end in ends {
        sorted[start..end].sort_unstable();
        start = end;
    }
    sorted.dedup();
    Ok(sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(built: &Built, hash: u64) -> bool {
        let hash = spread(hash, built.seed);
        let slots = built.shape.slots_of(hash);
        slots.iter().fold(fingerprint(hash), |left, &slot| left ^ built.table[slot]) == 0
    }

    #[test]
    fn sorting_is_that_of_a_set() {
        for count in [0, 1, 2, 511, 512, 5_000, 300_000] {
            let hashes: Vec<u64> = (0..count).map(|i| mix(i / 2)).collect();
            let set: std::collections::BTreeSet<u64> = hashes.iter().copied().collect();
            assert!(sorted_set(&hashes).unwrap().into_iter().eq(set), "{count}");
        }
        assert_eq!(sorted_set(&[5, u64::MAX, 0, 5]).unwrap(), [0, 5, u64::MAX]);
    }

    /// Hashes that share slots cannot be placed without a seed, which spreads them.
    #[test]
    fn hashes_that_lie_together_are_spread() {
        let crowded: Vec<u64> = (0..1_000).map(|i| i << 40).collect();
        let built = build(&crowded).unwrap();
        assert_ne!(built.seed, 0);
        assert!(crowded.iter().all(|&hash| answers(&built, hash)));
    }

    /// Sets made for the first attempts to fail. For each seed that a small table may try, they
    /// have two hashes with the same slots, found by search. Seeds depend on the set, so the
    /// resulting set has others.
    #[test]
    fn sets_made_for_one_seed_are_built_with_another() {
        let mut hashes: Vec<u64> = (0..40).map(mix).collect();
        for round in 0..20_u64 {
            let built = build(&hashes).unwrap();
            assert!(hashes.iter().all(|&hash| answers(&built, hash)));
            // Two more hashes with the same slots under the seed and shape that were used now.
            let slots = |hash| built.shape.slots_of(spread(hash, built.seed));
            let first = mix(1_000 + round);
            let Some(twin) =
                (0..10_000_000).map(|i| mix(1 << 40 | i)).find(|&twin| slots(twin) == slots(first))
            else {
                break;
            };
            hashes.extend([first, twin]);
        }
        assert!(hashes.len() > 44, "twins were found: {}", hashes.len());
    }

    #[test]
    fn attempts_end() {
        let hashes: Vec<u64> = (0..100).map(mix).collect();
        let error = build_within(&hashes, 0).map(|_| ()).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, "hashes"));
    }
}
