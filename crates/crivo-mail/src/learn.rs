//! Learning one message or many, and taking lessons back.
//!
//! What is learned goes to the set of messages ([`crate::store`]) in one transaction, together with
//! what follows from it ([`crate::model`]). Messages are read before the transaction begins, as far
//! as they fit into memory, because no other process can write during it.

use std::collections::HashMap;

use crate::alike;
use crate::classic::Classic;
use crate::error::{Error, Result};
use crate::filter::{Filter, now};
use crate::judgement::Verdict;
use crate::label::Label;
use crate::message::Message;
use crate::store::{Learnt, Method, encode_features};

/// The number of characters that are kept of a subject.
const SUBJECT: usize = 100;

/// The number of bytes of features that a long training puts into the store at once, sorted by
/// fingerprint: those of some 120,000 messages. A table that is filled in the order of its keys has
/// full pages; one that is filled out of order has not. The fit that follows takes more memory than
/// this.
const AT_ONCE: usize = 256 << 20;

/// What learning a message did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Learned {
    /// It was new, or the label was.
    New,
    /// It had been learned so already: nothing changed, unless its text is read differently now.
    Already,
    /// It had been learned as the opposite: both were done at once.
    Moved,
}

/// What unlearning a message did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unlearned {
    /// The label was taken away, or the whole message was forgotten.
    Removed,
    /// There was nothing to take away: nothing changed.
    Unknown,
}

/// What learning a message did, and whether the filter would have said the opposite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lesson {
    /// What learning it did.
    pub learned: Learned,
    /// The score, if the filter was sure of the opposite before it learned.
    pub contradicted: Option<f64>,
}

/// What training did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Trained {
    /// Messages that were read.
    pub read: u64,
    /// The number of them that were new, or had a new label.
    pub learned: u64,
    /// The number of them that had the label already.
    pub already: u64,
}

/// A message that is ready to be stored, with its new label.
struct Prepared {
    fingerprint: u64,
    label: Label,
    new: Learnt,
    features: Vec<u8>,
}

impl Filter {
    /// Learns a message, and returns when the lesson is on the disk.
    ///
    /// # Errors
    /// If the store is damaged or cannot be written: nothing is learned then.
    pub fn learn(&self, message: &[u8], label: &Label) -> Result<Learned> {
        let message = Message::read(message);
        let (new, features) = self.prepare(self.method(), &message)?;
        let mut outcome = Learned::New;
        self.change_store(|_, change| {
            let next = |before: Option<&Learnt>| {
                outcome = match before {
                    Some(before) if before.has(label) => Learned::Already,
                    Some(before) if label.is_class() && before.is_spam().is_some() => Learned::Moved,
                    _ => Learned::New,
                };
                Some(before.cloned().unwrap_or_default().with_content_of(new).marked(label, now()))
            };
            change.update(message.fingerprint, next, || Ok(features))
        })?;
        Ok(outcome)
    }

    /// Learns as [`learn`](Self::learn) does, and says if the filter was sure of the opposite. Then
    /// the mistake is the filter's, or the teacher's.
    ///
    /// # Errors
    /// As [`learn`](Self::learn).
    pub fn teach(&self, message: &[u8], label: &Label) -> Result<Lesson> {
        let (verdict, score) = self.verdict(&Message::read(message))?;
        let learned = self.learn(message, label)?;
        let opposite = matches!((label, verdict), (Label::Spam, Verdict::Ham) | (Label::Ham, Verdict::Spam));
        // A message that is moved contradicts its earlier label, so that is not reported.
        Ok(Lesson { learned, contradicted: (opposite && learned == Learned::New).then_some(score) })
    }

    /// Takes a label from a message, or forgets everything about it if no label is given.
    ///
    /// # Errors
    /// As [`learn`](Self::learn).
    pub fn unlearn(&self, message: &[u8], label: Option<&Label>) -> Result<Unlearned> {
        let fingerprint = Message::read(message).fingerprint;
        let changed = self.change_store(|_, change| {
            let rest = |before: Option<&Learnt>| before.cloned()?.unmarked(label);
            change.update(fingerprint, rest, || Ok(Vec::new()))
        })?;
        Ok(if changed.is_empty() { Unlearned::Unknown } else { Unlearned::Removed })
    }

    /// Learns many messages in one transaction: all of them, or none.
    ///
    /// # Errors
    /// As [`learn`](Self::learn), if a message cannot be read, or if one is given as spam and as
    /// ham.
    pub fn train(&self, mail: impl IntoIterator<Item = Result<(Vec<u8>, Label)>>) -> Result<Trained> {
        let (mut trained, time, method) = (Trained::default(), now(), self.method());
        let mut mail = mail.into_iter();
        let mut batch = self.prepare_some(method, &mut mail)?;
        let mut classes = HashMap::new();
        self.change_store(|_, change| {
            while !batch.is_empty() {
                for Prepared { fingerprint, label, new, features } in std::mem::take(&mut batch) {
                    trained.read += 1;
                    if label.is_class()
                        && *classes.entry(fingerprint).or_insert(label == Label::Spam)
                            != (label == Label::Spam)
                    {
                        return Err(given_as_both(&new));
                    }
                    let next = |before: Option<&Learnt>| {
                        let already = before.is_some_and(|before| before.has(&label));
                        *(if already { &mut trained.already } else { &mut trained.learned }) += 1;
                        Some(before.cloned().unwrap_or_default().with_content_of(new).marked(&label, time))
                    };
                    change.update(fingerprint, next, || Ok(features))?;
                }
                batch = self.prepare_some(method, &mut mail)?;
            }
            Ok(())
        })?;
        Ok(trained)
    }

    /// Prepares the next messages, and returns them sorted by fingerprint.
    fn prepare_some(
        &self,
        method: Method,
        mail: &mut impl Iterator<Item = Result<(Vec<u8>, Label)>>,
    ) -> Result<Vec<Prepared>> {
        let (mut batch, mut size) = (Vec::new(), 0);
        while size < AT_ONCE
            && let Some(next) = mail.next()
        {
            let (bytes, label) = next?;
            let message = Message::read(&bytes);
            let (new, features) = self.prepare(method, &message)?;
            size += features.len().max(new.signature.len());
            batch.push(Prepared { fingerprint: message.fingerprint, label, new, features });
        }
        batch.sort_by_key(|prepared| prepared.fingerprint as i64);
        Ok(batch)
    }

    /// Returns what is stored of a message: its record without marks, and its features.
    pub(crate) fn prepare(&self, method: Method, message: &Message) -> Result<(Learnt, Vec<u8>)> {
        let (signature, features) = match method {
            Method::Default => self.buffers.lend(|buffers| {
                let signature = buffers.signer.sign(message)?;
                let features = encode_features(buffers.featurizer.features(message));
                Ok((signature.map(|signature| alike::to_bytes(&signature)).unwrap_or_default(), features))
            })?,
            Method::Classic => (Classic::sign(message)?, Vec::new()),
        };
        let subject: String = message.subject.chars().filter(|c| !c.is_control()).take(SUBJECT).collect();
        let sender = message.sender.clone();
        Ok((Learnt { marks: Vec::new(), sender, subject, signature }, features))
    }
}

/// Returns the error that one message is given as spam and as ham in one training.
fn given_as_both(message: &Learnt) -> Error {
    let from = message.sender.as_deref().map(|sender| format!(" from {sender}")).unwrap_or_default();
    Error::Unsuitable(format!(
        "the message {:?}{from} is given as spam and as ham: remove it from one of them; nothing was learned",
        message.subject.trim()
    ))
}
