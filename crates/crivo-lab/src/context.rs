//! What an experiment is given, and all it is given.

use std::cell::RefCell;
use std::time::Instant;

use crivo::keys::KeyScheme;

use crate::error::{Error, Result};
use crate::inputs::Inputs;
use crate::random::Random;
use crate::runner::Watch;

/// How large an experiment is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// As small as its tests allow: for the project's own test suite.
    Tiny,
    /// A few seconds each.
    #[default]
    Usual,
    /// The sizes of the original texts.
    Seed,
}

impl Scale {
    /// Its name on the command line and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tiny => "tiny",
            Self::Usual => "usual",
            Self::Seed => "seed",
        }
    }
}

/// The surroundings of one experiment.
#[derive(Debug)]
pub struct Context<'a> {
    name: &'static str,
    seed: u64,
    scale: Scale,
    inputs: &'a Inputs,
    watch: &'a dyn Watch,
    times: RefCell<Vec<(String, f64)>>,
}

impl<'a> Context<'a> {
    /// For the experiment of this name.
    pub fn new(
        name: &'static str,
        seed: u64,
        scale: Scale,
        inputs: &'a Inputs,
        watch: &'a dyn Watch,
    ) -> Self {
        Self { name, seed, scale, inputs, watch, times: RefCell::default() }
    }

    /// How large the experiment is made.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// The files that were brought.
    pub fn inputs(&self) -> &'a Inputs {
        self.inputs
    }

    /// One of three sizes: as small as can be, usual, and the original's.
    pub fn size<T>(&self, tiny: T, usual: T, seed: T) -> T {
        match self.scale {
            Scale::Tiny => tiny,
            Scale::Usual => usual,
            Scale::Seed => seed,
        }
    }

    /// The generator of a part of this experiment: its seed is the hash of both names under the
    /// seed of the run, so that no part's numbers depend on what another part drew.
    pub fn random(&self, part: &str) -> Random {
        let text = format!("{}/{part}", self.name);
        // Text is always a key of this scheme.
        Random::new(KeyScheme::bytes().with_seed(self.seed).hash(text.as_str()).unwrap_or(self.seed))
    }

    /// Reports the progress of the experiment.
    ///
    /// # Errors
    /// [`Error::Stopped`] if the watcher asked to stop.
    pub fn advance(&self, done: usize, of: usize) -> Result<()> {
        if self.watch.stopped() {
            return Err(Error::Stopped);
        }
        self.watch.advance(self.name, done as f64 / of.max(1) as f64);
        Ok(())
    }

    /// Does something and notes how long it took. Times are kept apart from results: they never
    /// repeat.
    pub fn timed<T>(&self, what: impl Into<String>, work: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let result = work();
        self.times.borrow_mut().push((what.into(), began.elapsed().as_secs_f64()));
        result
    }

    /// What was timed, in seconds.
    pub fn into_times(self) -> Vec<(String, f64)> {
        self.times.into_inner()
    }

    /// The last time that was noted.
    pub(crate) fn last_time(&self) -> f64 {
        self.times.borrow().last().map_or(0.0, |(_, seconds)| *seconds)
    }
}
