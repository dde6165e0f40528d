//! Tests theory by experiments: every experiment of four teaching texts, with crivo's own sketches.
//!
//! The texts ask their readers to simulate and compare. This crate does all of it, and no result is
//! judged by eye. An experiment measures and compares each number with the theory, and a stated
//! statistical test decides whether the two agree. Most claims are confirmed. Some are refuted
//! because the text is wrong. Then that is the expected verdict of the experiment.
//!
//! | subject | item |
//! |---|---|
//! | the definition of an experiment, and the list of all | [`Experiment`], [`experiments`],
//! [`find`] |
//! | its environment: scale, randomness, files, a watcher | [`Context`], [`Settings`], [`Inputs`] |
//! | numbers beside their theory | [`Section`], [`ExperimentReport`] |
//! | the tests and their quantiles | [`mod@test`] |
//! | the result as a table | [`ExperimentReport::csv`] |
//! | running many at once | [`run`], [`Outcome`] |
//! | one page with all results | [`page`] |
//! | the experiments themselves | one file each, in a folder for each module of the library |
//!
//! # Repeatable results
//!
//! Every experiment draws from its own generator, seeded by its name and the seed of the run. So
//! its table is the same, byte for byte, with any other experiments and any number of threads.
//! Times are kept apart.
//!
//! # Certainty of a verdict
//!
//! All checks of one experiment together reject a correct implementation with a probability of at
//! most 10⁻⁶, with any seed. Each of `n` checks is made at the level `10⁻⁷/n`, which leaves a
//! factor of ten for approximations.
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
mod prelude;
mod random;
mod report;
mod runner;
mod sampling;
mod section;
mod similarity;
pub mod test;

pub use context::{Context, Scale};
pub use error::{Error, Result};
pub use experiment::{Experiment, Source, Text, experiments, find};
pub use inputs::{Inputs, Ratings};
pub use random::Random;
pub use report::{ExperimentReport, Published, Verdict};
pub use runner::{Outcome, Settings, Watch, run};
pub use section::{Role, Section};
