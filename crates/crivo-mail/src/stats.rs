//! What does a store hold?

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::judgement::Thresholds;
use crate::label::Label;
use crate::store::Store;

/// The numbers of what a store holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stats {
    /// The name of the method: `default` or `classic`.
    pub method: String,
    /// The number of learned messages. Each is counted once.
    pub messages: u64,
    /// The number of messages learned as spam.
    pub spam: u64,
    /// The number of messages learned as ham.
    pub ham: u64,
    /// The number of messages of each label.
    pub labels: BTreeMap<String, u64>,
    /// The number of different senders of learned messages.
    pub senders: u64,
    /// The time of the oldest mark, in milliseconds since 1970.
    pub oldest: Option<i64>,
    /// The time of the newest mark, in milliseconds since 1970.
    pub newest: Option<i64>,
    /// The thresholds between the verdicts; `None` with the classic method.
    pub thresholds: Option<Thresholds>,
    /// The number of messages that contradict their label so strongly that the thresholds were
    /// found without them.
    pub put_aside: u64,
    /// The size of the store on disk.
    pub bytes: u64,
}

/// Reads all messages and counts them.
pub(crate) fn count(store: &Store, thresholds: Option<Thresholds>) -> Result<Stats> {
    let _moment = store.file().read_transaction()?;
    let mut stats = Stats { method: store.method().name().into(), thresholds, ..Stats::default() };
    let mut senders = BTreeSet::new();
    store.for_each(|_, learnt| {
        stats.messages += 1;
        senders.extend(learnt.sender);
        for mark in learnt.marks {
            match mark.label {
                Label::Spam => stats.spam += 1,
                Label::Ham => stats.ham += 1,
                Label::Named(name) => *stats.labels.entry(name).or_default() += 1,
            }
            stats.oldest = Some(stats.oldest.map_or(mark.time, |time| time.min(mark.time)));
            stats.newest = Some(stats.newest.map_or(mark.time, |time| time.max(mark.time)));
        }
        Ok(())
    })?;
    stats.senders = senders.len() as u64;
    stats.bytes = store.file().bytes();
    Ok(stats)
}
