//! Estimates: a value, the interval that holds the truth, and the confidence of that interval.
//!
//! A sketch never answers with a bare number. An [`Estimate`] holds the value, a
//! lower and an upper bound, and the [`Confidence`] of the interval. Bounds are of
//! two kinds, and the difference matters to a caller who acts on them:
//!
//! - *certain*: no input can put the truth outside (a count kept exactly, or the
//!   bounds that heavy hitters keep for each item);
//! - *probable*: over the random choice of the hash function the interval holds the
//!   truth with at least the stated probability.

use std::fmt;

use crate::error::{Error, Result};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The confidence of an interval: a probability in (0, 1), or certainty.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Confidence(f64);

impl Confidence {
    /// 95 %, the default level.
    pub const P95: Self = Self(0.95);
    /// 99 %.
    pub const P99: Self = Self(0.99);
    /// No input can put the truth outside the interval.
    pub const CERTAIN: Self = Self(1.0);

    /// Creates a level between 0 and 1. A level of 1 is [`Confidence::CERTAIN`], which cannot be
    /// requested.
    ///
    /// # Errors
    /// If `level` is not strictly between 0 and 1.
    pub fn new(level: f64) -> Result<Self> {
        if level > 0.0 && level < 1.0 {
            Ok(Self(level))
        } else {
            Err(Error::parameter("confidence", "a number between 0 and 1, such as 0.95", level))
        }
    }

    /// The level as a number, or 1 if certain.
    pub fn level(self) -> f64 {
        self.0
    }

    /// Returns true if the bounds hold for every input.
    pub fn is_certain(self) -> bool {
        self.0 == 1.0
    }
}

impl Default for Confidence {
    fn default() -> Self {
        Self::P95
    }
}

/// A number with the interval that holds the truth.
///
/// ```
/// use crivo::{Confidence, Estimate};
///
/// let visitors = Estimate::probable(1_702_788.0, 1_689_000.0, 1_716_000.0, Confidence::P95);
/// assert!(visitors.covers(1_700_000.0) && !visitors.is_certain());
/// assert_eq!(visitors.to_string(), "1 702 788 ± 0.8 %");
/// assert_eq!(Estimate::exact(42.0).to_string(), "42");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    value: f64,
    lower: f64,
    upper: f64,
    confidence: Confidence,
}

impl Estimate {
    /// Creates an estimate whose value is known exactly.
    pub fn exact(value: f64) -> Self {
        Self::certain(value, value, value)
    }

    /// Creates an estimate whose bounds hold for every input.
    pub fn certain(value: f64, lower: f64, upper: f64) -> Self {
        Self::probable(value, lower, upper, Confidence::CERTAIN)
    }

    /// Creates an estimate whose bounds hold with the given confidence.
    ///
    /// Bounds that exclude the value are moved to it, so `lower ≤ value ≤ upper` always holds.
    pub fn probable(value: f64, lower: f64, upper: f64, confidence: Confidence) -> Self {
        Self { value, lower: lower.min(value), upper: upper.max(value), confidence }
    }

    /// Returns the same estimate with all three numbers moved inside `[least, most]`. The limits
    /// are known from elsewhere, such as "no more distinct values than rows".
    #[must_use]
    pub fn limited_to(self, least: f64, most: f64) -> Self {
        let inside = |x: f64| x.max(least).min(most.max(least));
        Self {
            value: inside(self.value),
            lower: inside(self.lower),
            upper: inside(self.upper),
            confidence: self.confidence,
        }
    }

    /// The estimated value.
    pub fn value(self) -> f64 {
        self.value
    }

    /// The lower end of the interval.
    pub fn lower(self) -> f64 {
        self.lower
    }

    /// The upper end of the interval.
    pub fn upper(self) -> f64 {
        self.upper
    }

    /// Returns the confidence of the interval.
    pub fn confidence(self) -> Confidence {
        self.confidence
    }

    /// Returns true if the bounds hold for every input.
    pub fn is_certain(self) -> bool {
        self.confidence.is_certain()
    }

    /// Returns true if the value is known exactly.
    pub fn is_exact(self) -> bool {
        self.is_certain() && self.lower == self.upper
    }

    /// Returns true if `truth` lies in the interval.
    pub fn covers(self, truth: f64) -> bool {
        self.lower <= truth && truth <= self.upper
    }

    /// The larger distance from the value to a bound, as a share of the value.
    pub fn relative_error(self) -> f64 {
        let distance = (self.upper - self.value).max(self.value - self.lower);
        if distance == 0.0 { 0.0 } else { distance / self.value.abs() }
    }
}

/// Prints groups of three digits and the error in percent: `1 702 788 ± 0.8 %`.
impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.value.fract() != 0.0 && self.value.abs() < 1000.0 {
            // A share, a mean or a small count: three digits after the point are enough.
            let text = format!("{:.3}", self.value);
            f.write_str(text.trim_end_matches('0').trim_end_matches('.'))?;
        } else {
            write_grouped(f, self.value)?;
        }
        let percent = 100.0 * self.relative_error();
        if self.lower == self.upper {
            Ok(())
        } else if self.upper.is_infinite() {
            f.write_str(", without an upper bound")
        } else if percent.is_infinite() {
            // There is no share of zero, so the bounds themselves are shown.
            if self.lower < self.value {
                write!(f, ", {} to {}", self.lower, self.upper)
            } else {
                write!(f, ", at most {}", self.upper)
            }
        } else if percent >= 10.0 {
            write!(f, " ± {percent:.0} %")
        } else if percent >= 0.1 {
            write!(f, " ± {percent:.1} %")
        } else if percent >= 1e-6 {
            // One significant digit, rounded up, without an exponent.
            let places = -libm::floor(libm::log10(percent)) as usize;
            let scale = libm::pow(10.0, places as f64);
            write!(f, " ± {:.places$} %", libm::ceil(percent * scale - 1e-9) / scale)
        } else {
            write!(f, " ± {percent:.1e} %")
        }
    }
}

fn write_grouped(f: &mut fmt::Formatter<'_>, value: f64) -> fmt::Result {
    let digits = format!("{:.0}", value.abs());
    if value < 0.0 {
        f.write_str("-")?;
    }
    for (position, digit) in digits.char_indices() {
        if position > 0 && (digits.len() - position) % 3 == 0 {
            f.write_str(" ")?;
        }
        write!(f, "{digit}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_refuses_what_is_no_probability() {
        for level in [0.0, 1.0, -0.5, 95.0, f64::NAN, f64::INFINITY] {
            assert!(Confidence::new(level).is_err(), "{level}");
        }
        assert_eq!(Confidence::new(0.9).map(Confidence::level), Ok(0.9));
    }

    #[test]
    fn limits_move_value_and_bounds() {
        let estimate = Estimate::probable(720.0, 650.0, 800.0, Confidence::P95).limited_to(0.0, 603.0);
        assert_eq!((estimate.value(), estimate.lower(), estimate.upper()), (603.0, 603.0, 603.0));
        assert!(!estimate.is_exact(), "limiting does not make a probable answer certain");
    }

    #[test]
    fn prints_groups_and_percent() {
        let show = |value: f64, error: f64| {
            Estimate::probable(value, value - error, value + error, Confidence::P95).to_string()
        };
        assert_eq!(show(999.0, 9.99), "999 ± 1.0 %");
        assert_eq!(show(1000.0, 300.0), "1 000 ± 30 %");
        assert_eq!(show(-1_234_567.0, 12_345.67), "-1 234 567 ± 1.0 %");
        assert_eq!(show(0.25, 0.025), "0.25 ± 10 %");
        assert_eq!(show(1e6, 1.0), "1 000 000 ± 0.0001 %");
        assert_eq!(Estimate::exact(0.0).to_string(), "0");
        assert_eq!(Estimate::certain(0.0, 0.0, 276.0).to_string(), "0, at most 276");
        assert_eq!(Estimate::certain(0.0, -0.5, 0.25).to_string(), "0, -0.5 to 0.25");
        assert_eq!(Estimate::certain(0.0, 0.0, f64::INFINITY).to_string(), "0, without an upper bound");
        assert_eq!(Estimate::certain(5.0, 5.0, f64::INFINITY).to_string(), "5, without an upper bound");
    }
}
