//! Levels and their compaction.

use super::item::RankItem;
use super::{Accuracy, Level, Pending, RankSketch};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The least capacity of a level.
const LEAST_CAPACITY: usize = 8;

/// A level keeps the memory for this many values, which most compactions of the lowest levels find.
const LEAST_MEMORY: usize = 32;

/// Returns how many levels below the top the lowest one is: sampling below that adds at most a
/// sixteenth to the variance, which is `k/(4·2^depth)`.
fn depth_for(size: u32) -> usize {
    (size.next_power_of_two().trailing_zeros() + 2) as usize
}

/// The number of values that a level is made for, counted from the top.
fn capacity_at(size: u32, depth: usize) -> usize {
    let mut capacity = size as f64;
    for _ in 0..depth {
        capacity *= 2.0 / 3.0;
    }
    (capacity.ceil() as usize).max(LEAST_CAPACITY)
}

/// [`capacity_at`] of each depth, which every compaction asks for several times.
#[derive(Debug, Clone)]
pub(super) struct LevelCapacities([u32; Self::DEPTHS]);

impl LevelCapacities {
    /// Deeper levels than these are not kept, whatever the size.
    const DEPTHS: usize = 24;

    pub(super) fn new(size: u32) -> Self {
        Self(std::array::from_fn(|depth| capacity_at(size, depth) as u32))
    }

    fn at(&self, depth: usize) -> usize {
        self.0[depth.min(Self::DEPTHS - 1)] as usize
    }
}

/// The size of a section and the number of sections on each side, after that many compactions.
///
/// As in REQ the number doubles and the size shrinks by √2 whenever the schedule has used up all
/// sections.
pub(super) fn sections(size: u32, compactions: u64) -> (usize, usize) {
    let (mut section, mut count) = (f64::from(size), 3_u32);
    while count < 64 && compactions >= 1 << (count - 1) && section / std::f64::consts::SQRT_2 >= 4.0 {
        section /= std::f64::consts::SQRT_2;
        count *= 2;
    }
    // An even number, so that pairs do not cross its border.
    (2 * (section / 2.0).round() as usize, count as usize)
}

/// The number of values at which a level that protects its ends is compacted.
pub(super) fn tails_capacity(size: u32, compactions: u64) -> usize {
    let (section, count) = sections(size, compactions);
    4 * section * count
}

impl<T> RankSketch<T> {
    /// Returns how many of `count` values a sketch of that size keeps at most.
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
            // A compaction takes two sections of at least four values, and half of what a level is
            // given goes on to the next.
            Accuracy::Tails => (0..64)
                .map(|level| (count >> level).min(tails_capacity(size, (count >> level) / 8) as u64))
                .sum(),
        };
        most.min(count)
    }
}

impl<T: RankItem> RankSketch<T> {
    /// Sets how many values make the sketch compact.
    pub(super) fn set_capacity(&mut self) {
        self.capacity = match self.accuracy {
            Accuracy::Uniform => {
                let levels = self.levels.len().min(depth_for(self.size) + 1);
                (0..levels).map(|depth| self.level_capacities.at(depth)).sum()
            }
            // Only the lowest level grows one by one, and it has to be looked at when it is full.
            Accuracy::Tails => {
                let lowest = tails_capacity(self.size, self.levels[0].compactions);
                self.retained - self.levels[0].items.len() + lowest
            }
        };
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

    /// Compacts the lowest level above its capacity, until all levels together are below theirs.
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
            // All levels together are full, so that one of them is.
            let Some(level) = (0..levels).find(is_full) else { return };
            self.compact_all(level);
        }
    }

    /// Compacts every level above its capacity.
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

    /// Compacts what lies between the protected ends of a level.
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
            // The counterpart keeps what the first would have dropped. Where one of the two changed
            // ranks, both together err as one of them.
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
        // The one of each pair that is kept changes places with what stands at the beginning, so
        // that both moves are of one piece.
        let pairs = &mut items[from..to];
        for pair in 0..kept {
            pairs.swap(pair, 2 * pair + usize::from(keeps_second));
        }
        upper[0].items.extend(items.drain(from..from + kept));
        items.drain(from..to - kept);
        self.retained -= kept;
        // A level grows beyond its capacity while others leave it room; that memory is theirs
        // again.
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
