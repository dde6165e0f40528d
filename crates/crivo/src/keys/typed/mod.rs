//! Sketches whose kind of key the compiler knows.
//!
//! A sketch holds one kind of key, and which one is decided when it is built: tables need that,
//! because their columns are known only at run time. So inserting a key can fail. Code that knows
//! its keys wraps the sketch in [`Texts`] or [`Integers`]: inserting then cannot fail, keys are taken
//! by value or by reference, and a key of another kind does not compile. The bytes are the same.
//!
//! ```
//! use crivo::distinct::HyperLogLog;
//! use crivo::keys::{Integers, Texts};
//!
//! let mut visitors = Texts::new(HyperLogLog::for_error(0.02)?)?;
//! visitors.insert("ana");
//! visitors.extend(["rui".to_owned(), "eva".to_owned()]);
//! assert_eq!(visitors.estimate().value(), 3.0);
//!
//! let orders: Integers<HyperLogLog> = [1, 2, 3, 2].into_iter().collect();
//! assert_eq!(orders.estimate().value(), 3.0);
//! # Ok::<(), crivo::Error>(())
//! ```
//!
//! ```compile_fail
//! # use crivo::{distinct::HyperLogLog, keys::Texts};
//! let mut visitors: Texts<HyperLogLog> = ["ana"].into_iter().collect();
//! visitors.insert(7);
//! ```

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use super::scheme::{Key, KeyKind, KeyScheme};
use crate::error::Result;
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::InsertHashes;

/// A sketch of texts, or of any bytes.
pub type Texts<S> = Typed<S, Text>;

/// A sketch of integers of up to 64 bits.
pub type Integers<S> = Typed<S, Integer>;

/// A kind of key, as a type. Sealed: the kinds are [`Text`] and [`Integer`].
pub trait KeyType: sealed::Sealed {
    /// The kind in the format.
    const KIND: KeyKind;
}

/// Keys that are text or bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {}

/// Keys that are integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Integer {}

impl KeyType for Text {
    const KIND: KeyKind = KeyKind::Bytes;
}

impl KeyType for Integer {
    const KIND: KeyKind = KeyKind::Integer;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Text {}
    impl Sealed for super::Integer {}
}

/// A [`Key`] of a kind that the compiler checks.
pub trait KeyOf<T: KeyType>: Key {}

macro_rules! keys_of {
    ($kind:ty: $($type:ty),*) => {$(impl KeyOf<$kind> for $type {})*};
}
keys_of!(Text: [u8], str, Vec<u8>, String);
keys_of!(Integer: u8, u16, u32, u64, i8, i16, i32, i64);
impl<const N: usize> KeyOf<Text> for [u8; N] {}
impl<T: KeyType, K: KeyOf<T> + ?Sized> KeyOf<T> for &K {}

/// A sketch that can be made without a size, for keys of any scheme.
pub trait DefaultSize: Sized {
    /// Returns an empty sketch of the size that `crivo` takes if none is given.
    fn of_default_size(scheme: KeyScheme) -> Self;
}

/// A sketch whose kind of key is part of its type; see the [module](self).
///
/// It dereferences to the sketch, for everything but inserting.
#[derive(Clone, PartialEq, Eq)]
pub struct Typed<S, T> {
    sketch: S,
    kind: PhantomData<T>,
}

impl<S: InsertHashes, T: KeyType> Typed<S, T> {
    /// Wraps a sketch.
    ///
    /// # Errors
    /// If the sketch was built for another kind of key.
    pub fn new(sketch: S) -> Result<Self> {
        let scheme = sketch.scheme();
        if scheme.kind() != T::KIND {
            return Err(scheme.wrong_kind(T::KIND));
        }
        Ok(Self { sketch, kind: PhantomData })
    }

    /// Adds one key.
    #[inline]
    pub fn insert<K: KeyOf<T>>(&mut self, key: K) {
        let hash = key.hash_with(self.sketch.scheme());
        self.sketch.insert_hash(hash);
    }

    /// Returns the sketch itself: to be merged, stored, or given to code that knows its keys at run time.
    pub fn into_inner(self) -> S {
        self.sketch
    }
}

impl<S, T> Deref for Typed<S, T> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.sketch
    }
}

/// As many keys are hashed before they are inserted together, so that memory accesses overlap.
const AT_ONCE: usize = 256;

impl<S: InsertHashes, T: KeyType, K: KeyOf<T>> Extend<K> for Typed<S, T> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        let scheme = self.sketch.scheme();
        let mut hashes = [0; AT_ONCE];
        let mut filled = 0;
        for key in keys {
            hashes[filled] = key.hash_with(scheme);
            filled += 1;
            if filled == AT_ONCE {
                self.sketch.insert_hashes(&hashes);
                filled = 0;
            }
        }
        self.sketch.insert_hashes(&hashes[..filled]);
    }
}

impl<S: InsertHashes + DefaultSize, T: KeyType, K: KeyOf<T>> FromIterator<K> for Typed<S, T> {
    fn from_iter<I: IntoIterator<Item = K>>(keys: I) -> Self {
        let sketch = S::of_default_size(KeyScheme::of(T::KIND));
        let mut typed = Self { sketch, kind: PhantomData };
        typed.extend(keys);
        typed
    }
}

impl<S: fmt::Debug, T> fmt::Debug for Typed<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sketch.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distinct::{ExactDistinct, HyperLogLog};
    use crate::membership::Bloom;

    #[test]
    fn typed_and_dynamic_keys_give_the_same_bytes() {
        let keys: Vec<String> = (0..2_000).map(|at| format!("key{at}")).collect();
        let mut dynamic = HyperLogLog::new(10).unwrap();
        keys.iter().for_each(|key| dynamic.insert(key).unwrap());
        let mut typed = Texts::new(HyperLogLog::new(10).unwrap()).unwrap();
        typed.extend(&keys[..1_234]);
        keys[1_234..].iter().for_each(|key| typed.insert(key.as_bytes()));
        assert_eq!(typed.into_inner(), dynamic);

        let scheme = KeyScheme::integers().with_seed(9);
        let mut dynamic = Bloom::for_items_with_scheme(100, 0.01, scheme).unwrap();
        let mut typed = Integers::new(dynamic.clone()).unwrap();
        (-50..50).for_each(|key| {
            dynamic.insert(&key).unwrap();
            typed.insert(key);
        });
        assert_eq!(*typed, dynamic);
    }

    #[test]
    fn a_sketch_of_another_kind_is_refused() {
        let error = Integers::new(HyperLogLog::new(10).unwrap()).unwrap_err();
        assert_eq!((error.field(), error.expected(), error.found()), ("key kind", "bytes", "integer"));
    }

    #[test]
    fn collecting_takes_the_default_size() {
        let counted: Texts<HyperLogLog> = ["a", "b", "a"].into_iter().collect();
        assert_eq!((counted.precision(), counted.estimate().value()), (14, 2.0));
        let exact: Integers<ExactDistinct> = (0..1_000_u16).map(|at| at % 600).collect();
        assert_eq!(exact.estimate().value(), 600.0);
    }
}
