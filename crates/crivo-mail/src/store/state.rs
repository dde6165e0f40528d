//! The state of a store, which changes with every commit.

use super::record::{Bytes, Learnt};

/// Counts and a digest over all messages, which tell if a message is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct State {
    /// The number of commits.
    pub(crate) generation: u64,
    pub(crate) messages: u64,
    pub(crate) spam: u64,
    pub(crate) ham: u64,
    pub(crate) digest: u64,
}

impl State {
    pub(crate) fn add(&mut self, fingerprint: u64, learnt: &Learnt) {
        self.messages += 1;
        self.spam += u64::from(learnt.is_spam() == Some(true));
        self.ham += u64::from(learnt.is_spam() == Some(false));
        self.digest = self.digest.wrapping_add(learnt.digest(fingerprint));
    }

    pub(crate) fn take(&mut self, fingerprint: u64, learnt: &Learnt) {
        self.messages = self.messages.wrapping_sub(1);
        self.spam = self.spam.wrapping_sub(u64::from(learnt.is_spam() == Some(true)));
        self.ham = self.ham.wrapping_sub(u64::from(learnt.is_spam() == Some(false)));
        self.digest = self.digest.wrapping_sub(learnt.digest(fingerprint));
    }

    /// Returns true if both states are of the same messages.
    pub(crate) fn is_of_same_messages(&self, other: &Self) -> bool {
        Self { generation: 0, ..*self } == Self { generation: 0, ..*other }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        [self.generation, self.messages, self.spam, self.ham, self.digest]
            .iter()
            .flat_map(|n| n.to_le_bytes())
            .collect()
    }

    pub(crate) fn decode(record: &[u8]) -> Option<Self> {
        let mut bytes = Bytes(record);
        let state = Self {
            generation: bytes.u64()?,
            messages: bytes.u64()?,
            spam: bytes.u64()?,
            ham: bytes.u64()?,
            digest: bytes.u64()?,
        };
        bytes.0.is_empty().then_some(state)
    }
}
