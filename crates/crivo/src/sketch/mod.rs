//! What can every sketch say about itself, and what can it do?
//!
//! [`Sketch`] is the one trait that every sketch implements: which sketch it is, how it hashes,
//! which sizes it has, how much memory it takes, whether it is empty. Its other methods each return
//! one capability of the sketch, a small trait of its own, or `None`:
//!
//! | method | capability |
//! |---|---|
//! | [`takes_hashes`](Sketch::takes_hashes) | [`InsertHashes`]: the hash of a key is enough |
//! | [`takes_keys`](Sketch::takes_keys) | [`InsertKeys`]: batches of keys |
//! | [`takes_weights`](Sketch::takes_weights) | [`AddWeights`]: keys that count several times |
//! | [`takes_numbers`](Sketch::takes_numbers) | [`InsertNumbers`]: numbers instead of keys |
//! | [`counts_events`](Sketch::counts_events) | [`CountEvents`]: events without keys |
//! | [`answers_membership`](Sketch::answers_membership) | [`Membership`]: is it in there? |
//! | [`answers_frequency`](Sketch::answers_frequency) | [`Frequency`]: how often? |
//! | [`answers_top`](Sketch::answers_top) | [`Top`]: which most often? |
//! | [`answers_cardinality`](Sketch::answers_cardinality) | [`Cardinality`]: how many different? |
//! | [`answers_quantiles`](Sketch::answers_quantiles) | [`Quantiles`]: which value has that rank? |
//! | [`answers_samples`](Sketch::answers_samples) | [`Sample`]: a fair sample |
//!
//! Code that handles a sketch of unknown kind ([`AnySketch`](crate::codec::AnySketch)) asks for the
//! capability it needs and never lists kinds. So a new sketch works everywhere as soon as it
//! implements the trait, and a sketch that lacks a capability is refused by name.
//!
//! Each sketch has the same operations as inherent methods, so code that uses one sketch imports no
//! trait.

mod capability;

pub use capability::{
    AddWeights, Capability, Cardinality, ContainsHashes, CountEvents, Frequency, InsertHashes, InsertKeys,
    InsertNumbers, Membership, Quantiles, Sample, Top,
};

pub use crate::codec::{Decode, Encode};
use crate::codec::{Family, Parameters, Summary};
use crate::error::Result;
use crate::keys::KeyScheme;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// A sketch: a summary of a stream, whose size does not grow with the stream.
pub trait Sketch {
    /// Returns which sketch this is.
    fn family(&self) -> Family;

    /// Returns how the sketch hashes its keys; a sketch without keys has the scheme of hashes.
    fn scheme(&self) -> KeyScheme;

    /// Returns the sizes the sketch was built with, in the order of its constructor. Two sketches
    /// of one family and scheme with equal parameters can be merged.
    fn parameters(&self) -> Parameters;

    /// Returns true if nothing was inserted.
    fn is_empty(&self) -> bool;

    /// Returns the bytes of memory in use, the struct itself included.
    fn memory(&self) -> usize;

    /// Returns the bytes of memory that the sketch takes when it is full, if that is known.
    /// Otherwise returns the bytes in use.
    fn full_memory(&self) -> usize {
        self.memory()
    }

    /// Returns parameters, fill and size: what `crivo show` prints.
    fn summary(&self) -> Summary;

    /// Returns the sketch as bytes: the contents of a `.crivo` file.
    fn to_bytes(&self) -> Vec<u8>;

    /// Returns the sketch as one that takes hashes, if the hash of a key is enough for it.
    fn takes_hashes(&mut self) -> Option<&mut dyn InsertHashes> {
        None
    }

    /// Returns the sketch as one that takes batches of keys, if it does.
    fn takes_keys(&mut self) -> Option<&mut dyn InsertKeys> {
        None
    }

    /// Returns the sketch as one that takes keys with weights, if it does.
    fn takes_weights(&mut self) -> Option<&mut dyn AddWeights> {
        None
    }

    /// Returns the sketch as one that takes numbers, if it does.
    fn takes_numbers(&mut self) -> Option<&mut dyn InsertNumbers> {
        None
    }

    /// Returns the sketch as a counter of events without keys, if it is one.
    fn counts_events(&mut self) -> Option<&mut dyn CountEvents> {
        None
    }

    /// Returns the sketch as a filter, if it is one.
    fn answers_membership(&self) -> Option<&dyn Membership> {
        None
    }

    /// Returns the sketch as a filter that can be added to, if it is one.
    fn answers_membership_mut(&mut self) -> Option<&mut dyn Membership> {
        None
    }

    /// Returns an object that answers how often single keys occurred, if the sketch knows this. The
    /// object may hold sums over the whole sketch, so request it once and not for every key.
    fn answers_frequency(&self) -> Option<Box<dyn Frequency + '_>> {
        None
    }

    /// Returns the sketch as one that lists the most frequent keys, if it does.
    fn answers_top(&self) -> Option<&dyn Top> {
        None
    }

    /// Returns the sketch as a counter of different keys, if it is one.
    fn answers_cardinality(&self) -> Option<&dyn Cardinality> {
        None
    }

    /// Returns the sketch as one that answers quantiles, if it does.
    fn answers_quantiles(&self) -> Option<&dyn Quantiles> {
        None
    }

    /// Returns the sketch as a sample, if it is one.
    fn answers_samples(&self) -> Option<&dyn Sample> {
        None
    }
}

/// A sketch that another sketch of its kind can be merged into.
pub trait Merge {
    /// Merges `other` into `self`, which then is the sketch of both streams.
    ///
    /// # Errors
    /// If the two differ in a parameter, key kind, hash or seed that forbids it; the error
    /// names the field and both values, and `self` is unchanged.
    fn merge(&mut self, other: &Self) -> Result<()>;

    /// Derives a new random seed from the current one and `part`, so that sketches of separate
    /// parts of a stream draw independently. No effect on deterministic sketches.
    fn reseed(&mut self, part: u64) {
        let _ = part;
    }
}

/// Adds the other ways to insert keys to a sketch that needs only hashes. The sketch must have
/// `scheme`, `insert_hash` and `insert_hashes`.
macro_rules! impl_insert_by_hash {
    ($type:ty) => {
        impl $type {
            /// Adds one key.
            ///
            /// # Errors
            /// If the key is not of the sketch's kind.
            #[inline]
            pub fn insert<K: $crate::keys::Key + ?Sized>(&mut self, key: &K) -> $crate::Result<()> {
                let hash = self.scheme.hash(key)?;
                self.insert_hash(hash);
                Ok(())
            }

            /// Adds a batch of keys.
            ///
            /// # Errors
            /// If the batch was hashed under another scheme; nothing is added then.
            pub fn insert_batch(&mut self, batch: &$crate::keys::KeyBatch<'_>) -> $crate::Result<()> {
                $crate::sketch::InsertKeys::insert_batch(self, batch)
            }
        }

        impl $crate::sketch::InsertHashes for $type {
            fn insert_hash(&mut self, hash: u64) {
                self.insert_hash(hash);
            }

            fn insert_hashes(&mut self, hashes: &[u64]) {
                self.insert_hashes(hashes);
            }
        }
    };
}

/// Implements [`Sketch`] for a type that has `parameters`, `is_empty`, `memory` and `summary` as
/// inherent methods, and names the capabilities it hands out. After `sealed` the type must already
/// be one of the codec's: an instance of a generic type whose bytes are written once for all
/// instances.
macro_rules! impl_sketch {
    (impl [$($generic:tt)*] $type:ty $(, $capability:ident)* $(; full_memory = $full:expr)?) => {
        impl<$($generic)*> $crate::codec::Sealed for $type {}

        $crate::sketch::impl_sketch!(sealed [$($generic)*] $type $(, $capability)* $(; full_memory = $full)?);
    };
    (sealed [$($generic:tt)*] $type:ty $(, $capability:ident)* $(; full_memory = $full:expr)?) => {
        impl<$($generic)*> $crate::sketch::Sketch for $type {
            fn family(&self) -> $crate::codec::Family {
                <Self as $crate::codec::Encode>::FAMILY
            }

            fn scheme(&self) -> $crate::keys::KeyScheme {
                $crate::codec::Encode::key_scheme(self)
            }

            fn parameters(&self) -> $crate::codec::Parameters {
                self.parameters()
            }

            fn is_empty(&self) -> bool {
                self.is_empty()
            }

            fn memory(&self) -> usize {
                self.memory()
            }

            fn summary(&self) -> $crate::codec::Summary {
                self.summary()
            }

            fn to_bytes(&self) -> alloc::vec::Vec<u8> {
                $crate::codec::Encode::encode(self)
            }

            $(fn full_memory(&self) -> usize {
                let full: fn(&Self) -> usize = $full;
                full(self)
            })?

            $($crate::sketch::hand_out!($capability);)*
        }
    };
    ($type:ty $(, $capability:ident)* $(; full_memory = $full:expr)?) => {
        $crate::sketch::impl_sketch!(impl [] $type $(, $capability)* $(; full_memory = $full)?);
    };
}

/// The methods of [`Sketch`] that hand out one capability.
macro_rules! hand_out {
    (hashes) => {
        fn takes_hashes(&mut self) -> Option<&mut dyn $crate::sketch::InsertHashes> {
            Some(self)
        }
    };
    (keys) => {
        fn takes_keys(&mut self) -> Option<&mut dyn $crate::sketch::InsertKeys> {
            Some(self)
        }
    };
    (weights) => {
        fn takes_weights(&mut self) -> Option<&mut dyn $crate::sketch::AddWeights> {
            Some(self)
        }
    };
    (numbers) => {
        fn takes_numbers(&mut self) -> Option<&mut dyn $crate::sketch::InsertNumbers> {
            Some(self)
        }
    };
    (events) => {
        fn counts_events(&mut self) -> Option<&mut dyn $crate::sketch::CountEvents> {
            Some(self)
        }
    };
    (membership) => {
        fn answers_membership(&self) -> Option<&dyn $crate::sketch::Membership> {
            Some(self)
        }

        fn answers_membership_mut(&mut self) -> Option<&mut dyn $crate::sketch::Membership> {
            Some(self)
        }
    };
    (frequency) => {
        fn answers_frequency(&self) -> Option<Box<dyn $crate::sketch::Frequency + '_>> {
            Some(Box::new(self))
        }
    };
    (prepared_frequency) => {
        fn answers_frequency(&self) -> Option<Box<dyn $crate::sketch::Frequency + '_>> {
            Some(Box::new(self.answers()))
        }
    };
    (top) => {
        fn answers_top(&self) -> Option<&dyn $crate::sketch::Top> {
            Some(self)
        }
    };
    (cardinality) => {
        fn answers_cardinality(&self) -> Option<&dyn $crate::sketch::Cardinality> {
            Some(self)
        }
    };
    (quantiles) => {
        fn answers_quantiles(&self) -> Option<&dyn $crate::sketch::Quantiles> {
            Some(self)
        }
    };
    (samples) => {
        fn answers_samples(&self) -> Option<&dyn $crate::sketch::Sample> {
            Some(self)
        }
    };
}

pub(crate) use {hand_out, impl_insert_by_hash, impl_sketch};
