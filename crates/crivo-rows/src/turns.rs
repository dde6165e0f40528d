//! Chunks in their order: threads work on them in any order, and do one thing with each in turn.

use std::sync::{Condvar, Mutex, PoisonError};

use crate::schedule::lock;

/// Whose turn it is.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    state: Mutex<TurnState>,
    turned: Condvar,
}

#[derive(Debug, Default)]
struct TurnState {
    /// The number of the chunk whose turn it is.
    next: u64,
    /// A chunk failed; those after it have no turn.
    aborted: bool,
}

impl Turns {
    /// Waits until every chunk before has had its turn; false if one of them failed.
    pub(crate) fn wait_for(&self, sequence: u64) -> bool {
        let mut state = lock(&self.state);
        while state.next != sequence && !state.aborted {
            state = self.turned.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.aborted
    }

    /// Lets the next chunk have its turn.
    pub(crate) fn end(&self) {
        lock(&self.state).next += 1;
        self.turned.notify_all();
    }

    /// Waits for the turn of a chunk that failed, and lets no other have one.
    pub(crate) fn abort(&self, sequence: u64) {
        self.wait_for(sequence);
        self.give_up();
    }

    /// Lets no chunk have a turn any more.
    pub(crate) fn give_up(&self) {
        lock(&self.state).aborted = true;
        self.turned.notify_all();
    }
}
