//! The words of a text as numbers, and their byte ranges.
//!
//! In texts of scripts without blanks every letter is a word of its own, as in
//! [`TextShingler`](crate::TextShingler).

use crivo::keys::word_spans;
use crivo::similarity::shingle::{Shingler, Shingles};

use crate::error::Result;
use crate::text::is_without_blanks;

/// The number of bits kept of a word's hash. Two words collide once in 10¹² comparisons, which the
/// check of each passage finds (`bytes.rs`).
pub(crate) const WORD_BITS: u32 = 40;

/// The bytes of a word in a store.
pub(crate) const WORD_BYTES: usize = WORD_BITS as usize / 8;

/// The mask of the bits of a word's hash that are kept.
const KEPT: u64 = (1 << WORD_BITS) - 1;

/// Cuts one text after the other into words. Its buffers are reused.
pub(crate) struct WordCutter {
    shingler: Shingler,
    words: Vec<u64>,
    spans: Vec<(usize, usize)>,
}

impl WordCutter {
    pub(crate) fn new(seed: u64) -> Result<Self> {
        let shingler = Shingler::with_seed(Shingles::words(1)?, seed);
        Ok(Self { shingler, words: Vec::new(), spans: Vec::new() })
    }

    /// Returns the hashes of the words, cut to [`WORD_BITS`] bits each.
    pub(crate) fn words(&mut self, text: &[u8]) -> &[u64] {
        self.hashes(text);
        self.words.iter_mut().for_each(|word| *word &= KEPT);
        &self.words
    }

    /// Replaces the content of `out` by the hashes of the words with all of their 64 bits.
    pub(crate) fn hashes_into(&mut self, text: &[u8], out: &mut Vec<u64>) {
        out.clear();
        if is_without_blanks(text) {
            out.extend_from_slice(self.hashes(text));
        } else {
            out.extend_from_slice(self.shingler.tokens(text));
        }
    }

    /// Returns the hashes of the words with all of their 64 bits.
    pub(crate) fn hashes(&mut self, text: &[u8]) -> &[u64] {
        self.words.clear();
        if is_without_blanks(text) {
            let mut bytes = [0; 4];
            for c in text.utf8_chunks().flat_map(|chunk| chunk.valid().chars()).filter(|&c| is_letter(c)) {
                for lower in c.to_lowercase().take(1) {
                    let word = self.shingler.tokens(lower.encode_utf8(&mut bytes).as_bytes());
                    self.words.push(word.first().copied().unwrap_or(0));
                }
            }
        } else {
            self.words.extend_from_slice(self.shingler.tokens(text));
        }
        &self.words
    }

    /// Returns the first byte and the end of each word.
    pub(crate) fn spans(&mut self, text: &[u8]) -> &[(usize, usize)] {
        if is_without_blanks(text) {
            self.spans.clear();
            let mut at = 0;
            for chunk in text.utf8_chunks() {
                for c in chunk.valid().chars() {
                    let end = at + c.len_utf8();
                    if is_letter(c) {
                        self.spans.push((at, end));
                    }
                    at = end;
                }
                at += chunk.invalid().len();
            }
        } else {
            word_spans(text, &mut self.spans);
        }
        &self.spans
    }
}

/// Returns the number of words of a text, as passages count them.
pub fn count_words(text: &[u8]) -> usize {
    WordCutter::new(0).map_or(0, |mut cutter| cutter.spans(text).len())
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_word_has_a_span(text in "(\\PC|[a-z東京都 。、]){0,60}", bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let mut cutter = WordCutter::new(0).unwrap();
            for text in [text.as_bytes(), &bytes] {
                let words = cutter.words(text).len();
                prop_assert_eq!(cutter.spans(text).len(), words);
            }
        }
    }

    #[test]
    fn letters_of_scripts_without_blanks_are_words() {
        let mut cutter = WordCutter::new(0).unwrap();
        assert_eq!(cutter.words("東京都、港区".as_bytes()).len(), 5);
        assert_eq!(cutter.spans("東京都、港区".as_bytes())[3], (12, 15));
        assert_eq!(cutter.words("one two three".as_bytes()).len(), 3);
    }
}
