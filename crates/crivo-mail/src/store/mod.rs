//! The store: a set of learned messages on disk.
//!
//! A message is a record: fingerprint → labels with the time of each, sender, signature, features.
//! Everything that changes a store is an operation on that set, so its meaning does not depend on
//! what happened before. Learning a message twice counts once. Unlearning leaves the store as if
//! the message had never been learned. Two stores are merged message by message and label by label,
//! and the later mark wins where they differ. The result does not depend on the order or number of
//! merges: where two stores have read a message differently, the larger reading is kept, by its
//! bytes.
//!
//! Everything else (weights, thresholds, buckets) is derived from the set alone and written in the
//! same transaction. So a reader sees one state, and a killed process leaves the last commit.

mod coding;
mod file;
mod record;
mod state;

pub(crate) use coding::{decode_features, encode_bytes, encode_features};
pub(crate) use file::{FORMAT, File, Table};
pub(crate) use record::{Bytes, Learnt, Mark, put_bytes};
pub(crate) use state::State;

use std::cmp::Ordering;
use std::path::Path;

use crivo_records::{Table as _, Transaction};

use crate::decay::Decay;
use crate::error::{Problem, Result};
use crate::lists::Lists;
use crate::policy::Policy;

/// The method by which a store judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// All evidence, combined into a probability.
    #[default]
    Default,
    /// Blocked senders, then similarity to learned spam: the method this filter grew from, kept for
    /// comparison.
    Classic,
}

impl Method {
    /// Returns `default` or `classic`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Classic => "classic",
        }
    }
}

/// The numbers of the records in the table `head`.
const SETTINGS: i64 = 1;
const STATE: i64 = 2;
const POLICY: i64 = 3;
const LISTS: i64 = 4;
const DECAY: i64 = 5;

/// The bytes of features that a fit keeps in memory: those of some 100,000 messages.
const FEATURE_MEMORY: usize = 512 << 20;

/// The same in a long-running process: those of some 1,500 messages.
const LITTLE_FEATURE_MEMORY: usize = 8 << 20;

/// The SQLite cache of a connection in such a process, in KiB. It is this large because a lesson
/// reads the counts of all slots.
const LITTLE_CACHE: u32 = 8192;

/// The most bytes of new features that a transaction keeps in memory.
const KEPT: usize = 128 << 20;

/// An open store.
#[derive(Debug)]
pub(crate) struct Store {
    file: File,
    method: Method,
    feature_memory: usize,
}

impl Store {
    /// Creates a store that `fill` fills. If `fill` fails, no store is created.
    pub(crate) fn create<R>(
        folder: &Path,
        method: Method,
        fill: impl FnOnce(Self) -> Result<(Self, R)>,
    ) -> Result<R> {
        File::create(folder, |file| {
            file.put(Table::Head, SETTINGS, format!("method {}", method.name()).into_bytes())?;
            file.put(Table::Head, STATE, State::default().encode())?;
            let (store, filled) = fill(Self { file, method, feature_memory: FEATURE_MEMORY })?;
            Ok((store.file, filled))
        })
    }

    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let file = File::open(folder)?;
        let settings = file.need(Table::Head, SETTINGS, |record| String::from_utf8(record.to_vec()).ok())?;
        let method = match settings.as_str() {
            "method default" => Method::Default,
            "method classic" => Method::Classic,
            other => {
                let what = format!("the store was made with {other:?}, which this program does not know");
                return Err(Table::error(file.path(), Problem::Foreign(what)));
            }
        };
        Ok(Self { file, method, feature_memory: FEATURE_MEMORY })
    }

    pub(crate) fn method(&self) -> Method {
        self.method
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Reduces the memory that lessons and fits use.
    pub(crate) fn use_little_memory(&mut self) -> Result<()> {
        self.feature_memory = LITTLE_FEATURE_MEMORY;
        self.file.set_cache(LITTLE_CACHE)
    }

    /// Keeps no features in memory while a model is fitted.
    #[cfg(test)]
    pub(crate) fn keep_no_features(&mut self) {
        self.feature_memory = 0;
    }

    /// Returns the number of bytes of features that a fit keeps in memory.
    pub(crate) fn feature_memory(&self) -> usize {
        self.feature_memory
    }

    /// Returns true if the open file was replaced by another file or removed.
    pub(crate) fn is_replaced(&self) -> bool {
        self.file.is_replaced()
    }

    pub(crate) fn state(&self) -> Result<State> {
        self.file.need(Table::Head, STATE, State::decode)
    }

    /// Returns the store's own policy of verdicts.
    pub(crate) fn policy(&self) -> Result<Policy> {
        Ok(self.file.get(Table::Head, POLICY, Policy::decode)?.unwrap_or_default())
    }

    /// Stores the policy of verdicts.
    pub(crate) fn put_policy(&self, policy: &Policy) -> Result<()> {
        let transaction = self.file.write_transaction()?;
        let mut state = self.state()?;
        state.generation += 1;
        self.file.put(Table::Head, POLICY, policy.encode())?;
        self.file.put(Table::Head, STATE, state.encode())?;
        self.file.commit(transaction)
    }

    /// Returns the senders that are allowed and blocked.
    pub(crate) fn lists(&self) -> Result<Lists> {
        Ok(self.file.get(Table::Head, LISTS, Lists::decode)?.unwrap_or_default())
    }

    /// Changes the senders that are allowed and blocked. If `change` fails, nothing is stored.
    pub(crate) fn update_lists<T>(&self, change: impl FnOnce(&mut Lists) -> Result<T>) -> Result<T> {
        let transaction = self.file.write_transaction()?;
        let (mut state, mut lists) = (self.state()?, self.lists()?);
        let done = change(&mut lists)?;
        state.generation += 1;
        self.file.put(Table::Head, LISTS, lists.encode())?;
        self.file.put(Table::Head, STATE, state.encode())?;
        self.file.commit(transaction)?;
        Ok(done)
    }

    /// Returns how fast lessons lose their weight.
    pub(crate) fn decay(&self) -> Result<Decay> {
        Ok(self.file.get(Table::Head, DECAY, Decay::decode)?.unwrap_or_default())
    }

    /// Stores how fast lessons lose their weight, within the open transaction.
    pub(crate) fn put_decay(&self, decay: Decay) -> Result<()> {
        self.file.put(Table::Head, DECAY, decay.encode())
    }

    /// Derives everything anew from the messages, without reading the old derived records.
    pub(crate) fn rebuild(&self, derive: impl FnOnce(&Self) -> Result<()>) -> Result<()> {
        let transaction = self.file.write_transaction()?;
        let mut state = self.state()?;
        state.generation += 1;
        self.file.empty(Table::Derived)?;
        self.file.put(Table::Head, STATE, state.encode())?;
        derive(self)?;
        self.file.commit(transaction)
    }

    pub(crate) fn message(&self, fingerprint: u64) -> Result<Option<Learnt>> {
        self.file.get(Table::Messages, fingerprint as i64, Learnt::decode)
    }

    /// Returns the messages whose fingerprints begin with 32 bits: nearly always at most one.
    pub(crate) fn messages_of(&self, head: u32) -> Result<Vec<(u64, Learnt)>> {
        let first = u64::from(head) << 32;
        let (mut found, last) = (Vec::new(), first | u64::from(u32::MAX));
        self.file.for_each_between(Table::Messages, first as i64, last as i64, |number, record| {
            let learnt = Learnt::decode(record);
            Ok(learnt.map(|learnt| found.push((number as u64, learnt))))
        })?;
        Ok(found)
    }

    /// Begins a write transaction. No other process can change the store until it ends.
    pub(crate) fn change(&self) -> Result<Change<'_>> {
        let transaction = self.file.write_transaction()?;
        let state = self.state()?;
        Ok(Change { store: self, transaction, state, changed: Vec::new(), kept: 0 })
    }

    /// Passes every message to `take`, with its fingerprint. Returns an error if a message is
    /// missing.
    pub(crate) fn for_each(&self, mut take: impl FnMut(u64, Learnt) -> Result<()>) -> Result<()> {
        let mut found = State::default();
        self.file.for_each(Table::Messages, |number, record| {
            let Some(learnt) = Learnt::decode(record) else { return Ok(None) };
            found.add(number as u64, &learnt);
            take(number as u64, learnt)?;
            Ok(Some(()))
        })?;
        if self.state()?.is_of_same_messages(&found) {
            Ok(())
        } else {
            Err(self.file.damaged("its messages are not those it should have"))
        }
    }

    /// Reads every record of every table.
    pub(crate) fn verify(&self) -> Result<()> {
        let _moment = self.file.read_transaction()?;
        let mut messages = 0_u64;
        self.for_each(|fingerprint, _| {
            messages += 1;
            self.features(fingerprint, &mut Vec::new())
        })?;
        let mut features = 0_u64;
        self.file.for_each(Table::Features, |_, _| {
            features += 1;
            Ok(Some(()))
        })?;
        if features != messages {
            return Err(self.file.damaged("features without a message"));
        }
        Table::ALL.iter().try_for_each(|&table| self.file.for_each(table, |_, _| Ok(Some(()))))
    }

    /// Appends the features of a message.
    pub(crate) fn features(&self, fingerprint: u64, features: &mut Vec<u32>) -> Result<()> {
        self.file.need(Table::Features, fingerprint as i64, |record| decode_features(record, features))
    }
}

/// A message before and after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) fingerprint: u64,
    pub(crate) before: Option<Learnt>,
    pub(crate) after: Option<Learnt>,
    /// The new features of the message, as they are stored, so that they need not be read again.
    /// `None` if it has none, or if the new features of the transaction exceed [`KEPT`] bytes.
    pub(crate) features: Option<Vec<u8>>,
    /// True if the message was known, and got new features.
    pub(crate) is_replaced: bool,
}

/// A write transaction. Other readers see its changes when it is committed. If it is dropped, its
/// changes are undone.
pub(crate) struct Change<'a> {
    store: &'a Store,
    transaction: Transaction<'a>,
    state: State,
    changed: Vec<Changed>,
    /// The number of bytes of features in `changed`.
    kept: usize,
}

impl Change<'_> {
    /// Replaces a message by the result of `next`, or removes it if that is `None`. `features`
    /// returns the features of a message that is new, or that `next` gives another content.
    pub(crate) fn update(
        &mut self,
        fingerprint: u64,
        next: impl FnOnce(Option<&Learnt>) -> Option<Learnt>,
        features: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<()> {
        let before = self.store.message(fingerprint)?;
        let after = next(before.as_ref());
        let has_new_content = after
            .as_ref()
            .is_some_and(|after| before.as_ref().is_none_or(|before| before.content() != after.content()));
        let features = if has_new_content { Some(features()?) } else { None };
        self.put(fingerprint, before, after, features)
    }

    /// Joins a message of another store: the marks of both, and of two contents the larger. So the
    /// result does not depend on which store it is joined to. `features` are those of the other
    /// message.
    pub(crate) fn join(&mut self, fingerprint: u64, other: Learnt, features: &[u32]) -> Result<()> {
        let Some(before) = self.store.message(fingerprint)? else {
            return self.put(fingerprint, None, Some(other), Some(encode_features(features)));
        };
        let order = match other.content().cmp(&before.content()) {
            Ordering::Equal => {
                let mut known = Vec::new();
                self.store.features(fingerprint, &mut known)?;
                features.cmp(&known)
            }
            order => order,
        };
        let features = order.is_gt().then(|| encode_features(features));
        let after = before.clone().joined(&other);
        self.put(fingerprint, Some(before), Some(after), features)
    }

    /// Replaces a message. `features` are `None` if they stay as they are.
    fn put(
        &mut self,
        fingerprint: u64,
        before: Option<Learnt>,
        after: Option<Learnt>,
        features: Option<Vec<u8>>,
    ) -> Result<()> {
        if before == after && features.is_none() {
            return Ok(());
        }
        let (file, number) = (&self.store.file, fingerprint as i64);
        let is_replaced = before.is_some() && features.is_some();
        let mut kept = None;
        if let Some(after) = &after {
            file.put(Table::Messages, number, after.encode())?;
            self.state.add(fingerprint, after);
            if let Some(features) = features {
                kept = (self.kept + features.len() <= KEPT).then(|| features.clone());
                self.kept += kept.as_ref().map_or(0, Vec::len);
                file.put(Table::Features, number, features)?;
            }
        } else {
            file.remove(Table::Messages, number)?;
            file.remove(Table::Features, number)?;
        }
        if let Some(before) = &before {
            self.state.take(fingerprint, before);
        }
        self.changed.push(Changed { fingerprint, before, after, features: kept, is_replaced });
        Ok(())
    }

    /// Runs `derive`, commits, and returns when everything is on the disk. Does nothing if no
    /// message changed.
    pub(crate) fn commit(
        mut self,
        derive: impl FnOnce(&Store, &[Changed]) -> Result<()>,
    ) -> Result<Vec<Changed>> {
        if !self.changed.is_empty() {
            self.state.generation += 1;
            self.store.file.put(Table::Head, STATE, self.state.encode())?;
            derive(self.store, &self.changed)?;
            self.store.file.commit(self.transaction)?;
            self.store.file.shorten_journal();
        }
        Ok(self.changed)
    }
}
