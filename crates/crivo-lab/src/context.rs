//! The environment of an experiment, which is its only input.

use std::cell::RefCell;
use std::time::Instant;

use crivo::keys::KeyScheme;

use crate::error::{Error, Result};
use crate::inputs::Inputs;
use crate::random::Random;
use crate::runner::Watch;

/// The size of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// As small as its tests allow, for the project's own test suite.
    Tiny,
    /// A few seconds for each experiment.
    #[default]
    Usual,
    /// The sizes in the original texts.
    Seed,
}

impl Scale {
    /// Returns its name on the command line and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tiny => "tiny",
            Self::Usual => "usual",
            Self::Seed => "seed",
        }
    }
}

/// The environment of one experiment.
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
    /// Creates the context of the experiment with this name.
    pub fn new(
        name: &'static str,
        seed: u64,
        scale: Scale,
        inputs: &'a Inputs,
        watch: &'a dyn Watch,
    ) -> Self {
        Self { name, seed, scale, inputs, watch, times: RefCell::default() }
    }

    /// Returns the size of the experiment.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// Returns the files that the user has given.
    pub fn inputs(&self) -> &'a Inputs {
        self.inputs
    }

    /// Returns one of three values: for the smallest, the usual and the original's size.
    pub fn size<T>(&self, tiny: T, usual: T, seed: T) -> T {
        match self.scale {
            Scale::Tiny => tiny,
            Scale::Usual => usual,
            Scale::Seed => seed,
        }
    }

    /// Returns the generator of a part of this experiment. Its seed is the hash of both names under
    /// the seed of the run. So the numbers of a part do not depend on what another part draws.
    pub fn random(&self, part: &str) -> Random {
        let text = format!("{}/{part}", self.name);
        // Text is always a valid key of this scheme.
        Random::new(KeyScheme::bytes().with_seed(self.seed).hash(text.as_str()).unwrap_or(self.seed))
    }

    /// Reports the progress of the experiment.
    ///
    /// # Errors
    /// [`Error::Stopped`] if the watcher has stopped the run.
    pub fn advance(&self, done: usize, of: usize) -> Result<()> {
        if self.watch.stopped() {
            return Err(Error::Stopped);
        }
        self.watch.advance(self.name, done as f64 / of.max(1) as f64);
        Ok(())
    }

    /// Runs `work` and notes its time. Times are kept apart from results, because they never
    /// repeat.
    pub fn timed<T>(&self, what: impl Into<String>, work: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let result = work();
        self.times.borrow_mut().push((what.into(), began.elapsed().as_secs_f64()));
        result
    }

    /// Returns the noted times, in seconds.
    pub fn into_times(self) -> Vec<(String, f64)> {
        self.times.into_inner()
    }

    /// Returns the last noted time.
    pub(crate) fn last_time(&self) -> f64 {
        self.times.borrow().last().map_or(0.0, |(_, seconds)| *seconds)
    }
}
