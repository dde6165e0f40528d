//! Finds the end of a message: by its length, the end of the connection, or compression.
//!
//! A client says how long its message is, or half-closes the connection after it, or (as spamc
//! does) both. The original spamd reads whole lines until the length is reached and refuses the
//! message if a line exceeds it. [`Body`] gives the same answer for the same bytes, however they
//! are divided into packets. There is one difference: a last line without a line end is complete
//! when the length is reached and the client then sends nothing for a moment. The original would
//! wait for ever.
//!
//! Only the part of a message that will be judged is kept. Further bytes are counted and dropped. A
//! compressed message is unpacked to no more than that part, so that a small packet cannot become a
//! large one in memory.

use std::io::Read;

use super::refusal::Refusal;

/// A message that is being received.
#[derive(Debug)]
pub struct Body {
    expected: Option<u64>,
    /// Whether the message is read in lines. A compressed message has none and is read in bytes.
    by_lines: bool,
    keep: usize,
    kept: Vec<u8>,
    received: u64,
    state: State,
}

/// How much of a message was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// More bytes are expected.
    Open,
    /// The length is reached, but the last line has no line end. Any further byte of that line
    /// would be too much.
    Doubtful,
    /// All of the message was received, or the line that exceeds its length.
    Ended,
}

/// A message whose length is right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The message, or its beginning.
    pub bytes: Vec<u8>,
    /// Whether `bytes` is the whole message.
    pub whole: bool,
}

impl Body {
    /// Starts a message of the expected length, if that is known. At most `keep` bytes are kept.
    pub fn new(expected: Option<u64>, compressed: bool, keep: usize) -> Self {
        let state = if expected == Some(0) { State::Ended } else { State::Open };
        Self { expected, by_lines: !compressed, keep, kept: Vec::new(), received: 0, state }
    }

    /// Takes the next bytes, and returns the state after them.
    pub fn take(&mut self, mut bytes: &[u8]) -> State {
        if self.state == State::Ended {
            return self.state;
        }
        if let Some(expected) = self.expected {
            let missing = usize::try_from(expected.saturating_sub(self.received)).unwrap_or(usize::MAX);
            if bytes.len() >= missing {
                // The line in which the length is reached is read to its end.
                let last = missing.checked_sub(1).and_then(|last| bytes.get(last));
                let ended_there = if missing == 0 { false } else { last == Some(&b'\n') };
                if ended_there || !self.by_lines {
                    bytes = &bytes[..missing];
                    self.state = State::Ended;
                } else {
                    let line_end = bytes[missing..].iter().position(|&byte| byte == b'\n');
                    bytes = line_end.map_or(bytes, |end| &bytes[..=missing + end]);
                    self.state = if line_end.is_some() { State::Ended } else { State::Doubtful };
                }
            }
        }
        let room = self.keep.saturating_sub(self.kept.len());
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.received += bytes.len() as u64;
        self.state
    }

    /// Returns how much of the message was received.
    pub fn state(&self) -> State {
        self.state
    }

    /// Returns the message, once its end is reached or the client sends no more.
    ///
    /// # Errors
    /// The refusal to answer with, if the length is not what the client said.
    pub fn finish(self) -> Result<Received, Refusal> {
        match self.expected {
            Some(expected) if expected != self.received => Err(Refusal::length(expected, self.received)),
            _ => Ok(Received { whole: self.received == self.kept.len() as u64, bytes: self.kept }),
        }
    }
}

impl Received {
    /// Returns the uncompressed message.
    ///
    /// # Errors
    /// The refusal to answer with, if the compressed message was cut, or is no zlib stream.
    pub fn inflated(self, keep: usize) -> Result<Self, Refusal> {
        if !self.whole {
            return Err(Refusal::unavailable("the compressed message is too large"));
        }
        let mut bytes = Vec::new();
        let mut unpacking = flate2::read::ZlibDecoder::new(self.bytes.as_slice()).take(keep as u64 + 1);
        if unpacking.read_to_end(&mut bytes).is_err() {
            return Err(Refusal::because("damaged zlib data"));
        }
        let whole = bytes.len() <= keep;
        bytes.truncate(keep);
        Ok(Self { bytes, whole })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    const MESSAGE: &[u8] = b"From: a@example.org\r\nTo: b@example.com\r\n\r\nhello";

    fn in_pieces(expected: Option<u64>, bytes: &[u8], piece: usize) -> Body {
        let mut body = Body::new(expected, false, 1 << 20);
        for piece in bytes.chunks(piece) {
            body.take(piece);
        }
        body
    }

    #[test]
    fn wrong_length_is_told_with_the_end_of_the_line_that_went_past_it() {
        for piece in 1..MESSAGE.len() {
            assert_eq!(in_pieces(Some(5), MESSAGE, piece).finish(), Err(Refusal::length(5, 21)));
            let total = MESSAGE.len() as u64;
            assert_eq!(in_pieces(Some(99), MESSAGE, piece).finish(), Err(Refusal::length(99, total)));
        }
    }

    #[test]
    fn what_follows_a_whole_message_is_nobodys_business() {
        let body = in_pieces(Some(21), MESSAGE, 7);
        assert_eq!(body.state(), State::Ended);
        assert_eq!(body.finish().unwrap().bytes, &MESSAGE[..21]);
    }

    #[test]
    fn an_unended_last_line_is_doubtful_until_the_client_stops() {
        let body = in_pieces(Some(MESSAGE.len() as u64), MESSAGE, 11);
        assert_eq!(body.state(), State::Doubtful);
        assert_eq!(body.finish().unwrap(), Received { bytes: MESSAGE.to_vec(), whole: true });
    }

    #[test]
    fn an_empty_message_is_whole_at_once() {
        assert_eq!(Body::new(Some(0), false, 10).state(), State::Ended);
    }

    #[test]
    fn only_so_much_is_kept_as_will_be_looked_at() {
        let mut body = Body::new(None, false, 10);
        for _ in 0..1000 {
            assert_eq!(body.take(&[b'x'; 1000]), State::Open);
        }
        let received = body.finish().unwrap();
        assert_eq!((received.bytes.len(), received.whole), (10, false));
    }

    #[test]
    fn a_compressed_message_comes_out_and_a_bomb_does_not() {
        let pack = |bytes: &[u8]| {
            let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
            packer.write_all(bytes).unwrap();
            Received { bytes: packer.finish().unwrap(), whole: true }
        };
        let same = pack(MESSAGE).inflated(1000).unwrap();
        assert_eq!(same, Received { bytes: MESSAGE.to_vec(), whole: true });
        let bomb = pack(&vec![0; 50 << 20]);
        assert!(bomb.bytes.len() < 100_000);
        let beginning = bomb.inflated(1000).unwrap();
        assert_eq!((beginning.bytes.len(), beginning.whole), (1000, false));
        assert!(beginning.bytes.capacity() < 100_000);
        let mut cut = pack(MESSAGE);
        cut.bytes.truncate(cut.bytes.len() - 6);
        assert_eq!(cut.inflated(1000), Err(Refusal::because("damaged zlib data")));
    }

    /// The original's algorithm, line by line. Returns what it would have read, or the number of
    /// bytes that it reports.
    fn as_the_original(expected: u64, bytes: &[u8]) -> Result<Vec<u8>, u64> {
        let mut got = Vec::new();
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            if got.len() as u64 >= expected {
                break;
            }
            got.extend_from_slice(line);
        }
        if got.len() as u64 == expected { Ok(got) } else { Err(got.len() as u64) }
    }

    proptest! {
        #[test]
        fn the_answer_is_the_originals_however_packets_are_cut(
            text in "[ab\n]{0,60}", expected in 0u64..70, piece in 1usize..80,
        ) {
            let ours = in_pieces(Some(expected), text.as_bytes(), piece).finish();
            match as_the_original(expected, text.as_bytes()) {
                Ok(bytes) => prop_assert_eq!(ours.unwrap().bytes, bytes),
                Err(got) => prop_assert_eq!(ours.unwrap_err(), Refusal::length(expected, got)),
            }
        }
    }
}
