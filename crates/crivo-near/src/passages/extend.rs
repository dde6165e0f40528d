//! Extends seeds to passages, word by word, as far as both places agree.
//!
//! Windows of a document are processed in order. A window inside a passage that was already found
//! is skipped; any other begins a passage with its first occurrence. So each repeated window is in
//! a passage, a document that repeats one word has one passage and not a million, and the result
//! depends only on the texts.

use super::seeds::Seed;
use super::store::{Store, StoredDocument};
use crate::error::Result;

/// The number of words of the first occurrence that are read at once.
const WORDS_AT_ONCE: u64 = 512;

/// A passage in words: the key of its first word, the key of the first word of its first
/// occurrence, and its length.
pub(crate) type WordRun = (u64, u64, u64);

/// Packs a document's number and one of its words into one number that sorts by both.
pub(crate) fn word_key(document: u32, word: u64) -> u64 {
    u64::from(document) << 32 | word
}

/// Returns the document's number and the word.
pub(crate) fn word_of(key: u64) -> (u32, u64) {
    ((key >> 32) as u32, key & u64::from(u32::MAX))
}

/// Extends the seeds of one document after the other.
pub(crate) struct Extender<'a> {
    store: &'a Store,
    least: u64,
    words: Vec<u64>,
    first: Vec<u64>,
    bytes: Vec<u8>,
}

impl<'a> Extender<'a> {
    pub(crate) fn new(store: &'a Store, least: usize) -> Self {
        Self { store, least: least as u64, words: Vec::new(), first: Vec::new(), bytes: Vec::new() }
    }

    /// Passes the passages of a document, whose seeds ascend, to `give`. Returns false if the
    /// windows of a seed differ, because two hashes collided.
    pub(crate) fn document(
        &mut self,
        number: u32,
        seeds: &[Seed],
        mut give: impl FnMut(WordRun) -> Result<()>,
    ) -> Result<bool> {
        let document = self.store.documents()[number as usize];
        self.store.read(document.start, document.end(), &mut self.bytes, &mut self.words)?;
        let mut covered = 0;
        for &seed in seeds {
            let (mut window, mut first, mut count) = (seed.window(), seed.first(), seed.count());
            // The first window that is not inside the passages found so far.
            let uncovered = (covered + 1_u64).saturating_sub(self.least);
            if window < uncovered {
                let inside = uncovered - window;
                if inside >= count {
                    continue;
                }
                (window, first, count) = (uncovered, first + inside, count - inside);
            }
            debug_assert!(count > 0);
            let Some(word) = window.checked_sub(document.start) else { return Ok(false) };
            let Some(first_number) = self.store.document_at(first) else { return Ok(false) };
            let first_document = self.store.documents()[first_number as usize];
            let ahead = self.ahead(word, first, first_document)?;
            let behind = self.behind(word, first, first_document)?;
            if ahead < self.least {
                return Ok(false);
            }
            let (start, first_start) = (word - behind, first - first_document.start - behind);
            let length = behind + ahead;
            covered = covered.max(document.start + start + length);
            give((word_key(number, start), word_key(first_number, first_start), length))?;
        }
        Ok(true)
    }

    /// Returns the number of words from `word` on that are the same in the first occurrence.
    fn ahead(&mut self, word: u64, first: u64, document: StoredDocument) -> Result<u64> {
        let mut same = 0;
        while first + same < document.end() {
            let start = first + same;
            let end = document.end().min(start + WORDS_AT_ONCE);
            self.store.read(start, end, &mut self.bytes, &mut self.first)?;
            let mine = self.words.get((word + same) as usize..).unwrap_or_default();
            let equal = mine.iter().zip(&self.first).take_while(|(a, b)| a == b).count();
            same += equal as u64;
            if equal < self.first.len() {
                break;
            }
        }
        Ok(same)
    }

    /// Returns the number of words before `word` that are the same in the first occurrence.
    fn behind(&mut self, word: u64, first: u64, document: StoredDocument) -> Result<u64> {
        let mut same = 0;
        while first - same > document.start && word > same {
            let end = first - same;
            let start = document.start.max(end.saturating_sub(if same == 0 { 8 } else { WORDS_AT_ONCE }));
            self.store.read(start, end, &mut self.bytes, &mut self.first)?;
            let mine = self.words.get(..(word - same) as usize).unwrap_or_default();
            let equal = mine.iter().rev().zip(self.first.iter().rev()).take_while(|(a, b)| a == b).count();
            same += equal as u64;
            if equal < self.first.len() {
                break;
            }
        }
        Ok(same)
    }
}
