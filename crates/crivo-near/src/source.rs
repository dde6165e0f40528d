//! Where sets come from: texts that are shingled, or sets brought by the caller.
//!
//! A collection is read more than once, because it is not kept: once to sign everything, once more
//! to compare the candidates exactly. So a source has to give the same members at the same places
//! every time.

use crivo::similarity::shingle::Shingles;
use xxhash_rust::xxh3::xxh3_128;

use crate::error::Result;
use crate::parallel::deal;
use crate::text::TextShingler;

/// One member of a collection, as a set of hashes.
#[derive(Debug, Clone, Copy)]
pub struct Member<'a> {
    /// Ascending in the order of the collection, and the same at every reading; gaps are allowed.
    pub place: u64,
    /// The hashes of its set, in any order, also repeated; of a giant member some of them.
    pub hashes: &'a [u64],
    /// True if the next call is for the same member and has more of its hashes.
    pub is_continued: bool,
    /// Equal for equal content, and by nothing but a chance of 2^−128 for other content.
    pub fingerprint: u128,
    /// How long it is, where the longest of a cluster is to be kept.
    pub length: u32,
}

/// A collection of sets that can be read again and again.
pub trait Source: Sync {
    /// Reads every member once, on any number of threads: each begins with a state from `make`, and
    /// all states come back. `wants` is told the place of each member the thread has; if it says
    /// so, `take` is given the member, and otherwise its set need not be made.
    ///
    /// # Errors
    /// The first of reading and of `take`.
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

/// The shingles of a text of this many bytes or more are given in pieces: all of them would take
/// more memory than the text.
const GIANT: usize = 8 << 20;

/// Given a state, the place of a text, and the text.
pub type TakeText<'f, S> = dyn Fn(&mut S, u64, &[u8]) -> Result<()> + Sync + 'f;

/// A collection of texts that can be read again and again.
pub trait Documents: Sync {
    /// Reads every text once, on any number of threads; `take` is given the place of each,
    /// ascending in the order of the collection and the same at every reading.
    ///
    /// # Errors
    /// The first of reading and of `take`.
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
    /// The texts of a collection, cut in one way, in normal form C if `nfc` is set.
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

/// How many texts a thread takes at once.
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
