//! The kinds of shingles, and their text form: `words:5`, `chars:5`, `stopwords`.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::stop_words::StopWords;
use crate::error::{Error, Result};

/// The number of words or characters a shingle may have. With more than 64, a single changed word
/// hides a whole page.
const LENGTHS: RangeInclusive<usize> = 1..=64;

/// What a shingle is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shingles {
    /// The given number of consecutive words.
    Words(usize),
    /// The given number of consecutive characters.
    Characters(usize),
    /// A stop word and the two words after it.
    StopWords(StopWords),
}

impl Shingles {
    /// Returns shingles of `n` consecutive words.
    ///
    /// # Errors
    /// If `n` is 0 or above 64.
    pub fn words(n: usize) -> Result<Self> {
        check_length(n).map(Self::Words)
    }

    /// Returns shingles of `n` consecutive characters.
    ///
    /// # Errors
    /// If `n` is 0 or above 64.
    pub fn characters(n: usize) -> Result<Self> {
        check_length(n).map(Self::Characters)
    }

    /// Returns shingles that begin with one of the 100 most frequent English words.
    pub fn english_stop_words() -> Self {
        Self::StopWords(StopWords::english())
    }
}

fn check_length(n: usize) -> Result<usize> {
    if LENGTHS.contains(&n) {
        Ok(n)
    } else {
        Err(Error::parameter("shingle length", format_args!("{} to {}", LENGTHS.start(), LENGTHS.end()), n))
    }
}

impl Default for Shingles {
    /// Five words: long enough that common phrases of a language do not make texts similar.
    fn default() -> Self {
        Self::Words(5)
    }
}

impl FromStr for Shingles {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let unknown =
            || Error::parameter("shingle", "words:N, chars:N or stopwords", format_args!("{text:?}"));
        match text.split_once(':') {
            None if text == "stopwords" => Ok(Self::english_stop_words()),
            Some(("words", n)) => Self::words(n.parse().map_err(|_| unknown())?),
            Some(("chars", n)) => Self::characters(n.parse().map_err(|_| unknown())?),
            _ => Err(unknown()),
        }
    }
}

impl fmt::Display for Shingles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(n) => write!(f, "words:{n}"),
            Self::Characters(n) => write!(f, "chars:{n}"),
            Self::StopWords(_) => f.write_str("stopwords"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_as_they_are_written() {
        for text in ["words:1", "words:5", "words:64", "chars:3", "stopwords"] {
            assert_eq!(text.parse::<Shingles>().unwrap().to_string(), text);
        }
        assert_eq!(Shingles::default().to_string(), "words:5");
    }

    #[test]
    fn unknown_kinds_and_lengths_are_refused_with_what_is_allowed() {
        for text in ["", "words", "words:", "words:x", "words:-1", "letters:3", "stopwords:3"] {
            let error = text.parse::<Shingles>().unwrap_err().to_string();
            assert!(error.contains("words:N, chars:N or stopwords"), "{text:?}: {error}");
        }
        for text in ["words:0", "chars:65"] {
            assert!(text.parse::<Shingles>().unwrap_err().to_string().contains("1 to 64"), "{text}");
        }
    }
}
