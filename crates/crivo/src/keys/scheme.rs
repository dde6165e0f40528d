//! The identity of a hash: kind of key, function, seed.

use std::fmt;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::value::KeyRef;
use crate::error::{Error, Result};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// What kind of thing a key is. The number is the byte stored in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum KeyKind {
    /// Bytes: text as UTF-8, or anything raw.
    Bytes = 1,
    /// A 64-bit integer, hashed as its eight bytes, little-endian. Signed integers are taken
    /// in two's complement, so `-1_i64` and `u64::MAX` are the same key.
    Integer = 2,
    /// A 64-bit hash that the caller computed; only `insert_hash` accepts it.
    Hash = 3,
}

impl KeyKind {
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        [Self::Bytes, Self::Integer, Self::Hash].into_iter().find(|kind| *kind as u8 == byte)
    }
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bytes => "bytes",
            Self::Integer => "integer",
            Self::Hash => "hash",
        })
    }
}

/// The function from keys to hashes. The number is the byte stored in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum HashFunction {
    /// The caller's own, unknown to crivo: always and only with [`KeyKind::Hash`].
    Caller = 0,
    /// XXH3, 64 bits, with the scheme's seed.
    Xxh3 = 1,
}

impl HashFunction {
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        [Self::Caller, Self::Xxh3].into_iter().find(|function| *function as u8 == byte)
    }
}

impl fmt::Display for HashFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Caller => "the caller's own",
            Self::Xxh3 => "XXH3-64",
        })
    }
}

/// How keys become hashes: the kind of key, the function, and its seed.
///
/// ```
/// use crivo::keys::KeyScheme;
///
/// let scheme = KeyScheme::bytes().with_seed(7);
/// assert_eq!(scheme.hash("crivo")?, scheme.hash(b"crivo")?);   // text is its UTF-8 bytes
/// assert_ne!(scheme.hash("crivo")?, KeyScheme::bytes().hash("crivo")?);
/// assert!(scheme.hash(&42_u64).is_err());                       // not a key of this kind
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyScheme {
    kind: KeyKind,
    seed: u64,
}

impl KeyScheme {
    /// Keys that are bytes or text, under the default seed 0.
    pub const fn bytes() -> Self {
        Self { kind: KeyKind::Bytes, seed: 0 }
    }

    /// Keys that are 64-bit integers, under the default seed 0.
    pub const fn integers() -> Self {
        Self { kind: KeyKind::Integer, seed: 0 }
    }

    /// Hashes computed by the caller. They must be uniform over all 64 bits (small integers are not: a
    /// sketch of several rows would put them all at the beginning of each); the seed is then only a label
    /// that keeps differently hashed sketches apart.
    pub const fn hashes() -> Self {
        Self { kind: KeyKind::Hash, seed: 0 }
    }

    /// The scheme of the given kind under the default seed 0.
    pub const fn of(kind: KeyKind) -> Self {
        Self { kind, seed: 0 }
    }

    /// The same kind of keys under another seed.
    #[must_use]
    pub const fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The kind of key.
    pub const fn kind(self) -> KeyKind {
        self.kind
    }

    /// The seed.
    pub const fn seed(self) -> u64 {
        self.seed
    }

    /// The hash function.
    pub const fn function(self) -> HashFunction {
        match self.kind {
            KeyKind::Hash => HashFunction::Caller,
            KeyKind::Bytes | KeyKind::Integer => HashFunction::Xxh3,
        }
    }

    /// Hashes one key.
    ///
    /// # Errors
    /// If the key is not of this scheme's kind.
    #[inline]
    pub fn hash<K: Key + ?Sized>(self, key: &K) -> Result<u64> {
        if K::KIND == self.kind { Ok(key.hash_with(self.seed)) } else { Err(self.wrong_kind(K::KIND)) }
    }

    #[cold]
    pub(crate) fn wrong_kind(self, found: KeyKind) -> Error {
        Error::incompatible(
            "key kind",
            self.kind,
            found,
            "a sketch holds one kind of key, chosen when it is built",
        )
    }

    /// Refuses a scheme that differs, naming the first difference.
    ///
    /// # Errors
    /// If kind or seed differ.
    pub fn require_same(self, other: Self) -> Result<()> {
        if self.kind != other.kind {
            return Err(self.wrong_kind(other.kind));
        }
        if self.seed != other.seed {
            return Err(Error::incompatible(
                "seed",
                self.seed,
                other.seed,
                "hashes under different seeds cannot be compared: build both with the same seed",
            ));
        }
        Ok(())
    }
}

impl Default for KeyScheme {
    fn default() -> Self {
        Self::bytes()
    }
}

impl fmt::Display for KeyScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (hash {}, seed {})", self.kind, self.function(), self.seed)
    }
}

#[inline]
pub(crate) fn hash_bytes(bytes: &[u8], seed: u64) -> u64 {
    // Both give the same value for seed 0; the first reads its secret from a constant.
    if seed == 0 { xxh3_64(bytes) } else { xxh3_64_with_seed(bytes, seed) }
}

/// XXH3 of exactly eight bytes, as its specification has it for 4 to 8. Written out, because a call for
/// any length costs more than the hash itself, and keeps the processor from working on several keys.
#[inline]
pub(crate) fn hash_integer(integer: u64, seed: u64) -> u64 {
    const LENGTH: u64 = 8;
    /// Bytes 8 to 23 of the default secret, as two integers combined by exclusive or.
    const SECRET: u64 = 0x1CAD_21F7_2C81_017C ^ 0xDB97_9083_E96D_D4DE;
    const PRIME: u64 = 0x9FB2_1C65_1E98_DF25;
    let seed = seed ^ u64::from((seed as u32).swap_bytes()) << 32;
    let keyed = integer.rotate_left(32) ^ SECRET.wrapping_sub(seed);
    let mixed = (keyed ^ keyed.rotate_left(49) ^ keyed.rotate_left(24)).wrapping_mul(PRIME);
    let mixed = (mixed ^ (mixed >> 35).wrapping_add(LENGTH)).wrapping_mul(PRIME);
    mixed ^ mixed >> 28
}

/// Something that can be inserted: text, bytes or an integer.
///
/// Implemented for `str`, `[u8]` and what owns or borrows them, and for the integer types up
/// to 64 bits. Floats are not keys: docs/keys.md says which text stands for one.
pub trait Key {
    /// The kind of key this type is.
    const KIND: KeyKind;

    /// The hash under `seed`; callers use [`KeyScheme::hash`], which also checks the kind.
    fn hash_with(&self, seed: u64) -> u64;

    /// The key itself, for sketches that keep keys.
    fn to_ref(&self) -> KeyRef<'_>;
}

macro_rules! bytes_are_keys {
    ($($type:ty),*) => {$(
        impl Key for $type {
            const KIND: KeyKind = KeyKind::Bytes;
            #[inline]
            fn hash_with(&self, seed: u64) -> u64 {
                hash_bytes(self.as_ref(), seed)
            }
            #[inline]
            fn to_ref(&self) -> KeyRef<'_> {
                KeyRef::Bytes(self.as_ref())
            }
        }
    )*};
}
bytes_are_keys!([u8], str, Vec<u8>, String);

impl<const N: usize> Key for [u8; N] {
    const KIND: KeyKind = KeyKind::Bytes;
    #[inline]
    fn hash_with(&self, seed: u64) -> u64 {
        hash_bytes(self, seed)
    }
    #[inline]
    fn to_ref(&self) -> KeyRef<'_> {
        KeyRef::Bytes(self)
    }
}

macro_rules! integers_are_keys {
    ($($type:ty),*) => {$(
        impl Key for $type {
            const KIND: KeyKind = KeyKind::Integer;
            // Two's complement is the rule for signed keys.
            #[inline]
            fn hash_with(&self, seed: u64) -> u64 {
                hash_integer(*self as u64, seed)
            }
            #[inline]
            fn to_ref(&self) -> KeyRef<'_> {
                KeyRef::Integer(*self as u64)
            }
        }
    )*};
}
integers_are_keys!(u8, u16, u32, u64, i8, i16, i32, i64);

impl<K: Key + ?Sized> Key for &K {
    const KIND: KeyKind = K::KIND;
    #[inline]
    fn hash_with(&self, seed: u64) -> u64 {
        (**self).hash_with(seed)
    }
    #[inline]
    fn to_ref(&self) -> KeyRef<'_> {
        (**self).to_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the reference implementation (xxHash 0.8, `XXH3_64bits_withSeed`): they freeze
    /// the hash, and with it every file ever written.
    #[test]
    fn hashes_are_those_of_the_specification() {
        assert_eq!(KeyScheme::bytes().hash(""), Ok(0x2D06_8005_38D3_94C2));
        assert_eq!(KeyScheme::bytes().with_seed(0x9E37_79B1_85EB_CA8D).hash(""), Ok(0xA8A6_B918_B2F0_364A));
    }

    #[test]
    fn seeded_and_unseeded_paths_agree_on_seed_zero() {
        for length in [0, 1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 1024, 5000] {
            let bytes: Vec<u8> = (0..length).map(|i| (i * 7 % 251) as u8).collect();
            assert_eq!(xxh3_64(&bytes), xxh3_64_with_seed(&bytes, 0), "length {length}");
        }
    }

    #[test]
    fn integers_are_hashed_as_their_eight_bytes() {
        for shift in 0..64 {
            for seed in [0, 1, 5, 0x9E37_79B1_85EB_CA8D, u64::MAX] {
                let integer = 0xF00D_D00F_1234_8765_u64 << shift ^ seed >> 3;
                assert_eq!(hash_integer(integer, seed), xxh3_64_with_seed(&integer.to_le_bytes(), seed));
            }
        }
    }

    #[test]
    fn integers_of_every_width_are_the_same_key() {
        let scheme = KeyScheme::integers().with_seed(5);
        let expected = hash_bytes(&42_u64.to_le_bytes(), 5);
        assert_eq!(scheme.hash(&42_u8), Ok(expected));
        assert_eq!(scheme.hash(&42_i32), Ok(expected));
        assert_eq!(scheme.hash(&42_i64), Ok(expected));
        assert_eq!(scheme.hash(&-1_i8), scheme.hash(&u64::MAX));
    }

    #[test]
    fn text_and_integer_refuse_each_other_naming_both() {
        let error = KeyScheme::bytes().hash(&1_u64).unwrap_err();
        assert_eq!((error.field(), error.expected(), error.found()), ("key kind", "bytes", "integer"));
        let error = KeyScheme::bytes().require_same(KeyScheme::bytes().with_seed(9)).unwrap_err();
        assert_eq!((error.field(), error.expected(), error.found()), ("seed", "0", "9"));
    }
}
