//! A value in an ordered set: a number, or a text.

use std::cmp::Ordering;

use crivo::Estimate;
use crivo::keys::OwnedKey;
use crivo::quantiles::KeyQuantile;
use serde::{Serialize, Serializer};

use crate::numbers::EXACT_FLOATS;
use crate::output::{self, Cell};

/// A number or a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Place {
    Number(f64),
    Text(Vec<u8>),
}

impl Place {
    /// Returns the order of two places of one kind.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => one.partial_cmp(other).unwrap_or(Ordering::Equal),
            (Self::Text(one), Self::Text(other)) => one.cmp(other),
            _ => Ordering::Equal,
        }
    }

    /// Returns the text for people.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Number(number) => precise(*number),
            Self::Text(text) => output::harmless(output::key_text(text)),
        }
    }

    pub(super) fn cell(&self) -> Cell {
        match self {
            Self::Number(number) => Cell::Number(*number),
            Self::Text(text) => Cell::Text(output::key_text(text)),
        }
    }
}

impl From<OwnedKey> for Place {
    fn from(key: OwnedKey) -> Self {
        match key {
            OwnedKey::Bytes(text) => Self::Text(text.to_vec()),
            other => Self::Text(other.to_string().into_bytes()),
        }
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => output::key_text(text).serialize(serializer),
        }
    }
}

/// A place with its bounds. In JSON it has the fields of any other estimate.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Between {
    pub(super) value: Place,
    pub(super) lower: Place,
    pub(super) upper: Place,
    pub(super) confidence: f64,
}

impl Between {
    /// Returns the bounds of a number that a field has. Whole numbers beyond 2^53 were rounded to
    /// the nearest float when they were read, so the bounds include all that have the same float.
    pub(super) fn of_rounded(estimate: Estimate) -> Self {
        let may_be_rounded = |number: &f64| number.abs() >= EXACT_FLOATS;
        let (lower, upper) = (estimate.lower(), estimate.upper());
        let least = Some(lower).filter(may_be_rounded).map_or(lower, f64::next_down);
        let greatest = Some(upper).filter(may_be_rounded).map_or(upper, f64::next_up);
        Self {
            lower: Place::Number(least.max(-f64::MAX)),
            upper: Place::Number(greatest.min(f64::MAX)),
            ..estimate.into()
        }
    }

    /// Widens the bounds so that they hold whatever rows were missed. There is no greatest text, so
    /// bounds of texts lose their confidence instead.
    pub(super) fn lose_bounds(&mut self) {
        match self.value {
            Place::Number(_) => {
                (self.lower, self.upper) = (Place::Number(-f64::MAX), Place::Number(f64::MAX));
            }
            Place::Text(_) => self.confidence = 0.0,
        }
    }

    pub(super) fn is_exact(&self) -> bool {
        self.confidence >= 1.0 && self.lower == self.upper
    }

    /// Returns true if the place lies within the bounds.
    pub(super) fn covers(&self, place: &Place) -> bool {
        self.lower.order(place).is_le() && place.order(&self.upper).is_le()
    }
}

impl From<Estimate> for Between {
    fn from(estimate: Estimate) -> Self {
        Self {
            value: Place::Number(estimate.value()),
            lower: Place::Number(estimate.lower()),
            upper: Place::Number(estimate.upper()),
            confidence: estimate.confidence().level(),
        }
    }
}

impl From<KeyQuantile> for Between {
    fn from(quantile: KeyQuantile) -> Self {
        let KeyQuantile { value, lower, upper, confidence } = quantile;
        Self { value: value.into(), lower: lower.into(), upper: upper.into(), confidence: confidence.level() }
    }
}

/// Returns a value with up to six decimals, which fields usually have, or in scientific notation if
/// it is very large or small.
pub(super) fn precise(value: f64) -> String {
    if value.abs() >= 1e15 || value != 0.0 && value.abs() < 1e-6 {
        return format!("{value:e}");
    }
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}
