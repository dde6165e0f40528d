//! Finds the members that have the same content. Only one of them is compared with other members.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::Result;
use crate::parallel::deal;
use crate::places::Places;
use crate::sign::Print;
use crate::spill::Partitions;

/// Returns, for each member, the first member with the same content, which is often the member
/// itself. Each thread uses up to `memory` bytes to sort.
///
/// # Errors
/// If the spill cannot be read.
pub(crate) fn first_with_content(
    prints: &Partitions<Print>,
    places: &Places,
    threads: usize,
    memory: u64,
) -> Result<Vec<u32>> {
    let firsts: Vec<AtomicU32> = (0..places.len()).map(AtomicU32::new).collect();
    deal(threads, prints.count(), Vec::new, |records: &mut Vec<Print>, partition| {
        let (mut near_first, mut near) = (0, 0);
        let mut first = None;
        let content = |print: &Print| (print.0, print.1);
        prints.for_each_group(partition, memory, records, content, |piece| {
            if piece.is_single() {
                return Ok(());
            }
            let mut others = piece.records.iter();
            if piece.begins {
                // Places ascend within a group, so the first place is the smallest.
                first = others.next().and_then(|(.., place)| places.number_near(*place, &mut near_first));
            }
            let Some(first) = first else { return Ok(()) };
            for (.., place) in others {
                if let Some(number) = places.number_near(*place, &mut near) {
                    firsts[number as usize].store(first, Ordering::Relaxed);
                }
            }
            Ok(())
        })
    })?;
    Ok(firsts.into_iter().map(AtomicU32::into_inner).collect())
}

/// The groups of members that have the same content.
#[derive(Debug, Default)]
pub(crate) struct Twins {
    /// For each member, the first member with its content.
    firsts: Vec<u32>,
    /// The members that are not the first with their content, sorted by that first member and then
    /// by number.
    others: Vec<u32>,
}

impl Twins {
    pub(crate) fn new(firsts: Vec<u32>) -> Self {
        let mut others: Vec<u32> = Vec::new();
        others.extend(firsts.iter().zip(0..).filter(|&(&first, member)| first != member).map(|(_, m)| m));
        others.sort_unstable_by_key(|&member| (firsts[member as usize], member));
        Self { firsts, others }
    }

    /// Returns the first member with the content of this one.
    pub(crate) fn first(&self, member: u32) -> u32 {
        self.firsts[member as usize]
    }

    pub(crate) fn firsts(&self) -> &[u32] {
        &self.firsts
    }

    /// Returns the number of members.
    pub(crate) fn members(&self) -> u32 {
        self.firsts.len() as u32
    }

    /// Returns the other members with the content of `first`, ascending.
    pub(crate) fn others(&self, first: u32) -> &[u32] {
        if self.others.is_empty() {
            return &[];
        }
        let start = self.others.partition_point(|&member| self.first(member) < first);
        let rest = &self.others[start..];
        &rest[..rest.partition_point(|&member| self.first(member) == first)]
    }

    /// Returns the groups of several members with the same content: the first member and the
    /// others.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (u32, &[u32])> {
        let groups = self.others.chunk_by(|&one, &other| self.first(one) == self.first(other));
        groups.map(|others| (self.first(others[0]), others))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_those_of_equal_content() {
        let twins = Twins::new(vec![0, 1, 0, 3, 1, 0]);
        assert_eq!(twins.groups().collect::<Vec<_>>(), [(0, &[2, 5][..]), (1, &[4][..])]);
        assert_eq!((twins.others(0), twins.others(1), twins.others(3)), (&[2, 5][..], &[4][..], &[][..]));
    }
}
