//! Tally: how many events, and the sum of a number that some of them have. Exact.
//!
//! **Question.** How many rows are there, and what do their amounts add up to?
//!
//! **Guarantee.** The count is exact below 2^64. The sum is the exact sum of all finite numbers,
//! rounded once, to the nearest float, when it is requested. So neither depends on the order of the
//! rows, nor on how they were split before merging. Merging equals counting the joined stream, byte
//! for byte.
//!
//! **Idea.** A counter, and a fixed-point accumulator that is wide enough for every float (Kulisch:
//! *Advanced arithmetic for the digital computer*, 2002). The accumulator takes 552 bytes in
//! memory, and is allocated with the first finite number. Its encoding has only the 32-bit words
//! from the first to the last that is not 0.
//!
//! **When not to use it.** For one count a plain integer is enough. A tally is meant as the value
//! of a group in [`Groups`](crate::groups::Groups), where many tallies are kept, stored and merged.

use super::{NO_KEYS, require_no_keys};
use crate::codec::{Decode, Encode, Family, Header, Parameters, Reader, Summary, Writer};
use crate::error::{Error, Result};
use crate::estimate::Estimate;
use crate::keys::KeyScheme;
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::profile::exact_sum::ExactSum;
use crate::sketch::{CountEvents, InsertNumbers, Merge, impl_sketch};

/// An exact count and sum; see the [module](self).
///
/// ```
/// use crivo::counting::Tally;
///
/// let mut sales = Tally::new();
/// sales.add(1);
/// sales.add_number(0.1);
/// sales.add_number(0.2);
/// assert_eq!((sales.count(), sales.numbers()), (3, 2));
/// assert_eq!((sales.sum(), sales.mean()), (Some(0.30000000000000004), Some(0.15000000000000002)));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tally {
    count: u64,
    numbers: u64,
    /// Allocated with the first finite number.
    sum: Option<ExactSum>,
}

// ---- construction ----

impl Tally {
    /// Creates an empty tally.
    pub fn new() -> Self {
        Self::default()
    }
}

// ---- update ----

impl Tally {
    /// Counts `events` events without a number.
    pub fn add(&mut self, events: u64) {
        self.count = self.count.saturating_add(events);
    }

    /// Counts one event with a number. A number that is not finite is counted as an event but not
    /// added to the sum.
    pub fn add_number(&mut self, number: f64) {
        self.add_sum([number]);
    }

    /// Counts one event with a number that is the sum of `parts`. So a number can have more digits
    /// than a float. If a part is not finite, the number is not.
    ///
    /// ```
    /// # use crivo::counting::Tally;
    /// let mut tally = Tally::new();
    /// tally.add_sum([9007199254740992.0, 1.0]);
    /// tally.add_number(1.0);
    /// assert_eq!((tally.numbers(), tally.sum()), (2, Some(9007199254740994.0)));
    /// ```
    pub fn add_sum<const N: usize>(&mut self, parts: [f64; N]) {
        self.add(1);
        if parts.iter().all(|part| part.is_finite()) {
            self.numbers = self.numbers.saturating_add(1);
            let sum = self.sum.get_or_insert_with(ExactSum::new);
            parts.into_iter().for_each(|part| sum.add(part));
        }
    }
}

impl CountEvents for Tally {
    fn add(&mut self, events: u64) {
        self.add(events);
    }

    fn estimate(&self) -> Estimate {
        self.estimate()
    }
}

impl InsertNumbers for Tally {
    fn insert_numbers(&mut self, numbers: &[f64]) {
        numbers.iter().for_each(|number| self.add_number(*number));
    }
}

// ---- query ----

impl Tally {
    /// Returns the number of events.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the number of events, exact.
    pub fn estimate(&self) -> Estimate {
        Estimate::exact(self.count as f64)
    }

    /// Returns the number of events that had a finite number.
    pub fn numbers(&self) -> u64 {
        self.numbers
    }

    /// Returns the sum of the numbers, or `None` if there are none. A sum beyond the largest float
    /// is infinite.
    pub fn sum(&self) -> Option<f64> {
        self.sum.as_ref().map(ExactSum::value)
    }

    /// Returns the mean of the numbers, or `None` if there are none.
    pub fn mean(&self) -> Option<f64> {
        self.sum.as_ref().map(|sum| sum.mean(self.numbers))
    }

    /// Returns true if nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the scheme of hashes, because there are no keys.
    pub fn scheme(&self) -> KeyScheme {
        NO_KEYS
    }

    /// Returns the bytes of memory in use, the struct itself included.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.sum.as_ref().map_or(0, ExactSum::memory)
    }

    /// Returns no parameters, because all tallies have one size.
    pub fn parameters(&self) -> Parameters {
        Vec::new()
    }

    /// Returns a summary of the tally: what `crivo show` prints.
    pub fn summary(&self) -> Summary {
        Summary {
            family: Self::FAMILY,
            parameters: Vec::new(),
            scheme: self.scheme(),
            items: self.estimate(),
            fill: None,
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}

impl_sketch!(Tally, numbers, events);

// ---- merge ----

impl Tally {
    /// Merges `other` into this tally, which then is the tally of both streams, bit for bit. It
    /// cannot fail; it returns a result because other sketches can.
    ///
    /// # Errors
    /// None.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.add(other.count);
        self.numbers = self.numbers.saturating_add(other.numbers);
        match (&mut self.sum, &other.sum) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (mine @ None, theirs) => mine.clone_from(theirs),
            (Some(_), None) => {}
        }
        Ok(())
    }
}

impl Merge for Tally {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}

// ---- bytes ----

impl Tally {
    /// Returns the tally as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Returns the tally that the bytes hold.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of a tally: see [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for Tally {
    const FAMILY: Family = Family::Tally;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme()
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u64(self.count);
        writer.u64(self.numbers);
        if let Some(sum) = &self.sum {
            sum.encode(writer);
        }
    }
}

impl Decode for Tally {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        require_no_keys(header)?;
        let count = reader.u64("count")?;
        let numbers = reader.u64("numbers")?;
        if numbers > count {
            return Err(Error::contents("numbers", format_args!("at most {count}"), numbers));
        }
        let sum = if numbers > 0 { Some(ExactSum::decode(reader)?) } else { None };
        if let Some(sum) = &sum
            && !sum.lies_between(-f64::MAX, f64::MAX, numbers)
        {
            let expected = format_args!("one that {numbers} floats can have").to_string();
            return Err(Error::contents("sum", expected, "a larger one"));
        }
        Ok(Self { count, numbers, sum })
    }
}
