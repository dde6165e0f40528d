//! A filter: an open store and what was derived from it.

use std::path::Path;

use crate::error::{Error, Result};
use crate::judgement::Judgement;
use crate::label::Label;

/// An open store with its model in memory. Share it behind an `Arc`: any number of threads check while one learns.
#[derive(Debug)]
pub struct Filter;

/// What learning a message did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Learned {
    /// It was new, or the label was.
    New,
    /// It had been learned so already: nothing changed.
    Already,
    /// It had been learned as the opposite: both were done at once.
    Moved,
}

/// What unlearning a message did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unlearned {
    /// It is as if it had never been learned.
    Removed,
    /// It had not been learned so: nothing changed.
    Unknown,
}

/// What a store holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stats {
    /// `default` or `classic`.
    pub method: String,
    /// Messages learned, each once.
    pub messages: u64,
    /// Of them learned as spam.
    pub spam: u64,
    /// Of them learned as ham.
    pub ham: u64,
    /// Messages of each label.
    pub labels: std::collections::BTreeMap<String, u64>,
    /// Different senders of learned messages.
    pub senders: u64,
    /// When the oldest mark was made, in milliseconds since 1970.
    pub oldest: Option<i64>,
    /// When the newest mark was made, in milliseconds since 1970.
    pub newest: Option<i64>,
    /// From which score on a message is spam.
    pub spam_threshold: f64,
    /// Up to which score a message is ham.
    pub ham_threshold: f64,
    /// The size of the store on disk.
    pub bytes: u64,
}

impl Filter {
    /// Opens the store in a folder.
    ///
    /// # Errors
    /// If there is none, or it is damaged.
    pub fn open(_dir: &Path) -> Result<Self> {
        Err(provisional())
    }

    /// Opens the store in a folder, or makes an empty one.
    ///
    /// # Errors
    /// If there is one that is damaged, or the folder cannot be written.
    pub fn open_or_create(_dir: &Path) -> Result<Self> {
        Err(provisional())
    }

    /// Brings the whole model into memory, for processes that check many messages.
    ///
    /// # Errors
    /// If the store is damaged.
    pub fn keep_in_memory(&self) -> Result<()> {
        Err(provisional())
    }

    /// Judges a message: any bytes.
    ///
    /// # Errors
    /// If the store is damaged.
    pub fn check(&self, _message: &[u8]) -> Result<Judgement> {
        Err(provisional())
    }

    /// Learns a message, and returns when that is on the disk.
    ///
    /// # Errors
    /// If the store is damaged or cannot be written: nothing is learned then.
    pub fn learn(&self, _message: &[u8], _label: &Label) -> Result<Learned> {
        Err(provisional())
    }

    /// Forgets that a message has a label, or everything about it.
    ///
    /// # Errors
    /// As [`learn`](Self::learn).
    pub fn unlearn(&self, _message: &[u8], _label: Option<&Label>) -> Result<Unlearned> {
        Err(provisional())
    }

    /// Takes notice of what another process has learned since.
    ///
    /// # Errors
    /// If the store is damaged.
    pub fn refresh(&self) -> Result<()> {
        Err(provisional())
    }

    /// What the store holds.
    ///
    /// # Errors
    /// If the store is damaged.
    pub fn stats(&self) -> Result<Stats> {
        Err(provisional())
    }
}

fn provisional() -> Error {
    Error::Unsuitable("the mail filter cannot do this yet".into())
}
