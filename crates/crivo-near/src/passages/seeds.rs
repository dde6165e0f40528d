//! Finds equal windows from equal anchors, and the first occurrence of each window.
//!
//! A window has as many consecutive words as the shortest passage. Each window selects one anchor,
//! and equal windows select equal anchors. So all occurrences of a window are in the group of one
//! anchor.
//!
//! The words of all windows that select an anchor are its context. Occurrences with the same
//! context have the same windows, so their words are read once. Inside a repeated passage all
//! contexts are the same; they differ only at its ends. Different contexts may have windows in
//! common, which are looked up by a hash of the whole window. Contexts and windows have hashes of
//! 64 bits.
//!
//! A group costs one step for each occurrence and one for each window of each different context. If
//! occurrences do not fit in memory, they are read from a file. If windows do not fit, one range of
//! their hashes is processed after the other.

use std::hash::{BuildHasherDefault, Hasher};

use crivo::similarity::winnow::{Winnow, gram_hashes};
use hashbrown::HashMap;

use super::anchors::{ADDRESS_BITS, AnchorRecord};
use super::members::{Member, Members};
use super::store::Store;
use crate::error::Result;
use crate::spill::Record;

/// Consecutive windows and their first occurrences. The first number is the address of the first
/// window. The second has the number of windows (24 bits) and the address of the first window's
/// first occurrence (40 bits).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seed(u64, u64);

/// The most windows of a seed. Their number takes two bytes on disk.
const MOST_WINDOWS: u64 = u16::MAX as u64;

/// The bytes of an address on disk.
const ADDRESS_BYTES: usize = ADDRESS_BITS as usize / 8;

impl Seed {
    pub(crate) fn new(window: u64, first: u64, count: u64) -> Self {
        Self(window, count.min(MOST_WINDOWS) << ADDRESS_BITS | first)
    }

    /// Returns the address of the first window.
    pub(crate) fn window(self) -> u64 {
        self.0
    }

    /// Returns the address of the first window's first occurrence.
    pub(crate) fn first(self) -> u64 {
        self.1 & ((1 << ADDRESS_BITS) - 1)
    }

    /// Returns the number of windows.
    pub(crate) fn count(self) -> u64 {
        self.1 >> ADDRESS_BITS
    }
}

impl Record for Seed {
    const SIZE: usize = 2 * ADDRESS_BYTES + 2;

    fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.window().to_le_bytes()[..ADDRESS_BYTES]);
        out.extend_from_slice(&self.first().to_le_bytes()[..ADDRESS_BYTES]);
        out.extend_from_slice(&self.count().to_le_bytes()[..2]);
    }

    fn read(bytes: &[u8]) -> Self {
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
        let (window, rest) = bytes.split_at(ADDRESS_BYTES);
        let (first, count) = rest.split_at(ADDRESS_BYTES);
        Self::new(number(window), number(first), number(count))
    }
}

/// A hasher for keys that are hashes already.
#[derive(Default)]
struct Prehashed(u64);

impl Hasher for Prehashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.0 = self.0 << 8 | u64::from(byte));
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// The first occurrence of a window, and the number of all its occurrences.
struct First {
    document: u32,
    address: u64,
    count: u64,
}

type Windows = HashMap<u64, First, BuildHasherDefault<Prehashed>>;

/// The approximate number of bytes of one window in memory.
const BYTES_A_WINDOW: u64 = 48;

/// The windows of a context: the distance from the first window to the anchor, and the keys of all
/// windows.
#[derive(Default)]
struct Context {
    before: u64,
    keys: Vec<u64>,
}

/// Consecutive windows of a context whose first occurrences are consecutive too: their distance
/// from the context's first window, their first occurrence, and their number.
struct Streak {
    from: u64,
    first: u64,
    first_document: u32,
    count: u64,
}

/// The range of window keys held at once, from `low` to below `high`. If `high` is the greatest
/// number, it is included.
#[derive(Clone, Copy)]
struct KeyRange {
    low: u64,
    high: u64,
}

impl KeyRange {
    fn contains(self, key: u64) -> bool {
        key >= self.low && (key < self.high || self.high == u64::MAX)
    }
}

/// Finds the seeds of one group of equal anchors after the other.
pub(crate) struct SeedFinder<'a> {
    store: &'a Store,
    winnow: Winnow,
    /// Whether windows are repeated that occurred before in the same document.
    within: bool,
    min_count: u64,
    /// The most windows that are held at once.
    limit: usize,
    hash: u64,
    members: Members,
    piece: Vec<Member>,
    windows: Windows,
    context: Context,
    streaks: Vec<Streak>,
    bytes: Vec<u8>,
    words: Vec<u64>,
    hashes: Vec<u64>,
}

impl<'a> SeedFinder<'a> {
    pub(crate) fn new(store: &'a Store, winnow: Winnow, within: bool, min_count: u32, memory: u64) -> Self {
        Self {
            store,
            winnow,
            within,
            min_count: min_count.max(2).into(),
            limit: (memory / 2 / BYTES_A_WINDOW).max(1024) as usize,
            hash: 0,
            members: Members::new(memory / 2),
            piece: Vec::new(),
            windows: Windows::default(),
            context: Context::default(),
            streaks: Vec::new(),
            bytes: Vec::new(),
            words: Vec::new(),
            hashes: Vec::new(),
        }
    }

    /// Adds an anchor. Anchors must come in sorted order. The first anchor of a new group passes
    /// the seeds of the previous group to `give`, each with its document.
    pub(crate) fn add(
        &mut self,
        anchor: AnchorRecord,
        give: impl FnMut(u32, Seed) -> Result<()>,
    ) -> Result<()> {
        if anchor.hash() != self.hash {
            self.finish(give)?;
            self.hash = anchor.hash();
        }
        self.members.push(anchor.context(), anchor.address())
    }

    /// Passes the seeds of the last group to `give`.
    pub(crate) fn finish(&mut self, mut give: impl FnMut(u32, Seed) -> Result<()>) -> Result<()> {
        if self.members.count() >= self.min_count {
            self.members.resolve(self.store)?;
            if self.within || !self.members.are_of_one_document() {
                if self.members.have_one_context() {
                    self.same_context(&mut give)?;
                } else {
                    self.several_contexts(&mut give)?;
                }
            }
        }
        self.members.clear();
        Ok(())
    }

    /// Calls `take` for each member, in the order of their contexts.
    fn for_each_member(&mut self, mut take: impl FnMut(&mut Self, Member) -> Result<()>) -> Result<()> {
        let mut piece = std::mem::take(&mut self.piece);
        for number in 0..self.members.pieces() {
            self.members.read(number, self.store, &mut piece)?;
            piece.iter().try_for_each(|&member| take(self, member))?;
        }
        self.piece = piece;
        Ok(())
    }

    /// Passes the seeds of a group with one context to `give`. All members have the same windows,
    /// which differ from each other, because they select one anchor at one place. So the first
    /// member has the first occurrence of each.
    fn same_context(&mut self, give: &mut impl FnMut(u32, Seed) -> Result<()>) -> Result<()> {
        let mut first = Member::LAST;
        self.for_each_member(|_, member| {
            first = first.earlier(member);
            Ok(())
        })?;
        let Some((before, count)) =
            self.load(first)?.map(|(start, end)| (first.address - start, end - start))
        else {
            return Ok(());
        };
        self.for_each_member(|this, member| {
            if member.address == first.address || (!this.within && member.document == first.document) {
                return Ok(());
            }
            let window = member.address.saturating_sub(before);
            give(member.document, Seed::new(window, first.address - before, count))
        })
    }

    /// Passes the seeds of a group with several contexts to `give`. It looks up each window of each
    /// context.
    fn several_contexts(&mut self, give: &mut impl FnMut(u32, Seed) -> Result<()>) -> Result<()> {
        // The range shrinks if it has too many windows. Then the next round takes the keys above
        // it.
        let mut range = KeyRange { low: 0, high: u64::MAX };
        loop {
            self.windows.clear();
            self.hold_windows(&mut range)?;
            self.answer(range, give)?;
            if range.high == u64::MAX {
                break;
            }
            range = KeyRange { low: range.high, high: u64::MAX };
        }
        if self.windows.capacity() > self.limit / 4 {
            self.windows = Windows::default();
        }
        Ok(())
    }

    /// Collects the windows of a range of keys, each with its first occurrence and its count.
    fn hold_windows(&mut self, range: &mut KeyRange) -> Result<()> {
        let mut group: Option<(Member, u64)> = None;
        self.for_each_member(|this, member| {
            match &mut group {
                Some((first, count)) if first.context == member.context => {
                    *first = first.earlier(member);
                    *count += 1;
                }
                _ => {
                    let before = group.replace((member, 1));
                    this.hold_context(before, range)?;
                }
            }
            Ok(())
        })?;
        self.hold_context(group, range)
    }

    fn hold_context(&mut self, group: Option<(Member, u64)>, range: &mut KeyRange) -> Result<()> {
        let Some((first, count)) = group else { return Ok(()) };
        let document = first.document;
        let mut context = std::mem::take(&mut self.context);
        self.load_keys(first, &mut context)?;
        for (&key, address) in context.keys.iter().zip(first.address - context.before..) {
            if !range.contains(key) {
                continue;
            }
            let known = self.windows.entry(key).or_insert(First { document, address, count: 0 });
            known.count += count;
            if (document, address) < (known.document, known.address) {
                (known.document, known.address) = (document, address);
            }
        }
        self.context = context;
        if self.windows.len() > self.limit {
            let middle = range.low + range.high.saturating_sub(range.low) / 2;
            range.high = middle.max(range.low + 1);
            let high = range.high;
            self.windows.retain(|key, _| *key < high);
        }
        Ok(())
    }

    /// Passes the seeds of the collected windows to `give`.
    fn answer(&mut self, range: KeyRange, give: &mut impl FnMut(u32, Seed) -> Result<()>) -> Result<()> {
        let mut current = None;
        self.for_each_member(|this, member| {
            if current != Some(member.context) {
                current = Some(member.context);
                this.find_streaks(member, range)?;
            }
            let start = member.address.saturating_sub(this.context.before);
            for streak in &this.streaks {
                let window = start + streak.from;
                if window != streak.first && (this.within || member.document != streak.first_document) {
                    give(member.document, Seed::new(window, streak.first, streak.count))?;
                }
            }
            Ok(())
        })
    }

    /// Finds the first occurrences of the windows of a context.
    fn find_streaks(&mut self, member: Member, range: KeyRange) -> Result<()> {
        let mut context = std::mem::take(&mut self.context);
        self.load_keys(member, &mut context)?;
        self.streaks.clear();
        for (&key, from) in context.keys.iter().zip(0_u64..) {
            let Some(known) = self.windows.get(&key) else { continue };
            if !range.contains(key) || known.count < self.min_count {
                continue;
            }
            match self.streaks.last_mut() {
                Some(last) if last.from + last.count == from && last.first + last.count == known.address => {
                    last.count += 1;
                }
                _ => {
                    let (first, first_document) = (known.address, known.document);
                    self.streaks.push(Streak { from, first, first_document, count: 1 });
                }
            }
        }
        self.context = context;
        Ok(())
    }

    /// Computes the keys of the windows that select the anchor of a member.
    fn load_keys(&mut self, member: Member, context: &mut Context) -> Result<()> {
        context.before = 0;
        context.keys.clear();
        let Some((start, end)) = self.load(member)? else { return Ok(()) };
        context.before = member.address - start;
        let (length, count) = (self.winnow.guaranteed(), (end - start) as usize);
        let first = self.words.len().min((start - self.loaded_from(member)) as usize);
        let upto = self.words.len().min(first + count + length - 1);
        gram_hashes(&self.words[first..upto], length, &mut context.keys);
        Ok(())
    }

    /// Returns the address of the first word that the windows of a member may have.
    fn loaded_from(&self, member: Member) -> u64 {
        let document = self.store.documents()[member.document as usize];
        document.start.max(member.address.saturating_sub(self.winnow.window() as u64 - 1))
    }

    /// Reads the words around an anchor. Returns the address of the first window that selects it,
    /// and the address after that of the last.
    fn load(&mut self, member: Member) -> Result<Option<(u64, u64)>> {
        let document = self.store.documents()[member.document as usize];
        let start = self.loaded_from(member);
        let end = document.end().min(member.address + self.winnow.guaranteed() as u64);
        self.store.read(start, end, &mut self.bytes, &mut self.words)?;
        gram_hashes(&self.words, self.winnow.gram(), &mut self.hashes);
        let windows = self.winnow.windows_of(&self.hashes, (member.address - start) as usize);
        Ok(windows.map(|(first, last)| (start + first as u64, start + last as u64 + 1)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn seeds_come_back_from_the_disk(
            window in 0_u64..1 << ADDRESS_BITS, first in 0_u64..1 << ADDRESS_BITS, count in 0_u64..1 << 20
        ) {
            let (seed, mut bytes) = (Seed::new(window, first, count), Vec::new());
            seed.write(&mut bytes);
            prop_assert_eq!((Seed::read(&bytes), bytes.len()), (seed, Seed::SIZE));
            prop_assert_eq!((seed.window(), seed.first(), seed.count()), (window, first, count.min(MOST_WINDOWS)));
        }
    }
}
