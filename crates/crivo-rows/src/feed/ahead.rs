//! Decompression on a separate thread, so that no worker waits for it while it holds the feed.
//!
//! The thread stays a few blocks ahead of the reader. It ends with the stream, or when the reader
//! is dropped. If the system cannot start a thread, the reader decompresses itself.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

/// The bytes of a block, and the most blocks that wait. Together they are one or two chunks of
/// input.
const BLOCK: usize = 128 << 10;
const BLOCKS: usize = 4;

type Block = io::Result<Vec<u8>>;

/// Reads the blocks that a thread has decompressed.
pub(super) enum ReadAhead<R> {
    Thread {
        blocks: Receiver<Block>,
        used: SyncSender<Vec<u8>>,
        block: Vec<u8>,
        at: usize,
    },
    /// The reader itself, because no thread was started.
    Alone(R),
}

impl<R: Read + Send + 'static> ReadAhead<R> {
    pub(super) fn new(reader: R) -> Self {
        let (sender, blocks) = sync_channel(BLOCKS);
        let (used, spare) = sync_channel(BLOCKS + 2);
        // This thread needs the reader again if the other thread cannot be started.
        let shared = Arc::new(Mutex::new(Some(reader)));
        let theirs = Arc::clone(&shared);
        let run = move || {
            let taken = theirs.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(reader) = taken {
                send_blocks(reader, &sender, &spare);
            }
        };
        if Builder::new().name("decompress".into()).spawn(run).is_ok() {
            return Self::Thread { blocks, used, block: Vec::new(), at: 0 };
        }
        let taken = shared.lock().unwrap_or_else(PoisonError::into_inner).take();
        match taken {
            Some(reader) => Self::Alone(reader),
            None => Self::Thread { blocks, used, block: Vec::new(), at: 0 },
        }
    }
}

/// Sends blocks until the stream ends or fails, or the receiver is dropped.
fn send_blocks(mut reader: impl Read, blocks: &SyncSender<Block>, spare: &Receiver<Vec<u8>>) {
    loop {
        let mut block = spare.try_recv().unwrap_or_default();
        block.resize(BLOCK, 0);
        let mut filled = 0;
        let outcome = loop {
            match reader.read(&mut block[filled..]) {
                Ok(0) => break Ok(true),
                Ok(length) => filled += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
            if filled == BLOCK {
                break Ok(false);
            }
        };
        block.truncate(filled);
        // The bytes before an error are valid.
        let has_bytes = filled > 0;
        if has_bytes && blocks.send(Ok(block)).is_err() {
            return;
        }
        match outcome {
            Ok(false) => {}
            Ok(true) => return,
            Err(error) => {
                let _ = blocks.send(Err(error));
                return;
            }
        }
    }
}

impl<R: Read> Read for ReadAhead<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let (blocks, used, block, at) = match self {
            Self::Alone(reader) => return reader.read(into),
            Self::Thread { blocks, used, block, at } => (blocks, used, block, at),
        };
        if *at == block.len() {
            // A sender that is dropped has sent all blocks.
            let Ok(next) = blocks.recv() else { return Ok(0) };
            let done = std::mem::replace(block, next?);
            *at = 0;
            // If the channel has no room for the block, its memory is freed.
            let _ = used.try_send(done);
        }
        let length = into.len().min(block.len() - *at);
        into[..length].copy_from_slice(&block[*at..*at + length]);
        *at += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Failing(u64);

    impl Read for Failing {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            if self.0 == 0 {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let length = into.len().min(self.0 as usize).min(1000);
            into[..length].fill(b'x');
            self.0 -= length as u64;
            Ok(length)
        }
    }

    /// Never ends. The reference count says whether it is still alive.
    struct Endless(#[allow(dead_code)] Arc<()>);

    impl Read for Endless {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            into.fill(b'x');
            Ok(into.len())
        }
    }

    #[test]
    fn all_bytes_come_in_order_and_then_the_error() {
        let bytes: Vec<u8> = (0..3_000_001_u32).map(|number| (number % 251) as u8).collect();
        let mut read = Vec::new();
        ReadAhead::new(io::Cursor::new(bytes.clone())).read_to_end(&mut read).unwrap();
        assert_eq!(read, bytes);

        let mut read = Vec::new();
        let error = ReadAhead::new(Failing(777_777)).read_to_end(&mut read).unwrap_err();
        assert_eq!((read.len(), error.kind()), (777_777, io::ErrorKind::InvalidData));
    }

    #[test]
    fn a_reader_that_is_dropped_ends_the_thread() {
        let alive = Arc::new(());
        let mut reader = ReadAhead::new(Endless(Arc::clone(&alive)));
        reader.read_exact(&mut [0; 10]).unwrap();
        drop(reader);
        while Arc::strong_count(&alive) > 1 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}
