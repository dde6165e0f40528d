//! Puts chunks in order: threads work on them in any order, but complete one step of each in turn.

use std::sync::{Condvar, Mutex, PoisonError};

use crate::schedule::lock;

/// Knows which chunk has its turn.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    state: Mutex<TurnState>,
    turned: Condvar,
}

#[derive(Debug, Default)]
struct TurnState {
    /// The number of the chunk whose turn it is.
    next: u64,
    /// A chunk failed, so later chunks get no turn.
    aborted: bool,
}

impl Turns {
    /// Waits until all earlier chunks have had their turns. Returns false if one of them failed.
    pub(crate) fn wait_for(&self, sequence: u64) -> bool {
        let mut state = lock(&self.state);
        while state.next != sequence && !state.aborted {
            state = self.turned.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.aborted
    }

    /// Gives the turn to the next chunk.
    pub(crate) fn end(&self) {
        lock(&self.state).next += 1;
        self.turned.notify_all();
    }

    /// Waits for the turn of a failed chunk, and then gives no turn to later chunks.
    pub(crate) fn abort(&self, sequence: u64) {
        self.wait_for(sequence);
        self.give_up();
    }

    /// Gives no further turns.
    pub(crate) fn give_up(&self) {
        lock(&self.state).aborted = true;
        self.turned.notify_all();
    }
}
