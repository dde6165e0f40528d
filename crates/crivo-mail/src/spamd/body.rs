//! Where does the message end? Length, end of the connection, compression.
//!
//! A client says how long its message is, or half-closes the connection behind it, or (as spamc
//! does) both. The original reads whole lines until the length is reached and complains if a line
//! goes past it; [`Body`] gives the same answer for the same bytes, however they are cut into
//! packets. The one freedom: a message whose last line is not ended is complete when its length is
//! reached and the client then stays silent for a moment, where the original would wait for ever.
//!
//! Only the part of a message that will be looked at is kept; the rest is counted and dropped. A
//! compressed message is unpacked to no more than that, so that a small packet cannot become a
//! large one in memory.

use std::io::Read;

use super::refusal::Refusal;

/// A message on its way in.
#[derive(Debug)]
pub struct Body {
    expected: Option<u64>,
    /// Counted in bytes, not lines: a compressed message has none.
    by_lines: bool,
    keep: usize,
    kept: Vec<u8>,
    received: u64,
    state: State,
}

/// How far a message has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// More has to come.
    Open,
    /// Its length is there, but its last line is not ended: more of that line would be too much.
    Doubtful,
    /// All of it is there, or the line that went past its length.
    Ended,
}

/// A message that came as long as it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The message, or its beginning.
    pub bytes: Vec<u8>,
    /// Whether that is all of it.
    pub whole: bool,
}

impl Body {
    /// A message of the expected length, if it is known; `keep` bytes of it are kept.
    pub fn new(expected: Option<u64>, compressed: bool, keep: usize) -> Self {
        let state = if expected == Some(0) { State::Ended } else { State::Open };
        Self { expected, by_lines: !compressed, keep, kept: Vec::new(), received: 0, state }
    }

    /// Takes what has come, and says whether that is all.
    pub fn take(&mut self, mut bytes: &[u8]) -> State {
        if self.state == State::Ended {
            return self.state;
        }
        if let Some(expected) = self.expected {
            let missing = usize::try_from(expected.saturating_sub(self.received)).unwrap_or(usize::MAX);
            if bytes.len() >= missing {
                // The line that reaches the length is read to its end.
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

    /// How far it has come.
    pub fn state(&self) -> State {
        self.state
    }

    /// The message, once its end is known or nothing more comes.
    ///
    /// # Errors
    /// The refusal to answer with, if its length is not what was said.
    pub fn finish(self) -> Result<Received, Refusal> {
        match self.expected {
            Some(expected) if expected != self.received => Err(Refusal::length(expected, self.received)),
            _ => Ok(Received { whole: self.received == self.kept.len() as u64, bytes: self.kept }),
        }
    }
}

impl Received {
    /// The message that was compressed into this one.
    ///
    /// # Errors
    /// The refusal to answer with, if this is no zlib stream.
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

    /// The original, line by line: what it would have read, and how many bytes it says it got.
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
