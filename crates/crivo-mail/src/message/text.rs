//! One form for text that looks the same.
//!
//! Filters read bytes, people read shapes: `V1AGRA` with a Cyrillic А, letters with invisible
//! characters between them, full-width or mathematical letters. Three steps bring them to one form.
//! Invisible characters are removed; compatibility forms become what they stand for (NFKC); and in
//! a word that mixes Latin letters with those of another script, characters that Unicode's table of
//! confusables gives a Latin double become that double. Words of one script stay as they are:
//! Russian is no disguise.
//!
//! That something was found is evidence too, and leaves a trace.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_security::confusable_detection::skeleton;

/// Brings text to its one form, and remembers what it found.
#[derive(Debug, Default)]
pub(super) struct Normalizer {
    invisible: bool,
    disguised: bool,
}

impl Normalizer {
    /// The text in its one form; ASCII already is.
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
        // A mark of the byte order at the beginning is no disguise.
        self.invisible |= invisible > 1;
        if is_mixed(&plain) {
            plain = self.undisguised(&plain);
        }
        Cow::Owned(plain)
    }

    /// What was found.
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

/// Whether there are ASCII letters and letters of another script than Latin.
fn is_mixed(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_alphabetic()) && text.chars().any(is_of_another_script)
}

/// Greek, Cyrillic, Armenian, Cherokee and what else has letters that look Latin. Latin letters
/// with marks end before.
fn is_of_another_script(c: char) -> bool {
    c >= '\u{370}' && c.is_alphabetic() && !matches!(c, '\u{1E00}'..='\u{1EFF}')
}

/// The ASCII letter or digit that a character of another script looks like.
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

/// Characters that leave no trace on a screen.
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
