//! Sets that the first reading keeps in memory. If all of them fit, the collection is not read
//! again.
//!
//! The limit is an eighth of the memory, shared by all threads. If it is exceeded, every kept set
//! is dropped, and the candidates are gathered by a second reading. So memory is spent only if it
//! saves a reading.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crivo::similarity::room_for_hashes;

use crate::budget::Budget;
use crate::error::Result;
use crate::parallel::deal;
use crate::sorter::Sorter;

/// The divisor of the memory that gives the limit for kept sets.
const SHARE: u64 = 8;

/// The most words of a set that is kept. Beside a giant text there is no room for a second copy of
/// its set.
const LARGEST_SET: u64 = 128 << 10;

/// The most words of a block: several huge pages, because the page faults of small ones would take
/// a seventh of a run.
const LARGEST_BLOCK: u64 = 1 << 20;

/// The memory for the kept sets of all threads.
pub(crate) struct KeptRoom {
    /// The number of words left, or 0 after a set did not fit.
    left: AtomicU64,
    block: u64,
    largest_set: u64,
}

impl KeptRoom {
    /// Creates the room of a run. It is empty if no sets are to be kept.
    pub(crate) fn new(budget: Budget, keeps: bool) -> Self {
        let words = if keeps { budget.memory() / SHARE / 8 } else { 0 };
        let largest_set = (words / 16).min(LARGEST_SET);
        // Threads leave their last block half empty, so blocks are smaller if there are many
        // threads.
        let block = budget.each(words / 16).clamp(largest_set, LARGEST_BLOCK);
        Self { left: AtomicU64::new(words), block, largest_set }
    }

    /// Empties the room: no further set is kept.
    pub(crate) fn close(&self) {
        self.left.store(0, Ordering::Relaxed);
    }

    /// Takes the words of a block for a set of this length. Returns `None` if there is no room.
    fn claim(&self, words: u64) -> Option<u64> {
        let take = |left: u64| left.checked_sub(self.block).filter(|_| words <= self.largest_set);
        let claimed = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
        if !claimed {
            self.close();
        }
        claimed.then_some(self.block)
    }
}

/// The sets that one thread keeps.
#[derive(Default)]
pub(crate) struct KeptWriter {
    /// Each set has a word with the length of its other words in the high half, then the place of
    /// the member, then its hashes.
    blocks: Vec<Vec<u64>>,
    has_dropped: bool,
}

impl KeptWriter {
    /// Drops everything, because a set is too large to be kept.
    pub(crate) fn drop_all(&mut self, room: &KeptRoom) {
        room.close();
        self.blocks = Vec::new();
        self.has_dropped = true;
    }

    /// Keeps a set, or drops everything if there is no room for it.
    pub(crate) fn push(&mut self, room: &KeptRoom, place: u64, hashes: &[u64]) {
        if self.has_dropped {
            return;
        }
        let words = hashes.len() + 2;
        let fits = words as u64 <= room.largest_set
            && self.blocks.last().is_some_and(|block| block.capacity() - block.len() >= words);
        if !fits {
            let Some(block) = room.claim(words as u64).and_then(|words| room_for_hashes(words).ok()) else {
                self.drop_all(room);
                return;
            };
            self.blocks.push(block);
        }
        if let Some(block) = self.blocks.last_mut() {
            block.push((words as u64 - 1) << 32);
            block.push(place);
            block.extend_from_slice(hashes);
        }
    }
}

/// The sets of all members. Of members with the same content only one may be there.
pub(crate) struct KeptSets(Vec<Vec<u64>>);

impl KeptSets {
    /// Collects the sets that the threads kept. Returns `None` if a set is missing.
    pub(crate) fn new(room: &KeptRoom, writers: impl IntoIterator<Item = KeptWriter>) -> Option<Self> {
        let mut blocks = Vec::new();
        for writer in writers {
            if writer.has_dropped {
                return None;
            }
            blocks.extend(writer.blocks);
        }
        (room.left.load(Ordering::Relaxed) > 0).then_some(Self(blocks))
    }

    /// Returns the number of bytes in memory.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.iter().map(|block| block.capacity() as u64 * 8).sum()
    }

    /// Returns the wanted sets and drops the others. The hashes of a set are sorted in place, and
    /// repeated hashes are removed. `wanted` gets the place of a member, and a position that each
    /// thread keeps from call to call to speed up look-ups. It returns the number for the member's
    /// set, or `None` to drop it. The returned blocks have the layout that
    /// [`sets_of`](crate::segments::sets_of) reads.
    pub(crate) fn sorted(
        self,
        threads: usize,
        wanted: impl Fn(u64, &mut usize) -> Option<u32> + Sync,
    ) -> Result<Vec<Vec<u64>>> {
        let blocks: Vec<Mutex<Vec<u64>>> = self.0.into_iter().map(Mutex::new).collect();
        deal(
            threads,
            blocks.len(),
            || (Sorter::default(), 0),
            |(sorter, near), at| {
                let mut block = blocks[at].lock().unwrap_or_else(PoisonError::into_inner);
                let wanted = |place| wanted(place, near);
                sort_in_place(&mut block, sorter, wanted);
                Ok(())
            },
        )?;
        Ok(blocks
            .into_iter()
            .map(|block| block.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect())
    }
}

/// Sorts the wanted sets of a block, and moves them to its front.
fn sort_in_place(block: &mut Vec<u64>, sorter: &mut Sorter, mut wanted: impl FnMut(u64) -> Option<u32>) {
    let (mut from, mut to) = (0, 0);
    while let Some(&[head, place]) = block.get(from..).and_then(|rest| rest.first_chunk()) {
        let (start, end) = (from + 2, from + 1 + (head >> 32) as usize);
        if let Some(number) = wanted(place) {
            let length = sorter.sort_once(&mut block[start..end]);
            block.copy_within(start..start + length, to + 1);
            block[to] = u64::from(number) | (length as u64) << 32;
            to += 1 + length;
        }
        from = end;
    }
    block.truncate(to);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segments::sets_of;

    fn keep(room: &KeptRoom, sets: &[Vec<u64>]) -> [KeptWriter; 2] {
        let mut writers = [KeptWriter::default(), KeptWriter::default()];
        for (at, set) in sets.iter().enumerate() {
            writers[at % 2].push(room, at as u64, set);
        }
        writers
    }

    #[test]
    fn all_sets_come_back_or_none() {
        let sets: Vec<Vec<u64>> =
            (0..300).map(|at| (0..at % 90).map(|hash| (hash * at) % 40).collect()).collect();
        let room = KeptRoom::new(Budget::new(1 << 20, 2), true);
        let kept = KeptSets::new(&room, keep(&room, &sets)).unwrap();
        assert!(kept.bytes() <= 1 << 17);
        let blocks = kept.sorted(2, |place, _| (place % 3 > 0).then_some(place as u32 + 7)).unwrap();
        let mut found: Vec<(u32, Vec<u64>)> = Vec::new();
        for block in &blocks {
            found.extend(
                sets_of(block).map(|(number, start, len)| (number, block[start..start + len].to_vec())),
            );
        }
        found.sort_unstable();
        let mut expected: Vec<_> = (7..).zip(&sets).map(|(number, set)| (number, set.clone())).collect();
        expected.retain(|(number, _)| (number - 7) % 3 > 0);
        expected.iter_mut().for_each(|(_, set)| {
            set.sort_unstable();
            set.dedup();
        });
        assert_eq!(found, expected);

        let too_little = KeptRoom::new(Budget::new(512 << 10, 2), true);
        assert!(KeptSets::new(&too_little, keep(&too_little, &sets)).is_none());
        let nothing = KeptRoom::new(Budget::new(1 << 30, 2), false);
        assert!(KeptSets::new(&nothing, keep(&nothing, &sets)).is_none());
        let closed = KeptRoom::new(Budget::new(1 << 20, 2), true);
        let writers = keep(&closed, &sets);
        closed.close();
        assert!(KeptSets::new(&closed, writers).is_none());
    }
}
