//! Compares the sets of candidates, block by block.

use crivo::similarity::jaccard::{at_least, overlap_sorted};

use crate::blocks::Blocks;
use crate::candidates::{PairKey, members_of};
use crate::containment::shorter_of;
use crate::crowd::Crowd;
use crate::error::Result;
use crate::segments::{BlockSets, Segments};
use crate::signature::signature_similarity;
use crate::spill::Partitions;

/// The number of bytes of pairs that are read at once.
const PAIRS_AT_ONCE: u64 = 256 << 10;

/// A pair at or above the threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Found {
    pub(crate) pair: PairKey,
    pub(crate) similarity: f64,
}

/// The data of members that is compared, and the measure.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Compared<'a> {
    /// Sets of hashes, by their exact Jaccard similarity.
    Sets,
    /// Sets of hashes, by the exact containment of the shorter one; with the lengths of all
    /// members.
    ShorterSet(&'a [u32]),
    /// Packed signatures with this number of slots.
    Signatures(u32),
}

impl Compared<'_> {
    /// Returns the similarity of a pair, whose members have these words, if it is at least the
    /// threshold.
    fn similarity(self, pair: PairKey, words: [&[u64]; 2], threshold: f64) -> Option<f64> {
        let [one, other] = words;
        match self {
            Self::Sets => at_least(one, other, threshold),
            Self::ShorterSet(lengths) => {
                let (first, second) = members_of(pair);
                let (shorter, longer) =
                    if shorter_of(first, second, lengths) == first { (one, other) } else { (other, one) };
                overlap_sorted(shorter, longer).containment().filter(|&containment| containment >= threshold)
            }
            Self::Signatures(slots) => signature_similarity(one, other, slots, threshold),
        }
    }
}

/// The data for comparing candidates.
pub(crate) struct Comparison<'a> {
    pub(crate) blocks: &'a Blocks,
    pub(crate) sets: &'a Segments,
    /// The candidates, partitioned by the block of their first member.
    pub(crate) pairs: &'a Partitions<PairKey>,
    /// The pairs drawn from crowded components, partitioned in the same way.
    pub(crate) samples: &'a Partitions<PairKey>,
    pub(crate) crowds: &'a [Crowd],
    pub(crate) threshold: f64,
    pub(crate) compared: Compared<'a>,
}

/// The counts of comparing a block.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct BlockTally {
    /// The number of candidates that were compared.
    pub(crate) compared: u64,
    /// For each crowd, its number and the number of drawn pairs that are near-duplicates.
    pub(crate) alike: Vec<(u32, u64)>,
}

impl Comparison<'_> {
    /// Compares the pairs of a block, and the pairs of its members with later blocks of the same
    /// component. Passes those at or above the threshold to `found`.
    ///
    /// # Errors
    /// The errors of `found`, and an error if a spill cannot be read.
    pub(crate) fn compare_block(
        &self,
        block: u32,
        mut found: impl FnMut(Found) -> Result<()>,
    ) -> Result<BlockTally> {
        let mut tally = BlockTally::default();
        let partition = block as usize;
        if self.pairs.len(partition) + self.samples.len(partition) == 0 {
            return Ok(tally);
        }
        let own = BlockSets::load(self.sets, partition)?;
        let after = self.blocks.after(block);
        // The number of pairs with a member in each later block. Only blocks with such pairs are
        // loaded.
        let mut leading = vec![0_u64; after.len()];
        self.compare_with(&own, &own, block, block, &mut leading, &mut tally, &mut found)?;
        for (later, at) in after.zip(0..) {
            if leading[at] > 0 {
                let others = BlockSets::load(self.sets, later as usize)?;
                self.compare_with(&own, &others, block, later, &mut [], &mut tally, &mut found)?;
            }
        }
        tally.alike.sort_unstable();
        Ok(tally)
    }

    /// Compares the pairs of two blocks, which may be the same block.
    #[allow(clippy::too_many_arguments)] // two blocks with their sets, and where three kinds of results go
    fn compare_with(
        &self,
        own: &BlockSets<'_>,
        others: &BlockSets<'_>,
        block: u32,
        later: u32,
        leading: &mut [u64],
        tally: &mut BlockTally,
        found: &mut impl FnMut(Found) -> Result<()>,
    ) -> Result<()> {
        let mut is_here = |pair: PairKey| {
            if !self.blocks.has_giants() {
                return true;
            }
            let of_other = self.blocks.of(members_of(pair).1).unwrap_or(block);
            if let Some(count) = of_other.checked_sub(block + 1).and_then(|at| leading.get_mut(at as usize)) {
                *count += 1;
            }
            of_other == later
        };
        let partition = block as usize;
        let mut last = None;
        self.pairs.for_each_piece(partition, PAIRS_AT_ONCE, |pairs| {
            for &pair in pairs.iter().filter(|pair| is_here(**pair)) {
                tally.compared += 1;
                if let Some(similarity) = self.similarity(pair, own, others, &mut last)? {
                    found(Found { pair, similarity })?;
                }
            }
            Ok(())
        })?;
        self.samples.for_each_piece(partition, PAIRS_AT_ONCE, |pairs| {
            for &pair in pairs.iter().filter(|pair| is_here(**pair)) {
                if self.similarity(pair, own, others, &mut last)?.is_some() {
                    self.count_alike(pair, tally);
                }
            }
            Ok(())
        })
    }

    /// Compares a pair. `last` has the first member of the previous pair and its set, because most
    /// pairs have the same first member as the one before.
    fn similarity<'s>(
        &self,
        pair: PairKey,
        own: &'s BlockSets<'_>,
        others: &BlockSets<'_>,
        last: &mut Option<(u32, &'s [u64])>,
    ) -> Result<Option<f64>> {
        let (one, other) = members_of(pair);
        let set = match *last {
            Some((member, set)) if member == one => set,
            _ => own.of(one)?,
        };
        *last = Some((one, set));
        Ok(self.compared.similarity(pair, [set, others.of(other)?], self.threshold))
    }

    fn count_alike(&self, pair: PairKey, tally: &mut BlockTally) {
        let Some(root) = self.blocks.roots().get(members_of(pair).0 as usize) else { return };
        let Ok(crowd) = self.crowds.binary_search_by_key(root, |crowd| crowd.root) else { return };
        let crowd = crowd as u32;
        match tally.alike.iter_mut().find(|(number, _)| *number == crowd) {
            Some((_, alike)) => *alike += 1,
            None => tally.alike.push((crowd, 1)),
        }
    }
}
