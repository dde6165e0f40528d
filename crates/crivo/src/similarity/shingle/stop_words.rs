//! Words so frequent that every prose text has them.

use crate::error::{Error, Result};
use crate::keys::Words;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The 100 most frequent words of English, as lemmas, the most frequent first, after the ranking of
/// the Oxford English Corpus.
pub const MOST_FREQUENT_ENGLISH: [&str; 100] = [
    "the", "be", "to", "of", "and", "a", "in", "that", "have", "i", //
    "it", "for", "not", "on", "with", "he", "as", "you", "do", "at", //
    "this", "but", "his", "by", "from", "they", "we", "say", "her", "she", //
    "or", "an", "will", "my", "one", "all", "would", "there", "their", "what", //
    "so", "up", "out", "if", "about", "who", "get", "which", "go", "me", //
    "when", "make", "can", "like", "time", "no", "just", "him", "know", "take", //
    "people", "into", "year", "your", "good", "some", "could", "them", "see", "other", //
    "than", "then", "now", "look", "only", "come", "its", "over", "think", "also", //
    "back", "after", "use", "two", "how", "our", "work", "first", "well", "way", //
    "even", "new", "want", "because", "any", "these", "give", "day", "most", "us",
];

/// A list of stop words of any language, in lower case, in ascending order without repetitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopWords(Vec<String>);

impl StopWords {
    /// Returns the [100 most frequent English words](MOST_FREQUENT_ENGLISH).
    pub fn english() -> Self {
        let mut words: Vec<_> = MOST_FREQUENT_ENGLISH.iter().map(|&word| word.to_owned()).collect();
        words.sort_unstable();
        Self(words)
    }

    /// Returns the caller's own list of words.
    ///
    /// # Errors
    /// If the list is empty, or an entry is not exactly one [word](Words).
    ///
    /// ```
    /// use crivo::similarity::shingle::StopWords;
    ///
    /// let portuguese = StopWords::new(["de", "A", "o", "que", "e"])?;
    /// assert_eq!(portuguese.iter().next(), Some("a"));
    /// assert!(StopWords::new(["a propos"]).is_err());
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let mut cut = Words::default();
        let mut list = Vec::new();
        for entry in words {
            cut.read(entry.as_bytes());
            let mut found = cut.iter().map(String::from_utf8_lossy);
            match (found.next(), found.next()) {
                (Some(word), None) => list.push(word.into_owned()),
                _ => return Err(Error::parameter("stop word", "one word", format_args!("{entry:?}"))),
            }
        }
        list.sort_unstable();
        list.dedup();
        if list.is_empty() {
            return Err(Error::parameter("stop words", "at least one", "none"));
        }
        Ok(Self(list))
    }

    /// The words, in ascending order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_english_list_has_a_hundred_different_words() {
        assert_eq!(StopWords::english(), StopWords::new(MOST_FREQUENT_ENGLISH).unwrap());
        assert_eq!(StopWords::english().iter().len(), 100);
    }

    #[test]
    fn lists_without_a_word_are_refused() {
        assert!(StopWords::new([]).is_err());
        assert!(StopWords::new(["..."]).is_err());
    }
}
