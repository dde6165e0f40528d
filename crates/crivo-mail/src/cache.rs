//! What a filter has read of its store and may need again.
//!
//! One check reads some thirty buckets; a process that checks many messages soon has all of them.
//! Each lesson empties the cache, which is then filled again as needed.

use crivo::hash::TableSecret;
use hashbrown::HashMap;

use crate::alike::{self, SHARING, Signature, Signer, closest, similarity};
use crate::error::Result;
use crate::model::buckets::{self, Posting, Reputation};
use crate::store::{Learnt, Store};

/// The most entries of the table of messages. Beyond that it is emptied and filled again.
const MESSAGES: usize = 1 << 20;

/// Buckets and messages.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    keys: Vec<Option<Box<[Posting]>>>,
    senders: Vec<Option<Box<[Reputation]>>>,
    /// By the first 32 bits of the messages' fingerprints.
    messages: HashMap<u32, Box<[CachedMessage]>, TableSecret>,
}

/// The parts of a learned message that a comparison needs.
#[derive(Debug)]
struct CachedMessage {
    fingerprint: u64,
    is_spam: bool,
    signature: Signature,
}

/// The nearest learned message of a class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Nearest {
    pub(crate) fingerprint: u64,
    pub(crate) similarity: f64,
}

impl Cache {
    /// Returns how often a sender was learned as spam and as ham.
    pub(crate) fn sender(&mut self, store: &Store, sender: &str) -> Result<(u32, u32)> {
        let (bucket, hash) = buckets::home_of_sender(sender);
        let found = slot(&mut self.senders, bucket, || buckets::reputations(store.file(), bucket))?;
        let at = found.binary_search_by_key(&hash, |(hash, ..)| *hash);
        Ok(at.map_or((0, 0), |at| (found[at].1, found[at].2)))
    }

    /// Returns the nearest learned spam and the nearest learned ham. `generation` is that of the
    /// state of the store which the cache was filled from.
    pub(crate) fn nearest(
        &mut self,
        store: &Store,
        generation: u64,
        signature: &Signature,
        signer: &mut Signer,
    ) -> Result<(Option<Nearest>, Option<Nearest>)> {
        let mut sharing: Vec<u32> = Vec::new();
        for &key in signer.keys(signature)? {
            let (bucket, tag) = buckets::home_of_key(key);
            let postings = slot(&mut self.keys, bucket, || buckets::postings(store.file(), bucket))?;
            let start = postings.partition_point(|(other, _)| *other < tag);
            let same = postings[start..].iter().take_while(|(other, _)| *other == tag).take(SHARING);
            sharing.extend(same.map(|(_, message)| *message));
        }
        let (mut spam, mut ham) = (None, None);
        for head in closest(sharing) {
            let alike = self.messages(store, head)?;
            // Another process may have unlearned the message since. In the same state it must be
            // there.
            if alike.is_empty() && store.state()?.generation == generation {
                let what = format_args!("message {head:x}… has keys, but is not there");
                return Err(store.file().damaged(what));
            }
            for message in alike {
                let nearest: &mut Option<Nearest> = if message.is_spam { &mut spam } else { &mut ham };
                let similarity = similarity(signature, &message.signature);
                if nearest.is_none_or(|nearest| similarity > nearest.similarity) {
                    *nearest = Some(Nearest { fingerprint: message.fingerprint, similarity });
                }
            }
        }
        Ok((spam, ham))
    }

    /// Returns the messages with a signature whose fingerprints begin with `head`.
    fn messages(&mut self, store: &Store, head: u32) -> Result<&[CachedMessage]> {
        if self.messages.len() > MESSAGES {
            self.messages.clear();
        }
        if !self.messages.contains_key(&head) {
            let cached = |(fingerprint, learnt): (u64, Learnt)| {
                let (is_spam, signature) = (learnt.is_spam()?, alike::from_bytes(&learnt.signature)?);
                Some(CachedMessage { fingerprint, is_spam, signature })
            };
            let found = store.messages_of(head)?.into_iter().filter_map(cached).collect();
            self.messages.insert(head, found);
        }
        Ok(self.messages.get(&head).map(|found| &**found).unwrap_or_default())
    }
}

/// Returns a bucket, which is read at its first use.
fn slot<T>(
    slots: &mut Vec<Option<Box<[T]>>>,
    at: u32,
    read: impl FnOnce() -> Result<Vec<T>>,
) -> Result<&[T]> {
    let at = at as usize;
    if slots.len() <= at {
        slots.resize_with(at + 1, || None);
    }
    if slots[at].is_none() {
        slots[at] = Some(read()?.into_boxed_slice());
    }
    Ok(slots[at].as_deref().unwrap_or_default())
}
