//! The number in a condition. Whole numbers are compared exactly, all others as floats.

use std::cmp::Ordering;

use crate::numbers::{self, EXACT_FLOATS, integer};

/// A finite number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number {
    nearest: f64,
    /// The number itself, if it is whole and other whole numbers may have the same float.
    large: Option<i128>,
}

impl Number {
    pub(super) const ZERO: Self = Self { nearest: 0.0, large: None };

    /// Returns the number that a text stands for, or `None` if it is no number.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let nearest = numbers::decimal(text)?;
        Some(Self { nearest, large: if nearest.abs() < EXACT_FLOATS { None } else { integer(text) } })
    }

    /// Returns the order of the number in a field and this one, or `None` if the field is no
    /// number.
    pub(super) fn order_of(&self, field: &[u8]) -> Option<Ordering> {
        self.order(numbers::decimal(field)?, || integer(field))
    }

    /// Returns the order of a whole number and this one.
    pub(super) fn order_of_whole(&self, number: u64) -> Option<Ordering> {
        self.order(number as f64, || Some(number.into()))
    }

    fn order(&self, nearest: f64, exact: impl FnOnce() -> Option<i128>) -> Option<Ordering> {
        let order = nearest.partial_cmp(&self.nearest)?;
        // Rounding never turns the order around, so only equal floats need a closer look.
        let closer = self.large.filter(|_| order.is_eq()).and_then(|large| Some(exact()?.cmp(&large)));
        Some(closer.unwrap_or(order))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_with_the_same_float_are_different() {
        let order = |field: &str, number: &str| {
            Number::parse(number.as_bytes()).and_then(|number| number.order_of(field.as_bytes()))
        };
        for (field, number, expected) in [
            ("9007199254740993", "9007199254740992", Ordering::Greater),
            ("-9007199254740993", "-9007199254740992", Ordering::Less),
            ("12345678901234567", "12345678901234568", Ordering::Less),
            ("18446744073709551615", "18446744073709551616", Ordering::Less),
            ("10000000000000001", "1e16", Ordering::Greater),
            ("10000000000000000.0", "10000000000000000", Ordering::Equal),
            // Fractions and numbers beyond 128 bits are compared as floats.
            ("9007199254740992.5", "9007199254740992", Ordering::Equal),
            ("1e300", "1000e297", Ordering::Equal),
            ("5", "5.0", Ordering::Equal),
        ] {
            assert_eq!(order(field, number), Some(expected), "{field} and {number}");
        }
        assert_eq!(order("text", "9007199254740993"), None);
    }
}
