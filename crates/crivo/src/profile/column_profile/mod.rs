//! `ColumnProfile`: the contents of a column, in one pass and a fixed amount of memory.
//!
//! **Question.** What is in this column? Its type, the number of missing values and of different
//! ones, the most frequent values, the least, the greatest, the mean and the median. Could it be a
//! key?
//!
//! **Guarantee.** The profile stays within a memory budget. Answers are exact if they need only a
//! few numbers:
//!
//! | answer | is |
//! |---|---|
//! | rows, missing, type, lengths | exact |
//! | least, greatest | exact, but long texts are cut |
//! | sum, mean | of the numbers exactly, rounded once at the end |
//! | quantiles | certain bounds, by default to 1 % while the bins suffice ([`DDSketch`]) |
//! | different values | exact while few, then an interval ([`UltraLogLog`]) |
//! | most frequent values, majority | certain bounds for each ([`HeavyHitters`]) |
//! | sample | uniform ([`Reservoir`]) |
//!
//! Merging profiles of parts gives the profile of the whole, bit for bit, except for two answers
//! for which no small sketch can promise that. The most frequent values keep certain bounds, and
//! the sample stays uniform.
//!
//! **Idea.** A value is hashed once, when its batch is made. All sketches use that hash, and one
//! pass over the bytes finds the type and the number. The majority needs no sketch of its own. A
//! value with more than half of all is always among the most frequent values, unless it is longer
//! than [`ProfileConfig::longest`]. Its bounds there are closer than those of a
//! [`Majority`](crate::frequency::Majority).
//!
//! **Types** form a lattice. Every value has a [`Kind`], and the profile counts the values of each
//! kind. The [`ColumnType`] follows from the kinds that occur. Integers and floats together are
//! floats, dates and timestamps together are timestamps, and any other mixture is text. So the type
//! does not depend on the order of values. A column of a million integers and three texts shows
//! both numbers.
//!
//! **Memory.** [`ProfileConfig::for_memory`] chooses the parts' sizes. To stay within them for any
//! values, the profile keeps a limited number of bytes of a value ([`ProfileConfig::longest`]).
//! Longer values are cut in the sample and in the first and last text. Keys of the most frequent
//! values are never cut, so longer values are not among them but counted as
//! [`long`](ColumnProfile::long).
//!
//! **When not to use it.** For only one of the answers, where its sketch alone is faster.

mod bytes;
mod config;
mod facts;
mod groups;
mod kind;
mod query;
mod sink;

use self::facts::Facts;
use self::groups::{Groups, PlaceCounts};
use super::DDSketch;
use crate::distinct::UltraLogLog;
use crate::error::Result;
use crate::frequency::HeavyHitters;
use crate::keys::{FEW_PLACES, KeyBatch, KeyKind, KeyRef, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sampling::Reservoir;
use crate::sketch::{InsertKeys, Merge, impl_sketch};

pub use config::ProfileConfig;
pub use kind::Kind;
pub(super) use kind::{Parsed, is_time, number_of};
pub use query::{ColumnType, Lengths, Value};
use sink::NumberBuffer;
pub(super) use sink::ValueSink;

/// The profile of a column; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::profile::{ColumnProfile, ColumnType, Value};
///
/// let mut ages = ColumnProfile::for_memory(64 << 10)?;
/// for age in ["31", "17", "44", "31", "8"] {
///     ages.insert(age)?;
/// }
/// ages.add_missing(2);
/// assert_eq!((ages.column_type(), ages.rows(), ages.missing()), (ColumnType::Integer, 7, 2));
/// assert_eq!((ages.min(), ages.sum()), (Some(Value::Integer(8)), Some(131.0)));
/// assert_eq!(ages.distinct().value(), 4.0);
/// assert_eq!(ages.top(1)[0].count(), 2);
/// assert!(!ages.could_be_key());
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnProfile {
    scheme: KeyScheme,
    config: ProfileConfig,
    missing: u64,
    facts: Box<Facts>,
    sketches: Box<Sketches>,
}

#[derive(Debug, Clone, PartialEq)]
struct Sketches {
    distinct: UltraLogLog,
    top: HeavyHitters,
    sample: Reservoir,
    numbers: DDSketch,
}

// ---- construction ----

impl ColumnProfile {
    /// Returns an empty profile with parts of these sizes. Profiles that will be merged need
    /// different seeds for their samples: see [`with_scheme`](Self::with_scheme) and
    /// [`Merge::reseed`].
    ///
    /// # Errors
    /// If a part cannot have its size.
    pub fn new(config: ProfileConfig) -> Result<Self> {
        Self::with_scheme(config, KeyScheme::bytes(), 0)
    }

    /// Returns an empty profile of values that are hashed under the given scheme. Its sample draws
    /// random numbers from the seed.
    ///
    /// # Errors
    /// If a part cannot have its size, or if the scheme's keys are not bytes.
    pub fn with_scheme(config: ProfileConfig, scheme: KeyScheme, seed: u64) -> Result<Self> {
        if scheme.kind() != KeyKind::Bytes {
            return Err(scheme.wrong_kind(KeyKind::Bytes));
        }
        config.check()?;
        let sketches = Sketches {
            distinct: UltraLogLog::with_scheme(config.precision, scheme)?,
            top: HeavyHitters::with_scheme(config.counters.into(), scheme)?,
            sample: Reservoir::with_scheme(config.sample.into(), scheme, seed)?,
            numbers: DDSketch::new(config.accuracy, config.bins)?,
        };
        Ok(Self { scheme, config, missing: 0, facts: Box::new(Facts::new()), sketches: Box::new(sketches) })
    }

    /// Returns an empty profile with the largest parts that never take more than `bytes`.
    ///
    /// # Errors
    /// If `bytes` is less than [`ProfileConfig::LEAST_MEMORY`].
    pub fn for_memory(bytes: usize) -> Result<Self> {
        Self::new(ProfileConfig::for_memory(bytes)?)
    }

    /// Returns an empty profile that never takes more than `bytes`, for the given scheme and seed.
    ///
    /// # Errors
    /// As for [`for_memory`](Self::for_memory) and [`with_scheme`](Self::with_scheme).
    pub fn for_memory_with_scheme(bytes: usize, scheme: KeyScheme, seed: u64) -> Result<Self> {
        Self::with_scheme(ProfileConfig::for_memory(bytes)?, scheme, seed)
    }
}

// ---- update ----

impl ColumnProfile {
    /// Adds one value, by its text. (docs/keys.md describes the texts of values that are not text.)
    ///
    /// # Errors
    /// If there is no memory for a counter. The profile is unusable then.
    pub fn insert(&mut self, text: &str) -> Result<()> {
        self.insert_bytes(text.as_bytes())
    }

    /// Adds one value by its bytes, which need not be UTF-8.
    ///
    /// # Errors
    /// As for [`insert`](Self::insert).
    pub fn insert_bytes(&mut self, text: &[u8]) -> Result<()> {
        let hash = self.scheme.hash(text)?;
        let Sketches { distinct, top, sample, numbers } = &mut *self.sketches;
        let kept = self.config.longest as usize;
        if text.len() <= kept {
            top.add_hashed(hash, KeyRef::Bytes(text), 1)?;
        } else {
            self.facts.long = self.facts.long.saturating_add(1);
        }
        sample.insert_ref(cut(KeyRef::Bytes(text), kept))?;
        distinct.insert_hash(hash);
        let is_first = self.facts.values() == 0;
        if let Some(number) = self.facts.insert(text, 1, kept, is_first).number() {
            numbers.insert(number);
        }
        Ok(())
    }

    /// Adds a batch of values. Same result as one by one, but faster.
    ///
    /// # Errors
    /// If the batch was hashed under another scheme; nothing is added then. If there is no memory
    /// for a counter; the profile is unusable then.
    pub fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        self.insert_batch_with(batch, &mut ()).map(|_| ())
    }

    /// Like [`insert_batch`](Self::insert_batch), and also passes each value and each finite number
    /// to `sink`. Returns the length of the longest value in bytes.
    pub(super) fn insert_batch_with(
        &mut self,
        batch: &KeyBatch<'_>,
        sink: &mut impl ValueSink,
    ) -> Result<usize> {
        self.scheme.require_same(batch.scheme())?;
        let Sketches { distinct, top, sample, numbers } = &mut *self.sketches;
        let kept = self.config.longest as usize;
        let mut is_first = self.facts.values() == 0;
        let mut longest = 0;
        // The order of additions does not matter as long as no counter is given up.
        let room = (top.capacity() as usize).saturating_sub(top.counters());
        if let Some(groups) = Groups::of(batch, top.counters()).filter(|groups| groups.len() <= room) {
            distinct.insert_hashes(groups.hashes());
            for (text, hash, weight) in groups.iter() {
                let parsed = self.facts.insert(text, weight, kept, is_first);
                is_first = false;
                longest = longest.max(text.len());
                sink.value(text, parsed, weight);
                if let Some(number) = parsed.number() {
                    numbers.add(number, weight);
                    if number.is_finite() {
                        sink.number(number, weight);
                    }
                }
                if text.len() <= kept {
                    top.add_hashed(hash, KeyRef::Bytes(text), weight)?;
                } else {
                    self.facts.long = self.facts.long.saturating_add(weight);
                }
            }
            sample.insert_batch_as(batch, |key| cut(key, kept))?;
            return Ok(longest);
        }
        if let Some(counts) = PlaceCounts::of(batch) {
            return self.insert_places(batch, &counts, sink);
        }
        let facts = &mut *self.facts;
        let mut finite = NumberBuffer::new();
        batch.each_text_while(|text, _| {
            longest = longest.max(text.len());
            let parsed = facts.insert(text, 1, kept, is_first);
            is_first = false;
            sink.value(text, parsed, 1);
            match parsed.number() {
                Some(number) if number.is_finite() => finite.push(number, numbers, sink),
                Some(number) => numbers.insert(number),
                None => {}
            }
            true
        });
        finite.flush(numbers, sink);
        distinct.insert_hashes(batch.hashes());
        sample.insert_batch_as(batch, |key| cut(key, kept))?;
        if longest <= kept {
            top.insert_batch(batch)?;
            return Ok(longest);
        }
        batch.try_each_text(|text, hash| {
            if text.len() <= kept {
                return top.add_hashed(hash, KeyRef::Bytes(text), 1);
            }
            facts.long = facts.long.saturating_add(1);
            Ok(())
        })?;
        Ok(longest)
    }

    /// Adds a batch whose values come from a dictionary, and parses each value once. Parts that
    /// depend on the order of rows get every row, so that the profile is the same as without a
    /// dictionary.
    fn insert_places(
        &mut self,
        batch: &KeyBatch<'_>,
        counts: &PlaceCounts<'_>,
        sink: &mut impl ValueSink,
    ) -> Result<usize> {
        let Sketches { distinct, top, sample, numbers } = &mut *self.sketches;
        let kept = self.config.longest as usize;
        let mut is_first = self.facts.values() == 0;
        let mut longest = 0;
        // The finite number of each place, or NaN if it has none.
        let mut by_place = [f64::NAN; FEW_PLACES];
        let mut has_numbers = false;
        let is_roomy = counts.len() <= (top.capacity() as usize).saturating_sub(top.counters());
        for (at, place, weight) in counts.iter() {
            let (Some(KeyRef::Bytes(text)), Some(&hash)) = (batch.get(at), batch.hashes().get(at)) else {
                continue;
            };
            let parsed = self.facts.insert(text, weight, kept, is_first);
            is_first = false;
            longest = longest.max(text.len());
            sink.value(text, parsed, weight);
            match parsed.number() {
                Some(number) if number.is_finite() => (by_place[place], has_numbers) = (number, true),
                Some(number) => numbers.add(number, weight),
                None => {}
            }
            distinct.insert_hash(hash);
            if text.len() > kept {
                self.facts.long = self.facts.long.saturating_add(weight);
            } else if is_roomy {
                top.add_hashed(hash, KeyRef::Bytes(text), weight)?;
            }
        }
        if has_numbers {
            let mut finite = NumberBuffer::new();
            let number_of = |&place: &u32| by_place[place as usize % FEW_PLACES];
            for number in counts.places().iter().map(number_of).filter(|number| number.is_finite()) {
                finite.push(number, numbers, sink);
            }
            finite.flush(numbers, sink);
        }
        sample.insert_batch_as(batch, |key| cut(key, kept))?;
        if !is_roomy {
            batch.try_each_text(|text, hash| {
                if text.len() > kept { Ok(()) } else { top.add_hashed(hash, KeyRef::Bytes(text), 1) }
            })?;
        }
        Ok(longest)
    }

    /// Counts rows without a value.
    pub fn add_missing(&mut self, rows: u64) {
        self.missing = self.missing.saturating_add(rows);
    }
}

/// Returns a text cut to at most `kept` bytes, without splitting a character.
fn cut(key: KeyRef<'_>, kept: usize) -> KeyRef<'_> {
    match key {
        KeyRef::Bytes(text) if text.len() > kept => {
            let starts = |&end: &usize| text[end] & 0xC0 != 0x80;
            let end = (kept.saturating_sub(3)..=kept).rev().find(starts).unwrap_or(kept);
            KeyRef::Bytes(&text[..end])
        }
        _ => key,
    }
}

impl InsertKeys for ColumnProfile {
    fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        self.insert_batch(batch)
    }
}

// ---- merge ----

impl ColumnProfile {
    /// Merges the profile of another part into this one.
    ///
    /// # Errors
    /// If schemes or sizes differ, or if there is no memory for the counters. The profile is
    /// unchanged then.
    ///
    /// ```
    /// use crivo::profile::ColumnProfile;
    /// use crivo::sketch::Merge;
    /// let (mut north, mut south) = (ColumnProfile::for_memory(64 << 10)?, ColumnProfile::for_memory(64 << 10)?);
    /// south.reseed(1);
    /// north.insert("12")?;
    /// south.insert("12.5")?;
    /// north.merge(&south)?;
    /// assert_eq!((north.rows(), north.mean()), (2, Some(12.25)));
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.scheme.require_same(other.scheme)?;
        self.config.require_same(&other.config)?;
        let (mine, theirs) = (&mut *self.sketches, &*other.sketches);
        // Only the first merge can fail, and it changes nothing then.
        mine.top.merge(&theirs.top)?;
        mine.distinct.merge(&theirs.distinct)?;
        mine.sample.merge(&theirs.sample)?;
        mine.numbers.merge(&theirs.numbers)?;
        self.facts.merge(&other.facts);
        self.missing = self.missing.saturating_add(other.missing);
        Ok(())
    }
}

impl_sketch!(ColumnProfile, keys);

impl Merge for ColumnProfile {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }

    fn reseed(&mut self, part: u64) {
        self.sketches.sample.reseed(part);
    }
}
