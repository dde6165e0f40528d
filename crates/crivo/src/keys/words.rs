//! Where do the words of a text begin and end?
//!
//! A word is a run of letters, digits and `_` of any script (Unicode's alphanumeric characters), in
//! lower case. Everything else separates words, invalid UTF-8 included. Items of `--words` and the
//! shingles of near-duplicates are made of these words. `word_spans` follows the same rule.
//!
//! Tools that compare texts spend most of their time on cutting words, so [`Words`] works on many
//! bytes at once. It converts to lower case and sets one bit for each byte that belongs to a word,
//! then finds the edges of the runs of ones. It processes only characters outside ASCII one by
//! one.

use crate::cpu::{BLOCK, lower_and_mark};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The high bit of each byte of a `u64`.
const HIGH: u64 = 0x8080_8080_8080_8080;

/// The most bytes of a word that is read as one little-endian number.
pub(crate) const SHORT: usize = 16;

/// The number of edges that are written at once. Those beyond the last edge of a block are
/// overwritten by the next block.
const EDGES_AT_ONCE: usize = 8;

/// A text cut into words. The buffers are reused from one text to the next.
///
/// ```
/// use crivo::keys::Words;
///
/// let mut words = Words::default();
/// words.read("Só uma VEZ, só_1!".as_bytes());
/// assert_eq!(words.iter().collect::<Vec<_>>(), ["só", "uma", "vez", "só_1"].map(str::as_bytes));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Words {
    /// The text in lower case, with invalid UTF-8 replaced by blanks. At least [`SHORT`] zeros
    /// follow it, so that the bytes of a short word can be read at once.
    lower: Vec<[u8; BLOCK]>,
    /// The same as a string, if the text is not all ASCII.
    beyond_ascii: String,
    /// One bit for each byte of `lower`: whether it belongs to a word.
    inside: Vec<u64>,
    /// The start and the end of each word, in turn. Only the first `edge_count` belong to this
    /// text.
    edges: Vec<usize>,
    edge_count: usize,
}

impl Words {
    /// Cuts a text, which replaces the one before.
    pub fn read(&mut self, text: &[u8]) {
        load(text, &mut self.lower);
        if !lower_and_mark(&mut self.lower, &mut self.inside) {
            lower_case(text, &mut self.beyond_ascii);
            load(self.beyond_ascii.as_bytes(), &mut self.lower);
            lower_and_mark(&mut self.lower, &mut self.inside);
            mark_beyond_ascii(&self.beyond_ascii, &mut self.inside);
        }
        self.edge_count = find_edges(&self.inside, &mut self.edges);
    }

    fn edges(&self) -> &[usize] {
        &self.edges[..self.edge_count]
    }

    /// Returns how many words there are.
    pub fn len(&self) -> usize {
        self.edge_count / 2
    }

    /// Returns true if there is no word.
    pub fn is_empty(&self) -> bool {
        self.edge_count == 0
    }

    /// Returns the words in their order, in lower case.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let text = self.lower.as_flattened();
        self.edges().chunks_exact(2).map(move |edges| &text[edges[0]..edges[1]])
    }

    /// Appends one value for each word to `out`. Calls `short` with the word's bytes as a
    /// little-endian number, or `long` for a word of more than [`SHORT`] bytes.
    #[inline]
    pub(crate) fn map_into(
        &self,
        out: &mut Vec<u64>,
        short: impl Fn(u128) -> u64,
        long: impl Fn(&[u8]) -> u64,
    ) {
        let text = self.lower.as_flattened();
        out.extend(self.edges().chunks_exact(2).map(|edges| {
            let (start, len) = (edges[0], edges[1] - edges[0]);
            match text[start..].first_chunk::<SHORT>() {
                Some(bytes) if len <= SHORT => short(u128::from_le_bytes(*bytes) & FIRST_BYTES[len]),
                _ => long(&text[start..edges[1]]),
            }
        }));
    }
}

/// For each number of bytes, the mask of the first bytes.
const FIRST_BYTES: [u128; SHORT + 1] = {
    let mut masks = [0; SHORT + 1];
    let mut len = 1;
    while len <= SHORT {
        masks[len] = u128::MAX >> (128 - 8 * len);
        len += 1;
    }
    masks
};

/// Replaces `out` by the text and zeros, up to a whole number of blocks, with at least [`SHORT`]
/// zeros.
fn load(text: &[u8], out: &mut Vec<[u8; BLOCK]>) {
    let (blocks, tail) = text.as_chunks();
    out.clear();
    out.extend_from_slice(blocks);
    out.push([0; BLOCK]);
    if let Some(last) = out.last_mut() {
        last[..tail.len()].copy_from_slice(tail);
    }
    if tail.len() + SHORT > BLOCK {
        out.push([0; BLOCK]);
    }
}

/// Writes the text in lower case to `out`, and replaces its former content. Each run of bytes that
/// is not valid UTF-8 becomes a blank.
pub(crate) fn lower_case(text: &[u8], out: &mut String) {
    out.clear();
    // Nearly every text is valid, and checking all of it at once is several times faster.
    if let Ok(text) = std::str::from_utf8(text) {
        return push_lower_case(text, out);
    }
    for part in text.utf8_chunks() {
        push_lower_case(part.valid(), out);
        if !part.invalid().is_empty() {
            out.push(' ');
        }
    }
}

fn push_lower_case(mut rest: &str, out: &mut String) {
    while !rest.is_empty() {
        let (plain, others) = rest.split_at(ascii_prefix(rest.as_bytes()));
        let start = out.len();
        out.push_str(plain);
        out[start..].make_ascii_lowercase();
        let mut characters = others.chars();
        // Up to the next run of ASCII.
        while let Some(c) = characters.as_str().chars().next().filter(|c| !c.is_ascii()) {
            out.extend(c.to_lowercase());
            characters.next();
        }
        rest = characters.as_str();
    }
}

/// Returns how many bytes come before the first one that is not ASCII.
fn ascii_prefix(bytes: &[u8]) -> usize {
    let (eights, _) = bytes.as_chunks::<8>();
    let whole = eights.iter().take_while(|eight| u64::from_le_bytes(**eight) & HIGH == 0).count() * 8;
    whole + bytes[whole..].iter().take_while(|byte| byte.is_ascii()).count()
}

/// Sets the bits of the letters and digits that are not ASCII.
fn mark_beyond_ascii(lower: &str, inside: &mut [u64]) {
    let mut at = 0;
    while at < lower.len() {
        at += ascii_prefix(&lower.as_bytes()[at..]);
        for c in lower[at..].chars().take_while(|c| !c.is_ascii()) {
            let end = at + c.len_utf8();
            if c.is_alphanumeric() {
                (at..end).for_each(|byte| inside[byte / 64] |= 1 << (byte % 64));
            }
            at = end;
        }
    }
}

/// Writes the start and the end of each run of ones to `edges`. Returns how many edges there are.
/// The last run ends before the padding.
fn find_edges(inside: &[u64], edges: &mut Vec<usize>) -> usize {
    let (mut count, mut before) = (0, 0);
    for (index, &bits) in inside.iter().enumerate() {
        let mut changes = bits ^ (bits << 1 | before);
        before = bits >> 63;
        if edges.len() < count + BLOCK {
            edges.resize(2 * edges.len() + BLOCK, 0);
        }
        let (rooms, _) = edges[count..count + BLOCK].as_chunks_mut::<EDGES_AT_ONCE>();
        count += changes.count_ones() as usize;
        for room in rooms {
            if changes == 0 {
                break;
            }
            for edge in room {
                *edge = index * BLOCK + changes.trailing_zeros() as usize;
                changes &= changes.wrapping_sub(1);
            }
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &[u8]) -> Vec<String> {
        let mut words = Words::default();
        // Data of an earlier text must not show.
        words.read("Mais uma VEZ çã ".repeat(20).as_bytes());
        words.read(text);
        assert_eq!(words.len(), words.iter().count());
        let mut lengths = Vec::new();
        words.map_into(&mut lengths, |bytes| u64::from(bytes.to_le_bytes()[0]), |word| word.len() as u64);
        for (word, length) in words.iter().zip(lengths) {
            let expected = if word.len() <= SHORT { u64::from(word[0]) } else { word.len() as u64 };
            assert_eq!(length, expected);
        }
        words.iter().map(|word| String::from_utf8(word.to_vec()).unwrap()).collect()
    }

    /// Returns the words by the rule, one character at a time.
    fn words_by_the_rule(text: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        for part in text.utf8_chunks() {
            let lower: String = part.valid().chars().flat_map(char::to_lowercase).collect();
            let parts = lower.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            found.extend(parts.filter(|word| !word.is_empty()).map(str::to_owned));
        }
        found
    }

    #[test]
    fn every_byte_is_classified_as_the_rule_says() {
        for byte in 0..=255_u8 {
            for text in [vec![byte], vec![byte; 64], vec![b'a', byte, b'b']] {
                assert_eq!(words(&text), words_by_the_rule(&text), "{text:?}");
            }
        }
    }

    #[test]
    fn a_word_may_end_anywhere_in_a_block() {
        for len in 0..200 {
            let word = "x".repeat(len);
            for text in [word.clone(), format!(" {word}"), format!("{word} y"), format!("é{word}ß,")] {
                assert_eq!(words(text.as_bytes()), words_by_the_rule(text.as_bytes()), "{text:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn text_of_any_script_is_cut_by_the_rule(text in "(\\PC|[a-zA-Z0-9_ ,]){0,200}") {
            prop_assert_eq!(words(text.as_bytes()), words_by_the_rule(text.as_bytes()));
        }

        #[test]
        fn any_bytes_are_cut_by_the_rule(text in proptest::collection::vec(any::<u8>(), 0..300)) {
            prop_assert_eq!(words(&text), words_by_the_rule(&text));
        }
    }
}
