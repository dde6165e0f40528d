//! The values that can be ranked: numbers and keys, each with its order and its bytes.

use std::cmp::Ordering;
use std::fmt::Debug;

use super::sorting::sort_few;
use crate::codec::{Family, Header, Reader, Writer};
use crate::counting::{NO_KEYS, require_no_keys};
use crate::error::{Error, Result};
use crate::keys::{KeyRef, KeyScheme, OwnedKey};

/// A value that a rank sketch keeps. Implemented by [`Number`] and [`RankedKey`].
pub trait RankItem: Ord + Clone + Debug + sealed::Sealed {
    /// The family of the sketch of such values.
    const FAMILY: Family;

    /// Writes the value.
    fn write(&self, writer: &mut Writer);

    /// Reads a value.
    ///
    /// # Errors
    /// If the bytes end early or contain a value that a sketch never keeps.
    fn read(reader: &mut Reader<'_>, scheme: KeyScheme) -> Result<Self>;

    /// Returns the scheme of a stored sketch.
    ///
    /// # Errors
    /// If no sketch of such values can have this scheme.
    fn scheme_of(header: &Header) -> Result<KeyScheme>;

    /// Returns the number of bytes of memory behind pointers.
    fn heap(&self) -> usize;

    /// Sorts values.
    fn sort(values: &mut [Self]) {
        values.sort_unstable();
    }
}

mod sealed {
    /// Seals the trait, because each kind of values needs a family of its own.
    pub trait Sealed {}
    impl Sealed for super::Number {}
    impl Sealed for super::RankedKey {}
}

/// A float that is not NaN, stored as an integer of the same order, so that a comparison is one
/// instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number(i64);

impl Number {
    /// Returns the number in the order of floats. Negative zero becomes zero. The caller must
    /// exclude NaN.
    #[inline]
    pub(super) fn new(value: f64) -> Self {
        let bits = (value + 0.0).to_bits().cast_signed();
        // For negative floats a larger magnitude is a smaller number, so the bits below the sign
        // are inverted.
        Self(bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed())
    }

    /// Returns the float.
    #[inline]
    pub fn value(self) -> f64 {
        f64::from_bits((self.0 ^ ((self.0 >> 63).cast_unsigned() >> 1).cast_signed()).cast_unsigned())
    }
}

impl RankItem for Number {
    const FAMILY: Family = Family::NumberQuantiles;

    fn write(&self, writer: &mut Writer) {
        writer.u64(self.value().to_bits());
    }

    fn read(reader: &mut Reader<'_>, _: KeyScheme) -> Result<Self> {
        let value = f64::from_bits(reader.u64("values")?);
        if value.is_nan() || value == 0.0 && value.is_sign_negative() {
            return Err(Error::contents("values", "numbers, and zero without a sign", value));
        }
        Ok(Self::new(value))
    }

    fn scheme_of(header: &Header) -> Result<KeyScheme> {
        require_no_keys(header).map(|()| NO_KEYS)
    }

    fn heap(&self) -> usize {
        0
    }

    fn sort(values: &mut [Self]) {
        sort_few(values, Self(i64::MAX));
    }
}

/// A key in its natural order: bytes in the order of bytes, integers as signed numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankedKey(pub(super) OwnedKey);

impl RankedKey {
    /// Compares this key with a borrowed one.
    pub(super) fn order(&self, other: KeyRef<'_>) -> Ordering {
        order(self.0.as_ref(), other)
    }
}

/// Compares two keys of one kind.
fn order(one: KeyRef<'_>, other: KeyRef<'_>) -> Ordering {
    match (one, other) {
        (KeyRef::Integer(one), KeyRef::Integer(other)) => one.cast_signed().cmp(&other.cast_signed()),
        (one, other) => one.cmp(&other),
    }
}

impl PartialOrd for RankedKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RankedKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order(other.0.as_ref())
    }
}

impl RankItem for RankedKey {
    const FAMILY: Family = Family::KeyQuantiles;

    fn write(&self, writer: &mut Writer) {
        writer.key(self.0.as_ref());
    }

    fn read(reader: &mut Reader<'_>, scheme: KeyScheme) -> Result<Self> {
        reader.key("values", scheme.kind()).map(|key| Self(key.to_owned()))
    }

    fn scheme_of(header: &Header) -> Result<KeyScheme> {
        Ok(header.scheme)
    }

    fn heap(&self) -> usize {
        match &self.0 {
            OwnedKey::Bytes(bytes) => bytes.len(),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Key;

    #[test]
    fn numbers_keep_order_and_value() {
        let ordered = [
            f64::NEG_INFINITY,
            f64::MIN,
            -1.5,
            -f64::MIN_POSITIVE,
            -f64::from_bits(1),
            0.0,
            f64::from_bits(1),
            1.0,
            1.0_f64.next_up(),
            f64::MAX,
            f64::INFINITY,
        ];
        for pair in ordered.windows(2) {
            assert!(Number::new(pair[0]) < Number::new(pair[1]), "{pair:?}");
        }
        for value in ordered {
            assert_eq!(Number::new(value).value(), value);
        }
        assert_eq!(Number::new(-0.0), Number::new(0.0));
        assert!(Number::new(-0.0).value().is_sign_positive());
    }

    #[test]
    fn integers_have_signs_and_texts_are_bytes() {
        let key = |key: KeyRef<'_>| RankedKey(key.to_owned());
        assert!(key((-5_i64).to_ref()) < key(3_i64.to_ref()));
        assert!(key("ana".to_ref()) < key("anb".to_ref()));
        assert!(key("an".to_ref()) < key("ana".to_ref()));
    }
}
