// This file is long because it contains the documentation and the examples of its public functions.

//! Majority: the one key that may have more than half of all votes.
//!
//! **Question.** Did some key get more than half of all votes, and which?
//!
//! **Guarantee.** If a key has more than half of the total weight, that key is the candidate. With
//! `N` votes and a lead `l` (explained below), no input can break these bounds:
//!
//! ```text
//! counted ≤ votes of the candidate ≤ (N + l)/2,     votes of any other key ≤ (N − l)/2
//! ```
//!
//! If there is no candidate, `l` is 0 and certainly no key has a majority. If `counted` exceeds
//! `N/2`, the candidate certainly has a majority. Otherwise a second pass that counts the candidate
//! decides: [`is_majority`](Majority::is_majority) says whether its count is enough. The bounds are
//! the best that the state allows: for each bound there is a stream with the same state that
//! reaches it.
//!
//! **Idea.** Let votes for different keys cancel each other in pairs. The votes that remain are `l`
//! votes for one key, the candidate. A majority cannot be cancelled by all the other votes
//! together.
//!
//! *Why it holds.* The votes are split into `(N − l)/2` pairs of different keys, and `l` votes for
//! the candidate. A pair has at most one vote for any given key, which gives the upper bounds. A
//! key other than the candidate has at most `(N − l)/2 ≤ N/2` votes, and so no majority.
//!
//! A new vote keeps such a split. A vote for the candidate joins the `l` votes. A vote for another
//! key makes a pair with one of the `l` votes, or becomes the first vote for a new candidate if
//! there is none. Two splits together become one split after the votes for the two candidates are
//! paired, until one candidate has none left. So merging two sketches keeps the guarantee. A vote
//! of weight `w` is a merge with a sketch of `w` equal votes. `counted` is the number of votes for
//! the candidate since it became the candidate: all of them were seen.
//!
//! **When not to use it.** If the second most frequent key matters, or a key with less than half
//! ([`HeavyHitters`](super::HeavyHitters)).
//!
//! **Order matters.** Which key is the candidate when there is no majority, and `counted`, depend
//! on the order of the votes and on how the stream was split; the guarantee does not.
//!
//! **Memory.** One key.
//!
//! **Source.** Boyer, Moore: *MJRTY, a fast majority vote algorithm* (1981, 1991).
//!
//! **Where this departs from it.** Votes have weights, and sketches merge. A second counter,
//! `counted`, makes a lower bound that is better than the lead. It is exact if the candidate has
//! been the candidate since the first vote.

use super::hitter::{Hitter, certain, middle};
use super::rows::require_weights;
use crate::codec::{Decode, Encode, Family, Header, Parameter, Parameters, Reader, Summary, Writer};
use crate::error::{Error, Result};
use crate::estimate::Estimate;
use crate::keys::{DefaultSize, Key, KeyBatch, KeyKind, KeyRef, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{AddWeights, Frequency, InsertKeys, Merge, Top, impl_sketch};

/// Finds the key with more than half of all votes; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::frequency::Majority;
///
/// let mut votes = Majority::new();
/// for vote in ["ana", "ana", "rui", "ana", "eva", "ana"] {
///     votes.insert(vote)?;
/// }
/// let leader = votes.candidate().expect("someone leads");
/// assert_eq!((leader.key().to_string().as_str(), leader.lower(), leader.upper()), ("ana", 4, 4));
/// assert!(votes.is_certain() && votes.is_majority(leader.count()));
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Majority {
    scheme: KeyScheme,
    /// The number of all votes.
    total: u64,
    /// Votes for the candidate that no other vote cancels; 0 if there is no candidate.
    lead: u64,
    /// Votes for the candidate since it became the candidate.
    counted: u64,
    candidate: Candidate,
}

/// A key that is overwritten often, so its buffer is reused.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Candidate {
    text: Vec<u8>,
    number: u64,
}

impl Candidate {
    fn is(&self, key: KeyRef<'_>) -> bool {
        match key {
            KeyRef::Bytes(text) => self.text == text,
            KeyRef::Integer(number) | KeyRef::Hash(number) => self.number == number,
        }
    }

    fn become_key(&mut self, key: KeyRef<'_>) {
        self.text.clear();
        match key {
            KeyRef::Bytes(text) => self.text.extend_from_slice(text),
            KeyRef::Integer(number) | KeyRef::Hash(number) => self.number = number,
        }
    }

    /// Clears the candidate, so that equal states compare equal whatever their former candidates.
    fn become_none(&mut self) {
        self.text.clear();
        self.number = 0;
    }

    fn key(&self, kind: KeyKind) -> KeyRef<'_> {
        match kind {
            KeyKind::Bytes => KeyRef::Bytes(&self.text),
            KeyKind::Integer => KeyRef::Integer(self.number),
            KeyKind::Hash => KeyRef::Hash(self.number),
        }
    }
}

// ---- construction ----

impl Majority {
    /// Creates a sketch without votes, for keys that are bytes or text.
    pub fn new() -> Self {
        Self::with_scheme(KeyScheme::bytes())
    }

    /// Creates a sketch without votes, for keys of the given scheme.
    ///
    /// ```
    /// use crivo::{frequency::Majority, keys::KeyScheme};
    /// let mut ports = Majority::with_scheme(KeyScheme::integers());
    /// ports.add(&443_u16, 10)?;
    /// assert!(ports.insert("443").is_err());
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn with_scheme(scheme: KeyScheme) -> Self {
        Self { scheme, total: 0, lead: 0, counted: 0, candidate: Candidate::default() }
    }
}

impl DefaultSize for Majority {
    fn of_default_size(scheme: KeyScheme) -> Self {
        Self::with_scheme(scheme)
    }
}

impl Default for Majority {
    fn default() -> Self {
        Self::new()
    }
}

// ---- update ----

impl Majority {
    /// The most bytes of a key: the file format states its length in four bytes.
    pub const MAX_KEY_BYTES: usize = u32::MAX as usize;

    /// Counts one vote for a key.
    ///
    /// # Errors
    /// If the key is not of the sketch's kind, or too long; the vote does not count then.
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<()> {
        self.add(key, 1)
    }

    /// Counts `weight` votes for a key.
    ///
    /// # Errors
    /// The errors of [`insert`](Self::insert).
    pub fn add<K: Key + ?Sized>(&mut self, key: &K, weight: u64) -> Result<()> {
        self.add_ref(key.to_ref(), weight)
    }

    /// Counts `weight` votes for a key whose kind is known only at run time, or for a hash.
    ///
    /// # Errors
    /// The errors of [`insert`](Self::insert).
    pub fn add_ref(&mut self, key: KeyRef<'_>, weight: u64) -> Result<()> {
        self.check_key(key)?;
        self.join(key, weight, weight, weight);
        Ok(())
    }

    fn check_key(&self, key: KeyRef<'_>) -> Result<()> {
        if key.kind() != self.scheme.kind() {
            return Err(self.scheme.wrong_kind(key.kind()));
        }
        Self::require_length(key)
    }

    fn require_length(key: KeyRef<'_>) -> Result<()> {
        match key {
            KeyRef::Bytes(text) if text.len() > Self::MAX_KEY_BYTES => {
                let allowed = format_args!("at most {} bytes", Self::MAX_KEY_BYTES).to_string();
                Err(Error::parameter("key", allowed, text.len()))
            }
            _ => Ok(()),
        }
    }

    /// Counts one vote for every key of a batch. Same result as one by one.
    ///
    /// # Errors
    /// If the batch was hashed under another scheme, or a key is too long; no vote is counted then.
    pub fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        self.scheme.require_same(batch.scheme())?;
        batch.iter().try_for_each(|(key, _)| Self::require_length(key))?;
        batch.iter().for_each(|(key, _)| self.join(key, 1, 1, 1));
        Ok(())
    }

    /// Counts `weights[i]` votes for key `i` of a batch.
    ///
    /// # Errors
    /// If the batch was hashed under another scheme, a key is too long, or the numbers of keys and
    /// weights differ; no vote is counted then.
    pub fn add_batch(&mut self, batch: &KeyBatch<'_>, weights: &[u64]) -> Result<()> {
        self.scheme.require_same(batch.scheme())?;
        require_weights(batch.len(), weights)?;
        batch.iter().try_for_each(|(key, _)| Self::require_length(key))?;
        batch.iter().zip(weights).for_each(|((key, _), &weight)| self.join(key, weight, weight, weight));
        Ok(())
    }

    /// Adds the votes of another sketch, whose candidate is `key` if its lead is not 0.
    #[inline]
    fn join(&mut self, key: KeyRef<'_>, total: u64, lead: u64, counted: u64) {
        self.total = self.total.saturating_add(total);
        if self.candidate.is(key) && self.lead > 0 {
            self.lead = self.lead.saturating_add(lead);
            self.counted = self.counted.saturating_add(counted);
        } else if lead > self.lead {
            self.candidate.become_key(key);
            (self.lead, self.counted) = (lead - self.lead, counted);
        } else {
            self.lead -= lead;
            if self.lead == 0 {
                self.candidate.become_none();
                self.counted = 0;
            }
        }
    }
}

impl InsertKeys for Majority {
    fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        self.insert_batch(batch)
    }
}

// ---- query ----

impl Majority {
    /// Returns the only key that can have a majority, with certain bounds of its votes. Returns
    /// `None` if certainly no key has a majority.
    pub fn candidate(&self) -> Option<Hitter> {
        let key = (self.lead > 0).then(|| self.candidate.key(self.scheme.kind()));
        key.map(|key| Hitter::new(key.to_owned(), self.counted, self.most(true)))
    }

    /// Returns true if the candidate certainly has more than half of all votes, so that no second
    /// pass is needed.
    pub fn is_certain(&self) -> bool {
        self.is_majority(self.counted)
    }

    /// Returns true if `count` is more than half of all votes. For a second pass over the same
    /// votes that counts the candidate. Returns false if the total is
    /// [saturated](Self::is_saturated).
    pub fn is_majority(&self, count: u64) -> bool {
        !self.is_saturated() && count > self.total / 2
    }

    /// Returns how many votes a key has, with certain bounds.
    ///
    /// # Errors
    /// If the key is not of the sketch's kind.
    pub fn frequency<K: Key + ?Sized>(&self, key: &K) -> Result<Estimate> {
        self.frequency_ref(key.to_ref())
    }

    /// Returns how many votes a key has whose kind is known only at run time.
    ///
    /// # Errors
    /// If the key is not of the sketch's kind.
    pub fn frequency_ref(&self, key: KeyRef<'_>) -> Result<Estimate> {
        if key.kind() != self.scheme.kind() {
            return Err(self.scheme.wrong_kind(key.kind()));
        }
        Ok(if self.lead > 0 && self.candidate.is(key) {
            certain(middle(self.counted, self.most(true)), self.counted, self.most(true))
        } else {
            certain(0, 0, self.most(false))
        })
    }

    /// Returns the most votes that the candidate, or any other key, can have.
    fn most(&self, candidate: bool) -> u64 {
        let pairs = (self.total - self.lead) / 2;
        match candidate {
            _ if self.is_saturated() => u64::MAX,
            true => pairs + self.lead,
            false => pairs,
        }
    }

    /// Returns the number of all votes, which stops at [`u64::MAX`].
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns true if the total reached [`u64::MAX`], where counting stops. Then only lower bounds
    /// are certain.
    pub fn is_saturated(&self) -> bool {
        self.total == u64::MAX
    }

    /// Returns true if there are no votes.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Returns the key scheme. This sketch does not hash keys, but other sketches of the same keys
    /// do.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// Returns the bytes of memory in use, the struct itself included.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.candidate.text.capacity()
    }

    /// Returns the sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        Vec::new()
    }

    /// Returns a summary of the sketch: its parameters, number of items, fill and memory.
    pub fn summary(&self) -> Summary {
        Summary {
            family: Self::FAMILY,
            parameters: vec![
                ("lead", Parameter::Count(self.lead)),
                ("counted", Parameter::Count(self.counted)),
            ],
            scheme: self.scheme,
            items: certain(self.total, self.total, self.total),
            fill: None,
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}

impl_sketch!(Majority, keys, weights, frequency, top);

impl AddWeights for Majority {
    fn add_ref(&mut self, key: KeyRef<'_>, weight: u64) -> Result<()> {
        self.add_ref(key, weight)
    }

    fn add_batch(&mut self, batch: &KeyBatch<'_>, weights: &[u64]) -> Result<()> {
        self.add_batch(batch, weights)
    }

    fn check_key(&self, key: KeyRef<'_>) -> Result<()> {
        self.check_key(key)
    }
}

impl Frequency for Majority {
    fn frequency_ref(&self, key: KeyRef<'_>) -> Result<Estimate> {
        self.frequency_ref(key)
    }
}

impl Top for Majority {
    fn top(&self, count: usize) -> Vec<Hitter> {
        self.candidate().into_iter().take(count).collect()
    }
}

// ---- merge ----

impl Majority {
    /// Merges `other` into this sketch, which then has the votes of both, with the guarantee for
    /// all of them.
    ///
    /// # Errors
    /// If the schemes differ; the sketch is unchanged then.
    ///
    /// ```
    /// use crivo::frequency::Majority;
    /// let (mut north, mut south) = (Majority::new(), Majority::new());
    /// north.add("ana", 3)?;
    /// south.add("rui", 5)?;
    /// north.merge(&south)?;
    /// assert_eq!(north.candidate().map(|leader| leader.lower()), Some(5));
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.scheme.require_same(other.scheme)?;
        self.join(other.candidate.key(other.scheme.kind()), other.total, other.lead, other.counted);
        Ok(())
    }
}

impl Merge for Majority {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}

// ---- bytes ----

impl Majority {
    /// Returns the sketch as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Returns the sketch that the bytes hold.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of a Majority: see [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for Majority {
    const FAMILY: Family = Family::Majority;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u64(self.total);
        writer.u64(self.lead);
        if self.lead > 0 {
            writer.u64(self.counted);
            writer.key(self.candidate.key(self.scheme.kind()));
        }
    }
}

impl Decode for Majority {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let mut sketch = Self::with_scheme(header.scheme);
        sketch.total = reader.u64("total")?;
        sketch.lead = reader.u64("lead")?;
        let paired = sketch.total.checked_sub(sketch.lead);
        if !paired.is_some_and(|paired| paired.is_multiple_of(2) || sketch.is_saturated()) {
            let expected = format_args!("at most {0}, and as even or odd", sketch.total).to_string();
            return Err(Error::contents("lead", expected, sketch.lead));
        }
        if sketch.lead > 0 {
            sketch.counted = reader.u64("counted")?;
            let (least, most) = (sketch.lead, sketch.most(true));
            if !(least..=most).contains(&sketch.counted) {
                return Err(Error::contents("counted", format_args!("{least} to {most}"), sketch.counted));
            }
            sketch.candidate.become_key(reader.key("candidate", header.scheme.kind())?);
        }
        Ok(sketch)
    }
}
