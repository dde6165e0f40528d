//! A KLL sketch whose type of numbers is known only at run time.

use crivo::Estimate;
use crivo::sketch::Quantiles;

use super::border::caught;
use super::quantiles::KLL;
use crate::{Error, Kll, NumberKind, Result};

/// The position of the flags, the flags of a sketch without values and with one value, and the
/// position of the number of levels.
const FLAGS: usize = 3;
const IS_EMPTY: u8 = 1;
const IS_SINGLE: u8 = 1 << 2;
const LEVELS_PLACE: usize = 18;

/// A [`Kll`] of doubles, floats or whole numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum AnyKll {
    /// Numbers of type `f64`.
    Doubles(Kll<f64>),
    /// Numbers of type `f32`.
    Floats(Kll<f32>),
    /// Numbers of type `i64`.
    Longs(Kll<i64>),
}

/// Evaluates the same expression for the sketch of any type.
macro_rules! of_any {
    ($any:expr, $sketch:ident => $done:expr) => {
        match $any {
            AnyKll::Doubles($sketch) => $done,
            AnyKll::Floats($sketch) => $done,
            AnyKll::Longs($sketch) => $done,
        }
    };
}

impl AnyKll {
    /// Returns an empty sketch of size `k`.
    ///
    /// # Errors
    /// If `k` is below 8.
    pub fn new(k: u16, kind: NumberKind) -> Result<Self> {
        Ok(match kind {
            NumberKind::Double => Self::Doubles(Kll::new(k)?),
            NumberKind::Float => Self::Floats(Kll::new(k)?),
            NumberKind::Long => Self::Longs(Kll::new(k)?),
        })
    }

    /// Returns the size whose rank error is at most `error`, at 99 % confidence.
    ///
    /// # Errors
    /// If no size has this error.
    pub fn k_for(error: f64) -> Result<u16> {
        // The formula that DataSketches fitted to measurements.
        let k = (2.296 / error).powf(1.0 / 0.9723).ceil();
        if error <= 1.0 && (1.0..=f64::from(u16::MAX)).contains(&k) {
            return Ok((k as u16).max(8));
        }
        Err(Error::setting("error", "a share from 0.00005 to 1", error))
    }

    /// Adds a number. A sketch of floats rounds it. A sketch of whole numbers rounds it down, and
    /// replaces a number out of range by the nearest one in range. Doubles have all digits of whole
    /// numbers up to 2^53 only; [`insert_whole`](Self::insert_whole) has them of all.
    pub fn insert(&mut self, number: f64) {
        match self {
            Self::Doubles(sketch) => sketch.insert(number),
            Self::Floats(sketch) => sketch.insert(number as f32),
            Self::Longs(sketch) if !number.is_nan() => sketch.insert(number.floor() as i64),
            Self::Longs(_) => {}
        }
    }

    /// Adds a whole number. A sketch of doubles or floats rounds it if it has too many digits.
    pub fn insert_whole(&mut self, number: i64) {
        match self {
            Self::Doubles(sketch) => sketch.insert(number as f64),
            Self::Floats(sketch) => sketch.insert(number as f32),
            Self::Longs(sketch) => sketch.insert(number),
        }
    }

    /// Returns the type of the numbers.
    pub fn kind(&self) -> NumberKind {
        match self {
            Self::Doubles(_) => NumberKind::Double,
            Self::Floats(_) => NumberKind::Float,
            Self::Longs(_) => NumberKind::Long,
        }
    }

    /// Returns the size `k`.
    pub fn k(&self) -> u16 {
        of_any!(self, sketch => sketch.k())
    }

    /// Merges `other`, so that this is the sketch of the values of both.
    ///
    /// # Errors
    /// If the sketches have different types of numbers, or 2^64 values or more together.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        match (self, other) {
            (Self::Doubles(mine), Self::Doubles(theirs)) => mine.merge(theirs),
            (Self::Floats(mine), Self::Floats(theirs)) => mine.merge(theirs),
            (Self::Longs(mine), Self::Longs(theirs)) => mine.merge(theirs),
            // The bytes of an empty sketch do not tell the type of its numbers.
            (_, theirs) if theirs.count() == 0 => Ok(()),
            (mine, theirs) if mine.count() == 0 => {
                *mine = theirs.clone();
                Ok(())
            }
            (mine, theirs) => Err(Error::Incompatible(format!(
                "numbers: expected {:?} in both, found {:?}",
                mine.kind(),
                theirs.kind()
            ))),
        }
    }

    /// Encodes the sketch as other systems read it.
    pub fn encode(&self) -> Vec<u8> {
        of_any!(self, sketch => sketch.encode())
    }

    /// Decodes a sketch whose type of numbers is known.
    ///
    /// # Errors
    /// If the bytes are not such a sketch. They have no checksum.
    pub fn decode_as(bytes: &[u8], kind: NumberKind) -> Result<Self> {
        Ok(match kind {
            NumberKind::Double => Self::Doubles(Kll::decode(bytes)?),
            NumberKind::Float => Self::Floats(Kll::decode(bytes)?),
            NumberKind::Long => Self::Longs(Kll::decode(bytes)?),
        })
    }

    /// Decodes the sketch that any system wrote. The bytes do not tell the type of the numbers.
    /// Floats of 32 bits are recognised by the length. Numbers of 64 bits are taken for whole
    /// numbers if the least and the greatest of them would not be doubles, or doubles below 10⁻³⁰⁷.
    ///
    /// # Errors
    /// If the bytes are not such a sketch. They have no checksum.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        caught(KLL, || Self::decode_any(bytes))
    }

    fn decode_any(bytes: &[u8]) -> Result<Self> {
        let fits = |sketch: Self| (sketch.encode().len() == bytes.len()).then_some(sketch);
        let of = |kind| Self::decode_as(bytes, kind).ok().and_then(fits);
        if are_whole(bytes)
            && let Some(sketch) = of(NumberKind::Long)
        {
            return Ok(sketch);
        }
        match of(NumberKind::Double).or_else(|| of(NumberKind::Float)) {
            Some(Self::Floats(sketch)) if are_next_to_zero(&sketch) => {
                Err(Error::bytes(KLL, "whole numbers of 32 bits, which are not read"))
            }
            Some(sketch) => Ok(sketch),
            None => Self::decode_as(bytes, NumberKind::Double),
        }
    }
}

/// Returns true if the numbers are not normal floats, which happens if the bytes of small whole
/// numbers are read as floats.
fn are_next_to_zero(sketch: &Kll<f32>) -> bool {
    let ends = [sketch.quantile(0.0), sketch.quantile(1.0)].map(Option::unwrap_or_default);
    ends.iter().any(|end| *end != 0.0) && ends.iter().all(|end| end.abs() < f32::MIN_POSITIVE)
}

/// Returns true if the least and the greatest number, read as doubles, are not numbers that real
/// data has.
fn are_whole(bytes: &[u8]) -> bool {
    let flags = bytes.get(FLAGS).copied().unwrap_or(IS_EMPTY);
    let place = match flags {
        flags if flags & IS_EMPTY != 0 => return false,
        flags if flags & IS_SINGLE != 0 => 8,
        _ => 20 + 4 * usize::from(bytes.get(LEVELS_PLACE).copied().unwrap_or(0)),
    };
    let ends = if place == 8 { 1 } else { 2 };
    let ends = bytes.get(place..).unwrap_or_default().as_chunks::<8>().0.iter().take(ends);
    let mut some = false;
    let strange = ends.map(|end| f64::from_le_bytes(*end)).all(|end| {
        some |= end != 0.0;
        end.is_nan() || end == 0.0 || end.is_subnormal()
    });
    strange && some
}

impl Quantiles for AnyKll {
    fn quantile(&self, share: f64) -> Option<Estimate> {
        of_any!(self, sketch => Quantiles::quantile(sketch, share))
    }

    fn count_below(&self, limit: f64) -> Estimate {
        of_any!(self, sketch => sketch.count_below(limit))
    }

    fn count(&self) -> u64 {
        of_any!(self, sketch => sketch.count())
    }
}
