//! Which learned message says nearly the same?
//!
//! A message's words, three at a time, become a signature of 128 slots (MinHash). The share of
//! slots that two signatures have in common estimates the share of word triples that their messages
//! have in common, to ±4 % where it matters. Half of the slots, two by two, give 32 keys; messages
//! that share a key are candidates for a comparison. At a similarity of 0.2 three of four pairs
//! share a key, at 0.5 all but one of ten thousand.
//!
//! A slot is kept in 16 bits. So distinct values become equal once in 65,536 times, far below the
//! error. A message with fewer than three words has no signature, and is similar to nothing.

use crivo::Result;
use crivo::similarity::Bands;
use crivo::similarity::min_hash::{compact, sign};
use crivo::similarity::shingle::{Shingler, Shingles};

use crate::message::Message;

/// How many slots a signature has.
pub(crate) const SLOTS: usize = 128;

/// How many keys a signature has.
pub(crate) const KEYS: u32 = 32;

/// A message's words as MinHash slots.
pub(crate) type Signature = [u16; SLOTS];

/// Makes signatures, in buffers it keeps.
#[derive(Debug, Clone)]
pub(crate) struct Signer {
    shingler: Shingler,
    bands: Bands,
    text: String,
    keys: Vec<u64>,
}

impl Signer {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self {
            shingler: Shingler::new(Shingles::words(3)?),
            bands: Bands::new(KEYS, 2)?,
            text: String::new(),
            keys: Vec::new(),
        })
    }

    /// Returns the signature of a message, or `None` if it has fewer than three words.
    pub(crate) fn sign(&mut self, message: &Message) -> Result<Option<Signature>> {
        self.text.clear();
        self.text.push_str(&message.subject);
        self.text.push('\n');
        self.text.push_str(&message.text);
        let shingles = self.shingler.shingles(self.text.as_bytes());
        if shingles.is_empty() {
            return Ok(None);
        }
        let (mut slots, mut short) = ([0_u64; SLOTS], [0_u32; SLOTS]);
        sign(shingles, &mut slots)?;
        compact(&slots, &mut short);
        Ok(Some(short.map(|slot| (slot >> 16) as u16)))
    }

    /// Returns the keys of a signature.
    pub(crate) fn keys(&mut self, signature: &Signature) -> Result<&[u64]> {
        let slots = signature.map(u64::from);
        self.bands.keys(&slots[..self.bands.slots() as usize], &mut self.keys)?;
        Ok(&self.keys)
    }
}

/// Returns the share of slots that two signatures have in common.
pub(crate) fn similarity(one: &Signature, other: &Signature) -> f64 {
    let equal: u32 = one.iter().zip(other).map(|(a, b)| u32::from(a == b)).sum();
    f64::from(equal) / SLOTS as f64
}

/// Encodes a signature as bytes.
pub(crate) fn to_bytes(signature: &Signature) -> Vec<u8> {
    signature.iter().flat_map(|slot| slot.to_le_bytes()).collect()
}

/// Decodes a signature. Returns `None` if the number of bytes is wrong.
pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Signature> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let slots: Vec<u16> = pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
    if rest.is_empty() { slots.try_into().ok() } else { None }
}

/// The most messages of one key that become candidates. More are not needed, because the messages
/// of a mass mailing are all alike.
pub(crate) const SHARING: usize = 64;

/// The most candidates that are compared.
const COMPARED: usize = 24;

/// Returns the messages that share most keys with one message. `sharing` has a message once for
/// each shared key.
pub(crate) fn closest(mut sharing: Vec<u32>) -> Vec<u32> {
    sharing.sort_unstable();
    let mut counted: Vec<(usize, u32)> =
        sharing.chunk_by(|a, b| a == b).map(|same| (same.len(), same[0])).collect();
    counted.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    counted.truncate(COMPARED);
    counted.into_iter().map(|(_, message)| message).collect()
}

/// Many signatures in memory, to compare each with the others.
#[derive(Debug, Default)]
pub(crate) struct Crowd<'a> {
    members: Vec<(&'a Signature, bool)>,
    /// For each key number, all members sorted by their key of that number. The last member of each
    /// group with the same key is marked.
    sharing: Vec<u32>,
    /// For each key number and each member, where its group begins in `sharing`.
    starts: Vec<u32>,
}

/// The number of keys of each member that are grouped at a time.
const AT_ONCE: usize = 8;

/// Marks the last member of a group with the same key.
const LAST: u32 = 1 << 31;

impl<'a> Crowd<'a> {
    /// Groups signatures by their keys. Each is given with whether it is spam.
    pub(crate) fn new(members: Vec<(&'a Signature, bool)>, signer: &mut Signer) -> Result<Self> {
        const { assert!((KEYS as usize).is_multiple_of(AT_ONCE)) };
        let (count, each) = (members.len(), members.len() * KEYS as usize);
        let mut crowd = Self { members, sharing: Vec::with_capacity(each), starts: vec![0; each] };
        // A few key numbers at a time, because all keys at once take more memory than the groups.
        let (mut some, mut keys) = (Vec::with_capacity(count * AT_ONCE), Vec::with_capacity(count));
        for first in (0..KEYS as usize).step_by(AT_ONCE) {
            some.clear();
            for (signature, _) in &crowd.members {
                some.extend_from_slice(&signer.keys(signature)?[first..first + AT_ONCE]);
            }
            for number in 0..AT_ONCE {
                keys.clear();
                keys.extend(some.iter().skip(number).step_by(AT_ONCE).copied().zip(0_u32..));
                keys.sort_unstable();
                let starts = &mut crowd.starts[(first + number) * count..][..count];
                for group in keys.chunk_by(|(one, _), (other, _)| one == other) {
                    let start = crowd.sharing.len() as u32;
                    for &(_, at) in group {
                        starts[at as usize] = start;
                        crowd.sharing.push(at);
                    }
                    if let Some(last) = crowd.sharing.last_mut() {
                        *last |= LAST;
                    }
                }
            }
        }
        Ok(crowd)
    }

    /// Returns the members of a group, the asking member included, up to [`SHARING`].
    fn sharing_from(&self, start: u32) -> impl Iterator<Item = u32> {
        let from = &self.sharing[start as usize..];
        let end = from.iter().take(SHARING).position(|at| at & LAST != 0).map_or(SHARING, |last| last + 1);
        from.iter().take(end).map(|at| at & !LAST)
    }

    /// Returns the similarities of a member to the nearest spam and to the nearest ham among the
    /// others.
    pub(crate) fn nearest_of(&self, member: usize) -> (f64, f64) {
        let (signature, _) = &self.members[member];
        let mut sharing = Vec::new();
        for starts in self.starts.chunks(self.members.len()) {
            sharing.extend(self.sharing_from(starts[member]).filter(|at| *at as usize != member));
        }
        let (mut like_spam, mut like_ham) = (0.0_f64, 0.0_f64);
        for other in closest(sharing) {
            let (other, is_spam) = &self.members[other as usize];
            let nearest = if *is_spam { &mut like_spam } else { &mut like_ham };
            *nearest = nearest.max(similarity(signature, other));
        }
        (like_spam, like_ham)
    }
}
