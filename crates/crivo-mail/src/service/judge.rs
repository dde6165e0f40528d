//! Who judges? A store on disk, or in tests whatever a test makes up.

use crate::{Filter, Judgement, Label, Learned, Result, Stats, Unlearned};

/// What a service needs of a store. [`Filter`] is the one that counts.
pub trait Judge: Send + Sync + 'static {
    /// Judges a message: any bytes.
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

    /// Takes notice of what other processes have learned.
    ///
    /// # Errors
    /// If the store is damaged.
    fn refresh(&self) -> Result<()>;

    /// What the store holds.
    ///
    /// # Errors
    /// If the store is damaged.
    fn stats(&self) -> Result<Stats>;
}

impl Judge for Filter {
    fn check(&self, message: &[u8]) -> Result<Judgement> {
        self.check(message)
    }

    fn learn(&self, message: &[u8], label: &Label) -> Result<Learned> {
        self.learn(message, label)
    }

    fn unlearn(&self, message: &[u8], label: Option<&Label>) -> Result<Unlearned> {
        self.unlearn(message, label)
    }

    fn refresh(&self) -> Result<()> {
        self.refresh()
    }

    fn stats(&self) -> Result<Stats> {
        self.stats()
    }
}
