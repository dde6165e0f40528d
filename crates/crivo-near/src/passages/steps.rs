//! The steps of a search for passages, for callers that distribute them over machines.

use crivo::similarity::runs::Run;
use crivo::similarity::winnow::{Anchor, Winnow, gram_hashes};

use super::anchors::first_window;
use super::words::WordCutter;
use crate::error::{Error, Result};

/// What [`repeated_passages`](crate::repeated_passages) does with each text, for callers whose texts are on several machines.
///
/// 1. [`anchors`](Self::anchors) of each text are brought together by their hashes.
/// 2. For anchors that stand in several places, [`windows`](Self::windows) are brought together by anchor and key. The first of
///    equal ones, in the order of the collection, is the first occurrence of the others.
/// 3. [`passages`](Self::passages) extends the windows of a text along the texts that had them first.
///
/// Words are compared by 64 bits of their hash.
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

/// A window of a text that stands in an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SharedWindow {
    /// Its first word.
    pub window: u32,
    /// Which of the earlier texts has it first.
    pub text: u32,
    /// Its first word there.
    pub first: u32,
}

/// A passage of a text that stands in an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedPassage {
    /// Its first byte.
    pub start: usize,
    /// The byte behind its last.
    pub end: usize,
    /// Which of the earlier texts has it first.
    pub text: u32,
    /// Its first byte there.
    pub first_start: usize,
    /// The byte behind its last there.
    pub first_end: usize,
    /// The number of its words.
    pub words: usize,
}

impl PassageSteps {
    /// Steps for passages of at least `min_words` words.
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

    /// Returns the hashes of the words of a text.
    pub fn words(&mut self, text: &[u8]) -> &[u64] {
        self.cutter.hashes(text)
    }

    /// Returns the first byte and the end of each word of a text.
    pub fn spans(&mut self, text: &[u8]) -> &[(usize, usize)] {
        self.cutter.spans(text)
    }

    /// Returns the anchors of a text.
    pub fn anchors(&mut self, text: &[u8]) -> &[Anchor] {
        self.winnow.anchors(self.cutter.hashes(text), &mut self.anchors);
        &self.anchors
    }

    /// Gives the windows that select the anchors at some positions of a text, which ascend: the first word of each, the hash
    /// of its anchor, and its key. Positions without an anchor are passed over.
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

    /// Returns the passages of a text, from left to right: each window that is in none yet is extended in both directions.
    /// `earlier` are the texts that had a window first. They may be the text itself.
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
        // The words and spans of an earlier text, made when they are first needed.
        let mut known: Vec<Option<(Vec<u64>, Vec<(usize, usize)>)>> = vec![None; earlier.len()];
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
