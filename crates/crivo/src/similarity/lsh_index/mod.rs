//! `LshIndex`: which of many sets are similar to a given one, or to each other?
//!
//! **Question.** Which of a million sets have a Jaccard similarity above a threshold with a given
//! set? Which pairs of them do?
//!
//! **Guarantee.** A pair of similarity `J` is a candidate with probability `P(J) = 1 − (1 − J^r)^b`
//! ([`Bands`]), at least 99 % at the threshold that the index was built for. A candidate is
//! reported as similar by the share of the `k` slots that are equal, which estimates its similarity
//! to about `1/√k`. If the caller has the sets, it can compute the exact similarity
//! ([`jaccard`](super::jaccard)).
//!
//! **Idea.** Each band of a signature is a key; sets that share a key are candidates. So a query
//! reads `b` buckets instead of a million signatures.
//!
//! **Crowded buckets.** A million equal sets share every bucket, which would be half a million
//! million pairs. Of a bucket with more than [`LshIndex::ALL_PAIRS_UP_TO`] sets,
//! [`candidates`](LshIndex::candidates) and [`similars`](LshIndex::similars) list only the pairs
//! with the smallest id. These pairs form a star, which still connects all sets of the bucket. A
//! query for one set always returns all of its candidates.
//!
//! **Memory.** `2k + 4b` bytes a set, 9 to 18 a bucket and about 40 for the id. With `k = 128` in
//! 16 bands that is about half a kilobyte a set.
//!
//! **When not to use it.** For a few thousand sets, where comparing all of them takes a second.
//! Across restarts: the index lives in memory and has no file format. [`LshContents`] takes an
//! index to another process.
//!
//! **Sources.** The sources of [`Bands`]. Li, König: *b-bit minwise hashing* (2010), for slots of
//! fewer bits.

mod buckets;
mod contents;
mod hits;
mod ids;
mod store;

use self::buckets::Buckets;
pub use self::contents::LshContents;
use self::hits::EqualSlots;
pub use self::hits::{Similar, SimilarPair};
use self::ids::Ids;
use self::store::{Store, equal_slots, shorten};
use super::{Bands, MinHash};
use crate::error::{Error, Result};
use crate::keys::KeyScheme;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// An index of sketches by their bands; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::similarity::{LshIndex, MinHash};
///
/// let mut index = LshIndex::for_threshold(0.5, 128)?;
/// for (id, text) in ["a b c d e f g", "a b c d e f h", "x y z"].into_iter().enumerate() {
///     let mut words = MinHash::new(128)?;
///     text.split(' ').try_for_each(|word| words.insert(word))?;
///     index.insert(id as u64, &words)?;
/// }
/// let pairs = index.similars(0.5)?;
/// assert_eq!(pairs.len(), 1);
/// assert_eq!(pairs[0].ids(), (0, 1));                 // six words of eight in common
/// assert!(pairs[0].estimate().covers(0.75));
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LshIndex {
    scheme: KeyScheme,
    k: u32,
    bands: Bands,
    all_pairs_up_to: usize,
    ids: Ids,
    store: Store,
    /// One for each band.
    buckets: Vec<Buckets>,
    /// A buffer for the keys of one signature.
    keys: Vec<u64>,
}

// ---- construction ----

impl LshIndex {
    /// The size of the largest bucket whose pairs are all listed. Of a larger bucket, only the pairs
    /// with its smallest id are listed.
    pub const ALL_PAIRS_UP_TO: usize = 100;

    /// Returns an empty index for sketches of bytes or text with `k` slots, cut into the given
    /// bands.
    ///
    /// # Errors
    /// If the bands use more than `k` slots, or if no sketch can have `k` slots.
    pub fn new(k: u32, bands: Bands) -> Result<Self> {
        Self::with_scheme(k, bands, KeyScheme::bytes())
    }

    /// Returns an empty index for sketches of the given scheme.
    ///
    /// # Errors
    /// If the bands use more than `k` slots, or if no sketch can have `k` slots.
    ///
    /// ```
    /// use crivo::{keys::KeyScheme, similarity::{Bands, LshIndex}};
    /// let films = LshIndex::with_scheme(128, Bands::new(16, 8)?, KeyScheme::integers())?;
    /// assert!(LshIndex::new(100, Bands::new(16, 8)?).is_err());
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn with_scheme(k: u32, bands: Bands, scheme: KeyScheme) -> Result<Self> {
        MinHash::with_scheme(k, scheme)?;
        if bands.slots() > k {
            let allowed = format!("at most {k} slots, as the sketches have");
            let found = format!("{} × {} = {}", bands.bands(), bands.rows(), bands.slots());
            return Err(Error::parameter("bands", allowed, found));
        }
        Ok(Self {
            scheme,
            k,
            bands,
            all_pairs_up_to: Self::ALL_PAIRS_UP_TO,
            ids: Ids::default(),
            store: Store::new(k, bands.bands()),
            buckets: vec![Buckets::default(); bands.bands() as usize],
            keys: Vec::new(),
        })
    }

    /// Returns an empty index, for bytes or text, with the bands that [`Bands::for_threshold`]
    /// chooses for the threshold.
    ///
    /// # Errors
    /// If `k` slots are too few for so low a threshold, or if the threshold or `k` is out of range.
    pub fn for_threshold(threshold: f64, k: u32) -> Result<Self> {
        Self::new(k, Bands::for_threshold(threshold, k)?)
    }

    /// Returns an empty index, for keys of the given scheme, with the bands that fit the threshold.
    ///
    /// # Errors
    /// As for [`for_threshold`](Self::for_threshold).
    pub fn for_threshold_with_scheme(threshold: f64, k: u32, scheme: KeyScheme) -> Result<Self> {
        Self::with_scheme(k, Bands::for_threshold(threshold, k)?, scheme)
    }

    /// Returns the index with another limit than [`ALL_PAIRS_UP_TO`](Self::ALL_PAIRS_UP_TO).
    #[must_use]
    pub fn with_all_pairs_up_to(self, sets: usize) -> Self {
        Self { all_pairs_up_to: sets, ..self }
    }
}

// ---- update ----

impl LshIndex {
    /// Adds a set under an id that the caller chooses.
    ///
    /// # Errors
    /// If the id is in the index already (remove it first), if the set is empty, if `k` or the
    /// scheme differs from the index's, or if there is no memory. The index is unchanged then.
    pub fn insert(&mut self, id: u64, sketch: &MinHash) -> Result<()> {
        self.require_fit(sketch)?;
        if sketch.is_empty() {
            return Err(Error::incompatible(
                "set",
                "at least one element",
                "an empty set",
                "what has no features is like nothing: treat it apart",
            ));
        }
        if self.ids.number_of(id).is_some() {
            return Err(Error::parameter("id", "one that is not in the index; remove it first", id));
        }
        let number = self.ids.next_number()?;
        self.store.reserve(number)?;
        let mut keys = std::mem::take(&mut self.keys);
        let linked = self.link(number, sketch.slots(), &mut keys);
        self.keys = keys;
        // If memory ran out between two bands, the number belongs to no set. Queries that find the
        // number in a bucket skip it.
        self.ids.push(linked.is_ok().then_some(id));
        linked
    }

    /// Adds a set to its bucket in each band.
    fn link(&mut self, number: u32, slots: &[u64], keys: &mut Vec<u64>) -> Result<()> {
        self.bands.keys(slots, keys)?;
        for (buckets, &key) in self.buckets.iter().zip(&*keys) {
            buckets.prefetch(short(key));
        }
        shorten(slots, self.store.signature_mut(number));
        for (band, (buckets, &key)) in self.buckets.iter_mut().zip(&*keys).enumerate() {
            let older = buckets.replace(short(key), number)?;
            self.store.set_older(number, band, older);
        }
        Ok(())
    }

    /// Removes a set. Returns true if it was in the index.
    pub fn remove(&mut self, id: u64) -> bool {
        let removed = self.ids.remove(id);
        if self.ids.mostly_removed()
            && let Ok(cleaned) = self.cleaned_up()
        {
            *self = cleaned;
        }
        removed
    }

    /// Returns the same index without the memory of removed sets. The sets keep their order and are
    /// numbered without gaps.
    fn cleaned_up(&self) -> Result<Self> {
        let (ids, moves) = self.ids.compacted();
        let moved = |number: u32| moves.get(number as usize).copied().flatten();
        let mut cleaned = Self { ids, ..Self::with_scheme(self.k, self.bands, self.scheme)? }
            .with_all_pairs_up_to(self.all_pairs_up_to);
        for (former, number) in
            moves.iter().enumerate().filter_map(|(former, number)| Some((former, (*number)?)))
        {
            cleaned.store.reserve(number)?;
            cleaned.store.signature_mut(number).copy_from_slice(self.store.signature(former as u32));
        }
        let mut chain = Vec::new();
        for (band, buckets) in self.buckets.iter().enumerate() {
            for (key, newest) in buckets.iter() {
                chain.clear();
                chain.extend(self.store.chain(Some(newest), band).filter_map(moved));
                // From the oldest to the newest, in the order of insertion.
                for &number in chain.iter().rev() {
                    let older = cleaned.buckets[band].replace(key, number)?;
                    cleaned.store.set_older(number, band, older);
                }
            }
        }
        Ok(cleaned)
    }
}

// ---- query ----

impl LshIndex {
    /// Returns all pairs that share a bucket, each once, in ascending order. The smaller id of a
    /// pair is first. Buckets of more than [`ALL_PAIRS_UP_TO`](Self::ALL_PAIRS_UP_TO) sets are
    /// described in the [module](self).
    pub fn candidates(&self) -> Vec<(u64, u64)> {
        self.candidate_numbers()
            .into_iter()
            .filter_map(|(first, second)| Some((self.ids.id_of(first)?, self.ids.id_of(second)?)))
            .collect()
    }

    /// Returns the ids of the sets that share a bucket with this one, in ascending order. If the
    /// set itself is in the index, the result contains its id. An empty set shares no bucket.
    ///
    /// # Errors
    /// If `k` or the scheme differs from the index's.
    pub fn candidates_to(&self, sketch: &MinHash) -> Result<Vec<u64>> {
        let numbers = self.candidate_numbers_to(sketch)?;
        let mut ids: Vec<u64> = numbers.into_iter().filter_map(|number| self.ids.id_of(number)).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// Returns the candidates whose estimated similarity is at least `threshold`, in the order of
    /// [`candidates`](Self::candidates).
    ///
    /// # Errors
    /// If the threshold is not in (0, 1].
    pub fn similars(&self, threshold: f64) -> Result<Vec<SimilarPair>> {
        check_threshold(threshold)?;
        let judged = |(first, second): (u32, u32)| {
            let slots = self.compare(self.store.signature(first), second);
            let ids = (self.ids.id_of(first)?, self.ids.id_of(second)?);
            (slots.similarity() >= threshold).then_some(SimilarPair { ids, slots })
        };
        Ok(self.candidate_numbers().into_iter().filter_map(judged).collect())
    }

    /// Returns the sets whose estimated similarity to this one is at least `threshold`, in the
    /// order of their ids. If the set itself is in the index, the result contains it.
    ///
    /// # Errors
    /// If the threshold is not in (0, 1], or if `k` or the scheme differs from the index's.
    ///
    /// ```
    /// use crivo::{keys::KeyScheme, similarity::{Bands, LshIndex, MinHash}};
    ///
    /// let mut users = LshIndex::with_scheme(128, Bands::for_threshold(0.6, 128)?, KeyScheme::integers())?;
    /// let seen = |films: std::ops::Range<u64>| -> crivo::Result<MinHash> {
    ///     let mut sketch = MinHash::with_scheme(128, KeyScheme::integers())?;
    ///     films.into_iter().try_for_each(|film| sketch.insert(&film))?;
    ///     Ok(sketch)
    /// };
    /// users.insert(7, &seen(0..100)?)?;
    /// users.insert(9, &seen(1000..1100)?)?;
    /// let alike = users.similars_to(&seen(10..110)?, 0.6)?;
    /// assert_eq!(alike.iter().map(|user| user.id()).collect::<Vec<_>>(), [7]);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn similars_to(&self, sketch: &MinHash, threshold: f64) -> Result<Vec<Similar>> {
        check_threshold(threshold)?;
        let numbers = self.candidate_numbers_to(sketch)?;
        let mut signature = vec![0; self.k as usize];
        shorten(sketch.slots(), &mut signature);
        let judged = |number| {
            let slots = self.compare(&signature, number);
            let id = self.ids.id_of(number)?;
            (slots.similarity() >= threshold).then_some(Similar { id, slots })
        };
        let mut similars: Vec<Similar> = numbers.into_iter().filter_map(judged).collect();
        similars.sort_unstable_by_key(|similar| similar.id);
        Ok(similars)
    }

    /// Returns true if a set with this id is in the index.
    pub fn contains(&self, id: u64) -> bool {
        self.ids.number_of(id).is_some()
    }

    /// The number of sets in the index.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns true if the index has no sets.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bands into which signatures are cut.
    pub fn bands(&self) -> Bands {
        self.bands
    }

    /// The number of slots of the sketches.
    pub fn k(&self) -> u32 {
        self.k
    }

    /// The scheme under which the sketches hash their keys.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// The number of bytes of memory in use, including the struct itself.
    pub fn memory(&self) -> usize {
        let buckets: usize = self.buckets.iter().map(|buckets| size_of::<Buckets>() + buckets.memory()).sum();
        size_of::<Self>()
            + self.ids.memory()
            + self.store.memory()
            + buckets
            + self.keys.capacity() * size_of::<u64>()
    }

    fn compare(&self, signature: &[u16], number: u32) -> EqualSlots {
        EqualSlots { equal: equal_slots(signature, self.store.signature(number)), k: self.k }
    }

    /// Returns the numbers of the sets that share a bucket with this one, each once, in ascending
    /// order.
    fn candidate_numbers_to(&self, sketch: &MinHash) -> Result<Vec<u32>> {
        self.require_fit(sketch)?;
        let (mut keys, mut numbers) = (Vec::with_capacity(self.buckets.len()), Vec::new());
        if sketch.is_empty() {
            return Ok(numbers);
        }
        self.bands.keys(sketch.slots(), &mut keys)?;
        for (buckets, &key) in self.buckets.iter().zip(&keys) {
            buckets.prefetch(short(key));
        }
        for (band, (buckets, &key)) in self.buckets.iter().zip(&keys).enumerate() {
            numbers.extend(self.store.chain(buckets.newest(short(key)), band));
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }

    /// Returns each pair that shares a bucket, once, in the order of their ids.
    fn candidate_numbers(&self) -> Vec<(u32, u32)> {
        let (mut pairs, mut different) = (Vec::new(), 0);
        let mut members: Vec<(u64, u32)> = Vec::new();
        for (band, buckets) in self.buckets.iter().enumerate() {
            for (_, newest) in buckets.iter() {
                members.clear();
                members.extend(
                    self.store
                        .chain(Some(newest), band)
                        .filter_map(|number| self.ids.id_of(number).map(|id| (id, number))),
                );
                members.sort_unstable();
                // In a crowded bucket only the pairs with the smallest id are listed.
                let centres = if members.len() > self.all_pairs_up_to { 1 } else { members.len() };
                for (position, &(_, first)) in members.iter().enumerate().take(centres) {
                    pairs.extend(members[position + 1..].iter().map(|&(_, second)| (first, second)));
                }
            }
            // Similar pairs share many bands, so repetitions are removed before they fill the
            // memory.
            if pairs.len() > 2 * different + 1024 {
                pairs.sort_unstable();
                pairs.dedup();
                different = pairs.len();
            }
        }
        pairs.sort_unstable_by_key(|&(first, second)| (self.ids.id_of(first), self.ids.id_of(second)));
        pairs.dedup();
        pairs
    }

    fn require_fit(&self, sketch: &MinHash) -> Result<()> {
        self.scheme.require_same(sketch.scheme())?;
        if self.k == sketch.k() {
            Ok(())
        } else {
            let advice = "an index holds sketches of one size: build them with its k";
            Err(Error::incompatible("k", self.k, sketch.k(), advice))
        }
    }
}

/// Returns the part of a band's key that identifies its bucket. Different keys have the same part
/// with probability 2^−32, which at times makes a false candidate.
fn short(key: u64) -> u32 {
    (key >> 32) as u32
}

fn check_threshold(threshold: f64) -> Result<()> {
    if threshold > 0.0 && threshold <= 1.0 {
        Ok(())
    } else {
        Err(Error::parameter("threshold", "a similarity above 0 and at most 1", threshold))
    }
}
