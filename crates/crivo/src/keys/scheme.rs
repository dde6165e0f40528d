//! The identity of a hash: kind of key, function, seed.

use std::fmt;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::integer;
use super::value::KeyRef;
use crate::cpu::hash_integers;
use crate::error::{Error, Result};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The kind of a key. The number is the byte stored in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum KeyKind {
    /// Bytes: text as UTF-8, or anything raw.
    Bytes = 1,
    /// A 64-bit integer. Signed integers are taken in two's complement, so `-1_i64` and `u64::MAX`
    /// are the same key.
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
    /// The caller's own function, unknown to crivo. It is used with [`KeyKind::Hash`], and only
    /// there.
    Caller = 0,
    /// XXH3, 64 bits, with the scheme's seed. Integers are hashed as their eight bytes,
    /// little-endian. Files with integer keys that are older than [`Rrmxmx`](Self::Rrmxmx) have it.
    Xxh3 = 1,
    /// Rrmxmx, for integer keys, with a mask that is derived from the scheme's seed.
    Rrmxmx = 2,
}

impl HashFunction {
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        [Self::Caller, Self::Xxh3, Self::Rrmxmx].into_iter().find(|function| *function as u8 == byte)
    }
}

impl fmt::Display for HashFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Caller => "the caller's own",
            Self::Xxh3 => "XXH3-64",
            Self::Rrmxmx => "Rrmxmx",
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
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyScheme {
    rule: Rule,
    /// The seed; for Rrmxmx the mask that is derived from it. So the seed adds no work for each
    /// key.
    mask: u64,
}

/// A kind of key with its function, so that one comparison checks both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Rule {
    Bytes,
    Integers,
    /// The integers of older files.
    Xxh3Integers,
    Hashes,
}

impl KeyScheme {
    /// Returns the scheme of keys that are bytes or text, under the default seed 0.
    pub const fn bytes() -> Self {
        Self::of(KeyKind::Bytes)
    }

    /// Returns the scheme of keys that are 64-bit integers, under the default seed 0.
    pub const fn integers() -> Self {
        Self::of(KeyKind::Integer)
    }

    /// Returns the scheme of hashes computed by the caller. They must be uniform over all 64 bits.
    /// Small integers are not uniform: a sketch of several rows would put them all at the beginning
    /// of each row. The seed is then only a label, which keeps sketches of different hash functions
    /// apart.
    pub const fn hashes() -> Self {
        Self::of(KeyKind::Hash)
    }

    /// Returns the scheme of the given kind under the default seed 0.
    pub const fn of(kind: KeyKind) -> Self {
        let rule = match kind {
            KeyKind::Bytes => Rule::Bytes,
            KeyKind::Integer => Rule::Integers,
            KeyKind::Hash => Rule::Hashes,
        };
        Self { rule, mask: 0 }.with_seed(0)
    }

    /// Returns the scheme of the same kind of keys under another seed.
    #[must_use]
    pub const fn with_seed(self, seed: u64) -> Self {
        let mask = if matches!(self.rule, Rule::Integers) { integer::mask(seed) } else { seed };
        Self { mask, ..self }
    }

    /// Returns the scheme of the same kind of keys under another function, to match sketches that
    /// were built with it.
    ///
    /// # Errors
    /// If keys of this kind are not hashed by that function.
    ///
    /// ```
    /// use crivo::keys::{HashFunction, KeyScheme};
    /// let older = KeyScheme::integers().with_function(HashFunction::Xxh3)?;
    /// assert_ne!(older.hash(&1_u64)?, KeyScheme::integers().hash(&1_u64)?);
    /// assert!(KeyScheme::bytes().with_function(HashFunction::Rrmxmx).is_err());
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn with_function(self, function: HashFunction) -> Result<Self> {
        let rule = match (self.kind(), function) {
            (KeyKind::Bytes, HashFunction::Xxh3) => Rule::Bytes,
            (KeyKind::Integer, HashFunction::Rrmxmx) => Rule::Integers,
            (KeyKind::Integer, HashFunction::Xxh3) => Rule::Xxh3Integers,
            (KeyKind::Hash, HashFunction::Caller) => Rule::Hashes,
            (kind, _) => {
                let found = format_args!("{function} for {kind} keys");
                return Err(Error::parameter("hash function", self.function(), found));
            }
        };
        Ok(Self { rule, mask: 0 }.with_seed(self.seed()))
    }

    /// Returns the kind of key.
    pub const fn kind(self) -> KeyKind {
        match self.rule {
            Rule::Bytes => KeyKind::Bytes,
            Rule::Integers | Rule::Xxh3Integers => KeyKind::Integer,
            Rule::Hashes => KeyKind::Hash,
        }
    }

    /// Returns the seed.
    pub const fn seed(self) -> u64 {
        if matches!(self.rule, Rule::Integers) { integer::seed_of(self.mask) } else { self.mask }
    }

    /// Returns the hash function.
    pub const fn function(self) -> HashFunction {
        match self.rule {
            Rule::Hashes => HashFunction::Caller,
            Rule::Bytes | Rule::Xxh3Integers => HashFunction::Xxh3,
            Rule::Integers => HashFunction::Rrmxmx,
        }
    }

    /// Hashes one key.
    ///
    /// # Errors
    /// If the key is not of this scheme's kind.
    #[inline]
    pub fn hash<K: Key + ?Sized>(self, key: &K) -> Result<u64> {
        // If the rule is the usual one of the kind, nothing else is compared.
        if Self::of(K::KIND).rule == self.rule { Ok(key.hash_with(self)) } else { self.hash_otherwise(key) }
    }

    /// Hashes a key by a rule that is not the usual one of its kind, and occurs only in older
    /// files. Not inlined: with two hash functions in them, the inserts of filters are too large to
    /// be inlined.
    #[cold]
    #[inline(never)]
    fn hash_otherwise<K: Key + ?Sized>(self, key: &K) -> Result<u64> {
        if K::KIND == self.kind() { Ok(key.hash_with(self)) } else { Err(self.wrong_kind(K::KIND)) }
    }

    /// Hashes an integer. The scheme must be one of integers.
    #[inline]
    pub(crate) fn hash_integer(self, integer: u64) -> u64 {
        if self.rule == Rule::Integers {
            integer::rrmxmx(integer, self.mask)
        } else {
            integer::xxh3(integer, self.mask)
        }
    }

    /// Appends the hashes of many integers. The scheme must be one of integers.
    pub(crate) fn hash_integers(self, integers: &[u64], hashes: &mut Vec<u64>) {
        if self.rule == Rule::Integers {
            hash_integers(integers, self.mask, hashes);
        } else {
            hashes.extend(integers.iter().map(|&integer| integer::xxh3(integer, self.mask)));
        }
    }

    #[cold]
    pub(crate) fn wrong_kind(self, found: KeyKind) -> Error {
        Error::incompatible(
            "key kind",
            self.kind(),
            found,
            "a sketch holds one kind of key, chosen when it is built",
        )
    }

    /// Returns an error that names the first difference if the other scheme differs.
    ///
    /// # Errors
    /// If kind, function or seed differ.
    pub fn require_same(self, other: Self) -> Result<()> {
        if self == other {
            return Ok(());
        }
        self.require_same_kind(other)?;
        if self.function() != other.function() {
            return Err(Error::incompatible(
                "hash function",
                self.function(),
                other.function(),
                "an older crivo hashed integers otherwise: continue its sketch, or build both anew",
            ));
        }
        self.require_same_seed(other)
    }

    /// Returns an error if the other scheme differs in kind or seed. For sketches that keep keys
    /// instead of hashes, so that the function does not matter.
    ///
    /// # Errors
    /// If kind or seed differ.
    pub(crate) fn require_same_keys(self, other: Self) -> Result<()> {
        self.require_same_kind(other)?;
        self.require_same_seed(other)
    }

    fn require_same_kind(self, other: Self) -> Result<()> {
        if self.kind() == other.kind() { Ok(()) } else { Err(self.wrong_kind(other.kind())) }
    }

    fn require_same_seed(self, other: Self) -> Result<()> {
        if self.seed() == other.seed() {
            return Ok(());
        }
        Err(Error::incompatible(
            "seed",
            self.seed(),
            other.seed(),
            "hashes under different seeds cannot be compared: build both with the same seed",
        ))
    }
}

impl Default for KeyScheme {
    fn default() -> Self {
        Self::bytes()
    }
}

impl fmt::Display for KeyScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (hash {}, seed {})", self.kind(), self.function(), self.seed())
    }
}

impl fmt::Debug for KeyScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyScheme")
            .field("kind", &self.kind())
            .field("function", &self.function())
            .field("seed", &self.seed())
            .finish()
    }
}

#[inline]
pub(crate) fn hash_bytes(bytes: &[u8], seed: u64) -> u64 {
    // Both give the same value for seed 0. The first reads its secret from a constant.
    if seed == 0 { xxh3_64(bytes) } else { xxh3_64_with_seed(bytes, seed) }
}

/// A key that can be inserted: text, bytes or an integer.
///
/// Implemented for `str`, `[u8]` and the types that own or borrow them, and for the integer types
/// up to 64 bits. Floats are not keys: docs/keys.md says which text represents one.
pub trait Key {
    /// The kind of key of this type.
    const KIND: KeyKind;

    /// Returns the hash under a scheme of this kind. Callers use [`KeyScheme::hash`], which also
    /// checks the kind.
    fn hash_with(&self, scheme: KeyScheme) -> u64;

    /// Returns the key itself, for sketches that keep keys.
    fn to_ref(&self) -> KeyRef<'_>;
}

macro_rules! bytes_are_keys {
    ($($type:ty),*) => {$(
        impl Key for $type {
            const KIND: KeyKind = KeyKind::Bytes;
            #[inline]
            fn hash_with(&self, scheme: KeyScheme) -> u64 {
                hash_bytes(self.as_ref(), scheme.mask)
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
    fn hash_with(&self, scheme: KeyScheme) -> u64 {
        hash_bytes(self, scheme.mask)
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
            fn hash_with(&self, scheme: KeyScheme) -> u64 {
                scheme.hash_integer(*self as u64)
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
    fn hash_with(&self, scheme: KeyScheme) -> u64 {
        (**self).hash_with(scheme)
    }
    #[inline]
    fn to_ref(&self) -> KeyRef<'_> {
        (**self).to_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the reference implementation (xxHash 0.8, `XXH3_64bits_withSeed`). They freeze the
    /// hash, which every existing file depends on.
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
    fn integers_of_every_width_are_the_same_key() {
        let scheme = KeyScheme::integers().with_seed(5);
        let expected = scheme.hash(&42_u64).unwrap();
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

    #[test]
    fn functions_refuse_each_other_naming_both() {
        let older = KeyScheme::integers().with_function(HashFunction::Xxh3).unwrap();
        let error = KeyScheme::integers().require_same(older).unwrap_err();
        let found = (error.field(), error.expected(), error.found());
        assert_eq!(found, ("hash function", "Rrmxmx", "XXH3-64"));
        assert_eq!(KeyScheme::integers().require_same_keys(older), Ok(()));
        assert_eq!(older.hash(&7_u8), Ok(hash_bytes(&7_u64.to_le_bytes(), 0)));
    }
}
