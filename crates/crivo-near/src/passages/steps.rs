//! The steps of a search for passages, for callers that distribute them over machines.

use crivo::similarity::runs::Run;
use crivo::similarity::winnow::{Anchor, Winnow, gram_hashes};

use super::anchors::first_window;
use super::words::WordCutter;
use crate::error::{Error, Result};

/// The work of [`repeated_passages`](crate::repeated_passages) for each text, for callers whose
/// texts are on several machines.
///
/// 1. The caller groups the [`anchors`](Self::anchors) of all texts by their hashes.
/// 2. For anchors that occur in several places, the caller groups [`windows`](Self::windows) by
///    anchor and key. Of equal windows, the first in the order of the collection is the first
///    occurrence of the others.
/// 3. [`passages`](Self::passages) extends the windows of a text along the texts that had them
///    first.
///
/// Words are compared by 64 bits of their hash. The passages are those of `repeated_passages`:
/// which windows are repeated, and where each occurs first, depends on the texts alone, and both
/// extend them in the same order.
///
/// ```
/// use crivo_near::{PassageSteps, SharedWindow};
///
/// let [first, later] = ["So: a b c d e f g h i.", "And a b c d e f g h i?"];
/// let mut steps = PassageSteps::new(8, 0)?;
/// let mut windows = |text: &str| {
///     let positions: Vec<u32> = steps.anchors(text.as_bytes()).iter().map(|anchor| anchor.position as u32).collect();
///     let mut found = Vec::new();
///     steps.windows(text.as_bytes(), &positions, |window, anchor, key| found.push((window, anchor, key)));
///     found
/// };
/// let (ours, theirs) = (windows(later), windows(first));
/// let shared = SharedWindow { window: 1, text: 0, first: 1 };
/// assert_eq!((ours[1].1, ours[1].2), (theirs[1].1, theirs[1].2));
/// let found = steps.passages(later.as_bytes(), &[first.as_bytes()], &[shared])?;
/// assert_eq!((&later[found[0].start..found[0].end], found[0].words), ("a b c d e f g h i", 9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PassageSteps {
    winnow: Winnow,
    cutter: WordCutter,
    anchors: Vec<Anchor>,
    hashes: Vec<u64>,
    keys: Vec<u64>,
}

/// A window of a text that occurs in an earlier text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SharedWindow {
    /// The number of its first word.
    pub window: u32,
    /// The number of the earlier text that has it first.
    pub text: u32,
    /// The number of its first word in the earlier text.
    pub first: u32,
}

/// A passage of a text that occurs in an earlier text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedPassage {
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// The number of the earlier text that has it first.
    pub text: u32,
    /// Its first byte in the earlier text.
    pub first_start: usize,
    /// The byte after its last in the earlier text.
    pub first_end: usize,
    /// The number of its words.
    pub words: usize,
}

/// The words of a text, and the first byte and the end of each.
type CutText = (Vec<u64>, Vec<(usize, usize)>);

impl PassageSteps {
    /// Creates the steps for passages of at least `min_words` words.
    ///
    /// # Errors
    /// If `min_words` is not between 8 and 50,000.
    pub fn new(min_words: usize, seed: u64) -> Result<Self> {
        Ok(Self {
            winnow: Winnow::for_run(min_words)?,
            cutter: WordCutter::new(seed)?,
            anchors: Vec::new(),
            hashes: Vec::new(),
            keys: Vec::new(),
        })
    }

    /// Returns the anchors of a text.
    pub fn anchors(&mut self, text: &[u8]) -> &[Anchor] {
        self.winnow.anchors(self.cutter.hashes(text), &mut self.anchors);
        &self.anchors
    }

    /// Passes the windows that select the anchors at given positions of a text to `give`: the first
    /// word of each, the hash of its anchor, and its key. Positions must ascend; those without an
    /// anchor are skipped.
    pub fn windows(&mut self, text: &[u8], positions: &[u32], mut give: impl FnMut(u32, u64, u64)) {
        let words = self.cutter.hashes(text);
        self.winnow.anchors(words, &mut self.anchors);
        let length = self.winnow.guaranteed();
        let last = (words.len() + 1).saturating_sub(length);
        let mut window = 0;
        for (at, anchor) in self.anchors.iter().enumerate() {
            let next = self.anchors.get(at + 1).map(|next| first_window(self.winnow, Some(anchor), next));
            let end = next.unwrap_or(last);
            let is_wanted =
                u32::try_from(anchor.position).is_ok_and(|at| positions.binary_search(&at).is_ok());
            if is_wanted && window < end {
                gram_hashes(&words[window..end + length - 1], length, &mut self.keys);
                (window as u32..).zip(&self.keys).for_each(|(window, &key)| give(window, anchor.hash, key));
            }
            window = end;
        }
    }

    /// Returns the passages of a text, from left to right. Each window that is not in a passage yet
    /// is extended in both directions. `earlier` has the texts in which windows occur first; the
    /// text itself may be one of them.
    ///
    /// # Errors
    /// [`Error::Changed`] if a window differs from its first occurrence.
    pub fn passages(
        &mut self,
        text: &[u8],
        earlier: &[&[u8]],
        windows: &[SharedWindow],
    ) -> Result<Vec<SharedPassage>> {
        let least = self.winnow.guaranteed();
        self.hashes.clear();
        self.hashes.extend_from_slice(self.cutter.hashes(text));
        // The words and spans of each earlier text, computed at their first use.
        let mut known: Vec<Option<CutText>> = vec![None; earlier.len()];
        let mut sorted = windows.to_vec();
        sorted.sort_unstable();
        let (mut covered, mut runs) = (0, Vec::new());
        for SharedWindow { window, text, first } in sorted {
            if window as usize + least <= covered {
                continue;
            }
            let (Some(&bytes), Some(known)) = (earlier.get(text as usize), known.get_mut(text as usize))
            else {
                return Err(Error::Changed);
            };
            let cutter = &mut self.cutter;
            let (words, spans) =
                known.get_or_insert_with(|| (cutter.hashes(bytes).to_vec(), cutter.spans(bytes).to_vec()));
            let run = Run::through(&self.hashes, words, window as usize, first as usize);
            let end = run.one + run.len;
            if end < window as usize + least {
                return Err(Error::Changed);
            }
            covered = covered.max(end);
            runs.push((run, text, spans[run.other].0, spans[run.other + run.len - 1].1));
        }
        let spans = self.cutter.spans(text);
        let passage = |(run, text, first_start, first_end): (Run, u32, usize, usize)| SharedPassage {
            start: spans[run.one].0,
            end: spans[run.one + run.len - 1].1,
            text,
            first_start,
            first_end,
            words: run.len,
        };
        let mut found: Vec<SharedPassage> = runs.into_iter().map(passage).collect();
        found.sort_by_key(|passage| passage.start);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::passages::{PassageSettings, repeated_passages};
    use crate::source::Texts;

    /// A passage as both report it: its text, first byte and end, the same of its first occurrence,
    /// and its words.
    type Places = (u64, usize, usize, u64, usize, usize, usize);

    fn on_one_machine(texts: &[String], settings: &PassageSettings) -> Vec<Places> {
        let mut found = Vec::new();
        let outcome = repeated_passages(&Texts::new(texts, 1), settings, &()).unwrap();
        outcome
            .for_each(|passage| {
                let (own, first) = (passage.range(), passage.first_range());
                let words = passage.words as usize;
                found.push((
                    passage.place,
                    own.start,
                    own.end,
                    passage.first_place,
                    first.start,
                    first.end,
                    words,
                ));
                Ok(())
            })
            .unwrap();
        found
    }

    /// Does the work of several machines, with a table in the place of each exchange.
    fn by_steps(texts: &[String], settings: &PassageSettings) -> Vec<Places> {
        let mut steps = PassageSteps::new(settings.min_words, settings.seed).unwrap();
        let mut met: HashMap<u64, Vec<(usize, u32)>> = HashMap::new();
        for (place, text) in texts.iter().enumerate() {
            for anchor in steps.anchors(text.as_bytes()) {
                met.entry(anchor.hash).or_default().push((place, anchor.position as u32));
            }
        }
        let mut chosen: Vec<Vec<u32>> = vec![Vec::new(); texts.len()];
        met.into_values()
            .filter(|places| places.len() > 1)
            .flatten()
            .for_each(|(place, position)| chosen[place].push(position));
        let mut windows: HashMap<(u64, u64), Vec<(usize, u32)>> = HashMap::new();
        for (place, text) in texts.iter().enumerate() {
            chosen[place].sort_unstable();
            steps.windows(text.as_bytes(), &chosen[place], |window, anchor, key| {
                windows.entry((anchor, key)).or_default().push((place, window));
            });
        }
        let mut shared: Vec<Vec<SharedWindow>> = vec![Vec::new(); texts.len()];
        for mut places in windows.into_values() {
            places.sort_unstable();
            let (first_place, first) = places[0];
            if places.len() < settings.min_count as usize {
                continue;
            }
            for &(place, window) in &places[1..] {
                if settings.within || place != first_place {
                    shared[place].push(SharedWindow { window, text: first_place as u32, first });
                }
            }
        }
        let earlier: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        let mut found = Vec::new();
        for (place, windows) in shared.iter().enumerate() {
            for one in steps.passages(earlier[place], &earlier, windows).unwrap() {
                let first = u64::from(one.text);
                found.push((
                    place as u64,
                    one.start,
                    one.end,
                    first,
                    one.first_start,
                    one.first_end,
                    one.words,
                ));
            }
        }
        found
    }

    proptest! {
        #[test]
        fn the_steps_give_the_passages_of_one_machine(
            pieces in proptest::collection::vec(proptest::collection::vec(0..12_u32, 4..40), 1..5),
            orders in proptest::collection::vec(proptest::collection::vec(any::<usize>(), 0..5), 1..8),
            min_words in 8_usize..16, within in any::<bool>(), min_count in 2_u32..5
        ) {
            let texts: Vec<String> = orders
                .iter()
                .map(|order| {
                    let words = order.iter().flat_map(|at| &pieces[at % pieces.len()]);
                    words.map(|word| format!("w{word}")).collect::<Vec<_>>().join(", ")
                })
                .collect();
            let settings =
                PassageSettings { min_words, within, min_count, threads: 1, ..PassageSettings::default() };
            prop_assert_eq!(by_steps(&texts, &settings), on_one_machine(&texts, &settings));
        }
    }

    #[test]
    fn windows_that_are_not_there_are_refused() {
        let mut steps = PassageSteps::new(8, 0).unwrap();
        let text = b"a b c d e f g h i".as_slice();
        for (window, place, first) in [(0, 1, 0), (0, 0, 1), (1, 0, 2), (u32::MAX, 0, u32::MAX)] {
            let windows = [SharedWindow { window, text: place, first }];
            let found = steps.passages(text, &[text], &windows);
            assert!(matches!(found, Err(Error::Changed)), "{windows:?}");
        }
        assert!(PassageSteps::new(7, 0).is_err());
    }
}
