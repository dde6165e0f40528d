//! The engine's searches end at Ctrl-C, as passes over rows do, and show how far they are.

use std::sync::OnceLock;

use crivo_near::{Stage, Watch};

use crate::corpus::Corpus;
use crate::interrupt;
use crate::output::{Meter, Output};

/// Stops a search when the user asks for it.
pub(crate) struct Interruptible;

impl Watch for Interruptible {
    fn begin(&self, _: Stage) {}

    fn stopped(&self) -> bool {
        interrupt::is_requested()
    }
}

/// Shows the stages of a search over documents, and stops it when the user asks for it.
pub(crate) struct SearchProgress<'a> {
    corpus: &'a Corpus<'a>,
    out: &'a Output,
    comparing: OnceLock<Meter>,
}

impl<'a> SearchProgress<'a> {
    pub(crate) fn new(corpus: &'a Corpus<'a>, out: &'a Output) -> Self {
        Self { corpus, out, comparing: OnceLock::new() }
    }
}

impl Watch for SearchProgress<'_> {
    fn begin(&self, stage: Stage) {
        // Stages that read have a bar for each reading.
        self.corpus.set_stage(match stage {
            Stage::Signing => "1/4 signing",
            Stage::Pairing => "2/4 pairing",
            Stage::Gathering => "3/4 gathering",
            Stage::Comparing => "4/4 comparing",
        });
    }

    fn advance(&self, _: Stage, done: u64, total: u64) {
        let meter = self.comparing.get_or_init(|| Meter::of_stage("4/4 comparing", self.out));
        meter.show_parts(done, total);
    }

    fn stopped(&self) -> bool {
        interrupt::is_requested()
    }
}
