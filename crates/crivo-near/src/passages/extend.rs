//! From seeds to passages: each extended, word by word, as far as both places agree.
//!
//! Windows of a document are gone through in their order. One that is inside of a passage already
//! needs none; any other begins a passage with its first occurrence. So each repeated window is in
//! a passage, a document that repeats one word has one passage and not a million, and the outcome
//! depends on nothing but the texts.

use super::seeds::Seed;
use super::store::{Store, StoredDocument};
use crate::error::Result;

/// How many words of the first occurrence are read at once.
const WORDS_AT_ONCE: u64 = 512;

/// A passage in words: the document and the word it begins with, the same of its first occurrence,
/// and its length.
pub(crate) type WordRun = (u64, u64, u64);

/// A document's number and one of its words, in one number that sorts as both do.
pub(crate) fn word_key(document: u32, word: u64) -> u64 {
    u64::from(document) << 32 | word
}

/// The document's number and the word.
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

    /// Gives the passages of a document, whose seeds are ascending. Returns false if a seed belongs
    /// to windows that differ: two hashes were the same by chance.
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
            // The first window that is not inside of what was found.
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

    /// Returns how many words from here on are the same in the first occurrence.
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

    /// Returns how many words before this one are the same in the first occurrence.
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
