//! How many pairs does a very large cluster have that were not listed?
//!
//! In a crowded component (one with a bucket of more than [`LARGEST_BUCKET`](crate::LARGEST_BUCKET)
//! contents) most pairs are not compared. So `k` of its `n` members are drawn, all pairs of those
//! are compared, and the share `p` of near-duplicates among them stands for all `n(n − 1)/2` pairs: also for those
//! that share no band key. What was listed is taken off.
//!
//! **Bounds.** The share is a U-statistic of order 2, and deviates no more than the mean of `k/2` independent
//! pairs would (Hoeffding: *Probability inequalities for sums of bounded random variables*, 1963, section 5). So
//! the bounds are Wilson's for `k/2` trials, cut to what is possible.

use std::collections::BinaryHeap;

use crivo::hash::remix;
use crivo::math::two_sided_quantile;
use crivo::{Confidence, Estimate};

use crate::blocks::Blocks;
use crate::candidates::{PairKey, pair_key};
use crate::contents::Twins;
use crate::error::Result;

/// The most members that are drawn of a component: half a million pairs.
const MOST_DRAWN: u64 = 1024;

/// Keeps this choice apart from those that hashes of members decide elsewhere.
const DRAW: u32 = 0x6372_6F77;

/// A component of which not all pairs are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Crowd {
    /// The smallest member of the component, which names it.
    pub(crate) root: u32,
    /// The number of members, those with the same content included.
    pub(crate) members: u64,
    /// The number of pairs that were drawn.
    pub(crate) drawn: u64,
    /// How many of them are near-duplicates.
    pub(crate) alike: u64,
}

/// The crowds of a collection, in the order of their roots. `sample` is given each pair of
/// contents to compare.
pub(crate) fn draw(
    crowded: &[u32],
    blocks: &Blocks,
    twins: &Twins,
    mut sample: impl FnMut(PairKey) -> Result<()>,
) -> Result<Vec<Crowd>> {
    if crowded.is_empty() {
        return Ok(Vec::new());
    }
    let crowd_of = |member: u32| crowded.binary_search(&blocks.roots()[twins.first(member) as usize]).ok();
    let mut members = vec![0_u64; crowded.len()];
    (0..twins.members()).filter_map(crowd_of).for_each(|crowd| members[crowd] += 1);
    let most = |crowd: usize| (members[crowd] * 8).isqrt().clamp(2, MOST_DRAWN) as usize;
    // Those with the smallest hashes are drawn: the same on any number of threads.
    let mut drawn: Vec<BinaryHeap<(u64, u32)>> = vec![BinaryHeap::new(); crowded.len()];
    for member in 0..twins.members() {
        let Some(crowd) = crowd_of(member) else { continue };
        drawn[crowd].push((remix(u64::from(member), DRAW), member));
        if drawn[crowd].len() > most(crowd) {
            drawn[crowd].pop();
        }
    }
    let mut crowds = Vec::with_capacity(crowded.len());
    for ((drawn, &root), members) in drawn.into_iter().zip(crowded).zip(members) {
        let contents: Vec<u32> = drawn.into_iter().map(|(_, member)| twins.first(member)).collect();
        let mut crowd = Crowd { root, members, drawn: 0, alike: 0 };
        for (at, &one) in contents.iter().enumerate() {
            for &other in &contents[at + 1..] {
                crowd.drawn += 1;
                if one == other {
                    crowd.alike += 1;
                } else {
                    sample(pair_key(one, other))?;
                }
            }
        }
        crowds.push(crowd);
    }
    Ok(crowds)
}

impl Crowd {
    /// The number of pairs of near-duplicates beside those that were listed.
    pub(crate) fn not_listed(&self, listed: u64, confidence: Confidence) -> Estimate {
        let all = self.members as f64 * (self.members.saturating_sub(1)) as f64 / 2.0;
        let most = (all - listed as f64).max(0.0);
        let share = self.alike as f64 / self.drawn.max(1) as f64;
        // Of d pairs k = (1 + √(1 + 8d))/2 members were drawn.
        let trials = ((1.0 + (1.0 + 8.0 * self.drawn as f64).sqrt()) / 4.0).max(1.0);
        let z = two_sided_quantile(confidence.level());
        let centre = (share + z * z / (2.0 * trials)) / (1.0 + z * z / trials);
        let width = z / (1.0 + z * z / trials)
            * (share * (1.0 - share) / trials + z * z / (4.0 * trials * trials)).sqrt();
        let left = |share: f64| (share.clamp(0.0, 1.0) * all - listed as f64).clamp(0.0, most);
        // Everything drawn was compared: then it is no estimate.
        if self.drawn as f64 == all {
            return Estimate::exact((self.alike as f64 - listed as f64).max(0.0));
        }
        let value = left(share);
        Estimate::probable(
            value.round(),
            left(centre - width).floor().min(value),
            left(centre + width).ceil().max(value),
            confidence,
        )
    }
}
