//! The parameters that clients and server agree on before the first report.

use std::ops::RangeInclusive;

use crate::error::{Error, Result};
use crate::hash::{index, multiplier};
use crate::keys::KeyScheme;

/// The privacy of a report, its size, and how keys are hashed. Client and server are built from the
/// same protocol.
///
/// ```
/// use crivo::frequency::private::Protocol;
/// let protocol = Protocol::new(2.0, 16, 256)?;
/// assert!((protocol.flip_probability() - 0.268_941).abs() < 1e-6); // 1/(1 + e)
/// assert!((protocol.standard_error(10_000) - 96.3).abs() < 0.1);
/// assert!(Protocol::new(0.0, 16, 256).is_err());
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Protocol {
    scheme: KeyScheme,
    epsilon: f64,
    rows: u32,
    width: u32,
}

// ---- limits and sizing ----

impl Protocol {
    /// The possible values of `ε`. Below the least, 4,000,000 reports say no more than one report
    /// that is not private. At the most, one bit in nine million is flipped, so there is no privacy
    /// left.
    pub const EPSILONS: RangeInclusive<f64> = 0.001..=32.0;

    /// The possible numbers of rows: a report names its row in two bytes.
    pub const ROWS: RangeInclusive<u32> = 1..=1 << 16;

    /// The possible numbers of places in a row: a report has a bit for each. With one place, keys
    /// could not be distinguished.
    pub const WIDTHS: RangeInclusive<u32> = 2..=1 << 20;

    /// The default width of a row: reports have 128 bytes of bits.
    pub const USUAL_WIDTH: u32 = 1024;

    /// Below this number of rows, the spread between rows says too little to be used.
    pub(super) const FEW_ROWS: u32 = 8;

    /// Returns the protocol with the [usual width](Self::USUAL_WIDTH) and enough rows. These are
    /// the fewest rows, from 16 on, in which collisions add no more to the variance than the
    /// flipped bits, for any distribution of the values:
    /// `⌈reports·(e^(ε/2) − 1)²/(e^(ε/2)·width)⌉`, limited to the most possible.
    ///
    /// # Errors
    /// If ε is not in [`EPSILONS`](Self::EPSILONS).
    ///
    /// ```
    /// use crivo::frequency::private::Protocol;
    /// assert_eq!(Protocol::for_reports(4.0, 1_000_000)?.rows(), 5395);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn for_reports(epsilon: f64, reports: u64) -> Result<Self> {
        let usual = Self::new(epsilon, 16, Self::USUAL_WIDTH)?;
        let rows = reports as f64 / usual.coin_variance() / f64::from(Self::USUAL_WIDTH);
        let most = *Self::ROWS.end();
        Ok(Self { rows: (libm::ceil(rows) as u32).clamp(16, most), ..usual })
    }

    /// Returns the part of an answer's standard error that comes from the flipped bits alone, which
    /// is the least possible: `√n·e^(ε/4)/(e^(ε/2) − 1)`, times `width/(width − 1)`.
    pub fn standard_error(&self, reports: u64) -> f64 {
        self.spread() * libm::sqrt(reports as f64 * self.coin_variance())
    }
}

// ---- construction ----

impl Protocol {
    /// Creates a protocol about keys that are bytes or text. A report has `width` bits for one of
    /// `rows` rows, and is `epsilon`-private.
    ///
    /// # Errors
    /// If a number is not in [`EPSILONS`](Self::EPSILONS), [`ROWS`](Self::ROWS) or
    /// [`WIDTHS`](Self::WIDTHS).
    pub fn new(epsilon: f64, rows: u32, width: u32) -> Result<Self> {
        if !Self::EPSILONS.contains(&epsilon) {
            let (least, most) = Self::EPSILONS.into_inner();
            return Err(Error::parameter("epsilon", format_args!("{least} to {most}"), epsilon));
        }
        for (name, size, range) in [("rows", rows, Self::ROWS), ("width", width, Self::WIDTHS)] {
            if !range.contains(&size) {
                let (least, most) = range.into_inner();
                return Err(Error::parameter(name, format_args!("{least} to {most}"), size));
            }
        }
        Ok(Self { scheme: KeyScheme::bytes(), epsilon, rows, width })
    }

    /// Returns the same protocol for keys of another scheme.
    #[must_use]
    pub fn with_scheme(self, scheme: KeyScheme) -> Self {
        Self { scheme, ..self }
    }
}

// ---- query ----

impl Protocol {
    /// Returns the privacy `ε` that a report spends.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Returns the number of places in a row, which are the bits of a report.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns how keys are hashed.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// Returns the probability with which each bit of a report is flipped: `1/(1 + e^(ε/2))`.
    pub fn flip_probability(&self) -> f64 {
        1.0 / (1.0 + libm::exp(self.epsilon / 2.0))
    }

    /// Returns the factor that corrects for the flipped bits on average:
    /// `c = (e^(ε/2) + 1)/(e^(ε/2) − 1)`.
    pub(super) fn scale(&self) -> f64 {
        1.0 / libm::tanh(self.epsilon / 4.0)
    }

    /// Returns the variance that the flipped bits of one report add to an answer: `(c² − 1)/4`.
    pub(super) fn coin_variance(&self) -> f64 {
        let half = libm::sinh(self.epsilon / 4.0);
        0.25 / (half * half)
    }

    /// Returns the factor that corrects for subtracting the average of all places, which the key's
    /// own reports are a part of: `m/(m − 1)`.
    pub(super) fn spread(&self) -> f64 {
        f64::from(self.width) / f64::from(self.width - 1)
    }

    /// Returns the place of a hash in a row.
    #[inline]
    pub(super) fn place(&self, hash: u64, row: u32) -> usize {
        index(hash.wrapping_mul(multiplier(row)), self.width.into()) as usize
    }

    /// Returns an error that names the first difference if the other protocol differs.
    ///
    /// # Errors
    /// If scheme, ε, rows or width differ.
    pub fn require_same(&self, other: &Self) -> Result<()> {
        self.scheme.require_same(other.scheme)?;
        let advice = "reports of different protocols do not add up: build both ends from the same one";
        if self.epsilon.to_bits() != other.epsilon.to_bits() {
            return Err(Error::incompatible("epsilon", self.epsilon, other.epsilon, advice));
        }
        for (field, mine, theirs) in [("rows", self.rows, other.rows), ("width", self.width, other.width)] {
            if mine != theirs {
                return Err(Error::incompatible(field, mine, theirs, advice));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_protocol_is_refused_naming_the_range() {
        for epsilon in [0.0, -1.0, 0.0009, 32.1, f64::NAN, f64::INFINITY] {
            let error = Protocol::new(epsilon, 16, 256).unwrap_err();
            assert_eq!((error.field(), error.expected()), ("epsilon", "0.001 to 32"));
            assert!(Protocol::for_reports(epsilon, 1000).is_err());
        }
        assert_eq!(Protocol::new(1.0, 0, 256).unwrap_err().field(), "rows");
        assert_eq!(Protocol::new(1.0, 65_537, 256).unwrap_err().field(), "rows");
        assert_eq!(Protocol::new(1.0, 16, 1).unwrap_err().field(), "width");
        assert_eq!(Protocol::new(1.0, 16, (1 << 20) + 1).unwrap_err().field(), "width");
    }

    /// The two forms of each formula: with exponentials as in the papers, and as computed here.
    #[test]
    fn formulas_are_those_of_the_papers() {
        for epsilon in [0.001, 0.5, 1.0, 4.0, 20.0] {
            let protocol = Protocol::new(epsilon, 1, 2).unwrap();
            let power = libm::exp(epsilon / 2.0);
            let near = |found: f64, expected: f64| {
                assert!((found / expected - 1.0).abs() < 1e-9, "{epsilon}: {found} instead of {expected}");
            };
            near(protocol.scale(), (power + 1.0) / (power - 1.0));
            near(protocol.coin_variance(), power / ((power - 1.0) * (power - 1.0)));
            near(1.0 - 2.0 * protocol.flip_probability(), 1.0 / protocol.scale());
        }
    }

    #[test]
    fn rows_for_reports_end_where_rows_do() {
        assert_eq!(Protocol::for_reports(1.0, 0).map(|protocol| protocol.rows()), Ok(16));
        assert_eq!(Protocol::for_reports(32.0, u64::MAX).map(|protocol| protocol.rows()), Ok(65_536));
    }
}
