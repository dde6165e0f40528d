//! What does a message say? From any bytes to sender, subject, words and facts.
//!
//! Mail may be anything: truncated, nested without end, in character sets that do not exist,
//! without headers or with nothing else. So reading cannot fail, and its cost is bounded. Only the
//! first mebibyte is read. The MIME parser (`mail-parser`) only sees messages with few containers.
//! Of their text the first 64 KiB count. A message with more containers is read as plain text.
//!
//! Before anything else, lines that end in CRLF are made equal to lines that end in LF, and
//! characters that only look different are made equal ([`text`]). Both what a reader sees and how
//! the message is built count. The body becomes text. Facts about its structure (types, hosts of
//! links, headers that authors write) become short names. What a reader does not see is not text:
//! what the styles of a page hide, or a plain version beside the page that is shown ([`versions`]).
//! That there is such text is a fact.
//!
//! A message is identified by its *fingerprint*: the hash of its body and of the four headers that
//! its author writes. What is added on the way or in the mailbox (`Received`, `Status`, `X-Crivo`)
//! does not change it, up to [`LONGEST_HEAD`]. So a message is the same when it arrives and when
//! its owner moves it into another folder. The headers that say how to read the body are not
//! hashed, because mail servers rewrite them. So messages with equal fingerprints may have
//! different texts.

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

pub(crate) use self::address::{canonical, canonical_domain};
pub use self::authentication::{Authentication, AuthenticationHeader, authentication};
use self::head::Head;
use self::text::Normalizer;

/// The number of bytes of a message that are read. A longer message has an attachment, and its text
/// comes first.
pub(crate) const LOOKED_AT: usize = 1 << 20;

/// The most containers of a message that is parsed as MIME. Honest mail has fewer than ten.
const CONTAINERS: usize = 64;

/// The number of bytes of text that count: about ten thousand words.
const TEXT: usize = 64 << 10;

/// The number of bytes of a subject or an address that count.
const SHORT_TEXT: usize = 512;

/// The number of bytes of a message that are searched for a header such as `Message-ID`. Up to this
/// length, the head of a message does not change how much of its body the fingerprint hashes.
const LONGEST_HEAD: usize = 64 << 10;

/// The number of bytes of a message that its fingerprint may depend on.
pub(crate) const HASHED: usize = LONGEST_HEAD + LOOKED_AT;

/// The most facts of a kind that count, because a page with a thousand links says no more than one
/// with thirty.
const FACTS: usize = 32;

/// What the filter reads of a message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Message {
    /// Identifies the message. Equal for all copies of it.
    pub fingerprint: u64,
    /// The sender's address in its normal form; `None` if there is no address.
    pub sender: Option<String>,
    /// The subject, decoded.
    pub subject: String,
    /// What a reader sees of the body.
    pub text: String,
    /// Facts about how it is built: short names, each once, ascending.
    pub facts: Vec<String>,
    /// Facts about what its headers say: short names, each once, ascending.
    pub values: Vec<String>,
    /// The time that its `Date` header says, in seconds since 1970.
    pub date: Option<i64>,
    /// Facts about its route, from its transport headers: short names, each once, ascending.
    pub transport: Vec<String>,
    /// What hosts on the way wrote about its sender, from the top. The headers may be forged.
    pub authentication: Vec<AuthenticationHeader>,
}

impl Message {
    /// Reads a message. Any bytes are a message.
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
        let hashed = unix_lines(bytes);
        let bytes = &hashed[..hashed.len().min(LOOKED_AT)];
        let (head, body) = Head::split(bytes);
        let mut reader = Reader { facts: head.facts(), page: PageText::as_shown(), ..Reader::default() };
        let mut message = Self { fingerprint: fingerprint(&hashed), ..Self::default() };

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
        } else if containers(bytes) > CONTAINERS {
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
        // Anyone can write any sender: neither its name nor its domain is a fact.
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

    /// Reads every part of a message, and of the messages inside of it.
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

    /// Reads a part that could not be decoded as it says, often because the message was cut off in
    /// it. The parser gives it as text in any case, but letters that encode bytes are not words.
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

/// Returns the `Message-ID` of a message without decoding it, or an empty string if it has none.
pub(crate) fn message_id(bytes: &[u8]) -> String {
    header(bytes, "message-id")
}

/// Returns the first header of a name without decoding it, or an empty string if there is none.
pub(crate) fn header(bytes: &[u8], name: &str) -> String {
    let beginning = unix_lines(&bytes[..bytes.len().min(LONGEST_HEAD)]);
    let (head, _) = Head::split(&beginning);
    String::from_utf8_lossy(head.value(name).trim_ascii()).into_owned()
}

/// Returns the first [`HASHED`] bytes of a message, with lines that end in LF.
fn unix_lines(bytes: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\r', &bytes[..bytes.len().min(HASHED)]).is_none() {
        return Cow::Borrowed(&bytes[..bytes.len().min(HASHED)]);
    }
    let mut lines = Vec::with_capacity(bytes.len().min(HASHED));
    for (at, &byte) in bytes.iter().enumerate() {
        if lines.len() >= HASHED {
            break;
        }
        if byte != b'\r' || bytes.get(at + 1) != Some(&b'\n') {
            lines.push(byte);
        }
    }
    Cow::Owned(lines)
}

/// Returns the hash that identifies a message: of what its author wrote. Of the body, the first
/// [`LOOKED_AT`] bytes count, however long the head is that mail servers made of it.
fn fingerprint(message: &[u8]) -> u64 {
    let (head, body) = Head::split(message);
    let mut hash = Xxh3::new();
    for name in ["from", "date", "subject", "message-id"] {
        hash.update(name.as_bytes());
        for word in head.value(name).split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
            hash.update(b" ");
            hash.update(word);
        }
        hash.update(b"\n");
    }
    hash.update(body[..body.len().min(LOOKED_AT)].trim_ascii());
    hash.digest()
}

/// Decodes text in no stated encoding. It is UTF-8 if it is valid as such. Otherwise it is Latin-1,
/// in which any bytes are text.
fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    let was_cut = bytes.len() > 2 * TEXT;
    let bytes = &bytes[..bytes.len().min(2 * TEXT)];
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        // The cut may be within a character.
        Err(error) if was_cut && error.error_len().is_none() => {
            String::from_utf8_lossy(&bytes[..error.valid_up_to()])
        }
        Err(_) => Cow::Owned(bytes.iter().map(|&byte| char::from(byte)).collect()),
    }
}

/// Returns the number of containers that a message claims to have.
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
