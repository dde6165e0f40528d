//! Which parts of a text are compared?
//!
//! Two texts are similar if they share many short pieces, their shingles. A text becomes the set of
//! its shingles, each a 64-bit hash. From then on texts, users' films and photographs' features are
//! compared in the same way: as sets.
//!
//! | kind | a shingle is | for |
//! |---|---|---|
//! | `words:n` | `n` consecutive [words](crate::keys::Words) | prose; 5 is usual |
//! | `chars:n` | `n` consecutive characters, in lower case, every stretch of blanks as one | languages without blanks, short texts, code |
//! | `stopwords` | a stop word and the two words after it | news and mail: text that people wrote has stop words, menus and tables have none (Theobald, Siddharth, Paepcke: *SpotSigs*, 2008) |
//!
//! # How a shingle gets its hash
//!
//! Each word is hashed once. A word of at most 16 bytes is read as a little-endian number with low
//! half `l` and high half `h`. Its hash is the exclusive or of both halves of the 128-bit product
//! `(l ^ A ^ seed)·(h ^ B)`. So no branch depends on the word's length, which no processor can
//! predict. Longer words are hashed like keys (XXH3), and characters like integer keys. The shingle
//! of the tokens with hashes `t₁ … tₙ` has the polynomial `Σ tᵢ·P^(n−i)` modulo 2^64, finished by
//! the mixer of SplitMix64. The hash is a rolling hash: a token costs one step, whatever `n` is.
//! Two different shingles have the same hash with a probability of about 2^−62, so similarities
//! computed from hashes are called exact. This is part of the stored format of signatures
//! (docs/format.md has the constants) and never changes.
//!
//! # Texts without shingles
//!
//! A text with fewer than `n` words has no shingle. It is then similar to nothing, not even to
//! itself. Callers decide how to treat such texts, and crivo's own commands report their number.
//!
//! # Example
//!
//! ```
//! use crivo::similarity::shingle::{Shingler, Shingles};
//!
//! let mut shingler = Shingler::new(Shingles::words(2)?);
//! let one = shingler.set(b"the cat sat on the mat").to_vec();
//! let other = shingler.set(b"The cat sat; on the sofa.").to_vec();
//! let shared = one.iter().filter(|shingle| other.contains(shingle)).count();
//! assert_eq!((one.len(), other.len(), shared), (5, 5, 4));
//! assert!(shingler.set(b"word").is_empty());
//! # Ok::<(), crivo::Error>(())
//! ```

mod kind;
mod roll;
mod stop_words;
mod token;

pub use kind::Shingles;
pub use stop_words::{MOST_FREQUENT_ENGLISH, StopWords};

pub(crate) use roll::Roll;

use crate::keys::words::{Words, lower_case};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// Makes the shingles of one text after the other, and reuses its buffers.
#[derive(Debug, Clone)]
pub struct Shingler {
    kind: Shingles,
    seed: u64,
    words: Words,
    /// The text in lower case, for shingles of characters.
    lower: String,
    /// The hashes of the words or characters.
    tokens: Vec<u64>,
    shingles: Vec<u64>,
    /// The hashes of the stop words, in ascending order.
    stops: Vec<u64>,
}

impl Shingler {
    /// Creates a shingler of the given kind, with the public seed 0.
    pub fn new(kind: Shingles) -> Self {
        Self::with_seed(kind, 0)
    }

    /// Creates a shingler with the given kind and seed. Only shingles of the same kind and seed can
    /// be compared.
    pub fn with_seed(kind: Shingles, seed: u64) -> Self {
        let mut stops: Vec<u64> = match &kind {
            Shingles::StopWords(words) => {
                words.iter().map(|word| token::of_word(word.as_bytes(), seed)).collect()
            }
            _ => Vec::new(),
        };
        stops.sort_unstable();
        Self {
            kind,
            seed,
            words: Words::default(),
            lower: String::new(),
            tokens: Vec::new(),
            shingles: Vec::new(),
            stops,
        }
    }

    /// Returns the kind of shingles.
    pub fn kind(&self) -> &Shingles {
        &self.kind
    }

    /// The seed of every hash.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the shingles in the order of the text. A shingle that occurs several times is
    /// repeated. For a signature this is enough, because repetitions do not change it.
    pub fn shingles(&mut self, text: &[u8]) -> &[u64] {
        self.shingles.clear();
        match &self.kind {
            Shingles::Words(n) => {
                let n = *n;
                self.tokens.clear();
                if text.len() > PIECE {
                    // Allocates about the right size at once, because a growing vector is in memory
                    // twice while it is copied.
                    self.shingles
                        .reserve_exact(text.iter().filter(|byte| byte.is_ascii_whitespace()).count());
                }
                pieces(text).for_each(|piece| self.roll_piece(piece, n));
            }
            Shingles::Characters(n) => {
                let n = *n;
                self.read_characters(text);
                self.roll(n);
            }
            Shingles::StopWords(_) => {
                self.read_words(text);
                let starts =
                    self.tokens.windows(3).filter(|three| self.stops.binary_search(&three[0]).is_ok());
                self.shingles.extend(starts.map(roll::whole));
            }
        }
        &self.shingles
    }

    /// Passes the [`shingles`](Self::shingles) piece by piece to `take`, so that the shingles of a
    /// huge text are never all in memory. Shingles of characters and of stop words are passed in
    /// one piece.
    ///
    /// # Errors
    /// The first error of `take`.
    pub fn try_for_each_piece<E>(
        &mut self,
        text: &[u8],
        mut take: impl FnMut(&[u64]) -> core::result::Result<(), E>,
    ) -> core::result::Result<(), E> {
        let Shingles::Words(n) = self.kind else { return take(self.shingles(text)) };
        self.tokens.clear();
        pieces(text).try_for_each(|piece| {
            self.shingles.clear();
            self.roll_piece(piece, n);
            take(&self.shingles)
        })
    }

    /// Returns the hashes of the words in the order of the text. For shingles of characters these
    /// are the hashes of the characters.
    pub fn tokens(&mut self, text: &[u8]) -> &[u64] {
        match &self.kind {
            Shingles::Characters(_) => self.read_characters(text),
            Shingles::Words(_) | Shingles::StopWords(_) => self.read_words(text),
        }
        &self.tokens
    }

    /// Returns the set of shingles, in ascending order without repetitions.
    pub fn set(&mut self, text: &[u8]) -> &[u64] {
        self.shingles(text);
        self.shingles.sort_unstable();
        self.shingles.dedup();
        &self.shingles
    }

    fn read_words(&mut self, text: &[u8]) {
        self.tokens.clear();
        self.append_words(text);
    }

    fn append_words(&mut self, text: &[u8]) {
        self.words.read(text);
        let seed = self.seed;
        self.words.map_into(
            &mut self.tokens,
            |word| token::of_short_word(word, seed),
            |word| token::of_long_word(word, seed),
        );
    }

    /// Reads the characters in lower case. Consecutive blanks count as one, and blanks at both ends
    /// are skipped.
    fn read_characters(&mut self, text: &[u8]) {
        lower_case(text, &mut self.lower);
        self.tokens.clear();
        let blank = token::of_character(' ', self.seed);
        let mut blank_before = false;
        for c in self.lower.chars() {
            if c.is_whitespace() {
                blank_before = !self.tokens.is_empty();
                continue;
            }
            if std::mem::take(&mut blank_before) {
                self.tokens.push(blank);
            }
            self.tokens.push(token::of_character(c, self.seed));
        }
    }

    /// Appends the shingles of `n` words that end in this piece of a text.
    fn roll_piece(&mut self, piece: &[u8], n: usize) {
        // Keep the last words of the previous piece, which shingles of this piece share.
        self.tokens.drain(..self.tokens.len().saturating_sub(n - 1));
        self.append_words(piece);
        self.roll(n);
    }

    /// Appends the shingles of `n` tokens.
    fn roll(&mut self, n: usize) {
        let Some((first, rest)) = self.tokens.split_at_checked(n) else { return };
        let mut roll = Roll::new(first);
        self.shingles.reserve(rest.len() + 1);
        self.shingles.push(roll.hash());
        self.shingles.extend(rest.iter().zip(&self.tokens).map(|(&enters, &leaves)| {
            roll.step(leaves, enters);
            roll.hash()
        }));
    }
}

/// The number of bytes of a text that are split into words at once, so that a huge text takes
/// little more memory than its shingles.
const PIECE: usize = 1 << 20;

/// Splits a text into pieces of about [`PIECE`] bytes. Each ends after a blank, so no word is
/// split.
fn pieces(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    core::iter::from_fn(move || {
        let text = rest.take()?;
        let long = text.get(PIECE..).unwrap_or_default();
        let Some(blank) = long.iter().position(|byte| matches!(byte, b' ' | b'\n')) else {
            return Some(text);
        };
        let (piece, after) = text.split_at(PIECE + blank + 1);
        rest = Some(after);
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn count(kind: &str, text: &str) -> usize {
        Shingler::new(kind.parse().unwrap()).set(text.as_bytes()).len()
    }

    #[test]
    fn a_text_has_a_shingle_less_than_words_for_each_further_word_of_the_shingle() {
        assert_eq!(count("words:1", "a b c d"), 4);
        assert_eq!(count("words:3", "a b c d"), 2);
        assert_eq!(count("words:4", "a b c d"), 1);
        assert_eq!(count("words:5", "a b c d"), 0);
        assert_eq!(count("words:2", ""), 0);
    }

    #[test]
    fn characters_need_no_blanks_between_words() {
        assert_eq!(count("chars:2", "東京都港区"), 4);
        assert_eq!(count("chars:3", "  A  b "), 1);
        let mut shingler = Shingler::new(Shingles::characters(3).unwrap());
        assert_eq!(shingler.set(" A\n\tb ".as_bytes()).to_vec(), shingler.set(b"a b").to_vec());
    }

    #[test]
    fn a_stop_word_begins_a_shingle_if_two_words_follow() {
        let text = "This is the end, my only friend: the END of";
        // this is the · the end my · my only friend · the end of · only friend the
        assert_eq!(count("stopwords", text), 5);
        assert_eq!(count("stopwords", "Ok. Thank you"), 0);
        let mine = StopWords::new(["ENE"]).unwrap();
        assert_eq!(Shingler::new(Shingles::StopWords(mine)).set("ene mene muh ene".as_bytes()).len(), 1);
    }

    #[test]
    fn a_text_that_is_read_in_pieces_has_the_shingles_of_the_whole() {
        let long = "One  twö three, four\n".repeat(PIECE / 8) + &"x".repeat(2 * PIECE) + " end of it";
        for n in [1, 2, 5] {
            let mut shingler = Shingler::new(Shingles::words(n).unwrap());
            let whole: Vec<u64> = shingler.tokens(long.as_bytes()).windows(n).map(roll::whole).collect();
            assert!(shingler.shingles(long.as_bytes()) == whole, "{n} words");
            let mut gathered = Vec::new();
            let take = |piece: &[u64]| {
                assert!(piece.len() < whole.len());
                gathered.extend_from_slice(piece);
                Ok::<(), ()>(())
            };
            assert_eq!(shingler.try_for_each_piece(long.as_bytes(), take), Ok(()));
            assert!(gathered == whole, "{n} words");
        }
    }

    #[test]
    fn order_within_a_shingle_matters() {
        let mut shingler = Shingler::new(Shingles::words(2).unwrap());
        assert_ne!(shingler.set(b"a b").to_vec(), shingler.set(b"b a").to_vec());
    }

    /// Stored signatures depend on these values, which were computed outside of this library.
    #[test]
    fn hashes_never_change() {
        let first =
            |kind: &str, text: &str| Shingler::new(kind.parse().unwrap()).shingles(text.as_bytes())[0];
        assert_eq!(first("words:1", "sieve"), 0xC177_EA80_BA2F_00D2);
        assert_eq!(first("words:5", "One two three four five"), 0xE8DA_BBEF_1AA3_C5BB);
        assert_eq!(first("chars:5", "crivo"), 0xCBB6_5B46_528B_2CC0);
        assert_eq!(first("stopwords", "the small sieve"), 0x0CAE_B42F_320F_E5D2);
        assert_eq!(
            Shingler::with_seed(Shingles::words(2).unwrap(), 7).shingles(b"one two")[0],
            0x9C93_561F_A920_6413
        );
    }

    proptest! {
        #[test]
        fn shingles_are_those_of_each_window(text in "[abc ]{0,60}", n in 1_usize..6) {
            let mut shingler = Shingler::new(Shingles::words(n).unwrap());
            let words: Vec<&str> = text.split_whitespace().collect();
            let whole: BTreeSet<&[&str]> = words.windows(n).collect();
            prop_assert_eq!(shingler.shingles(text.as_bytes()).len(), words.len().saturating_sub(n - 1));
            prop_assert_eq!(shingler.set(text.as_bytes()).len(), whole.len());
            // A window has the same hash at every position.
            let all = shingler.shingles(text.as_bytes()).to_vec();
            for (window, hash) in words.windows(n).zip(all) {
                prop_assert_eq!(shingler.shingles(window.join("-").as_bytes()), [hash]);
            }
        }
    }
}
