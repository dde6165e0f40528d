//! The merge of two sketches.

use super::item::RankItem;
use super::{Level, Pending, RankSketch};
use crate::error::{Error, Result};
use crate::sketch::Merge;

impl<T: RankItem> RankSketch<T> {
    /// Merges another sketch into this one. The result is a sketch of all values of both, with the
    /// same guarantee. The random numbers come from this sketch's generator.
    ///
    /// # Errors
    /// If sizes, accuracies or schemes differ. The sketch is unchanged then.
    ///
    /// ```
    /// use crivo::quantiles::NumberQuantiles;
    /// let (mut monday, mut tuesday) = (NumberQuantiles::for_bound(0.01, 1)?, NumberQuantiles::for_bound(0.01, 2)?);
    /// monday.insert_all(&[1.0, 2.0, 4.0]);
    /// tuesday.insert(3.0);
    /// monday.merge(&tuesday)?;
    /// assert_eq!((monday.count(), monday.quantile(0.5).map(|median| median.value())), (4, Some(2.0)));
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.scheme.require_same(other.scheme)?;
        let advice = "only sketches of one size and accuracy can be merged";
        if self.size != other.size {
            return Err(Error::incompatible("size", self.size, other.size, advice));
        }
        if self.accuracy != other.accuracy {
            let names = (self.accuracy.name(), other.accuracy.name());
            return Err(Error::incompatible("accuracy", names.0, names.1, advice));
        }
        self.unordered = self.unordered.saturating_add(other.unordered);
        let Some((least, greatest)) = &other.ends else { return Ok(()) };
        self.widen(least);
        self.widen(greatest);
        if let Some(count) = self.count.checked_add(other.count).filter(|&count| count < u64::MAX) {
            self.count = count;
        } else {
            self.saturate();
            return Ok(());
        }
        self.take_levels(other);
        self.make_room();
        Ok(())
    }

    fn take_levels(&mut self, other: &Self) {
        while self.sampler.level < other.sampler.level {
            self.raise_lowest_level();
        }
        let below = usize::from(self.sampler.level - other.sampler.level);
        for (position, level) in other.levels.iter().enumerate() {
            match position.checked_sub(below) {
                None => {
                    let weight = 1 << (usize::from(other.sampler.level) + position);
                    level.items.iter().for_each(|item| self.sample(item, weight));
                }
                Some(mine) => self.take_level(mine, level),
            }
        }
        if let Some(item) = other.sampler.held.as_ref().filter(|_| other.sampler.seen > 0) {
            self.place(item, other.sampler.seen);
        }
        self.compacted = self.compacted.saturating_add(other.compacted);
        self.sampled = self.sampled.saturating_add(other.sampled);
        self.most_error = self.most_error.saturating_add(other.most_error);
        self.profile.merge(&other.profile);
    }

    fn take_level(&mut self, position: usize, theirs: &Level<T>) {
        if position >= self.levels.len() {
            self.levels.resize_with(position + 1, Level::new);
        }
        let mine = &mut self.levels[position];
        mine.items.extend_from_slice(&theirs.items);
        self.retained += theirs.items.len();
        // As in REQ, the schedule of the merged level continues from the bitwise or of both numbers
        // of compactions.
        mine.compactions |= theirs.compactions;
        match (&mine.pending, &theirs.pending) {
            (None, pending) => mine.pending.clone_from(pending),
            // The other sketch's compaction stays without a counterpart.
            (Some(_), Some(Pending { region: Some((low, high)), .. })) => {
                self.profile.add(low.clone(), high.clone(), 1 << (2 * position));
            }
            (Some(_), _) => {}
        }
        self.set_capacity();
    }
}

impl<T: RankItem> Merge for RankSketch<T> {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }

    fn reseed(&mut self, part: u64) {
        self.generator = self.generator.fork(part);
    }
}
