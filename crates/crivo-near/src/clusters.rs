//! Turns pairs into clusters, and decides which member of each is kept.

use crate::candidates::{LARGEST_BUCKET, members_of, pair_key, pair_partition};
use crate::components::Components;
use crate::error::{Error, Result};
use crate::outcome::{Outcome, for_each_sorted};
use crate::settings::Measure;
use crate::spill::{PARTITIONS, Partitions};

/// Which member of a cluster is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// The first member in the order of the collection.
    #[default]
    First,
    /// The longest member, and the first of equally long ones. With [`Linking::Kept`] and the
    /// Jaccard measure, a member with more than [`LARGEST_BUCKET`] near-duplicates is preferred to
    /// longer ones. The reason is that the other members of a very large bucket were compared with
    /// its first member only. If that member were removed, no kept member would be known to be
    /// similar to them.
    Longest,
}

impl Keep {
    /// Returns the choice for a measure if the caller makes none.
    pub fn default_for(measure: Measure) -> Self {
        match measure {
            Measure::Jaccard => Self::First,
            Measure::Containment => Self::Longest,
        }
    }
}

impl Measure {
    /// Checks that clusters can be made this way. A document that is contained in another is the
    /// shorter one, and is removed only if a kept document contains it.
    ///
    /// # Errors
    /// If the measure is containment, and either the first member of a cluster would be kept or
    /// chains would hold clusters together.
    pub fn require(self, linking: Linking, keep: Keep) -> Result<()> {
        match (self, linking, keep) {
            (Self::Containment, _, Keep::First) => {
                Err(Error::setting("keep", "the longest, where containment is the measure", "the first"))
            }
            (Self::Containment, Linking::Chains, _) => {
                Err(Error::setting("linking", "kept, where containment is the measure", "chains"))
            }
            _ => Ok(()),
        }
    }
}

/// What connects the members of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Linking {
    /// Every member is a near-duplicate of the kept one. Members are taken in the order of
    /// preference, and each joins the first kept member that it was found similar to.
    #[default]
    Kept,
    /// A cluster is everything that a chain of near-duplicates connects. The ends of a long chain
    /// may have little in common.
    Chains,
}

/// The clusters of a collection.
#[derive(Debug, Clone)]
pub struct Clusters {
    /// For each member, the member that is kept in its place: often itself.
    kept: Vec<u32>,
    linking: Linking,
}

impl Clusters {
    /// Returns the clusters of the pairs that were found.
    ///
    /// # Errors
    /// If the [measure](Measure::require) does not allow these settings, or the temporary file with
    /// the pairs cannot be read.
    pub fn of(outcome: &Outcome, linking: Linking, keep: Keep) -> Result<Self> {
        Self::of_unknown(outcome, linking, keep, &|_| false)
    }

    /// Returns the clusters if `known` members are removed for another reason. So no known member is
    /// kept in the place of another, and none connects others to a chain. Members with the same
    /// content must be either all known or all unknown.
    ///
    /// # Errors
    /// The errors of [`of`](Self::of).
    pub fn of_unknown(
        outcome: &Outcome,
        linking: Linking,
        keep: Keep,
        known: &dyn Fn(u32) -> bool,
    ) -> Result<Self> {
        outcome.measure().require(linking, keep)?;
        let mut kept = match linking {
            Linking::Chains => chains(outcome, keep, known)?,
            Linking::Kept => around_kept(outcome, keep, known)?,
        };
        // Members with the same content share the fate of the first of them, which is as long as
        // they are.
        for (&first, member) in outcome.twins.firsts().iter().zip(0..) {
            if first != member && !known(member) {
                kept[member as usize] = kept[first as usize];
            }
        }
        Ok(Self { kept, linking })
    }

    /// Returns, for each member, the member that is kept in its place: itself, if it is kept.
    pub fn kept(&self) -> &[u32] {
        &self.kept
    }

    /// Returns true if a member is kept.
    pub fn keeps(&self, member: u32) -> bool {
        self.kept.get(member as usize) == Some(&member)
    }

    /// Returns the number of members that are kept.
    pub fn kept_count(&self) -> usize {
        self.kept.iter().zip(0..).filter(|&(&kept, member)| kept == member).count()
    }

    /// Returns the clusters of two members and more, each as its kept member and its size. The
    /// largest come first; clusters of equal size are in the order of the collection.
    pub fn sizes(&self) -> Vec<(u32, u32)> {
        let mut sizes = vec![0_u32; self.kept.len()];
        self.kept.iter().for_each(|&kept| sizes[kept as usize] += 1);
        let mut clusters: Vec<_> = (0..).zip(sizes).filter(|&(_, size)| size > 1).collect();
        clusters.sort_unstable_by_key(|&(kept, size)| (std::cmp::Reverse(size), kept));
        clusters
    }

    /// Passes each member that is not kept to `take`, in ascending order, with the member kept in
    /// its place and their similarity. The similarity is exact unless signatures were trusted. With
    /// [chains](Linking::Chains) the two may not have been compared; then the member is left out.
    ///
    /// # Errors
    /// The errors of `take`, and an error if a temporary file cannot be read.
    pub fn for_each_removed(
        &self,
        outcome: &Outcome,
        mut take: impl FnMut(u32, u32, f64) -> Result<()>,
    ) -> Result<()> {
        let members = outcome.documents();
        let mut removed = outcome.sorter();
        let mut put = |member: u32, kept: u32, similarity: f64| {
            let key = u64::from(member) << 32 | u64::from(kept);
            removed.push(pair_partition(key, members), (key, similarity.to_bits()))
        };
        for (first, others) in outcome.twins.groups().filter(|(first, _)| self.keeps(*first)) {
            let gone = others.iter().filter(|&&other| !self.keeps(other));
            gone.into_iter().try_for_each(|&other| put(other, first, 1.0))?;
        }
        outcome.for_each_content_pair(|one, other, similarity| {
            for (member, kept) in [(one, other), (other, one)] {
                if self.kept[member as usize] == kept {
                    let twins = outcome.twins.others(member);
                    [member].iter().chain(twins).try_for_each(|&member| put(member, kept, similarity))?;
                }
            }
            Ok(())
        })?;
        let removed = Partitions::new(PARTITIONS, vec![removed]);
        for_each_sorted(&removed, outcome.memory / 8, |key, similarity| {
            let (member, kept) = members_of(key);
            take(member, kept, similarity)
        })
    }

    /// Returns what connects the members of the clusters.
    pub fn linking(&self) -> Linking {
        self.linking
    }
}

/// Returns the sort key of a member: the smallest key is preferred.
fn preference(outcome: &Outcome, keep: Keep, member: u32) -> (u32, u32) {
    match keep {
        Keep::First => (0, member),
        Keep::Longest => (u32::MAX - outcome.length(member), member),
    }
}

fn chains(outcome: &Outcome, keep: Keep, known: &dyn Fn(u32) -> bool) -> Result<Vec<u32>> {
    let components = Components::new(outcome.documents());
    outcome.for_each_content_pair(|one, other, _| {
        if !known(one) && !known(other) {
            components.join(one, other);
        }
        Ok(())
    })?;
    let roots = components.into_roots();
    let mut best: Vec<u32> = (0..outcome.documents()).collect();
    for (&root, member) in roots.iter().zip(0..) {
        let best = &mut best[root as usize];
        if preference(outcome, keep, member) < preference(outcome, keep, *best) {
            *best = member;
        }
    }
    Ok(roots.into_iter().map(|root| best[root as usize]).collect())
}

/// Returns, for each member, whether it has more near-duplicates than [`LARGEST_BUCKET`].
fn centres(outcome: &Outcome) -> Result<Vec<bool>> {
    let mut found = vec![0_u16; outcome.documents() as usize];
    outcome.for_each_content_pair(|one, other, _| {
        for member in [one, other] {
            let found = &mut found[member as usize];
            *found = found.saturating_add(1);
        }
        Ok(())
    })?;
    Ok(found.into_iter().map(|found| usize::from(found) > LARGEST_BUCKET).collect())
}

fn around_kept(outcome: &Outcome, keep: Keep, known: &dyn Fn(u32) -> bool) -> Result<Vec<u32>> {
    let members = outcome.documents();
    let mut kept: Vec<u32> = (0..members).collect();
    let mut join = |preferred: u32, other: u32| {
        // Earlier pairs have already decided whether the preferred member is kept.
        let both_stay = kept[preferred as usize] == preferred && kept[other as usize] == other;
        if both_stay && !known(preferred) && !known(other) {
            kept[other as usize] = preferred;
        }
    };
    match keep {
        // Pairs come in the order of their first member already.
        Keep::First => outcome.for_each_content_pair(|one, other, _| {
            join(one, other);
            Ok(())
        })?,
        Keep::Longest => {
            // A contained document is the shorter of the two, so no document may be preferred to a
            // longer one.
            let is_centre = match outcome.measure() {
                Measure::Jaccard => centres(outcome)?,
                Measure::Containment => vec![false; members as usize],
            };
            let mut order: Vec<u32> = (0..members).collect();
            order.sort_unstable_by_key(|&member| {
                (!is_centre[member as usize], preference(outcome, keep, member))
            });
            drop(is_centre);
            let mut ranks = vec![0_u32; order.len()];
            order.iter().zip(0..).for_each(|(&member, rank)| ranks[member as usize] = rank);
            let mut ranked = outcome.sorter();
            outcome.for_each_content_pair(|one, other, _| {
                let pair = pair_key(ranks[one as usize], ranks[other as usize]);
                ranked.push(pair_partition(pair, members), (pair, 0))
            })?;
            drop(ranks);
            let ranked = Partitions::new(PARTITIONS, vec![ranked]);
            for_each_sorted(&ranked, outcome.memory / 8, |pair, _| {
                let (preferred, other) = members_of(pair);
                join(order[preferred as usize], order[other as usize]);
                Ok(())
            })?;
        }
    }
    Ok(kept)
}
