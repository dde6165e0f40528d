//! The exact facts of a column: kinds, lengths, the first and the last text, the least and the
//! greatest integer.

use super::kind::{Kind, Parsed, parse};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The exact facts of the values of a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Facts {
    /// The number of values of each kind.
    pub(super) kinds: [u64; Kind::ALL.len()],
    /// The number of values that are too long to be counted individually.
    pub(super) long: u64,
    /// Lengths are in characters. The shortest is [`u64::MAX`] while there are no values.
    pub(super) shortest: u64,
    pub(super) longest: u64,
    pub(super) total_length: u64,
    /// The first and the last text in byte order, cut to the bytes that are kept.
    pub(super) first: Text,
    pub(super) last: Text,
    /// The least and the greatest integer that fits in 64 bits.
    pub(super) integers: Option<(i64, i64)>,
    /// The sum of the differences between these integers and their floats.
    pub(super) lost: i128,
}

/// A text with its first bytes as a number, which decides most comparisons.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Text {
    start: u64,
    bytes: Vec<u8>,
}

impl Text {
    pub(super) fn new(bytes: &[u8]) -> Self {
        Self { start: start_of(bytes), bytes: bytes.to_vec() }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn become_text(&mut self, bytes: &[u8]) {
        self.start = start_of(bytes);
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
    }
}

/// Returns the first eight bytes as a number that sorts like the text. Missing bytes are 0.
#[inline]
pub(super) fn start_of(bytes: &[u8]) -> u64 {
    let length = bytes.len();
    match (bytes.first_chunk::<8>(), bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(start), ..) => u64::from_be_bytes(*start),
        // Where the two chunks overlap, their bytes are the same.
        (None, Some(front), Some(back)) => {
            u64::from(u32::from_be_bytes(*front)) << 32
                | u64::from(u32::from_be_bytes(*back)) << (64 - 8 * length)
        }
        _ => match *bytes {
            [] => 0,
            [a] => u64::from(a) << 56,
            [a, b, ..] => {
                let c = bytes[length - 1];
                u64::from(a) << 56 | u64::from(b) << 48 | u64::from(c) << (64 - 8 * length)
            }
        },
    }
}

/// The bits that are never set in ASCII.
const NOT_ASCII: u64 = 0x8080_8080_8080_8080;

/// Floats represent all integers up to this magnitude.
const EXACT: u64 = 1 << 53;

impl Facts {
    pub(super) fn new() -> Self {
        Self {
            kinds: [0; Kind::ALL.len()],
            long: 0,
            shortest: u64::MAX,
            longest: 0,
            total_length: 0,
            first: Text::default(),
            last: Text::default(),
            integers: None,
            lost: 0,
        }
    }

    /// Returns the number of values.
    pub(super) fn values(&self) -> u64 {
        self.kinds.iter().fold(0, |sum, &count| sum.saturating_add(count))
    }

    /// Adds a value that occurred `weight` times. `is_first` means that there was no value before.
    /// Returns the parsed value.
    #[inline]
    pub(super) fn insert(&mut self, text: &[u8], weight: u64, kept: usize, is_first: bool) -> Parsed {
        let start = start_of(text);
        let is_ascii = start & NOT_ASCII == 0 && (text.len() <= 8 || text.is_ascii());
        let length = if is_ascii { text.len() } else { characters(text) } as u64;
        self.shortest = self.shortest.min(length);
        self.longest = self.longest.max(length);
        self.total_length = self.total_length.saturating_add(length.saturating_mul(weight));

        let cut = &text[..text.len().min(kept)];
        if is_first {
            self.first.become_text(cut);
            self.last.become_text(cut);
        } else {
            if start <= self.first.start && *cut < *self.first.bytes {
                self.first.become_text(cut);
            }
            if start >= self.last.start && *cut > *self.last.bytes {
                self.last.become_text(cut);
            }
        }

        let parsed = parse(text, start);
        let kind = &mut self.kinds[parsed.kind() as usize];
        *kind = kind.saturating_add(weight);
        if let Parsed::Integer(integer) = parsed {
            let (least, greatest) = self.integers.unwrap_or((integer, integer));
            self.integers = Some((least.min(integer), greatest.max(integer)));
            if integer.unsigned_abs() > EXACT {
                let lost = i128::from(weight) * (i128::from(integer) - (integer as f64) as i128);
                self.lost = self.lost.saturating_add(lost);
            }
        }
        parsed
    }

    pub(super) fn merge(&mut self, other: &Self) {
        if other.values() == 0 {
            return;
        }
        if self.values() == 0 {
            *self = other.clone();
            return;
        }
        for (mine, theirs) in self.kinds.iter_mut().zip(other.kinds) {
            *mine = mine.saturating_add(theirs);
        }
        self.long = self.long.saturating_add(other.long);
        self.shortest = self.shortest.min(other.shortest);
        self.longest = self.longest.max(other.longest);
        self.total_length = self.total_length.saturating_add(other.total_length);
        if other.first.bytes < self.first.bytes {
            self.first = other.first.clone();
        }
        if other.last.bytes > self.last.bytes {
            self.last = other.last.clone();
        }
        self.integers = match (self.integers, other.integers) {
            (Some(mine), Some(theirs)) => Some((mine.0.min(theirs.0), mine.1.max(theirs.1))),
            (mine, theirs) => mine.or(theirs),
        };
        self.lost = self.lost.saturating_add(other.lost);
    }

    /// Returns true if the integers can have lost that much: at most 2^9 each, and nothing if
    /// floats represent all of them.
    pub(super) fn can_have_lost(&self) -> bool {
        let most = |(least, greatest): (i64, i64)| {
            if least.unsigned_abs().max(greatest.unsigned_abs()) <= EXACT { 0 } else { 1 << 9 }
        };
        let integers = self.kinds[Kind::Integer as usize];
        self.lost.unsigned_abs() <= u128::from(integers) * self.integers.map_or(0, most)
            || integers == u64::MAX
    }

    /// Returns the number of bytes behind the pointers.
    pub(super) fn memory(&self) -> usize {
        self.first.bytes.capacity() + self.last.bytes.capacity()
    }
}

/// Returns the number of characters of a UTF-8 text. Each invalid sequence counts as the one
/// replacement character that is shown for it. So a value that is not empty never has length 0.
#[cold]
fn characters(text: &[u8]) -> usize {
    match std::str::from_utf8(text) {
        Ok(text) => text.chars().count(),
        Err(_) => text
            .utf8_chunks()
            .map(|chunk| chunk.valid().chars().count() + usize::from(!chunk.invalid().is_empty()))
            .sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_those_that_are_shown() {
        for text in [
            &b"a\xC3\xA9"[..],
            "文字".as_bytes(),
            b"\x80\x81\x82\x83",
            b"\xE2\x82",
            b"a\xFFb\xE2\x82\xAC\xF0\x9F",
        ] {
            assert_eq!(characters(text), String::from_utf8_lossy(text).chars().count(), "{text:?}");
            assert!(characters(text) > 0);
        }
    }

    #[test]
    fn starts_have_the_order_of_texts() {
        let texts: [&[u8]; 8] = [b"", b"\0", b"a", b"a\0", b"abcdefg", b"abcdefgh", b"abcdefghi", b"\xFF"];
        for pair in texts.windows(2) {
            assert!(start_of(pair[0]) <= start_of(pair[1]), "{pair:?}");
        }
        for length in 0..=10 {
            let text = &b"\x91bcdefghij"[..length];
            let expected = (0..8).fold(0, |start, at| start << 8 | u64::from(*text.get(at).unwrap_or(&0)));
            assert_eq!(start_of(text), expected, "{length} bytes");
        }
        assert_eq!(start_of(b"abc"), u64::from_be_bytes(*b"abc\0\0\0\0\0"));
    }

    /// The sum of a stored profile can have any value once its integers are too many to count.
    #[test]
    fn what_integers_lost_stops_at_the_ends_of_its_range() {
        for (lost, text) in [(i128::MAX, &b"9007199254740993"[..]), (i128::MIN, b"9007199254740995")] {
            let mut facts = Facts::new();
            facts.insert(text, u64::MAX, 32, true);
            facts.lost = lost;
            assert!(facts.can_have_lost());
            facts.insert(text, 1, 32, false);
            assert_eq!(facts.lost, lost);
        }
    }
}
