//! What does a message say? From any bytes to sender, subject, words and facts.
//!
//! Mail is whatever arrives: truncated, nested without end, in character sets that do not exist,
//! without headers or with nothing else. So reading cannot fail, and what it costs is bounded: the
//! first mebibyte is looked at, the parser of MIME (`mail-parser`) only sees messages with few
//! containers, and of their text the first 64 kB count. What is beyond is taken as it stands.
//!
//! Lines that end in CRLF and in LF are the same before anything else is looked at, and so are
//! characters that only look different ([`text`]). What a reader sees and how the message is built
//! both count: a body comes once as text, the facts of its making (types, hosts of links, headers
//! that authors write) as short names. What a reader does not see is no text: not what styles of a
//! page hide, nor a plain version beside the page that is shown ([`versions`]); that there is such
//! text is a fact.
//!
//! A message is known by its *fingerprint*: the hash of its body and of the four headers that its
//! author writes. What is added on the way or in the mailbox (`Received`, `Status`, `X-Crivo`) does
//! not change it, so that a message is the same when it arrives and when its owner moves it into
//! another folder.

mod address;
mod authentication;
mod head;
mod links;
mod scripts;
mod text;
mod transport;
mod values;
mod versions;

use std::borrow::Cow;

use crivo_html::PageText;
use mail_parser::decoders::base64::base64_decode;
use mail_parser::{HeaderName, HeaderValue, MessageParser, MessagePart, MimeHeaders, PartType};
use xxhash_rust::xxh3::Xxh3;

pub use self::authentication::{Authentication, AuthenticationHeader, authentication};
use self::head::Head;
use self::text::Normalizer;

/// The number of bytes of a message that are read. What is longer is an attachment, not a text.
pub(crate) const LOOKED_AT: usize = 1 << 20;

/// How many containers a message may have to be taken apart. Honest mail has fewer than ten.
const CONTAINERS: usize = 64;

/// How much text counts: about ten thousand words.
const TEXT: usize = 64 << 10;

/// How much of a subject or an address counts.
const SHORT_TEXT: usize = 512;

/// How much of a message is searched for its `Message-ID`.
const LONGEST_HEAD: usize = 64 << 10;

/// How many facts of a kind count: a page with a thousand links says no more than one with thirty.
const FACTS: usize = 32;

/// A message, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Message {
    /// The same for the same message.
    pub fingerprint: u64,
    /// The sender's address in its one form; none if there is no address.
    pub sender: Option<String>,
    /// The subject, decoded.
    pub subject: String,
    /// What a reader sees of the body.
    pub text: String,
    /// How it is built: short names, each once, ascending.
    pub facts: Vec<String>,
    /// What its headers say: short names, each once, ascending.
    pub values: Vec<String>,
    /// When it was sent by its own account, in seconds since 1970.
    pub date: Option<i64>,
    /// What its transport headers say of the way it took: short names, each once, ascending.
    pub transport: Vec<String>,
    /// What hosts on the way wrote about its sender, true or forged, from the top.
    pub authentication: Vec<AuthenticationHeader>,
}

impl Message {
    /// Reads a message: any bytes are one.
    ///
    /// ```
    /// use crivo_mail::Message;
    ///
    /// let message = Message::read(b"From: Ana <ANA@Example.org>\r\nSubject: =?utf-8?q?Ol=C3=A1?=\r\n\r\nbom dia");
    /// assert_eq!(message.sender.as_deref(), Some("ana@example.org"));
    /// assert_eq!((message.subject.trim(), message.text.trim()), ("Olá", "bom dia"));
    /// assert_eq!(Message::read(b"").sender, None);
    /// ```
    pub fn read(bytes: &[u8]) -> Self {
        let bytes = unix_lines(bytes);
        let (head, body) = Head::split(&bytes);
        let mut reader = Reader { facts: head.facts(), page: PageText::as_shown(), ..Reader::default() };
        let mut message = Self { fingerprint: fingerprint(&head, body), ..Self::default() };

        let parser = MessageParser::default();
        let headers = parser.parse_headers(head.bytes());
        if let Some(headers) = &headers {
            message.sender = match headers.from() {
                Some(from) => address::first(from).or_else(|| address::in_header(head.value("from"))),
                None => headers.sender().and_then(address::first),
            };
            if let Some(subject) = headers.subject() {
                message.subject = shortened(subject, SHORT_TEXT).into();
            }
            message.date =
                headers.date().filter(|date| date.is_valid()).map(mail_parser::DateTime::to_timestamp);
            reader.read_headers(headers, message.sender.as_deref());
        }
        if !head.is_mime() {
            reader.read_text(&decoded(body));
        } else if containers(&bytes) > CONTAINERS {
            reader.fact("built of very many parts");
            reader.read_text(&decoded(body));
        } else {
            let joined = head.joined(body);
            match parser.parse(joined.as_ref()) {
                Some(parsed) => reader.read_parts(&parsed),
                None => reader.read_text(&decoded(body)),
            }
        }
        message.subject = reader.normalizer.normalize(&message.subject).into_owned();
        message.text = reader.normalizer.normalize(&reader.text).into_owned();
        let traces = reader.normalizer.traces();
        reader.facts.extend(traces.map(String::from));
        reader.facts.extend(scripts::facts(&message.text));
        reader.facts.sort_unstable();
        reader.facts.dedup();
        message.facts = reader.facts;
        message.transport = transport::facts(head, message.sender.as_deref());
        message.values = values::facts(head);
        message.authentication = authentication::headers(head);
        message
    }
}

/// Collects text and facts.
#[derive(Default)]
struct Reader {
    text: String,
    facts: Vec<String>,
    page: PageText,
    normalizer: Normalizer,
}

impl Reader {
    fn fact(&mut self, fact: impl Into<String>) {
        self.facts.push(fact.into());
    }

    fn read_headers(&mut self, headers: &mail_parser::Message<'_>, sender: Option<&str>) {
        // Who wrote a message is what anyone can write: neither name nor domain of the sender is a
        // fact.
        match sender.and_then(|sender| sender.rsplit_once('@')) {
            Some((_, domain)) => {
                let reply = headers.reply_to().and_then(address::first);
                if let Some((_, other)) = reply.as_deref().and_then(|reply| reply.rsplit_once('@')) {
                    self.fact(if other == domain {
                        "reply to the same domain"
                    } else {
                        "reply to another domain"
                    });
                }
            }
            None if headers.from().is_some() => self.fact("sender without an address"),
            None => {}
        }
        for (header, called) in [(HeaderName::To, "to"), (HeaderName::Cc, "copy")] {
            if let Some(HeaderValue::Address(list)) = headers.header(header) {
                let count = list.iter().take(100).count();
                self.fact(format!("{called}: {} addresses", power_of_two(count)));
            }
        }
        if let Some(date) = headers.date() {
            self.fact(format!(
                "sent in the zone {}{:02}",
                if date.tz_before_gmt { '-' } else { '+' },
                date.tz_hour
            ));
            if !date.is_valid() {
                self.fact("sent at no valid time");
            }
        }
        for name in ["X-Mailer", "User-Agent"] {
            if let Some(HeaderValue::Text(program)) = headers.header(name) {
                let program: String =
                    program.chars().take_while(|c| c.is_alphabetic() || *c == ' ').take(40).collect();
                self.fact(format!("written with {}", program.trim().to_lowercase()));
            }
        }
    }

    /// Every part of a message, and of those inside of it.
    fn read_parts(&mut self, message: &mail_parser::Message<'_>) {
        let mut inside = vec![message];
        let (mut parts, mut plain) = (0, String::new());
        while let Some(message) = inside.pop() {
            let unshown = versions::unshown(message);
            for (number, part) in message.parts.iter().enumerate() {
                parts += 1;
                if let Some(HeaderValue::ContentType(kind)) =
                    part.headers.iter().find(|h| h.name == HeaderName::ContentType).map(|h| &h.value)
                {
                    self.read_content_type(kind);
                }
                match &part.body {
                    PartType::Text(text) if unshown.contains(&number) => {
                        plain.push_str(shortened(text, TEXT.saturating_sub(plain.len())));
                        plain.push('\n');
                    }
                    PartType::Text(raw) if part.is_encoding_problem => self.read_broken(part, raw),
                    PartType::Text(text) => self.read_text(text),
                    PartType::Html(page) => self.read_page(page),
                    PartType::Binary(bytes) | PartType::InlineBinary(bytes) => {
                        self.read_attachment(bytes.len());
                    }
                    PartType::Message(message) => inside.push(message),
                    PartType::Multipart(_) => {}
                }
            }
        }
        self.fact(format!("{} parts", power_of_two(parts)));
        if versions::differ(&plain, &self.text) {
            self.fact("the plain version says something else");
        }
    }

    fn read_attachment(&mut self, bytes: usize) {
        self.fact(format!("attachment of about {} bytes", power_of_two(bytes)));
    }

    /// A part that could not be decoded as it says, often because the message was cut off in it.
    /// The parser gives it as text whatever it is, but letters that stand for bytes are no words.
    fn read_broken(&mut self, part: &MessagePart<'_>, raw: &str) {
        let kind = part.content_type();
        if kind.is_some_and(|kind| !kind.ctype().eq_ignore_ascii_case("text")) {
            return self.read_attachment(raw.len());
        }
        let is_base64 =
            part.content_transfer_encoding().is_some_and(|coding| coding.eq_ignore_ascii_case("base64"));
        let bytes = if is_base64 { base64_decode(raw.as_bytes()) } else { None };
        let text = bytes.as_deref().map_or(Cow::Borrowed(raw), String::from_utf8_lossy);
        let subtype = kind.and_then(|kind| kind.subtype());
        if subtype.is_some_and(|subtype| subtype.eq_ignore_ascii_case("html")) {
            self.read_page(&text);
        } else {
            self.read_text(&text);
        }
    }

    fn read_content_type(&mut self, kind: &mail_parser::ContentType<'_>) {
        if self.facts.len() > 4 * FACTS {
            return;
        }
        let subtype = kind.subtype().unwrap_or_default();
        self.fact(format!("type {}/{}", shortened(kind.ctype(), 32), shortened(subtype, 32)).to_lowercase());
        if let Some(set) = kind.attribute("charset") {
            self.fact(format!("characters of {}", shortened(set, 32).to_lowercase()));
        }
        if let Some((_, ending)) = kind.attribute("name").and_then(|name| name.rsplit_once('.')) {
            self.fact(format!("attached .{}", shortened(ending, 8).to_lowercase()));
        }
    }

    fn read_page(&mut self, page: &str) {
        let page = shortened(page, 4 * TEXT);
        self.read_links(page);
        let room = TEXT.saturating_sub(self.text.len());
        let text = String::from_utf8_lossy(self.page.of(page.as_bytes()));
        let shown = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
        self.text.push_str(shortened(&text, room));
        self.text.push('\n');
        if self.page.hidden() > 0 {
            self.fact("page with hidden text");
        }
        if self.page.hidden() > shown {
            self.fact("page with more hidden text than shown");
        }
        for (mark, fact) in [
            ("<img", "page with images"),
            ("<form", "page with a form"),
            ("<script", "page with a script"),
            ("<font", "page with fonts"),
            ("<table", "page with a table"),
            ("<style", "page with a style"),
            ("<!--", "page with comments"),
        ] {
            if links::contains_ignoring_case(page.as_bytes(), mark.as_bytes()) {
                self.fact(fact);
            }
        }
    }

    fn read_text(&mut self, text: &str) {
        let room = TEXT.saturating_sub(self.text.len());
        let text = shortened(text, room);
        self.read_links(text);
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn read_links(&mut self, text: &str) {
        for host in links::hosts(text).take(FACTS) {
            if host.bytes().all(|c| c.is_ascii_digit() || c == b'.') {
                self.fact("link to a bare number");
            } else {
                self.fact(format!("link to {host}"));
            }
        }
    }
}

/// The `Message-ID` of a message as it stands; empty if it has none.
pub(crate) fn message_id(bytes: &[u8]) -> String {
    header(bytes, "message-id")
}

/// The first header of a name as it stands; empty if there is none.
pub(crate) fn header(bytes: &[u8], name: &str) -> String {
    let beginning = unix_lines(&bytes[..bytes.len().min(LONGEST_HEAD)]);
    let (head, _) = Head::split(&beginning);
    String::from_utf8_lossy(head.value(name).trim_ascii()).into_owned()
}

/// The message with lines that end in LF, as far as it is looked at.
fn unix_lines(bytes: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\r', &bytes[..bytes.len().min(LOOKED_AT)]).is_none() {
        return Cow::Borrowed(&bytes[..bytes.len().min(LOOKED_AT)]);
    }
    let mut lines = Vec::with_capacity(bytes.len().min(LOOKED_AT));
    for (at, &byte) in bytes.iter().enumerate() {
        if lines.len() >= LOOKED_AT {
            break;
        }
        if byte != b'\r' || bytes.get(at + 1) != Some(&b'\n') {
            lines.push(byte);
        }
    }
    Cow::Owned(lines)
}

/// What identifies a message: what its author wrote.
fn fingerprint(head: &Head<'_>, body: &[u8]) -> u64 {
    let mut hash = Xxh3::new();
    for name in ["from", "date", "subject", "message-id"] {
        hash.update(name.as_bytes());
        for word in head.value(name).split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
            hash.update(b" ");
            hash.update(word);
        }
        hash.update(b"\n");
    }
    hash.update(body.trim_ascii());
    hash.digest()
}

/// Text in no stated encoding: UTF-8 if it is, and Latin-1 otherwise, in which any bytes are text.
fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    let was_cut = bytes.len() > 2 * TEXT;
    let bytes = &bytes[..bytes.len().min(2 * TEXT)];
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        // The cut may have gone through a character.
        Err(error) if was_cut && error.error_len().is_none() => {
            String::from_utf8_lossy(&bytes[..error.valid_up_to()])
        }
        Err(_) => Cow::Owned(bytes.iter().map(|&byte| char::from(byte)).collect()),
    }
}

/// How many containers a message claims to have.
fn containers(bytes: &[u8]) -> usize {
    links::count_ignoring_case(bytes, b"boundary") + links::count_ignoring_case(bytes, b"message/")
}

/// Returns at most `bytes` bytes of a text, cut between characters.
fn shortened(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Rounds a size up to a power of two, because only its order of magnitude matters.
fn power_of_two(count: usize) -> usize {
    count.checked_next_power_of_two().unwrap_or(count)
}

#[cfg(test)]
mod tests;
