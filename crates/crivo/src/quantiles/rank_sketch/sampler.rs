//! Values far below the top are not worth sorting: one of each `2^s` is drawn, and stands for all
//! of them.
//!
//! A block's value is the one at a place that was drawn before the block began, so that the others
//! are passed over. What a draw adds to the variance is at most `4^s/4`. The lowest level is so far
//! below the top that all draws together stay below a sixteenth of the variance.

use super::item::RankItem;
use super::{Level, RankSketch};

/// Draws one value of each block of `2^level`.
#[derive(Debug, Clone)]
pub(super) struct Sampler<T> {
    /// The base-2 logarithm of the length of a block; 0 if nothing is sampled.
    pub(super) level: u8,
    /// How much of the block was seen.
    pub(super) seen: u64,
    /// Which place of the block is kept.
    pub(super) pick: u64,
    /// The value kept: the block's first until the place is reached.
    pub(super) held: Option<T>,
}

impl<T> Sampler<T> {
    pub(super) fn new() -> Self {
        Self { level: 0, seen: 0, pick: 0, held: None }
    }

    pub(super) fn block(&self) -> u64 {
        1 << self.level
    }
}

impl<T: RankItem> RankSketch<T> {
    /// Shows the sampler one value.
    #[inline]
    pub(super) fn take_one(&mut self, item: T) {
        let sampler = &mut self.sampler;
        if sampler.seen == sampler.pick || sampler.seen == 0 {
            sampler.held = Some(item);
        }
        sampler.seen += 1;
        if sampler.seen == sampler.block() {
            self.end_block();
        }
    }

    /// Shows the sampler a value with a weight below that of a block.
    pub(super) fn sample(&mut self, item: &T, weight: u64) {
        let sampler = &mut self.sampler;
        let fits = weight.min(sampler.block() - sampler.seen);
        self.skip_to(item, fits);
        let left = weight - fits;
        if left > 0 {
            self.skip_to(item, left);
        }
    }

    /// Shows the sampler a value `weight` times, no more than are left of the block.
    fn skip_to(&mut self, item: &T, weight: u64) {
        let sampler = &mut self.sampler;
        let end = sampler.seen + weight;
        if sampler.seen == 0 || (sampler.seen..end).contains(&sampler.pick) {
            sampler.held = Some(item.clone());
        }
        sampler.seen = end;
        if end == sampler.block() {
            self.end_block();
        }
    }

    /// Moves the block's value into the lowest level, and draws the place of the next.
    pub(super) fn end_block(&mut self) {
        let level = u32::from(self.sampler.level);
        if let Some(item) = self.sampler.held.take() {
            self.push(0, item);
        }
        self.sampled = self.sampled.saturating_add(1 << (2 * level));
        self.most_error = self.most_error.saturating_add(1 << level);
        self.begin_block();
    }

    fn begin_block(&mut self) {
        let level = u32::from(self.sampler.level);
        self.sampler.seen = 0;
        self.sampler.pick = self.generator.bits() >> (64 - level);
    }

    /// Compacts the lowest level away: from now on blocks of twice the length are sampled.
    pub(super) fn raise_lowest_level(&mut self) {
        if self.levels.len() < 2 {
            self.levels.resize_with(2, Level::new);
        }
        let level = u32::from(self.sampler.level);
        if self.levels[0].items.len() > 1 {
            self.compact_all(0);
        }
        let Level { items, .. } = self.levels.remove(0);
        self.retained -= items.len();
        let (partial, seen) = (self.sampler.held.take(), self.sampler.seen);
        self.sampler.level += 1;
        self.begin_block();
        if let Some(item) = partial.filter(|_| seen > 0) {
            self.sample(&item, seen);
        }
        for item in items {
            self.sample(&item, 1 << level);
        }
        self.set_capacity();
    }
}
