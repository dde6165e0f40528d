//! What do the headers say that a program writes into every message?
//!
//! The program that made a message shows in many small things: the pattern of its `Message-ID` and
//! of the boundary between parts, the zone that it writes behind a date, the host that it names. A
//! few such values tell a sender's mail from that of others after a handful of messages, long
//! before its words do.
//!
//! Only headers of a fixed list are read. Traces of mailboxes and of other filters are not in it,
//! and neither is the sender, because anyone can write any address.

use super::head::Head;
use super::shortened;
use super::transport::domain_of;

/// The most recipients that are read.
const RECIPIENTS: usize = 16;

/// The number of bytes of a value that count.
const LONG_VALUE: usize = 60;

/// Headers whose short value is a fact as a whole.
const WHOLE: [&str; 12] = [
    "auto-submitted",
    "content-class",
    "content-language",
    "content-transfer-encoding",
    "importance",
    "list-id",
    "mime-version",
    "precedence",
    "x-mailer",
    "user-agent",
    "x-mimeole",
    "x-priority",
];

/// Returns facts about the recipients.
pub(super) fn recipients(head: Head<'_>) -> Vec<String> {
    let mut facts = Vec::new();
    for name in ["to", "cc"] {
        let value = String::from_utf8_lossy(head.value(name));
        for address in addresses(&value).take(RECIPIENTS) {
            facts.push(format!("{name}: {}", address.to_lowercase()));
            let host = address.rsplit_once('@').map(|(_, host)| host);
            facts.extend(host.and_then(domain_of).map(|domain| format!("{name} at {domain}")));
        }
    }
    facts
}

/// Returns facts about the values of headers, each once, ascending.
pub(super) fn facts(head: Head<'_>) -> Vec<String> {
    let mut facts = Vec::new();
    for (name, value) in head.headers() {
        let name = String::from_utf8_lossy(name).to_ascii_lowercase();
        let value = String::from_utf8_lossy(value);
        let value = value.trim();
        if WHOLE.contains(&name.as_str()) {
            let value = shortened(value, LONG_VALUE).to_lowercase();
            facts.push(format!("{name}: {value}"));
            if matches!(name.as_str(), "x-mailer" | "user-agent" | "x-mimeole") {
                facts.push(format!("{name}: {}", shape(&value)));
            }
        }
        match name.as_str() {
            "message-id" => of_message_id(value, &mut facts),
            "reply-to" | "list-unsubscribe" | "list-post" | "errors-to" | "sender" => {
                facts.extend(domains(value).take(2).map(|domain| format!("{name} at {domain}")));
            }
            "date" => of_date(value, &mut facts),
            "content-type" => of_content_type(value, &mut facts),
            "subject" => of_subject(value, &mut facts),
            _ => {}
        }
    }
    facts.sort_unstable();
    facts.dedup();
    facts
}

fn of_message_id(value: &str, facts: &mut Vec<String>) {
    let value = shortened(value, LONG_VALUE * 2).trim_matches(['<', '>']);
    match value.rsplit_once('@') {
        Some((made, host)) => {
            facts.extend(domain_of(host).map(|domain| format!("message-id at {domain}")));
            facts.push(format!("message-id like {}", shape(made)));
        }
        None => facts.push("message-id without a host".into()),
    }
}

fn of_date(value: &str, facts: &mut Vec<String>) {
    // Programs differ in the zone with what follows it, and in the pattern of the whole date.
    let zone = value.rfind(['+', '-']).map_or("", |at| &value[at..]);
    facts.push(format!("date in {}", shortened(zone, LONG_VALUE).to_lowercase()));
    facts.push(format!("date like {}", shape(shortened(value, LONG_VALUE))));
}

fn of_content_type(value: &str, facts: &mut Vec<String>) {
    let lower = value.to_lowercase();
    for part in lower.split([';', '\n']).map(str::trim).filter(|part| !part.is_empty()).take(8) {
        match part.split_once('=') {
            Some(("boundary", border)) => {
                facts.push(format!("border like {}", shape(shortened(border, LONG_VALUE))));
            }
            Some(("charset" | "format" | "type" | "report-type", _)) | None => {
                facts.push(format!("content-type: {}", shortened(part, LONG_VALUE)));
            }
            Some(_) => {}
        }
    }
}

fn of_subject(value: &str, facts: &mut Vec<String>) {
    if let Some((charset, _)) = value.split_once("=?").and_then(|(_, rest)| rest.split_once('?')) {
        facts.push(format!("subject in {}", shortened(charset, 20).to_lowercase()));
    }
    let letters = value.chars().filter(|c| c.is_alphabetic()).count();
    if letters > 3 && !value.chars().any(char::is_lowercase) {
        facts.push("subject in capitals".into());
    }
}

/// Returns the words with an `@`, without the punctuation around them.
fn addresses(value: &str) -> impl Iterator<Item = &str> {
    value
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '<' | '>' | '"' | '(' | ')'))
        .filter(|word| word.len() <= LONG_VALUE * 2 && word.contains('@'))
}

fn domains(value: &str) -> impl Iterator<Item = String> {
    addresses(value).filter_map(|address| domain_of(address.rsplit_once('@')?.1))
}

/// Returns the pattern of a value: which kinds of characters follow each other. A run of digits
/// becomes `9`, one of small letters `a`, one of capitals `A`, one of digits and capitals mixed
/// `X`. Letters and digits that are not ASCII become `u`, and other characters stay.
fn shape(value: &str) -> String {
    let mut shape = String::new();
    for c in value.chars().take(LONG_VALUE) {
        let kind = match c {
            '0'..='9' => '9',
            'a'..='z' => 'a',
            'A'..='Z' => 'A',
            c if c.is_ascii() => c,
            _ => 'u',
        };
        match shape.chars().last() {
            Some(last) if last == kind && kind.is_alphanumeric() => {}
            Some('X') if matches!(kind, '9' | 'A') => {}
            Some('9' | 'A') if matches!(kind, '9' | 'A') => {
                shape.pop();
                shape.push('X');
            }
            _ => shape.push(kind),
        }
    }
    shortened(&shape, 24).to_owned()
}

#[cfg(test)]
mod tests {
    use crate::Message;

    fn values(head: &str) -> Vec<String> {
        Message::read(format!("{head}\n\nbody\n").as_bytes()).values
    }

    #[test]
    fn values_of_headers_are_facts() {
        let found = values(
            "Message-ID: <000a01c1$7F3A@mail.shop.example>\nDate: Thu, 6 Jun 2002 07:17:38 +0900 (JST)\nX-Mailer: Swift 2.1\n\
             Subject: =?gb2312?B?y+k=?=\nReply-To: <x@other.example>\nMIME-Version: 1.0\n\
             Content-Type: multipart/mixed; boundary=\"----=_Part_12_34\"",
        );
        for fact in [
            "message-id at shop.example",
            "message-id like 9a9a9$X",
            "date in +0900 (jst)",
            "x-mailer: swift 2.1",
            "x-mailer: a 9.9",
            "subject in gb2312",
            "reply-to at other.example",
            "content-type: multipart/mixed",
            "border like \"----=_a_9_9\"",
        ] {
            assert!(found.iter().any(|other| other == fact), "{fact} in {found:?}");
        }
    }

    #[test]
    fn traces_of_mailboxes_and_senders_have_no_values() {
        let traces = "Status: RO\nX-UID: 17\nX-Keywords: a\nX-Mozilla-Status: 1\nX-Spam-Level: ***\nX-Folder: in\n\
                      Delivered-To: a@b.example\nFrom: ana@home.example";
        assert_eq!(values(traces), [""; 0]);
    }

    #[test]
    fn any_header_is_read() {
        for value in ["", "@", "<", "=?", "=?a", ";;=", "boundary=", "\u{200b}\u{2028}", "-", "é@ü"] {
            let names = ["Message-ID", "Date", "Content-Type", "Subject", "Reply-To", "X-Mailer", "To"];
            values(&names.map(|name| format!("{name}: {value}")).join("\n"));
        }
    }
}
