//! A receiver for the values that a profile has parsed, so that other parts of a column do not
//! parse them again.

use super::Parsed;
use crate::profile::DDSketch;

/// Receives the values of a batch after the profile has parsed them.
pub(in crate::profile) trait ValueSink {
    /// Receives a value that occurred `weight` times.
    fn value(&mut self, text: &[u8], parsed: Parsed, weight: u64);

    /// Receives a finite number that occurred `weight` times.
    fn number(&mut self, number: f64, weight: u64);

    /// Receives finite numbers that occurred once each, in the order of their rows.
    fn numbers(&mut self, numbers: &[f64]);
}

/// Ignores everything.
impl ValueSink for () {
    fn value(&mut self, _: &[u8], _: Parsed, _: u64) {}

    fn number(&mut self, _: f64, _: u64) {}

    fn numbers(&mut self, _: &[f64]) {}
}

/// The number of numbers collected before they are passed on: 4 KiB, which stay in the cache.
const COLLECTED: usize = 512;

/// A buffer of finite numbers that are counted together.
pub(super) struct NumberBuffer {
    numbers: [f64; COLLECTED],
    len: usize,
}

impl NumberBuffer {
    pub(super) fn new() -> Self {
        Self { numbers: [0.0; COLLECTED], len: 0 }
    }

    #[inline]
    pub(super) fn push(&mut self, number: f64, sketch: &mut DDSketch, sink: &mut impl ValueSink) {
        self.numbers[self.len] = number;
        self.len += 1;
        if self.len == COLLECTED {
            self.flush(sketch, sink);
        }
    }

    #[inline(never)]
    pub(super) fn flush(&mut self, sketch: &mut DDSketch, sink: &mut impl ValueSink) {
        let numbers = &self.numbers[..self.len];
        sketch.insert_all(numbers);
        sink.numbers(numbers);
        self.len = 0;
    }
}
