//! Finds where a chunk may end: after the last line end that is not inside quotes.
//!
//! Whether a newline is data depends on every quote before it. Whether a quote opens a field
//! depends on the bytes before it: the quote in `5" pipe` is data, the one in `,"a` opens a field.
//! So no chunk can be judged by itself. But a chunk begins where the last one was cut, at the
//! border of a record, and its quotes can be followed from there. One fast search finds out whether
//! a chunk has quotes at all; if not, there is nothing to follow.
//!
//! A record may be longer than a chunk. Then its text grows, and the search continues where it
//! ended.

use crate::parse::block::{BLOCK, Block};
use crate::parse::quotes::{QUOTE, Quoting};

/// How records end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Borders {
    /// At every newline.
    Newlines,
    /// At newlines outside quoted fields. A quoted field begins after this delimiter or a line end.
    Quoted { delimiter: Vec<u8> },
}

/// Searches for borders in a growing text.
#[derive(Debug)]
pub(crate) struct Cutter {
    borders: Borders,
    /// The number of bytes that were searched.
    seen: usize,
    cut: Cut,
    quoting: Quoting,
}

/// The result of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Cut {
    /// The end of the last whole record, if there is one.
    pub(crate) border: Option<usize>,
    /// Whether the text has a quote, if quotes matter.
    pub(crate) has_quotes: bool,
}

impl Cutter {
    pub(crate) fn new(borders: Borders) -> Self {
        Self { borders, seen: 0, cut: Cut::default(), quoting: Quoting::Outside }
    }

    /// Begins with another text, at the border of a record.
    pub(crate) fn restart(&mut self) {
        (self.seen, self.cut, self.quoting) = (0, Cut::default(), Quoting::Outside);
    }

    /// Returns where to cut `text`. It begins at the border of a record, and extends the text of
    /// the last call.
    pub(crate) fn cut(&mut self, text: &[u8]) -> Cut {
        let Self { borders, seen, cut, quoting } = self;
        let mut from = *seen;
        *seen = text.len();
        if !cut.has_quotes {
            let quote = match borders {
                Borders::Quoted { .. } => memchr::memchr(QUOTE, &text[from..]),
                Borders::Newlines => None,
            };
            let plain = quote.map_or(text.len(), |quote| from + quote);
            if let Some(newline) = memchr::memrchr(b'\n', &text[from..plain]) {
                cut.border = Some(from + newline + 1);
            }
            cut.has_quotes = quote.is_some();
            from = plain;
        }
        if let (Borders::Quoted { delimiter }, true) = (borders, cut.has_quotes) {
            *seen = follow_quotes(text, from, delimiter, quoting, &mut cut.border);
        }
        *cut
    }
}

/// Follows quotes from `from` on, and moves the border behind each newline outside of quotes.
/// Returns the position up to which the text is decided. Every worker waits for this. So it visits
/// only quotes and newlines, which it finds by comparing whole blocks of bytes.
fn follow_quotes(
    text: &[u8],
    from: usize,
    delimiter: &[u8],
    quoting: &mut Quoting,
    border: &mut Option<usize>,
) -> usize {
    for base in (from..text.len()).step_by(BLOCK) {
        let block = Block::load(&text[base..]);
        let mut marks = block.equal(QUOTE) | block.equal(b'\n');
        while marks != 0 {
            let at = base + marks.trailing_zeros() as usize;
            marks &= marks - 1;
            if quoting.is_undecided(text, at) {
                return at;
            }
            let opens = |quoting: &Quoting| {
                let closed = if let Quoting::Closed { end, .. } = quoting { *end } else { 0 };
                opens_field(text, border.unwrap_or(0), closed, at, delimiter)
            };
            if !quoting.take(text, at, opens) {
                (*border, *quoting) = (Some(at + 1), Quoting::Outside);
            }
        }
    }
    text.len()
}

/// Returns true if the quote at position `quote` is the first byte of a field. The caller has
/// checked that this quote is not inside quotes. The record begins at `record`. Its last quoted
/// stretch ended at `closed`, which is 0 if it has none.
#[inline]
fn opens_field(text: &[u8], record: usize, closed: usize, quote: usize, delimiter: &[u8]) -> bool {
    if quote == record {
        return true;
    }
    // A delimiter cannot begin inside quotes.
    let before = &text[record.max(closed)..quote];
    match delimiter {
        [byte] => before.last() == Some(byte),
        _ => before.ends_with(delimiter) && ends_with_match(before, delimiter),
    }
}

/// Returns true if a delimiter, searched from the left, ends where `before` ends. In `a:::"` the
/// delimiter `::` ends before the last colon.
fn ends_with_match(before: &[u8], delimiter: &[u8]) -> bool {
    memchr::memmem::find_iter(before, delimiter).last().is_some_and(|at| at + delimiter.len() == before.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the border, which must be the same for any division of the text into pieces.
    fn border(text: &str, delimiter: &str) -> Option<usize> {
        let borders = Borders::Quoted { delimiter: delimiter.into() };
        let at_once = Cutter::new(borders.clone()).cut(text.as_bytes());
        for step in 1..=text.len() {
            let mut cutter = Cutter::new(borders.clone());
            let ends = (step..text.len()).step_by(step).chain([text.len()]);
            let last = ends.map(|end| cutter.cut(&text.as_bytes()[..end])).last();
            assert_eq!(last, Some(at_once), "{text:?} in pieces of {step}");
        }
        at_once.border
    }

    #[test]
    fn newline_inside_quotes_is_no_border() {
        assert_eq!(border("a,b\n", ","), Some(4));
        assert_eq!(border("a,\"b\n", ","), None);
        assert_eq!(border("a,\"b\nc\"\nd", ","), Some(8));
        assert_eq!(border("\"a\n\"\n\"b\n", ","), Some(5));
        assert_eq!(border("\"a\"\"\n\"\n", ","), Some(7));
        assert_eq!(border("a\n\"\"", ","), Some(2), "the last quote may be half of a doubled one");
        assert_eq!(border("a\nb,\"\"\"\"\n\"\"\n", ","), Some(12));
    }

    #[test]
    fn bare_quote_opens_nothing() {
        assert_eq!(border("5\" pipe\n6\n", ","), Some(10));
        assert_eq!(border("\"a\"b\"\n1\n", ","), Some(8), "nor does one after a closing quote");
        assert_eq!(border("x, \"a\n", ","), Some(6), "nor one after a blank");
    }

    #[test]
    fn longer_delimiter_is_matched_from_the_left() {
        assert_eq!(border("a::\"b\n\"\n", "::"), Some(8));
        assert_eq!(border("a:::\"b\n\"\n", "::"), Some(7), "the third colon begins the field");
        assert_eq!(border("a::::\"b\n", "::"), None);
        assert_eq!(border("\"a\":::\"b\n", "::"), Some(9));
    }

    #[test]
    fn without_quotes_only_lines_count() {
        let cut = Cutter::new(Borders::Newlines).cut(b"a\n\"b\nc");
        assert_eq!(cut, Cut { border: Some(5), has_quotes: false });
    }

    #[test]
    fn another_text_begins_outside_quotes() {
        let mut cutter = Cutter::new(Borders::Quoted { delimiter: b",".to_vec() });
        assert_eq!(cutter.cut(b"a\n\"b\n"), Cut { border: Some(2), has_quotes: true });
        cutter.restart();
        assert_eq!(cutter.cut(b"c\nd"), Cut { border: Some(2), has_quotes: false });
    }
}
