//! Brings text that looks the same to one form.
//!
//! Filters read bytes, people read shapes: `V1AGRA` with a Cyrillic А, letters with invisible
//! characters between them, full-width or mathematical letters. Three steps bring them to one form:
//!
//! 1. Invisible characters are removed.
//! 2. Compatibility forms become the characters they stand for (NFKC).
//! 3. In a word that mixes Latin letters with letters of another script, a character that looks
//!    like a Latin one by Unicode's table of confusables becomes that one.
//!
//! Words of one script stay as they are, because Russian is not a disguise. That something was
//! found is evidence too, and becomes a fact.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_security::confusable_detection::skeleton;

/// Brings text to one form, and remembers what it found.
#[derive(Debug, Default)]
pub(super) struct Normalizer {
    invisible: bool,
    disguised: bool,
}

impl Normalizer {
    /// Returns the text in one form. ASCII text already is.
    pub(super) fn normalize<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        if text.is_ascii() {
            return Cow::Borrowed(text);
        }
        let mut invisible = 0;
        let visible = text.chars().filter(|&c| {
            let seen = !is_invisible(c);
            invisible += usize::from(!seen);
            seen
        });
        let mut plain: String = visible.nfkc().collect();
        // A byte order mark at the beginning is not a disguise.
        self.invisible |= invisible > 1;
        if is_mixed(&plain) {
            plain = self.undisguised(&plain);
        }
        Cow::Owned(plain)
    }

    /// Returns facts about what was found.
    pub(super) fn traces(&self) -> impl Iterator<Item = &'static str> + use<> {
        let found = [
            (self.invisible, "invisible characters"),
            (self.disguised, "letters of another script inside of words"),
        ];
        found.into_iter().filter_map(|(is, trace)| is.then_some(trace))
    }

    fn undisguised(&mut self, text: &str) -> String {
        let mut plain = String::with_capacity(text.len());
        for word in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
            if !is_mixed(word) {
                plain.push_str(word);
                continue;
            }
            for c in word.chars() {
                match latin_double(c) {
                    Some(double) => {
                        self.disguised = true;
                        plain.push(double);
                    }
                    None => plain.push(c),
                }
            }
        }
        plain
    }
}

/// Returns true if there are ASCII letters, and letters of another script than Latin.
fn is_mixed(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_alphabetic()) && text.chars().any(is_of_another_script)
}

/// Returns true for letters of Greek, Cyrillic, Armenian, Cherokee and all other scripts that have
/// letters like Latin ones. Latin letters with diacritics are mostly below this range.
fn is_of_another_script(c: char) -> bool {
    c >= '\u{370}' && c.is_alphabetic() && !matches!(c, '\u{1E00}'..='\u{1EFF}')
}

/// Returns the ASCII letter or digit that a character of another script looks like.
fn latin_double(c: char) -> Option<char> {
    if !is_of_another_script(c) {
        return None;
    }
    let mut buffer = [0; 4];
    let mut double = skeleton(c.encode_utf8(&mut buffer));
    match (double.next(), double.next()) {
        (Some(double), None) if double.is_ascii_alphanumeric() => Some(double),
        _ => None,
    }
}

/// Returns true for characters that a screen does not show.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{AD}'
            | '\u{34F}'
            | '\u{61C}'
            | '\u{115F}'
            | '\u{1160}'
            | '\u{17B4}'
            | '\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> (String, Vec<&'static str>) {
        let mut normalizer = Normalizer::default();
        let plain = normalizer.normalize(text).into_owned();
        (plain, normalizer.traces().collect())
    }

    #[test]
    fn disguised_words_are_the_words_they_look_like() {
        assert_eq!(plain("v\u{200B}i\u{200D}agra").0, "viagra");
        assert_eq!(plain("ｖｉａｇｒａ").0, "viagra");
        assert_eq!(plain("𝐯𝐢𝐚𝐠𝐫𝐚").0, "viagra");
        let (text, traces) = plain("viаgrа and рaypal"); // Cyrillic а, а and р
        assert_eq!(text, "viagra and paypal");
        assert_eq!(traces, ["letters of another script inside of words"]);
    }

    #[test]
    fn honest_words_of_any_script_stay() {
        for text in ["привет, мир", "γειά σου", "Olá São João", "東京 tower", "naïve café"]
        {
            assert_eq!(plain(text), (text.to_owned(), vec![]));
        }
    }
}
