//! Two tables of buckets: messages by the keys of their signatures, and counts by sender.
//!
//! Each bucket is a record with a checksum. All buckets are always stored. So if a key is not in
//! its bucket, no message has the key, because the bucket was read and its checksum is right. A
//! check of one message reads 33 buckets and nothing else.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::xxh3_64;

use super::place::{Kind, place, range};
use crate::error::Result;
use crate::store::{Bytes, File, Table};

/// The number of buckets of signature keys.
pub(super) const KEY_BUCKETS: u32 = 4096;

/// The number of buckets of senders.
pub(super) const SENDER_BUCKETS: u32 = 1024;

/// A key as it is stored, and the first 32 bits of the fingerprint of the message that has it.
/// Messages with the same 32 bits share a posting. The comparison of signatures then tells them
/// apart.
pub(crate) type Posting = (u32, u32);

/// A sender's hash, and how often it was learned as spam and as ham.
pub(crate) type Reputation = (u64, u32, u32);

/// Returns the bucket of a key, and the part of the key that is stored in it.
pub(crate) fn home_of_key(key: u64) -> (u32, u32) {
    ((key >> 52) as u32 % KEY_BUCKETS, key as u32)
}

/// Returns the hash under which a sender is stored.
pub(super) fn hash_of_sender(sender: &str) -> u64 {
    xxh3_64(sender.as_bytes())
}

/// Returns the bucket of a sender, and the sender's hash.
pub(crate) fn home_of_sender(sender: &str) -> (u32, u64) {
    let hash = hash_of_sender(sender);
    (bucket_of_sender(hash), hash)
}

fn bucket_of_sender(hash: u64) -> u32 {
    (hash >> 54) as u32 % SENDER_BUCKETS
}

/// Returns the first 32 bits of a fingerprint.
pub(crate) fn head_of(fingerprint: u64) -> u32 {
    (fingerprint >> 32) as u32
}

/// Returns the postings of a bucket, in ascending order.
pub(crate) fn postings(file: &File, bucket: u32) -> Result<Vec<Posting>> {
    match file.get(Table::Derived, place(Kind::Keys, 0, bucket), decode_postings)? {
        Some(postings) => Ok(postings),
        None => file.need(Table::Derived, place(Kind::OldKeys, 0, bucket), decode_old_postings),
    }
}

/// Decodes postings: each is the step from the key before in seven bits a byte, then the bits of
/// the message.
fn decode_postings(record: &[u8]) -> Option<Vec<Posting>> {
    let (mut bytes, mut postings, mut key) = (Bytes(record), Vec::with_capacity(record.len() / 6), 0_u32);
    while !bytes.0.is_empty() {
        let (mut step, mut shift) = (0_u32, 0);
        loop {
            let [byte] = bytes.array()?;
            step |= u32::from(byte & 0x7F).checked_shl(shift)?;
            shift += 7;
            if byte < 0x80 {
                break;
            }
        }
        key = key.checked_add(step)?;
        postings.push((key, u32::from_le_bytes(bytes.array()?)));
    }
    Some(postings)
}

/// Decodes postings of stores of version 2, which have whole fingerprints and no steps.
fn decode_old_postings(record: &[u8]) -> Option<Vec<Posting>> {
    let mut bytes = Bytes(record);
    let mut postings = Vec::with_capacity(record.len() / 12);
    while !bytes.0.is_empty() {
        postings.push((u32::from_le_bytes(bytes.array()?), head_of(bytes.u64()?)));
    }
    postings.sort_unstable();
    Some(postings)
}

fn encode_postings(postings: &[Posting]) -> Vec<u8> {
    let (mut record, mut last) = (Vec::with_capacity(postings.len() * 7 + 8), 0);
    for &(key, message) in postings {
        let mut step = key - last;
        last = key;
        while step >= 0x80 {
            record.push(step as u8 | 0x80);
            step >>= 7;
        }
        record.push(step as u8);
        record.extend_from_slice(&message.to_le_bytes());
    }
    record
}

fn put_postings(file: &File, bucket: u32, postings: &mut Vec<Posting>) -> Result<()> {
    postings.sort_unstable();
    postings.dedup();
    file.put(Table::Derived, place(Kind::Keys, 0, bucket), encode_postings(postings))
}

pub(crate) fn reputations(file: &File, bucket: u32) -> Result<Vec<Reputation>> {
    file.need(Table::Derived, place(Kind::Senders, 0, bucket), |record| {
        let mut bytes = Bytes(record);
        let mut found = Vec::with_capacity(record.len() / 16);
        while !bytes.0.is_empty() {
            found.push((
                bytes.u64()?,
                u32::from_le_bytes(bytes.array()?),
                u32::from_le_bytes(bytes.array()?),
            ));
        }
        Some(found)
    })
}

fn put_reputations(file: &File, bucket: u32, found: &[Reputation]) -> Result<()> {
    let mut record = Vec::with_capacity(found.len() * 16 + 8);
    for (hash, spam, ham) in found {
        record.extend_from_slice(&hash.to_le_bytes());
        record.extend_from_slice(&spam.to_le_bytes());
        record.extend_from_slice(&ham.to_le_bytes());
    }
    file.put(Table::Derived, place(Kind::Senders, 0, bucket), record)
}

/// Changes to the buckets: the keys and senders of messages that are added or removed. All are in
/// two lists, because thousands of small lists would stay with the process after they are freed.
#[derive(Debug, Default)]
pub(super) struct Filling {
    keys: Vec<(u32, Posting, bool)>,
    senders: Vec<(u32, SenderChange)>,
}

/// A sender's hash, whether the message is spam, and whether it is added rather than removed.
type SenderChange = (u64, bool, bool);

impl Filling {
    /// Adds or removes a message with these keys.
    pub(super) fn keys(&mut self, message: u64, keys: &[u64], comes: bool) {
        for &key in keys {
            let (bucket, tag) = home_of_key(key);
            self.keys.push((bucket, (tag, head_of(message)), comes));
        }
    }

    /// Adds or removes a message of this sender, given by its hash.
    pub(super) fn sender(&mut self, hash: u64, is_spam: bool, comes: bool) {
        self.senders.push((bucket_of_sender(hash), (hash, is_spam, comes)));
    }

    /// Sorts the changes by bucket. Changes of one bucket keep their order.
    fn sort(&mut self) {
        self.keys.sort_by_key(|(bucket, ..)| *bucket);
        self.senders.sort_by_key(|(bucket, _)| *bucket);
    }

    /// Writes all buckets anew, from these changes alone.
    pub(super) fn write_all(mut self, file: &File) -> Result<()> {
        self.sort();
        let (first, last) = range(Kind::OldKeys, 0);
        file.remove_range(Table::Derived, first, last)?;
        let mut rest = self.keys.as_slice();
        for bucket in 0..KEY_BUCKETS {
            let (new, others) = rest.split_at(rest.partition_point(|(of, ..)| *of <= bucket));
            rest = others;
            put_postings(file, bucket, &mut new.iter().map(|(_, posting, _)| *posting).collect())?;
        }
        let mut rest = self.senders.as_slice();
        for bucket in 0..SENDER_BUCKETS {
            let (new, others) = rest.split_at(rest.partition_point(|(of, _)| *of <= bucket));
            rest = others;
            put_reputations(file, bucket, &counted(Vec::new(), new))?;
        }
        Ok(())
    }

    /// Writes the buckets that change.
    pub(super) fn write_changes(mut self, file: &File) -> Result<()> {
        self.sort();
        for changes in self.keys.chunk_by(|(one, ..), (other, ..)| one == other) {
            let (bucket, ..) = changes[0];
            let mut all = postings(file, bucket)?;
            for &(_, posting, comes) in changes {
                if comes {
                    all.push(posting);
                } else {
                    all.retain(|found| *found != posting);
                }
            }
            put_postings(file, bucket, &mut all)?;
        }
        for changes in self.senders.chunk_by(|(one, _), (other, _)| one == other) {
            let (bucket, _) = changes[0];
            let counts = counted(reputations(file, bucket)?, changes);
            put_reputations(file, bucket, &counts)?;
        }
        Ok(())
    }
}

/// Returns the counts after the changes, sorted by hash. Counts that are zero are left out.
fn counted(before: Vec<Reputation>, changes: &[(u32, SenderChange)]) -> Vec<Reputation> {
    let mut counts: BTreeMap<u64, (u32, u32)> =
        before.into_iter().map(|(hash, spam, ham)| (hash, (spam, ham))).collect();
    for &(_, (hash, is_spam, comes)) in changes {
        let (spam, ham) = counts.entry(hash).or_default();
        let count = if is_spam { spam } else { ham };
        *count = if comes { count.saturating_add(1) } else { count.saturating_sub(1) };
    }
    counts
        .into_iter()
        .filter(|(_, counts)| *counts != (0, 0))
        .map(|(hash, (spam, ham))| (hash, spam, ham))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn postings_come_back_in_both_forms(postings in prop::collection::btree_set(any::<(u32, u32)>(), 0..100)) {
            let postings: Vec<Posting> = postings.into_iter().collect();
            prop_assert_eq!(decode_postings(&encode_postings(&postings)), Some(postings.clone()));
            let old: Vec<u8> = postings
                .iter()
                .flat_map(|(key, head)| key.to_le_bytes().into_iter().chain((u64::from(*head) << 32 | 7).to_le_bytes()))
                .collect();
            prop_assert_eq!(decode_old_postings(&old), Some(postings));
        }

        #[test]
        fn any_bytes_are_postings_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            if let Some(postings) = decode_postings(&bytes) {
                prop_assert!(postings.is_sorted_by_key(|(key, _)| *key));
            }
        }
    }
}
