// This file is long because it contains the documentation and the examples of its public functions.

//! `RowSample`: k rows of a table, the same ones however the table was read.
//!
//! **Question.** Which rows to look at, if every set of k rows should be equally likely, or heavy
//! rows more likely? The answer must not depend on threads or partitions.
//!
//! **Guarantee.** Over the choice of the seed, the sample is a uniformly random set of `min(k, n)`
//! of the `n` rows. With weights it is distributed as `k` draws without replacement. Each draw
//! takes one of the remaining rows with a probability proportional to its weight. The sample is a
//! function of the seed and of the set of rows with their places: merging the samples of parts
//! gives the sample of the whole, bit for bit, in any order.
//!
//! **Idea.** Every row has a number, which is a hash of the seed and of the row's place in the
//! table. The rows with the `k` smallest numbers are the sample. With weights the number is the
//! time of an exponential clock whose rate is the weight, as in
//! [`WeightedReservoir`](super::WeightedReservoir): `−ln(u)/weight`, where `u` comes from the hash.
//!
//! **Places.** A place is a number that no other row of the table has. It can be the row number, or
//! a file's number in the high bits and the row's number in the low ones. Two parts that both count
//! from 1 are not parts of one table. Merging refuses them if their samples have a place in common.
//!
//! **When not to use it.** In a single stream a [`Reservoir`](super::Reservoir) skips whole batches
//! without reading them. Here every row costs a hash of eight bytes.
//!
//! **Sources.** Cohen and Kaplan: *Summarizing data using bottom-k sketches* (2007). Efraimidis and
//! Spirakis: *Weighted random sampling with a reservoir* (2006), for the exponential clocks.

use alloc::collections::BinaryHeap;
use std::ops::RangeInclusive;

use super::reservoir::{check_capacity, require_same_capacity};
use super::weighted_reservoir::check_weight;
use crate::codec::{
    Decode, Encode, Family, Header, Parameter, Parameters, Reader, Summary, Writer, require_writable,
};
use crate::error::{Error, Result};
use crate::estimate::Estimate;
use crate::hash::split_mix::mix;
use crate::keys::{KeyKind, KeyRef, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{Merge, impl_sketch};

/// A sample of rows by their places; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::sampling::RowSample;
///
/// let part = |places: std::ops::Range<u64>| {
///     let mut sample = RowSample::new(10, 7)?;
///     for place in places {
///         sample.insert(place, format!("row {place}").as_bytes())?;
///     }
///     Ok::<_, crivo::Error>(sample)
/// };
/// let mut merged = part(600..1_000)?;
/// merged.merge(&part(0..600)?)?;
/// assert_eq!(merged, part(0..1_000)?);
/// assert_eq!((merged.seen(), merged.rows().len()), (1_000, 10));
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RowSample {
    /// The kind of the rows, which is bytes, and the seed of the numbers.
    scheme: KeyScheme,
    /// The mixed seed. Every place is combined with it.
    mask: u64,
    capacity: u32,
    is_weighted: bool,
    seen: u64,
    weightless: u64,
    /// A heap with the row of the largest number on top.
    kept: BinaryHeap<NumberedRow>,
    /// The largest number in a full sample. Rows with larger numbers are refused at once.
    limit: u64,
    /// The number of bytes of memory of all kept rows.
    row_bytes: usize,
}

/// A row in the sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampledRow<'a> {
    /// The place of the row in its table.
    pub place: u64,
    /// The row itself, as it was inserted.
    pub row: &'a [u8],
}

/// A kept row with its number. The derived order decides which rows stay. Numbers can be equal,
/// because clocks are rounded to the ends of the range of floats. Then the places decide.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct NumberedRow {
    number: u64,
    place: u64,
    row: Vec<u8>,
}

/// A factor larger than any rounding of a product.
const MARGIN: f64 = 1.0 + 1e-9;

// ---- limits and sizing ----

impl RowSample {
    /// The numbers of rows a sample may keep. Memory is allocated as rows arrive.
    pub const CAPACITIES: RangeInclusive<u64> = 1..=u32::MAX as u64;
}

// ---- construction ----

impl RowSample {
    /// Returns an empty sample of up to `capacity` rows, each equally likely.
    ///
    /// # Errors
    /// If the capacity is not in [`CAPACITIES`](Self::CAPACITIES).
    pub fn new(capacity: u64, seed: u64) -> Result<Self> {
        let capacity = check_capacity(capacity)?;
        let scheme = KeyScheme::bytes().with_seed(seed);
        let (mask, kept) = (mix(seed), BinaryHeap::new());
        Ok(Self {
            scheme,
            mask,
            capacity,
            is_weighted: false,
            seen: 0,
            weightless: 0,
            kept,
            limit: u64::MAX,
            row_bytes: 0,
        })
    }

    /// Returns an empty sample of up to `capacity` rows, drawn by weight without replacement.
    ///
    /// # Errors
    /// If the capacity is not in [`CAPACITIES`](Self::CAPACITIES).
    pub fn weighted(capacity: u64, seed: u64) -> Result<Self> {
        Ok(Self { is_weighted: true, ..Self::new(capacity, seed)? })
    }
}

// ---- update ----

impl RowSample {
    /// Adds the row at a place, which no other row may have. In a weighted sample its weight is 1.
    ///
    /// # Errors
    /// If the row is admitted to the sample and has 4 GiB or more; it is not counted then.
    pub fn insert(&mut self, place: u64, row: &[u8]) -> Result<()> {
        self.insert_with(place, || row)
    }

    /// Adds the row at a place. `row` is called only if the row is admitted to the sample.
    ///
    /// # Errors
    /// As for [`insert`](Self::insert).
    #[inline]
    pub fn insert_with<'a>(&mut self, place: u64, row: impl FnOnce() -> &'a [u8]) -> Result<()> {
        let number = self.number(place, 1.0);
        if number <= self.limit {
            self.admit(number, place, row())?;
        }
        self.seen = self.seen.saturating_add(1);
        Ok(())
    }

    /// Adds the row at a place with its weight. A row of weight 0 is counted as weightless and
    /// never sampled.
    ///
    /// # Errors
    /// If the weight is negative or not finite, if the sample is not weighted, or if the row is
    /// admitted and has 4 GiB or more. The row is not counted then.
    #[inline]
    pub fn insert_weighted<'a>(
        &mut self,
        place: u64,
        weight: f64,
        row: impl FnOnce() -> &'a [u8],
    ) -> Result<()> {
        check_weight(weight)?;
        if !self.is_weighted {
            return Err(Error::parameter("weight", "none in a uniform sample", weight));
        }
        if weight == 0.0 {
            self.weightless = self.weightless.saturating_add(1);
            return Ok(());
        }
        // −ln u is at least 1 − u, so most rows need no logarithm. The margin covers the rounding,
        // so that rounding never decides. At the greatest float clocks may be equal, so this test
        // does not apply. Before the sample is full there is no limit.
        let limit = f64::from_bits(self.limit);
        if limit < f64::MAX && 1.0 - self.unit(place) > limit * weight * MARGIN {
            self.seen = self.seen.saturating_add(1);
            return Ok(());
        }
        let number = self.number(place, weight);
        if number <= self.limit {
            self.admit(number, place, row())?;
        }
        self.seen = self.seen.saturating_add(1);
        Ok(())
    }

    /// Returns the number of the row at a place. The rows with the smallest numbers are the sample.
    #[inline]
    fn number(&self, place: u64, weight: f64) -> u64 {
        if self.is_weighted {
            // The bits of non-negative floats have the same order as the floats.
            (-libm::log(self.unit(place)) / weight).min(f64::MAX).to_bits()
        } else {
            mix(self.mask ^ place)
        }
    }

    /// Returns a number uniform in (0, 1), both ends excluded.
    #[inline]
    fn unit(&self, place: u64) -> f64 {
        ((mix(self.mask ^ place) >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    #[cold]
    fn admit(&mut self, number: u64, place: u64, row: &[u8]) -> Result<()> {
        require_writable("row", row)?;
        if !self.is_full() {
            let row = row.to_vec();
            self.row_bytes += row.capacity();
            self.kept.push(NumberedRow { number, place, row });
        } else if let Some(mut last) = self.kept.peek_mut()
            && (number, place) < (last.number, last.place)
        {
            // Reuse the memory of the row that is replaced.
            self.row_bytes -= last.row.capacity();
            last.row.clear();
            last.row.extend_from_slice(row);
            self.row_bytes += last.row.capacity();
            (last.number, last.place) = (number, place);
        }
        self.set_limit();
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.kept.len() as u64 == u64::from(self.capacity)
    }

    fn set_limit(&mut self) {
        if self.is_full() {
            self.limit = self.kept.peek().map_or(u64::MAX, |last| last.number);
        }
    }
}

// ---- query ----

impl RowSample {
    /// The sampled rows, in the order of their places.
    pub fn rows(&self) -> Vec<SampledRow<'_>> {
        let mut rows: Vec<SampledRow<'_>> =
            self.kept.iter().map(|kept| SampledRow { place: kept.place, row: &kept.row }).collect();
        rows.sort_unstable_by_key(|sampled| sampled.place);
        rows
    }

    /// The kept rows in the order of their numbers.
    fn sorted(&self) -> Vec<&NumberedRow> {
        let mut rows: Vec<&NumberedRow> = self.kept.iter().collect();
        rows.sort_unstable();
        rows
    }

    /// The number of rows added, except those of weight 0.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The number of rows of weight 0 that were added.
    pub fn weightless(&self) -> u64 {
        self.weightless
    }

    /// The largest number of rows that the sample keeps.
    pub fn capacity(&self) -> u64 {
        self.capacity.into()
    }

    /// Returns true if rows are drawn by weight.
    pub fn is_weighted(&self) -> bool {
        self.is_weighted
    }

    /// Returns true if no row with a weight above 0 was added.
    pub fn is_empty(&self) -> bool {
        self.seen == 0
    }

    /// Returns the scheme: the kind of the rows (bytes) and the seed of the numbers.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// The number of bytes of memory in use, including rows and the struct itself.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.kept.capacity() * size_of::<NumberedRow>() + self.row_bytes
    }

    /// Returns the sizes the sample was built with.
    pub fn parameters(&self) -> Parameters {
        let draws = if self.is_weighted { "by weight" } else { "uniform" };
        vec![("capacity", Parameter::Count(self.capacity.into())), ("draws", Parameter::Name(draws))]
    }

    /// Returns a summary of the sketch: its parameters, number of items, fill and memory.
    pub fn summary(&self) -> Summary {
        let mut parameters = self.parameters();
        parameters.push(("kept", Parameter::Count(self.kept.len() as u64)));
        parameters.push(("weightless", Parameter::Count(self.weightless)));
        Summary {
            family: Self::FAMILY,
            parameters,
            scheme: self.scheme,
            items: Estimate::exact(self.seen as f64),
            fill: Some(self.kept.len() as f64 / f64::from(self.capacity)),
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}

impl PartialEq for RowSample {
    fn eq(&self, other: &Self) -> bool {
        let numbers = |sample: &Self| {
            (sample.scheme, sample.capacity, sample.is_weighted, sample.seen, sample.weightless)
        };
        numbers(self) == numbers(other) && self.sorted() == other.sorted()
    }
}

// ---- merge ----

impl RowSample {
    /// Merges another part's sample into this one. The result is, bit for bit, the sample of both
    /// parts of the table.
    ///
    /// # Errors
    /// If the capacities, the seeds or the kinds of draws differ, or if both samples have a row
    /// with the same place. The sample is unchanged then.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.scheme.require_same(other.scheme)?;
        require_same_capacity(self.capacity, other.capacity)?;
        if self.is_weighted != other.is_weighted {
            let name = |is_weighted| if is_weighted { "by weight" } else { "uniform" };
            let (mine, theirs) = (name(self.is_weighted), name(other.is_weighted));
            return Err(Error::incompatible("draws", mine, theirs, "only samples of one kind can be merged"));
        }
        let mut places: Vec<u64> = self.kept.iter().chain(&other.kept).map(|kept| kept.place).collect();
        places.sort_unstable();
        if let Some(twice) = places.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]) {
            let advice = "number the rows of all parts through before they are sampled";
            let found = format!("{twice} in both");
            return Err(Error::incompatible("places", "different ones in both samples", found, advice));
        }
        self.seen = self.seen.saturating_add(other.seen);
        self.weightless = self.weightless.saturating_add(other.weightless);
        for kept in other.sorted() {
            self.admit(kept.number, kept.place, &kept.row)?;
        }
        Ok(())
    }
}

impl_sketch!(RowSample);

impl Merge for RowSample {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}

// ---- bytes ----

impl RowSample {
    /// Returns the sample as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Reads a sample from bytes.
    ///
    /// # Errors
    /// If the bytes are not the complete, undamaged bytes of a `RowSample`; see [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for RowSample {
    const FAMILY: Family = Family::RowSample;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u32(self.capacity);
        writer.u8(u8::from(self.is_weighted));
        writer.u64(self.seen);
        writer.u64(self.weightless);
        for kept in self.sorted() {
            writer.u64(kept.number);
            writer.u64(kept.place);
            writer.key(KeyRef::Bytes(&kept.row));
        }
    }
}

impl Decode for RowSample {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        if header.scheme.kind() != KeyKind::Bytes {
            return Err(Error::contents("key kind", KeyKind::Bytes, header.scheme.kind()));
        }
        let capacity = reader.u32("capacity")?;
        let mut sample = Self::new(capacity.into(), header.scheme.seed())
            .map_err(|error| Error::contents("capacity", error.expected(), capacity))?;
        sample.is_weighted = match reader.u8("draws")? {
            0 => false,
            1 => true,
            other => return Err(Error::contents("draws", "0 or 1", other)),
        };
        sample.seen = reader.u64("seen")?;
        sample.weightless = reader.u64("weightless")?;
        if !sample.is_weighted && sample.weightless > 0 {
            return Err(Error::contents("weightless", "0 in a uniform sample", sample.weightless));
        }
        let rows = sample.read_rows(reader)?;
        sample.row_bytes = rows.iter().map(|kept| kept.row.capacity()).sum();
        sample.kept = rows.into();
        sample.set_limit();
        Ok(sample)
    }
}

impl RowSample {
    fn read_rows(&self, reader: &mut Reader<'_>) -> Result<Vec<NumberedRow>> {
        let count = self.seen.min(self.capacity.into());
        // Each row takes at least twenty bytes. So no memory is allocated for rows that the bytes
        // cannot contain; reading those fails below.
        let room = usize::try_from(count).unwrap_or(usize::MAX).min(reader.left() / 20);
        let mut rows: Vec<NumberedRow> = Vec::with_capacity(room);
        for _ in 0..count {
            let (number, place) = (reader.u64("numbers")?, reader.u64("places")?);
            let is_possible = if self.is_weighted {
                number <= f64::MAX.to_bits()
            } else {
                number == self.number(place, 1.0)
            };
            if !is_possible {
                return Err(Error::contents("numbers", "those of their places", number));
            }
            if rows.last().is_some_and(|last| (last.number, last.place) >= (number, place)) {
                return Err(Error::contents("numbers", "strictly ascending order", "another order"));
            }
            let KeyRef::Bytes(row) = reader.key("rows", KeyKind::Bytes)? else { continue };
            rows.push(NumberedRow { number, place, row: row.to_vec() });
        }
        let mut places: Vec<u64> = rows.iter().map(|kept| kept.place).collect();
        places.sort_unstable();
        if places.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Error::contents("places", "different ones", "one twice"));
        }
        Ok(rows)
    }
}
