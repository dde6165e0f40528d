//! A filter: an open store and what was derived from it.
//!
//! | part | holds | file |
//! |---|---|---|
//! | snapshot | the model, thresholds and lists of one state of the store; never changed | `snapshot` |
//! | reader | the connection that checks look up messages with | `reader` |
//! | writer | the connection that lessons change the store with | `writer` |
//! | scratch space | the buffers of one check | `buffers` |
//!
//! Judging is a pure function of a snapshot and the evidence about a message ([`crate::judging`]).
//! A lesson loads the next snapshot first, and then replaces the current one in one step. So a
//! check never waits for a commit, or for what is derived from a lesson.
//!
//! Locks are taken in the order writer, reader, snapshot. The lock of the snapshot is held only
//! while a pointer is copied.

mod buffers;
mod reader;
mod snapshot;
mod writer;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) use buffers::{BufferPool, CheckBuffers};
pub(crate) use reader::{StoreEvidence, StoreReader};
pub(crate) use snapshot::{ModelSnapshot, StoreSnapshot};

use self::snapshot::derive;
use self::writer::{StoreWriter, change_messages};
use crate::burst::Bursts;
use crate::classic::Classic;
use crate::error::{Error, Problem, Result};
use crate::message::{Authentication, Message, authentication};
use crate::policy::Policy;
use crate::stats::{Stats, count};
use crate::store::{Change, Changed, Method, Store};

/// An open store with its model in memory. Share it behind an `Arc`: any number of threads check
/// while one learns, and any number of processes do.
#[derive(Debug)]
pub struct Filter {
    snapshot: Mutex<StoreSnapshot>,
    reader: Mutex<StoreReader>,
    writer: Mutex<StoreWriter>,
    pub(crate) buffers: BufferPool,
    pub(crate) bursts: Mutex<Bursts>,
    /// What the caller wants of verdicts. It takes precedence over the policy of the store.
    caller_policy: Policy,
    /// Hosts whose `Authentication-Results` are believed.
    trusted_hosts: Arc<[String]>,
    /// Whether the next snapshot is loaded at once after a lesson.
    renews_snapshot: bool,
}

impl Filter {
    /// Opens the store in a folder.
    ///
    /// # Errors
    /// If there is none, or it is damaged.
    pub fn open(dir: &Path) -> Result<Self> {
        Self::of(StoreReader::open(dir)?, StoreWriter::of_folder(dir))
    }

    /// Opens the store in a folder, or makes an empty one.
    ///
    /// # Errors
    /// If there is one that is damaged, or the folder cannot be written.
    pub fn open_or_create(dir: &Path) -> Result<Self> {
        Self::open_or_create_with(dir, Method::Default)
    }

    /// Opens the store in a folder, or makes an empty one of the given method.
    ///
    /// # Errors
    /// As [`open_or_create`](Self::open_or_create).
    pub fn open_or_create_with(dir: &Path, method: Method) -> Result<Self> {
        match Self::open(dir) {
            Err(error) if error.is_missing_store() => match Self::create(dir, method, |_| Ok(())) {
                // Another process created the store first. It can be used just as well.
                Err(Error::Store { problem: Problem::Exists, .. }) | Ok(()) => Self::open(dir),
                Err(error) => Err(error),
            },
            opened => opened,
        }
    }

    /// Creates a store and runs `fill` on it. The store appears in the folder only if `fill`
    /// succeeds; otherwise nothing is left.
    ///
    /// ```
    /// use crivo_mail::{Filter, Label, Method};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let mail = [(b"buy cheap watches".to_vec(), Label::Spam), (b"see you at lunch".to_vec(), Label::Ham)];
    /// let trained = Filter::create(folder.path(), Method::Default, |new| new.train(mail.map(Ok)))?;
    /// assert_eq!(trained.learned, Filter::open(folder.path())?.stats()?.messages);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is a store already, `fill` fails, or the folder cannot be written.
    pub fn create<T>(dir: &Path, method: Method, fill: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        Store::create(dir, method, |store| {
            derive(&store, &[], None)?;
            let reader = StoreReader::of_unfinished_store(store);
            let filter = Self::of(reader, StoreWriter::of_unfinished_store())?;
            let filled = fill(&filter)?;
            let reader = filter.reader.into_inner().unwrap_or_else(PoisonError::into_inner);
            Ok((reader.into_store(), filled))
        })
    }

    fn of(reader: StoreReader, writer: StoreWriter) -> Result<Self> {
        let caller_policy = Policy::default();
        Ok(Self {
            snapshot: Mutex::new(StoreSnapshot::load(reader.store(), caller_policy, None)?),
            reader: Mutex::new(reader),
            writer: Mutex::new(writer),
            buffers: BufferPool::default(),
            bursts: Mutex::default(),
            caller_policy,
            trusted_hosts: Arc::default(),
            renews_snapshot: true,
        })
    }

    /// Sets what the caller wants of verdicts. It takes precedence over the policy of the store,
    /// and is not stored.
    ///
    /// # Errors
    /// If the policy is not possible with the method of the store.
    pub fn with_policy(mut self, wanted: Policy) -> Result<Self> {
        wanted.check_for(self.method())?;
        if wanted != self.caller_policy {
            self.caller_policy = wanted;
            let snapshot = self.snapshot().with_caller_policy(wanted)?;
            self.judge_by(snapshot);
        }
        Ok(self)
    }

    /// Sets the hosts whose `Authentication-Results` are believed. Without any, such headers are no
    /// evidence.
    #[must_use]
    pub fn with_trusted_hosts(mut self, trusted_hosts: Arc<[String]>) -> Self {
        self.trusted_hosts = trusted_hosts;
        self
    }

    /// For a process that ends after a lesson: what is derived from a lesson is stored, but not
    /// loaded. Checks of this filter use what was learned before, until [`refresh`](Self::refresh).
    #[must_use]
    pub fn without_renewal(mut self) -> Self {
        self.renews_snapshot = false;
        self
    }

    /// For a process that runs for long beside others. A lesson that derives everything anew then
    /// keeps the features of few messages in memory, and reads those of the others from the store
    /// in each pass. The model is the same, but takes longer.
    #[must_use]
    pub fn with_little_memory(self) -> Self {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).use_little_memory();
        self
    }

    /// Returns what trusted hosts say about the sender of a message, or `None` if they say nothing.
    pub(crate) fn authentication(&self, message: &Message) -> Option<Authentication> {
        authentication(message, &self.trusted_hosts)
    }

    /// Stores what the owner wants of verdicts, for all users of the store. Unset fields of
    /// `wanted` stay as they were.
    ///
    /// # Errors
    /// If the policy is not possible with the method of the store, or the store cannot be written.
    pub fn keep_policy(&self, wanted: Policy) -> Result<()> {
        wanted.check_for(self.method())?;
        self.write(|store| {
            let policy = wanted.or(store.policy()?);
            policy.check()?;
            store.put_policy(&policy).map(|()| ((), true))
        })
    }

    /// Derives everything in a store anew from its messages, for a store with damaged derived
    /// records. Returns the number of its messages.
    ///
    /// # Errors
    /// If there is no store, a message is damaged, or the store cannot be written: nothing changes
    /// then.
    pub fn repair(dir: &Path) -> Result<u64> {
        let store = Store::open(dir)?;
        store.rebuild(|store| derive(store, &[], None))?;
        Self::open(dir)?.stats().map(|stats| stats.messages)
    }

    /// Returns the method of the store.
    pub fn method(&self) -> Method {
        self.reader().store().method()
    }

    /// Loads what another process has learned since, or another store that has replaced this one.
    ///
    /// # Errors
    /// If the store is damaged, or gone.
    pub fn refresh(&self) -> Result<()> {
        if self.reader().is_at(self.snapshot().generation())? {
            return Ok(());
        }
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        match writer.open()? {
            Some((store, folder)) => self.renew(store, folder),
            None => Ok(()),
        }
    }

    /// Returns the current snapshot, or `None` if another store has replaced the one it was loaded
    /// from.
    fn snapshot_of_this_store(&self) -> Option<StoreSnapshot> {
        (!self.reader().store().is_replaced()).then(|| self.snapshot())
    }

    /// Loads the snapshot of the store's last state, and judges by it from now on.
    fn renew(&self, store: &Store, folder: &Path) -> Result<()> {
        let next = StoreSnapshot::load(store, self.caller_policy, self.snapshot_of_this_store().as_ref())?;
        let mut reader = self.reader();
        reader.renew(folder)?;
        self.judge_by(next);
        Ok(())
    }

    /// Counts what the store holds.
    ///
    /// # Errors
    /// If the store is damaged.
    pub fn stats(&self) -> Result<Stats> {
        let (thresholds, put_aside) = match self.snapshot() {
            StoreSnapshot::Default(snapshot) => (Some(snapshot.thresholds()), snapshot.put_aside()),
            StoreSnapshot::Classic(_) => (None, 0),
        };
        Ok(Stats { put_aside, ..self.with_store(|store| count(store, thresholds))? })
    }

    /// Reads the whole store and checks that everything is as it was written.
    ///
    /// # Errors
    /// If anything is not.
    pub fn verify(&self) -> Result<()> {
        self.with_store(|store| {
            store.file().check_pages()?;
            store.verify()?;
            StoreSnapshot::load(store, self.caller_policy, None).map(drop)
        })
    }

    /// Returns the snapshot that messages are judged by now.
    pub(crate) fn snapshot(&self) -> StoreSnapshot {
        // A thread that panicked leaves a valid snapshot, because it is replaced in one step at the
        // end.
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Judges by another snapshot from now on.
    fn judge_by(&self, next: StoreSnapshot) {
        *self.snapshot.lock().unwrap_or_else(PoisonError::into_inner) = next;
    }

    /// Waits until no other check reads the store, and returns the reader.
    pub(crate) fn reader(&self) -> MutexGuard<'_, StoreReader> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the learned spam of the classic method, or `None` with the default method.
    pub(crate) fn classic(&self) -> Option<Arc<Classic>> {
        match self.snapshot() {
            StoreSnapshot::Classic(snapshot) => Some(Arc::clone(&snapshot.classic)),
            StoreSnapshot::Default(_) => None,
        }
    }

    pub(crate) fn with_store<T>(&self, work: impl FnOnce(&Store) -> Result<T>) -> Result<T> {
        work(self.reader().store())
    }

    /// Changes the store and derives what follows, in one transaction.
    pub(crate) fn change_store(
        &self,
        work: impl FnOnce(&Store, &mut Change<'_>) -> Result<()>,
    ) -> Result<Vec<Changed>> {
        // Taken before the store is locked. It is not used if another process has learned since.
        let earlier = self.snapshot_of_this_store();
        self.write(|store| {
            let changed = change_messages(store, earlier.as_ref(), work)?;
            let has_changed = !changed.is_empty();
            Ok((changed, has_changed))
        })
    }

    /// Writes to the store. Loads the next snapshot if `work` says that anything was changed.
    pub(crate) fn write<T>(&self, work: impl FnOnce(&Store) -> Result<(T, bool)>) -> Result<T> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((store, folder)) = writer.open()? {
            let (done, has_changed) = work(store)?;
            if has_changed && self.renews_snapshot {
                self.renew(store, folder)?;
            }
            return Ok(done);
        }
        let mut reader = self.reader();
        let (done, _) = work(reader.store())?;
        let next = StoreSnapshot::load(reader.store(), self.caller_policy, None)?;
        reader.forget();
        self.judge_by(next);
        Ok(done)
    }
}

/// Returns the time in milliseconds since 1970.
pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}
