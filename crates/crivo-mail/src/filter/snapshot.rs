//! A snapshot: everything in memory that decides about a message, all of one state of the store.
//!
//! A snapshot is never changed. A lesson loads a new one and then replaces the old one. A check
//! keeps the snapshot it began with until it ends, so that all of its parts belong together.
//!
//! Loading a snapshot reads megabytes of weights. So if there is an earlier snapshot of the same
//! store, the weights are taken from it, and only later steps are read.

use std::sync::Arc;

use crate::classic::{Classic, THRESHOLD};
use crate::error::Result;
use crate::judgement::Thresholds;
use crate::lists::Lists;
use crate::model::{Model, derive_after, derive_all};
use crate::policy::Policy;
use crate::store::{Changed, Method, Store};

/// With more changed messages than this, everything is derived anew.
const MANY: usize = 100;

/// The snapshot of a store, by the method of the store. A copy is cheap and shares everything.
#[derive(Debug, Clone)]
pub(crate) enum StoreSnapshot {
    Default(Arc<ModelSnapshot>),
    Classic(Arc<ClassicSnapshot>),
}

/// What the default method judges by.
#[derive(Debug, Clone)]
pub(crate) struct ModelSnapshot {
    /// The generation of the store that all of this belongs to.
    pub(crate) generation: u64,
    pub(crate) model: Arc<Model>,
    /// What the caller wants of verdicts.
    caller_policy: Policy,
    /// What the store's owner wants of verdicts. The caller's policy comes first.
    owner_policy: Policy,
    /// The senders about which the store's owner has decided.
    pub(crate) lists: Lists,
}

/// What the classic method judges by.
#[derive(Debug)]
pub(crate) struct ClassicSnapshot {
    generation: u64,
    /// What the store's owner wants of verdicts. The caller's policy comes first.
    owner_policy: Policy,
    pub(crate) classic: Arc<Classic>,
}

impl StoreSnapshot {
    /// Reads the snapshot of the last committed state. This is quick if `earlier` is of the same
    /// store.
    pub(crate) fn load(store: &Store, caller_policy: Policy, earlier: Option<&Self>) -> Result<Self> {
        let _moment = store.file().read_transaction()?;
        let generation = store.state()?.generation;
        Ok(match store.method() {
            Method::Default => Self::Default(Arc::new(ModelSnapshot {
                generation,
                model: Arc::new(Model::load(store.file(), earlier.and_then(Self::model))?),
                caller_policy,
                owner_policy: store.policy()?,
                lists: store.lists()?,
            })),
            Method::Classic => {
                let owner_policy = store.policy()?;
                let classic = Classic::load(store, classic_threshold(caller_policy.or(owner_policy)))?;
                Self::Classic(Arc::new(ClassicSnapshot {
                    generation,
                    owner_policy,
                    classic: Arc::new(classic),
                }))
            }
        })
    }

    /// Returns the same snapshot with another policy of the caller.
    ///
    /// # Errors
    /// If the method cannot judge by this policy.
    pub(crate) fn with_caller_policy(&self, caller_policy: Policy) -> Result<Self> {
        Ok(match self {
            Self::Default(snapshot) => {
                Self::Default(Arc::new(ModelSnapshot { caller_policy, ..ModelSnapshot::clone(snapshot) }))
            }
            Self::Classic(snapshot) => {
                let ClassicSnapshot { generation, owner_policy, classic } = &**snapshot;
                let threshold = classic_threshold(caller_policy.or(*owner_policy));
                let classic = Arc::new(classic.with_threshold(threshold)?);
                Self::Classic(Arc::new(ClassicSnapshot {
                    generation: *generation,
                    owner_policy: *owner_policy,
                    classic,
                }))
            }
        })
    }

    /// Returns the generation of the store that the snapshot was loaded from.
    pub(crate) fn generation(&self) -> u64 {
        match self {
            Self::Default(snapshot) => snapshot.generation,
            Self::Classic(snapshot) => snapshot.generation,
        }
    }

    /// Returns the model, unless the method is the classic one.
    fn model(&self) -> Option<&Model> {
        match self {
            Self::Default(snapshot) => Some(&snapshot.model),
            Self::Classic(_) => None,
        }
    }
}

impl ModelSnapshot {
    /// Returns the thresholds. The caller's wishes come first, then the owner's, then what was
    /// learned.
    pub(crate) fn thresholds(&self) -> Thresholds {
        self.model.head.limits.thresholds(&self.caller_policy.or(self.owner_policy))
    }

    /// Returns the number of messages whose label is so improbable that the thresholds ignore them.
    pub(crate) fn put_aside(&self) -> u64 {
        self.model.head.limits.put_aside.iter().sum()
    }
}

/// Returns the similarity from which mail is spam, by the classic method.
fn classic_threshold(policy: Policy) -> f64 {
    policy.spam_from.unwrap_or(THRESHOLD)
}

/// Derives what follows from changed messages, within the open transaction. This is quick for a few
/// messages if `earlier` is of the state before. If no messages are given as changed, everything is
/// derived anew.
pub(crate) fn derive(store: &Store, changed: &[Changed], earlier: Option<&StoreSnapshot>) -> Result<()> {
    match store.method() {
        Method::Default if changed.is_empty() || changed.len() > MANY => derive_all(store, changed),
        Method::Default => derive_after(store, changed, earlier.and_then(StoreSnapshot::model)),
        Method::Classic => Ok(()),
    }
}
