//! The properties that all groups of a container share, and single groups as bytes.
//!
//! A packed group is a record of its own: it can be written to a file, read again, and merged with
//! other records of the same group. So groups that do not fit in memory are sorted runs of records,
//! which are merged one group at a time.

use alloc::borrow::Cow;
use std::cmp::Ordering;

use super::few::Blocks;
use crate::codec::{Header, open};
use crate::error::{Error, Result};
use crate::estimate::Estimate;
use crate::keys::{KeyScheme, hash_bytes};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::Cardinality;
use crate::window::Pane;

/// The sketch that every group begins as, and how many fields the key of a group has.
#[derive(Debug, Clone)]
pub struct GroupKind<S> {
    empty: Box<S>,
    fields: u8,
    header: Header,
    /// The most hashes of a group that is not a sketch yet. 0 if the sketch is not one of a set of
    /// hashes.
    most_few: usize,
    /// Up to this many different keys, the sketch's count is exact.
    exact_up_to: u64,
}

/// The content of one group.
#[derive(Debug, Clone, PartialEq)]
pub enum GroupSketch<S> {
    /// The hashes of a small group, in any order, possibly with repetitions.
    Few(Vec<u64>),
    /// The sketch.
    Sketch(S),
}

/// The number of bytes before a payload in an envelope, and after it.
const HEADER_LEN: usize = 28;
const CHECKSUM_LEN: usize = 4;

impl<S: Pane> GroupKind<S> {
    /// Creates the kind of groups that begin as the sketch `empty`.
    ///
    /// # Errors
    /// If there is no field, if the sketch is not empty, if it is a container itself, or if it keeps
    /// a history.
    pub fn new(mut empty: S, fields: u8) -> Result<Self> {
        if fields == 0 {
            return Err(Error::parameter("fields", "1 to 255", fields));
        }
        if !empty.is_empty() {
            return Err(Error::parameter("sketch of a group", "an empty one", "one with items"));
        }
        if let Some(expected) = empty.family().expected_of_part() {
            return Err(Error::parameter("sketch of a group", expected, empty.family()));
        }
        // A history is a count from the order of the items. A small group keeps its hashes sorted,
        // and a merge of groups ends a history anyway.
        if empty.summary().parameters.iter().any(|(name, _)| *name == "history") {
            let expected = "one without a history, because groups do not keep the order of their items";
            return Err(Error::parameter("sketch of a group", expected, "one that keeps a history"));
        }
        let is_set = empty.takes_hashes().is_some() && empty.answers_cardinality().is_some();
        let most_few =
            if is_set { (empty.full_memory() / size_of::<u64>()).clamp(2, Blocks::MOST) } else { 0 };
        let exact_up_to = empty.answers_cardinality().map_or(0, Cardinality::exact_up_to);
        let bytes = empty.to_bytes();
        let (header, _) = open(&bytes)?;
        Ok(Self { empty: Box::new(empty), fields, header, most_few, exact_up_to })
    }

    /// Returns the sketch that every group begins as.
    pub fn empty(&self) -> &S {
        &self.empty
    }

    /// Returns the number of values in the key of a group.
    pub fn fields(&self) -> u8 {
        self.fields
    }

    /// Returns how the keys of groups are hashed: as bytes, with the seed of the sketches.
    pub fn group_scheme(&self) -> KeyScheme {
        KeyScheme::bytes().with_seed(self.header.scheme.seed())
    }

    /// Returns true if the sketch counts different keys, so that the hashes of a group are enough.
    pub fn is_set(&self) -> bool {
        self.most_few > 0
    }

    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    pub(super) fn most_few(&self) -> usize {
        self.most_few
    }

    /// Returns the hash that decides where a group is stored.
    pub fn hash(&self, group: &[u8]) -> u64 {
        hash_bytes(group, self.header.scheme.seed())
    }

    /// Returns the order in which two groups are stored.
    pub fn order(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.hash(a).cmp(&self.hash(b)).then_with(|| a.cmp(b))
    }

    pub(super) fn reseed(&mut self, part: u64) {
        self.empty.reseed(part);
    }

    pub(super) fn sketch_of(&self, hashes: &[u64]) -> S {
        let mut sketch = (*self.empty).clone();
        if let Some(set) = sketch.takes_hashes() {
            set.insert_hashes(hashes);
        }
        sketch
    }

    /// Returns the kind that groups of this and the other kind merge to.
    ///
    /// # Errors
    /// If the numbers of fields differ, or the sketches do not merge.
    pub fn merged(&self, other: &Self) -> Result<Self> {
        if self.fields != other.fields {
            let advice = "groups by different fields cannot be merged";
            return Err(Error::incompatible("fields", self.fields, other.fields, advice));
        }
        let mut empty = (*self.empty).clone();
        empty.merge(&other.empty)?;
        Self::new(empty, self.fields)
    }

    /// Returns the content of a packed group.
    ///
    /// # Errors
    /// If the bytes were not packed with this kind.
    pub fn unpack(&self, packed: &PackedGroup<'_>) -> Result<GroupSketch<S>> {
        let PackedGroup { form, content, .. } = packed;
        match form {
            Form::Few => {
                let words = content
                    .chunks_exact(8)
                    .map(|word| word.first_chunk().map_or(0, |w| u64::from_le_bytes(*w)));
                Ok(GroupSketch::Few(words.collect()))
            }
            Form::Sketch => Ok(GroupSketch::Sketch(S::read(&self.header, content)?)),
        }
    }

    /// Merges the content `other` into `group`.
    ///
    /// # Errors
    /// If the sketches do not merge.
    pub fn merge(&self, group: &mut GroupSketch<S>, other: GroupSketch<S>) -> Result<()> {
        match (&mut *group, other) {
            (GroupSketch::Few(mine), GroupSketch::Few(theirs)) => {
                mine.extend(theirs);
                mine.sort_unstable();
                mine.dedup();
                if mine.len() > self.most_few {
                    *group = GroupSketch::Sketch(self.sketch_of(mine));
                }
            }
            (GroupSketch::Sketch(mine), GroupSketch::Few(theirs)) => {
                if let Some(set) = mine.takes_hashes() {
                    set.insert_hashes(&theirs);
                }
            }
            (GroupSketch::Few(mine), GroupSketch::Sketch(mut theirs)) => {
                if let Some(set) = theirs.takes_hashes() {
                    set.insert_hashes(mine);
                }
                *group = GroupSketch::Sketch(theirs);
            }
            (GroupSketch::Sketch(mine), GroupSketch::Sketch(theirs)) => mine.merge(&theirs)?,
        }
        Ok(())
    }
}

impl<S: Pane> GroupSketch<S> {
    /// Creates the content of a small group from hashes.
    pub(super) fn few(mut hashes: Vec<u64>) -> Self {
        hashes.sort_unstable();
        hashes.dedup();
        Self::Few(hashes)
    }

    /// Returns the sketch of the group.
    pub fn into_sketch(self, kind: &GroupKind<S>) -> S {
        match self {
            Self::Few(hashes) => kind.sketch_of(&hashes),
            Self::Sketch(sketch) => sketch,
        }
    }

    /// Returns the sketch of the group, without a copy if there is one already.
    pub fn sketch(&self, kind: &GroupKind<S>) -> Cow<'_, S> {
        match self {
            Self::Few(hashes) => Cow::Owned(kind.sketch_of(hashes)),
            Self::Sketch(sketch) => Cow::Borrowed(sketch),
        }
    }

    /// Returns how many different keys the group has, with bounds, if the sketch counts them. A
    /// small group needs no sketch for that.
    pub fn distinct(&self, kind: &GroupKind<S>) -> Option<Estimate> {
        match self {
            Self::Few(hashes) if hashes.len() as u64 <= kind.exact_up_to => {
                Some(Estimate::exact(hashes.len() as f64))
            }
            Self::Few(hashes) => Some(kind.sketch_of(hashes).answers_cardinality()?.distinct()),
            Self::Sketch(sketch) => Some(sketch.answers_cardinality()?.distinct()),
        }
    }

    /// Returns the payload of the group's sketch, as it is stored in a file.
    pub fn payload(&self, kind: &GroupKind<S>) -> Vec<u8> {
        let bytes = match self {
            Self::Few(hashes) => kind.sketch_of(hashes).to_bytes(),
            Self::Sketch(sketch) => sketch.to_bytes(),
        };
        payload_of(&bytes).to_vec()
    }
}

/// Returns the payload of an envelope that was just written.
pub(super) fn payload_of(envelope: &[u8]) -> &[u8] {
    envelope.get(HEADER_LEN..envelope.len().saturating_sub(CHECKSUM_LEN)).unwrap_or_default()
}

// ---- single groups as bytes ----

/// A group as bytes: its key, and its hashes or the payload of its sketch. This is not the stored
/// format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedGroup<'a> {
    key: &'a [u8],
    form: Form,
    content: &'a [u8],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Few,
    Sketch,
}

/// The number of bytes of the two lengths, of key and content, and of the form.
const HEAD: usize = 4 + 8 + 1;

impl<'a> PackedGroup<'a> {
    /// Returns the first group in the bytes, and the number of bytes that it takes. Returns `None`
    /// if the group is not whole.
    pub fn read(bytes: &'a [u8]) -> Option<(Self, usize)> {
        let needed = Self::needed(bytes)?;
        let (group, _) = bytes.split_at_checked(needed)?;
        let (head, rest) = group.split_at_checked(HEAD)?;
        let (key, content) = rest.split_at_checked(u32::from_le_bytes(*head.first_chunk()?) as usize)?;
        let form = if head[HEAD - 1] == 0 { Form::Few } else { Form::Sketch };
        Some((Self { key, form, content }, needed))
    }

    /// Returns how many bytes the first group takes. Returns `None` if its lengths are not whole.
    pub fn needed(bytes: &[u8]) -> Option<usize> {
        let key = u32::from_le_bytes(*bytes.first_chunk()?) as usize;
        let content = u64::from_le_bytes(*bytes.get(4..)?.first_chunk()?) as usize;
        HEAD.checked_add(key)?.checked_add(content)
    }

    /// Returns the key of the group.
    pub fn key(&self) -> &'a [u8] {
        self.key
    }

    /// Returns the bytes of the group's content.
    pub fn content(&self) -> &'a [u8] {
        self.content
    }

    /// Appends a record of a key and its content, which [`read`](Self::read) reads.
    pub fn write(key: &[u8], content: &[u8], out: &mut Vec<u8>) {
        pack_payload(key, content, out);
    }
}

fn pack_head(key: &[u8], content: usize, form: Form, out: &mut Vec<u8>) {
    out.reserve(HEAD + key.len() + content);
    out.extend_from_slice(&(key.len() as u32).to_le_bytes());
    out.extend_from_slice(&(content as u64).to_le_bytes());
    out.push(u8::from(form == Form::Sketch));
    out.extend_from_slice(key);
}

pub(super) fn pack_few(key: &[u8], hashes: &[u64], out: &mut Vec<u8>) {
    pack_head(key, size_of_val(hashes), Form::Few, out);
    hashes.iter().for_each(|hash| out.extend_from_slice(&hash.to_le_bytes()));
}

pub(super) fn pack_payload(key: &[u8], payload: &[u8], out: &mut Vec<u8>) {
    pack_head(key, payload.len(), Form::Sketch, out);
    out.extend_from_slice(payload);
}
