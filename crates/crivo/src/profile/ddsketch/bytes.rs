//! The sketch as bytes.

use super::bins::{Bin, Bins};
use super::{DDSketch, ExactSum};
use crate::codec::{Decode, Encode, Family, Header, Reader, Writer};
use crate::counting::{NO_KEYS, require_no_keys};
use crate::error::{Error, Result};
use crate::keys::KeyScheme;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

impl DDSketch {
    /// Returns the sketch as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Reads a sketch from bytes.
    ///
    /// # Errors
    /// If the bytes are not the complete, undamaged bytes of a DDSketch; see [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for DDSketch {
    const FAMILY: Family = Family::DDSketch;

    fn key_scheme(&self) -> KeyScheme {
        NO_KEYS
    }

    fn encode_payload(&self, writer: &mut Writer) {
        let bins = self.bins.sorted();
        let negative = bins.partition_point(|bin| bin.is_negative);
        writer.u64(self.accuracy.to_bits());
        writer.u32(self.max_bins);
        writer.u8(self.level);
        writer.u64(self.zeros);
        writer.u64(self.not_finite);
        writer.u32(negative as u32);
        writer.u32((bins.len() - negative) as u32);
        let (below, above) = bins.split_at(negative);
        for bin in below.iter().rev().chain(above) {
            writer.u32(bin.number);
            writer.u64(bin.count);
        }
        if !self.is_empty() {
            writer.u64(self.min.to_bits());
            writer.u64(self.max.to_bits());
            self.sum.encode(writer);
        }
    }
}

impl Decode for DDSketch {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        require_no_keys(header)?;
        let accuracy = f64::from_bits(reader.u64("relative error")?);
        let max_bins = reader.u32("bins")?;
        let mut sketch = Self::new(accuracy, max_bins).map_err(Error::into_contents)?;
        sketch.level = reader.u8("level")?;
        if u32::from(sketch.level) >= u32::BITS {
            return Err(Error::contents("level", "0 to 31", sketch.level));
        }
        sketch.zeros = reader.u64("zeros")?;
        sketch.not_finite = reader.u64("not finite")?;
        let (negative, positive) = (reader.u32("bins in use")?, reader.u32("bins in use")?);
        let used = u64::from(negative) + u64::from(positive);
        if used > u64::from(max_bins) || used > reader.left() as u64 / 12 {
            return Err(Error::contents(
                "bins in use",
                format_args!("at most {max_bins}, and all there"),
                used,
            ));
        }
        sketch.bins = Bins::with_room_for(used as usize)?;
        sketch.count = sketch.zeros;
        let below = sketch.read_bins(negative, true, reader)?;
        let above = sketch.read_bins(positive, false, reader)?;
        sketch.require_lowest_level()?;
        if !sketch.is_empty() {
            sketch.read_exact_answers(below, above, reader)?;
        }
        Ok(sketch)
    }
}

/// The numbers of the first and the last bin of one sign.
type Ends = Option<(u32, u32)>;

impl DDSketch {
    fn read_bins(&mut self, count: u32, is_negative: bool, reader: &mut Reader<'_>) -> Result<Ends> {
        let number_of = |value| self.scale.bin(value) >> self.level;
        let (least, greatest) = (number_of(f64::from_bits(1)), number_of(f64::MAX));
        let mut ends: Ends = None;
        for _ in 0..count {
            let number = reader.u32("number of a bin")?;
            let first = ends.map_or(least, |ends| ends.1 + 1);
            if !(first..=greatest).contains(&number) {
                let expected = format_args!("{first} to {greatest}, ascending").to_string();
                return Err(Error::contents("number of a bin", expected, number));
            }
            let in_bin = reader.u64("count of a bin")?;
            if in_bin == 0 {
                return Err(Error::contents("count of a bin", "at least 1", 0));
            }
            self.bins.add(number, is_negative, in_bin);
            self.count = self.count.saturating_add(in_bin);
            ends = Some((ends.map_or(number, |ends| ends.0), number));
        }
        Ok(ends)
    }

    /// Refuses a level that the bins would not have reached. One level below there must have been
    /// too many bins: at most two for each bin, and never more than the numbers in the bin.
    fn require_lowest_level(&self) -> Result<()> {
        let before: u64 = self.bins.iter().map(|Bin { count, .. }| count.min(2)).sum();
        if self.level == 0 || before > u64::from(self.max_bins) {
            return Ok(());
        }
        let expected = format_args!("one with more than {} bins below it", self.max_bins).to_string();
        Err(Error::contents("level", expected, self.level))
    }

    fn read_exact_answers(&mut self, below: Ends, above: Ends, reader: &mut Reader<'_>) -> Result<()> {
        self.min = f64::from_bits(reader.u64("least number")?);
        self.max = f64::from_bits(reader.u64("greatest number")?);
        let least = below.map(|ends| (true, ends.1)).or(self.zero()).or(above.map(|ends| (false, ends.0)));
        let greatest = above.map(|ends| (false, ends.1)).or(self.zero()).or(below.map(|ends| (true, ends.0)));
        for (field, value, bin) in
            [("least number", self.min, least), ("greatest number", self.max, greatest)]
        {
            if !value.is_finite() || self.bin_of(value) != bin {
                return Err(Error::contents(field, "a number of the outermost bin", value));
            }
        }
        if self.min > self.max || self.count == 1 && self.min < self.max {
            return Err(Error::contents(
                "greatest number",
                format_args!("one that fits {}", self.min),
                self.max,
            ));
        }
        self.sum = ExactSum::decode(reader)?;
        let fits = if self.is_saturated() {
            self.sum == ExactSum::new()
        } else {
            self.sum.lies_between(self.min, self.max, self.count)
        };
        if fits {
            return Ok(());
        }
        let expected = format_args!("{} numbers from {} to {}", self.count, self.min, self.max).to_string();
        Err(Error::contents("sum", expected, self.sum.value()))
    }

    /// Returns the marker for the bin of zero if that bin is in use.
    fn zero(&self) -> Option<(bool, u32)> {
        (self.zeros > 0).then_some(ZERO)
    }

    /// Returns the sign and the number of the bin of a finite number.
    fn bin_of(&self, value: f64) -> Option<(bool, u32)> {
        if value == 0.0 {
            // Encoders write only positive zero.
            return value.is_sign_positive().then_some(ZERO);
        }
        Some((value < 0.0, self.scale.bin(value.abs()) >> self.level))
    }
}

/// The marker for the bin of zero. No other bin has this number.
const ZERO: (bool, u32) = (false, u32::MAX);
