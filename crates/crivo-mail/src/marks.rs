//! How is a verdict written into a message? As headers on top, after forged ones are removed.
//!
//! A sender may have written the very headers by which mail programs sort. Those are removed first,
//! with their continuation lines. Everything else stays as it is, byte by byte: the order of
//! headers, line ends, the body. New headers have the line end of the message's first line. A
//! message that begins with its text gets an empty line between, so that the text is not taken for
//! a header.

use std::borrow::Cow;

/// A header to add: its name and its value.
pub type Mark<'a> = (&'a str, Cow<'a, str>);

/// Prefixes of the header names that this filter writes.
pub const OURS: &[&str] = &["x-crivo"];

/// Prefixes of the header names that any filter writes. Such headers are no evidence, because
/// senders forge them if they know what mail programs sort by.
pub const OF_FILTERS: &[&str] = &["x-spam-", "x-crivo"];

/// Returns the message with headers added on top. Headers whose names have a prefix in `forged` are
/// removed.
pub fn mark(message: &[u8], marks: &[Mark<'_>], forged: &[&str]) -> Vec<u8> {
    let head = Head::of(message);
    let line_end: &str = if head.crlf { "\r\n" } else { "\n" };
    let mut marked = Vec::with_capacity(message.len() + 64 * (marks.len() + 1));
    // The line before a message in an mbox is not part of it.
    let (envelope, rest) = message.split_at(head.start);
    marked.extend_from_slice(envelope);
    for (name, value) in marks {
        marked.extend_from_slice(format!("{name}: {value}{line_end}").as_bytes());
    }
    let (mut lines, body) = rest.split_at(head.end - head.start);
    if lines.is_empty() && !body.is_empty() && !is_blank(body) && !marks.is_empty() {
        marked.extend_from_slice(line_end.as_bytes());
    }
    let mut dropping = false;
    while !lines.is_empty() {
        let (line, after) = lines.split_at(line_length(lines));
        let bare = without_byte_order(line);
        dropping = if is_continued(bare) { dropping } else { begins_with_one_of(bare, forged) };
        if !dropping {
            marked.extend_from_slice(line);
        }
        lines = after;
    }
    marked.extend_from_slice(body);
    marked
}

/// Returns the head of a marked message, with the empty line that ends it.
pub fn head_of(message: &[u8]) -> &[u8] {
    let end = Head::of(message).end;
    let rest = &message[end..];
    let blank = if is_blank(rest) { line_length(rest) } else { 0 };
    &message[..end + blank]
}

struct Head {
    /// The position where the headers begin: after the `From ` line of an mbox, if there is one.
    start: usize,
    /// The position of the blank line that ends the headers. A line that is not a header does not
    /// end them: programs that sort mail look past it, so a forged header behind it would count.
    end: usize,
    crlf: bool,
}

impl Head {
    fn of(message: &[u8]) -> Self {
        let first = line_length(message);
        let crlf = message[..first].ends_with(b"\r\n");
        let start = if has_envelope(message) { first } else { 0 };
        let mut end = start;
        // A message that begins with its text has no headers.
        if is_header(without_byte_order(&message[start..])) {
            while end < message.len() && !is_blank(&message[end..]) {
                end += line_length(&message[end..]);
            }
        }
        Self { start, end, crlf }
    }
}

/// Returns the bytes without a UTF-8 byte order mark, which some editors put before a text.
pub(crate) fn without_byte_order(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

/// Returns true if a `From ` line stands before the headers, as in mboxes.
fn has_envelope(message: &[u8]) -> bool {
    message.starts_with(b"From ") || message.starts_with(b">From ")
}

/// Returns the number of bytes of the first line, with its line end.
fn line_length(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |end| end + 1)
}

fn is_header(bytes: &[u8]) -> bool {
    let name = bytes.iter().take_while(|byte| byte.is_ascii_graphic() && **byte != b':').count();
    // Some old programs write blanks before the colon.
    let after = bytes[name..].iter().position(|&byte| byte != b' ' && byte != b'\t');
    name > 0 && after.is_some_and(|blanks| bytes[name + blanks] == b':')
}

fn is_continued(bytes: &[u8]) -> bool {
    matches!(bytes.first(), Some(b' ' | b'\t')) && !is_blank(bytes)
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\n") || bytes.starts_with(b"\r\n")
}

/// Returns true if a header, or its name, has one of these prefixes. Case is ignored.
pub(crate) fn begins_with_one_of(header: &[u8], beginnings: &[&str]) -> bool {
    beginnings.iter().any(|beginning| {
        header.get(..beginning.len()).is_some_and(|start| start.eq_ignore_ascii_case(beginning.as_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marked(message: &str) -> String {
        String::from_utf8(mark(message.as_bytes(), &[("X-Spam-Flag", "YES".into())], OF_FILTERS)).unwrap()
    }

    #[test]
    fn marks_stand_on_top_and_the_rest_is_untouched() {
        assert_eq!(marked("From: a\nTo: b\n\nbody\r\n"), "X-Spam-Flag: YES\nFrom: a\nTo: b\n\nbody\r\n");
        assert_eq!(marked("From: a\r\n\r\nbody"), "X-Spam-Flag: YES\r\nFrom: a\r\n\r\nbody");
    }

    #[test]
    fn forged_marks_go_with_their_continuations_and_only_in_the_head() {
        assert_eq!(
            marked(
                "A: 1\nx-spam-flag: NO\nX-Spam-Status: No,\n\tscore=-99\nB: 2\n c\nX-CRIVO: ham\n\nX-Spam-Flag: NO\n"
            ),
            "X-Spam-Flag: YES\nA: 1\nB: 2\n c\n\nX-Spam-Flag: NO\n"
        );
    }

    #[test]
    fn forged_marks_go_up_to_the_blank_line_whatever_is_before_them() {
        assert_eq!(
            marked("From: a\nno header\nX-Crivo: ham\nX-Spam-Flag: NO\nSubject: b\n\nX-Spam-Flag: NO\n"),
            "X-Spam-Flag: YES\nFrom: a\nno header\nSubject: b\n\nX-Spam-Flag: NO\n"
        );
        assert_eq!(marked("From: a\r\n\u{feff}X-Crivo: ham\r\n\r\n"), "X-Spam-Flag: YES\r\nFrom: a\r\n\r\n");
    }

    #[test]
    fn a_mark_of_the_byte_order_does_not_end_the_head() {
        assert_eq!(marked("\u{feff}From: a\n\nbody"), "X-Spam-Flag: YES\n\u{feff}From: a\n\nbody");
        assert_eq!(marked("\u{feff}X-Spam-Flag: NO\nFrom: a\n\nb"), "X-Spam-Flag: YES\nFrom: a\n\nb");
    }

    #[test]
    fn a_message_without_head_keeps_its_text_in_the_body() {
        assert_eq!(marked("Buy now\n"), "X-Spam-Flag: YES\n\nBuy now\n");
        assert_eq!(marked("\nBuy now\n"), "X-Spam-Flag: YES\n\nBuy now\n");
        assert_eq!(marked(" folded nothing\n"), "X-Spam-Flag: YES\n\n folded nothing\n");
        assert_eq!(marked("From a Mon\n folded\n"), "From a Mon\nX-Spam-Flag: YES\n\n folded\n");
    }

    #[test]
    fn the_line_of_an_mbox_stays_first() {
        assert_eq!(marked("From a Mon\nA: 1\n\nx"), "From a Mon\nX-Spam-Flag: YES\nA: 1\n\nx");
    }

    #[test]
    fn the_head_ends_with_its_empty_line() {
        assert_eq!(head_of(b"A: 1\r\n\r\nbody"), b"A: 1\r\n\r\n");
        assert_eq!(head_of(b"A: 1\nB: 2"), b"A: 1\nB: 2");
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_marked_and_nothing_but_forgeries_is_lost(bytes in "(?s)[ -~\r\n\t]{0,200}") {
            let marked = mark(bytes.as_bytes(), &[("X-Spam-Flag", "YES".into())], OF_FILTERS);
            if !bytes.to_ascii_lowercase().contains("x-") {
                let left: Vec<u8> = marked.iter().copied().filter(|b| !b"\r\n".contains(b)).collect();
                let text: String = bytes.chars().filter(|c| !"\r\n".contains(*c)).collect();
                prop_assert_eq!(left.len(), text.len() + "X-Spam-Flag: YES".len());
                prop_assert!(marked.ends_with(&bytes.as_bytes()[bytes.len() - bytes.len().min(3)..]));
            }
            prop_assert!(marked.starts_with(head_of(&marked)));
        }
    }
}
