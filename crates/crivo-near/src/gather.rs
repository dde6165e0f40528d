//! The second reading: writes the set of each candidate once, into the spill of its block.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::blocks::Blocks;
use crate::contents::Twins;
use crate::error::{Error, Result};
use crate::kept_sets::KeptSets;
use crate::parallel::deal;
use crate::places::Places;
use crate::segments::{SegmentWriter, Segments, sets_of};
use crate::sorter::Sorter;
use crate::source::{Member, Source};
use crate::spill::Spill;

/// What is known about the members when their sets are gathered.
pub(crate) struct Known<'a> {
    pub(crate) places: &'a Places,
    pub(crate) twins: &'a Twins,
    pub(crate) sizes: &'a [u32],
    pub(crate) blocks: &'a Blocks,
}

impl Known<'_> {
    /// Returns the number and the block of the member at a place, if its set is needed.
    fn wanted(&self, place: u64, near: &mut usize) -> Option<(u32, u32)> {
        let number = self.places.number_near(place, near)?;
        if self.twins.first(number) != number {
            return None;
        }
        Some((number, self.blocks.of(number)?))
    }

    /// Returns the first member with the content of the member at a place, and its block, if its
    /// set is needed. Any member of a content may have been the one that was signed.
    fn wanted_for_content(&self, place: u64, near: &mut usize) -> Option<(u32, u32)> {
        let first = self.twins.first(self.places.number_near(place, near)?);
        Some((first, self.blocks.of(first)?))
    }
}

/// One thread of the second reading.
struct GatheringThread {
    writer: SegmentWriter,
    sorter: Sorter,
    set: Vec<u64>,
    near: usize,
    /// The number and the block of the member that was accepted last.
    met: (u32, u32),
}

/// Reads the collection again and writes the sets of the candidates. Each set is ascending and has
/// each hash once.
///
/// # Errors
/// If the collection differs from the one that was signed, or cannot be read.
pub(crate) fn gather(
    source: &impl Source,
    known: &Known<'_>,
    memory_each: u64,
    spill: &Arc<Spill>,
) -> Result<Segments> {
    let count = known.blocks.count();
    let gathered = AtomicU64::new(0);
    let make = || GatheringThread {
        writer: SegmentWriter::new(spill, count, memory_each),
        sorter: Sorter::default(),
        set: Vec::new(),
        near: 0,
        met: (0, 0),
    };
    let wants = |thread: &mut GatheringThread, place| match known.wanted(place, &mut thread.near) {
        Some(met) => {
            thread.met = met;
            true
        }
        None => false,
    };
    let take = |thread: &mut GatheringThread, member: Member<'_>| {
        let (number, block) = thread.met;
        let expected = known.sizes[number as usize];
        if member.is_continued && thread.set.is_empty() {
            // Allocates the right size once, because a vector that grows is in memory twice for a
            // moment. If the allocation fails, the vector grows: the size may come from a damaged
            // work folder.
            let _ = thread.set.try_reserve_exact(expected as usize);
        }
        thread.set.extend_from_slice(member.hashes);
        if member.is_continued {
            return Ok(());
        }
        if expected != u32::try_from(thread.set.len()).unwrap_or(u32::MAX) {
            return Err(Error::Changed);
        }
        let len = thread.sorter.sort_once(&mut thread.set);
        gathered.fetch_add(1, Ordering::Relaxed);
        thread.writer.push(block as usize, number, &thread.set[..len])?;
        thread.set.clear();
        Ok(())
    };
    let threads = source.read(&make, &wants, &take)?;
    let members = 0..known.twins.members();
    let wanted =
        members.filter(|&member| known.twins.first(member) == member && known.blocks.of(member).is_some());
    if wanted.count() as u64 != gathered.into_inner() {
        return Err(Error::Changed);
    }
    Ok(Segments::new(count, threads.into_iter().map(|thread| thread.writer).collect()))
}

/// Gathers the sets that the first reading kept in memory. Reads nothing again, and moves no set.
pub(crate) fn gather_kept(kept: KeptSets, known: &Known<'_>, threads: usize) -> Result<Segments> {
    let sets =
        kept.sorted(threads, |place, near| known.wanted_for_content(place, near).map(|(first, _)| first))?;
    Ok(Segments::in_memory(known.blocks.count(), sets))
}

/// Gathers the signatures that the first reading wrote to the spill. Reads no document again.
pub(crate) fn gather_signatures(
    signatures: &Segments,
    known: &Known<'_>,
    threads: usize,
    memory_each: u64,
    spill: &Arc<Spill>,
) -> Result<Segments> {
    let count = known.blocks.count();
    let make = || SegmentWriter::new(spill, count, memory_each);
    let writers = deal(threads, signatures.count(0), make, |writer, at| {
        let segment = signatures.segment(0, at)?;
        let mut near = 0;
        for (_, start, length) in sets_of(&segment) {
            let [place, signature @ ..] = &segment[start..start + length] else { continue };
            if let Some((first, block)) = known.wanted_for_content(*place, &mut near) {
                writer.push(block as usize, first, signature)?;
            }
        }
        Ok(())
    })?;
    Ok(Segments::new(count, writers))
}
