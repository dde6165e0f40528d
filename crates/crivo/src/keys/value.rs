//! Keys themselves, for sketches that keep and return them.

use std::fmt;

use super::scheme::{Key, KeyKind, KeyScheme};
use crate::error::Result;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// A borrowed key, from a batch or from [`Key::to_ref`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyRef<'a> {
    /// Bytes or text.
    Bytes(&'a [u8]),
    /// A 64-bit integer.
    Integer(u64),
    /// A hash without its key.
    Hash(u64),
}

impl KeyRef<'_> {
    /// Returns the kind of the key.
    pub fn kind(self) -> KeyKind {
        match self {
            Self::Bytes(_) => KeyKind::Bytes,
            Self::Integer(_) => KeyKind::Integer,
            Self::Hash(_) => KeyKind::Hash,
        }
    }

    /// Returns an owned copy of the key.
    pub fn to_owned(self) -> OwnedKey {
        match self {
            Self::Bytes(bytes) => OwnedKey::Bytes(bytes.into()),
            Self::Integer(integer) => OwnedKey::Integer(integer),
            Self::Hash(hash) => OwnedKey::Hash(hash),
        }
    }

    fn hash_with(self, scheme: KeyScheme) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.hash_with(scheme),
            Self::Integer(integer) => scheme.hash_integer(integer),
            Self::Hash(hash) => hash,
        }
    }
}

/// Formats the key for people: text (with invalid UTF-8 replaced), a signed integer, or a hash in
/// hexadecimal.
impl fmt::Display for KeyRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => f.write_str(&String::from_utf8_lossy(bytes)),
            Self::Integer(integer) => write!(f, "{}", integer.cast_signed()),
            Self::Hash(hash) => write!(f, "{hash:#018x}"),
        }
    }
}

/// An owned key, as a sketch that keeps keys returns it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OwnedKey {
    /// Bytes or text.
    Bytes(Box<[u8]>),
    /// A 64-bit integer.
    Integer(u64),
    /// A hash without its key.
    Hash(u64),
}

impl OwnedKey {
    /// Returns the key, borrowed.
    pub fn as_ref(&self) -> KeyRef<'_> {
        match self {
            Self::Bytes(bytes) => KeyRef::Bytes(bytes),
            Self::Integer(integer) => KeyRef::Integer(*integer),
            Self::Hash(hash) => KeyRef::Hash(*hash),
        }
    }
}

impl fmt::Display for OwnedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}

impl KeyScheme {
    /// Hashes a key whose kind is known only at run time. A [`KeyRef::Hash`] is its own hash.
    ///
    /// # Errors
    /// If the key is not of this scheme's kind.
    pub fn hash_ref(self, key: KeyRef<'_>) -> Result<u64> {
        if key.kind() == self.kind() { Ok(key.hash_with(self)) } else { Err(self.wrong_kind(key.kind())) }
    }
}

/// Returns true if two texts are equal. Texts of up to 16 bytes, which most texts are, are compared
/// as two words that may overlap.
#[inline]
pub(crate) fn same_bytes(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let last = a.len().wrapping_sub(1);
    match a.len() {
        0 => true,
        1..=3 => (a[0], a[last / 2], a[last]) == (b[0], b[last / 2], b[last]),
        4..=7 => ends::<4>(a) == ends::<4>(b),
        8..=16 => ends::<8>(a) == ends::<8>(b),
        _ => a == b,
    }
}

/// Returns the first and the last `N` bytes.
#[inline]
fn ends<const N: usize>(text: &[u8]) -> Option<(&[u8; N], &[u8; N])> {
    text.first_chunk().zip(text.last_chunk())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_a_hash_is_the_same() {
        let (bytes, integers) = (KeyScheme::bytes().with_seed(3), KeyScheme::integers().with_seed(3));
        assert_eq!(bytes.hash_ref("ana".to_ref()), bytes.hash("ana"));
        assert_eq!(integers.hash_ref((-5_i32).to_ref()), integers.hash(&-5_i64));
        assert_eq!(KeyScheme::hashes().hash_ref(KeyRef::Hash(9)), Ok(9));
        let owned = "ana".to_ref().to_owned();
        assert_eq!(bytes.hash_ref(owned.as_ref()), bytes.hash("ana"));
        assert_eq!(bytes.hash_ref(7_u8.to_ref()).unwrap_err().field(), "key kind");
    }

    #[test]
    fn keys_are_written_for_people() {
        assert_eq!("Olá".to_ref().to_string(), "Olá");
        assert_eq!((-1_i8).to_ref().to_string(), "-1");
        assert_eq!(OwnedKey::Hash(255).to_string(), "0x00000000000000ff");
    }

    #[test]
    fn texts_are_the_same_if_all_bytes_are() {
        let text: Vec<u8> = (0..40).collect();
        for length in 0..text.len() {
            let one = &text[..length];
            assert!(same_bytes(one, &one.to_vec()[..]) && !same_bytes(one, &text[..=length]));
            for at in 0..length {
                let mut other = one.to_vec();
                other[at] ^= 0x40;
                assert!(!same_bytes(one, &other), "byte {at} of {length}");
            }
        }
    }
}
