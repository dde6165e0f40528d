//! A log of the pairs that comparing has found, block by block.
//!
//! A frame is the block, the number of pairs, the pairs, the tally if the block is finished, and a
//! checksum. Frames are appended one at a time. So after a kill the log has complete frames and at
//! most one incomplete frame. Pairs count only if their block was finished.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};
use crate::outcome::FoundPair;
use crate::spill::Record;
use crate::verify::BlockTally;

/// The most pairs of a frame.
pub(crate) const PAIRS_OF_A_FRAME: usize = 64 << 10;

/// The bytes of a frame's head, which is the length of its body.
const HEAD: usize = 8;

/// A log that is being written.
pub(crate) struct FoundLog {
    file: Mutex<File>,
    path: PathBuf,
}

/// One frame.
struct Frame {
    block: u32,
    pairs: Vec<FoundPair>,
    /// The tally, if the block is finished.
    tally: Option<BlockTally>,
}

impl Frame {
    fn encode(block: u32, pairs: &[FoundPair], tally: Option<&BlockTally>) -> Vec<u8> {
        let mut body = Vec::with_capacity(pairs.len() * FoundPair::SIZE + 64);
        u64::from(block).write(&mut body);
        (pairs.len() as u64).write(&mut body);
        pairs.iter().for_each(|pair| pair.write(&mut body));
        if let Some(tally) = tally {
            tally.compared.write(&mut body);
            tally.alike.iter().for_each(|&(crowd, alike)| (u64::from(crowd), alike).write(&mut body));
        }
        let sum = xxh3_64(&body);
        let mut frame = Vec::with_capacity(body.len() + 16);
        (body.len() as u64).write(&mut frame);
        frame.extend_from_slice(&body);
        sum.write(&mut frame);
        frame
    }

    fn decode(body: &[u8]) -> Option<Self> {
        let (head, rest) = body.split_at_checked(16)?;
        let (block, count) = <(u64, u64)>::read(head);
        let (pairs, rest) =
            rest.split_at_checked(usize::try_from(count).ok()?.checked_mul(FoundPair::SIZE)?)?;
        let tally = rest.split_first_chunk::<8>().map(|(compared, alike)| BlockTally {
            compared: u64::from_le_bytes(*compared),
            alike: alike
                .chunks_exact(16)
                .map(<(u64, u64)>::read)
                .map(|(crowd, n)| (crowd as u32, n))
                .collect(),
        });
        let pairs = pairs.chunks_exact(FoundPair::SIZE).map(FoundPair::read).collect();
        Some(Self { block: u32::try_from(block).ok()?, pairs, tally })
    }
}

impl FoundLog {
    /// Opens or creates a log. Passes the pairs of finished blocks to `take_pairs`. Returns the log
    /// and the tallies of those blocks.
    pub(crate) fn open(
        path: &Path,
        mut take_pairs: impl FnMut(&[FoundPair]) -> Result<()>,
    ) -> Result<(Self, HashMap<u32, BlockTally>)> {
        let failed = |error| Error::work(path, error);
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = file.map_err(failed)?;
        let mut done = HashMap::new();
        let end = for_each_frame(&mut file, path, |frame| {
            done.extend(frame.tally.map(|tally| (frame.block, tally)));
            Ok(())
        })?;
        // An incomplete last frame of a killed run would hide the next frames.
        file.set_len(end).map_err(failed)?;
        for_each_frame(&mut file, path, |frame| {
            if done.contains_key(&frame.block) { take_pairs(&frame.pairs) } else { Ok(()) }
        })?;
        // Unfinished blocks are compared again from the beginning, so their frames are dropped.
        let log = Self { file: Mutex::new(file), path: path.to_path_buf() };
        log.drop_unfinished(&done)?;
        Ok((log, done))
    }

    /// Rewrites the log without the frames of unfinished blocks.
    fn drop_unfinished(&self, done: &HashMap<u32, BlockTally>) -> Result<()> {
        let mut unfinished = false;
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        for_each_frame(&mut file, &self.path, |frame| {
            unfinished |= !done.contains_key(&frame.block);
            Ok(())
        })?;
        let failed = |error| Error::work(&self.path, error);
        if unfinished {
            let temporary = self.path.with_extension("new");
            let mut kept = File::options()
                .read(true)
                .write(true)
                .create(true)
                .truncate(true)
                .open(&temporary)
                .map_err(failed)?;
            for_each_frame(&mut file, &self.path, |frame| {
                if done.contains_key(&frame.block) {
                    let frame = Frame::encode(frame.block, &frame.pairs, frame.tally.as_ref());
                    kept.write_all(&frame).map_err(|error| Error::work_not_written(&temporary, &error))?;
                }
                Ok(())
            })?;
            std::fs::rename(&temporary, &self.path).map_err(failed)?;
            *file = kept;
        }
        file.seek(SeekFrom::End(0)).map(drop).map_err(failed)
    }

    /// Appends pairs of a block. With a tally, the block is finished.
    pub(crate) fn append(&self, block: u32, pairs: &[FoundPair], tally: Option<&BlockTally>) -> Result<()> {
        let frame = Frame::encode(block, pairs, tally);
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&frame).map_err(|error| Error::work_not_written(&self.path, &error))
    }
}

/// Passes the complete frames from the beginning to `take`, and returns the end of the last.
fn for_each_frame(file: &mut File, path: &Path, mut take: impl FnMut(Frame) -> Result<()>) -> Result<u64> {
    let failed = |error| Error::work(path, error);
    let length = file.metadata().map_err(failed)?.len();
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    let mut reader = BufReader::new(file);
    let (mut end, mut body) = (0, Vec::new());
    loop {
        let mut head = [0; HEAD];
        if length - end < HEAD as u64 || reader.read_exact(&mut head).is_err() {
            return Ok(end);
        }
        let size = u64::from_le_bytes(head);
        if size.saturating_add(16) > length - end {
            return Ok(end);
        }
        body.resize(size as usize, 0);
        let mut sum = [0; 8];
        if reader.read_exact(&mut body).and_then(|()| reader.read_exact(&mut sum)).is_err()
            || u64::from_le_bytes(sum) != xxh3_64(&body)
        {
            return Ok(end);
        }
        let Some(frame) = Frame::decode(&body) else { return Ok(end) };
        take(frame)?;
        end += size + 16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_done_blocks_come_back_wherever_the_log_was_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("found.log");
        let tally = BlockTally { compared: 7, alike: vec![(3, 5)] };
        let (log, done) = FoundLog::open(&path, |_| Ok(())).unwrap();
        assert!(done.is_empty());
        log.append(0, &[(1, 2)], None).unwrap();
        log.append(1, &[(9, 9)], None).unwrap();
        log.append(0, &[(3, 4)], Some(&tally)).unwrap();
        log.append(1, &[(5, 6)], Some(&tally)).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for length in 0..=whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            for _ in 0..2 {
                let mut pairs = Vec::new();
                let take = |found: &[FoundPair]| {
                    pairs.extend_from_slice(found);
                    Ok(())
                };
                let (log, done) = FoundLog::open(&path, take).unwrap();
                let expected: &[FoundPair] = match done.len() {
                    0 => &[],
                    1 => &[(1, 2), (3, 4)],
                    _ => &[(1, 2), (9, 9), (3, 4), (5, 6)],
                };
                assert_eq!(pairs, expected, "{length} bytes");
                assert!(done.values().all(|found| *found == tally));
                // An unfinished block is compared again.
                for block in (0..2).filter(|block| !done.contains_key(block)) {
                    let pairs: &[FoundPair] = if block == 0 { &[(1, 2), (3, 4)] } else { &[(9, 9), (5, 6)] };
                    log.append(block, pairs, Some(&tally)).unwrap();
                }
                if done.len() < 2 {
                    let mut pairs = Vec::new();
                    let take = |found: &[FoundPair]| {
                        pairs.extend_from_slice(found);
                        Ok(())
                    };
                    assert_eq!(FoundLog::open(&path, take).unwrap().1.len(), 2);
                    pairs.sort_unstable();
                    assert_eq!(pairs, [(1, 2), (3, 4), (5, 6), (9, 9)], "{length} bytes");
                    break;
                }
            }
        }
    }
}
