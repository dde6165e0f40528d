//! `LshIndex`: which of many sets are like this one, or like each other?
//!
//! **Question.** Among a million sets, which have a Jaccard similarity above a threshold with a
//! given one; and which pairs of them?
//!
//! **Guarantee.** A pair of similarity `J` is a candidate with probability `P(J) = 1 − (1 − J^r)^b`
//! ([`Bands`]), at least 99 % at the threshold that the index was built for. What is reported as
//! similar is judged by the `k` slots of its signatures: its similarity is known to about `1/√k`,
//! and the exact one is the caller's to compute ([`jaccard`](super::jaccard)) where sets are at
//! hand.
//!
//! **Idea.** Each band of a signature is a key; sets that share a key are candidates. So a query
//! looks into `b` buckets instead of at a million signatures.
//!
//! **Crowds.** A million equal sets share every bucket, and would be half a million million pairs.
//! Of a bucket with more than [`LshIndex::ALL_PAIRS_UP_TO`] sets,
//! [`candidates`](LshIndex::candidates) and [`similars`](LshIndex::similars) name only the pairs
//! with the smallest id: a star, which still connects all of them. A query for one set is never cut
//! short.
//!
//! **Memory.** `2k + 4b` bytes a set, 9 to 18 a bucket and about 40 for the id: with `k = 128` in
//! 16 bands about half a kilobyte a set.
//!
//! **When not to use it.** For a few thousand sets: comparing all of them takes a second. Across
//! restarts: it lives in memory, and is no file; [`LshContents`] takes one to another process.
//!
//! **Sources.** Those of [`Bands`]. Li, König: *b-bit minwise hashing* (2010), for slots of fewer
//! bits.

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
    /// Room for the keys of one signature.
    keys: Vec<u64>,
}

// ---- construction ----

impl LshIndex {
    /// Of a bucket with more sets than this, only the pairs with the smallest id are named.
    pub const ALL_PAIRS_UP_TO: usize = 100;

    /// An empty index for sketches of bytes or text with `k` slots, cut into the given bands.
    ///
    /// # Errors
    /// If the bands use more than `k` slots, or if no sketch has `k`.
    pub fn new(k: u32, bands: Bands) -> Result<Self> {
        Self::with_scheme(k, bands, KeyScheme::bytes())
    }

    /// An empty index for sketches of the given scheme.
    ///
    /// # Errors
    /// If the bands use more than `k` slots, or if no sketch has `k`.
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

    /// An empty index, for bytes or text, of the bands that fit the threshold: see
    /// [`Bands::for_threshold`].
    ///
    /// # Errors
    /// If `k` slots are too few for so low a threshold, or one of the two is out of range.
    pub fn for_threshold(threshold: f64, k: u32) -> Result<Self> {
        Self::new(k, Bands::for_threshold(threshold, k)?)
    }

    /// Returns an empty index, for keys of the given scheme, of the bands that fit the threshold.
    ///
    /// # Errors
    /// As for [`for_threshold`](Self::for_threshold).
    pub fn for_threshold_with_scheme(threshold: f64, k: u32, scheme: KeyScheme) -> Result<Self> {
        Self::with_scheme(k, Bands::for_threshold(threshold, k)?, scheme)
    }

    /// The same index with another limit than [`ALL_PAIRS_UP_TO`](Self::ALL_PAIRS_UP_TO).
    #[must_use]
    pub fn with_all_pairs_up_to(self, sets: usize) -> Self {
        Self { all_pairs_up_to: sets, ..self }
    }
}

// ---- update ----

impl LshIndex {
    /// Adds a set under an id of the caller's.
    ///
    /// # Errors
    /// If the id is in the index already (remove it first), if the set is empty, if `k` or the
    /// scheme is not the index's, or if there is no memory; the index is unchanged then.
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
        // If memory ran out between two bands, the number belongs to no set, and queries that find
        // it in a bucket skip it.
        self.ids.push(linked.is_ok().then_some(id));
        linked
    }

    /// Puts a set into a bucket of each band.
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

    /// Takes a set out, and says whether it was in.
    pub fn remove(&mut self, id: u64) -> bool {
        let removed = self.ids.remove(id);
        if self.ids.mostly_removed()
            && let Ok(cleaned) = self.cleaned_up()
        {
            *self = cleaned;
        }
        removed
    }

    /// The same index without the memory of removed sets: numbers close up, in the same order.
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
                // From the oldest to the newest, as they came.
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
    /// All pairs that share a bucket, each once: the smaller id first, in ascending order. See the
    /// [module](self) for buckets of more than [`ALL_PAIRS_UP_TO`](Self::ALL_PAIRS_UP_TO) sets.
    pub fn candidates(&self) -> Vec<(u64, u64)> {
        self.candidate_numbers()
            .into_iter()
            .filter_map(|(first, second)| Some((self.ids.id_of(first)?, self.ids.id_of(second)?)))
            .collect()
    }

    /// The ids of the sets that share a bucket with this one, in ascending order. If it is in the
    /// index itself, so is its id among them. An empty set shares none.
    ///
    /// # Errors
    /// If `k` or the scheme is not the index's.
    pub fn candidates_to(&self, sketch: &MinHash) -> Result<Vec<u64>> {
        let numbers = self.candidate_numbers_to(sketch)?;
        let mut ids: Vec<u64> = numbers.into_iter().filter_map(|number| self.ids.id_of(number)).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// The candidates whose estimated similarity is at least `threshold`, in the order of
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

    /// The sets like this one, whose estimated similarity is at least `threshold`, in the order of
    /// their ids. If it is in the index itself, so is its id among them.
    ///
    /// # Errors
    /// If the threshold is not in (0, 1], or if `k` or the scheme is not the index's.
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

    /// Returns true if a set of this id is in the index.
    pub fn contains(&self, id: u64) -> bool {
        self.ids.number_of(id).is_some()
    }

    /// Returns how many sets are in the index.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns true if no set is in the index.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bands into which signatures are cut.
    pub fn bands(&self) -> Bands {
        self.bands
    }

    /// The number of slots of the sketches.
    pub fn k(&self) -> u32 {
        self.k
    }

    /// Returns how the sketches' keys are hashed.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// Bytes of memory in use, the struct itself included.
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

    /// Each set that shares a bucket, once, in the order of their numbers.
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

    /// Each pair that shares a bucket, once, in the order of their ids.
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
                // A crowd is a star around its smallest id.
                let centres = if members.len() > self.all_pairs_up_to { 1 } else { members.len() };
                for (position, &(_, first)) in members.iter().enumerate().take(centres) {
                    pairs.extend(members[position + 1..].iter().map(|&(_, second)| (first, second)));
                }
            }
            // Pairs that are alike share many bands: repetitions must not pile up.
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

/// The part of a band's key that its bucket is known by. Different keys share it with a chance of
/// 2^−32: a candidate more, at times.
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
