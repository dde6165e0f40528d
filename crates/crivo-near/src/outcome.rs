//! The result of a search.

use std::sync::Arc;

use crivo::similarity::Bands;
use crivo::{Confidence, Estimate};

use crate::candidates::{LARGEST_BUCKET, PairKey, members_of, pair_key, pair_partition};
use crate::containment::{Probes, shorter_of};
use crate::contents::Twins;
use crate::crowd::Crowd;
use crate::error::Result;
use crate::missed::Missed;
use crate::places::Places;
use crate::settings::Measure;
use crate::spill::{Order, PARTITIONS, Partitions, Spill, Writer};

/// A pair of contents and the bits of its similarity.
pub(crate) type FoundPair = (PairKey, u64);

/// Every pair of near-duplicates of a collection, and data about its members. Members are numbered
/// from 0 in the order of the collection.
pub struct Outcome {
    pub(crate) places: Places,
    pub(crate) lengths: Vec<u32>,
    pub(crate) twins: Twins,
    /// The pairs of contents. Each content is named by the first member that has it.
    pub(crate) found: Partitions<FoundPair>,
    pub(crate) memory: u64,
    pub(crate) too_short: u64,
    pub(crate) bands: Bands,
    pub(crate) measure: Measure,
    pub(crate) largest_listed: usize,
    pub(crate) counts: OutcomeCounts,
}

/// The numbers of an outcome.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutcomeCounts {
    pub(crate) pairs: u64,
    pub(crate) compared: u64,
    pub(crate) spilled: u64,
    pub(crate) expected_missed: Estimate,
    pub(crate) not_listed: Estimate,
}

impl Outcome {
    /// Returns the number of members of the collection.
    pub fn documents(&self) -> u32 {
        self.places.len()
    }

    /// Returns the number of members too short for one shingle. They are near-duplicates only if
    /// their content is the same.
    pub fn too_short(&self) -> u64 {
        self.too_short
    }

    /// Returns the number of pairs of near-duplicates that [`for_each_pair`](Self::for_each_pair)
    /// lists.
    pub fn pairs(&self) -> u64 {
        self.counts.pairs
    }

    /// Returns the number of candidates that were compared.
    pub fn compared(&self) -> u64 {
        self.counts.compared
    }

    /// Returns the number of bytes that were written to temporary files.
    pub fn spilled(&self) -> u64 {
        self.counts.spilled
    }

    /// Estimates the number of pairs at or above the threshold that were missed because they never
    /// became candidates.
    pub fn expected_missed(&self) -> Estimate {
        self.counts.expected_missed
    }

    /// Estimates the number of pairs at or above the threshold that are not listed because very
    /// large clusters would have too many. Of such a cluster, only the pairs of a first member are
    /// listed.
    pub fn not_listed(&self) -> Estimate {
        self.counts.not_listed
    }

    /// Returns the bands of signatures. They are unused if the [measure](Self::measure) is
    /// containment.
    pub fn bands(&self) -> Bands {
        self.bands
    }

    /// Returns the measure of similarity.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// Returns the place of a member, as the source gave it.
    pub fn place(&self, member: u32) -> u64 {
        self.places.place(member)
    }

    /// Returns the length of a member, as the source gave it.
    pub fn length(&self, member: u32) -> u32 {
        self.lengths[member as usize]
    }

    /// Returns the number of the member at a place.
    pub fn member_at(&self, place: u64) -> Option<u32> {
        self.places.number(place)
    }

    /// Passes the pairs to `take` in ascending order: the first member, the second, their
    /// similarity.
    ///
    /// # Errors
    /// The errors of `take`, and an error if a temporary file cannot be read.
    pub fn for_each_pair(&self, mut take: impl FnMut(u32, u32, f64) -> Result<()>) -> Result<()> {
        if self.twins.groups().next().is_none() {
            return self.for_each_content_pair(take);
        }
        let members = self.documents();
        let mut listed = self.sorter();
        let mut put = |one, other, similarity: f64| {
            let pair = pair_key(one, other);
            listed.push(pair_partition(pair, members), (pair, similarity.to_bits()))
        };
        for (first, others) in self.twins.groups() {
            others.iter().try_for_each(|&other| put(first, other, 1.0))?;
            if others.len() < self.largest_listed {
                for (at, &one) in others.iter().enumerate() {
                    others[at + 1..].iter().try_for_each(|&other| put(one, other, 1.0))?;
                }
            }
        }
        self.for_each_content_pair(|one, other, similarity| {
            for &a in [one].iter().chain(self.shown(one)) {
                for &b in [other].iter().chain(self.shown(other)) {
                    put(a, b, similarity)?;
                }
            }
            Ok(())
        })?;
        let listed = Partitions::new(PARTITIONS, vec![listed]);
        for_each_sorted(&listed, self.memory / 8, |pair, similarity| {
            let (one, other) = members_of(pair);
            take(one, other, similarity)
        })
    }

    /// Passes the pairs of contents to `take` in ascending order. Each content is named by its
    /// first member.
    pub(crate) fn for_each_content_pair(
        &self,
        mut take: impl FnMut(u32, u32, f64) -> Result<()>,
    ) -> Result<()> {
        for_each_sorted(&self.found, self.memory / 8, |pair, similarity| {
            let (one, other) = members_of(pair);
            take(one, other, similarity)
        })
    }

    /// Returns a writer for records that are read back in sorted order.
    pub(crate) fn sorter(&self) -> Writer<FoundPair> {
        Writer::new(&Arc::new(Spill::default()), PARTITIONS, self.memory / 8, Order::Sorted)
    }

    /// Returns the other members of a content to list in pairs: all of them, or none if there are
    /// very many.
    fn shown(&self, first: u32) -> &[u32] {
        let others = self.twins.others(first);
        if others.len() < self.largest_listed { others } else { &[] }
    }
}

/// Passes records of pairs to `take` in ascending order.
pub(crate) fn for_each_sorted(
    pairs: &Partitions<FoundPair>,
    memory: u64,
    mut take: impl FnMut(PairKey, f64) -> Result<()>,
) -> Result<()> {
    let mut buffer = Vec::new();
    for partition in 0..pairs.count() {
        pairs.for_each_sorted(partition, memory, &mut buffer, |(pair, similarity)| {
            take(pair, f64::from_bits(similarity))
        })?;
    }
    Ok(())
}

/// Counts pairs after all candidates were compared.
pub(crate) struct PairTally<'a> {
    pub(crate) twins: &'a Twins,
    /// The component of each member.
    pub(crate) roots: &'a [u32],
    pub(crate) crowds: &'a [Crowd],
    pub(crate) meeting: Meeting<'a>,
    pub(crate) threshold: f64,
    pub(crate) largest_listed: usize,
}

/// How pairs become candidates.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Meeting<'a> {
    Bands(Bands),
    /// Probes, with the lengths and the numbers of shingles of all members.
    Probes {
        probes: Probes,
        lengths: &'a [u32],
        sizes: &'a [u32],
    },
}

impl Meeting<'_> {
    /// Returns the probability that a pair of this similarity becomes a candidate.
    fn probability(self, one: u32, other: u32, similarity: f64) -> f64 {
        match self {
            Self::Bands(bands) => bands.probability(similarity),
            Self::Probes { probes, lengths, sizes } => {
                probes.probability(similarity, sizes[shorter_of(one, other, lengths) as usize])
            }
        }
    }

    /// Returns the probability for a pair at the threshold that is easiest to miss.
    fn least_probability(self, threshold: f64) -> f64 {
        match self {
            Self::Bands(bands) => bands.probability(threshold),
            Self::Probes { probes, sizes, .. } => {
                let fewest = sizes.iter().copied().filter(|&size| size > 0).min().unwrap_or(u32::MAX);
                probes.probability(threshold, fewest)
            }
        }
    }
}

impl PairTally<'_> {
    /// Returns the number of listed pairs, and the estimates of missed pairs and of pairs not
    /// listed.
    pub(crate) fn count(
        &self,
        found: &Partitions<FoundPair>,
        memory: u64,
    ) -> Result<(u64, Estimate, Estimate)> {
        let (mut pairs, mut left_out) = (0, 0_u64);
        let mut listed_in = vec![0_u64; self.crowds.len()];
        let mut missed = Missed::new(self.roots.len());
        let mut add = |member: u32, listed: u64, all: u64| {
            pairs += listed;
            match self.crowd_of(member) {
                Some(crowd) => listed_in[crowd] += listed,
                None => left_out += all - listed,
            }
        };
        for (first, others) in self.twins.groups() {
            let members = others.len() as u64 + 1;
            let all = members * (members - 1) / 2;
            add(first, if others.len() < self.largest_listed { all } else { members - 1 }, all);
        }
        for_each_sorted(found, memory, |pair, similarity| {
            let (one, other) = members_of(pair);
            let [a, b] = [one, other].map(|member| self.twins.others(member).len());
            let [shown_a, shown_b] =
                [a, b].map(|twins| if twins < self.largest_listed { twins + 1 } else { 1 });
            let all = (a as u64 + 1) * (b as u64 + 1);
            add(one, shown_a as u64 * shown_b as u64, all);
            // In crowded components the estimate from drawn pairs is used instead.
            if self.crowd_of(one).is_none() {
                missed.add(one, other, self.meeting.probability(one, other, similarity), all as f64);
            }
            Ok(())
        })?;
        let confidence = Confidence::P95;
        let mut not_listed = Estimate::exact(left_out as f64);
        for (crowd, &listed) in self.crowds.iter().zip(&listed_in) {
            let more = crowd.not_listed(listed, confidence);
            not_listed = Estimate::probable(
                not_listed.value() + more.value(),
                not_listed.lower() + more.lower(),
                not_listed.upper() + more.upper(),
                confidence,
            );
        }
        Ok((pairs, missed.estimate(self.meeting.least_probability(self.threshold), confidence), not_listed))
    }

    fn crowd_of(&self, member: u32) -> Option<usize> {
        if self.crowds.is_empty() {
            return None;
        }
        let root = self.roots[member as usize];
        self.crowds.binary_search_by_key(&root, |crowd| crowd.root).ok()
    }
}

/// Returns the number of members with one content below which all their pairs are listed.
pub(crate) fn largest_listed(all_pairs: bool) -> usize {
    if all_pairs { usize::MAX } else { LARGEST_BUCKET }
}
