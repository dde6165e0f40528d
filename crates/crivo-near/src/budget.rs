//! How the memory of a run is divided.
//!
//! What grows with the number of members is counted first: at most [`BYTES_A_MEMBER`], whatever the
//! texts. The rest is shared by buffers, which spill to a file when they are full. Three quarters
//! of the memory may be taken by members; a run with more of them ends with the least that would
//! do.

use crate::error::{Error, Result};
use crate::settings::LEAST_MEMORY;

/// The bytes that are kept of each member at any time, places with gaps left out.
pub(crate) const BYTES_A_MEMBER: u64 = 24;

/// Returns the least memory that a run over this number of documents needs: 24 bytes of each in
/// three quarters of it.
pub fn least_memory(documents: u64) -> u64 {
    documents.saturating_mul(BYTES_A_MEMBER).div_ceil(3).saturating_mul(4).max(LEAST_MEMORY)
}

/// The memory of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    memory: u64,
    threads: u64,
}

impl Budget {
    pub(crate) fn new(memory: u64, threads: usize) -> Self {
        Self { memory, threads: threads.max(1) as u64 }
    }

    pub(crate) fn memory(self) -> u64 {
        self.memory
    }

    /// The bytes that members and their places may take.
    fn most_for_members(self) -> u64 {
        self.memory / 4 * 3
    }

    /// Refuses more members than there is memory for. `places` are the bytes that their places
    /// take.
    pub(crate) fn check(self, members: u64, places: u64) -> Result<()> {
        let needed = members.saturating_mul(BYTES_A_MEMBER).saturating_add(places);
        if needed <= self.most_for_members() {
            return Ok(());
        }
        Err(Error::Memory { members, given: self.memory, least: needed.div_ceil(3).saturating_mul(4) })
    }

    /// Returns true if the members take more than a quarter of the memory, so that buffers need the
    /// rest.
    pub(crate) fn is_crowded(self, members: u64) -> bool {
        members.saturating_mul(BYTES_A_MEMBER) > self.memory / 4
    }

    /// The bytes that are left for buffers beside the members.
    pub(crate) fn room(self, members: u64, places: u64) -> u64 {
        let taken = members.saturating_mul(BYTES_A_MEMBER).saturating_add(places);
        self.memory.saturating_sub(taken).max(self.memory / 4)
    }

    /// The share of one thread in a part of some memory.
    pub(crate) fn each(self, memory: u64) -> u64 {
        memory / self.threads
    }
}
