//! The ids of documents, on disk. Results name documents in any order, and all ids together may not
//! fit in memory.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, anyhow};

/// The number of ids in a group. A lookup reads one group and searches it sequentially.
const IDS_AT_ONCE: usize = 64;

/// The number of groups that are cached in memory during lookups.
const GROUPS_KEPT: usize = 4096;

/// Collects ids from any number of threads.
pub(crate) struct IdWriter(Mutex<Written>);

struct Written {
    file: BufWriter<File>,
    end: u64,
    groups: Vec<Group>,
}

/// The ids of some consecutive wanted documents.
#[derive(Debug, Clone, Copy)]
struct Group {
    /// The place of the first document.
    place: u64,
    start: u64,
    len: u32,
}

impl IdWriter {
    pub(super) fn new() -> Result<Self> {
        let file = tempfile::tempfile().context("making a temporary file for the ids")?;
        Ok(Self(Mutex::new(Written { file: BufWriter::new(file), end: 0, groups: Vec::new() })))
    }

    /// Adds ids with the places of their documents. The places must be ascending.
    pub(super) fn add(&self, ids: &[(u64, Vec<u8>)]) -> io::Result<()> {
        let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = Vec::new();
        for group in ids.chunks(IDS_AT_ONCE) {
            bytes.clear();
            for (place, id) in group {
                bytes.extend_from_slice(&place.to_le_bytes());
                bytes.extend_from_slice(&(id.len() as u32).to_le_bytes());
                bytes.extend_from_slice(id);
            }
            written.file.write_all(&bytes)?;
            let start = written.end;
            written.end += bytes.len() as u64;
            written.groups.push(Group { place: group[0].0, start, len: bytes.len() as u32 });
        }
        Ok(())
    }

    /// Returns a reader for all ids.
    pub(super) fn finish(self) -> Result<IdReader> {
        let Written { file, mut groups, .. } = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let file = file.into_inner().map_err(|error| anyhow!(not_written(&error.into_error())))?;
        groups.sort_unstable_by_key(|group| group.place);
        let kept = vec![(usize::MAX, Vec::new()); GROUPS_KEPT.min(groups.len())];
        Ok(IdReader { file, groups, kept })
    }
}

/// Returns why ids could not be written to a temporary file, and what to do.
pub(super) fn not_written(cause: &io::Error) -> String {
    let folder = std::env::temp_dir();
    format!(
        "writing ids to a temporary file in {}: {cause}; make room there, or name another folder with TMPDIR",
        folder.display()
    )
}

/// Finds ids by the place of their document.
pub(crate) struct IdReader {
    file: File,
    groups: Vec<Group>,
    /// A cache of groups, each with its number. The group's number determines its slot.
    kept: Vec<(usize, Vec<u8>)>,
}

impl IdReader {
    /// Returns the id of the document at a place, or `None` if there is none.
    pub(crate) fn get(&mut self, place: u64) -> io::Result<Option<&[u8]>> {
        let Some(number) = self.groups.partition_point(|group| group.place <= place).checked_sub(1) else {
            return Ok(None);
        };
        let slots = self.kept.len();
        let Some((kept, bytes)) = self.kept.get_mut(number % slots.max(1)) else { return Ok(None) };
        if *kept != number {
            let group = self.groups[number];
            bytes.clear();
            bytes.resize(group.len as usize, 0);
            self.file.seek(SeekFrom::Start(group.start))?;
            self.file.read_exact(bytes)?;
            *kept = number;
        }
        let mut rest = bytes.as_slice();
        while let Some((found, after)) = rest.split_first_chunk::<8>() {
            let Some((len, after)) = after.split_first_chunk::<4>() else { break };
            let Some((id, after)) = after.split_at_checked(u32::from_le_bytes(*len) as usize) else { break };
            if u64::from_le_bytes(*found) == place {
                return Ok(Some(id));
            }
            rest = after;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_by_their_place_in_any_order() {
        let writer = IdWriter::new().unwrap();
        let ids: Vec<(u64, Vec<u8>)> = (0..500).map(|n| (n * 3, format!("id {n}").into_bytes())).collect();
        for part in [&ids[200..], &ids[..200]] {
            writer.add(part).unwrap();
        }
        let mut reader = writer.finish().unwrap();
        for at in (0..500).map(|n| n * 7 % 500) {
            assert_eq!(reader.get(at * 3).unwrap(), Some(format!("id {at}").as_bytes()));
            assert_eq!(reader.get(at * 3 + 1).unwrap(), None);
        }
        assert_eq!(IdWriter::new().unwrap().finish().unwrap().get(0).unwrap(), None);
    }
}
