//! Is it in there?
//!
//! | type | memory | error | merge |
//! |---|---|---|---|
//! | [`DirectTable`] | one bit for each integer there could be | none | exact |
//! | [`Bloom`] | 9.6 bits a key at 1 % | "yes" is wrong at the rate | exact; so is intersection, but for its rate |
//! | [`BlockedBloom`] | 10.1 bits a key at 1 %, one cache line | "yes" is wrong at the rate | exact; so is intersection, but for its rate |
//! | [`BinaryFuse`] | 9.0 bits a key at 0.39 %, of a set that is finished | "yes" is wrong at the rate | none: keys cannot be added |
//! | [`CombinedFilter`] | that of its filters | of a union the sum of theirs, of an intersection the least | union; filters of one size become one |
//! | [`CountingBloom`] | 4 to 32 bits a cell, 10 cells a key for 1 % | false positives; counts from above | exact, and so is subtraction |

/// Implements [`Membership`](crate::sketch::Membership) for a filter that needs only the hash of a
/// key.
macro_rules! impl_membership_by_hash {
    ($type:ty, $removal:ident) => {
        impl $type {
            /// Returns the filter of the keys that are in both sets. The two filters may have any
            /// sizes. The result stores that it is an intersection, and keeps both filters. The
            /// number of shared keys can be computed from the two filters, but not from the bits
            /// that they have in common.
            ///
            /// # Errors
            /// If the schemes differ.
            ///
            /// ```
            /// use crivo::membership::Bloom;
            /// let (mut first, mut second) = (Bloom::for_items(1_000, 1e-6)?, Bloom::for_items(1_000, 1e-6)?);
            /// (0..500).try_for_each(|i| first.insert(&*format!("user{i}")).map(drop))?;
            /// (300..900).try_for_each(|i| second.insert(&*format!("user{i}")).map(drop))?;
            /// let both = first.intersection(&second)?;
            /// assert!(both.contains("user400")? && !both.contains("user1")?);
            /// assert!(both.items().covers(200.0));
            /// # Ok::<(), crivo::Error>(())
            /// ```
            pub fn intersection(&self, other: &Self) -> $crate::Result<$crate::membership::CombinedFilter> {
                $crate::membership::CombinedFilter::intersection(self.clone().into(), other.clone().into())
            }
        }

        impl $crate::sketch::Membership for $type {
            fn contains_ref(&self, key: $crate::keys::KeyRef<'_>) -> $crate::Result<bool> {
                Ok(self.contains_hash(self.scheme.hash_ref(key)?))
            }

            fn contains_batch(
                &self,
                batch: &$crate::keys::KeyBatch<'_>,
                found: &mut Vec<bool>,
            ) -> $crate::Result<()> {
                self.scheme.require_same(batch.scheme())?;
                self.contains_hashes(batch.hashes(), found);
                Ok(())
            }

            fn insert_new(&mut self, hashes: &[u64], fresh: &mut Vec<bool>) -> $crate::Result<()> {
                // All keys are looked up first, together, so that memory accesses overlap. The places
                // of those that are added are in the cache by then. A key that is found is added only
                // to a filter that counts, because another would not change.
                let counts = $crate::sketch::Membership::can_remove(self);
                let mut found = Vec::new();
                fresh.clear();
                for hashes in hashes.chunks($crate::keys::KeyBatch::TARGET_LEN) {
                    self.contains_hashes(hashes, &mut found);
                    let add = |(&found, &hash): (&bool, &u64)| (counts || !found) && self.insert_hash(hash);
                    fresh.extend(found.iter().zip(hashes).map(add));
                }
                Ok(())
            }

            fn intersection(
                &self,
                other: &$crate::codec::AnySketch,
            ) -> $crate::Result<$crate::codec::AnySketch> {
                let both =
                    $crate::membership::CombinedFilter::intersection(self.clone().into(), other.clone())?;
                Ok(both.into())
            }

            $crate::membership::removal!($removal);

            fn items(&self) -> $crate::Estimate {
                self.items()
            }

            fn capacity(&self) -> Option<u64> {
                Some(self.capacity())
            }

            fn false_positive_rate(&self) -> f64 {
                self.false_positive_rate()
            }
        }
    };
}

/// The methods of [`Membership`](crate::sketch::Membership) about removing keys, for filters that
/// can or cannot remove them.
macro_rules! removal {
    (can_remove) => {
        fn can_remove(&self) -> bool {
            true
        }

        fn subtract(&mut self, other: &$crate::codec::AnySketch) -> $crate::Result<()> {
            self.subtract(other.require_ref::<Self>()?)
        }
    };
    (cannot_remove) => {
        fn can_remove(&self) -> bool {
            false
        }

        fn subtract(&mut self, _: &$crate::codec::AnySketch) -> $crate::Result<()> {
            Err($crate::sketch::Capability::Removal.missing_in(self))
        }
    };
}
use removal;

pub mod binary_fuse;
pub mod blocked_bloom;
pub mod bloom;
pub mod combined_filter;
pub mod counting_bloom;
pub mod direct_table;
mod occupancy;
mod sizing;

pub use binary_fuse::BinaryFuse;
pub use blocked_bloom::BlockedBloom;
pub use bloom::Bloom;
pub use combined_filter::CombinedFilter;
pub use counting_bloom::{CounterBits, CountingBloom};
pub use direct_table::DirectTable;
