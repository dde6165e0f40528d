//! Any bytes are a message: reading them does not panic, costs bounded time, and does not depend on
//! line endings.

use crivo_mail::Message;

/// Checks the promise for one input.
pub fn check(bytes: &[u8]) {
    let message = Message::read(bytes);
    assert_eq!(message, Message::read(bytes));
    // Only messages whose lines end in LF alone have a twin with CRLF.
    if !bytes.contains(&b'\r') && bytes.len() < 100_000 {
        let mut twin = Vec::with_capacity(bytes.len() * 2);
        for &byte in bytes {
            if byte == b'\n' {
                twin.push(b'\r');
            }
            twin.push(byte);
        }
        assert_eq!(message, Message::read(&twin));
    }
}
