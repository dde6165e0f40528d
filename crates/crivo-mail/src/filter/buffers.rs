//! Scratch space: the buffers of one check or lesson.
//!
//! Making features of a message needs room for its words and numbers. The buffers are kept for the
//! next message, so a filter allocates only as many as it has checks at one time.

use std::sync::{Mutex, PoisonError};

use crate::alike::Signer;
use crate::error::Result;
use crate::features::Featurizer;

/// The buffers of one check.
#[derive(Debug)]
pub(crate) struct CheckBuffers {
    pub(crate) featurizer: Featurizer,
    pub(crate) signer: Signer,
}

/// Buffers that are not in use.
#[derive(Debug, Default)]
pub(crate) struct BufferPool {
    unused: Mutex<Vec<CheckBuffers>>,
}

impl BufferPool {
    /// Runs `work` with buffers that no other thread uses at the same time.
    pub(crate) fn lend<T>(&self, work: impl FnOnce(&mut CheckBuffers) -> Result<T>) -> Result<T> {
        let kept = self.unused.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut buffers = match kept {
            Some(buffers) => buffers,
            None => CheckBuffers { featurizer: Featurizer::new()?, signer: Signer::new()? },
        };
        let done = work(&mut buffers);
        self.unused.lock().unwrap_or_else(PoisonError::into_inner).push(buffers);
        done
    }
}
