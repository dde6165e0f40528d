//! Any bytes, cut anywhere, are packets of a mail server or one fault in one line; and a session
//! keeps no more of a message than it was told to.

use crivo_mail::milter::packet::{LONGEST, Parsed, parse};
use crivo_mail::milter::session::{Next, Session};

/// The bytes of a message that are kept.
const KEPT: usize = 4096;

/// What a session says to bytes, and the fault that ended it.
fn replay(mut bytes: &[u8]) -> (Vec<Next>, Option<String>) {
    let mut session = Session::new(KEPT, true);
    let mut said = Vec::new();
    loop {
        let command = match parse(bytes) {
            Ok(Parsed::Incomplete) => return (said, None),
            Ok(Parsed::Whole(command, taken)) => {
                assert!(taken <= bytes.len() && taken <= LONGEST + 4);
                bytes = &bytes[taken..];
                command
            }
            Err(fault) => return (said, Some(fault.to_string())),
        };
        match session.take(command) {
            Ok(Next::Close) => return (said, None),
            Ok(next) => {
                if let Next::Judge(ended) = &next {
                    assert!(ended.message.len() <= KEPT, "{}", ended.message.len());
                }
                said.push(next);
            }
            Err(fault) => return (said, Some(fault.to_string())),
        }
    }
}

/// Checks the promise for one input.
pub fn check(bytes: &[u8]) {
    let (said, fault) = replay(bytes);
    if let Some(fault) = fault {
        assert!(!fault.contains('\n') && fault.len() < 300);
    }
    // The same bytes behind an accepted negotiation, so that what follows it is reached.
    let offer = b"\0\0\0\x0dO\0\0\0\x06\0\0\x01\xff\0\x1f\xff\xff";
    let (after, _) = replay(&[offer, bytes].concat());
    assert!(matches!(after.first(), Some(Next::Reply(_))) && said.len() <= bytes.len());
}
