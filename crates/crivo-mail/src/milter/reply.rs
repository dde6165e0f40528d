//! What does the filter answer the mail server? The packets of its replies.

use crate::marks::Mark;

/// Returns a packet: its length, the command, and the parts of its data.
pub(super) fn packet(command: u8, parts: &[&[u8]]) -> Vec<u8> {
    let length = 1 + parts.iter().map(|part| part.len()).sum::<usize>();
    let mut packet = Vec::with_capacity(4 + length);
    packet.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
    packet.push(command);
    for part in parts {
        packet.extend_from_slice(part);
    }
    packet
}

/// Tells the mail server to go on.
pub fn go_on() -> Vec<u8> {
    packet(b'c', &[])
}

/// Tells the mail server to go on, and to leave out the rest of the body.
pub fn skip() -> Vec<u8> {
    packet(b's', &[])
}

/// Puts the message into the mail server's quarantine.
pub fn quarantine(reason: &str) -> Vec<u8> {
    packet(b'q', &[without_zeros(reason).as_bytes(), b"\0"])
}

/// Refuses the message with a line such as `550 5.7.1 no` for the client.
pub fn refuse(line: &str) -> Vec<u8> {
    // In Sendmail a percent sign begins a format.
    packet(b'y', &[without_zeros(line).replace('%', "%%").as_bytes(), b"\0"])
}

/// Adds headers above all others, in their order. Each is inserted at the top, so the last one is
/// sent first.
pub fn insert(marks: &[Mark<'_>]) -> Vec<u8> {
    let packets = marks.iter().rev().map(|(name, value)| {
        // The protocol ends lines inside of a value in LF, whatever the message has.
        let value = without_zeros(value).replace("\r\n", "\n");
        packet(b'i', &[&0_u32.to_be_bytes(), name.as_bytes(), b"\0", value.as_bytes(), b"\0"])
    });
    packets.collect::<Vec<_>>().concat()
}

/// Removes all headers of a name. The last one is removed first, because removing one may renumber
/// those after it.
pub fn remove(name: &[u8], count: u32) -> Vec<u8> {
    let packets = (1..=count).rev().map(|number| packet(b'm', &[&number.to_be_bytes(), name, b"\0\0"]));
    packets.collect::<Vec<_>>().concat()
}

fn without_zeros(text: &str) -> String {
    text.replace('\0', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_those_of_the_recording() {
        assert_eq!(go_on(), b"\0\0\0\x01c");
        let added = insert(&[("X-Test-Spam", "Yes, score=9.9".into())]);
        assert_eq!(added, b"\0\0\0\x20i\0\0\0\0X-Test-Spam\0Yes, score=9.9\0");
    }

    #[test]
    fn headers_stand_in_order_and_removal_begins_at_the_end() {
        let both = insert(&[("A", "1".into()), ("B", "2\r\n\t3".into())]);
        assert_eq!(both, b"\0\0\0\x0ci\0\0\0\0B\x002\n\t3\0\0\0\0\x09i\0\0\0\0A\x001\0".to_vec());
        assert_eq!(remove(b"A", 2), b"\0\0\0\x08m\0\0\0\x02A\0\0\0\0\0\x08m\0\0\0\x01A\0\0");
        assert_eq!(refuse("550 5.7.1 100 %"), b"\0\0\0\x12y550 5.7.1 100 %%\0");
    }
}
