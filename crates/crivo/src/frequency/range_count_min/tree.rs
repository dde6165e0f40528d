//! A binary tree of counters: how many items are in a range of leaves, exactly?
//!
//! The tree is complete and lies in one array without pointers. Node 1 is the root, node `i` has
//! the children `2i` and `2i + 1`, and the leaves are the second half. A node has the weight of the
//! leaves below it. So an addition changes one node on each level, and a range reads at most two.

use crate::cpu::zeroed;
use crate::error::Result;
use crate::frequency::rows::add_tables;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tree {
    /// The nodes, twice as many as leaves. The first is unused.
    nodes: Vec<u64>,
}

impl Tree {
    /// Creates a tree of `2^height` leaves, all 0.
    pub(super) fn new(height: u32) -> Result<Self> {
        Ok(Self { nodes: zeroed(2 << height)? })
    }

    /// Creates the tree over the given leaves. Their number must be a power of two.
    pub(super) fn from_leaves(leaves: impl ExactSizeIterator<Item = u64>) -> Self {
        let count = leaves.len();
        let mut nodes: Vec<u64> = std::iter::repeat_n(0, count).chain(leaves).collect();
        for node in (1..count).rev() {
            nodes[node] = nodes[2 * node].saturating_add(nodes[2 * node + 1]);
        }
        Self { nodes }
    }

    pub(super) fn leaves(&self) -> &[u64] {
        &self.nodes[self.nodes.len() / 2..]
    }

    /// Returns the weight of all leaves.
    pub(super) fn total(&self) -> u64 {
        self.nodes[1]
    }

    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.nodes)
    }

    #[inline]
    pub(super) fn add(&mut self, leaf: usize, weight: u64) {
        let mut node = self.nodes.len() / 2 + leaf;
        while node > 0 {
            self.nodes[node] = self.nodes[node].saturating_add(weight);
            node /= 2;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        add_tables(&mut self.nodes, &other.nodes);
    }

    /// Returns the weight of the leaves from `first` to before `end`.
    pub(super) fn range(&self, first: usize, end: usize) -> u64 {
        let leaves = self.nodes.len() / 2;
        let (mut low, mut high, mut sum) = (leaves + first, leaves + end, 0_u64);
        while low < high {
            if low % 2 == 1 {
                sum = sum.saturating_add(self.nodes[low]);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                sum = sum.saturating_add(self.nodes[high]);
            }
            low /= 2;
            high /= 2;
        }
        sum
    }

    /// Returns the leaf of the item of the given rank, counted from 1, and the item's rank in that
    /// leaf. For a rank above the total it returns the last leaf.
    pub(super) fn find(&self, mut rank: u64) -> (usize, u64) {
        let (leaves, mut node) = (self.nodes.len() / 2, 1);
        while node < leaves {
            node *= 2;
            if rank > self.nodes[node] {
                rank -= self.nodes[node];
                node += 1;
            }
        }
        (node - leaves, rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_ranks_are_those_of_the_leaves() {
        for height in 0..6 {
            let leaves: Vec<u64> = (0..1_u64 << height).map(|leaf| leaf * 7 % 5).collect();
            let mut tree = Tree::new(height).unwrap();
            leaves.iter().enumerate().for_each(|(leaf, &weight)| tree.add(leaf, weight));
            assert_eq!(tree, Tree::from_leaves(leaves.iter().copied()));
            assert_eq!(tree.leaves(), leaves);
            assert_eq!(tree.total(), leaves.iter().sum::<u64>());
            for first in 0..=leaves.len() {
                for end in first..=leaves.len() {
                    assert_eq!(tree.range(first, end), leaves[first..end].iter().sum::<u64>());
                }
            }
            let mut rank = 0;
            for (leaf, &weight) in leaves.iter().enumerate() {
                for within in 1..=weight {
                    rank += 1;
                    assert_eq!(tree.find(rank), (leaf, within));
                }
            }
        }
    }

    #[test]
    fn sums_stop_at_the_highest_number() {
        let mut tree = Tree::new(2).unwrap();
        (0..4).for_each(|leaf| tree.add(leaf, u64::MAX / 2));
        assert_eq!((tree.total(), tree.range(0, 3), tree.range(1, 2)), (u64::MAX, u64::MAX, u64::MAX / 2));
        assert_eq!(tree, Tree::from_leaves([u64::MAX / 2; 4].into_iter()));
    }
}
