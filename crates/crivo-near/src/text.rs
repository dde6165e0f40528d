//! Makes the shingles of a text in any script.
//!
//! Chinese, Japanese, Thai, Lao, Khmer, Burmese and Tibetan have no blanks between words. In such a
//! text a "word" is a whole clause. So five of them are half a page, and one changed character
//! changes every shingle that includes it. So if shingles of words are requested, a text with more
//! characters of those scripts than other letters is cut into shingles of [five
//! characters](CHARACTERS) instead. The choice depends only on the content of the text, so copies
//! of a text are cut the same way. Two texts that are cut in different ways have no shingle in
//! common. That is right, because they are mostly in different scripts.
//!
//! Shingles of characters or of stop words are made as requested, in any script.

use crivo::similarity::shingle::{Shingler, Shingles};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::error::Result;

/// The number of characters of a shingle in scripts without blanks: two or three words.
pub const CHARACTERS: usize = 5;

/// Makes the shingles of one text after the other. Its buffers are reused.
pub struct TextShingler {
    asked: Shingler,
    /// The shingler for texts in scripts without blanks, if words were requested.
    characters: Option<Shingler>,
    normalizes: bool,
    normalized: String,
}

impl TextShingler {
    /// Creates a shingler for one kind of shingles. If `nfc` is set, texts are converted to
    /// Unicode's normal form C first. Then `é` is the same as `e` followed by a combining accent.
    pub fn new(shingles: Shingles, seed: u64, nfc: bool) -> Self {
        let characters = match shingles {
            Shingles::Words(_) => {
                Shingles::characters(CHARACTERS).ok().map(|kind| Shingler::with_seed(kind, seed))
            }
            _ => None,
        };
        let asked = Shingler::with_seed(shingles, seed);
        Self { asked, characters, normalizes: nfc, normalized: String::new() }
    }

    /// Returns the shingles in the order of the text, with repetitions.
    pub fn shingles(&mut self, text: &[u8]) -> &[u64] {
        let (shingler, text) = self.choose(text);
        shingler.shingles(text)
    }

    /// Passes the shingles to `take` piece by piece, so that those of a giant text are never all in
    /// memory.
    pub(crate) fn try_for_each_piece(
        &mut self,
        text: &[u8],
        take: impl FnMut(&[u64]) -> Result<()>,
    ) -> Result<()> {
        let (shingler, text) = self.choose(text);
        shingler.try_for_each_piece(text, take)
    }

    /// Returns the set of shingles: ascending, each once.
    pub fn set(&mut self, text: &[u8]) -> &[u64] {
        let (shingler, text) = self.choose(text);
        shingler.set(text)
    }

    /// Returns the shingler for a text, and the text in normal form if that was requested.
    fn choose<'s: 'r, 't: 'r, 'r>(&'s mut self, text: &'t [u8]) -> (&'s mut Shingler, &'r [u8]) {
        let shingler = match &mut self.characters {
            Some(characters) if is_without_blanks(text) => characters,
            _ => &mut self.asked,
        };
        if !self.normalizes || text.is_ascii() {
            return (shingler, text);
        }
        // Text that is not UTF-8 is compared unchanged.
        match std::str::from_utf8(text) {
            Ok(valid) if is_nfc_quick(valid.chars()) != IsNormalized::Yes => {
                self.normalized.clear();
                self.normalized.extend(valid.nfc());
                (shingler, self.normalized.as_bytes())
            }
            _ => (shingler, text),
        }
    }
}

/// Returns true if the text has more characters of scripts without blanks than other letters.
pub(crate) fn is_without_blanks(text: &[u8]) -> bool {
    if text.is_ascii() || is_surely_with_blanks(text) {
        return false;
    }
    let (mut without, mut with) = (0_usize, 0_usize);
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            if has_no_blanks(c) {
                without += 1;
            } else if c.is_alphabetic() {
                with += 1;
            }
        }
    }
    without > with
}

/// Returns true if the bytes alone show that most letters are of scripts with blanks. That is so if
/// there are at least as many ASCII letters as first bytes of characters that may be of a script
/// without blanks.
fn is_surely_with_blanks(text: &[u8]) -> bool {
    /// The most bytes whose count fits into one byte, so that one instruction counts many bytes.
    const AT_ONCE: usize = 255;
    // Characters of those scripts have three or four bytes. None of them begins with 0xE2, which
    // begins quotes and dashes.
    let may_begin_one = |byte: u8| byte >= 0xE0 && byte != 0xE2;
    // No sum exceeds 255. Without an overflow check the compiler can count many bytes at once.
    let count = |bytes: &[u8], is_one: fn(u8) -> bool| {
        usize::from(bytes.iter().fold(0_u8, |count, &byte| count.wrapping_add(u8::from(is_one(byte)))))
    };
    let (mut most_without, mut least_with) = (0, 0);
    for bytes in text.chunks(AT_ONCE) {
        most_without += count(bytes, may_begin_one);
        least_with += count(bytes, |byte| byte.is_ascii_alphabetic());
    }
    most_without <= least_with
}

/// Returns true for characters of scripts that are written without blanks between words.
fn has_no_blanks(c: char) -> bool {
    matches!(c,
        '\u{0E00}'..='\u{0FFF}'        // Thai, Lao, Tibetan
        | '\u{1000}'..='\u{109F}'      // Myanmar
        | '\u{1780}'..='\u{17FF}'      // Khmer
        | '\u{19E0}'..='\u{19FF}'      // Khmer symbols
        | '\u{3005}'..='\u{3007}'      // ideographic iteration mark, closing mark, zero
        | '\u{3040}'..='\u{30FF}'      // Hiragana, Katakana
        | '\u{31F0}'..='\u{31FF}'      // Katakana extensions
        | '\u{3400}'..='\u{4DBF}'      // Han, extension A
        | '\u{4E00}'..='\u{9FFF}'      // Han
        | '\u{AA60}'..='\u{AA7F}'      // Myanmar extensions
        | '\u{F900}'..='\u{FAFF}'      // Han, compatibility
        | '\u{FF66}'..='\u{FF9F}'      // Katakana of half width
        | '\u{20000}'..='\u{3FFFF}'    // Han, further extensions
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(kind: &str, text: &str) -> usize {
        TextShingler::new(kind.parse().unwrap(), 0, false).set(text.as_bytes()).len()
    }

    #[test]
    fn scripts_without_blanks_are_cut_by_characters() {
        for text in ["東京都港区の海と山", "ภาษาไทยไม่มีช่องว่าง", "ひらがなとカタカナ", "中文没有空格分隔词语"]
        {
            assert_eq!(count("words:5", text), text.chars().count() - CHARACTERS + 1, "{text}");
        }
        assert_eq!(count("words:5", "one two three four five six 東京"), 3);
        assert_eq!(count("words:2", "Привет мир и море"), 3);
        assert_eq!(count("words:2", "한국어는 띄어쓰기를 한다"), 2, "Korean has blanks");
        assert_eq!(count("chars:3", "東京都港区"), 3, "as asked for");
    }

    #[test]
    fn counting_bytes_never_overrules_counting_characters() {
        for c in (0..=0x10_FFFF).filter_map(char::from_u32).filter(|&c| has_no_blanks(c)) {
            let mut text = c.to_string();
            assert!(is_without_blanks(text.as_bytes()), "{c:?}");
            text.push_str("ab");
            assert!(!is_without_blanks(text.as_bytes()), "{c:?}");
        }
        let quoted = "\u{201C}東京\u{201D}".repeat(200);
        assert!(is_without_blanks(quoted.as_bytes()));
        assert!(!is_without_blanks("\u{2019}tis so ".repeat(200).as_bytes()));
    }

    #[test]
    fn normal_form_makes_texts_equal_that_look_the_same() {
        let [composed, decomposed] =
            ["ação e reação de novo", "ac\u{327}a\u{303}o e reac\u{327}a\u{303}o de novo"];
        let set = |text: &str, nfc| {
            TextShingler::new(Shingles::words(2).unwrap(), 0, nfc).set(text.as_bytes()).to_vec()
        };
        assert_ne!(set(composed, false), set(decomposed, false));
        assert_eq!(set(composed, true), set(decomposed, true));
        assert_eq!(set(composed, true), set(composed, false));
    }
}
