//! What does the mail server say? One packet, from bytes that any client may have sent.
//!
//! ```text
//! 00 00 00 12  'L'  Subject \0 hi \0
//!   length    command   data
//! ```
//!
//! [`parse`] is a pure function of the bytes received so far. It returns the packet, that more
//! bytes are needed, or what is wrong with the packet. The length counts the command and its data,
//! at most [`LONGEST`]. Texts end in a zero byte.

use std::fmt;

/// The most bytes of a packet. Body chunks have at most 65,535 bytes. A header of Postfix has at
/// most 102,400 by default.
pub const LONGEST: usize = 1 << 20;

/// The number of bytes before the command: the length.
const LENGTH: usize = 4;

/// The most macros of a packet that are read. Postfix sends about ten.
const MACROS: usize = 100;

/// A packet of the mail server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command<'a> {
    /// What the mail server can do: version, actions and steps of the protocol.
    Negotiate {
        /// The version of the protocol.
        version: u32,
        /// Changes that it allows.
        actions: u32,
        /// Steps that it can leave out, or that need no reply.
        steps: u32,
    },
    /// Values of the mail server's macros for a step. It is not answered.
    Macros(Macros<'a>),
    /// A client of the mail server.
    Connect {
        /// Its name, as the mail server found it.
        host: &'a [u8],
        /// Its address; `None` if it has none.
        address: Option<&'a [u8]>,
    },
    /// The name that the client gives itself.
    Helo(&'a [u8]),
    /// The sender of the envelope. A new message begins.
    Mail(&'a [u8]),
    /// A recipient of the envelope.
    Recipient(&'a [u8]),
    /// The client wants to send the message.
    Data,
    /// A header, without the blank behind its colon.
    Header {
        /// Before the colon.
        name: &'a [u8],
        /// Behind it.
        value: &'a [u8],
    },
    /// The head has ended.
    EndOfHead,
    /// A piece of the body.
    Body(&'a [u8]),
    /// The last piece of the body: the message has ended.
    EndOfMessage(&'a [u8]),
    /// The message is given up, and the client stays. It is not answered.
    Abort,
    /// The end of the connection. It is not answered.
    Quit,
    /// The client has gone and another one may follow. It is not answered.
    QuitForNext,
    /// A command of the client that the mail server does not know.
    Unknown,
}

/// The macros of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Macros<'a> {
    /// The command that they belong to.
    pub step: u8,
    values: &'a [u8],
}

impl<'a> Macros<'a> {
    /// Returns the names and the values. Names of more than one letter are in braces.
    pub fn iter(self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let mut texts = self.values.split(|&byte| byte == 0);
        std::iter::from_fn(move || Some((texts.next().filter(|name| !name.is_empty())?, texts.next()?)))
            .take(MACROS)
    }
}

/// The result of parsing the bytes received so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parsed<'a> {
    /// The packet has not ended.
    Incomplete,
    /// A packet, and the number of bytes it took.
    Whole(Command<'a>, usize),
}

/// What is wrong with a packet or its position in the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed(pub(super) String);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Malformed {}

/// Reads a packet.
///
/// ```
/// use crivo_mail::milter::packet::{Command, Parsed, parse};
///
/// let bytes = b"\x00\x00\x00\x0cLSubject\x00hi\x00";
/// let header = Command::Header { name: b"Subject", value: b"hi" };
/// assert_eq!(parse(bytes), Ok(Parsed::Whole(header, 16)));
/// assert_eq!(parse(&bytes[..9]), Ok(Parsed::Incomplete));
/// assert!(parse(b"GET / HTTP/1.1").is_err());
/// ```
///
/// # Errors
/// If no packet begins with these bytes. Then no byte after them can be understood either.
pub fn parse(bytes: &[u8]) -> Result<Parsed<'_>, Malformed> {
    let Some((length, rest)) = bytes.split_first_chunk::<LENGTH>() else { return Ok(Parsed::Incomplete) };
    let length = u32::from_be_bytes(*length) as usize;
    if !(1..=LONGEST).contains(&length) {
        return Err(Malformed(format!("a packet of {length} bytes: expected 1 to {LONGEST}")));
    }
    if let Some(&command) = rest.first()
        && !b"ODCHMRTLNBEAQKU".contains(&command)
    {
        return Err(Malformed(format!("an unknown command: {:?}", char::from(command))));
    }
    match rest.get(..length).and_then(<[u8]>::split_first) {
        Some((&command, data)) => Ok(Parsed::Whole(
            understood(command, data).ok_or_else(|| damaged(command, data))?,
            LENGTH + length,
        )),
        None => Ok(Parsed::Incomplete),
    }
}

fn damaged(command: u8, data: &[u8]) -> Malformed {
    Malformed(format!("damaged data of {} bytes in a packet {:?}", data.len(), char::from(command)))
}

fn understood(command: u8, data: &[u8]) -> Option<Command<'_>> {
    let nothing = |command| data.is_empty().then_some(command);
    Some(match command {
        b'O' => {
            let (numbers, rest) = data.as_chunks::<4>();
            let [version, actions, steps] = *numbers else { return None };
            let [version, actions, steps] = [version, actions, steps].map(u32::from_be_bytes);
            if !rest.is_empty() {
                return None;
            }
            Command::Negotiate { version, actions, steps }
        }
        b'D' => {
            let (&step, values) = data.split_first()?;
            let values = if values.is_empty() { values } else { values.strip_suffix(b"\0")? };
            // Names and values come in pairs.
            if !values.is_empty() && memchr::memchr_iter(0, values).count().is_multiple_of(2) {
                return None;
            }
            Command::Macros(Macros { step, values })
        }
        b'C' => {
            let (host, rest) = text(data)?;
            let (family, rest) = rest.split_first()?;
            let address = match family {
                b'U' => None,
                b'4' | b'6' | b'L' => Some(only_text(rest.get(2..)?)?),
                _ => return None,
            };
            Command::Connect { host, address }
        }
        b'H' => Command::Helo(only_text(data)?),
        // After the address come parameters such as SIZE, each a text.
        b'M' | b'R' => {
            let (address, parameters) = text(data)?;
            if !(parameters.is_empty() || parameters.ends_with(b"\0")) {
                return None;
            }
            if command == b'M' { Command::Mail(address) } else { Command::Recipient(address) }
        }
        b'T' => return nothing(Command::Data),
        b'L' => {
            let (name, rest) = text(data)?;
            let value = only_text(rest)?;
            if name.is_empty() {
                return None;
            }
            Command::Header { name, value }
        }
        b'N' => return nothing(Command::EndOfHead),
        b'B' => Command::Body(data),
        b'E' => Command::EndOfMessage(data),
        b'A' => return nothing(Command::Abort),
        b'Q' => return nothing(Command::Quit),
        b'K' => return nothing(Command::QuitForNext),
        b'U' => Command::Unknown,
        _ => return None,
    })
}

/// Returns the text up to the next zero byte, and the bytes after it.
fn text(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = data.iter().position(|&byte| byte == 0)?;
    Some((&data[..end], &data[end + 1..]))
}

/// Returns the text, or `None` if other bytes follow it.
fn only_text(data: &[u8]) -> Option<&[u8]> {
    text(data).filter(|(_, rest)| rest.is_empty()).map(|(text, _)| text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn packets_say_what_they_hold() {
        let whole = |bytes: &'static [u8]| match parse(bytes) {
            Ok(Parsed::Whole(command, _)) => command,
            other => panic!("{other:?}"),
        };
        let offer = Command::Negotiate { version: 6, actions: 0x1ff, steps: 0x001f_ffff };
        assert_eq!(whole(b"\0\0\0\x0dO\0\0\0\x06\0\0\x01\xff\0\x1f\xff\xff"), offer);
        let client = Command::Connect { host: b"localhost", address: Some(b"127.0.0.1") };
        assert_eq!(whole(b"\0\0\0\x18Clocalhost\x004\xbd*127.0.0.1\0"), client);
        assert_eq!(whole(b"\0\0\0\x04Cx\0U"), Command::Connect { host: b"x", address: None });
        assert_eq!(whole(b"\0\0\0\x0eM<a@x>\0SIZE=1\0"), Command::Mail(b"<a@x>"));
        let Command::Macros(macros) = whole(b"\0\0\0\x0dDCj\0mx\0{v}\x001\0") else { panic!() };
        assert_eq!(macros.iter().collect::<Vec<_>>(), [(&b"j"[..], &b"mx"[..]), (b"{v}", b"1")]);
        assert_eq!(macros.step, b'C');
    }

    #[test]
    fn faults_are_named() {
        let fault = |bytes: &[u8]| parse(bytes).unwrap_err().to_string();
        assert_eq!(fault(b"\0\0\0\0Q"), "a packet of 0 bytes: expected 1 to 1048576");
        assert!(fault(b"GET / HTTP/1.1").starts_with("a packet of 1195725856 bytes"));
        assert_eq!(fault(b"\0\0\0\x09?"), "an unknown command: '?'", "before the rest has come");
        for (command, data) in [
            ("O", "\0\0\0\x06"),
            ("D", ""),
            ("D", "Cj\0mx"),
            ("D", "Cj\0"),
            ("C", "host"),
            ("C", "host\0"),
            ("C", "host\x004\0\x00127.0.0.1"),
            ("C", "host\0?\0\0x\0"),
            ("H", "no end"),
            ("H", "two\0texts\0"),
            ("M", "<a@x>"),
            ("M", "<a@x>\0SIZE"),
            ("L", "Subject\0hi"),
            ("L", "Subject\0"),
            ("L", "\0hi\0"),
            ("L", "a\0b\0c\0"),
            ("N", "x"),
            ("Q", "x"),
        ] {
            let length = u32::try_from(data.len() + 1).unwrap().to_be_bytes();
            let packet = [&length[..], command.as_bytes(), data.as_bytes()].concat();
            assert!(fault(&packet).starts_with("damaged data of"), "{command} {data:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_packet_or_a_fault(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(Parsed::Whole(command, taken)) = parse(&bytes) {
                prop_assert!(taken <= bytes.len());
                prop_assert_eq!(parse(&bytes[..taken]), Ok(Parsed::Whole(command, taken)));
            }
        }
    }
}
