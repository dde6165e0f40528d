//! A filter: an open store and what was derived from it.
//!
//! Checks read through one connection, and whoever learns writes through another: waiting for somebody else's
//! commit, or deriving what follows from a lesson, keeps nobody from being judged. What follows is loaded aside, and
//! takes its place in one step.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::alike::Signer;
use crate::burst::Bursts;
use crate::cache::{Cache, Nearest};
use crate::classic::Classic;
use crate::combine::{Evidence, logistic};
use crate::error::{Error, Problem, Result};
use crate::features::Featurizer;
use crate::judgement::{Judgement, Reason, Verdict};
use crate::message::Message;
use crate::model::{Model, derive_after, derive_all};
use crate::stats::{Stats, count};
use crate::store::{Change, Changed, Method, Store};

/// How many features are named as reasons.
const FEATURES_NAMED: usize = 6;

/// From which similarity on a learned message is named as a reason.
const ALIKE: f64 = 0.1;

/// From how many changed messages on everything is derived anew.
const MANY: usize = 100;

/// An open store with its model in memory. Share it behind an `Arc`: any number of threads check while one learns, and
/// any number of processes do.
#[derive(Debug)]
pub struct Filter {
    inner: Mutex<Inner>,
    writer: Mutex<Writer>,
    readers: Mutex<Vec<Reader>>,
    bursts: Mutex<Bursts>,
}

/// What checks use.
#[derive(Debug)]
struct Inner {
    store: Store,
    generation: u64,
    brain: Brain,
    cache: Cache,
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
enum Brain {
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
                // Somebody else was faster: theirs is as good.
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
            derive(&store, &[])?;
            let filter = Self::of(store, None)?;
            let filled = fill(&filter)?;
            Ok((filter.inner.into_inner().unwrap_or_else(PoisonError::into_inner).store, filled))
        })
    }

    fn of(store: Store, folder: Option<PathBuf>) -> Result<Self> {
        let (generation, brain) = load(&store)?;
        Ok(Self {
            inner: Mutex::new(Inner { store, generation, brain, cache: Cache::default() }),
            writer: Mutex::new(Writer { folder, open: None }),
            readers: Mutex::default(),
            bursts: Mutex::default(),
        })
    }

    /// How the store judges.
    pub fn method(&self) -> Method {
        self.inner().store.method()
    }

    /// Judges a message: any bytes.
    ///
    /// # Errors
    /// If the store is damaged.
    pub fn check(&self, message: &[u8]) -> Result<Judgement> {
        let message = Message::read(message);
        self.judge(&message, true)
    }

    /// The verdict and the score alone, without reasons: for many messages.
    ///
    /// # Errors
    /// If the store is damaged.
    pub fn verdict(&self, message: &Message) -> Result<(Verdict, f64)> {
        self.judge(message, false).map(|judgement| (judgement.verdict, judgement.score))
    }

    fn judge(&self, message: &Message, with_reasons: bool) -> Result<Judgement> {
        let model = match &self.inner().brain {
            Brain::Default(model) => Arc::clone(model),
            Brain::Classic(classic) => return classic.judge(message),
        };
        let mut reader = self.reader()?;
        let features = reader.featurizer.features(message);
        let margin = if model.head.knows_both { model.weights.margin(features) } else { 0.0 };
        let labels = model.labels(features);
        let signature = reader.signer.sign(message)?;

        let mut inner = self.inner();
        let Inner { store, cache, generation, .. } = &mut *inner;
        let (spam, ham) = match &signature {
            Some(signature) => cache.nearest(store, *generation, signature, &mut reader.signer)?,
            None => (None, None),
        };
        let sender = match &message.sender {
            Some(sender) => Some(cache.sender(store, sender)?),
            None => None,
        };
        let named = if with_reasons { name_nearest(store, spam, ham)? } else { Vec::new() };
        drop(inner);

        let like = |nearest: Option<Nearest>| nearest.map_or(0.0, |nearest| nearest.similarity);
        let evidence = Evidence { margin: margin.into(), like_spam: like(spam), like_ham: like(ham), sender };
        let burst = if with_reasons { self.burst(message, sender) } else { None };
        let log_odds =
            model.head.combiner.log_odds(&evidence) + burst.as_ref().map_or(0.0, |(_, odds)| *odds);
        let score = logistic(log_odds);
        let mut reasons = Vec::new();
        if with_reasons {
            if !model.head.knows_both {
                reasons
                    .push(Reason::Note("spam and ham have to be learned before there is a verdict".into()));
            }
            reasons.extend(burst.map(|(reason, _)| reason));
            reasons.extend(named);
            if let (Some(address), Some((spam, ham))) = (&message.sender, sender) {
                reasons.push(Reason::Sender { address: address.clone(), spam: spam.into(), ham: ham.into() });
            }
            if model.head.knows_both {
                let strongest = reader.featurizer.strongest(message, &model.weights.slots, FEATURES_NAMED);
                let slope = model.head.combiner.slope();
                let named = strongest
                    .into_iter()
                    .map(|(name, weight)| Reason::Feature { name, weight: weight * slope });
                reasons.extend(named);
            }
        }
        self.give_back(reader);
        let thresholds = model.head.thresholds;
        Ok(Judgement { verdict: thresholds.verdict(score), score, thresholds, reasons, labels })
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

    /// Puts what the store says now in the place of what is in memory.
    fn renew(&self, store: &Store, folder: &Path) -> Result<()> {
        let (generation, brain) = load(store)?;
        let mut inner = self.inner();
        if inner.store.is_replaced() {
            inner.store = Store::open(folder)?;
        }
        (inner.brain, inner.cache, inner.generation) = (brain, Cache::default(), generation);
        Ok(())
    }

    /// What the store holds.
    ///
    /// # Errors
    /// If the store is damaged.
    pub fn stats(&self) -> Result<Stats> {
        let inner = self.inner();
        let thresholds = match &inner.brain {
            Brain::Default(model) => Some(model.head.thresholds),
            Brain::Classic(_) => None,
        };
        count(&inner.store, thresholds)
    }

    /// Reads the whole store, and says if anything is not as it was written.
    ///
    /// # Errors
    /// If so.
    pub fn verify(&self) -> Result<()> {
        let inner = self.inner();
        inner.store.file().check_pages()?;
        inner.store.verify()?;
        Brain::load(&inner.store).map(drop)
    }

    /// Whether a sender that nobody has learned from writes a lot, and what that adds to the log-odds.
    fn burst(&self, message: &Message, learned: Option<(u32, u32)>) -> Option<(Reason, f64)> {
        let address = message.sender.as_ref()?;
        let mut bursts = self.bursts.lock().unwrap_or_else(PoisonError::into_inner);
        let messages = bursts.count(address, message.fingerprint, now());
        let odds = if learned == Some((0, 0)) { Bursts::log_odds(messages) } else { None };
        odds.map(|odds| (Reason::Burst { address: address.clone(), messages }, odds))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Whoever panicked has not changed what is in memory: that happens in one step, at the end.
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
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((store, folder)) = writer.open()? {
            let changed = change(store, work)?;
            if !changed.is_empty() {
                self.renew(store, folder)?;
            }
            return Ok(changed);
        }
        let mut inner = self.inner();
        let changed = change(&inner.store, work)?;
        (inner.generation, inner.brain) = load(&inner.store)?;
        inner.cache = Cache::default();
        Ok(changed)
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

fn change(store: &Store, work: impl FnOnce(&Store, &mut Change<'_>) -> Result<()>) -> Result<Vec<Changed>> {
    let mut change = store.change()?;
    work(store, &mut change)?;
    change.commit(derive)
}

/// What judges now, and of which state of the store it is.
fn load(store: &Store) -> Result<(u64, Brain)> {
    let _moment = store.file().read_transaction()?;
    Ok((store.state()?.generation, Brain::load(store)?))
}

/// Derives what follows from messages that have changed.
fn derive(store: &Store, changed: &[Changed]) -> Result<()> {
    match store.method() {
        Method::Default if changed.is_empty() || changed.len() > MANY => derive_all(store, changed),
        Method::Default => derive_after(store, changed),
        Method::Classic => Ok(()),
    }
}

impl Brain {
    fn load(store: &Store) -> Result<Self> {
        Ok(match store.method() {
            Method::Default => Self::Default(Arc::new(Model::load(store.file())?)),
            Method::Classic => Self::Classic(Arc::new(Classic::load(store)?)),
        })
    }
}

/// The nearest messages in words, nearest first.
fn name_nearest(store: &Store, spam: Option<Nearest>, ham: Option<Nearest>) -> Result<Vec<Reason>> {
    let mut reasons = Vec::new();
    for (nearest, class) in [(spam, Verdict::Spam), (ham, Verdict::Ham)] {
        let Some(Nearest { fingerprint, similarity }) = nearest.filter(|nearest| nearest.similarity >= ALIKE)
        else {
            continue;
        };
        let subject = store.message(fingerprint)?.map(|learnt| learnt.subject).unwrap_or_default();
        reasons.push((similarity, Reason::Alike { class, subject, similarity }));
    }
    reasons.sort_by(|a, b| b.0.total_cmp(&a.0));
    Ok(reasons.into_iter().map(|(_, reason)| reason).collect())
}

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}
