//! `CountMin`: how often does a key come?

use crivo::{Confidence, Estimate};
use datasketches::countmin::CountMinSketch;
use datasketches::hash::value::raw_bytes;

use crate::border::{MOST_EMPTY_BYTES, caught, u32_at, u64_at};
use crate::{Error, Result};

const KIND: &str = "Count-Min";
/// The bytes before the counters, and those with their total.
const HEADER: usize = 16;
/// The flag of a sketch without its counters.
const EMPTY: u8 = 1;
/// The bits of 1.0. As a total of whole numbers they would be more than 4 · 10¹⁸.
const ONE_AS_DOUBLE: u64 = 0x3FF0_0000_0000_0000;

/// How counters are stored. The bytes do not say it: a total is taken for a double if it would be beyond 4 · 10¹⁸ as a
/// whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Counters {
    /// Whole numbers of 64 bits, as the Java and Rust libraries have them.
    #[default]
    Longs,
    /// Doubles, as the C++ library's Python package has them.
    Doubles,
}

/// Counts keys in a table: never too little, and too much by at most a share of the total, with a stated confidence.
#[derive(Debug, Clone, PartialEq)]
pub struct CountMin {
    sketch: CountMinSketch<i64>,
    counters: Counters,
}

impl CountMin {
    /// Returns an empty table of that many rows and counters a row.
    ///
    /// # Errors
    /// If it has no row, fewer than 3 counters a row, or more than 2^30 in all.
    pub fn new(rows: u8, width: u32) -> Result<Self> {
        let wrong = |cause| Error::setting("rows and width", "a table of counters", cause);
        let sketch = CountMinSketch::new(rows, width).map_err(wrong)?;
        Ok(Self { sketch, counters: Counters::Longs })
    }

    /// Returns an empty table whose answers are too high by at most `error` of the total, as often as `confidence` says.
    ///
    /// # Errors
    /// If one of them is not between 0 and 1, or the table would be too large.
    pub fn for_error(error: f64, confidence: f64) -> Result<Self> {
        let (rows, width) = Self::size_for(error, confidence)?;
        Self::new(rows, width)
    }

    /// Returns the rows and the counters of a row of such a table.
    ///
    /// # Errors
    /// As for [`for_error`](Self::for_error).
    pub fn size_for(error: f64, confidence: f64) -> Result<(u8, u32)> {
        let is_share = |share: f64| share > 0.0 && share < 1.0;
        if !is_share(error) {
            return Err(Error::setting("error", "a share between 0 and 1", error));
        }
        if !is_share(confidence) {
            return Err(Error::setting("confidence", "a share between 0 and 1", confidence));
        }
        let wrong = |cause| Error::setting("error", "one that a table of at most 2^30 counters has", cause);
        let width = CountMinSketch::<i64>::suggest_num_buckets(error).map_err(wrong)?;
        let rows = CountMinSketch::<i64>::suggest_num_hashes(confidence).map_err(wrong)?;
        Ok((rows, width))
    }

    /// Returns the sketch with its counters stored in another way.
    #[must_use]
    pub fn stored_as(self, counters: Counters) -> Self {
        Self { counters, ..self }
    }

    /// Adds text or bytes with a weight; nothing, if they are empty.
    ///
    /// # Errors
    /// If the weights add up to 2^63 or more; nothing is added then.
    pub fn add_bytes(&mut self, key: &[u8], weight: u64) -> Result<()> {
        if !key.is_empty() {
            let weight = self.checked(weight)?;
            self.sketch.update_with_weight(raw_bytes::from_slice(key), weight);
        }
        Ok(())
    }

    /// Adds an integer with a weight.
    ///
    /// # Errors
    /// If the weights add up to 2^63 or more; nothing is added then.
    pub fn add_integer(&mut self, key: u64, weight: u64) -> Result<()> {
        let weight = self.checked(weight)?;
        self.sketch.update_with_weight(key.cast_signed(), weight);
        Ok(())
    }

    fn checked(&self, weight: u64) -> Result<i64> {
        let weight = i64::try_from(weight).map_err(|_| Error::TooMany)?;
        self.sketch.total_weight().checked_add(weight).map_or(Err(Error::TooMany), |_| Ok(weight))
    }

    /// Returns how often text or bytes came, with bounds.
    pub fn frequency_bytes(&self, key: &[u8]) -> Estimate {
        if key.is_empty() {
            return Estimate::exact(0.0);
        }
        self.between(self.sketch.estimate(raw_bytes::from_slice(key)))
    }

    /// Returns how often an integer came, with bounds.
    pub fn frequency_integer(&self, key: u64) -> Estimate {
        self.between(self.sketch.estimate(key.cast_signed()))
    }

    /// The truth is at most the count, and at least that less the error, unless all rows were unlucky.
    fn between(&self, count: i64) -> Estimate {
        let (count, margin) = (count as f64, (self.sketch.relative_error() * self.total() as f64).floor());
        if count <= 0.0 {
            return Estimate::certain(count, count.min(0.0), count);
        }
        let sure = 1.0 - (-f64::from(self.sketch.num_hashes())).exp();
        let confidence = Confidence::new(sure).unwrap_or(Confidence::P95);
        Estimate::probable(count, (count - margin).max(0.0), count, confidence)
    }

    /// Returns the sum of all weights.
    pub fn total(&self) -> u64 {
        self.sketch.total_weight().unsigned_abs()
    }

    /// Returns true if nothing was added.
    pub fn is_empty(&self) -> bool {
        self.sketch.is_empty()
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u8 {
        self.sketch.num_hashes()
    }

    /// Returns the number of counters of a row.
    pub fn width(&self) -> u32 {
        self.sketch.num_buckets()
    }

    /// Returns by what share of the total an answer may be too high.
    pub fn error(&self) -> f64 {
        self.sketch.relative_error()
    }

    /// Makes this the sketch of both streams.
    ///
    /// # Errors
    /// If the two differ in their sizes, or the weights add up to 2^63 or more.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.sketch.merge(&other.sketch).map_err(|cause| Error::Incompatible(cause.to_string()))
    }

    /// Returns the bytes that other systems read.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = self.sketch.serialize();
        if self.counters == Counters::Doubles {
            each_word(&mut bytes, |word| Some((word.cast_signed() as f64).to_bits()));
        }
        bytes
    }

    /// Returns the sketch that the bytes of any system hold, with counters of either kind. Of doubles they must be whole.
    ///
    /// # Errors
    /// If they are not the bytes of such a sketch, or were hashed with another seed than 9001. There is no checksum in them.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let is_empty = bytes.get(3).is_some_and(|flags| flags & EMPTY != 0);
        let rows = u64::from(bytes.get(12).copied().unwrap_or(0));
        let counters = rows * u64::from(u32_at(bytes, 8).unwrap_or(0));
        if is_empty && counters.saturating_mul(8) > MOST_EMPTY_BYTES {
            return Err(Error::bytes(
                KIND,
                format_args!("an empty table of {counters} counters, and none of them"),
            ));
        }
        let of_doubles = !is_empty && u64_at(bytes, HEADER).is_some_and(|total| total >= ONE_AS_DOUBLE);
        let (counters, bytes) = if of_doubles {
            let mut whole = bytes.to_vec();
            if !each_word(&mut whole, |word| as_whole(f64::from_bits(word))) {
                return Err(Error::bytes(
                    KIND,
                    "counters that are neither whole numbers nor doubles of such",
                ));
            }
            (Counters::Doubles, whole.into())
        } else {
            (Counters::Longs, std::borrow::Cow::Borrowed(bytes))
        };
        caught(KIND, || {
            let sketch = CountMinSketch::deserialize(&bytes).map_err(|cause| Error::bytes(KIND, cause))?;
            Ok(Self { sketch, counters })
        })
    }
}

/// Returns the bits of a whole number that a double holds exactly.
fn as_whole(number: f64) -> Option<u64> {
    let is_whole = number.fract() == 0.0 && number.abs() <= (1_u64 << 53) as f64;
    is_whole.then_some((number as i64).cast_unsigned())
}

/// Replaces the total and the counters; returns false where one cannot be.
fn each_word(bytes: &mut [u8], replace: impl Fn(u64) -> Option<u64>) -> bool {
    let Some(body) = bytes.get_mut(HEADER..) else { return true };
    body.as_chunks_mut::<8>().0.iter_mut().all(|word| {
        let replaced = replace(u64::from_le_bytes(*word));
        *word = replaced.unwrap_or_default().to_le_bytes();
        replaced.is_some()
    })
}
