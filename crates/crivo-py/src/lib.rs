//! The native half of the Python package: `crivo._native`.
//!
//! This crate has no algorithms. A class holds a library sketch and forwards to it. The code that
//! all classes share is written once:
//!
//! - [`sketch`]: the lock around a sketch, and the methods that every sketch has (merge, copy,
//!   bytes, pickle, equality);
//! - [`keys`]: converts any Python input, from a list to an Arrow stream, to batches of keys;
//! - [`estimate`]: the answer;
//! - [`errors`]: the one mapping from failures to Python exceptions.
//!
//! A new sketch needs a class as in [`distinct`] and [`membership`]: constructors, the methods that
//! only it has, and one line for each set of shared methods. Its name is then added to the list
//! below, to `python/crivo/__init__.py` and to the stubs.

#![allow(clippy::doc_link_with_quotes)] // lists of texts in the examples for Python

mod any;
mod counting;
mod distinct;
mod errors;
mod estimate;
mod frequency;
mod groups;
mod hash;
mod interchange;
mod keys;
mod lists;
mod membership;
mod profile;
mod quantiles;
mod sampling;
mod similarity;
mod sketch;
mod window;

use pyo3::prelude::*;

/// The native half of crivo: import the names from `crivo` itself.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    /// The version is set and not added: what is added becomes a part of `__all__`.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // Not public: tests call it to see how a panic inside the engine reaches Python.
        module.setattr("_panic", wrap_pyfunction!(crate::errors::panic_for_tests, module)?)?;
        module.setattr("__version__", env!("CARGO_PKG_VERSION"))
    }

    #[pymodule_export]
    use crate::any::decode;
    #[pymodule_export]
    use crate::counting::CounterArray;
    #[pymodule_export]
    use crate::counting::MorrisCounter;
    #[pymodule_export]
    use crate::counting::SampledCounter;
    #[pymodule_export]
    use crate::counting::Tally;
    #[pymodule_export]
    use crate::distinct::Comparison;
    #[pymodule_export]
    use crate::distinct::ExactDistinct;
    #[pymodule_export]
    use crate::distinct::HyperLogLog;
    #[pymodule_export]
    use crate::distinct::KMinValues;
    #[pymodule_export]
    use crate::distinct::LinearCounting;
    #[pymodule_export]
    use crate::distinct::LogLog;
    #[pymodule_export]
    use crate::distinct::ProbabilisticCounting;
    #[pymodule_export]
    use crate::distinct::UltraLogLog;
    #[pymodule_export]
    use crate::estimate::Estimate;
    #[pymodule_export]
    use crate::frequency::{
        CountMin, HeavyHitters, Majority, PrivateClient, PrivateCountMean, Protocol, RangeCountMin,
        frequency_bounds,
    };
    #[pymodule_export]
    use crate::groups::Groups;
    #[pymodule_export]
    use crate::hash::{
        FeatureHasher, approximate_collision_probability, collision_probability, djb31ma, forge, forge_after,
        items_for_collision,
    };
    #[pymodule_export]
    use crate::interchange::{BloomFilter, Cpc, FrequentItems, Hll, Kll, Req, TDigest, Theta};
    #[pymodule_export]
    use crate::lists::sketch_lists;
    #[pymodule_export]
    use crate::membership::{BinaryFuse, BlockedBloom, Bloom, CombinedFilter, CountingBloom, DirectTable};
    #[pymodule_export]
    use crate::profile::TableProfile;
    #[pymodule_export]
    use crate::profile::{ColumnProfile, DDSketch, DistinctGrowth, NearDuplicateShare, ProfiledColumn};
    #[pymodule_export]
    use crate::quantiles::{KeyQuantiles, NumberQuantiles};
    #[pymodule_export]
    use crate::sampling::{Reservoir, RowSample, WeightedReservoir};
    #[pymodule_export]
    use crate::similarity::{
        Bands, BenchmarkOverlap, LshIndex, MinHash, NearDuplicates, OverlapFinder, PassageFinder,
        RepeatedPassages, Signer, Similar, SimilarPair, Verifier, benchmark_overlap, jaccard,
        near_duplicates, repeated_passages, shingles,
    };
    #[pymodule_export]
    use crate::window::Panes;
}
