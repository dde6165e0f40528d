//! The families in a build without the feature `datasketches`. To make or read a sketch is
//! [`Error::LeftOut`].
//!
//! Names and signatures are those of `families/mod.rs`, as far as programs use them. These types
//! have no values, and the compiler knows it.

#![allow(missing_docs)] // the build with DataSketches documents them
#![allow(clippy::pedantic)] // signatures are those of that build

use crivo::Estimate;
use crivo::sketch::Quantiles;

use crate::{Error, FrequentItem, NumberKind, Result};

/// Declares a family without values, the methods of every family, and `other` methods. No method
/// can be called, because there is no value.
macro_rules! family {
    ($name:ident, $merged:ty { $(fn $other:ident(&self $(, $arg:ident: $type:ty)*) -> $out:ty;)* }) => {
        #[derive(Debug, Clone, PartialEq)]
        pub enum $name {}

        impl $name {
            pub fn merge(&mut self, _: &Self) -> $merged {
                match *self {}
            }

            pub fn encode(&self) -> Vec<u8> {
                match *self {}
            }

            pub fn is_empty(&self) -> bool {
                match *self {}
            }

            $(
                pub fn $other(&self $(, $arg: $type)*) -> $out {
                    match *self {}
                }
            )*
        }
    };
}

/// Declares functions that make or read a sketch.
macro_rules! makers {
    ($name:ident { $(fn $maker:ident($($type:ty),*);)* }) => {
        impl $name {
            $(
                pub fn $maker($(_: $type),*) -> Result<Self> {
                    Err(Error::LeftOut)
                }
            )*
        }
    };
}

family!(Hll, () {
    fn lg_k(&self) -> u8;
    fn estimate(&self) -> Estimate;
    fn insert_bytes(&self, _key: &[u8]) -> ();
    fn insert_integer(&self, _key: u64) -> ();
});
makers!(Hll { fn new(u8); fn decode(&[u8]); });

family!(Theta, () {
    fn lg_k(&self) -> u8;
    fn estimate(&self) -> Estimate;
    fn insert_bytes(&self, _key: &[u8]) -> ();
    fn insert_integer(&self, _key: u64) -> ();
});
makers!(Theta { fn new(u8); fn decode(&[u8], u8); });

family!(Cpc, () {
    fn lg_k(&self) -> u8;
    fn estimate(&self) -> Estimate;
    fn insert_bytes(&self, _key: &[u8]) -> ();
    fn insert_integer(&self, _key: u64) -> ();
});
makers!(Cpc { fn new(u8); fn decode(&[u8]); });

family!(AnyKll, Result<()> {
    fn k(&self) -> u16;
    fn insert(&self, _number: f64) -> ();
    fn insert_whole(&self, _number: i64) -> ();
});
makers!(AnyKll { fn new(u16, NumberKind); fn decode(&[u8]); });

impl AnyKll {
    pub fn k_for(_: f64) -> Result<u16> {
        Err(Error::LeftOut)
    }
}

family!(Req, Result<()> {
    fn k(&self) -> u16;
    fn insert(&self, _number: f32) -> ();
});
makers!(Req { fn new(u16, bool); fn decode(&[u8]); });

family!(TDigest, Result<()> {
    fn k(&self) -> u16;
    fn insert(&self, _number: f64) -> ();
});
makers!(TDigest { fn new(u16); fn decode(&[u8]); });

family!(FrequentItems, Result<()> {
    fn of_integers(&self) -> bool;
    fn add_bytes(&self, _key: &[u8], _weight: u64) -> Result<()>;
    fn add_integer(&self, _key: u64, _weight: u64) -> Result<()>;
    fn frequency_bytes(&self, _key: &[u8]) -> Estimate;
    fn frequency_integer(&self, _key: u64) -> Estimate;
    fn top(&self, _most: usize) -> Vec<FrequentItem>;
    fn total(&self) -> u64;
    fn max_error(&self) -> u64;
    fn lg_size(&self) -> u8;
    fn len(&self) -> usize;
});
makers!(FrequentItems { fn new(u8, bool); fn decode(&[u8]); });

family!(Bloom, Result<()> {
    fn insert_bytes(&self, _key: &[u8]) -> ();
    fn insert_integer(&self, _key: u64) -> ();
    fn contains_bytes(&self, _key: &[u8]) -> bool;
    fn contains_integer(&self, _key: u64) -> bool;
    fn bits(&self) -> u64;
    fn hashes(&self) -> u16;
    fn false_positive_rate(&self) -> f64;
    fn items(&self) -> Estimate;
});
makers!(Bloom { fn for_items(u64, f64); fn decode(&[u8]); });

macro_rules! quantiles {
    ($($name:ident),*) => {$(
        impl Quantiles for $name {
            fn quantile(&self, _: f64) -> Option<Estimate> {
                match *self {}
            }

            fn count_below(&self, _: f64) -> Estimate {
                match *self {}
            }

            fn count(&self) -> u64 {
                match *self {}
            }
        }
    )*};
}
quantiles!(AnyKll, Req, TDigest);

#[cfg(test)]
mod tests {
    use crate::{AnyInterchange, Error};

    #[test]
    fn reading_says_what_is_left_out() {
        let hll = [2, 1, 7, 12, 0, 0, 0, 0];
        assert!(AnyInterchange::is_certainly(&hll));
        assert_eq!(AnyInterchange::decode(&hll).unwrap_err(), Error::LeftOut);
        assert!(Error::LeftOut.to_string().contains("feature `interchange`"));
    }
}
