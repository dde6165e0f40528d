//! Which few positions of a text are enough to find every passage that it shares with another text?
//!
//! Winnowing (Schleimer, Wilkerson, Aiken: *Winnowing: local algorithms for document
//! fingerprinting*, 2003) hashes every `k` consecutive words, a gram. From each `w` consecutive
//! hashes it selects the smallest, and the last one among equal ones. Selected positions are
//! anchors.
//!
//! # Guarantee
//!
//! Two texts that share a run of at least `w + k − 1` words have a common anchor within that run,
//! at the same position of the run. The run contains `w` consecutive hashes, and the selection
//! among them depends on nothing else. The guarantee is not probabilistic: the hashes decide which
//! anchor is selected, not whether there is one.
//!
//! # Cost
//!
//! Evenly distributed hashes give `2/(w + 1)` anchors a word. A text that repeats itself at every
//! word gives up to one a word. The smallest hash of a window is searched again only when it leaves
//! the window. That takes two steps a word on average, and never more than `w`.
//!
//! ```
//! use crivo::similarity::shingle::{Shingler, Shingles};
//! use crivo::similarity::winnow::Winnow;
//!
//! let winnow = Winnow::new(4, 3)?;
//! assert_eq!(winnow.guaranteed(), 6);
//! let mut shingler = Shingler::new(Shingles::words(1)?);
//! let (mut one, mut other) = (Vec::new(), Vec::new());
//! winnow.anchors(shingler.tokens(b"We begin: all that glitters is not gold, as they say"), &mut one);
//! winnow.anchors(shingler.tokens(b"he said that all that glitters is not gold"), &mut other);
//! assert!(one.iter().any(|anchor| other.iter().any(|known| known.hash == anchor.hash)));
//! # Ok::<(), crivo::Error>(())
//! ```

use super::shingle::Roll;
use crate::error::{Error, Result};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The shortest run in words that [`Winnow::for_run`] accepts: shorter ones are common phrases of a
/// language.
pub const LEAST_RUN: usize = 8;

/// The longest run in words that [`Winnow::for_run`] accepts.
pub const LONGEST_RUN: usize = 50_000;

/// The largest number of hashes in a window, and of words in a gram.
pub const LARGEST: usize = 1 << 30;

/// A selected position: `k` consecutive words, and where they begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Anchor {
    /// The hash of the words.
    pub hash: u64,
    /// The number of the first word, from 0.
    pub position: usize,
}

/// The parameters of the selection: the smallest of `w` consecutive hashes of `k` words each is an
/// anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Winnow {
    window: usize,
    gram: usize,
}

impl Winnow {
    /// Selects from windows of `window` hashes of `gram` words each.
    ///
    /// # Errors
    /// If `window` or `gram` is 0 or more than [`LARGEST`].
    pub fn new(window: usize, gram: usize) -> Result<Self> {
        for (name, size) in [("window", window), ("gram", gram)] {
            if !(1..=LARGEST).contains(&size) {
                return Err(Error::parameter(name, format_args!("1 to {LARGEST}"), size));
            }
        }
        Ok(Self { window, gram })
    }

    /// Returns sizes for which every shared run of at least `words` words has a common anchor. Four
    /// fifths of the words are the window, which gives few anchors. The others are the gram, which
    /// gives few anchors that are common by chance.
    ///
    /// # Errors
    /// If `words` is not between [`LEAST_RUN`] and [`LONGEST_RUN`].
    pub fn for_run(words: usize) -> Result<Self> {
        if !(LEAST_RUN..=LONGEST_RUN).contains(&words) {
            let allowed = format_args!("{LEAST_RUN} to {LONGEST_RUN} words").to_string();
            return Err(Error::parameter("shortest run", allowed, words));
        }
        let gram = (words / 5 + 1).max(4);
        Self::new(words + 1 - gram, gram)
    }

    /// The number `w` of hashes in a window.
    pub fn window(self) -> usize {
        self.window
    }

    /// The number `k` of words in a gram.
    pub fn gram(self) -> usize {
        self.gram
    }

    /// The length of the shortest run that certainly has a common anchor: `w + k − 1` words.
    pub fn guaranteed(self) -> usize {
        self.window + self.gram - 1
    }

    /// Replaces the contents of `anchors` by the anchors of a text. `words` are the hashes of its
    /// words, in order. A text of fewer than [`guaranteed`](Self::guaranteed) words has no anchors.
    pub fn anchors(self, words: &[u64], anchors: &mut Vec<Anchor>) {
        anchors.clear();
        if words.len() < self.guaranteed() {
            return;
        }
        let mut hashes = Vec::with_capacity(words.len() + 1 - self.gram);
        gram_hashes(words, self.gram, &mut hashes);
        let mut smallest = last_smallest(&hashes, 0, self.window);
        anchors.push(Anchor { hash: hashes[smallest], position: smallest });
        for entered in self.window..hashes.len() {
            let start = entered + 1 - self.window;
            if smallest < start {
                smallest = last_smallest(&hashes, start, self.window);
            } else if hashes[entered] <= hashes[smallest] {
                smallest = entered;
            } else {
                continue;
            }
            anchors.push(Anchor { hash: hashes[smallest], position: smallest });
        }
    }

    /// Returns the windows that select the gram at `position`, as the first and last start of such
    /// a window. `hashes` are the hashes of a part of a text, and only windows within this part
    /// count. Returns `None` if there is no such window.
    pub fn windows_of(self, hashes: &[u64], position: usize) -> Option<(usize, usize)> {
        let hash = *hashes.get(position)?;
        let reach = self.window - 1;
        let lowest = position.saturating_sub(reach);
        let before = hashes[lowest..position].iter().rposition(|&other| other < hash);
        let first = before.map_or(lowest, |at| lowest + at + 1);
        let highest = (position + reach).min(hashes.len() - 1);
        let after = hashes[position + 1..=highest].iter().position(|&other| other <= hash);
        // The window has to end before the next hash that would be selected instead of this one.
        let end = after.map_or(highest, |at| position + at);
        let last = (end + 1).checked_sub(self.window)?.min(position);
        (first <= last).then_some((first, last))
    }
}

/// Replaces the contents of `hashes` by the hashes of every `gram` consecutive words.
pub fn gram_hashes(words: &[u64], gram: usize, hashes: &mut Vec<u64>) {
    hashes.clear();
    let Some((first, rest)) = words.split_at_checked(gram) else { return };
    let mut roll = Roll::new(first);
    hashes.push(roll.hash());
    hashes.extend(rest.iter().zip(words).map(|(&enters, &leaves)| {
        roll.step(leaves, enters);
        roll.hash()
    }));
}

/// Returns the position of the smallest hash of a window, and of the last one among equal ones.
fn last_smallest(hashes: &[u64], start: usize, window: usize) -> usize {
    let mut smallest = start;
    for at in start + 1..start + window {
        if hashes[at] <= hashes[smallest] {
            smallest = at;
        }
    }
    smallest
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// The definition, window by window.
    fn by_definition(winnow: Winnow, words: &[u64]) -> Vec<Anchor> {
        let mut hashes = Vec::new();
        gram_hashes(words, winnow.gram(), &mut hashes);
        let mut selected = BTreeSet::new();
        for start in 0..(hashes.len() + 1).saturating_sub(winnow.window()) {
            let window = start..start + winnow.window();
            let smallest = window.clone().map(|at| hashes[at]).min().unwrap();
            selected.insert(window.rev().find(|&at| hashes[at] == smallest).unwrap());
        }
        selected.into_iter().map(|position| Anchor { hash: hashes[position], position }).collect()
    }

    fn anchors(winnow: Winnow, words: &[u64]) -> Vec<Anchor> {
        let mut found = Vec::new();
        winnow.anchors(words, &mut found);
        found
    }

    /// Few different words give ties and periods. With one word all hashes are equal.
    fn sequences() -> impl Strategy<Value = Vec<u64>> {
        (1_u64..40).prop_flat_map(|words| proptest::collection::vec(0..words, 0..160))
    }

    proptest! {
        #[test]
        fn anchors_are_the_last_smallest_of_each_window(
            words in sequences(), window in 1_usize..20, gram in 1_usize..8
        ) {
            let winnow = Winnow::new(window, gram).unwrap();
            prop_assert_eq!(anchors(winnow, &words), by_definition(winnow, &words));
        }

        #[test]
        fn a_shared_run_of_w_plus_k_minus_1_words_has_a_common_anchor_at_the_same_place(
            run in sequences(), [before, after, others_before, others_after] in [
                sequences(), sequences(), sequences(), sequences()
            ], window in 1_usize..20, gram in 1_usize..8
        ) {
            let winnow = Winnow::new(window, gram).unwrap();
            prop_assume!(run.len() >= winnow.guaranteed());
            let one = anchors(winnow, &[&before[..], &run, &after].concat());
            let other = anchors(winnow, &[&others_before[..], &run, &others_after].concat());
            // Every stretch of exactly the guaranteed length must have a common anchor.
            for start in 0..=run.len() - winnow.guaranteed() {
                let inside = |found: &[Anchor], shift: usize| -> BTreeSet<(usize, u64)> {
                    let from = shift + start;
                    let places = from..from + winnow.window();
                    let kept = found.iter().filter(|anchor| places.contains(&anchor.position));
                    kept.map(|anchor| (anchor.position - from, anchor.hash)).collect()
                };
                let shared = &inside(&one, before.len()) & &inside(&other, others_before.len());
                prop_assert!(!shared.is_empty(), "none within the run at {}", start);
            }
        }

        #[test]
        fn every_window_belongs_to_the_anchor_it_selects(
            words in sequences(), window in 1_usize..20, gram in 1_usize..8
        ) {
            let winnow = Winnow::new(window, gram).unwrap();
            let mut hashes = Vec::new();
            gram_hashes(&words, gram, &mut hashes);
            let mut next = 0;
            for anchor in anchors(winnow, &words) {
                let (first, last) = winnow.windows_of(&hashes, anchor.position).unwrap();
                prop_assert_eq!(first, next, "windows are divided without gaps");
                next = last + 1;
            }
            prop_assert_eq!(next, (hashes.len() + 1).saturating_sub(window));
        }
    }

    #[test]
    fn the_guarantee_is_what_was_asked_for() {
        for words in [LEAST_RUN, 9, 13, 50, 100, 1000, LONGEST_RUN] {
            assert_eq!(Winnow::for_run(words).unwrap().guaranteed(), words);
        }
        let usual = Winnow::for_run(50).unwrap();
        assert_eq!((usual.window(), usual.gram()), (40, 11));
        for wrong in [0, LEAST_RUN - 1, LONGEST_RUN + 1] {
            let error = Winnow::for_run(wrong).unwrap_err().to_string();
            assert!(error.contains("8 to 50000 words"), "{error}");
        }
    }

    #[test]
    fn sizes_beyond_their_limit_are_refused() {
        for (window, gram) in [(usize::MAX, 2), (2, usize::MAX), (0, 2), (2, 0), (LARGEST + 1, 1)] {
            let error = Winnow::new(window, gram).unwrap_err().to_string();
            assert!(error.contains("1 to 1073741824"), "{error}");
        }
        assert_eq!(Winnow::new(LARGEST, LARGEST).unwrap().guaranteed(), 2 * LARGEST - 1);
    }

    /// A million random words with w = 40 have 48,780 anchors on average. Their number varies less
    /// than that of independent draws, whose standard deviation is √48,780 = 221. It is off by 6 of
    /// those (2.7 %) less than once in 10⁸ runs.
    #[test]
    fn anchors_are_as_few_as_theory_says() {
        let words: Vec<u64> = (0..1_000_000_u64)
            .map(|n| crate::keys::KeyScheme::integers().with_seed(5).hash_integer(n))
            .collect();
        let winnow = Winnow::for_run(50).unwrap();
        let expected = 1_000_000.0 * 2.0 / 41.0;
        let found = anchors(winnow, &words).len() as f64;
        assert!((found - expected).abs() < 6.0 * f64::sqrt(expected), "{found}, not {expected}");
    }
}
