//! Sets grouped by block, held in memory while they fit and in a file beyond that.
//!
//! A set is its owner's number, its length and its hashes, all as 64-bit words. The sets of a block
//! are one after the other in segments. A segment has the sets that one thread held when its memory
//! was full, or at the end.

use std::borrow::Cow;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::spill::{Extent, Spill};

/// Collects the sets of one thread.
pub(crate) struct SegmentWriter {
    spill: Arc<Spill>,
    buffers: Vec<Vec<u64>>,
    extents: Vec<(u32, Extent)>,
    held: usize,
    /// The number of words that may be held before they are written to the file.
    limit: usize,
}

impl SegmentWriter {
    /// Returns a writer for the given number of blocks that holds about `memory` bytes.
    pub(crate) fn new(spill: &Arc<Spill>, blocks: usize, memory: u64) -> Self {
        let buffers = (0..blocks).map(|_| Vec::new()).collect();
        // A growing vector may have twice the capacity it needs.
        let limit = (memory as usize / 16).max(1024);
        Self { spill: Arc::clone(spill), buffers, extents: Vec::new(), held: 0, limit }
    }

    /// Adds the set of a member to a block.
    pub(crate) fn push(&mut self, block: usize, number: u32, set: &[u64]) -> Result<()> {
        let length = u32::try_from(set.len()).map_err(|_| Error::TooMany)?;
        let Some(buffer) = self.buffers.get_mut(block) else { return Ok(()) };
        buffer.push(u64::from(number) | u64::from(length) << 32);
        buffer.extend_from_slice(set);
        self.held += set.len() + 1;
        if self.held > self.limit { self.flush() } else { Ok(()) }
    }

    /// Writes all held sets to the file.
    pub(crate) fn flush(&mut self) -> Result<()> {
        let mut bytes = Vec::new();
        for (block, buffer) in (0..).zip(&mut self.buffers) {
            let words = std::mem::take(buffer);
            bytes.clear();
            bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            if !bytes.is_empty() {
                self.extents.push((block, self.spill.append(&bytes)?));
            }
        }
        self.held = 0;
        Ok(())
    }
}

/// The sets that all threads have collected.
pub(crate) struct Segments {
    spill: Arc<Spill>,
    memory: Vec<Vec<Vec<u64>>>,
    extents: Vec<Vec<Extent>>,
    /// The sets of all blocks, if they never left the memory.
    together: Option<SetsTogether>,
}

/// Sets in memory, without regard to their block.
struct SetsTogether {
    segments: Vec<Vec<u64>>,
    index: Vec<IndexEntry>,
}

/// The position of a member's set: the member's number, the segment, start and length.
type IndexEntry = (u32, u32, usize, u32);

impl Segments {
    /// Creates segments for the given number of blocks from sets in memory. They are never written
    /// to a file.
    pub(crate) fn in_memory(blocks: usize, segments: Vec<Vec<u64>>) -> Self {
        let index = index_of(segments.iter().map(Vec::as_slice));
        let (memory, extents) = ((0..blocks).map(|_| Vec::new()).collect(), vec![Vec::new(); blocks]);
        Self { spill: Arc::default(), memory, extents, together: Some(SetsTogether { segments, index }) }
    }

    /// Collects the segments of the writers of one spill.
    pub(crate) fn new(blocks: usize, writers: Vec<SegmentWriter>) -> Self {
        let spill = writers.first().map(|writer| Arc::clone(&writer.spill)).unwrap_or_default();
        let mut memory: Vec<Vec<Vec<u64>>> = (0..blocks).map(|_| Vec::new()).collect();
        let mut extents = vec![Vec::new(); blocks];
        for writer in writers {
            for (block, words) in memory.iter_mut().zip(writer.buffers) {
                if !words.is_empty() {
                    block.push(words);
                }
            }
            writer.extents.into_iter().for_each(|(block, extent)| extents[block as usize].push(extent));
        }
        Self { spill, memory, extents, together: None }
    }

    /// Returns the segments that an earlier run has written to a named file.
    pub(crate) fn reopened(spill: Arc<Spill>, extents: Vec<Vec<Extent>>) -> Self {
        let memory = extents.iter().map(|_| Vec::new()).collect();
        Self { spill, memory, extents, together: None }
    }

    /// Returns the extents of each block's segments in the file. Segments that are still in memory
    /// are not included.
    pub(crate) fn extents(&self) -> impl Iterator<Item = &[Extent]> {
        self.extents.iter().map(Vec::as_slice)
    }

    pub(crate) fn spill(&self) -> &Spill {
        &self.spill
    }

    /// Writes everything to the file, and waits until it is on the disk.
    pub(crate) fn persist(&mut self) -> Result<()> {
        let mut bytes = Vec::new();
        for (segments, extents) in self.memory.iter_mut().zip(&mut self.extents) {
            for words in std::mem::take(segments) {
                bytes.clear();
                bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
                extents.push(self.spill.append(&bytes)?);
            }
        }
        Ok(self.spill.sync()?)
    }

    /// Returns the number of segments of a block.
    pub(crate) fn count(&self, block: usize) -> usize {
        self.memory.get(block).map_or(0, Vec::len) + self.extents.get(block).map_or(0, Vec::len)
    }

    /// Returns one of the segments of a block.
    pub(crate) fn segment(&self, block: usize, at: usize) -> Result<Cow<'_, [u64]>> {
        let memory = self.memory.get(block).map_or(&[][..], Vec::as_slice);
        if let Some(words) = memory.get(at) {
            return Ok(Cow::Borrowed(words));
        }
        let extent = self.extents.get(block).and_then(|extents| extents.get(at - memory.len()));
        let Some(&Extent { start, len }) = extent else { return Ok(Cow::Borrowed(&[])) };
        let mut words = Vec::with_capacity((len / 8) as usize);
        let mut bytes = Vec::new();
        // Reads piece by piece, so that the bytes and the words are not in memory as a whole
        // together.
        for piece in (0..len).step_by(PIECE as usize) {
            self.spill.read(Extent { start: start + piece, len: PIECE.min(len - piece) }, &mut bytes)?;
            let (chunks, _) = bytes.as_chunks();
            words.extend(chunks.iter().map(|word| u64::from_le_bytes(*word)));
        }
        Ok(Cow::Owned(words))
    }
}

/// The number of bytes of a segment that are read at once.
const PIECE: u64 = 256 << 10;

/// Returns the sets of a segment: the owner's number, the start of its hashes, and their number.
pub(crate) fn sets_of(segment: &[u64]) -> impl Iterator<Item = (u32, usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let &head = segment.get(at)?;
        let (number, length) = (head as u32, (head >> 32) as usize);
        let start = at + 1;
        at = start + length;
        (at <= segment.len()).then_some((number, start, length))
    })
}

/// The sets of one block, in memory.
pub(crate) struct BlockSets<'a> {
    segments: Vec<Cow<'a, [u64]>>,
    index: Cow<'a, [IndexEntry]>,
}

/// Returns the positions of the sets of segments, ascending by member.
fn index_of<'s>(segments: impl Iterator<Item = &'s [u64]>) -> Vec<IndexEntry> {
    let mut index = Vec::new();
    for (segment, at) in segments.zip(0..) {
        index.extend(sets_of(segment).map(|(number, start, len)| (number, at, start, len as u32)));
    }
    index.sort_unstable();
    index
}

impl<'a> BlockSets<'a> {
    pub(crate) fn load(sets: &'a Segments, block: usize) -> Result<Self> {
        if let Some(SetsTogether { segments, index }) = &sets.together {
            let segments = segments.iter().map(|segment| Cow::Borrowed(segment.as_slice())).collect();
            return Ok(Self { segments, index: Cow::Borrowed(index) });
        }
        let segments: Vec<_> =
            (0..sets.count(block)).map(|at| sets.segment(block, at)).collect::<Result<_>>()?;
        let index = index_of(segments.iter().map(|segment| &**segment)).into();
        Ok(Self { segments, index })
    }

    /// Returns the set of a member.
    ///
    /// # Errors
    /// If it has none, because the second reading did not find the member.
    pub(crate) fn of(&self, number: u32) -> Result<&[u64]> {
        let at = self.index.binary_search_by_key(&number, |entry| entry.0).map_err(|_| Error::Changed)?;
        let (_, segment, start, len) = self.index[at];
        Ok(&self.segments[segment as usize][start..start + len as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_come_back_whether_they_fit_or_not() {
        for memory in [0, 1 << 20] {
            let spill = Arc::new(Spill::default());
            let mut writers: Vec<_> = (0..2).map(|_| SegmentWriter::new(&spill, 3, memory)).collect();
            let set = |number: u32| (0..u64::from(number % 50)).collect::<Vec<_>>();
            for number in 0..600 {
                writers[number as usize % 2].push(number as usize % 3, number, &set(number)).unwrap();
            }
            assert_eq!(spill.bytes() > 0, memory == 0);
            let segments = Segments::new(3, writers);
            for block in 0..3 {
                let sets = BlockSets::load(&segments, block).unwrap();
                for number in 0..600 {
                    let found = sets.of(number).ok().map(<[u64]>::to_vec);
                    assert_eq!(found, (number as usize % 3 == block).then(|| set(number)));
                }
            }
        }
    }
}
