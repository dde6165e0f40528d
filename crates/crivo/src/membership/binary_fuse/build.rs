//! From a set of hashes to a table whose slots give back the fingerprint of each.
//!
//! Every hash is an equation: the exclusive or of its three slots is its fingerprint. A slot that
//! only one hash uses can be set last and makes that equation true whatever the others hold, so the
//! hash is taken away, which may leave other slots with one hash. When all are gone, slots are set
//! in the opposite order. If some are left over, hashes are spread anew by a seed.

use super::shape::{ARITY, Shape, fingerprint};
use crate::cpu::{reserved, zeroed};
use crate::error::{Error, ErrorKind, Result};
use crate::hash::split_mix::{finish, mix};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// How often hashes are spread anew. An attempt fails in a few percent of small sets and hardly
/// ever in large ones, and seeds depend on all hashes, so that no set can be made for which many
/// fail.
const ATTEMPTS: u32 = 100;
/// The number of hashes of a part, about, unless there would be too many parts.
const PART: usize = 256;
/// More parts at once than this are slower to write than what they save.
const MOST_PARTS_BITS: u32 = 10;

/// A table that was built, and the seed by which its hashes are spread.
pub(super) struct Built {
    pub(super) keys: u64,
    pub(super) seed: u64,
    pub(super) shape: Shape,
    pub(super) table: Vec<u8>,
}

/// Returns the hash from which slots and fingerprint are taken. Without a seed it is the hash as it
/// came: that one is uniform, and sorted hashes then have sorted slots.
#[inline(always)]
pub(super) fn spread(hash: u64, seed: u64) -> u64 {
    if seed == 0 { hash } else { finish(hash ^ seed) }
}

/// Builds the table of the different ones among the hashes. It depends on their set alone.
pub(super) fn build(hashes: &[u64]) -> Result<Built> {
    build_within(hashes, ATTEMPTS)
}

fn build_within(hashes: &[u64], attempts: u32) -> Result<Built> {
    // Most inputs repeat no hash and can be placed as they are. They are not sorted: the table is
    // the same in any order.
    if attempts > 0
        && let Some(built) = attempt(dealt(hashes)?.0, 0)?
    {
        return Ok(built);
    }
    let set = sorted_set(hashes)?;
    // Without repetitions the hashes as they are were tried just now.
    let tried = u32::from(set.len() == hashes.len());
    // Seeds depend on every hash: a set made to fail with one would have to know it.
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

/// Returns the table of hashes that a seed has spread, if they are different and can all be placed.
fn attempt(hashes: Vec<u64>, seed: u64) -> Result<Option<Built>> {
    let keys = hashes.len() as u64;
    let shape = Shape::for_keys(keys);
    let Some(peeled) = Slots::new(shape)?.peel(shape, hashes)? else { return Ok(None) };
    Ok(Some(Built { keys, seed, shape, table: peeled.assign(shape)? }))
}

/// What is known of each slot: 9 bytes.
struct Slots {
    /// The exclusive or of the hashes that use it.
    joined: Vec<u64>,
    /// Four times the number of hashes that use it, plus the exclusive or of its position (0 to 2)
    /// among the slots of each.
    uses: Vec<u8>,
}

/// The hashes in the order in which they were taken away, and for each which of its slots was its
/// own.
struct Peeled {
    order: Vec<u64>,
    own: Vec<u8>,
}

impl Slots {
    fn new(shape: Shape) -> Result<Self> {
        Ok(Self { joined: zeroed(shape.slots())?, uses: zeroed(shape.slots())? })
    }

    /// Counts a hash at its slots; returns false if a slot cannot count it.
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

    /// Takes hashes away one by one, and returns them in that order unless some are left.
    fn peel(mut self, shape: Shape, hashes: Vec<u64>) -> Result<Option<Peeled>> {
        let keys = hashes.len();
        if !hashes.iter().fold(true, |counts, &hash| self.count(shape, hash) & counts) {
            return Ok(None);
        }
        // From here on the slots know the hashes, so their memory is free for the order.
        let (mut order, mut own) = (hashes, reserved(keys as u64)?);
        order.clear();
        let Self { joined, uses } = &mut self;
        let mut alone = Vec::new();
        for start in 0..uses.len() {
            // What follows from one slot is done before the next one is looked at: it lies near, in
            // the cache.
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
    /// Sets the slots, the last hash that was taken away first.
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

/// The two slots of a hash beside the given one.
#[inline(always)]
fn others(which: u8) -> [usize; ARITY - 1] {
    match which {
        0 => [1, 2],
        1 => [0, 2],
        _ => [0, 1],
    }
}

/// Returns the hashes in parts by their top bits, and where each part ends. Hashes of a part have
/// their slots near each other, which keeps building in the cache.
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

/// Returns the different ones among the hashes in ascending order. Parts that fit in the cache are
/// sorted in half of the time.
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

    /// Hashes of one slot each cannot be placed as they are: the seed spreads them.
    #[test]
    fn hashes_that_lie_together_are_spread() {
        let crowded: Vec<u64> = (0..1_000).map(|i| i << 40).collect();
        let built = build(&crowded).unwrap();
        assert_ne!(built.seed, 0);
        assert!(crowded.iter().all(|&hash| answers(&built, hash)));
    }

    /// Sets that are made for the first attempts to fail: of each seed that small tables may try,
    /// found by trying, two hashes with the same slots. Seeds depend on the set, so the set that
    /// results has others.
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
