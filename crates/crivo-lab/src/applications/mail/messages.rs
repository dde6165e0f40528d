//! Generated messages. Each phrase is one shingle, so that the similarity of two messages is known
//! exactly.
//!
//! A shingle of the classic method is a frequent word and the two words after it. A phrase here is
//! exactly that, *the hotel garden*, and there are 19,200 of them. Two messages of about a hundred
//! phrases drawn at random share at most one. A message that repeats `c` of another's `s` phrases,
//! and has `s − c` of its own, has the similarity `c/(2s − c)` to it.

use crate::prelude::*;

const FREQUENT: [&str; 12] =
    ["the", "of", "to", "and", "a", "in", "for", "with", "you", "this", "on", "your"];
const OTHERS: [&str; 40] = [
    "offer", "travel", "summer", "price", "deal", "week", "order", "shop", "music", "garden", "shoes",
    "ticket", "beach", "hotel", "phone", "coffee", "member", "points", "sale", "friends", "report",
    "meeting", "project", "river", "lunch", "budget", "house", "school", "train", "photo", "recipe",
    "doctor", "paper", "letter", "number", "answer", "question", "evening", "morning", "table",
];

/// Texts without a shingle: the words that the original found in the wanted mail that it filtered.
const SHORT: [&str; 3] = ["Ok", "Thank you", "Done"];

/// The number of phrases of a text.
pub(super) const SIZE: usize = 100;

/// Distinct phrases, by their numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct Text(Vec<usize>);

impl Text {
    /// Returns a text of the given number of phrases, drawn at random.
    pub(super) fn new(phrases: usize, random: &mut Random) -> Self {
        let mut text = Self::default();
        text.fill_up(phrases, random);
        text
    }

    fn fill_up(&mut self, phrases: usize, random: &mut Random) {
        while self.0.len() < phrases {
            let phrase = random.below(FREQUENT.len() * OTHERS.len() * OTHERS.len());
            if !self.0.contains(&phrase) {
                self.0.push(phrase);
            }
        }
    }

    /// Returns another text of the same size, with this similarity as nearly as whole phrases
    /// allow.
    pub(super) fn alike(&self, similarity: f64, random: &mut Random) -> Self {
        let size = self.0.len();
        let common = libm::round(2.0 * size as f64 * similarity / (1.0 + similarity)) as usize;
        let mut phrases = self.0.clone();
        random.shuffle(&mut phrases);
        phrases.truncate(common);
        let mut text = Self(phrases);
        text.fill_up(size, random);
        text
    }

    /// Returns this text with the given number of further phrases.
    pub(super) fn with_more(&self, phrases: usize, random: &mut Random) -> Self {
        let mut text = self.clone();
        text.fill_up(self.0.len() + phrases, random);
        text
    }

    /// Returns true if the text has no phrase.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns Jaccard's index of two texts that have phrases.
    pub(super) fn similarity(&self, other: &Self) -> f64 {
        let common = self.0.iter().filter(|phrase| other.0.contains(phrase)).count();
        common as f64 / (self.0.len() + other.0.len() - common) as f64
    }

    /// Returns a message with this text. Without a phrase, it has only a word or two.
    pub(super) fn from(&self, sender: &str) -> Vec<u8> {
        let words = |&phrase: &usize| {
            let (rest, last) = (phrase / OTHERS.len(), phrase % OTHERS.len());
            let (first, middle) = (rest / OTHERS.len(), rest % OTHERS.len());
            format!("{} {} {}", FREQUENT[first], OTHERS[middle], OTHERS[last])
        };
        let body = if self.is_empty() {
            SHORT[sender.len() % SHORT.len()].to_owned()
        } else {
            self.0.iter().map(words).collect::<Vec<_>>().join("\r\n")
        };
        format!("From: {sender}\r\nSubject: Hello\r\n\r\n{body}\r\n").into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crivo::similarity::shingle::{Shingler, Shingles};

    use super::*;

    /// The filter finds exactly the shingles that the experiment assumes.
    #[test]
    fn every_phrase_is_one_shingle() {
        let mut random = Random::new(crate::prelude::testing::seed());
        let mut shingler = Shingler::new(Shingles::english_stop_words());
        let mut shingles = |text: &Text| -> BTreeSet<u64> {
            let message = crivo_mail::Message::read(&text.from("ana@example.org"));
            shingler.set(message.text.as_bytes()).iter().copied().collect()
        };
        let text = Text::new(SIZE, &mut random);
        assert!(shingles(&Text::default()).is_empty());
        for wanted in [0.0, 0.1, 0.5, 0.9, 1.0] {
            let other = text.alike(wanted, &mut random);
            let (a, b) = (shingles(&text), shingles(&other));
            assert_eq!((a.len(), b.len()), (SIZE, SIZE));
            let common = a.intersection(&b).count() as f64;
            assert_eq!(common / (2.0 * SIZE as f64 - common), text.similarity(&other));
            assert!((text.similarity(&other) - wanted).abs() < 0.02, "{wanted}");
        }
    }
}
