//! What can both sides do?
//!
//! The mail server begins with what it offers, and the filter answers with what it uses of that:
//! changes of messages (actions), and steps that are left out or need no reply. Such steps save
//! time, because each reply is a round trip that a sender waits for.

use super::packet::Malformed;

/// The version of the protocol that this filter speaks.
pub const VERSION: u32 = 6;

/// The oldest version that is accepted: Sendmail 8.12.
const OLDEST: u32 = 2;

/// Headers can be added and inserted (`SMFIF_ADDHDRS`).
pub const ADD_HEADERS: u32 = 0x01;
/// Headers can be changed and removed (`SMFIF_CHGHDRS`).
pub const CHANGE_HEADERS: u32 = 0x10;
/// Messages can be put into quarantine (`SMFIF_QUARANTINE`).
pub const QUARANTINE: u32 = 0x20;

/// Commands that are unknown are not sent (`SMFIP_NOUNKNOWN`).
const NO_UNKNOWN: u32 = 0x100;
/// The command DATA is not sent (`SMFIP_NODATA`).
const NO_DATA: u32 = 0x200;
/// The rest of a body can be skipped (`SMFIP_SKIP`).
const SKIP: u32 = 0x400;
/// A header needs no reply (`SMFIP_NR_HDR`).
const SILENT_HEADER: u32 = 0x80;
/// A connection needs no reply (`SMFIP_NR_CONN`).
const SILENT_CONNECT: u32 = 0x1000;
/// HELO needs no reply (`SMFIP_NR_HELO`).
const SILENT_HELO: u32 = 0x2000;
/// MAIL needs no reply (`SMFIP_NR_MAIL`).
const SILENT_MAIL: u32 = 0x4000;
/// RCPT needs no reply (`SMFIP_NR_RCPT`).
const SILENT_RECIPIENT: u32 = 0x8000;
/// The end of the head needs no reply (`SMFIP_NR_EOH`).
const SILENT_END_OF_HEAD: u32 = 0x4_0000;

/// All steps that are used if they are offered. The body is answered piece by piece, so that its
/// rest can be skipped.
const WANTED: u32 = NO_UNKNOWN
    | NO_DATA
    | SKIP
    | SILENT_HEADER
    | SILENT_CONNECT
    | SILENT_HELO
    | SILENT_MAIL
    | SILENT_RECIPIENT
    | SILENT_END_OF_HEAD;

/// What mail server and filter agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Agreed {
    /// The version of the protocol.
    pub version: u32,
    /// The changes that the filter makes.
    pub actions: u32,
    steps: u32,
}

impl Agreed {
    /// Selects what the filter needs of an offer.
    ///
    /// # Errors
    /// If the mail server is too old, or does not let its filters do what is needed.
    pub fn of(version: u32, offered: u32, steps: u32, quarantines: bool) -> Result<Self, Malformed> {
        if version < OLDEST {
            return Err(Malformed(format!(
                "the mail server speaks version {version} of the protocol: expected {OLDEST} or later"
            )));
        }
        let needed = ADD_HEADERS | CHANGE_HEADERS | if quarantines { QUARANTINE } else { 0 };
        if offered & needed != needed {
            return Err(Malformed(format!(
                "the mail server allows the changes {offered:#x}: expected at least {needed:#x} \
                 (headers{}); see its settings for filters",
                if quarantines { " and quarantine" } else { "" }
            )));
        }
        Ok(Self { version: version.min(VERSION), actions: needed, steps: steps & WANTED })
    }

    /// Returns the packet that tells the mail server.
    pub fn to_bytes(self) -> Vec<u8> {
        let numbers = [self.version, self.actions, self.steps].map(u32::to_be_bytes);
        super::reply::packet(b'O', &[numbers.as_flattened()])
    }

    /// Returns true if the rest of a body can be skipped.
    pub fn can_skip(self) -> bool {
        self.steps & SKIP != 0
    }

    /// Returns true if the step of this command needs no reply.
    pub(super) fn is_silent(self, step: Step) -> bool {
        self.steps & step as u32 != 0
    }
}

/// Steps that may need no reply.
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
pub(super) enum Step {
    Connect = SILENT_CONNECT,
    Helo = SILENT_HELO,
    Mail = SILENT_MAIL,
    Recipient = SILENT_RECIPIENT,
    Header = SILENT_HEADER,
    EndOfHead = SILENT_END_OF_HEAD,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_offered_is_taken() {
        let all = Agreed::of(6, 0x1ff, 0x001f_ffff, false).unwrap();
        assert_eq!(all.to_bytes(), b"\0\0\0\x0dO\0\0\0\x06\0\0\0\x11\0\x04\xf7\x80");
        assert!(all.can_skip() && all.is_silent(Step::Header));
        let none = Agreed::of(2, 0x3f, 0, true).unwrap();
        assert_eq!(none, Agreed { version: 2, actions: 0x31, steps: 0 });
        assert!(!none.can_skip() && !none.is_silent(Step::Header));
        assert_eq!(Agreed::of(8, 0x1ff, 0, false).unwrap().version, 6);
    }

    #[test]
    fn what_is_needed_has_to_be_offered() {
        assert!(Agreed::of(1, 0x1ff, 0, false).unwrap_err().to_string().contains("version 1"));
        assert!(Agreed::of(6, 0x01, 0, false).unwrap_err().to_string().contains("expected at least 0x11"));
        assert!(Agreed::of(6, 0x1f, 0, true).unwrap_err().to_string().contains("and quarantine"));
    }
}
