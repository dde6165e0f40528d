//! From pairs to clusters, and who stays of each.

use crate::error::Result;
use crate::outcome::Outcome;

/// Which member of a cluster is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// The first in the order of the collection.
    #[default]
    First,
    /// The longest; of equally long ones the first.
    Longest,
}

/// What holds a cluster together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Linking {
    /// Everything that a chain of near-duplicates connects. The ends of a long chain may have little
    /// in common.
    #[default]
    Chains,
    /// Every member is a near-duplicate of the one that is kept: members are taken in the order of
    /// preference, and each joins the first kept one it was found alike with.
    Representative,
}

/// The clusters of a collection.
#[derive(Debug, Clone)]
pub struct Clusters {
    /// For each member, who is kept in its place: often itself.
    kept: Vec<u32>,
}

impl Clusters {
    /// Clusters of the pairs that were found.
    ///
    /// # Errors
    /// If the pairs, put aside in a temporary file, cannot be read again.
    pub fn of(outcome: &Outcome, linking: Linking, keep: Keep) -> Result<Self> {
        let kept = match linking {
            Linking::Chains => chains(outcome, keep)?,
            Linking::Representative => around_representatives(outcome, keep)?,
        };
        Ok(Self { kept })
    }

    /// For each member, who is kept in its place: itself, if it is kept.
    pub fn kept(&self) -> &[u32] {
        &self.kept
    }

    /// Whether a member stays.
    pub fn keeps(&self, member: u32) -> bool {
        self.kept.get(member as usize) == Some(&member)
    }

    /// How many members stay.
    pub fn kept_count(&self) -> usize {
        self.kept.iter().zip(0..).filter(|&(&kept, member)| kept == member).count()
    }

    /// The clusters of two and more, largest first, as the member that is kept and the size; of equal
    /// size in the order of the collection.
    pub fn sizes(&self) -> Vec<(u32, u32)> {
        let mut sizes = vec![0_u32; self.kept.len()];
        self.kept.iter().for_each(|&kept| sizes[kept as usize] += 1);
        let mut clusters: Vec<_> = (0..).zip(sizes).filter(|&(_, size)| size > 1).collect();
        clusters.sort_unstable_by_key(|&(kept, size)| (std::cmp::Reverse(size), kept));
        clusters
    }
}

/// Whoever comes first in this order is preferred.
fn preference(outcome: &Outcome, keep: Keep, member: u32) -> (u32, u32) {
    match keep {
        Keep::First => (0, member),
        Keep::Longest => (u32::MAX - outcome.length(member), member),
    }
}

fn chains(outcome: &Outcome, keep: Keep) -> Result<Vec<u32>> {
    let mut sets = DisjointSets::new(outcome.documents());
    outcome.for_each_pair(|one, other, _| {
        sets.join(one, other);
        Ok(())
    })?;
    let roots: Vec<u32> = (0..outcome.documents()).map(|member| sets.root(member)).collect();
    let mut best: Vec<u32> = (0..outcome.documents()).collect();
    for (&root, member) in roots.iter().zip(0..) {
        let best = &mut best[root as usize];
        if preference(outcome, keep, member) < preference(outcome, keep, *best) {
            *best = member;
        }
    }
    Ok(roots.into_iter().map(|root| best[root as usize]).collect())
}

fn around_representatives(outcome: &Outcome, keep: Keep) -> Result<Vec<u32>> {
    let mut kept: Vec<u32> = (0..outcome.documents()).collect();
    let mut join = |preferred: u32, other: u32| {
        // Whether the preferred one stays has been decided by the pairs before.
        if kept[preferred as usize] == preferred && kept[other as usize] == other {
            kept[other as usize] = preferred;
        }
    };
    match keep {
        // Pairs come by their first member already.
        Keep::First => outcome.for_each_pair(|one, other, _| {
            join(one, other);
            Ok(())
        })?,
        Keep::Longest => {
            let mut pairs = Vec::new();
            outcome.for_each_pair(|one, other, _| {
                let [one, other] = [one, other].map(|member| preference(outcome, keep, member));
                pairs.push((one.min(other), one.max(other)));
                Ok(())
            })?;
            pairs.sort_unstable();
            pairs.into_iter().for_each(|((_, preferred), (_, other))| join(preferred, other));
        }
    }
    Ok(kept)
}

/// Union by size, with paths halved as they are walked.
struct DisjointSets {
    parents: Vec<u32>,
    sizes: Vec<u32>,
}

impl DisjointSets {
    fn new(members: u32) -> Self {
        Self { parents: (0..members).collect(), sizes: vec![1; members as usize] }
    }

    fn root(&mut self, member: u32) -> u32 {
        let mut at = member as usize;
        while self.parents[at] as usize != at {
            self.parents[at] = self.parents[self.parents[at] as usize];
            at = self.parents[at] as usize;
        }
        at as u32
    }

    fn join(&mut self, one: u32, other: u32) {
        let (one, other) = (self.root(one) as usize, self.root(other) as usize);
        if one == other {
            return;
        }
        let (large, small) = if self.sizes[one] >= self.sizes[other] { (one, other) } else { (other, one) };
        self.parents[small] = large as u32;
        self.sizes[large] += self.sizes[small];
    }
}
