//! Refusals: the one line that a client gets if its request cannot be served, in the original's
//! words.
//!
//! A client that gets a code other than 0 delivers the message unchanged (or, with `spamc -x`,
//! exits with that code). So a refusal never loses mail.

use std::time::Duration;

use super::request::Verb;

/// The most bytes of a wrong line that the answer repeats.
const MOST_REPEATED: usize = 200;

/// Why a request is not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    code: Code,
    text: String,
}

/// The exit codes of `sysexits.h` that are used here, and one of spamd's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    Unavailable = 69,
    Protocol = 76,
    Timeout = 79,
}

impl Refusal {
    /// Returns the refusal of a first line that has no verb.
    pub fn line(line: &[u8]) -> Self {
        let shown = String::from_utf8_lossy(&line[..line.len().min(MOST_REPEATED)]);
        let shown = shown.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
        Self { code: Code::Protocol, text: shown }
    }

    /// Returns the refusal of a request that breaks the protocol.
    pub fn because(reason: &str) -> Self {
        Self { code: Code::Protocol, text: format!("({reason})") }
    }

    /// Returns the refusal of a message whose length is not what its head says.
    pub fn length(expected: u64, got: u64) -> Self {
        Self::because(&format!("Content-Length mismatch: Expected {expected} bytes, got {got} bytes"))
    }

    /// Returns the refusal of a request that is understood, but cannot be served, at least now.
    #[allow(clippy::needless_pass_by_value)] // an error that is used up, or a text
    pub fn unavailable(reason: impl ToString) -> Self {
        // The text must be one line, whatever the error is.
        let text = reason.to_string().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        Self { code: Code::Unavailable, text }
    }

    /// Returns the refusal of a client that was too slow.
    pub fn timeout(limit: Duration, verb: Option<Verb>) -> Self {
        let doing = verb.map_or("read headers", Verb::name);
        let text = format!("({} second timeout while trying to {doing})", limit.as_secs());
        Self { code: Code::Timeout, text }
    }

    /// Returns true if the client was too slow.
    pub fn is_timeout(&self) -> bool {
        self.code == Code::Timeout
    }

    /// Returns the line to send.
    pub fn to_bytes(&self) -> Vec<u8> {
        let said = match self.code {
            Code::Unavailable => "Service Unavailable",
            Code::Protocol => "Bad header line",
            Code::Timeout => "Timeout",
        };
        format!("SPAMD/1.0 {} {said}: {}\r\n", self.code as u8, self.text).into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_code() {
        let lines: Vec<String> = [
            Refusal::length(5, 21),
            Refusal::unavailable("store\nbroken"),
            Refusal::timeout(Duration::from_secs(300), Some(Verb::Check)),
            Refusal::timeout(Duration::from_secs(2), None),
        ]
        .iter()
        .map(|refusal| String::from_utf8(refusal.to_bytes()).unwrap())
        .collect();
        assert_eq!(
            lines,
            [
                "SPAMD/1.0 76 Bad header line: (Content-Length mismatch: Expected 5 bytes, got 21 bytes)\r\n",
                "SPAMD/1.0 69 Service Unavailable: store broken\r\n",
                "SPAMD/1.0 79 Timeout: (300 second timeout while trying to CHECK)\r\n",
                "SPAMD/1.0 79 Timeout: (2 second timeout while trying to read headers)\r\n",
            ]
        );
    }
}
