//! The store as checks see it: a connection that only reads, and what it has read before.
//!
//! Lessons have a connection of their own ([`super::writer`]), so that a check never waits for a
//! commit. The reader sees each commit at once, also those of other processes. Its cache belongs to
//! one snapshot, and is emptied when the snapshot is replaced.
//!
//! A server may have dozens of stores open. The cache holds what is read often in its decoded form,
//! so the connection keeps only few pages of the file.

use std::path::Path;

use crate::alike::{self, Signature, Signer};
use crate::cache::{Cache, Nearest};
use crate::error::Result;
use crate::message::Message;
use crate::store::Store;

/// How much of the file the connection keeps in memory, in KiB.
const PAGES_KEPT: u32 = 4096;

/// The connection that checks read through.
#[derive(Debug)]
pub(crate) struct StoreReader {
    store: Store,
    cache: Cache,
}

/// What a store says about one message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StoreEvidence {
    /// The most similar learned spam.
    pub(crate) nearest_spam: Option<Nearest>,
    /// The most similar learned ham.
    pub(crate) nearest_ham: Option<Nearest>,
    /// How often the sender was learned as spam and as ham; `None` if the message has no sender.
    pub(crate) sender: Option<(u32, u32)>,
    /// Whether this very message was learned as spam (true) or as ham (false); `None` if as
    /// neither.
    pub(crate) learned_as_spam: Option<bool>,
}

impl StoreReader {
    /// Opens the store in a folder for reading.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let store = Store::open(folder)?;
        store.file().set_cache(PAGES_KEPT)?;
        Ok(Self::of_unfinished_store(store))
    }

    /// Makes a reader of a store that is being made, through the connection that makes it.
    pub(crate) fn of_unfinished_store(store: Store) -> Self {
        Self { store, cache: Cache::default() }
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn into_store(self) -> Store {
        self.store
    }

    /// Returns true if the store has this generation, and no other file has taken its place.
    pub(crate) fn is_at(&self, generation: u64) -> Result<bool> {
        Ok(!self.store.is_replaced() && self.store.state()?.generation == generation)
    }

    /// Looks up what the store says about a message. `generation` is that of the snapshot by which
    /// the message is judged.
    pub(crate) fn look_up(
        &mut self,
        generation: u64,
        message: &Message,
        signature: Option<&Signature>,
        signer: &mut Signer,
    ) -> Result<StoreEvidence> {
        let (nearest_spam, nearest_ham) = match signature {
            Some(signature) => self.cache.nearest(&self.store, generation, signature, signer)?,
            None => (None, None),
        };
        let sender = match &message.sender {
            Some(sender) => Some(self.cache.sender(&self.store, sender)?),
            None => None,
        };
        // The fingerprint does not cover the headers that say how the body is read. So a message
        // with the fingerprint of a learned one may show another text.
        let learned = self.store.message(message.fingerprint)?;
        let learned = learned.filter(|learnt| alike::from_bytes(&learnt.signature).as_ref() == signature);
        let learned_as_spam = learned.and_then(|learnt| learnt.is_spam());
        Ok(StoreEvidence { nearest_spam, nearest_ham, sender, learned_as_spam })
    }

    /// Empties the cache, and opens the store in `folder` again if its file was replaced.
    pub(crate) fn renew(&mut self, folder: &Path) -> Result<()> {
        if self.store.is_replaced() {
            *self = Self::open(folder)?;
        }
        self.forget();
        Ok(())
    }

    /// Empties the cache.
    pub(crate) fn forget(&mut self) {
        self.cache = Cache::default();
    }
}
