//! Does theory hold? Every experiment of four teaching texts, done with crivo's own sketches.
//!
//! The texts ask their readers to simulate and compare. This crate does all of it, and no result is
//! judged by eye: an experiment measures, puts each number beside the one that theory gives, and a
//! stated statistical test says whether the two agree. Most claims are confirmed. Some are refuted,
//! because the text that makes them is wrong, and then that is the verdict the experiment is
//! expected to reach.
//!
//! | part | home |
//! |---|---|
//! | what an experiment is, and the list of all | [`Experiment`], [`experiments`], [`find`] |
//! | what it is given: scale, randomness, files, a watcher | [`Context`], [`Settings`], [`Inputs`] |
//! | numbers beside their theory | [`Part`], [`Report`] |
//! | the tests and their quantiles | [`mod@test`] |
//! | what came out, as a table | [`Report::csv`] |
//! | running many at once | [`run`], [`Outcome`] |
//! | one page with everything | [`page`] |
//! | the experiments themselves | one file each, in a folder for each module of the library |
//!
//! # What repeats
//!
//! Every experiment draws from a generator of its own, seeded by its name and the seed of the run.
//! So its table is the same, byte for byte, whichever others run beside it and on however many
//! threads. Times are kept apart.
//!
//! # How sure a verdict is
//!
//! All checks of one experiment together reject a correct implementation with a probability of at
//! most 10⁻⁶, with any seed: each of `n` checks is made at the level `10⁻⁷/n`, which leaves a
//! factor of ten for what is approximated.
//!
//! ```
//! use crivo_lab::{Scale, Settings, find, run};
//!
//! let settings = Settings { scale: Scale::Tiny, ..Settings::default() };
//! let outcomes = run(&[find("optimum-k")?], &settings, &());
//! assert!(outcomes[0].is_expected());
//! # Ok::<(), crivo_lab::Error>(())
//! ```

#![forbid(unsafe_code)]

mod applications;
mod context;
mod counting;
mod distinct;
mod errata;
mod error;
mod experiment;
mod figure;
mod frequency;
mod hashing;
mod inputs;
mod membership;
pub mod page;
mod part;
mod prelude;
mod random;
mod report;
mod runner;
mod sampling;
mod similarity;
pub mod test;

pub use context::{Context, Scale};
pub use error::{Error, Result};
pub use experiment::{Experiment, Source, Text, experiments, find};
pub use inputs::{Inputs, Ratings};
pub use part::{Part, Role};
pub use random::Random;
pub use report::{Published, Report, Verdict};
pub use runner::{Outcome, Settings, Watch, run};
