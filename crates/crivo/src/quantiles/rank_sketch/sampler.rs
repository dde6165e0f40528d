//! Sampling of values far below the top level, which are not worth sorting. Of each `2^s` values
//! one is drawn, and represents all of them.
//!
//! The place of the drawn value is chosen before its block begins, so that the other values are
//! skipped. A draw adds at most `4^s/4` to the variance. The lowest level is so far below the top
//! that all draws together stay below a sixteenth of the variance.

use super::item::RankItem;
use super::{Level, RankSketch};

/// Draws one value of each block of `2^level`.
#[derive(Debug, Clone)]
pub(super) struct Sampler<T> {
    /// The base-2 logarithm of the length of a block; 0 if nothing is sampled.
    pub(super) level: u8,
    /// The number of values of the block seen so far.
    pub(super) seen: u64,
    /// The place within the block whose value is kept.
    pub(super) pick: u64,
    /// The kept value. It is the block's first value until the place is reached.
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
    /// Adds one value to the sampler.
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

    /// Adds a value with a weight below that of a block to the sampler.
    pub(super) fn sample(&mut self, item: &T, weight: u64) {
        let sampler = &mut self.sampler;
        let fits = weight.min(sampler.block() - sampler.seen);
        self.skip_to(item, fits);
        let left = weight - fits;
        if left > 0 {
            self.skip_to(item, left);
        }
    }

    /// Adds a value `weight` times, which must not be more than the block has room for.
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

    /// Moves the block's value into the lowest level, and draws the place of the next block.
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

    /// Removes the lowest level by compaction. From now on blocks of twice the length are sampled.
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
