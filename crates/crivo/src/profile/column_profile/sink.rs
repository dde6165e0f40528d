//! What else is kept of a column takes the values that a profile has parsed, so that each is parsed
//! once.

use super::Parsed;
use crate::profile::DDSketch;

/// Takes the values of a batch after the profile has parsed them.
pub(in crate::profile) trait ValueSink {
    /// Takes a value that came `weight` times.
    fn value(&mut self, text: &[u8], parsed: Parsed, weight: u64);

    /// Takes a finite number that came `weight` times.
    fn number(&mut self, number: f64, weight: u64);

    /// Takes finite numbers that came once each, in the order of their rows.
    fn numbers(&mut self, numbers: &[f64]);
}

/// Takes nothing.
impl ValueSink for () {
    fn value(&mut self, _: &[u8], _: Parsed, _: u64) {}

    fn number(&mut self, _: f64, _: u64) {}

    fn numbers(&mut self, _: &[f64]) {}
}

/// How many numbers are collected before they are handed on: 4 KiB, which stay in the cache.
const COLLECTED: usize = 512;

/// Finite numbers that wait until they are counted together.
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
