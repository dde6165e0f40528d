//! Which learned message says nearly the same?
//!
//! A message's words, three at a time, become a signature of 128 slots (MinHash): the share of slots that two have in common
//! estimates the share of word triples they have in common, to ±4 % where it matters. Half of the slots, two by
//! two, give 32 keys; messages that share a key are worth comparing. At a similarity of 0.2 three of four pairs
//! meet, at 0.5 all but one of ten thousand.
//!
//! A slot is kept in 16 bits: different ones are then equal once in 65,536 times, far below the error. A
//! message with fewer than three words has no signature, and is like nothing.

use crivo::Result;
use crivo::similarity::Bands;
use crivo::similarity::min_hash::{compact, sign};
use crivo::similarity::shingle::{Shingler, Shingles};

use crate::message::Message;

/// How many slots a signature has.
pub(crate) const SLOTS: usize = 128;

/// How many keys a signature has.
pub(crate) const KEYS: u32 = 32;

/// What is left of a message's words.
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

    /// The signature of a message; none if it has fewer than three words.
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

    /// The keys of a signature.
    pub(crate) fn keys(&mut self, signature: &Signature) -> Result<&[u64]> {
        let slots = signature.map(u64::from);
        self.bands.keys(&slots[..self.bands.slots() as usize], &mut self.keys)?;
        Ok(&self.keys)
    }
}

/// The share of slots that two signatures have in common.
pub(crate) fn similarity(one: &Signature, other: &Signature) -> f64 {
    let equal: u32 = one.iter().zip(other).map(|(a, b)| u32::from(a == b)).sum();
    f64::from(equal) / SLOTS as f64
}

/// A signature in bytes.
pub(crate) fn to_bytes(signature: &Signature) -> Vec<u8> {
    signature.iter().flat_map(|slot| slot.to_le_bytes()).collect()
}

/// A signature of bytes; none if they are not as many as they should be.
pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Signature> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let slots: Vec<u16> = pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
    if rest.is_empty() { slots.try_into().ok() } else { None }
}

/// How many messages of one key are looked at: those of a mass mailing are all alike.
pub(crate) const SHARING: usize = 64;

/// How many candidates are compared.
const COMPARED: usize = 24;

/// Of the messages that share keys with one, given once for each key: those that share most.
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
    /// For each number of a key, all members by that key of theirs. The last one of those that share it is marked.
    sharing: Vec<u32>,
    /// For each number of a key and each member, where those begin that share it.
    starts: Vec<u32>,
}

/// For this number of keys of each member at a time it is found out who shares them.
const AT_ONCE: usize = 8;

/// Marks the last member that has a key.
const LAST: u32 = 1 << 31;

impl<'a> Crowd<'a> {
    /// The signatures, each with whether it is spam.
    pub(crate) fn new(members: Vec<(&'a Signature, bool)>, signer: &mut Signer) -> Result<Self> {
        const { assert!((KEYS as usize).is_multiple_of(AT_ONCE)) };
        let (count, each) = (members.len(), members.len() * KEYS as usize);
        let mut crowd = Self { members, sharing: Vec::with_capacity(each), starts: vec![0; each] };
        // Some numbers at a time, because all keys take more memory than what comes of them.
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

    /// The members that share a key with one, itself included: as many of them as are looked at.
    fn sharing_from(&self, start: u32) -> impl Iterator<Item = u32> {
        let from = &self.sharing[start as usize..];
        let end = from.iter().take(SHARING).position(|at| at & LAST != 0).map_or(SHARING, |last| last + 1);
        from.iter().take(end).map(|at| at & !LAST)
    }

    /// How much a member is like the nearest spam and the nearest ham among the others.
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
