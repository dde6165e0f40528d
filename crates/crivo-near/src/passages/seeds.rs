//! From equal anchors to equal windows: which window of words stood where first.
//!
//! A window is as many consecutive words as the shortest passage has. Each window selects one anchor, and equal windows select equal
//! ones, so all occurrences of a window meet in the group of one anchor. There they are looked up by a hash of the whole
//! window, in the order of the collection: each finds the first that is equal. Each window is looked up once, so a group with a
//! million members costs a million steps, and none of its windows loses its first occurrence.

use std::hash::{BuildHasherDefault, Hasher};

use crivo::similarity::winnow::{Winnow, gram_hashes};
use hashbrown::HashMap;

use super::store::Store;
use crate::error::Result;

/// Some consecutive windows and those that stood first: the address of the first window, how many there are
/// (16 bits), and the address of the first window's first occurrence (48 bits).
pub(crate) type Seed = (u64, u64);

/// The bits of an address.
const ADDRESS_BITS: u32 = 48;

pub(crate) fn seed(window: u64, first: u64, count: u64) -> Seed {
    (window, count.min(u64::from(u16::MAX)) << ADDRESS_BITS | first)
}

/// The address of the window, of its first occurrence, and the number of windows.
pub(crate) fn parts_of((window, packed): Seed) -> (u64, u64, u64) {
    (window, packed & ((1 << ADDRESS_BITS) - 1), packed >> ADDRESS_BITS)
}

/// Keys are hashes already.
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

/// Where a window was met first, and how often it stands anywhere.
struct First {
    address: u64,
    document: u32,
    count: u32,
}

type Windows = HashMap<u64, First, BuildHasherDefault<Prehashed>>;

/// The bytes of one window in memory, about.
const BYTES_A_WINDOW: u64 = 40;

/// Finds seeds in one group of equal anchors after the other.
pub(crate) struct SeedFinder<'a> {
    store: &'a Store,
    winnow: Winnow,
    /// Whether windows count that stood before in the same document.
    within: bool,
    min_count: u32,
    /// The most windows that are held at once.
    limit: usize,
    members: Vec<(u32, u64)>,
    windows: Windows,
    bytes: Vec<u8>,
    words: Vec<u64>,
    hashes: Vec<u64>,
    keys: Vec<u64>,
}

impl<'a> SeedFinder<'a> {
    pub(crate) fn new(store: &'a Store, winnow: Winnow, within: bool, min_count: u32, memory: u64) -> Self {
        Self {
            store,
            winnow,
            within,
            min_count,
            limit: (memory / BYTES_A_WINDOW).max(1024) as usize,
            members: Vec::new(),
            windows: Windows::default(),
            bytes: Vec::new(),
            words: Vec::new(),
            hashes: Vec::new(),
            keys: Vec::new(),
        }
    }

    /// Gives the seeds of a group, whose members are addresses of one anchor.
    pub(crate) fn group(&mut self, group: &[u64], mut give: impl FnMut(Seed) -> Result<()>) -> Result<()> {
        if group.len() < self.min_count as usize {
            return Ok(());
        }
        self.members.clear();
        let store = self.store;
        self.members.extend(group.iter().map(|&address| (store.document_at(address), address)));
        if !self.within && self.members.iter().all(|member| member.0 == self.members[0].0) {
            return Ok(());
        }
        self.members.sort_unstable();
        // Windows are held that have keys of a range; it shrinks when they are too many, and the next round has the rest.
        let mut low = 0;
        loop {
            let mut high = u64::MAX;
            self.windows.clear();
            if self.min_count > 2 {
                self.round(low, &mut high, |_| Ok(()))?;
                for at in 0..self.members.len() {
                    self.answer(at, low, high, &mut give)?;
                }
            } else {
                // A round that was cut short has given some seeds already that the next would give again: it gives
                // nothing until it is known to fit.
                let mut seeds = Vec::new();
                let fits = self.round(low, &mut high, |seed| {
                    seeds.push(seed);
                    Ok(())
                })?;
                if fits {
                    seeds.into_iter().try_for_each(&mut give)?;
                } else {
                    drop(seeds);
                    for at in 0..self.members.len() {
                        self.answer(at, low, high, &mut give)?;
                    }
                }
            }
            if high == u64::MAX {
                break;
            }
            low = high;
        }
        if self.windows.capacity() > self.limit / 4 {
            self.windows = Windows::default();
        }
        Ok(())
    }

    /// Holds the windows with keys from `low` to below `high`, which becomes smaller if they are too many. Returns true if it
    /// did not, and all seeds were given.
    fn round(&mut self, low: u64, high: &mut u64, mut give: impl FnMut(Seed) -> Result<()>) -> Result<bool> {
        let mut fits = true;
        for at in 0..self.members.len() {
            let (document, address) = self.members[at];
            let first = self.load(document, address)?;
            let mut same = Streak::default();
            for (&key, window) in self.keys.iter().zip(first..) {
                if key < low || (key >= *high && *high != u64::MAX) {
                    continue;
                }
                let entry = self.windows.entry(key);
                let known = entry
                    .and_modify(|known| known.count = known.count.saturating_add(1))
                    .or_insert(First { address: window, document, count: 1 });
                if known.count > 1 && (self.within || known.document != document) {
                    same.add(window, known.address, &mut give)?;
                }
            }
            same.finish(&mut give)?;
            if self.windows.len() > self.limit {
                fits = false;
                let middle = low + (high.saturating_sub(low)) / 2;
                *high = middle.max(low + 1);
                let high = *high;
                self.windows.retain(|key, _| *key < high);
            }
        }
        Ok(fits)
    }

    /// Gives the seeds of a member whose windows are all held.
    fn answer(
        &mut self,
        at: usize,
        low: u64,
        high: u64,
        give: &mut impl FnMut(Seed) -> Result<()>,
    ) -> Result<()> {
        let (document, address) = self.members[at];
        let first = self.load(document, address)?;
        let mut same = Streak::default();
        for (&key, window) in self.keys.iter().zip(first..) {
            if key < low || (key >= high && high != u64::MAX) {
                continue;
            }
            let Some(known) = self.windows.get(&key) else { continue };
            let is_later = known.address != window && (self.within || known.document != document);
            if is_later && known.count >= self.min_count {
                same.add(window, known.address, give)?;
            }
        }
        same.finish(give)
    }

    /// Makes the keys of the windows that select the anchor at an address; returns the address of the first.
    fn load(&mut self, document: u32, address: u64) -> Result<u64> {
        let document = self.store.documents()[document as usize];
        let (window, length) = (self.winnow.window() as u64, self.winnow.guaranteed() as u64);
        let start = document.start.max(address.saturating_sub(window - 1));
        let end = document.end().min(address + length);
        self.store.read(start, end, &mut self.bytes, &mut self.words)?;
        gram_hashes(&self.words, self.winnow.gram(), &mut self.hashes);
        self.keys.clear();
        let Some((first, last)) = self.winnow.windows_of(&self.hashes, (address - start) as usize) else {
            return Ok(start);
        };
        let length = length as usize;
        gram_hashes(&self.words[first..(last + length).min(self.words.len())], length, &mut self.keys);
        Ok(start + first as u64)
    }
}

/// Consecutive windows whose first occurrences are consecutive.
#[derive(Default)]
struct Streak(Option<(u64, u64, u64)>);

impl Streak {
    fn add(&mut self, window: u64, first: u64, give: &mut impl FnMut(Seed) -> Result<()>) -> Result<()> {
        match &mut self.0 {
            Some((start, known, count))
                if *start + *count == window && *known + *count == first && *count < u64::from(u16::MAX) =>
            {
                *count += 1;
                Ok(())
            }
            last => match last.replace((window, first, 1)) {
                Some((start, known, count)) => give(seed(start, known, count)),
                None => Ok(()),
            },
        }
    }

    fn finish(self, give: &mut impl FnMut(Seed) -> Result<()>) -> Result<()> {
        match self.0 {
            Some((start, known, count)) => give(seed(start, known, count)),
            None => Ok(()),
        }
    }
}
