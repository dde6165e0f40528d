//! A filter: an open store and what was derived from it.
//!
//! Checks read through one connection and lessons write through another, so that a check never waits for a commit or for
//! what is derived from a lesson. The derived model is loaded aside and replaces the old one in one step.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::alike::Signer;
use crate::burst::Bursts;
use crate::cache::Cache;
use crate::classic::Classic;
use crate::error::{Error, Problem, Result};
use crate::features::Featurizer;
use crate::lists::Lists;
use crate::message::{Authentication, Message, authentication};
use crate::model::{Model, derive_after, derive_all};
use crate::policy::Policy;
use crate::stats::{Stats, count};
use crate::store::{Change, Changed, Method, Store};

/// From how many changed messages on everything is derived anew.
const MANY: usize = 100;

/// An open store with its model in memory. Share it behind an `Arc`: any number of threads check while one learns, and
/// any number of processes do.
#[derive(Debug)]
pub struct Filter {
    inner: Mutex<Inner>,
    writer: Mutex<Writer>,
    readers: Mutex<Vec<Reader>>,
    pub(crate) bursts: Mutex<Bursts>,
    /// What the caller wants of verdicts, before what the store says.
    wanted: Policy,
    /// Hosts whose `Authentication-Results` are believed.
    trusted_hosts: Arc<[String]>,
}

/// What checks use.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) generation: u64,
    pub(crate) brain: Brain,
    pub(crate) cache: Cache,
    /// What the store's owner wants of verdicts.
    policy: Policy,
    /// The senders about which the store's owner has decided.
    pub(crate) lists: Lists,
}

/// The connection that changes the store.
#[derive(Debug)]
struct Writer {
    /// Where the store is; none while it is made, when there is one connection for everything.
    folder: Option<PathBuf>,
    /// Opened when it is first needed: most filters only check.
    open: Option<Store>,
}

/// What judges.
#[derive(Debug, Clone)]
pub(crate) enum Brain {
    Default(Arc<Model>),
    Classic(Arc<Classic>),
}

/// Buffers of one check.
#[derive(Debug)]
pub(crate) struct Reader {
    pub(crate) featurizer: Featurizer,
    pub(crate) signer: Signer,
}

impl Filter {
    /// Opens the store in a folder.
    ///
    /// # Errors
    /// If there is none, or it is damaged.
    pub fn open(dir: &Path) -> Result<Self> {
        Self::of(Store::open(dir)?, Some(dir.to_path_buf()))
    }

    /// Opens the store in a folder, or makes an empty one.
    ///
    /// # Errors
    /// If there is one that is damaged, or the folder cannot be written.
    pub fn open_or_create(dir: &Path) -> Result<Self> {
        Self::open_or_create_with(dir, Method::Default)
    }

    /// The same with a method for a new store.
    ///
    /// # Errors
    /// As [`open_or_create`](Self::open_or_create).
    pub fn open_or_create_with(dir: &Path, method: Method) -> Result<Self> {
        match Self::open(dir) {
            Err(error) if error.is_missing_store() => match Self::create(dir, method, |_| Ok(())) {
                // Another process created the store first: it is as good.
                Err(Error::Store { problem: Problem::Exists, .. }) | Ok(()) => Self::open(dir),
                Err(error) => Err(error),
            },
            opened => opened,
        }
    }

    /// Makes a store of what `fill` does to an empty one: it is there when that has succeeded, and otherwise nothing is.
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
            let filter = Self::of(store, None)?;
            let filled = fill(&filter)?;
            Ok((filter.inner.into_inner().unwrap_or_else(PoisonError::into_inner).store, filled))
        })
    }

    fn of(store: Store, folder: Option<PathBuf>) -> Result<Self> {
        let Loaded { generation, brain, policy, lists } = load(&store, None)?;
        Ok(Self {
            inner: Mutex::new(Inner { store, generation, brain, cache: Cache::default(), policy, lists }),
            writer: Mutex::new(Writer { folder, open: None }),
            readers: Mutex::default(),
            bursts: Mutex::default(),
            wanted: Policy::default(),
            trusted_hosts: Arc::default(),
        })
    }

    /// With what the caller wants of verdicts, before what the store says. It is not stored.
    ///
    /// # Errors
    /// If no filter can do that.
    pub fn with_policy(mut self, wanted: Policy) -> Result<Self> {
        wanted.check()?;
        self.wanted = wanted;
        Ok(self)
    }

    /// With hosts whose `Authentication-Results` are believed. Without any, such headers are no evidence.
    #[must_use]
    pub fn with_trusted_hosts(mut self, trusted_hosts: Arc<[String]>) -> Self {
        self.trusted_hosts = trusted_hosts;
        self
    }

    /// What trusted hosts say of the sender of a message; none if they say nothing.
    pub(crate) fn authentication(&self, message: &Message) -> Option<Authentication> {
        authentication(message, &self.trusted_hosts)
    }

    /// Stores what is wanted of verdicts, for all who ask this store. What is not said stays as it was.
    ///
    /// # Errors
    /// If no filter can do that, or the store cannot be written.
    pub fn keep_policy(&self, wanted: Policy) -> Result<()> {
        wanted.check()?;
        self.write(|store| {
            let policy = wanted.or(store.policy()?);
            policy.check()?;
            store.put_policy(&policy).map(|()| ((), true))
        })
    }

    /// Derives everything in a store anew from its messages, for a store of which derived records are damaged. Returns how
    /// many messages it has.
    ///
    /// # Errors
    /// If there is no store, a message is damaged, or the store cannot be written: nothing changes then.
    pub fn repair(dir: &Path) -> Result<u64> {
        let store = Store::open(dir)?;
        store.rebuild(|store| derive(store, &[], None))?;
        Self::of(store, None)?.stats().map(|stats| stats.messages)
    }

    /// How the store judges.
    pub fn method(&self) -> Method {
        self.inner().store.method()
    }

    /// Takes notice of what another process has learned since, or of another store in the place of this one.
    ///
    /// # Errors
    /// If the store is damaged, or gone.
    pub fn refresh(&self) -> Result<()> {
        let inner = self.inner();
        let is_fresh = !inner.store.is_replaced() && inner.store.state()?.generation == inner.generation;
        drop(inner);
        if is_fresh {
            return Ok(());
        }
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        match writer.open()? {
            Some((store, folder)) => self.renew(store, folder),
            None => Ok(()),
        }
    }

    /// What judges in memory, unless another store has taken the place of the one it was loaded from.
    fn known(&self) -> Option<Brain> {
        let inner = self.inner();
        (!inner.store.is_replaced()).then(|| inner.brain.clone())
    }

    /// Puts what the store says now in the place of what is in memory.
    fn renew(&self, store: &Store, folder: &Path) -> Result<()> {
        let loaded = load(store, self.known().as_ref())?;
        let mut inner = self.inner();
        if inner.store.is_replaced() {
            inner.store = Store::open(folder)?;
        }
        inner.take(loaded);
        Ok(())
    }

    /// What the store holds.
    ///
    /// # Errors
    /// If the store is damaged.
    pub fn stats(&self) -> Result<Stats> {
        let inner = self.inner();
        let (thresholds, put_aside) = match &inner.brain {
            Brain::Default(model) => {
                let policy = self.wanted.or(inner.policy);
                (Some(model.head.limits.thresholds(&policy)), model.head.limits.put_aside.iter().sum())
            }
            Brain::Classic(_) => (None, 0),
        };
        Ok(Stats { put_aside, ..count(&inner.store, thresholds)? })
    }

    /// Reads the whole store, and says if anything is not as it was written.
    ///
    /// # Errors
    /// If so.
    pub fn verify(&self) -> Result<()> {
        let inner = self.inner();
        inner.store.file().check_pages()?;
        inner.store.verify()?;
        Brain::load(&inner.store, None).map(drop)
    }

    /// What is wanted of verdicts: by the caller, or else by the store's owner.
    pub(crate) fn policy(&self) -> Policy {
        self.wanted.or(self.inner().policy)
    }

    pub(crate) fn inner(&self) -> MutexGuard<'_, Inner> {
        // A thread that panicked has not changed what is in memory: that happens in one step, at the end.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The classic method's memory, if that is the method.
    pub(crate) fn classic(&self) -> Option<Arc<Classic>> {
        match &self.inner().brain {
            Brain::Classic(classic) => Some(Arc::clone(classic)),
            Brain::Default(_) => None,
        }
    }

    pub(crate) fn with_store<T>(&self, work: impl FnOnce(&Store) -> Result<T>) -> Result<T> {
        work(&self.inner().store)
    }

    /// Changes the store and derives what follows, in one transaction.
    pub(crate) fn change_store(
        &self,
        work: impl FnOnce(&Store, &mut Change<'_>) -> Result<()>,
    ) -> Result<Vec<Changed>> {
        // Taken before the store is locked. If another process has learned since, it is not used.
        let known = self.known();
        self.write(|store| {
            let changed = change(store, known.as_ref(), work)?;
            let has_changed = !changed.is_empty();
            Ok((changed, has_changed))
        })
    }

    /// Writes to the store, and takes notice of what was written if the work says that anything was.
    pub(crate) fn write<T>(&self, work: impl FnOnce(&Store) -> Result<(T, bool)>) -> Result<T> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((store, folder)) = writer.open()? {
            let (done, has_changed) = work(store)?;
            if has_changed {
                self.renew(store, folder)?;
            }
            return Ok(done);
        }
        let mut inner = self.inner();
        let (done, _) = work(&inner.store)?;
        let loaded = load(&inner.store, None)?;
        inner.take(loaded);
        Ok(done)
    }

    pub(crate) fn reader(&self) -> Result<Reader> {
        let kept = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match kept {
            Some(reader) => Ok(reader),
            None => Ok(Reader { featurizer: Featurizer::new()?, signer: Signer::new()? }),
        }
    }

    pub(crate) fn give_back(&self, reader: Reader) {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
    }
}

impl Writer {
    /// The connection and where it leads, opened again if another store has taken the place of the one it led to.
    fn open(&mut self) -> Result<Option<(&Store, &Path)>> {
        let Some(folder) = &self.folder else { return Ok(None) };
        if self.open.as_ref().is_none_or(Store::is_replaced) {
            self.open = Some(Store::open(folder)?);
        }
        Ok(self.open.as_ref().map(|store| (store, folder.as_path())))
    }
}

fn change(
    store: &Store,
    known: Option<&Brain>,
    work: impl FnOnce(&Store, &mut Change<'_>) -> Result<()>,
) -> Result<Vec<Changed>> {
    let mut change = store.change()?;
    work(store, &mut change)?;
    change.commit(|store, changed| derive(store, changed, known))
}

/// What judges, and of which state of the store it is.
struct Loaded {
    generation: u64,
    brain: Brain,
    policy: Policy,
    lists: Lists,
}

/// Reads what judges, all of it of one moment.
fn load(store: &Store, known: Option<&Brain>) -> Result<Loaded> {
    let _moment = store.file().read_transaction()?;
    let (generation, brain) = (store.state()?.generation, Brain::load(store, known)?);
    Ok(Loaded { generation, brain, policy: store.policy()?, lists: store.lists()? })
}

impl Inner {
    /// Judges by what was loaded from now on.
    fn take(&mut self, loaded: Loaded) {
        let Loaded { generation, brain, policy, lists } = loaded;
        (self.generation, self.brain, self.policy, self.lists) = (generation, brain, policy, lists);
        self.cache = Cache::default();
    }
}

/// Derives what follows from messages that have changed; quickly, if `known` is of the state before.
fn derive(store: &Store, changed: &[Changed], known: Option<&Brain>) -> Result<()> {
    match store.method() {
        Method::Default if changed.is_empty() || changed.len() > MANY => derive_all(store, changed),
        Method::Default => derive_after(store, changed, known.and_then(Brain::model)),
        Method::Classic => Ok(()),
    }
}

impl Brain {
    /// The model, unless the method is the classic one.
    fn model(&self) -> Option<&Model> {
        match self {
            Self::Default(model) => Some(model),
            Self::Classic(_) => None,
        }
    }

    /// Loads what judges; quickly, if `known` is of an earlier state of the same store.
    fn load(store: &Store, known: Option<&Self>) -> Result<Self> {
        let known = known.and_then(Self::model);
        Ok(match store.method() {
            Method::Default => Self::Default(Arc::new(Model::load(store.file(), known)?)),
            Method::Classic => Self::Classic(Arc::new(Classic::load(store)?)),
        })
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}
