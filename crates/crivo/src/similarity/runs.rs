//! Which passages do two texts share, from their first to their last common word?
//!
//! A common run is a sequence of words that occurs in both texts. It is maximal if it cannot be
//! extended at either end: the next words differ, or one text ends. [`common_runs`] finds every
//! maximal run of at least `least` words. It looks at positions where both texts have the same
//! [anchor](super::winnow), and extends them word by word. Every such run contains at least one
//! anchor.
//!
//! Texts are given as the hashes of their words
//! ([`Shingler::tokens`](super::shingle::Shingler::tokens)).
//!
//! # Cost
//!
//! One step for each word, and one for each pair of positions with the same anchor. Texts that
//! repeat one passage `n` and `m` times have `n · m` common runs, and all of them are found.
//!
//! ```
//! use crivo::similarity::runs::{Run, common_runs};
//!
//! let one = [9, 1, 2, 3, 4, 5, 6, 7, 8, 9];
//! let other = [1, 2, 3, 4, 5, 6, 7, 8, 0];
//! assert_eq!(common_runs(&one, &other, 8)?, [Run { one: 1, other: 0, len: 8 }]);
//! # Ok::<(), crivo::Error>(())
//! ```

use hashbrown::HashMap;

use super::winnow::Winnow;
use crate::error::Result;
use crate::hash::TableSecret;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// A sequence of words that occurs in two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// The position of its first word in one text.
    pub one: usize,
    /// The position of its first word in the other text.
    pub other: usize,
    /// The number of its words.
    pub len: usize,
}

impl Run {
    /// Returns the longest common run through the word at `one` of the first text and the word at
    /// `other` of the second. Its length is 0 if these words differ.
    ///
    /// ```
    /// use crivo::similarity::runs::Run;
    ///
    /// assert_eq!(Run::through(&[7, 1, 2, 3], &[1, 2, 3, 4], 2, 1), Run { one: 1, other: 0, len: 3 });
    /// ```
    pub fn through<T: PartialEq>(first: &[T], second: &[T], one: usize, other: usize) -> Self {
        let (Some((before, from)), Some((others_before, others_from))) =
            (first.split_at_checked(one), second.split_at_checked(other))
        else {
            return Self { one, other, len: 0 };
        };
        let ahead = from.iter().zip(others_from).take_while(|(a, b)| a == b).count();
        if ahead == 0 {
            return Self { one, other, len: 0 };
        }
        let behind = before.iter().rev().zip(others_before.iter().rev()).take_while(|(a, b)| a == b).count();
        Self { one: one - behind, other: other - behind, len: behind + ahead }
    }
}

/// Returns every maximal common run of at least `least` words, in ascending order.
///
/// # Errors
/// If `least` is not between [`LEAST_RUN`](super::winnow::LEAST_RUN) and
/// [`LONGEST_RUN`](super::winnow::LONGEST_RUN).
pub fn common_runs(one: &[u64], other: &[u64], least: usize) -> Result<Vec<Run>> {
    let winnow = Winnow::for_run(least)?;
    let mut anchors = Vec::new();
    winnow.anchors(other, &mut anchors);
    let mut places: HashMap<u64, Vec<usize>, TableSecret> = HashMap::default();
    for anchor in &anchors {
        places.entry(anchor.hash).or_default().push(anchor.position);
    }
    winnow.anchors(one, &mut anchors);
    // The end of the last run on each diagonal. Other anchors within that run would find the same
    // run.
    let mut ends: HashMap<usize, usize, TableSecret> = HashMap::default();
    let mut runs = Vec::new();
    for anchor in &anchors {
        for &place in places.get(&anchor.hash).into_iter().flatten() {
            let diagonal = anchor.position + other.len() - place;
            if ends.get(&diagonal).is_some_and(|&end| anchor.position < end) {
                continue;
            }
            let run = Run::through(one, other, anchor.position, place);
            ends.insert(diagonal, run.one + run.len);
            if run.len >= least {
                runs.push(run);
            }
        }
    }
    runs.sort_unstable();
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns every maximal run, by trying all pairs of positions.
    fn by_brute_force(one: &[u64], other: &[u64], least: usize) -> Vec<Run> {
        let mut runs = Vec::new();
        for a in 0..one.len() {
            for b in 0..other.len() {
                if a > 0 && b > 0 && one[a - 1] == other[b - 1] {
                    continue;
                }
                let len = one[a..].iter().zip(&other[b..]).take_while(|(x, y)| x == y).count();
                if len >= least {
                    runs.push(Run { one: a, other: b, len });
                }
            }
        }
        runs
    }

    proptest! {
        #[test]
        fn every_maximal_run_is_found_and_nothing_else(
            words in 1_u64..30, seed in any::<u64>(), least in 8_usize..20
        ) {
            let mut state = seed;
            let mut next = |below: u64| {
                state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
                (state >> 33) % below
            };
            let passages: Vec<Vec<u64>> =
                (0..3).map(|_| (0..next(40)).map(|_| next(words)).collect()).collect();
            let mut text = || {
                let mut all = Vec::new();
                for _ in 0..next(5) {
                    all.extend((0..next(10)).map(|_| next(words)));
                    all.extend_from_slice(&passages[next(3) as usize]);
                }
                all
            };
            let (one, other) = (text(), text());
            prop_assert_eq!(
                common_runs(&one, &other, least).unwrap(), by_brute_force(&one, &other, least)
            );
        }
    }

    #[test]
    fn places_beyond_the_texts_have_no_run() {
        assert_eq!(Run::through(&[1], &[1], 2, 0).len, 0);
        assert_eq!(Run::through(&[1], &[2], 0, 0).len, 0);
        assert_eq!(Run::through::<u64>(&[], &[], 0, 0).len, 0);
    }
}
