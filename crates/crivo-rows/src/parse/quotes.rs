//! The one automaton of quoted fields, for everything that reads delimited text.
//!
//! A field is quoted if its first byte is a quote. Inside, a doubled quote is data and a single one
//! ends the quoted stretch; what follows up to the delimiter is data, quotes too. Whether a quote
//! is a field's first byte the reader knows: a parser by where its field began, the search for
//! borders by what stands before the quote.

pub(crate) const QUOTE: u8 = b'"';

/// Where a reader is with respect to quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Quoting {
    /// In a field that no quote opened.
    #[default]
    Outside,
    /// Between the quotes; a quote before `resume` is the second of a doubled pair.
    Inside { resume: usize, doubled: bool },
    /// After the closing quote, which ended at `end`.
    Closed { end: usize, doubled: bool },
}

impl Quoting {
    /// Takes the byte at `at`. `opens` says whether it is the first of a field, if it is a quote.
    /// Returns true if the byte is a quote or inside quotes, and so ends nothing.
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

    /// Returns true if the byte at `at` may be half of a doubled quote, and the text ends before
    /// that is known.
    #[inline]
    pub(crate) fn is_undecided(&self, bytes: &[u8], at: usize) -> bool {
        at + 1 == bytes.len()
            && bytes[at] == QUOTE
            && matches!(self, Self::Inside { resume, .. } if at >= *resume)
    }
}

/// Appends what a field says that begins with a quote.
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
