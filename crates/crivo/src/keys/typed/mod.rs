//! Sketches whose kind of key is known at compile time.
//!
//! A sketch holds one kind of key, which is chosen when the sketch is built. Tables need that,
//! because the types of their columns are known only at run time. So inserting a key can fail. Code
//! that knows its kind of key wraps the sketch in [`Texts`] or [`Integers`]. Then a key of another
//! kind does not compile, keys are taken by value or by reference, and inserting into a sketch that
//! keeps only hashes cannot fail. The bytes are the same.
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
//! Sketches that keep the keys themselves can refuse a key: a text that is too long, or an integer
//! outside the universe. For these, inserting returns a `Result`. If no key of the kind can be
//! refused, it returns nothing:
//!
//! ```
//! use crivo::frequency::HeavyHitters;
//! use crivo::keys::{Integers, KeyScheme, Texts};
//! use crivo::sampling::Reservoir;
//!
//! let mut words = Texts::new(HeavyHitters::for_share(0.01)?)?;
//! words.insert("to")?;
//! words.try_extend("be or not to be".split(' '))?;
//! assert_eq!(words.top(1)[0].count(), 2);
//!
//! let mut sample = Integers::new(Reservoir::with_scheme(3, KeyScheme::integers(), 7)?)?;
//! sample.insert(1);
//! sample.extend(2..1_000);
//! assert_eq!(sample.sample().count(), 3);
//! # Ok::<(), crivo::Error>(())
//! ```
//!
//! ```compile_fail
//! # use crivo::{frequency::HeavyHitters, keys::Texts};
//! # fn main() -> Result<(), crivo::Error> {
//! let mut words = Texts::new(HeavyHitters::for_share(0.01)?)?;
//! words.insert(7)?;
//! # Ok(())
//! # }
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
use crate::sampling::WeightedReservoir;
use crate::sketch::{AddWeights, Sketch};

mod takes;

pub use takes::TakesKeys;

/// A sketch of texts, or of any bytes.
pub type Texts<S> = Typed<S, Text>;

/// A sketch of integers of up to 64 bits.
pub type Integers<S> = Typed<S, Integer>;

/// A kind of key, as a type. This trait is sealed: the kinds are [`Text`] and [`Integer`].
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
    /// Returns an empty sketch of the size that `crivo` uses by default.
    fn of_default_size(scheme: KeyScheme) -> Self;
}

/// A sketch whose kind of key is part of its type; see the [module](self).
///
/// It dereferences to the sketch for everything except inserting.
#[derive(Clone, PartialEq, Eq)]
pub struct Typed<S, T> {
    sketch: S,
    kind: PhantomData<T>,
}

impl<S: Sketch, T: KeyType> Typed<S, T> {
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

    /// Returns the sketch itself, for example to merge or store it, or for code that knows the kind
    /// of key only at run time.
    pub fn into_inner(self) -> S {
        self.sketch
    }

    /// Adds one key. Returns a `Result` if the sketch can refuse a key of this kind: see
    /// [`TakesKeys`].
    #[inline]
    pub fn insert<K: KeyOf<T>>(&mut self, key: K) -> S::Outcome
    where
        S: TakesKeys<T>,
    {
        self.sketch.insert_key(&key)
    }

    /// Adds many keys to a sketch that can refuse one. Other sketches have
    /// [`extend`](Extend::extend).
    ///
    /// # Errors
    /// If a key is refused; the keys before it stay added.
    pub fn try_extend<K: KeyOf<T>>(&mut self, keys: impl IntoIterator<Item = K>) -> Result<()>
    where
        S: TakesKeys<T, Outcome = Result<()>>,
    {
        self.sketch.insert_keys(keys.into_iter())
    }

    /// Counts one key `weight` times.
    ///
    /// # Errors
    /// If the sketch refuses the key: see [`TakesKeys`].
    ///
    /// ```
    /// use crivo::{frequency::CountMin, keys::{Integers, KeyScheme}};
    /// let mut sold = Integers::new(CountMin::for_bound_with_scheme(0.01, 0.05, KeyScheme::integers())?)?;
    /// sold.add(1234, 3)?;
    /// assert_eq!(sold.frequency(&1234)?.value(), 3.0);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn add<K: KeyOf<T>>(&mut self, key: K, weight: u64) -> Result<()>
    where
        S: AddWeights,
    {
        AddWeights::add_ref(&mut self.sketch, key.to_ref(), weight)
    }
}

impl<T: KeyType> Typed<WeightedReservoir, T> {
    /// Offers one key with its weight to the sample.
    ///
    /// # Errors
    /// If the weight is negative or not finite, or if the key is a text of 4 GiB or more.
    ///
    /// ```
    /// use crivo::{keys::Texts, sampling::WeightedReservoir};
    /// let mut sample = Texts::new(WeightedReservoir::new(2, 7)?)?;
    /// sample.insert_weighted("ana", 2.5)?;
    /// assert!(sample.insert_weighted("rui", -1.0).is_err());
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn insert_weighted<K: KeyOf<T>>(&mut self, key: K, weight: f64) -> Result<()> {
        self.sketch.insert(&key, weight)
    }
}

impl<S, T> Deref for Typed<S, T> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.sketch
    }
}

impl<S: TakesKeys<T, Outcome = ()>, T: KeyType, K: KeyOf<T>> Extend<K> for Typed<S, T> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        self.sketch.insert_keys(keys.into_iter());
    }
}

impl<S: TakesKeys<T, Outcome = ()> + DefaultSize, T: KeyType, K: KeyOf<T>> FromIterator<K> for Typed<S, T> {
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
    use crate::frequency::{HeavyHitters, Majority};
    use crate::membership::{Bloom, DirectTable};
    use crate::sampling::Reservoir;

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
    fn sketches_that_keep_keys_take_the_same_ones_typed() {
        let mut dynamic = HeavyHitters::new(20).unwrap();
        let mut typed = Texts::new(dynamic.clone()).unwrap();
        for at in 0..500 {
            let word = format!("word{}", at * at % 37);
            dynamic.insert(&word).unwrap();
            typed.insert(&word).unwrap();
        }
        dynamic.add("often", 40).unwrap();
        typed.add("often", 40).unwrap();
        assert_eq!(typed.encode(), dynamic.encode());
        let error = typed.try_extend(["fits".to_owned(), "x".repeat(1 << 16)]).unwrap_err();
        assert_eq!(error.field(), "key");
        assert_eq!(typed.total(), dynamic.total() + 1, "what came before the refused one is counted");

        let mut dynamic = Reservoir::with_scheme(5, KeyScheme::integers(), 3).unwrap();
        let mut typed = Integers::new(dynamic.clone()).unwrap();
        (0..1_000_u32).for_each(|at| dynamic.insert(&at).unwrap());
        typed.extend(0..1_000_u32);
        assert_eq!(typed.into_inner(), dynamic);

        let mut votes: Integers<Majority> = [7, 7, 7, 3].into_iter().collect();
        votes.insert(7);
        assert_eq!(votes.total(), 5);
        let mut ports = Integers::new(DirectTable::new(65_536).unwrap()).unwrap();
        assert!(ports.insert(443).is_ok() && ports.insert(70_000).is_err());
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
