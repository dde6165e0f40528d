//! Where may a chunk end? After the last line end that is not inside quotes.
//!
//! Whether a newline is data depends on every quote before it, and whether a quote opens a field
//! depends on what stands before it: `5" pipe` holds data, `,"a` opens. So no chunk can be judged
//! alone. But a chunk begins where the last one was cut, at a record's border, and its quotes can
//! be followed from there. Where a chunk has none, which one fast search tells, there is nothing
//! to follow.

use crate::parse::block::{BLOCK, Block};

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
        match self {
            Self::Quoted { delimiter } if memchr::memchr(QUOTE, text).is_some() => {
                Cut { border: follow_quotes(text, delimiter), has_quotes: true }
            }
            _ => Cut { border: memchr::memrchr(b'\n', text).map(|at| at + 1), has_quotes: false },
        }
    }
}

/// After the last newline outside quotes. Every worker waits for this, so it visits quotes and
/// newlines only, and those in blocks of bytes that are classified at once.
fn follow_quotes(text: &[u8], delimiter: &[u8]) -> Option<usize> {
    let mut border = None;
    let mut inside = false;
    // Inside quotes, a quote before this is the second of a doubled pair.
    let mut resume = 0;
    // Outside quotes, where the last quoted stretch ended.
    let mut closed = 0;
    for base in (0..text.len()).step_by(BLOCK) {
        let block = Block::load(&text[base..]);
        let mut marks = block.equal(QUOTE) | block.equal(b'\n');
        while marks != 0 {
            let at = base + marks.trailing_zeros() as usize;
            marks &= marks - 1;
            match (text[at], inside) {
                (QUOTE, true) if at >= resume => match text.get(at + 1) {
                    Some(&QUOTE) => resume = at + 2,
                    Some(_) => (inside, closed) = (false, at + 1),
                    // It may be half of a doubled one: what follows will tell.
                    None => return border,
                },
                (QUOTE, false) if opens_field(text, border.unwrap_or(0), closed, at, delimiter) => {
                    (inside, resume) = (true, at + 1);
                }
                (b'\n', false) => border = Some(at + 1),
                _ => {}
            }
        }
    }
    border
}

/// Whether the quote at `quote`, outside quotes, is the first byte of a field. Its record begins at
/// `record`; the last quoted stretch ended at `closed`.
#[inline]
fn opens_field(text: &[u8], record: usize, closed: usize, quote: usize, delimiter: &[u8]) -> bool {
    if quote == record {
        return true;
    }
    // A delimiter does not begin inside quotes.
    let before = &text[record.max(closed)..quote];
    match delimiter {
        [byte] => before.last() == Some(byte),
        _ => before.ends_with(delimiter) && ends_with_match(before, delimiter),
    }
}

/// Whether a delimiter found from the left ends where `before` ends: in `a:::"` the delimiter `::`
/// ends before the last colon.
fn ends_with_match(before: &[u8], delimiter: &[u8]) -> bool {
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
