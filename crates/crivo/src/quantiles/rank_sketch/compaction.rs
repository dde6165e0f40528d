//! Levels and their compaction.

use super::item::RankItem;
use super::{Accuracy, Level, Pending, RankSketch};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The least capacity of a level.
const LEAST_CAPACITY: usize = 8;

/// A level keeps memory for at least this many values, which is enough for most compactions of the
/// lowest levels.
const LEAST_MEMORY: usize = 32;

/// Returns how many levels the lowest level is below the top. Sampling below it adds at most a
/// sixteenth to the variance: its share is `k/(4·2^depth)`.
fn depth_for(size: u32) -> usize {
    (size.next_power_of_two().trailing_zeros() + 2) as usize
}

/// Returns the capacity of the level that is `depth` levels below the top.
fn capacity_at(size: u32, depth: usize) -> usize {
    let mut capacity = size as f64;
    for _ in 0..depth {
        capacity *= 2.0 / 3.0;
    }
    (capacity.ceil() as usize).max(LEAST_CAPACITY)
}

/// The [`capacity_at`] each depth, stored because every compaction needs several of them. They are
/// on the heap, so that [`AnySketch`](crate::codec::AnySketch) stays small.
#[derive(Debug, Clone)]
pub(super) struct LevelCapacities(Box<[u32; Self::DEPTHS]>);

impl LevelCapacities {
    /// The number of depths stored. Sketches of any size keep no deeper levels.
    const DEPTHS: usize = 24;

    pub(super) fn new(size: u32) -> Self {
        Self(Box::new(std::array::from_fn(|depth| capacity_at(size, depth) as u32)))
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.0)
    }

    fn at(&self, depth: usize) -> usize {
        self.0[depth.min(Self::DEPTHS - 1)] as usize
    }
}

/// Returns the size of a section and the number of sections on each side, after `compactions`
/// compactions.
///
/// As in REQ the number of sections doubles, and their size shrinks by √2, whenever the schedule
/// has used all sections.
pub(super) fn sections(size: u32, compactions: u64) -> (usize, usize) {
    let (mut section, mut count) = (f64::from(size), 3_u32);
    while count < 64 && compactions >= 1 << (count - 1) && section / std::f64::consts::SQRT_2 >= 4.0 {
        section /= std::f64::consts::SQRT_2;
        count *= 2;
    }
    // The size is even, so that no pair crosses a section's border.
    (2 * (section / 2.0).round() as usize, count as usize)
}

/// Returns the number of values at which a level with protected ends is compacted.
pub(super) fn tails_capacity(size: u32, compactions: u64) -> usize {
    let (section, count) = sections(size, compactions);
    4 * section * count
}

impl<T> RankSketch<T> {
    /// Returns the largest number of values that a sketch of this size keeps of `count` values.
    ///
    /// ```
    /// use crivo::quantiles::{Accuracy, NumberQuantiles};
    /// let most = NumberQuantiles::most_retained(220, Accuracy::Uniform, 1_000_000);
    /// let mut sketch = NumberQuantiles::new(220, Accuracy::Uniform, 7)?;
    /// (0..1_000_000).for_each(|number| sketch.insert(f64::from(number)));
    /// assert!((sketch.retained() as u64) <= most && most < 800);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn most_retained(size: u32, accuracy: Accuracy, count: u64) -> u64 {
        let most = match accuracy {
            Accuracy::Uniform => {
                let levels = (0..=depth_for(size)).map(|depth| capacity_at(size, depth) as u64);
                levels.sum::<u64>() + 1
            }
            // A compaction takes two sections of at least four values each, and half of a level's
            // values move up to the next level.
            Accuracy::Tails => (0..64)
                .map(|level| (count >> level).min(tails_capacity(size, (count >> level) / 8) as u64))
                .sum(),
        };
        most.min(count)
    }
}

impl<T: RankItem> RankSketch<T> {
    /// Sets the number of retained values at which the sketch is compacted.
    pub(super) fn set_capacity(&mut self) {
        self.capacity = match self.accuracy {
            Accuracy::Uniform => {
                let levels = self.levels.len().min(depth_for(self.size) + 1);
                (0..levels).map(|depth| self.level_capacities.at(depth)).sum()
            }
            // The capacity is about the lowest level only, which grows one value at a time. Weights
            // fill the others, see `has_filled`.
            Accuracy::Tails => {
                let lowest = tails_capacity(self.size, self.levels[0].compactions);
                self.retained - self.levels[0].items.len() + lowest
            }
        };
    }

    /// Returns true if each level has a capacity of its own, and a value of this weight has filled
    /// one of the levels above the lowest.
    pub(super) fn has_filled(&self, weight: u64) -> bool {
        let is_full = |level: &Level<T>| level.items.len() >= tails_capacity(self.size, level.compactions);
        let mut levels = self.levels.iter().enumerate().skip(1);
        self.accuracy == Accuracy::Tails
            && levels.any(|(position, level)| weight >> position & 1 == 1 && is_full(level))
    }

    /// Compacts until there is room for a value.
    #[cold]
    #[inline(never)]
    pub(super) fn make_room(&mut self) {
        match self.accuracy {
            Accuracy::Uniform => self.make_room_anywhere(),
            Accuracy::Tails => self.make_room_in_each_level(),
        }
    }

    /// Compacts the lowest full level, until the sketch is below the total capacity of its levels.
    fn make_room_anywhere(&mut self) {
        while self.retained >= self.capacity {
            let levels = self.levels.len();
            if levels > depth_for(self.size) + 1 {
                self.raise_lowest_level();
                continue;
            }
            let is_full = |level: &usize| {
                self.levels[*level].items.len() >= self.level_capacities.at(levels - 1 - level)
            };
            // The levels together are full, so at least one of them is.
            let Some(level) = (0..levels).find(is_full) else { return };
            self.compact_all(level);
        }
    }

    /// Compacts every level that has reached its capacity.
    fn make_room_in_each_level(&mut self) {
        let mut level = 0;
        while level < self.levels.len() {
            while self.levels[level].items.len() >= tails_capacity(self.size, self.levels[level].compactions)
            {
                self.compact_middle(level);
            }
            level += 1;
        }
        self.set_capacity();
    }

    /// Compacts a whole level.
    pub(super) fn compact_all(&mut self, level: usize) {
        let len = self.levels[level].items.len();
        T::sort(&mut self.levels[level].items);
        self.compact(level, 0, len, None);
    }

    /// Compacts the values between the protected ends of a level.
    fn compact_middle(&mut self, level: usize) {
        let Level { items, compactions, .. } = &mut self.levels[level];
        T::sort(items);
        let (section, count) = sections(self.size, *compactions);
        let taken = (compactions.trailing_ones() as usize + 1).min(count);
        let kept = section * (2 * count - taken);
        let (from, to) = (kept, items.len() - kept);
        let region = Some((items[from].clone(), items[to - 1].clone()));
        *compactions = compactions.saturating_add(1);
        self.compact(level, from, to, region);
    }

    /// Moves every other value of a sorted range one level up and drops the rest.
    fn compact(&mut self, level: usize, mut from: usize, mut to: usize, region: Option<(T, T)>) {
        if level + 1 == self.levels.len() {
            self.levels.push(Level::new());
            self.set_capacity();
        }
        let coins = self.generator.bits();
        let is_shifted = coins & 1 == 1;
        match ((to - from) % 2 == 1, is_shifted) {
            (true, true) => from += 1,
            (true, false) => to -= 1,
            (false, true) => (from, to) = (from + 1, to - 1),
            (false, false) => {}
        }
        let weight_bits = u32::from(self.sampler.level) + level as u32;
        let variance = 1_u128 << (2 * weight_bits);
        let keeps_second = if let Some(Pending { coin, region: first }) = self.levels[level].pending.take() {
            // The counterpart keeps the values that the first compaction would have dropped. So
            // within the union of both regions the two together err at most as much as one of them.
            if let Some(((low, high), (other_low, other_high))) = region.zip(first) {
                self.profile.add(low.min(other_low), high.max(other_high), variance);
            }
            !coin
        } else {
            let coin = coins & 2 == 2;
            self.compacted = self.compacted.saturating_add(variance);
            self.most_error = self.most_error.saturating_add(1 << weight_bits);
            self.levels[level].pending = Some(Pending { coin, region });
            coin
        };
        let (lower, upper) = self.levels.split_at_mut(level + 1);
        let (items, kept) = (&mut lower[level].items, (to - from) / 2);
        // Swap the kept value of each pair to the front of the range. Then the kept values are
        // contiguous, and so are the dropped ones.
        let pairs = &mut items[from..to];
        for pair in 0..kept {
            pairs.swap(pair, 2 * pair + usize::from(keeps_second));
        }
        upper[0].items.extend(items.drain(from..from + kept));
        items.drain(from..to - kept);
        self.retained -= kept;
        // A level grows beyond its capacity while other levels leave room. Give that memory back.
        let usual = match self.accuracy {
            Accuracy::Uniform => {
                (2 * self.level_capacities.at(self.levels.len() - 1 - level)).max(LEAST_MEMORY)
            }
            Accuracy::Tails => tails_capacity(self.size, self.levels[level].compactions),
        };
        self.levels[level].items.shrink_to(usual);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacities_fall_by_a_third() {
        let capacities: Vec<usize> = (0..7).map(|depth| capacity_at(200, depth)).collect();
        assert_eq!(capacities, [200, 134, 89, 60, 40, 27, 18]);
        assert_eq!(capacity_at(200, 20), LEAST_CAPACITY);
        assert_eq!(depth_for(200), 10);
    }

    #[test]
    fn sections_double_as_the_schedule_runs_out() {
        assert_eq!(sections(12, 0), (12, 3));
        assert_eq!(sections(12, 3), (12, 3));
        assert_eq!(sections(12, 4), (8, 6));
        assert_eq!(sections(12, 32), (6, 12));
        assert_eq!(sections(12, 1 << 40), (4, 24));
        assert_eq!(tails_capacity(12, 0), 144);
    }
}
