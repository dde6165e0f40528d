//! Packs components of candidate pairs into blocks whose sets fit in memory.
//!
//! Every candidate pair lies within one component, so a block of whole components has all sets that
//! its pairs need. Each set is written once, into the spill of its block. A component larger than a
//! block gets several blocks, cut by the numbers of its members. A pair of such a component may
//! need two blocks at once.

use crate::contents::Twins;
use crate::error::Result;
use crate::work::{StageReader, StageWriter};

/// Marks a component that has several blocks. The other bits are its position in the list of
/// giants.
const GIANT: u32 = 1 << 31;

/// The block of members that are in no candidate pair.
const NONE: u32 = u32::MAX;

/// The block of each member that is in a candidate pair.
#[derive(Debug)]
pub(crate) struct Blocks {
    roots: Vec<u32>,
    /// For each root its block, or its position in `giants` marked with [`GIANT`].
    of_roots: Vec<u32>,
    giants: Vec<Giant>,
    count: u32,
}

/// A component larger than a block.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Giant {
    /// The number of its first block.
    first: u32,
    /// The smallest member of each block, ascending.
    starts: Vec<u32>,
    /// The number of words in its last block, while blocks are filled.
    filled: u64,
}

/// The limits for the size of blocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockSize {
    /// The bytes of sets that one thread can hold.
    pub(crate) most: u64,
    /// The least number of blocks wanted. Blocks are made smaller to reach it, down to 64 Ki words.
    pub(crate) wanted: u64,
}

/// Returns the number of words that a set takes in a block: its hashes, its head, and its entry in
/// the index.
fn words_of(size: u32) -> u64 {
    u64::from(size) + 4
}

impl Blocks {
    /// Packs components into blocks. `roots` has the component of each member, `sizes` the sizes of
    /// the sets.
    pub(crate) fn pack(roots: Vec<u32>, twins: &Twins, sizes: &[u32], size: BlockSize) -> Self {
        // First the words of each component, capped; then its block.
        let mut of_roots = vec![0_u32; roots.len()];
        let mut total = 0;
        for (&root, member) in roots.iter().zip(0..) {
            if root != member && twins.first(member) == member {
                let mut words = words_of(sizes[member as usize]);
                if of_roots[root as usize] == 0 {
                    words += words_of(sizes[root as usize]);
                }
                total += words;
                let sum = u64::from(of_roots[root as usize]) + words;
                of_roots[root as usize] = u32::try_from(sum).unwrap_or(u32::MAX);
            }
        }
        let most = (size.most / 8).clamp(1, u64::from(u32::MAX - 1));
        let capacity = (total / size.wanted.max(1)).clamp(most.min(64 << 10), most);
        let mut blocks = Self { roots: Vec::new(), of_roots, giants: Vec::new(), count: 0 };
        blocks.assign(&roots, capacity);
        blocks.roots = roots;
        blocks.cut_giants(twins, sizes, capacity);
        blocks
    }

    /// Gives each component a block, in the order of the roots, or marks it as a giant.
    fn assign(&mut self, roots: &[u32], capacity: u64) {
        let mut filled = u64::MAX;
        for (root, of_root) in self.of_roots.iter_mut().enumerate() {
            let words = u64::from(*of_root);
            if roots[root] as usize != root || words == 0 {
                *of_root = NONE;
            } else if words > capacity {
                *of_root = GIANT | self.giants.len() as u32;
                self.giants.push(Giant { first: 0, starts: Vec::new(), filled: u64::MAX });
            } else {
                if filled.saturating_add(words) > capacity {
                    filled = 0;
                    self.count += 1;
                }
                filled += words;
                *of_root = self.count - 1;
            }
        }
    }

    fn cut_giants(&mut self, twins: &Twins, sizes: &[u32], capacity: u64) {
        if self.giants.is_empty() {
            return;
        }
        for (&root, member) in self.roots.iter().zip(0..) {
            let of_root = self.of_roots[root as usize];
            if of_root == NONE || of_root & GIANT == 0 || twins.first(member) != member {
                continue;
            }
            let giant = &mut self.giants[(of_root & !GIANT) as usize];
            let words = words_of(sizes[member as usize]);
            if giant.filled.saturating_add(words) > capacity {
                giant.starts.push(member);
                giant.filled = 0;
            }
            giant.filled += words;
        }
        for giant in &mut self.giants {
            giant.first = self.count;
            self.count += giant.starts.len() as u32;
        }
    }

    /// Writes the blocks to the description of a stage.
    pub(crate) fn save(&self, to: &mut StageWriter) -> Result<()> {
        to.numbers(&self.roots)?;
        to.numbers(&self.of_roots)?;
        to.number(self.count.into())?;
        to.number(self.giants.len() as u64)?;
        for giant in &self.giants {
            to.number(giant.first.into())?;
            to.numbers(&giant.starts)?;
        }
        Ok(())
    }

    /// Reads the blocks of `members` members that [`save`](Self::save) wrote.
    pub(crate) fn load(from: &mut StageReader, members: u32) -> Result<Self> {
        let (roots, of_roots, count) = (from.numbers()?, from.numbers()?, from.number32()?);
        let giants =
            from.list(16, |from| Ok(Giant { first: from.number32()?, starts: from.numbers()?, filled: 0 }))?;
        let blocks = Self { roots, of_roots, giants, count };
        if blocks.are_of(members) { Ok(blocks) } else { Err(from.damaged()) }
    }

    /// Returns true if every member has a component, and every block named by a component exists.
    fn are_of(&self, members: u32) -> bool {
        let Self { roots, of_roots, giants, count } = self;
        let giant_fits = |giant: &Giant| {
            let end =
                u32::try_from(giant.starts.len()).ok().and_then(|blocks| giant.first.checked_add(blocks));
            end.is_some_and(|end| end <= *count) && giant.starts.is_sorted()
        };
        let has_block = |member: u32, root: u32| match of_roots.get(root as usize) {
            Some(&NONE) => true,
            Some(&giant) if giant & GIANT != 0 => {
                let giant = giants.get((giant & !GIANT) as usize);
                giant.is_some_and(|giant| giant.starts.first().is_some_and(|&first| first <= member))
            }
            Some(block) => block < count,
            None => false,
        };
        // A block has at least one member.
        *count <= members
            && roots.len() == members as usize
            && of_roots.len() == members as usize
            && giants.iter().all(giant_fits)
            && roots.iter().zip(0..).all(|(&root, member)| has_block(member, root))
    }

    /// Returns the number of blocks.
    pub(crate) fn count(&self) -> usize {
        self.count as usize
    }

    /// Returns the root of the component of each member.
    pub(crate) fn roots(&self) -> &[u32] {
        &self.roots
    }

    /// Returns the block of a member, or `None` if it is in no candidate pair.
    pub(crate) fn of(&self, member: u32) -> Option<u32> {
        // A damaged spill may name a member that does not exist.
        match self.of_roots[*self.roots.get(member as usize)? as usize] {
            NONE => None,
            giant if giant & GIANT != 0 => {
                let giant = &self.giants[(giant & !GIANT) as usize];
                Some(giant.first + giant.starts.partition_point(|&start| start <= member) as u32 - 1)
            }
            block => Some(block),
        }
    }

    /// Returns the blocks of the same component after this one.
    pub(crate) fn after(&self, block: u32) -> std::ops::Range<u32> {
        let giant = self
            .giants
            .iter()
            .find(|giant| (giant.first..giant.first + giant.starts.len() as u32).contains(&block));
        giant.map_or(0..0, |giant| block + 1..giant.first + giant.starts.len() as u32)
    }

    /// Returns true if a component has several blocks.
    pub(crate) fn has_giants(&self) -> bool {
        !self.giants.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_stay_together_and_giants_are_cut() {
        // Components 0-1-2, 3-4, 6-7; 5 alone; the first is larger than a block.
        let roots = vec![0, 0, 0, 3, 3, 5, 6, 6];
        let twins = Twins::new((0..8).collect());
        let sizes = vec![30_000; 8];
        let blocks = Blocks::pack(roots, &twins, &sizes, BlockSize { most: 8 * 70_000, wanted: 1 });
        let of: Vec<_> = (0..8).map(|member| blocks.of(member)).collect();
        let expected = [Some(2), Some(2), Some(3), Some(0), Some(0), None, Some(1), Some(1)];
        assert_eq!(of, expected);
        assert_eq!((blocks.count(), blocks.after(2), blocks.after(0)), (4, 3..4, 0..0));
    }
}
