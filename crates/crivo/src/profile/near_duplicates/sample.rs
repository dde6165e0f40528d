//! Decides which texts are in the sample.

use super::text::BANDS;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// A text is drawn singly with this many times the probability of its bucket in a band.
pub(super) const SINGLY: u64 = 2;
/// The number of texts kept of a bucket.
pub(super) const KEPT: usize = 16;

/// A text in the sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SampledText {
    pub(super) count: u64,
    pub(super) band_keys: [u64; BANDS],
    /// The smallest hashes of the runs, in ascending order.
    pub(super) runs: Box<[u32]>,
}

/// The sample that answers and bytes depend on: exactly the texts that are drawn at the threshold,
/// in ascending order of their hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextSample {
    pub(super) threshold: u64,
    pub(super) texts: Vec<(u64, SampledText)>,
}

/// Returns the rank of a text. The text is drawn, singly or in a bucket, if its rank is below the
/// threshold.
pub(super) fn rank(hash: u64, band_keys: &[u64; BANDS]) -> u64 {
    band_keys.iter().fold(hash / SINGLY, |least, key| least.min(*key))
}

impl TextSample {
    /// The threshold while all different texts are kept.
    pub(super) const ALL: u64 = u64::MAX;

    /// Reduces the texts, which are in ascending order of their hashes, to those that are drawn.
    ///
    /// The result does not depend on which texts were left out before. Thresholds lie on a fixed
    /// grid, and the largest one at which the drawn texts fit is chosen. More texts draw more at
    /// every threshold, so no part of a column has a lower threshold than the whole. A text that is
    /// not drawn from some texts is not drawn from more of them either.
    pub(super) fn new(texts: Vec<(u64, SampledText)>, threshold: u64, capacity: usize) -> Self {
        if threshold == Self::ALL && texts.len() <= capacity {
            return Self { threshold, texts };
        }
        let room = capacity * 7 / 8;
        let mut threshold = threshold;
        let mut drawn = Drawn::new(&texts, threshold);
        if drawn.places > room {
            let fits = |step: usize| grid(step) < threshold && Drawn::new(&texts, grid(step)).places <= room;
            let (mut low, mut high) = (0, GRID);
            while high - low > 1 {
                let middle = low.midpoint(high);
                if fits(middle) { low = middle } else { high = middle }
            }
            threshold = grid(low);
            drawn = Drawn::new(&texts, threshold);
        }
        let texts =
            texts.into_iter().zip(drawn.texts).filter_map(|(text, is_drawn)| is_drawn.then_some(text));
        Self { threshold, texts: texts.collect() }
    }

    /// Returns true if no text was left out.
    pub(super) fn is_all(&self) -> bool {
        self.threshold == Self::ALL
    }
}

/// The number of thresholds, without the one for all texts.
const GRID: usize = 1 + 58 * 64;

/// Returns a threshold by its number, in ascending order: 0, and all 64-bit numbers with seven
/// significant bits.
fn grid(step: usize) -> u64 {
    step.checked_sub(1).map_or(0, |step| (64 + step as u64 % 64) << (step / 64))
}

/// Returns true if `new` can have chosen this threshold.
pub(super) fn is_on_grid(threshold: u64) -> bool {
    threshold == TextSample::ALL
        || threshold == 0
        || threshold >= 64 && threshold.trailing_zeros() + 7 >= u64::BITS - threshold.leading_zeros()
}

/// The drawn texts.
#[derive(Debug)]
struct Drawn {
    texts: Vec<bool>,
    /// The number of drawings: a text counts once if drawn singly, and once for each drawn bucket.
    places: usize,
}

impl Drawn {
    fn new(texts: &[(u64, SampledText)], threshold: u64) -> Self {
        let mut drawn: Vec<bool> = texts.iter().map(|(hash, _)| hash / SINGLY < threshold).collect();
        let mut places = drawn.iter().filter(|drawn| **drawn).count();
        for band in 0..BANDS {
            let members = members(texts, band, threshold);
            for bucket in members.chunk_by(|one, other| one.key == other.key) {
                bucket.iter().take(KEPT).for_each(|member| drawn[member.text] = true);
                places += bucket.len().min(KEPT);
            }
        }
        Self { texts: drawn, places }
    }
}

/// A text in a bucket. Members sort by bucket, and within a bucket the ones that are kept come
/// first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Member {
    pub(super) key: u64,
    pub(super) next_key: u64,
    /// The index of the text among all texts.
    pub(super) text: usize,
}

/// Returns the texts in the drawn buckets of a band, bucket after bucket.
pub(super) fn members(texts: &[(u64, SampledText)], band: usize, threshold: u64) -> Vec<Member> {
    let drawn = texts.iter().enumerate().filter(|(_, (_, text))| text.band_keys[band] < threshold);
    let mut members: Vec<Member> = drawn
        .map(|(at, (_, text))| Member {
            key: text.band_keys[band],
            next_key: text.band_keys[(band + 1) % BANDS],
            text: at,
        })
        .collect();
    members.sort_unstable();
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_ascend_and_are_recognised() {
        assert!((1..GRID).all(|step| grid(step - 1) < grid(step)));
        assert!((0..GRID).all(|step| is_on_grid(grid(step))));
        assert_eq!(grid(GRID - 1), 127 << 57);
        for wrong in [1, 63, 129, 255, 0x8100_0000_0000_0001, u64::MAX - 1] {
            assert!(!is_on_grid(wrong), "{wrong}");
        }
    }
}
