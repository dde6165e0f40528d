//! How the memory of a run is divided.
//!
//! The bytes that grow with the number of members are counted first: at most [`BYTES_A_MEMBER`] for
//! each, whatever the texts. Buffers share the other bytes, and spill to a file when they are full.
//! Members may take three quarters of the memory. A run with more members fails, and its error
//! gives the least memory that would be enough.

use crate::error::{Error, Result};
use crate::settings::LEAST_MEMORY;

/// The most bytes kept for each member at any time, without the places of collections with gaps.
pub(crate) const BYTES_A_MEMBER: u64 = 24;

/// Returns the least memory that a run over this number of documents needs. Three quarters of it
/// hold 24 bytes for each document.
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

    /// Returns the number of bytes that members and their places may take.
    fn most_for_members(self) -> u64 {
        self.memory / 4 * 3
    }

    /// Refuses more members than fit in memory. `places` is the number of bytes of their places.
    pub(crate) fn check(self, members: u64, places: u64) -> Result<()> {
        let needed = members.saturating_mul(BYTES_A_MEMBER).saturating_add(places);
        if needed <= self.most_for_members() {
            return Ok(());
        }
        Err(Error::Memory { members, given: self.memory, least: needed.div_ceil(3).saturating_mul(4) })
    }

    /// Returns true if the members take more than a quarter of the memory. Then buffers need the
    /// other bytes.
    pub(crate) fn is_crowded(self, members: u64) -> bool {
        members.saturating_mul(BYTES_A_MEMBER) > self.memory / 4
    }

    /// Returns the number of bytes left for buffers beside the members.
    pub(crate) fn room(self, members: u64, places: u64) -> u64 {
        let taken = members.saturating_mul(BYTES_A_MEMBER).saturating_add(places);
        self.memory.saturating_sub(taken).max(self.memory / 4)
    }

    /// Returns the share of one thread in `memory`.
    pub(crate) fn each(self, memory: u64) -> u64 {
        memory / self.threads
    }
}
