//! Where may a chunk end? After the last line end that is not inside quotes.
//!
//! Whether a newline is data depends on every quote before it, and whether a quote opens a field
//! depends on what stands before it: `5" pipe` holds data, `,"a` opens. So no chunk can be judged
//! alone. But a chunk begins where the last one was cut, at a record's border, and its quotes can
//! be followed from there. Where a chunk has none, which one fast search tells, there is nothing
//! to follow.

use crate::parse::delimited::closing_quote;

const QUOTE: u8 = b'"';

/// How records end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cutter {
    /// At every newline.
    Newlines,
    /// At newlines outside quoted fields, which follow this delimiter or a line end.
    Quoted { delimiter: Vec<u8> },
}

/// Where to cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    /// After the last whole record, if there is one.
    pub(crate) border: Option<usize>,
    /// Whether there is a quote that matters.
    pub(crate) has_quotes: bool,
}

impl Cutter {
    /// Where to cut `text`, which begins at a record's border.
    pub(crate) fn cut(&self, text: &[u8]) -> Cut {
        let after_newline = |to: usize| memchr::memrchr(b'\n', &text[..to]).map(|at| at + 1);
        let Self::Quoted { delimiter } = self else {
            return Cut { border: after_newline(text.len()), has_quotes: false };
        };
        let mut border = None;
        let mut has_quotes = false;
        // The stretch that begins here is outside quotes.
        let mut outside = 0;
        loop {
            let quote = memchr::memchr(QUOTE, &text[outside..]).map(|at| outside + at);
            let until = quote.unwrap_or(text.len());
            if let Some(at) = memchr::memrchr(b'\n', &text[outside..until]) {
                border = Some(outside + at + 1);
            }
            let Some(quote) = quote else { return Cut { border, has_quotes } };
            has_quotes = true;
            let field_start = border.unwrap_or(0).max(outside);
            if opens_field(text, field_start, quote, field_start == border.unwrap_or(0), delimiter) {
                match closing_quote(text, quote + 1) {
                    Some(closing) => outside = closing + 1,
                    None => return Cut { border, has_quotes },
                }
            } else {
                outside = quote + 1;
            }
        }
    }
}

/// Whether the quote at `quote` is the first byte of a field. There is no newline and no quoted
/// text between `from` and it; a field begins at `from` itself only after a line end.
fn opens_field(text: &[u8], from: usize, quote: usize, after_line_end: bool, delimiter: &[u8]) -> bool {
    let before = &text[from..quote];
    if before.is_empty() {
        return after_line_end;
    }
    if delimiter.len() == 1 || !before.ends_with(delimiter) {
        return before.ends_with(delimiter);
    }
    // In `a:::"` the delimiter `::` ends before the last colon: which one counts is decided from
    // the left.
    memchr::memmem::find_iter(before, delimiter).last().is_some_and(|at| at + delimiter.len() == before.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn border(text: &str, delimiter: &str) -> Option<usize> {
        Cutter::Quoted { delimiter: delimiter.into() }.cut(text.as_bytes()).border
    }

    #[test]
    fn newline_inside_quotes_is_no_border() {
        assert_eq!(border("a,b\n", ","), Some(4));
        assert_eq!(border("a,\"b\n", ","), None);
        assert_eq!(border("a,\"b\nc\"\nd", ","), Some(8));
        assert_eq!(border("\"a\n\"\n\"b\n", ","), Some(5));
        assert_eq!(border("\"a\"\"\n\"\n", ","), Some(7));
        assert_eq!(border("a\n\"\"", ","), Some(2), "the last quote may be half of a doubled one");
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
        let cut = Cutter::Newlines.cut(b"a\n\"b\nc");
        assert_eq!(cut, Cut { border: Some(5), has_quotes: false });
    }
}
