//! The state machine of quoted fields, for all readers of delimited text.
//!
//! A field is quoted if its first byte is a quote. Inside, a doubled quote is data and a single one
//! ends the quoted stretch. Bytes between this quote and the delimiter are data, quotes included.
//! The caller knows whether a quote is a field's first byte: a parser knows where its field began,
//! and the search for borders examines the bytes before the quote.

pub(crate) const QUOTE: u8 = b'"';

/// The state of a reader with respect to quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Quoting {
    /// In a field that does not begin with a quote.
    #[default]
    Outside,
    /// Between the quotes. A quote before `resume` is the second of a doubled pair.
    Inside { resume: usize, doubled: bool },
    /// After the closing quote, which ended at `end`.
    Closed { end: usize, doubled: bool },
}

impl Quoting {
    /// Advances over the byte at `at`. If it is a quote, `opens` returns whether it is the first of
    /// a field. Returns true if the byte is a quote or inside quotes, and so does not end a field.
    #[inline(always)]
    pub(crate) fn take(&mut self, bytes: &[u8], at: usize, opens: impl FnOnce(&Self) -> bool) -> bool {
        let is_quote = bytes[at] == QUOTE;
        match self {
            Self::Inside { resume, doubled } => {
                if is_quote && at >= *resume {
                    if bytes.get(at + 1) == Some(&QUOTE) {
                        (*resume, *doubled) = (at + 2, true);
                    } else {
                        *self = Self::Closed { end: at + 1, doubled: *doubled };
                    }
                }
                true
            }
            Self::Outside | Self::Closed { .. } => {
                if is_quote && opens(self) {
                    *self = Self::Inside { resume: at + 1, doubled: false };
                }
                is_quote
            }
        }
    }

    /// Returns true if the byte at `at` may be the first half of a doubled quote, but the text ends
    /// after it.
    #[inline]
    pub(crate) fn is_undecided(&self, bytes: &[u8], at: usize) -> bool {
        at + 1 == bytes.len()
            && bytes[at] == QUOTE
            && matches!(self, Self::Inside { resume, .. } if at >= *resume)
    }
}

/// Appends the content of a field that begins with a quote.
pub(crate) fn unquote(field: &[u8], out: &mut Vec<u8>) {
    let mut rest = field.get(1..).unwrap_or_default();
    while let Some(at) = memchr::memchr(QUOTE, rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        match rest.split_first() {
            Some((&QUOTE, others)) => {
                out.push(QUOTE);
                rest = others;
            }
            _ => break,
        }
    }
    out.extend_from_slice(rest);
}
