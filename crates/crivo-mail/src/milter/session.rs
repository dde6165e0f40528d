//! Which packet means what, and when? A connection of the mail server, from its first packet to its
//! last.
//!
//! ```text
//! negotiate ─ connect ─ helo ─┬─ mail ─ recipient … ─ header … ─ end of head ─ body … ─ end of message ─┐
//!                             └────────────────────────── abort, or the next message ───────────────────┘
//! ```
//!
//! A [`Session`] takes one packet at a time and says what to do next. It keeps the part of a
//! message that is read for judging, and drops the rest. So a connection has a bounded size.
//! Packets in an impossible order are malformed.
//!
//! The mail server has not written its own `Received` line yet when it sends a message. Mail that
//! was learned from a mailbox has that line. So the session writes one of the same form above the
//! message, and a `Return-Path`. Both are for judging only.

use std::collections::BTreeMap;

use super::negotiation::{Agreed, Step};
use super::packet::{Command, Macros, Malformed};
use super::reply;
use crate::marks::{OF_FILTERS, begins_with_one_of};

/// The most recipients that are remembered. A message with more recipients is judged by the shared
/// store alone.
const RECIPIENTS: usize = 100;

/// The most bytes of an address or name that are remembered. SMTP allows 254.
const LONGEST_NAME: usize = 1000;

/// The most forged headers of a message that are removed, and the most bytes of the name of one. A
/// message beyond either limit is refused: it would be delivered with marks that no filter wrote.
/// Honest mail that passed several filters has some twenty such headers.
const FORGED: usize = 1000;
const LONGEST_FORGED: usize = 1000;

/// A connection of the mail server.
#[derive(Debug, Default)]
pub struct Session {
    keep: usize,
    quarantines: bool,
    agreed: Option<Agreed>,
    client: Client,
    queue_id: String,
    message: Option<Incoming>,
}

/// What is known about the client that sends the message.
#[derive(Debug, Default)]
struct Client {
    host: String,
    address: String,
    helo: String,
    /// The mail server's own name.
    server: String,
}

/// A message that is being received.
#[derive(Debug, Default)]
struct Incoming {
    bytes: Vec<u8>,
    recipients: Vec<Vec<u8>>,
    too_many_recipients: bool,
    has_head: bool,
    /// Headers that only filters write, by name in lower case: the name as it was written, and the
    /// number of such headers.
    forged: BTreeMap<Vec<u8>, (Vec<u8>, u32)>,
    /// The number of these headers.
    forged_headers: usize,
    /// True if there are more of them than are removed, or one with too long a name.
    has_too_many_forged: bool,
}

/// A complete message, or the beginning of it that is read for judging.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The message.
    pub message: Vec<u8>,
    /// The recipients; empty if there are too many to ask the store of each.
    pub recipients: Vec<Vec<u8>>,
    /// Packets that remove headers which only a filter may write.
    pub cleaning: Vec<u8>,
    /// The id that the mail server gave the message; empty if it gave none.
    pub queue_id: String,
}

/// What to do after a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Send these bytes.
    Reply(Vec<u8>),
    /// Wait for the next packet.
    Wait,
    /// Judge the message, and reply what follows from that.
    Judge(Box<Ended>),
    /// Close the connection.
    Close,
}

impl Session {
    /// Returns a session that keeps up to `keep` bytes of a message, and may put messages into
    /// quarantine.
    pub fn new(keep: usize, quarantines: bool) -> Self {
        Self { keep, quarantines, ..Self::default() }
    }

    /// Returns true while a message is being received.
    pub fn has_message(&self) -> bool {
        self.message.is_some()
    }

    /// Takes a packet, and returns what to do next.
    ///
    /// # Errors
    /// If it cannot come at this point.
    pub fn take(&mut self, command: Command<'_>) -> Result<Next, Malformed> {
        let Some(agreed) = self.agreed else { return self.take_first(command) };
        let answered = |step| {
            if agreed.is_silent(step) { Next::Wait } else { Next::Reply(reply::go_on()) }
        };
        Ok(match command {
            Command::Negotiate { .. } => return Err(Malformed("a second negotiation".into())),
            Command::Macros(macros) => {
                self.take_macros(macros);
                Next::Wait
            }
            Command::Connect { host, address } => {
                self.client.host = readable(host);
                self.client.address = readable(address.unwrap_or_default());
                answered(Step::Connect)
            }
            Command::Helo(helo) => {
                self.client.helo = readable(helo);
                answered(Step::Helo)
            }
            Command::Mail(sender) => {
                let mut bytes = self.client.trace(&readable(sender)).into_bytes();
                bytes.truncate(self.keep);
                self.message = Some(Incoming { bytes, ..Incoming::default() });
                answered(Step::Mail)
            }
            Command::Recipient(recipient) => {
                self.message("a recipient")?.take_recipient(recipient);
                answered(Step::Recipient)
            }
            Command::Data | Command::Unknown => Next::Reply(reply::go_on()),
            Command::Header { name, value } => {
                let keep = self.keep;
                self.message("a header")?.take_header(name, value, keep)?;
                answered(Step::Header)
            }
            Command::EndOfHead => {
                let keep = self.keep;
                self.message("the end of a head")?.end_head(keep);
                answered(Step::EndOfHead)
            }
            Command::Body(piece) => {
                let keep = self.keep;
                let is_full = self.message("a piece of a body")?.take_body(piece, keep);
                Next::Reply(if is_full && agreed.can_skip() { reply::skip() } else { reply::go_on() })
            }
            Command::EndOfMessage(piece) => {
                let keep = self.keep;
                self.message("the end of a message")?.take_body(piece, keep);
                let queue_id = std::mem::take(&mut self.queue_id);
                match self.message.take() {
                    Some(message) if message.has_too_many_forged => {
                        Next::Reply(reply::refuse("550 5.7.1 Too many headers of mail filters"))
                    }
                    Some(message) => Next::Judge(Box::new(message.ended(queue_id))),
                    None => Next::Wait,
                }
            }
            Command::Abort => {
                self.message = None;
                self.queue_id.clear();
                Next::Wait
            }
            Command::QuitForNext => {
                (self.message, self.client) = (None, Client::default());
                self.queue_id.clear();
                Next::Wait
            }
            Command::Quit => Next::Close,
        })
    }

    fn take_first(&mut self, command: Command<'_>) -> Result<Next, Malformed> {
        match command {
            Command::Negotiate { version, actions, steps } => {
                let agreed = Agreed::of(version, actions, steps, self.quarantines)?;
                self.agreed = Some(agreed);
                Ok(Next::Reply(agreed.to_bytes()))
            }
            Command::Quit => Ok(Next::Close),
            _ => Err(Malformed("a packet before the negotiation".into())),
        }
    }

    fn take_macros(&mut self, macros: Macros<'_>) {
        for (name, value) in macros.iter() {
            match name {
                b"j" => self.client.server = readable(value),
                b"i" => self.queue_id = readable(value),
                _ => {}
            }
        }
    }

    fn message(&mut self, what: &str) -> Result<&mut Incoming, Malformed> {
        self.message.as_mut().ok_or_else(|| Malformed(format!("{what} outside of a message")))
    }
}

impl Client {
    /// Returns the lines that the mail server will write itself when it has accepted the message.
    fn trace(&self, sender: &str) -> String {
        let Self { host, address, helo, server } = self;
        let received = if host.is_empty() {
            String::new()
        } else {
            let helo = if helo.is_empty() { host } else { helo };
            format!("Received: from {helo} ({host} [{address}])\n\tby {server} with SMTP\n")
        };
        format!("Return-Path: {sender}\n{received}")
    }
}

impl Incoming {
    fn take_recipient(&mut self, recipient: &[u8]) {
        if recipient.len() > LONGEST_NAME || self.recipients.len() == RECIPIENTS {
            self.too_many_recipients = true;
        } else {
            self.recipients.push(recipient.to_vec());
        }
    }

    fn take_header(&mut self, name: &[u8], value: &[u8], keep: usize) -> Result<(), Malformed> {
        if self.has_head {
            return Err(Malformed("a header behind the head".into()));
        }
        // Some old programs write blanks before the colon.
        let bare = name.trim_ascii();
        if begins_with_one_of(bare, OF_FILTERS) {
            if self.forged_headers == FORGED || name.len() > LONGEST_FORGED {
                self.has_too_many_forged = true;
            } else {
                let (_, count) =
                    self.forged.entry(bare.to_ascii_lowercase()).or_insert_with(|| (name.to_vec(), 0));
                *count += 1;
                self.forged_headers += 1;
            }
            return Ok(());
        }
        for part in [name, b": ", value, b"\n"] {
            self.keep(part, keep);
        }
        Ok(())
    }

    fn end_head(&mut self, keep: usize) {
        if !self.has_head {
            self.keep(b"\n", keep);
        }
        self.has_head = true;
    }

    /// Takes a piece of the body. Returns true if no more of the message is needed.
    fn take_body(&mut self, piece: &[u8], keep: usize) -> bool {
        self.end_head(keep);
        self.keep(piece, keep);
        self.bytes.len() >= keep
    }

    fn keep(&mut self, part: &[u8], keep: usize) {
        let room = keep.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&part[..part.len().min(room)]);
    }

    fn ended(self, queue_id: String) -> Ended {
        let recipients = if self.too_many_recipients { Vec::new() } else { self.recipients };
        let cleaning = self.forged.into_values().flat_map(|(name, count)| reply::remove(&name, count));
        Ended { message: self.bytes, recipients, cleaning: cleaning.collect(), queue_id }
    }
}

/// Returns a name without control characters and of limited length, so that it fits into a line.
fn readable(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(LONGEST_NAME)]);
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFER: Command<'static> = Command::Negotiate { version: 6, actions: 0x1ff, steps: 0x001f_ffff };

    fn session(keep: usize) -> Session {
        let mut session = Session::new(keep, false);
        assert!(matches!(session.take(OFFER), Ok(Next::Reply(_))));
        session
    }

    fn header(name: &'static str, value: &'static str) -> Command<'static> {
        Command::Header { name: name.as_bytes(), value: value.as_bytes() }
    }

    fn ended(session: &mut Session, commands: &[Command<'_>]) -> Ended {
        for command in commands {
            session.take(*command).unwrap();
        }
        match session.take(Command::EndOfMessage(b"")).unwrap() {
            Next::Judge(ended) => *ended,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_message_has_the_lines_that_the_mail_server_will_add() {
        let mut session = session(10_000);
        session.take(Command::Connect { host: b"mx.shop.example", address: Some(b"10.0.0.1") }).unwrap();
        session.take(Command::Helo(b"www\n")).unwrap();
        let commands = [
            Command::Mail(b"<a@shop.example>"),
            Command::Recipient(b"<b@x>"),
            header("Subject", "one\n\ttwo"),
            Command::EndOfHead,
            Command::Body(b"hello\r\n"),
        ];
        let Ended { message, recipients, cleaning, .. } = ended(&mut session, &commands);
        let expected = "Return-Path: <a@shop.example>\nReceived: from www? (mx.shop.example [10.0.0.1])\n\tby  with SMTP\n\
                        Subject: one\n\ttwo\n\nhello\r\n";
        assert_eq!(String::from_utf8(message).unwrap(), expected);
        assert_eq!((recipients, cleaning), (vec![b"<b@x>".to_vec()], Vec::new()));
        assert!(!session.has_message());
    }

    #[test]
    fn forged_marks_are_no_evidence_and_are_removed_from_the_last_on() {
        let mut session = session(10_000);
        let commands = [
            Command::Mail(b"<>"),
            header("X-Spam-Flag", "NO"),
            header("x-spam-flag", "NO"),
            header("X-Crivo-Keywords ", "a"),
            header("Subject", "hi"),
            Command::EndOfHead,
        ];
        let ended = ended(&mut session, &commands);
        assert!(ended.message.ends_with(b"Subject: hi\n\n"));
        let expected = [reply::remove(b"X-Crivo-Keywords ", 1), reply::remove(b"X-Spam-Flag", 2)].concat();
        assert_eq!(ended.cleaning, expected);
    }

    #[test]
    fn a_long_body_is_skipped_when_enough_is_there() {
        let mut session = session(100);
        for command in [Command::Mail(b"<>"), Command::EndOfHead] {
            session.take(command).unwrap();
        }
        assert_eq!(session.take(Command::Body(&[b'x'; 10])), Ok(Next::Reply(reply::go_on())));
        assert_eq!(session.take(Command::Body(&[b'x'; 1000])), Ok(Next::Reply(reply::skip())));
        assert_eq!(ended(&mut session, &[]).message.len(), 100);
    }

    #[test]
    fn a_connection_has_several_messages_and_clients() {
        let mut session = session(1000);
        let first = ended(&mut session, &[Command::Mail(b"<a@x>"), header("A", "1")]);
        session.take(Command::Mail(b"<given@up>")).unwrap();
        session.take(header("B", "2")).unwrap();
        assert_eq!(session.take(Command::Abort), Ok(Next::Wait));
        assert!(!session.has_message());
        session.take(Command::QuitForNext).unwrap();
        let second = ended(&mut session, &[Command::Mail(b"<c@x>"), header("C", "3")]);
        assert_eq!(first.message, b"Return-Path: <a@x>\nA: 1\n\n");
        assert_eq!(second.message, b"Return-Path: <c@x>\nC: 3\n\n");
        assert_eq!(session.take(Command::Quit), Ok(Next::Close));
    }

    #[test]
    fn packets_out_of_order_are_malformed() {
        let mut early = Session::new(100, false);
        assert!(early.take(Command::Helo(b"x")).is_err());
        let mut session = session(100);
        for command in
            [OFFER, Command::Recipient(b""), header("A", "1"), Command::EndOfHead, Command::EndOfMessage(b"")]
        {
            assert!(session.take(command).is_err(), "{command:?}");
        }
        session.take(Command::Mail(b"<>")).unwrap();
        session.take(Command::Body(b"x")).unwrap();
        assert!(session.take(header("A", "1")).is_err());
    }

    #[test]
    fn what_a_client_says_without_end_is_bounded() {
        let mut session = session(1000);
        session.take(Command::Mail(&vec![b'a'; 100_000])).unwrap();
        for number in 0..5000 {
            session.take(Command::Recipient(b"<a@x>")).unwrap();
            let name = format!("X-{number}");
            session.take(Command::Header { name: name.as_bytes(), value: b"1" }).unwrap();
        }
        let ended = ended(&mut session, &[]);
        assert!(ended.message.len() <= 1000 && ended.recipients.is_empty());
    }

    /// Gives a message with these headers, all of filters, and returns what follows its end.
    fn forge(names: impl IntoIterator<Item = String>) -> Next {
        let mut session = session(1000);
        session.take(Command::Mail(b"<a@x>")).unwrap();
        for name in names {
            session.take(Command::Header { name: name.as_bytes(), value: b"1" }).unwrap();
        }
        let next = session.take(Command::EndOfMessage(b"")).unwrap();
        assert!(!session.has_message());
        next
    }

    #[test]
    fn a_message_with_more_forged_marks_than_are_removed_is_refused() {
        let numbered = |count: usize| (1..=count).map(|number| format!("X-Spam-{number}"));
        let own = || std::iter::once("X-Crivo".to_owned());
        let Next::Judge(ended) = forge(numbered(FORGED - 1).chain(own())) else { panic!() };
        assert!(ended.cleaning.starts_with(&reply::remove(b"X-Crivo", 1)));
        assert!(matches!(forge(std::iter::repeat_n("X-Spam-Flag".to_owned(), FORGED)), Next::Judge(_)));
        let refusals = [
            forge(numbered(FORGED).chain(own())),
            forge(std::iter::repeat_n("X-Spam-Flag".to_owned(), FORGED + 1)),
            forge([format!("X-Crivo-{}", "x".repeat(LONGEST_FORGED))]),
        ];
        for refusal in refusals {
            assert_eq!(refusal, Next::Reply(reply::refuse("550 5.7.1 Too many headers of mail filters")));
        }
    }
}
