//! Where does the head of a message end?
//!
//! At the first blank line, or at the first line that is not a header. Collections of mail often
//! have a subject directly followed by the body. A program that insists on the blank line takes the
//! whole body for headers.

use std::borrow::Cow;

use crate::marks::without_byte_order;

/// The most headers that are read.
const HEADERS: usize = 1000;

/// The headers of a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head<'a> {
    bytes: &'a [u8],
}

impl<'a> Head<'a> {
    /// Splits a message with lines that end in LF into its head and its body.
    pub(super) fn split(message: &'a [u8]) -> (Self, &'a [u8]) {
        // Mboxes have a line before the headers that is not a header.
        let start = if message.starts_with(b"From ") || message.starts_with(b">From ") {
            message.iter().position(|&byte| byte == b'\n').map_or(message.len(), |at| at + 1)
        } else {
            0
        };
        let message = without_byte_order(&message[start..]);
        let mut end = 0;
        for (number, line) in message.split_inclusive(|&byte| byte == b'\n').enumerate() {
            if line == b"\n" {
                return (Self { bytes: &message[..end] }, &message[end + 1..]);
            }
            let continues = number > 0 && matches!(line[0], b' ' | b'\t');
            if !continues && name_of(line).is_none() {
                break;
            }
            end += line.len();
        }
        (Self { bytes: &message[..end] }, &message[end..])
    }

    pub(super) fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Returns head and body with the blank line that the standard requires between them.
    pub(super) fn joined(self, body: &[u8]) -> Cow<'static, [u8]> {
        [self.bytes, b"\n", body].concat().into()
    }

    /// Returns the name of each header, and its value with all its lines.
    pub(super) fn headers(self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let mut rest = self.bytes;
        std::iter::from_fn(move || {
            let name = name_of(rest)?;
            let mut end = 0;
            loop {
                end +=
                    rest[end..].iter().position(|&byte| byte == b'\n').map_or(rest.len() - end, |at| at + 1);
                if !matches!(rest.get(end), Some(b' ' | b'\t')) {
                    break;
                }
            }
            let value = &rest[name.len() + 1..end];
            rest = &rest[end..];
            Some((name, value))
        })
        .take(HEADERS)
    }

    /// Returns the first header of a name without decoding it, or nothing if there is none.
    pub(super) fn value(self, name: &str) -> &'a [u8] {
        self.headers()
            .find(|(found, _)| found.eq_ignore_ascii_case(name.as_bytes()))
            .map_or(b"", |(_, value)| value)
    }

    /// Returns true if the body may be anything but unencoded plain text.
    pub(super) fn is_mime(self) -> bool {
        self.headers().any(|(name, _)| {
            name.eq_ignore_ascii_case(b"content-type")
                || name.eq_ignore_ascii_case(b"content-transfer-encoding")
        })
    }

    /// Returns a fact for each header that is there of those that an author chooses. Traces of
    /// mailboxes (`Status`, `X-UID`, `Delivered-To`), headers of other filters and headers that
    /// every transport adds are no evidence: they say where a message was kept.
    pub(super) fn facts(self) -> Vec<String> {
        let mut facts: Vec<String> = self
            .headers()
            .map(|(name, _)| String::from_utf8_lossy(name).to_ascii_lowercase())
            .filter(|name| OF_AUTHORS.contains(&name.as_str()))
            .map(|name| format!("header {name}"))
            .collect();
        facts.sort_unstable();
        facts.dedup();
        facts
    }

    /// Returns the headers of a name without decoding them, from the top.
    pub(super) fn values(self, name: &'static str) -> impl Iterator<Item = &'a [u8]> {
        let of_name = move |(found, value): (&[u8], &'a [u8])| {
            found.eq_ignore_ascii_case(name.as_bytes()).then_some(value)
        };
        self.headers().filter_map(of_name)
    }
}

/// Headers that the author of a message, or a mailing list, chooses to write.
const OF_AUTHORS: [&str; 20] = [
    "auto-submitted",
    "cc",
    "disposition-notification-to",
    "errors-to",
    "importance",
    "in-reply-to",
    "list-id",
    "list-post",
    "list-unsubscribe",
    "list-unsubscribe-post",
    "organization",
    "precedence",
    "references",
    "reply-to",
    "sender",
    "thread-index",
    "x-mailer",
    "x-mimeole",
    "x-msmail-priority",
    "x-priority",
];

/// Returns the name before the colon, or `None` if the line is not a header.
fn name_of(line: &[u8]) -> Option<&[u8]> {
    let colon = line.iter().take(80).position(|&byte| byte == b':')?;
    let name = &line[..colon];
    (!name.is_empty() && name.iter().all(u8::is_ascii_graphic)).then_some(name)
}
