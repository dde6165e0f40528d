//! The byte ranges of units, and their normalized form for comparison.

use std::ops::Range;

use memchr::memchr;

use super::{UnitKind, UnitSettings};

/// Returns the units of a text, without the line ends after them.
pub(super) fn units_of(text: &[u8], kind: UnitKind) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        if at >= text.len() {
            return None;
        }
        match kind {
            UnitKind::Line => {
                let end = line_end(text, at);
                let line = at..without_line_end(text, at, end);
                at = end;
                Some(line)
            }
            UnitKind::Paragraph => {
                while at < text.len() && is_blank_line(text, at) {
                    at = line_end(text, at);
                }
                let start = at;
                while at < text.len() && !is_blank_line(text, at) {
                    at = line_end(text, at);
                }
                (start < text.len()).then(|| start..without_line_end(text, start, at))
            }
        }
    })
}

/// Returns the end of the line that begins at `at`, line end included.
fn line_end(text: &[u8], at: usize) -> usize {
    memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length + 1)
}

fn without_line_end(text: &[u8], start: usize, mut end: usize) -> usize {
    while end > start && matches!(text[end - 1], b'\n' | b'\r') {
        end -= 1;
    }
    end
}

/// Returns true if the line that begins at `at` has only blanks.
fn is_blank_line(text: &[u8], at: usize) -> bool {
    let visible = text[at..].iter().find(|&&byte| byte == b'\n' || !byte.is_ascii_whitespace());
    visible.is_none_or(|&byte| byte == b'\n')
}

/// Normalizes units for comparison. Its buffer is reused.
pub(super) struct Normalizer {
    case: bool,
    blanks: bool,
    digits: bool,
    out: Vec<u8>,
}

impl Normalizer {
    pub(super) fn new(settings: &UnitSettings) -> Self {
        Self {
            case: settings.ignore_case,
            blanks: settings.ignore_blanks,
            digits: settings.ignore_digits,
            out: Vec::new(),
        }
    }

    /// Returns the normalized form of a unit. Bytes that are not UTF-8 are unchanged.
    pub(super) fn of<'s>(&'s mut self, unit: &'s [u8]) -> &'s [u8] {
        if !(self.case || self.blanks || self.digits) {
            return unit;
        }
        self.out.clear();
        for chunk in unit.utf8_chunks() {
            for c in chunk.valid().chars() {
                if self.blanks && c.is_whitespace() {
                    if !matches!(self.out.last(), None | Some(b' ')) {
                        self.out.push(b' ');
                    }
                } else if self.digits && c.is_numeric() {
                    if self.out.last() != Some(&b'0') {
                        self.out.push(b'0');
                    }
                } else {
                    let mut bytes = [0; 4];
                    let mut push = |c: char| self.out.extend_from_slice(c.encode_utf8(&mut bytes).as_bytes());
                    if self.case { c.to_lowercase().for_each(push) } else { push(c) }
                }
            }
            self.out.extend_from_slice(chunk.invalid());
        }
        if self.blanks && self.out.last() == Some(&b' ') {
            self.out.pop();
        }
        &self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str, kind: UnitKind) -> Vec<&str> {
        units_of(text.as_bytes(), kind).map(|range| &text[range]).collect()
    }

    #[test]
    fn lines_and_paragraphs_end_where_they_should() {
        assert_eq!(units("a\r\nb\n\nc", UnitKind::Line), ["a", "b", "", "c"]);
        assert_eq!(units("\n\na\nb\n \t\n\nc\r\n\r\nd\n", UnitKind::Paragraph), ["a\nb", "c", "d"]);
        assert_eq!(units("", UnitKind::Line), Vec::<&str>::new());
        assert_eq!(units("\n \n", UnitKind::Paragraph), Vec::<&str>::new());
    }

    #[test]
    fn units_are_compared_as_told() {
        let settings = UnitSettings {
            ignore_case: true,
            ignore_blanks: true,
            ignore_digits: true,
            ..Default::default()
        };
        let mut normalizer = Normalizer::new(&settings);
        assert_eq!(normalizer.of("  Página 12\t de 345 ".as_bytes()), "página 0 de 0".as_bytes());
        assert_eq!(normalizer.of(b"\xFFA"), b"\xFFa");
        let mut plain = Normalizer::new(&UnitSettings::default());
        assert_eq!(plain.of(b" A  1 "), b" A  1 ");
    }
}
