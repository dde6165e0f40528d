//! Near-duplicates in collections too large to compare each with each.
//!
//! Documents → words hashed once → shingles → signature → bands → candidates → verified pairs →
//! clusters. The text of a document is dropped as soon as the document is signed. Its band keys go
//! to a file if they do not fit, and 24 bytes stay in memory. Candidates are read a second time and
//! their sets are compared, so every reported similarity is exact. There are two readings, whatever
//! the size. A collection whose sets fit in an eighth of the memory is read once.
//!
//! | step | home |
//! |---|---|
//! | where documents come from | [`Documents`], [`Source`], [`SetCollection`] |
//! | what counts as similar, and how much memory a run may use | [`Settings`] |
//! | texts to shingles, in any script | [`TextShingler`] |
//! | how the memory is divided | `budget` |
//! | documents to band keys and fingerprints | `sign` |
//! | documents with the same content | `contents` |
//! | band keys to pairs that share one, and the components they form | `candidates`, `components` |
//! | components to blocks that fit in memory | `blocks` |
//! | the second reading: each candidate's set into its block | `gather`, `segments` |
//! | sets in memory that make the second reading unnecessary | `kept_sets` |
//! | pairs to similarities, block by block | `verify` |
//! | how many pairs were missed or not listed | `missed`, `crowd` |
//! | stages that a killed run has finished | [`WorkFolder`] |
//! | all pairs without bands, if none may be missed | [`all_similar_sets`] |
//! | the result | [`Outcome`], [`Clusters`] |
//! | repeated passages | [`repeated_passages`]; on several machines [`PassageSteps`] |
//! | items of a benchmark that documents contain | [`overlap()`] |
//! | lines and paragraphs that occur more than once | [`repeated_units`] |
//! | an index on disk of documents seen before | [`Index`] |
//!
//! # What is found
//!
//! Two documents with similarity `J` become candidates with probability `1 − (1 − J^r)^b`
//! ([`Bands`](crivo::similarity::Bands)). By default 99 % of those exactly at the threshold do, and
//! nearly all above. No pair is ever reported wrongly. [`Outcome::expected_missed`] estimates the
//! number of missed pairs from the curve and the similarities found.
//!
//! The result is the same with any number of threads and any amount of memory.
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
//! let clusters = Clusters::of(&outcome, Linking::Kept, Keep::First)?;
//! assert_eq!(clusters.kept(), [0, 1, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod blocks;
mod budget;
mod candidates;
mod clusters;
mod components;
mod containment;
mod contents;
mod crowd;
mod error;
mod exhaustive;
mod gather;
#[cfg(feature = "index")]
pub mod index;
mod kept_sets;
mod missed;
mod outcome;
mod overlap;
mod parallel;
mod passages;
mod places;
mod search;
mod segments;
mod sets;
mod settings;
mod sign;
mod signature;
mod sorter;
mod source;
mod spill;
mod stages;
mod text;
mod units;
mod verify;
mod work;

pub use budget::least_memory;
pub use candidates::LARGEST_BUCKET;
pub use clusters::{Clusters, Keep, Linking};
pub use error::{Error, Result};
pub use exhaustive::all_similar_sets;
#[cfg(feature = "index")]
pub use index::Index;
pub use outcome::Outcome;
pub use overlap::{Benchmark, ItemHit, Matcher, Overlaps, PartHits, overlap};
pub use parallel::{deal, thread_count};
pub use passages::{
    Cut, Passage, PassageLookup, PassageSettings, PassageSteps, Passages, SharedPassage, SharedWindow,
    count_words, cut, repeated_passages,
};
pub use search::{Stage, Watch, near_duplicates, similar_sets};
pub use sets::{SetBuilder, SetCollection};
pub use settings::{Measure, Settings};
pub use signature::{pack_signature, signature_similarity};
pub use source::{Documents, Member, Shingled, Source, TakeText, Texts};
pub use text::{CHARACTERS, TextShingler};
pub use units::{FrequentUnit, RepeatedUnits, UnitKind, UnitLookup, UnitSettings, UnitsLeft, repeated_units};
pub use work::WorkFolder;
