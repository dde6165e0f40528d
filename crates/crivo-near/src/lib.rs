//! Near-duplicates in collections too large to compare each with each.
//!
//! documents → words hashed once → shingles → signature → bands → candidates → verified pairs →
//! clusters. What a document says is forgotten as soon as it is signed: a few hundred bytes stay of
//! it. Candidates are read a second time and compared as the sets they are, so every reported
//! similarity is exact.
//!
//! | step | home |
//! |---|---|
//! | where documents come from | [`Documents`], [`Source`], [`SetCollection`] |
//! | what counts as alike, and what it may cost | [`Settings`] |
//! | documents to band keys | `sign` |
//! | band keys to pairs that share one | `candidates` |
//! | pairs to similarities | `verify` |
//! | the same without bands, for whoever must not miss a pair | [`all_similar_sets`] |
//! | what comes out | [`Outcome`], [`Clusters`] |
//! | what was seen before, on disk | [`Index`] |
//!
//! # What is found
//!
//! Two documents with similarity `J` become candidates with probability `1 − (1 − J^r)^b`
//! ([`Bands`]); by default 99 % of those exactly at the threshold do, and
//! nearly all above. Those that do are never reported wrongly. [`Outcome::expected_missed`] says how
//! many of the others to expect, from the curve and the similarities found.
//!
//! The result is the same on any number of threads, with any amount of memory.
//!
//! ```
//! use crivo_near::{Clusters, Keep, Linking, Settings, Texts, near_duplicates};
//! use crivo::similarity::shingle::Shingles;
//!
//! let texts = ["the cat sat on the mat", "a dog barked", "The cat sat on the mat!"];
//! let settings = Settings { shingles: Shingles::words(2)?, ..Settings::default() };
//! let outcome = near_duplicates(&Texts::new(&texts, 1), &settings, &())?;
//! outcome.for_each_pair(|one, other, similarity| {
//!     assert_eq!((one, other, similarity), (0, 2, 1.0));
//!     Ok(())
//! })?;
//! let clusters = Clusters::of(&outcome, Linking::Chains, Keep::First)?;
//! assert_eq!(clusters.kept(), [0, 1, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod candidates;
mod clusters;
mod error;
mod exhaustive;
#[cfg(feature = "index")]
pub mod index;
mod outcome;
mod page;
mod parallel;
mod sets;
mod settings;
mod sign;
mod sorter;
mod source;
mod spill;
mod verify;

use std::sync::Arc;

pub use candidates::LARGEST_BUCKET;
pub use clusters::{Clusters, Keep, Linking};
pub use error::{Error, Result};
pub use exhaustive::all_similar_sets;
#[cfg(feature = "index")]
pub use index::Index;
pub use outcome::Outcome;
pub use page::PageText;
pub use parallel::{deal, thread_count};
pub use sets::{SetBuilder, SetCollection};
pub use settings::Settings;
pub use source::{Documents, Member, Shingled, Source, TakeText, Texts};

use crivo::similarity::Bands;
use crivo::{Confidence, Estimate};
use outcome::Collector;
use spill::Spill;

/// The parts of a search, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Reading and signing everything.
    Signing,
    /// Bringing together those who share a band key.
    Pairing,
    /// Reading the candidates again and comparing them.
    Comparing,
}

/// Whoever wants to know how far a search is, or to stop it.
pub trait Watch: Sync {
    /// A stage begins.
    fn begin(&self, stage: Stage);

    /// Whether to stop.
    fn stopped(&self) -> bool;
}

/// Nobody watches.
impl Watch for () {
    fn begin(&self, _: Stage) {}

    fn stopped(&self) -> bool {
        false
    }
}

/// Finds the near-duplicates among texts.
///
/// # Errors
/// Settings out of range, documents that cannot be read or change between two readings, a
/// temporary file that cannot be written.
pub fn near_duplicates(
    documents: &impl Documents,
    settings: &Settings,
    watch: &dyn Watch,
) -> Result<Outcome> {
    similar_sets(&Shingled::new(documents, &settings.shingles, settings.seed), settings, watch)
}

/// Finds the sets that are alike: users by their films, photographs by their features.
///
/// # Errors
/// As [`near_duplicates`].
pub fn similar_sets(source: &impl Source, settings: &Settings, watch: &dyn Watch) -> Result<Outcome> {
    let bands = settings.bands()?;
    let spill = Arc::new(Spill::default());
    let begin = |stage| {
        watch.begin(stage);
        if watch.stopped() { Err(Error::Stopped) } else { Ok(()) }
    };

    begin(Stage::Signing)?;
    let signed = sign::sign_all(source, settings, bands, &spill)?;
    begin(Stage::Pairing)?;
    let candidates = candidates::candidates(&signed, settings, &spill)?;
    begin(Stage::Comparing)?;
    let mut collector = Collector::new(&signed, settings.memory, &spill)?;
    let mut similarities = Vec::new();
    let compared = verify::verify(source, &signed, &candidates, settings, |found| {
        similarities.push(found.similarity);
        collector.take(found.pair, found.similarity)
    })?;
    let expected_missed = expected_missed(bands, settings.threshold, similarities)?;
    Ok(collector.finish(signed, compared, bands, expected_missed))
}

/// How many pairs the bands are expected to have missed. Where none was found, those at the threshold
/// are the easiest to miss: of `n` such pairs all are missed with probability `(1 − P)^n`.
fn expected_missed(bands: Bands, threshold: f64, similarities: Vec<f64>) -> Result<Estimate> {
    if !similarities.is_empty() {
        return Ok(bands.expected_missed(similarities)?);
    }
    let confidence = Confidence::P95;
    let missed = 1.0 - bands.probability(threshold);
    let most = if missed > 0.0 { ((1.0 - confidence.level()).ln() / missed.ln()).floor() } else { 0.0 };
    Ok(Estimate::probable(0.0, 0.0, most, confidence))
}
