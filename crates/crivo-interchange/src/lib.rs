//! Makes and reads sketches in the format of other systems.
//!
//! Spark (`hll_*`, `theta_*`, `kll_*`), Druid, Snowflake, BigQuery, PostgreSQL and others exchange
//! sketches as the bytes of Apache DataSketches. The types here make and read those bytes, through
//! the project's own Rust crate. [`AnyInterchange`] reads a sketch of any family.
//!
//! | question | types |
//! |---|---|
//! | how many distinct keys? | [`Hll`], [`Theta`], [`Cpc`] |
//! | which value has a given rank? | [`Kll`], [`AnyKll`], [`Req`], [`TDigest`] |
//! | which keys are most frequent? | [`FrequentItems`] |
//! | is a key in the set? | [`Bloom`] |
//!
//! # They are built from keys, never converted
//!
//! DataSketches hashes a key with MurmurHash3 (a Bloom filter with XXH64) and the seed 9001, crivo
//! with XXH3. A register of one tells nothing about a register of the other. So a crivo sketch
//! cannot be converted to such bytes: the keys must be read again. What a key is follows the rules
//! of the other side, not docs/keys.md:
//!
//! | key | hashed as |
//! |---|---|
//! | text, bytes | the bytes unchanged, without a length |
//! | integers of any width | 64 bits, signed |
//! | empty text, missing values | skipped |
//!
//! If the integers of a column are added as text, the sketch differs from Spark's sketch of that
//! column. So add integers as integers.
//!
//! # What merging promises
//!
//! A merged sketch answers within the same bounds as one built from all keys, but it need not have
//! the same bytes. An [`Hll`] without merges keeps a more exact running estimate, which ends at the
//! first merge.
//!
//! ```
//! use crivo_interchange::Hll;
//!
//! let (mut monday, mut tuesday) = (Hll::new(12)?, Hll::new(12)?);
//! ["ana", "rui"].iter().for_each(|key| monday.insert_bytes(key.as_bytes()));
//! ["rui", "eva"].iter().for_each(|key| tuesday.insert_bytes(key.as_bytes()));
//! monday.merge(&tuesday);
//! assert_eq!(Hll::decode(&monday.encode())?.estimate().value().round(), 3.0);
//! # Ok::<(), crivo_interchange::Error>(())
//! ```
//!
//! # Features
//!
//! `datasketches` is on by default and adds the dependency on that project's crate. Without it
//! every type still exists, but to make or read one is [`Error::LeftOut`].

#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "datasketches"), allow(dead_code))] // what only the families use

mod any;
#[cfg_attr(not(feature = "datasketches"), path = "without_datasketches.rs")]
mod families;
mod parts;

use std::fmt;

pub use any::AnyInterchange;
pub use families::{AnyKll, Bloom, Cpc, FrequentItems, Hll, Req, TDigest, Theta};
#[cfg(feature = "datasketches")]
pub use families::{Kll, KllNumber};
pub use parts::{FrequentItem, NumberKind};

/// The default size of Spark's functions: 2^12 registers, or kept hashes.
pub const DEFAULT_LG_K: u8 = 12;

/// The result of the crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a sketch could not be made or read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A size is out of its range.
    Size {
        /// The allowed range.
        allowed: &'static str,
        /// The requested size.
        found: u8,
    },
    /// A size of quantiles is out of its range.
    QuantilesSize {
        /// The allowed range.
        allowed: &'static str,
        /// The requested size.
        found: u16,
    },
    /// Another setting is out of its range.
    Setting {
        /// The name of the setting.
        field: &'static str,
        /// The allowed range.
        allowed: &'static str,
        /// The requested value.
        found: String,
    },
    /// Two sketches cannot be merged, for this reason.
    Incompatible(String),
    /// Two sketches have more values together than can be counted.
    TooMany,
    /// The weights of frequent items add up to more than other systems can count.
    TooHeavy,
    /// This build cannot make or read sketches, because it lacks the feature `datasketches`.
    LeftOut,
    /// The bytes are not a complete and undamaged sketch of this kind.
    Bytes {
        /// The kind that was expected.
        kind: &'static str,
        /// What is wrong with them.
        cause: String,
    },
}

impl Error {
    fn setting(field: &'static str, allowed: &'static str, found: impl fmt::Display) -> Self {
        Self::Setting { field, allowed, found: found.to_string() }
    }

    fn bytes(kind: &'static str, cause: impl fmt::Display) -> Self {
        Self::Bytes { kind, cause: cause.to_string() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size { allowed, found } => write!(f, "lg_k: expected {allowed}, found {found}"),
            Self::QuantilesSize { allowed, found } => write!(f, "k: expected {allowed}, found {found}"),
            Self::Setting { field, allowed, found } => {
                write!(f, "{field}: expected {allowed}, found {found}")
            }
            Self::Incompatible(cause) => f.write_str(cause),
            Self::TooMany => f.write_str("values: expected fewer than 2^64 in both sketches, found more"),
            Self::TooHeavy => f.write_str("weight: expected weights that add up to less than 2^63, found more"),
            Self::LeftOut => f.write_str(
                "bytes of Apache DataSketches were left out of this build, which lacks the feature `interchange`",
            ),
            Self::Bytes { kind, cause } => {
                write!(
                    f,
                    "bytes: expected an Apache DataSketches {kind} sketch, found something else: {cause}"
                )
            }
        }
    }
}

impl std::error::Error for Error {}
