// This file is long because it contains the documentation and the examples of its public functions.

//! MinHash: how similar are two sets, from a few hundred numbers each?
//!
//! **Question.** What share of the union of two sets is in both? This is the Jaccard similarity
//! `J = |A ∩ B| / |A ∪ B|`.
//!
//! **Guarantee.** With `k` slots the share of equal slots has mean `J`, without bias, and a
//! standard error of at most `√(J(1 − J)/k)`. For `k = 400` that is at most 0.025: the similarity
//! is within 0.05 with 95 % confidence. This holds for sets of one element and of a million. The
//! bounds are those of `k` independent trials, and a little wide for sets smaller than `k`.
//!
//! **Idea.** Put all elements in a random order. The first element of the union is in both sets
//! with probability `J`, and only then do both sets have the same first element. `k` random orders
//! make `k` trials, but cost `k` hashes an element. Here one hash puts the element into one of `k`
//! slots, and each slot keeps its smallest value. Slots that stay empty are filled by further
//! rounds, whose values are larger than those of all earlier rounds (*Fast Similarity Sketching*).
//! So 1,000 elements at `k = 128` take little more than 1,000 steps instead of 128,000.
//!
//! The high bits of a slot are the round in which it was filled. So the smaller of two slots is the
//! slot of the union: merging two sketches gives, bit for bit, the sketch of the union.
//!
//! **When not to use it.** For sets whose elements can be compared directly:
//! [`jaccard`](super::jaccard) is exact and fast enough for millions of pairs. For sizes of unions
//! and intersections: [`KMinValues`](crate::distinct::KMinValues). For finding the similar ones
//! among many sets it is only the first step. The next ones are [`Bands`](super::Bands) and
//! [`LshIndex`](super::LshIndex).
//!
//! **Two empty sets** have no similarity. [`MinHash::similarity`] refuses them, so that texts too
//! short for any feature never count as duplicates of each other.
//!
//! **Sources.** Broder: *On the resemblance and containment of documents* (1997). Dahlgaard,
//! Knudsen, Thorup: *Fast similarity sketching* (2017, arXiv 1704.04370).
//!
//! **Where this departs from the papers.** The paper adds the round to a real number. Here the
//! round is in the high bits of an integer. A later element runs through as many rounds as the
//! slots still need. So inserting one by one, in batches or by merging gives the same bytes.

mod rounds;
mod signature;

use std::ops::RangeInclusive;

use self::rounds::{EMPTY, all_rounds, fraction_of, insert_all, insert_one, round_of, rounds_of};
pub(super) use self::signature::spread;
pub use self::signature::{compact, sign};
use crate::codec::{Decode, Encode, Family, Header, Parameter, Parameters, Reader, Summary, Writer};
use crate::error::{Error, ErrorKind, Result};
use crate::estimate::{Confidence, Estimate};
use crate::keys::KeyScheme;
use crate::math::{chances, two_sided_quantile};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{Merge, impl_insert_by_hash, impl_sketch};

/// The sketch of a set, which estimates the set's similarity to others. See the [module](self) for
/// the guarantee.
///
/// ```
/// use crivo::similarity::MinHash;
///
/// let (mut ana, mut rui) = (MinHash::for_bound(0.05)?, MinHash::for_bound(0.05)?);
/// for film in 0..600_u32 {
///     ana.insert(format!("film {film}").as_str())?;
///     rui.insert(format!("film {}", film + 200).as_str())?;
/// }
/// let alike = ana.similarity(&rui)?;
/// assert!(alike.covers(0.5) && alike.upper() - alike.lower() < 0.11);
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MinHash {
    scheme: KeyScheme,
    k: u32,
    /// The number of rounds an element has to run through; all of them while the set is empty.
    rounds: u32,
    /// Has `k` slots, or none while the set is empty. One element fills every slot.
    slots: Vec<u64>,
}

// ---- limits and sizing ----

impl MinHash {
    /// The numbers of slots a sketch may have. The largest has an error of 0.0055 in 256 KiB. (The
    /// round of a slot has 16 bits, and there are `2k` rounds.)
    pub const SIZES: RangeInclusive<u32> = 1..=32_767;

    /// Returns the largest error of the similarity, with about 95 % confidence: `1/√k`. That is two
    /// standard errors at `J = 1/2`, where the standard error is largest. At similarity `J` it is
    /// at most `√(J(1 − J)/k)`.
    pub fn bound(k: u32) -> f64 {
        1.0 / f64::from(k).sqrt()
    }

    /// Returns the number of slots for which the error of the similarity is less than `bound` with
    /// about 95 % confidence: `⌈1/bound²⌉`.
    ///
    /// # Errors
    /// If that number is not in [`SIZES`](Self::SIZES).
    ///
    /// ```
    /// use crivo::similarity::MinHash;
    /// assert_eq!(MinHash::k_for(0.05)?, 400);
    /// assert!(MinHash::k_for(0.001).is_err());
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn k_for(bound: f64) -> Result<u32> {
        // The square is rounded; without this factor 0.05 could give 401 instead of 400.
        let k = libm::ceil((1.0 - 1e-12) / (bound * bound));
        if bound > 0.0 && bound < 1.0 && k <= f64::from(*Self::SIZES.end()) {
            Ok(k as u32)
        } else {
            let least = Self::bound(*Self::SIZES.end());
            Err(Error::parameter("bound", format_args!("a number from {least:.6} to below 1"), bound))
        }
    }

    fn check_size(k: u32) -> Result<()> {
        if Self::SIZES.contains(&k) {
            Ok(())
        } else {
            let (least, most) = Self::SIZES.into_inner();
            Err(Error::parameter("k", format_args!("{least} to {most}"), k))
        }
    }
}

// ---- construction ----

impl MinHash {
    /// Returns the sketch of an empty set, with `k` slots, for keys that are bytes or text.
    ///
    /// # Errors
    /// If `k` is not in [`SIZES`](Self::SIZES).
    pub fn new(k: u32) -> Result<Self> {
        Self::with_scheme(k, KeyScheme::bytes())
    }

    /// Returns the sketch of an empty set for keys of the given scheme. If the caller computes the
    /// hashes, any distinct integers will do, because they are mixed here.
    ///
    /// # Errors
    /// If `k` is not in [`SIZES`](Self::SIZES).
    ///
    /// ```
    /// use crivo::{keys::KeyScheme, similarity::MinHash};
    /// let mut films = MinHash::with_scheme(128, KeyScheme::integers())?;
    /// films.insert(&1234_u64)?;
    /// assert!(films.insert("1234").is_err());
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn with_scheme(k: u32, scheme: KeyScheme) -> Result<Self> {
        Self::check_size(k)?;
        Ok(Self { scheme, k, rounds: all_rounds(k), slots: Vec::new() })
    }

    /// Returns the sketch of an empty set, for bytes or text, of the size that has the given bound;
    /// see [`k_for`](Self::k_for).
    ///
    /// # Errors
    /// If no size has this bound.
    pub fn for_bound(bound: f64) -> Result<Self> {
        Self::new(Self::k_for(bound)?)
    }

    /// Returns the sketch of an empty set, for keys of the given scheme, of the size that has the
    /// given bound.
    ///
    /// # Errors
    /// If no size has this bound.
    pub fn for_bound_with_scheme(bound: f64, scheme: KeyScheme) -> Result<Self> {
        Self::with_scheme(Self::k_for(bound)?, scheme)
    }
}

// ---- update ----

impl MinHash {
    /// Adds one key by its hash, which must be computed with this sketch's
    /// [`scheme`](Self::scheme).
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) {
        self.make_slots();
        self.rounds = insert_one(&mut self.slots, hash, self.rounds);
    }

    /// Adds many keys by their hashes. Same result as one by one, but faster.
    pub fn insert_hashes(&mut self, hashes: &[u64]) {
        if !hashes.is_empty() {
            self.make_slots();
            insert_all(&mut self.slots, hashes, self.rounds);
            if self.rounds > 1 {
                self.rounds = rounds_of(&self.slots);
            }
        }
    }

    #[inline]
    fn make_slots(&mut self) {
        if self.slots.is_empty() {
            self.slots = vec![EMPTY; self.k as usize];
        }
    }
}

impl_insert_by_hash!(MinHash);

// ---- query ----

impl MinHash {
    /// Returns the Jaccard similarity of the two sets, with bounds at 95 %. If one of them is
    /// empty, it is exactly 0.
    ///
    /// # Errors
    /// If both sets are empty, because their similarity is undefined, or if `k` or the schemes
    /// differ.
    pub fn similarity(&self, other: &Self) -> Result<Estimate> {
        self.similarity_at(other, Confidence::P95)
    }

    /// Returns the Jaccard similarity of the two sets, with bounds at the given confidence.
    ///
    /// # Errors
    /// As for [`similarity`](Self::similarity).
    pub fn similarity_at(&self, other: &Self, confidence: Confidence) -> Result<Estimate> {
        self.require_same(other)?;
        match (self.is_empty(), other.is_empty()) {
            (true, true) => Err(Error::new(
                ErrorKind::Incompatible,
                "sets",
                "at least one element in one of them",
                "two empty sets",
                "what has no features cannot be compared by them: treat it apart",
            )),
            (false, false) => {
                let equal =
                    self.slots.iter().zip(&other.slots).filter(|(mine, theirs)| mine == theirs).count();
                Ok(share_of_equal(equal as u32, self.k, confidence))
            }
            _ => Ok(Estimate::exact(0.0)),
        }
    }

    /// Returns how many different elements the set has, with bounds at 95 %. This by-product has an
    /// error of about `1/√k`.
    pub fn items(&self) -> Estimate {
        self.items_at(Confidence::P95)
    }

    /// Returns how many different elements the set has, with bounds at the given confidence.
    ///
    /// Each of `n` elements falls into a given slot with probability `1/k` a round. If the clock
    /// counts `−ln(1 − 1/k)` a round, the time until a slot is filled is exponential with rate `n`.
    pub fn items_at(&self, confidence: Confidence) -> Estimate {
        if self.is_empty() {
            return Estimate::exact(0.0);
        }
        let k = f64::from(self.k);
        let round_time = -libm::log1p(-1.0 / k);
        let waited: f64 = self
            .slots
            .iter()
            .map(|&slot| match round_of(slot) {
                0 => -libm::log1p(-fraction_of(slot) / k),
                round if round < self.k => {
                    f64::from(round) * round_time - libm::log1p(-fraction_of(slot) / k)
                }
                _ => k * round_time - libm::log1p(-fraction_of(slot)),
            })
            .sum();
        let waited = waited.max(f64::MIN_POSITIVE);
        // The sum of k such times has a gamma distribution. Wilson and Hilferty's cube root makes
        // it nearly normal.
        let z = two_sided_quantile(confidence.level());
        let (centre, width) = (1.0 - 1.0 / (9.0 * k), z / (3.0 * libm::sqrt(k)));
        let at = |root: f64| k * libm::pow(root.max(0.0), 3.0) / waited;
        let value = (k - 1.0).max(1.0) / waited;
        Estimate::probable(value, at(centre - width), at(centre + width), confidence)
            .limited_to(1.0, f64::INFINITY)
    }

    /// Returns true if nothing was inserted.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns the slots: `k` of them, or none if the set is empty. A comparison counts the equal
    /// slots.
    pub fn slots(&self) -> &[u64] {
        &self.slots
    }

    /// The number of slots.
    pub fn k(&self) -> u32 {
        self.k
    }

    /// Returns how keys are hashed.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// The number of bytes of memory in use, including the struct itself.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.slots.capacity() * size_of::<u64>()
    }

    /// Returns the sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        vec![("k", Parameter::Count(self.k.into()))]
    }

    /// Returns a summary of the sketch: its parameters, number of items, fill and memory.
    pub fn summary(&self) -> Summary {
        Summary {
            family: Self::FAMILY,
            parameters: [
                self.parameters(),
                vec![
                    ("state", Parameter::Name(if self.is_empty() { "empty" } else { "filled" })),
                    ("bound", Parameter::Ratio(Self::bound(self.k))),
                ],
            ]
            .concat(),
            scheme: self.scheme,
            items: self.items(),
            fill: None,
            false_positive_rate: None,
            memory: self.memory(),
        }
    }

    fn require_same(&self, other: &Self) -> Result<()> {
        self.scheme.require_same(other.scheme)?;
        if self.k == other.k {
            Ok(())
        } else {
            let advice = "sketches of different sizes cannot be compared: build both with the same k";
            Err(Error::incompatible("k", self.k, other.k, advice))
        }
    }
}

/// Returns the similarity estimated from `equal` of `k` slots: that share, and as bounds the
/// similarities at which that number of equal slots becomes unlikely (Clopper and Pearson 1934).
pub(super) fn share_of_equal(equal: u32, k: u32, confidence: Confidence) -> Estimate {
    let (equal, k) = (f64::from(equal), f64::from(k));
    let (lower, upper) = chances(equal, k, (1.0 - confidence.level()) / 2.0);
    Estimate::probable(equal / k, lower, upper, confidence)
}

impl_sketch!(MinHash, hashes, keys);

// ---- merge ----

impl MinHash {
    /// Merges another sketch into this one. The result is, bit for bit, the sketch of the union.
    ///
    /// # Errors
    /// If `k` or the schemes differ. The sketch is unchanged then.
    ///
    /// ```
    /// use crivo::similarity::MinHash;
    /// let (mut monday, mut tuesday, mut both) = (MinHash::new(64)?, MinHash::new(64)?, MinHash::new(64)?);
    /// monday.insert("ana")?;
    /// tuesday.insert("rui")?;
    /// both.insert("ana")?;
    /// both.insert("rui")?;
    /// monday.merge(&tuesday)?;
    /// assert_eq!(monday, both);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.require_same(other)?;
        if self.is_empty() {
            self.clone_from(other);
        } else if !other.is_empty() {
            for (mine, &theirs) in self.slots.iter_mut().zip(&other.slots) {
                *mine = theirs.min(*mine);
            }
            self.rounds = rounds_of(&self.slots);
        }
        Ok(())
    }
}

impl Merge for MinHash {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}

// ---- bytes ----

impl MinHash {
    /// Returns the sketch as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Reads a sketch from bytes.
    ///
    /// # Errors
    /// If the bytes are not the complete, undamaged bytes of a MinHash; see [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for MinHash {
    const FAMILY: Family = Family::MinHash;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u32(self.k);
        writer.u32(self.slots.len() as u32);
        writer.u64s(self.slots.iter().copied());
    }
}

impl Decode for MinHash {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let k = reader.u32("k")?;
        let mut sketch =
            Self::with_scheme(k, header.scheme).map_err(|error| Error::contents("k", error.expected(), k))?;
        let count = reader.u32("number of slots")?;
        if count != 0 && count != k {
            return Err(Error::contents("number of slots", format_args!("0 or {k}"), count));
        }
        let slots = reader.u64s("slots", count.into())?;
        let in_turn = |(index, slot): (usize, u64)| {
            let round = round_of(slot);
            round < k || u64::from(round) == u64::from(k) + index as u64
        };
        if !slots.clone().enumerate().all(in_turn) {
            return Err(Error::contents("slots", "rounds in which each slot can be filled", "another round"));
        }
        if count != 0 && !slots.clone().any(|slot| round_of(slot) == 0) {
            return Err(Error::contents("slots", "a slot filled in round 0", "none"));
        }
        sketch.slots = slots.collect();
        if count != 0 {
            sketch.rounds = rounds_of(&sketch.slots);
        }
        Ok(sketch)
    }
}
