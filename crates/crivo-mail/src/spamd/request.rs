//! Parses the head of a request, from bytes that anyone may have sent.
//!
//! ```text
//! CHECK SPAMC/1.5⏎
//! User: alice⏎
//! Content-length: 59⏎
//! ⏎
//! From: a@example.org …
//! ```
//!
//! [`parse`] is a pure function of the bytes received so far. It asks for more bytes, returns the
//! request, or refuses it in the words that the original spamd uses for the same fault. Lines end
//! in LF, with or without a CR before it. Names of headers are compared without regard to case.
//! Unknown headers are ignored, as the protocol wants. A head is at most [`MOST_BYTES`] long and
//! has at most [`MOST_HEADERS`] headers, so that a client cannot fill the memory with it.

use super::refusal::Refusal;

/// The longest head that is accepted: hundreds of times what spamc sends.
pub const MOST_BYTES: usize = 16 * 1024;

/// The most headers that are accepted, as in the original.
pub const MOST_HEADERS: usize = 255;

/// What the client asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Checks that the server answers.
    Ping,
    /// The client decided not to send the message after all.
    Skip,
    /// Verdict and score.
    Check,
    /// Verdict, score and the names of the reasons.
    Symbols,
    /// Verdict, score and an explanation.
    Report,
    /// Like `Report`, but without an explanation unless the message is spam.
    ReportIfSpam,
    /// The message's head with the verdict added.
    Headers,
    /// The message with the verdict added.
    Process,
    /// Learn or forget the message.
    Tell,
}

impl Verb {
    const ALL: [Self; 9] = [
        Self::Ping,
        Self::Skip,
        Self::Check,
        Self::Symbols,
        Self::Report,
        Self::ReportIfSpam,
        Self::Headers,
        Self::Process,
        Self::Tell,
    ];

    /// Returns the verb as it is sent.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ping => "PING",
            Self::Skip => "SKIP",
            Self::Check => "CHECK",
            Self::Symbols => "SYMBOLS",
            Self::Report => "REPORT",
            Self::ReportIfSpam => "REPORT_IFSPAM",
            Self::Headers => "HEADERS",
            Self::Process => "PROCESS",
            Self::Tell => "TELL",
        }
    }

    fn of(line: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|verb| {
            line.strip_prefix(verb.name().as_bytes()).is_some_and(|rest| rest.starts_with(b" SPAMC/"))
        })
    }
}

/// The class that the client gives a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageClass {
    /// Unwanted.
    Spam,
    /// Wanted.
    Ham,
}

/// The head of a request: everything before the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What the client asks for.
    pub verb: Verb,
    /// The length of the message in bytes as it is sent. Without it, the message ends where the
    /// connection does.
    pub length: Option<u64>,
    /// The user whose mail it is.
    pub user: Option<String>,
    /// The class that the client gives the message.
    pub class: Option<MessageClass>,
    /// Whether to learn the message here.
    pub set_local: bool,
    /// Whether to forget the message here.
    pub remove_local: bool,
    /// Whether the message is compressed (zlib).
    pub compressed: bool,
}

/// The result of parsing the bytes received so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    /// The head is not complete.
    Incomplete,
    /// A complete head, and its length in bytes.
    Whole(Request, usize),
}

/// Parses a head.
///
/// # Errors
/// The refusal to answer with.
pub fn parse(bytes: &[u8]) -> Result<Parsed, Refusal> {
    let mut lines = Lines { bytes, taken: 0 };
    let Some(line) = lines.next_line()? else { return Ok(Parsed::Incomplete) };
    let verb = Verb::of(line).ok_or_else(|| Refusal::line(line))?;
    let mut request = Request {
        verb,
        length: None,
        user: None,
        class: None,
        set_local: false,
        remove_local: false,
        compressed: false,
    };
    // These two verbs are answered at once, because nothing that follows would matter.
    if matches!(verb, Verb::Ping | Verb::Skip) {
        return Ok(Parsed::Whole(request, lines.taken));
    }
    for _ in 0..=MOST_HEADERS {
        let Some(line) = lines.next_line()? else { return Ok(Parsed::Incomplete) };
        if line.is_empty() {
            request.check()?;
            return Ok(Parsed::Whole(request, lines.taken));
        }
        request.take_header(line)?;
    }
    Err(Refusal::because("too many headers"))
}

/// Returns the refusal for a client that closes before its head is complete.
pub fn cut_short(bytes: &[u8]) -> Refusal {
    Refusal::because(if bytes.is_empty() { "closed before headers" } else { "EOF during headers" })
}

struct Lines<'a> {
    bytes: &'a [u8],
    taken: usize,
}

impl<'a> Lines<'a> {
    /// Returns the next line without its end, if the line is complete.
    fn next_line(&mut self) -> Result<Option<&'a [u8]>, Refusal> {
        let rest = self.bytes.get(self.taken..).unwrap_or_default();
        let end = rest.iter().position(|&byte| byte == b'\n');
        if self.taken + end.unwrap_or(rest.len()) >= MOST_BYTES {
            return Err(Refusal::because("head too long"));
        }
        let Some(end) = end else { return Ok(None) };
        self.taken += end + 1;
        let line = &rest[..end];
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }
}

impl Request {
    fn take_header(&mut self, line: &[u8]) -> Result<(), Refusal> {
        let Some(colon) = line.iter().position(|&byte| byte == b':') else {
            return Err(Refusal::because("header not in 'Name: value' format"));
        };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        let is = |wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
        if is("Content-length") {
            self.length = Some(length(value)?);
        } else if is("User") {
            if value.iter().any(u8::is_ascii_control) {
                return Err(Refusal::because("User header contains control chars"));
            }
            self.user = Some(String::from_utf8_lossy(value).into_owned()).filter(|user| !user.is_empty());
        } else if is("Message-class") {
            self.class = match value {
                b"spam" => Some(MessageClass::Spam),
                b"ham" => Some(MessageClass::Ham),
                _ => return Err(Refusal::because("Message-class is neither spam nor ham")),
            };
        } else if is("Set") {
            self.set_local = names_local(value);
        } else if is("Remove") {
            self.remove_local = names_local(value);
        } else if is("Compress") {
            if value != b"zlib" {
                return Err(Refusal::because("compression type not supported"));
            }
            self.compressed = true;
        }
        Ok(())
    }

    /// Checks conditions that need the whole head.
    fn check(&self) -> Result<(), Refusal> {
        if self.verb == Verb::Tell && self.set_local && self.class.is_none() {
            return Err(Refusal::because("Set without Message-class"));
        }
        if self.compressed && self.length.is_none() {
            return Err(Refusal::unavailable("Compress requires Content-length header"));
        }
        Ok(())
    }
}

fn length(value: &[u8]) -> Result<u64, Refusal> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return Err(Refusal::because("Content-Length contains non-numeric bytes"));
    }
    // The value is all digits, so it is ASCII. The only possible error is a number that no message
    // reaches.
    str::from_utf8(value)
        .ok()
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| Refusal::because("Content-Length is too large"))
}

/// Returns true if the places are `local`, or `local` and others with commas. Messages are reported
/// nowhere else, so `remote` has no effect.
fn names_local(places: &[u8]) -> bool {
    places.split(|&byte| byte == b',').any(|place| place.trim_ascii() == b"local")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(head: &str) -> Request {
        match parse(head.as_bytes()) {
            Ok(Parsed::Whole(request, taken)) => {
                assert_eq!(taken, head.len());
                request
            }
            other => panic!("{head:?} gave {other:?}"),
        }
    }

    fn refused(head: &str) -> String {
        String::from_utf8(parse(head.as_bytes()).unwrap_err().to_bytes()).unwrap()
    }

    #[test]
    fn everything_in_a_head_is_understood() {
        let request = whole(
            "TELL SPAMC/1.5\r\nMessage-class: ham\r\nSet: local,remote\r\nREMOVE: remote\r\nX-Other: 1\n\
             user:  alice \r\nContent-Length:59\r\nCompress: zlib\r\n\r\n",
        );
        let expected = Request {
            verb: Verb::Tell,
            length: Some(59),
            user: Some("alice".into()),
            class: Some(MessageClass::Ham),
            set_local: true,
            remove_local: false,
            compressed: true,
        };
        assert_eq!(request, expected);
    }

    #[test]
    fn every_verb_is_known_and_none_is_taken_for_another() {
        for verb in Verb::ALL {
            assert_eq!(Verb::of(format!("{} SPAMC/1.2", verb.name()).as_bytes()), Some(verb));
            assert_eq!(Verb::of(format!("x{} SPAMC/1.2", verb.name()).as_bytes()), None);
            assert_eq!(Verb::of(verb.name().as_bytes()), None);
        }
    }

    #[test]
    fn ping_is_answered_before_its_empty_line() {
        assert!(matches!(
            parse(b"PING SPAMC/1.5\r\n"),
            Ok(Parsed::Whole(Request { verb: Verb::Ping, .. }, 16))
        ));
    }

    #[test]
    fn faults_are_named_as_the_original_names_them() {
        assert_eq!(refused("FOO SPAMC/1.5\r\n\r\n"), "SPAMD/1.0 76 Bad header line: FOO SPAMC/1.5\r\n");
        for (header, reason) in [
            ("Content-length: five", "(Content-Length contains non-numeric bytes)"),
            ("Content-length: 99999999999999999999", "(Content-Length is too large)"),
            ("no colon here", "(header not in 'Name: value' format)"),
            ("Compress: lzma", "(compression type not supported)"),
            ("User: a\x07b", "(User header contains control chars)"),
        ] {
            let head = format!("CHECK SPAMC/1.5\r\n{header}\r\n\r\n");
            assert_eq!(refused(&head), format!("SPAMD/1.0 76 Bad header line: {reason}\r\n"));
        }
        let endless = "A: b\r\n".repeat(MOST_HEADERS + 1);
        assert!(refused(&format!("CHECK SPAMC/1.5\r\n{endless}\r\n")).contains("(too many headers)"));
        assert!(refused(&"x".repeat(MOST_BYTES)).contains("(head too long)"));
    }

    #[test]
    fn a_bad_line_cannot_smuggle_control_characters_into_the_reply() {
        let reply = refused("EVIL\x1b[2J\rSPAMD/1.1 0 EX_OK\n");
        assert_eq!(reply, "SPAMD/1.0 76 Bad header line: EVIL?[2J?SPAMD/1.1 0 EX_OK\r\n");
    }

    proptest! {
        #[test]
        fn any_bytes_are_understood_or_refused_in_one_line(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
            match parse(&bytes) {
                Ok(Parsed::Whole(_, taken)) => prop_assert!(taken <= bytes.len()),
                Ok(Parsed::Incomplete) => {}
                Err(refusal) => {
                    let reply = refusal.to_bytes();
                    prop_assert!(reply.ends_with(b"\r\n"));
                    prop_assert!(!reply[..reply.len() - 2].contains(&b'\n'));
                }
            }
        }

        #[test]
        fn a_head_means_the_same_however_it_arrives(
            verb in 2usize..9, length in 0u64..1 << 40, user in "[a-z]{1,8}", extra in "[ -9;-~]{0,20}",
        ) {
            let verb = Verb::ALL[verb];
            let head = format!(
                "{} SPAMC/1.5\r\nUser: {user}\r\n{extra}X: {extra}\r\nContent-length: {length}\r\n\r\n",
                verb.name()
            );
            for cut in 0..head.len() {
                prop_assert_eq!(parse(&head.as_bytes()[..cut]), Ok(Parsed::Incomplete), "cut at {}", cut);
            }
            let Ok(Parsed::Whole(request, taken)) = parse((head.clone() + "body").as_bytes()) else {
                return Err(TestCaseError::fail("not understood"));
            };
            prop_assert_eq!((request.verb, request.length, request.user), (verb, Some(length), Some(user)));
            prop_assert_eq!(taken, head.len());
        }
    }
}
