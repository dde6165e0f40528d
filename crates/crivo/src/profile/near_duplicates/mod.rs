//! `NearDuplicateShare`: how many texts of a column are nearly the same as another one?
//!
//! **Question.** Documents are the longer texts of the column. What share of them has a
//! near-duplicate in the column? A near-duplicate is another document that shares at least four
//! fifths of all their runs of eight bytes (Jaccard similarity 0.8, with ASCII letters in lower
//! case).
//!
//! **Guarantee.** An interval at 95 %, in memory that does not grow with the column. While all
//! different texts fit, all pairs are compared. The sketch is a function of the texts. So merging
//! the sketches of parts gives the sketch of the whole, bit for bit, in any order.
//!
//! **Idea.** A uniform sample of rows would miss nearly all pairs, because both documents must be
//! drawn. So documents are also drawn by content. In each of eight *bands* every run is hashed in
//! another way, and the smallest hash is the document's *band key*. Two documents with similarity
//! `J` have the same key in a band with probability `J`. The documents with the same key form a
//! *bucket*, and a bucket is drawn as a whole, with probability `θ`. Independently of that every
//! different text is drawn singly, with probability `2θ`. As documents are added, `θ` falls so that
//! the sample fits. All sampled texts are compared, pair by pair, by the 64 smallest hashes of
//! their runs.
//!
//! Different texts can also have the same band keys, for example if they share a greeting or a
//! form. A bucket may then contain half of the column, without any near-duplicates. So buckets, not
//! documents, are the units of the sample. A document counts `1/θ` in each band, and the variance
//! is measured between the eight bands, which are drawn independently. Of a bucket with many texts
//! only the sixteen with the smallest keys of the next band are kept: the bucket is sampled in the
//! same way as the column.
//!
//! **Bounds.** Let `F` of `N` documents have a text that occurs once, and let `U` of these be
//! *unlike* all others. The share is `1 − U/N`. `U` is bounded on both sides by what the sample
//! shows:
//!
//! - From above by the texts drawn singly, with binomial bounds. Texts with a near-duplicate in the
//!   sample do not count. Also by `F` minus the texts with a near-duplicate in the buckets.
//! - From below by the unlike texts in the buckets. A document with one near-duplicate seems unlike
//!   with probability `1 − J ≤ 0.2` (in a sampled bucket `1 − J² ≤ 0.36`). So at most
//!   `U + 0.2(F − U)` documents seem unlike.
//!
//! Bounds from bands are those of Student's t over eight independent values, at 98 % on one side.
//! Binomial bounds are at 99.5 %. Two of each make 95 %. A large bucket that was not drawn makes
//! both bounds weak, and the interval wide. Similarities from 64 hashes have an error of 0.05 near
//! the threshold. Pairs within twice that of the threshold do not count for any bound. Two texts
//! with fewer than 64 runs each are compared exactly.
//!
//! **When not to use it.** To find the near-duplicates themselves, which needs all documents
//! ([`similarity`](crate::similarity)).
//!
//! **Sources.** Broder: *On the resemblance and containment of documents* (1997), for band keys and
//! similarities from the smallest hashes. Wolter: *Introduction to Variance Estimation* (2007),
//! chapter 2, for the variance between independent samples (random groups).

mod bytes;
mod estimate;
mod sample;
mod text;

use hashbrown::hash_map::Entry;
use std::ops::RangeInclusive;

use self::sample::{SampledText, TextSample};
use self::text::{MOST_RUNS, band_keys, is_document, runs};
use super::by_hash::ByHash;
use crate::codec::{Encode as _, Parameter, Parameters, Summary};
use crate::error::{Error, Result};
use crate::estimate::{Confidence, Estimate};
use crate::keys::{KeyBatch, KeyKind, KeyRef, KeyScheme, hash_bytes};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{InsertKeys, Merge, impl_sketch};

/// A sample of a column's documents that finds near-duplicates; see the [module](self) for the
/// guarantee.
///
/// ```
/// use crivo::profile::NearDuplicateShare;
///
/// let mut letters = NearDuplicateShare::new(512)?;
/// for name in ["Ana", "Eva"] {
///     letters.insert(&format!("Dear {name}, thank you for the parcel that came on Monday, unharmed and in time"));
/// }
/// letters.insert("No two words of this one are shared with any of the letters above");
/// letters.insert("a name");
/// assert_eq!(letters.documents(), 3);
/// assert_eq!(letters.share().map(|share| share.value()), Some(2.0 / 3.0));
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct NearDuplicateShare {
    scheme: KeyScheme,
    capacity: u32,
    /// Texts with a rank below this are sampled.
    threshold: u64,
    documents: u64,
    /// The sampled texts, by the hash of the text.
    sampled: ByHash<SampledText>,
    /// The buffer for the runs of one text.
    runs: Vec<u32>,
}

// ---- limits and sizing ----

impl NearDuplicateShare {
    /// The least similarity of near-duplicates.
    pub const SIMILARITY: f64 = 0.8;

    /// The least length of a document in bytes.
    pub(super) const SHORTEST: usize = text::SHORTEST;

    /// The numbers of texts a sample may keep. An answer compares all pairs of them.
    pub const CAPACITIES: RangeInclusive<u64> = 64..=1 << 13;

    /// The most bytes that each text takes. It is the same on every machine, because it decides how
    /// many texts are kept.
    pub const BYTES_EACH: usize = MOST_RUNS * size_of::<u32>() + 16 + 2 * (ENTRY + 1);
}

/// The most bytes of a sampled text in the table: hash, count, band keys, and the pointer to its
/// runs.
const ENTRY: usize = 8 * (2 + text::BANDS) + 16;
const _: () = assert!(size_of::<(u64, SampledText)>() <= ENTRY);

// ---- construction ----

impl NearDuplicateShare {
    /// Returns an empty sample of up to `capacity` texts. Below 128 the interval is too wide to be
    /// useful.
    ///
    /// # Errors
    /// If the capacity is not in [`CAPACITIES`](Self::CAPACITIES).
    pub fn new(capacity: u64) -> Result<Self> {
        Self::with_scheme(capacity, KeyScheme::bytes())
    }

    /// Returns an empty sample of texts that are hashed under the given scheme.
    ///
    /// # Errors
    /// If the capacity is not in [`CAPACITIES`](Self::CAPACITIES), or if the scheme's keys are not
    /// bytes.
    pub fn with_scheme(capacity: u64, scheme: KeyScheme) -> Result<Self> {
        if scheme.kind() != KeyKind::Bytes {
            return Err(scheme.wrong_kind(KeyKind::Bytes));
        }
        if !Self::CAPACITIES.contains(&capacity) {
            let (least, most) = Self::CAPACITIES.into_inner();
            return Err(Error::parameter("capacity", format_args!("{least} to {most}"), capacity));
        }
        let (threshold, sampled) = (TextSample::ALL, ByHash::default());
        Ok(Self { scheme, capacity: capacity as u32, threshold, documents: 0, sampled, runs: Vec::new() })
    }
}

// ---- update ----

impl NearDuplicateShare {
    /// Adds a text, if it is a document: at least 32 bytes with at least three blanks.
    pub fn insert(&mut self, text: &str) {
        self.insert_bytes(text.as_bytes());
    }

    /// Adds a text by its bytes, which need not be UTF-8, if it is a document.
    pub fn insert_bytes(&mut self, text: &[u8]) {
        if is_document(text) {
            self.insert_document(text, hash_bytes(text, self.scheme.seed()));
        }
    }

    /// Adds the documents among the texts of a batch.
    ///
    /// # Errors
    /// If the batch was hashed under another scheme. Nothing is added then.
    pub fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        self.scheme.require_same(batch.scheme())?;
        for (key, hash) in batch.iter() {
            if let KeyRef::Bytes(text) = key
                && is_document(text)
            {
                self.insert_document(text, hash);
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn insert_document(&mut self, text: &[u8], hash: u64) {
        self.documents = self.documents.saturating_add(1);
        if let Some(sampled) = self.sampled.get_mut(&hash) {
            sampled.count = sampled.count.saturating_add(1);
            return;
        }
        self.runs.clear();
        self.runs.extend(runs(text, self.scheme.seed()));
        let band_keys = band_keys(&self.runs, self.scheme.seed());
        if sample::rank(hash, &band_keys) >= self.threshold {
            return;
        }
        self.runs.sort_unstable();
        self.runs.dedup();
        self.runs.truncate(MOST_RUNS);
        self.sampled.insert(hash, SampledText { count: 1, band_keys, runs: self.runs.as_slice().into() });
        if self.sampled.len() > self.capacity as usize {
            self.shrink();
        }
    }

    /// Lowers the threshold until the drawn texts fit into seven eighths of the capacity.
    #[cold]
    fn shrink(&mut self) {
        let sample = self.sample();
        self.threshold = sample.threshold;
        self.sampled = sample.texts.into_iter().collect();
    }
}

impl InsertKeys for NearDuplicateShare {
    fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        self.insert_batch(batch)
    }
}

// ---- query ----

impl NearDuplicateShare {
    /// Returns the share of documents with a near-duplicate, with bounds at 95 %, or `None` if
    /// there are no documents.
    pub fn share(&self) -> Option<Estimate> {
        if self.documents == 0 {
            return None;
        }
        Some(estimate::share(&self.sample(), self.documents as f64))
    }

    /// Returns the sample that answers and bytes depend on. It is a function of the texts, not of
    /// their order or parts.
    fn sample(&self) -> TextSample {
        let mut texts: Vec<(u64, SampledText)> =
            self.sampled.iter().map(|(&hash, text)| (hash, text.clone())).collect();
        texts.sort_unstable_by_key(|(hash, _)| *hash);
        TextSample::new(texts, self.threshold, self.capacity as usize)
    }

    /// The number of documents.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// The largest number of texts that are kept.
    pub fn capacity(&self) -> u64 {
        self.capacity.into()
    }

    /// Returns true if there were no documents.
    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// The scheme under which texts are hashed.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// The number of bytes of memory in use, including the struct itself.
    pub fn memory(&self) -> usize {
        let slots = self.sampled.capacity() * 8 / 7;
        size_of::<Self>()
            + slots * (size_of::<(u64, SampledText)>() + 1)
            + self.sampled.values().map(|text| size_of_val(&*text.runs)).sum::<usize>()
            + self.runs.capacity() * size_of::<u32>()
    }

    /// Returns the sizes the sample was built with.
    pub fn parameters(&self) -> Parameters {
        vec![("capacity", Parameter::Count(self.capacity.into()))]
    }

    /// Returns the summary that `crivo show` prints.
    pub fn summary(&self) -> Summary {
        let sample = self.sample();
        let state = if sample.is_all() { "all texts" } else { "sampling" };
        let mut parameters = self.parameters();
        parameters.push(("state", Parameter::Name(state)));
        parameters.push(("texts", Parameter::Count(sample.texts.len() as u64)));
        if let Some(share) = self.share() {
            parameters.push(("near_duplicates", Parameter::Ratio(share.value())));
        }
        Summary {
            family: Self::FAMILY,
            parameters,
            scheme: self.scheme,
            items: Estimate::exact(self.documents as f64),
            fill: Some(sample.texts.len() as f64 / f64::from(self.capacity)),
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}

impl PartialEq for NearDuplicateShare {
    fn eq(&self, other: &Self) -> bool {
        let numbers = |sketch: &Self| (sketch.scheme, sketch.capacity, sketch.documents);
        numbers(self) == numbers(other) && self.sample() == other.sample()
    }
}

// ---- merge ----

impl NearDuplicateShare {
    /// Merges the sample of other documents. The result is, bit for bit, the sample of both
    /// columns' documents.
    ///
    /// # Errors
    /// If schemes or capacities differ. The sample is unchanged then.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.require_same(other)?;
        self.documents = self.documents.saturating_add(other.documents);
        self.threshold = self.threshold.min(other.threshold);
        #[allow(clippy::iter_over_hash_type)] // each text is merged by itself
        for (&hash, theirs) in &other.sampled {
            match self.sampled.entry(hash) {
                Entry::Occupied(mut mine) => {
                    let mine = mine.get_mut();
                    mine.count = mine.count.saturating_add(theirs.count);
                }
                Entry::Vacant(place) => {
                    place.insert(theirs.clone());
                }
            }
        }
        self.sampled.retain(|hash, text| sample::rank(*hash, &text.band_keys) < self.threshold);
        if self.sampled.len() > self.capacity as usize {
            self.shrink();
        }
        Ok(())
    }
}

impl NearDuplicateShare {
    /// Refuses a sample that cannot be merged with this one.
    pub(super) fn require_same(&self, other: &Self) -> Result<()> {
        self.scheme.require_same(other.scheme)?;
        if self.capacity == other.capacity {
            return Ok(());
        }
        let advice = "only samples of one capacity can be merged";
        Err(Error::incompatible("capacity", self.capacity, other.capacity, advice))
    }
}

impl_sketch!(NearDuplicateShare);

impl Merge for NearDuplicateShare {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}

/// The confidence of [`NearDuplicateShare::share`].
const CONFIDENCE: Confidence = Confidence::P95;
