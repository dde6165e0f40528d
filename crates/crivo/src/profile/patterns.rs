//! The patterns of texts: `A-999999` for a capital letter, a hyphen and six digits.
//!
//! The patterns are computed from the drawn rows, so they cost nothing for each row of a table. The
//! share of each is an estimate with the bounds of Clopper and Pearson. It is exact as long as all
//! values are drawn.

use super::detail::DrawnRows;
use super::{ColumnType, TableColumn};
use crate::estimate::{Confidence, Estimate};
use crate::math::chances;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// A pattern that some values of a column have.
#[derive(Debug, Clone, PartialEq)]
pub struct TextPattern {
    /// `A` for a capital letter, `a` for another letter, `9` for a digit, and every other character
    /// as it is. If no such pattern is frequent, repeated classes are written once, with a plus:
    /// `Aa+ 9+`.
    pub pattern: String,
    /// A value with this pattern: the first in byte order among the drawn values.
    pub example: Box<[u8]>,
    /// The share of values with this pattern.
    pub share: Estimate,
}

/// Patterns with a smaller share of the values are not reported.
const LEAST_SHARE: f64 = 0.01;
/// If no pattern has at least this share of the values, repeated letters and digits are written
/// once.
const LEAST_FIRST: f64 = 0.1;
/// The largest number of characters of a pattern.
const LONGEST: usize = 40;

impl TableColumn {
    /// Returns the most frequent patterns of a column of texts, at most `most` of them, the most
    /// frequent first. Returns none if the texts are not alike, for other columns, and without
    /// detail.
    pub fn patterns(&self, most: usize) -> Vec<TextPattern> {
        let profile = &self.data().profile;
        let Some(drawn) = self.drawn().filter(|_| profile.column_type() == ColumnType::Text) else {
            return Vec::new();
        };
        let rows = drawn.rows();
        let texts: Vec<&[u8]> = rows.iter().map(|row| &*row.text).collect();
        let are_all = texts.len() as u64 == profile.values();
        let counted = [false, true].into_iter().map(|is_short| count(&texts, is_short)).find(|counted| {
            counted.first().is_some_and(|first| first.count as f64 >= LEAST_FIRST * texts.len() as f64)
        });
        let total = texts.len() as f64;
        let told = counted.unwrap_or_default().into_iter().take(most);
        let is_told = |pattern: &Counted<'_>| {
            pattern.count > 1 && pattern.count as f64 >= LEAST_SHARE * total || total == pattern.count as f64
        };
        let told = told.filter(is_told).map(|Counted { pattern, example, count }| TextPattern {
            pattern,
            example: example.into(),
            share: share_of(count as f64, total, are_all),
        });
        told.collect()
    }
}

/// Returns the estimated share of all values from the number `count` among the drawn ones.
pub(super) fn share_of(count: f64, drawn: f64, are_all: bool) -> Estimate {
    let value = count / drawn;
    if are_all {
        return Estimate::exact(value);
    }
    let unlikely = (1.0 - Confidence::P95.level()) / 2.0;
    let (lower, upper) = chances(count, drawn, unlikely);
    Estimate::probable(value, lower, upper, Confidence::P95)
}

/// A pattern, the number of texts with it, and the first of these texts.
struct Counted<'a> {
    pattern: String,
    example: &'a [u8],
    count: usize,
}

/// Returns the patterns of texts, the most frequent first. Equally frequent ones are in the order
/// of their characters.
fn count<'a>(texts: &[&'a [u8]], is_short: bool) -> Vec<Counted<'a>> {
    let mut patterns: Vec<(String, &[u8])> =
        texts.iter().map(|text| (pattern_of(text, is_short), *text)).collect();
    patterns.sort_unstable();
    let same = patterns.chunk_by(|one, other| one.0 == other.0);
    let mut counted: Vec<Counted<'a>> = same
        .map(|same| Counted { pattern: same[0].0.clone(), example: same[0].1, count: same.len() })
        .collect();
    counted.sort_by_key(|pattern| core::cmp::Reverse(pattern.count));
    counted
}

/// Returns the pattern of a text. With `is_short`, repeated classes are written once.
fn pattern_of(text: &[u8], is_short: bool) -> String {
    // A text that was cut may end within a character.
    let is_cut = text.len() >= DrawnRows::LONGEST;
    let mut pattern = String::new();
    let (mut last, mut length) = (None, 0);
    for character in String::from_utf8_lossy(text).chars() {
        let class = match character {
            '0'..='9' => '9',
            'A'..='Z' => 'A',
            'a'..='z' => 'a',
            _ if character.is_ascii() => character,
            _ if character.is_uppercase() => 'A',
            _ if character.is_alphabetic() => 'a',
            _ if character.is_numeric() => '9',
            _ => character,
        };
        let repeats = is_short && last == Some(class) && matches!(class, 'A' | 'a' | '9');
        if repeats {
            if !pattern.ends_with('+') {
                pattern.push('+');
            }
            continue;
        }
        if length == LONGEST {
            pattern.push('…');
            return pattern;
        }
        pattern.push(class);
        last = Some(class);
        length += 1;
    }
    if is_cut {
        pattern.push('…');
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_say_what_a_text_looks_like() {
        for (text, pattern, short) in [
            ("B-203417", "A-999999", "A-9+"),
            ("ana@mail.example", "aaa@aaaa.aaaaaaa", "a+@a+.a+"),
            ("São Paulo 2", "Aaa Aaaaa 9", "Aa+ Aa+ 9"),
            ("", "", ""),
            ("文字 ٣", "aa 9", "a+ 9"),
            ("C++ 11", "A++ 99", "A++ 9+"),
        ] {
            assert_eq!(pattern_of(text.as_bytes(), false), pattern, "{text}");
            assert_eq!(pattern_of(text.as_bytes(), true), short, "{text}");
        }
        assert_eq!(pattern_of(&[b'-'; 60], false).chars().count(), LONGEST + 1);
        assert_eq!(pattern_of(&[b'x'; DrawnRows::LONGEST], true), "a+…");
    }
}
