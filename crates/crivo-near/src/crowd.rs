//! Estimates the number of near-duplicate pairs that were not listed in a very large cluster.
//!
//! In a crowded component (one with a bucket of more than [`LARGEST_BUCKET`](crate::LARGEST_BUCKET)
//! contents) most pairs are not compared. So `k` of its `n` members are drawn and put into a random
//! ring, and each is compared with the [`NEIGHBOURS`] next in the ring. The share `p` of
//! near-duplicates among these `m` pairs estimates the share among all `n(n − 1)/2` pairs, also
//! those that share no band key. The number of listed pairs is subtracted.
//!
//! **Bounds.** The share is a U-statistic of order 2 over a part of the pairs, in which each drawn
//! member is equally often (Blom: *Some properties of incomplete U-statistics*, 1976). With `ζ₁`
//! the variance of a member's own share and `ζ₂ = p(1 − p)` its variance is `4ζ₁·(1 − k/n)/k + (ζ₂
//! − 2ζ₁)/m`, and `ζ₁ ≤ ζ₂/2` (Hoeffding: *A class of statistics with asymptotically normal
//! distribution*, 1948). The variance is linear in `ζ₁`, so it is at most that of `min(m, k/(2(1 −
//! k/n)))` independent pairs. The bounds are Wilson's for that number of trials, clamped to what is
//! possible.

use crivo::hash::split_mix::finish as mix;
use crivo::math::two_sided_quantile;
use crivo::{Confidence, Estimate};

use crate::blocks::Blocks;
use crate::candidates::{PairKey, pair_key};
use crate::contents::Twins;
use crate::error::Result;

/// The approximate maximum of members drawn from a component.
const MOST_DRAWN: u64 = 16 << 10;

/// The number of members that each drawn member is compared with in one direction of the ring.
const NEIGHBOURS: usize = 4;

/// Makes this random choice independent of other choices by hashes of members.
const DRAW: u64 = 0x6372_6F77_6400_0000;

/// A component whose pairs are not all compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Crowd {
    /// The smallest member of the component, which names the component.
    pub(crate) root: u32,
    /// The number of members, including all with the same content.
    pub(crate) members: u64,
    /// The number of drawn members.
    pub(crate) chosen: u64,
    /// The number of compared pairs of drawn members.
    pub(crate) drawn: u64,
    /// The number of compared pairs that are near-duplicates.
    pub(crate) alike: u64,
}

/// Returns the crowds of a collection, in the order of their roots. Passes each pair of contents to
/// compare to `sample`.
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
    // A hash decides which members are drawn, and their order in the ring. So the result is the
    // same with any number of threads.
    let mut chosen: Vec<Vec<(u32, u32)>> = vec![Vec::new(); crowded.len()];
    for member in 0..twins.members() {
        let Some(crowd) = crowd_of(member) else { continue };
        let hash = mix(DRAW ^ u64::from(member));
        if (hash >> 32) * members[crowd] < MOST_DRAWN << 32 {
            chosen[crowd].push((hash as u32, member));
        }
    }
    let mut crowds = Vec::with_capacity(crowded.len());
    for ((mut ring, &root), members) in chosen.into_iter().zip(crowded).zip(members) {
        ring.sort_unstable();
        let mut crowd = Crowd { root, members, chosen: ring.len() as u64, drawn: 0, alike: 0 };
        let content = |at: usize| twins.first(ring[at % ring.len()].1);
        // A very small ring would have pairs twice, so it has fewer neighbours. A crowd has at
        // least 500 members.
        let neighbours = NEIGHBOURS.min(ring.len().saturating_sub(1) / 2);
        for at in 0..ring.len() {
            for ahead in 1..=neighbours {
                let (one, other) = (content(at), content(at + ahead));
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
    /// Estimates the number of pairs of near-duplicates that were not listed.
    pub(crate) fn not_listed(&self, listed: u64, confidence: Confidence) -> Estimate {
        let all = self.members as f64 * (self.members.saturating_sub(1)) as f64 / 2.0;
        let most = (all - listed as f64).max(0.0);
        let share = self.alike as f64 / self.drawn.max(1) as f64;
        let (chosen, pairs) = (self.chosen as f64, self.drawn as f64);
        let left_out = 1.0 - (chosen / self.members.max(1) as f64).min(1.0);
        let trials = if left_out > 0.0 { pairs.min(chosen / (2.0 * left_out)) } else { pairs }.max(1.0);
        let z = two_sided_quantile(confidence.level());
        let centre = (share + z * z / (2.0 * trials)) / (1.0 + z * z / trials);
        let width = z / (1.0 + z * z / trials)
            * (share * (1.0 - share) / trials + z * z / (4.0 * trials * trials)).sqrt();
        let left = |share: f64| (share.clamp(0.0, 1.0) * all - listed as f64).clamp(0.0, most);
        let value = left(share);
        Estimate::probable(
            value.round(),
            left(centre - width).floor().min(value),
            left(centre + width).ceil().max(value),
            confidence,
        )
    }
}
