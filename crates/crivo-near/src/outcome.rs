//! What a search brings back.

use std::sync::Arc;

use crivo::Estimate;
use crivo::similarity::Bands;

use crate::candidates::{LARGEST_BUCKET, PairKey, members_of, pair_key, pair_partition};
use crate::error::Result;
use crate::sign::Signed;
use crate::spill::{PARTITIONS, Partitions, Spill, Writer};

/// Every pair of near-duplicates of a collection, and what is known of its members. Members are
/// numbered from 0 in the order of the collection.
pub struct Outcome {
    signed: Signed,
    /// The pair and the bits of its similarity.
    pairs: Partitions<(PairKey, u64)>,
    pair_count: u64,
    compared: u64,
    expected_missed: Estimate,
    bands: Bands,
}

impl Outcome {
    /// How many members the collection has.
    pub fn documents(&self) -> u32 {
        self.signed.len() as u32
    }

    /// How many are too short for one shingle. They are alike only if their content is the same.
    pub fn too_short(&self) -> u64 {
        self.signed.too_short
    }

    /// How many pairs of near-duplicates there are.
    pub fn pairs(&self) -> u64 {
        self.pair_count
    }

    /// How many candidates were compared.
    pub fn compared(&self) -> u64 {
        self.compared
    }

    /// How many pairs at or above the threshold the bands are expected to have missed.
    pub fn expected_missed(&self) -> Estimate {
        self.expected_missed
    }

    /// How signatures were cut.
    pub fn bands(&self) -> Bands {
        self.bands
    }

    /// The place of a member, as the source gave it.
    pub fn place(&self, member: u32) -> u64 {
        self.signed.places[member as usize]
    }

    /// The length of a member, as the source gave it.
    pub fn length(&self, member: u32) -> u32 {
        self.signed.lengths[member as usize]
    }

    /// The number of the member at a place.
    pub fn member_at(&self, place: u64) -> Option<u32> {
        self.signed.places.binary_search(&place).ok().map(|number| number as u32)
    }

    /// Goes through the pairs in ascending order: the first member, the second, their similarity.
    ///
    /// # Errors
    /// What `take` returns, or a temporary file that cannot be read.
    pub fn for_each_pair(&self, mut take: impl FnMut(u32, u32, f64) -> Result<()>) -> Result<()> {
        let mut pairs = Vec::new();
        for partition in 0..PARTITIONS {
            self.pairs.sorted(partition, |_| true, &mut pairs)?;
            for &(pair, similarity) in &pairs {
                let (one, other) = members_of(pair);
                take(one, other, f64::from_bits(similarity))?;
            }
        }
        Ok(())
    }
}

/// Collects the pairs as they are found, and makes of each pair of contents the pairs of the
/// members that have them.
pub(crate) struct Collector {
    pairs: Writer<(PairKey, u64)>,
    count: u64,
    members: usize,
    twins: TwinGroups,
}

impl Collector {
    pub(crate) fn new(signed: &Signed, memory: u64, spill: &Arc<Spill>) -> Result<Self> {
        let twins = TwinGroups::new(&signed.twins);
        let pairs = Writer::new(spill, memory / 4, false);
        let mut collector = Self { pairs, count: 0, members: signed.len(), twins };
        collector.put_twins()?;
        Ok(collector)
    }

    /// Takes a pair of contents, each named by the first member that has it.
    pub(crate) fn take(&mut self, pair: PairKey, similarity: f64) -> Result<()> {
        let (one, other) = members_of(pair);
        if self.twins.is_alone(one) && self.twins.is_alone(other) {
            return self.put(one, other, similarity);
        }
        for &a in &self.twins.shown(one) {
            for &b in &self.twins.shown(other) {
                self.put(a, b, similarity)?;
            }
        }
        Ok(())
    }

    fn put(&mut self, one: u32, other: u32, similarity: f64) -> Result<()> {
        self.count += 1;
        let pair = pair_key(one, other);
        self.pairs.push(pair_partition(pair, self.members), (pair, similarity.to_bits()))
    }

    /// Members with the same content are near-duplicates, also those too short for a shingle.
    fn put_twins(&mut self) -> Result<()> {
        let groups = std::mem::take(&mut self.twins.groups);
        for group in &groups {
            let centres = if group.len() <= LARGEST_BUCKET { group.len() } else { 1 };
            for (at, &one) in group.iter().enumerate().take(centres) {
                group[at + 1..].iter().try_for_each(|&other| self.put(one, other, 1.0))?;
            }
        }
        self.twins.groups = groups;
        Ok(())
    }

    pub(crate) fn finish(
        self,
        signed: Signed,
        compared: u64,
        bands: Bands,
        expected_missed: Estimate,
    ) -> Outcome {
        Outcome {
            signed,
            pairs: Partitions::new(vec![self.pairs]),
            pair_count: self.count,
            compared,
            expected_missed,
            bands,
        }
    }
}

/// Members with the same content, each group ascending and by its first member.
struct TwinGroups {
    groups: Vec<Vec<u32>>,
}

impl TwinGroups {
    fn new(twins: &[u32]) -> Self {
        let mut repeated: Vec<(u32, u32)> = twins
            .iter()
            .zip(0..)
            .filter(|&(&first, member)| first != member)
            .map(|(&first, member)| (first, member))
            .collect();
        repeated.sort_unstable();
        let groups = repeated
            .chunk_by(|one, other| one.0 == other.0)
            .map(|group| std::iter::once(group[0].0).chain(group.iter().map(|&(_, member)| member)).collect())
            .collect();
        Self { groups }
    }

    fn group_of(&self, first: u32) -> Option<&Vec<u32>> {
        self.groups.binary_search_by_key(&first, |group| group[0]).ok().map(|at| &self.groups[at])
    }

    fn is_alone(&self, first: u32) -> bool {
        self.group_of(first).is_none()
    }

    /// The members that stand for a content: all of them, or the first if there are very many.
    fn shown(&self, first: u32) -> Vec<u32> {
        match self.group_of(first) {
            Some(group) if group.len() <= LARGEST_BUCKET => group.clone(),
            _ => vec![first],
        }
    }
}
