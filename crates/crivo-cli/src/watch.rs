//! Progress of the engine's searches. Ctrl-C ends them, as it ends passes over rows.

use std::sync::{Mutex, PoisonError};

use crivo_near::{Stage, Watch};

use crate::corpus::Corpus;
use crate::interrupt;
use crate::output::{Meter, Output, RunStage};

/// Stops a search when the user requests it.
pub(crate) struct Interruptible;

impl Watch for Interruptible {
    fn begin(&self, _: Stage) {}

    fn stopped(&self) -> bool {
        interrupt::is_requested()
    }
}

/// Shows the stages of a search over documents, and stops it when the user requests it.
pub(crate) struct SearchProgress<'a> {
    corpus: &'a Corpus<'a>,
    out: &'a Output,
    /// The meter of a stage that reads no documents. Created at its first part.
    parts: Mutex<Option<(Stage, Meter)>>,
}

impl<'a> SearchProgress<'a> {
    pub(crate) fn new(corpus: &'a Corpus<'a>, out: &'a Output) -> Self {
        Self { corpus, out, parts: Mutex::default() }
    }
}

/// Returns how a stage is shown. The times of later stages were measured with a million documents
/// in a quarter of a gigabyte, a third of them copies.
fn shown(stage: Stage) -> RunStage {
    match stage {
        Stage::Signing => RunStage { name: "1/4 signing", after: 0.5 },
        Stage::Pairing => RunStage { name: "2/4 pairing", after: 3.0 },
        Stage::Gathering => RunStage { name: "3/4 gathering", after: 0.2 },
        Stage::Comparing => RunStage { name: "4/4 comparing", after: 0.0 },
    }
}

impl Watch for SearchProgress<'_> {
    fn begin(&self, stage: Stage) {
        // Stages that read documents show a bar for each reading.
        self.corpus.set_stage(shown(stage));
        *self.parts.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn advance(&self, stage: Stage, done: u64, total: u64) {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, meter) = parts.get_or_insert_with(|| (stage, Meter::of_stage(shown(stage), self.out)));
        if *known == stage {
            meter.show_parts(done, total);
        }
    }

    fn stopped(&self) -> bool {
        interrupt::is_requested()
    }
}
