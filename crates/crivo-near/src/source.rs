//! Sources of sets: texts that are shingled, or sets of the caller.
//!
//! A collection is not kept in memory, so it is read more than once: once to sign all members, and
//! once more to compare the candidates exactly. So a source must return the same members at the
//! same places every time.

use crivo::similarity::shingle::Shingles;
use xxhash_rust::xxh3::xxh3_128;

use crate::error::Result;
use crate::parallel::deal;
use crate::text::TextShingler;

/// One member of a collection, as a set of hashes.
#[derive(Debug, Clone, Copy)]
pub struct Member<'a> {
    /// The place, which ascends in the order of the collection and is the same at every reading.
    /// Gaps are allowed.
    pub place: u64,
    /// The hashes of its set, in any order and possibly repeated. For a giant member, a part of
    /// them.
    pub hashes: &'a [u64],
    /// True if the next call is for the same member and has more of its hashes.
    pub is_continued: bool,
    /// A fingerprint of the content. It is equal for equal content; different contents collide with
    /// a chance of 2^−128.
    pub fingerprint: u128,
    /// The length, which decides which member of a cluster is the longest.
    pub length: u32,
}

/// A collection of sets that can be read several times.
pub trait Source: Sync {
    /// Reads every member once, on any number of threads. Each thread begins with a state from
    /// `make`, and all states are returned. `wants` gets the place of each member. If it returns
    /// true, the member is passed to `take`; otherwise its set need not be computed.
    ///
    /// # Errors
    /// The first error of reading or of `take`.
    fn read<S: Send>(
        &self,
        make: &(dyn Fn() -> S + Sync),
        wants: &(dyn Fn(&mut S, u64) -> bool + Sync),
        take: &(dyn Fn(&mut S, Member<'_>) -> Result<()> + Sync),
    ) -> Result<Vec<S>>;

    /// Returns true if sets are in memory, so that reading them again costs nothing. Otherwise a
    /// search keeps the sets of a small collection.
    fn is_in_memory(&self) -> bool {
        false
    }
}

/// The least number of bytes of a text whose shingles are given in pieces, because all of them
/// together would take more memory than the text.
const GIANT: usize = 8 << 20;

/// A function that gets a thread's state, the place of a text, and the text.
pub type TakeText<'f, S> = dyn Fn(&mut S, u64, &[u8]) -> Result<()> + Sync + 'f;

/// A collection of texts that can be read several times.
pub trait Documents: Sync {
    /// Reads every text once, on any number of threads. `take` gets the place of each text, which
    /// ascends in the order of the collection and is the same at every reading.
    ///
    /// # Errors
    /// The first error of reading or of `take`.
    fn read<S: Send>(&self, make: &(dyn Fn() -> S + Sync), take: &TakeText<'_, S>) -> Result<Vec<S>>;
}

/// Texts as sets of their shingles.
#[derive(Debug)]
pub struct Shingled<'a, D> {
    documents: &'a D,
    shingles: &'a Shingles,
    seed: u64,
    nfc: bool,
}

impl<'a, D: Documents> Shingled<'a, D> {
    /// Creates a source of the shingles of a collection's texts. If `nfc` is set, texts are
    /// converted to normal form C first.
    pub fn new(documents: &'a D, shingles: &'a Shingles, seed: u64, nfc: bool) -> Self {
        Self { documents, shingles, seed, nfc }
    }
}

impl<D: Documents> Source for Shingled<'_, D> {
    fn read<S: Send>(
        &self,
        make: &(dyn Fn() -> S + Sync),
        wants: &(dyn Fn(&mut S, u64) -> bool + Sync),
        take: &(dyn Fn(&mut S, Member<'_>) -> Result<()> + Sync),
    ) -> Result<Vec<S>> {
        let states = self.documents.read(
            &|| (make(), TextShingler::new(self.shingles.clone(), self.seed, self.nfc)),
            &|(state, shingler), place, text| {
                if !wants(state, place) {
                    return Ok(());
                }
                let mut member = Member {
                    place,
                    hashes: &[],
                    is_continued: false,
                    fingerprint: xxh3_128(text),
                    length: u32::try_from(text.len()).unwrap_or(u32::MAX),
                };
                if text.len() < GIANT {
                    member.hashes = shingler.shingles(text);
                    return take(state, member);
                }
                let part = Member { is_continued: true, ..member };
                shingler.try_for_each_piece(text, |hashes| take(state, Member { hashes, ..part }))?;
                take(state, member)
            },
        )?;
        Ok(states.into_iter().map(|(state, _)| state).collect())
    }
}

/// Texts in memory.
#[derive(Debug)]
pub struct Texts<'a, T> {
    texts: &'a [T],
    threads: usize,
}

impl<'a, T: AsRef<[u8]> + Sync> Texts<'a, T> {
    /// Returns a source of these texts, read on the given number of threads.
    pub fn new(texts: &'a [T], threads: usize) -> Self {
        Self { texts, threads: threads.max(1) }
    }
}

/// The number of texts that a thread takes at once.
const TEXTS_AT_ONCE: usize = 256;

impl<T: AsRef<[u8]> + Sync> Documents for Texts<'_, T> {
    fn read<S: Send>(&self, make: &(dyn Fn() -> S + Sync), take: &TakeText<'_, S>) -> Result<Vec<S>> {
        deal(self.threads, self.texts.len().div_ceil(TEXTS_AT_ONCE), make, |state, task| {
            let first = task * TEXTS_AT_ONCE;
            let texts = self.texts[first..].iter().take(TEXTS_AT_ONCE);
            texts.enumerate().try_for_each(|(index, text)| take(state, (first + index) as u64, text.as_ref()))
        })
    }
}
