//! The interface between a service and its store: a store on disk, or a substitute in tests.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{Filter, Judgement, Label, Learned, Policy, Result, Stats, Unlearned};

/// The operations that a service needs of a store.
pub trait Judge: Send + Sync + 'static {
    /// Judges a message, which may be any bytes.
    ///
    /// # Errors
    /// If the store is damaged.
    fn check(&self, message: &[u8]) -> Result<Judgement>;

    /// Learns a message.
    ///
    /// # Errors
    /// If the store is damaged or cannot be written.
    fn learn(&self, message: &[u8], label: &Label) -> Result<Learned>;

    /// Forgets a label of a message, or all of them.
    ///
    /// # Errors
    /// If the store is damaged or cannot be written.
    fn unlearn(&self, message: &[u8], label: Option<&Label>) -> Result<Unlearned>;

    /// Reads what other processes have learned since.
    ///
    /// # Errors
    /// If the store is damaged.
    fn refresh(&self) -> Result<()>;

    /// Returns counts of the store's content.
    ///
    /// # Errors
    /// If the store is damaged.
    fn stats(&self) -> Result<Stats>;
}

/// A store on disk, open for as long as the service runs.
pub struct OpenStore {
    folder: PathBuf,
    filter: Filter,
}

impl OpenStore {
    /// Opens the store in a folder.
    ///
    /// # Errors
    /// If there is no store, or it is damaged.
    pub fn open(folder: &Path) -> Result<Self> {
        Ok(Self { folder: folder.to_path_buf(), filter: Filter::open(folder)?.with_little_memory() })
    }

    /// Opens the store in a folder, or creates an empty one.
    ///
    /// # Errors
    /// If the store is damaged, or the folder cannot be written.
    pub fn open_or_create(folder: &Path) -> Result<Self> {
        Ok(Self {
            folder: folder.to_path_buf(),
            filter: Filter::open_or_create(folder)?.with_little_memory(),
        })
    }

    /// Sets the policy of verdicts. Its set fields take precedence over the policy of the store.
    ///
    /// # Errors
    /// The errors of [`Policy::check_for`] for the method of the store.
    pub fn with_policy(self, wanted: Policy) -> Result<Self> {
        Ok(Self { filter: self.filter.with_policy(wanted)?, ..self })
    }

    /// Sets the hosts whose `Authentication-Results` are trusted.
    #[must_use]
    pub fn with_trusted_hosts(self, trusted_hosts: Arc<[String]>) -> Self {
        Self { filter: self.filter.with_trusted_hosts(trusted_hosts), ..self }
    }
}

impl Judge for OpenStore {
    fn check(&self, message: &[u8]) -> Result<Judgement> {
        self.filter.check_arriving(message)
    }

    fn learn(&self, message: &[u8], label: &Label) -> Result<Learned> {
        self.filter.learn(message, label)
    }

    fn unlearn(&self, message: &[u8], label: Option<&Label>) -> Result<Unlearned> {
        self.filter.unlearn(message, label)
    }

    fn refresh(&self) -> Result<()> {
        self.filter.refresh()
    }

    /// Returns counts of the store's content. Counting reads every record, so it opens the store a
    /// second time. Checks continue meanwhile.
    fn stats(&self) -> Result<Stats> {
        Filter::open(&self.folder)?.stats()
    }
}
