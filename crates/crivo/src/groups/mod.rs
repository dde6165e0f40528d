// This file is long because all ways to add to groups and to query them share one state.

//! The same question for each group: one sketch for each group, and one file for all of them.
//!
//! | type | memory | error | merge |
//! |---|---|---|---|
//! | [`Groups`] | a few words for each item of a small group, one sketch for a large one | that of the sketch, in each group | group by group, as the sketch merges |
//!
//! **Question.** How many different visitors has each page, which products sell most in each
//! country, what does each month add up to? Any question that a sketch answers, for each value of
//! another field.
//!
//! **Guarantee.** The sketch of a group is the sketch of exactly its items, so its answers have the
//! error that the sketch states and no other. Groups are distinguished by their keys, never by
//! hashes alone. Merging two containers merges group by group. If merging the sketches equals the
//! sketch of the joined stream byte for byte, so does merging the containers.
//!
//! **Idea.** If there are many groups, most of them are small. A sketch that counts different keys
//! needs only their hashes. So a group begins as a short list of hashes, in blocks of memory that
//! all groups share. It becomes a sketch when the list would be larger than the sketch. The list is
//! not part of the format: a stored group is always the payload of its sketch, which is also small
//! for a few items.
//!
//! **Memory.** Each group takes 40 bytes and two slots, its key if that is longer than 12 bytes,
//! and its items or sketch. [`memory`](Groups::memory) returns the total at any time. A caller with
//! more groups than fit in memory writes some of them to a file: [`GroupKind`] packs single groups
//! as bytes and merges them again, in an order that does not depend on the order of the input.
//!
//! **Order.** Groups are stored in ascending order of the hashes of their keys, and of the keys
//! where hashes are equal. So two files are merged in one pass, and parts of a file can be made in
//! parallel.
//!
//! **When not to use it.** For counts of very many groups that may be off by a few per cent: a
//! [`CounterArray`](crate::counting::CounterArray) needs one byte for each group, and stores no
//! keys.
//!
//! **Source.** Grouping by hash is common practice. The short lists before registers are those of
//! Heule, Nunkesser, Hall: *HyperLogLog in practice* (2013).

mod bytes;
mod few;
mod kind;
mod merge;
mod names;
mod table;

pub use self::bytes::GroupsHead;
pub use self::kind::{GroupKind, GroupSketch, PackedGroup};

use self::few::{Blocks, Few};
use self::table::{Entry, Table};
use crate::codec::{AnySketch, Family, Parameter, Parameters, Summary};
use crate::error::{Error, Result};
use crate::estimate::Estimate;
use crate::keys::{Key, KeyBatch, KeyBuffer, KeyRef, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{Capability, Sketch, impl_sketch};
use crate::window::Pane;

/// One sketch for each group; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::distinct::HyperLogLog;
/// use crivo::groups::Groups;
///
/// let mut visitors = Groups::new(HyperLogLog::new(12)?, 1)?;
/// for (page, visitor) in [("/", "ana"), ("/", "rui"), ("/", "ana"), ("/help", "ana")] {
///     visitors.insert(page.as_bytes(), visitor)?;
/// }
/// assert_eq!(visitors.len(), 2);
/// assert_eq!(visitors.get(b"/").map(|sketch| sketch.estimate().value()), Some(2.0));
/// assert!(visitors.get(b"/none").is_none());
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Groups<S: Pane = AnySketch> {
    kind: GroupKind<S>,
    table: Table<Content<S>>,
    blocks: Blocks,
    /// The bytes of all sketches in `table`.
    sketch_bytes: usize,
    scratch: Scratch,
}

/// The content of a group.
#[derive(Debug, Clone)]
enum Content<S> {
    /// The hashes of the items.
    Few(Few),
    /// The payload of the sketch, as read from a file.
    Stored(Box<[u8]>),
    Sketch(Box<S>),
}

/// Buffers that are reused between calls, and hold no data between them.
#[derive(Debug, Clone, Default)]
struct Scratch {
    starts: Vec<u32>,
    hashes: Vec<u64>,
}

/// Up to this many groups, the items of a batch are sorted by group before they are added.
const SORTED_GROUPS: usize = 128;

/// The number of groups that are looked up together, so that the memory of some is fetched while
/// others are compared.
const WINDOW: usize = 16;

// ---- construction ----

impl<S: Pane> Groups<S> {
    /// Creates an empty container. Every group begins as the empty sketch. `fields` is the number
    /// of values in the key of a group (docs/keys.md says how several values become one key).
    ///
    /// # Errors
    /// If there is no field, if the sketch is not empty, if it is a container itself, or if it keeps
    /// a history.
    pub fn new(empty: S, fields: u8) -> Result<Self> {
        Ok(Self::of_kind(GroupKind::new(empty, fields)?))
    }

    /// Creates an empty container of a kind of groups.
    pub fn of_kind(kind: GroupKind<S>) -> Self {
        Self {
            kind,
            table: Table::new(),
            blocks: Blocks::default(),
            sketch_bytes: 0,
            scratch: Scratch::default(),
        }
    }

    /// Removes all groups and frees their memory.
    pub fn clear(&mut self) {
        self.table = Table::new();
        self.blocks = Blocks::default();
        self.sketch_bytes = 0;
    }
}

// ---- update ----

impl<S: Pane> Groups<S> {
    /// Adds one key to a group. A missing group is created.
    ///
    /// # Errors
    /// If the key is not one that the sketch takes, or if the sketch takes no keys. No group is
    /// created then.
    pub fn insert<K: Key + ?Sized>(&mut self, group: &[u8], key: &K) -> Result<()> {
        if self.kind.is_set() {
            let hash = self.scheme().hash(key)?;
            let number = self.find_or_add(group)?;
            return self.insert_hashes(&[number], &[hash]);
        }
        let hash = self.kind.hash(group);
        if let Some(number) = self.table.find(hash, group) {
            return self.update_at(number, |sketch| add_key(sketch, key.to_ref()));
        }
        self.require_room(group.len(), 1)?;
        let mut sketch = Box::new(self.kind.empty().clone());
        add_key(&mut *sketch, key.to_ref())?;
        self.sketch_bytes += sketch.memory();
        self.table.add(hash, group, Content::Sketch(sketch));
        Ok(())
    }

    /// Changes the sketch of a group. A missing group is created.
    ///
    /// # Errors
    /// The errors of `change`, and an error if the group's key is longer than 4 GiB or there are
    /// 2^32 groups.
    pub fn update<T>(&mut self, group: &[u8], change: impl FnOnce(&mut S) -> Result<T>) -> Result<T> {
        let number = self.find_or_add(group)?;
        self.update_at(number, change)
    }

    /// Returns the number of a group. A missing group is created. Groups are numbered from 0 in the
    /// order of their creation; a number is valid until [`clear`](Self::clear) or
    /// [`merge`](Self::merge).
    ///
    /// # Errors
    /// If the key is longer than 4 GiB, or there are 2^32 groups.
    pub fn find_or_add(&mut self, group: &[u8]) -> Result<u32> {
        self.require_room(group.len(), 1)?;
        let hash = self.kind.hash(group);
        let Self { kind, table, blocks, sketch_bytes, .. } = self;
        Ok(table.find_or_add(hash, group, || begin(kind, blocks, sketch_bytes)))
    }

    /// Writes the number of each group of a batch to `numbers`, whose former content is removed.
    /// Missing groups are created. The scheme of the batch must be [`GroupKind::group_scheme`].
    ///
    /// # Errors
    /// If the batch was hashed under another scheme, or there are 2^32 groups.
    pub fn find_or_add_batch(&mut self, groups: &KeyBatch<'_>, numbers: &mut Vec<u32>) -> Result<()> {
        self.kind.group_scheme().require_same(groups.scheme())?;
        self.require_room(0, groups.len())?;
        numbers.clear();
        let Self { kind, table, blocks, sketch_bytes, .. } = self;
        let hashes = groups.hashes();
        let is_large = table.len() > SORTED_GROUPS;
        let ahead = |at: usize| hashes.get(at).copied();
        if is_large {
            hashes.iter().take(2 * WINDOW).for_each(|&hash| table.prefetch_slot(hash));
        }
        for (at, (key, hash)) in groups.iter().enumerate() {
            if is_large {
                if let Some(hash) = ahead(at + 2 * WINDOW) {
                    table.prefetch_slot(hash);
                }
                if let Some(hash) = ahead(at + WINDOW) {
                    table.prefetch_entry(hash);
                }
            }
            let KeyRef::Bytes(key) = key else { continue };
            numbers.push(table.find_or_add(hash, key, || begin(kind, blocks, sketch_bytes)));
        }
        Ok(())
    }

    fn require_room(&self, key: usize, more: usize) -> Result<()> {
        if key > u32::MAX as usize {
            return Err(Error::parameter("group", "a key of less than 4 GiB", key));
        }
        if self.table.len() + more > Table::<Content<S>>::MOST {
            let allowed = format_args!("at most {}", Table::<Content<S>>::MOST).to_string();
            return Err(Error::parameter("groups", allowed, self.table.len() + more));
        }
        Ok(())
    }

    /// Adds each hash to the group whose number is at the same position in `numbers`. Only for
    /// sketches that count different keys ([`GroupKind::is_set`]).
    ///
    /// # Errors
    /// If the sketch does not count different keys, if the lengths differ, or if a number is not one
    /// of a group; no hash is added then.
    pub fn insert_hashes(&mut self, numbers: &[u32], hashes: &[u64]) -> Result<()> {
        if !self.kind.is_set() {
            return Err(Error::unsupported(Capability::Hashes, self.kind.empty().family()));
        }
        if numbers.len() != hashes.len() {
            return Err(Error::parameter("hashes", format_args!("{} of them", numbers.len()), hashes.len()));
        }
        if let Some(&last) = numbers.iter().max()
            && last as usize >= self.table.len()
        {
            return Err(no_such_group(last, self.table.len()));
        }
        if self.table.len() <= SORTED_GROUPS && numbers.len() > 2 * SORTED_GROUPS {
            return self.insert_sorted(numbers, hashes);
        }
        let Self { kind, table, blocks, sketch_bytes, .. } = self;
        for (at, (&number, &hash)) in numbers.iter().zip(hashes).enumerate() {
            if let Some(&number) = numbers.get(at + WINDOW)
                && let Some(Entry { value: Content::Few(few), .. }) = table.entries.get(number as usize)
            {
                blocks.prefetch(*few);
            }
            let Some(entry) = table.entries.get_mut(number as usize) else { continue };
            add_hashes(&mut entry.value, &[hash], kind, blocks, sketch_bytes)?;
        }
        Ok(())
    }

    /// Does the same as [`insert_hashes`](Self::insert_hashes) for few groups: adds the hashes of
    /// each group together.
    fn insert_sorted(&mut self, numbers: &[u32], hashes: &[u64]) -> Result<()> {
        let Self { kind, table, blocks, sketch_bytes, scratch: Scratch { starts, hashes: sorted }, .. } =
            self;
        starts.clear();
        starts.resize(table.len() + 1, 0);
        numbers.iter().for_each(|&number| starts[number as usize + 1] += 1);
        (1..starts.len()).for_each(|at| starts[at] += starts[at - 1]);
        sorted.clear();
        sorted.resize(hashes.len(), 0);
        for (&number, &hash) in numbers.iter().zip(hashes) {
            let place = &mut starts[number as usize];
            sorted[*place as usize] = hash;
            *place += 1;
        }
        let mut start = 0;
        for (entry, &end) in table.entries.iter_mut().zip(&*starts) {
            add_hashes(&mut entry.value, &sorted[start as usize..end as usize], kind, blocks, sketch_bytes)?;
            start = end;
        }
        Ok(())
    }

    /// Changes the sketch of the group with that number.
    ///
    /// # Errors
    /// The errors of `change`, and an error if no group has that number.
    pub fn update_at<T>(&mut self, number: u32, change: impl FnOnce(&mut S) -> Result<T>) -> Result<T> {
        let Self { kind, table, blocks, sketch_bytes, .. } = self;
        let groups = table.len();
        let Some(entry) = table.entries.get_mut(number as usize) else {
            return Err(no_such_group(number, groups));
        };
        let sketch = make_sketch(&mut entry.value, kind, blocks, sketch_bytes)?;
        let before = sketch.memory();
        let changed = change(sketch);
        *sketch_bytes = sketch_bytes.saturating_sub(before) + sketch.memory();
        changed
    }
}

#[cold]
fn no_such_group(number: u32, groups: usize) -> Error {
    Error::parameter("group", format_args!("a number below {groups}"), number)
}

/// Adds one key to a sketch that takes keys in any way.
fn add_key(sketch: &mut impl Sketch, key: KeyRef<'_>) -> Result<()> {
    let (scheme, family) = (sketch.scheme(), sketch.family());
    if let Some(set) = sketch.takes_hashes() {
        set.insert_hash(scheme.hash_ref(key)?);
        Ok(())
    } else if let Some(counts) = sketch.takes_weights() {
        counts.add_ref(key, 1)
    } else if let Some(keys) = sketch.takes_keys() {
        let mut buffer = KeyBuffer::new(scheme);
        match key {
            KeyRef::Bytes(bytes) => keys.insert_batch(&buffer.hash_slices(&[bytes])?),
            KeyRef::Integer(integer) => keys.insert_batch(&buffer.hash_integers(&[integer])?),
            KeyRef::Hash(hash) => keys.insert_batch(&KeyBatch::from_hashes(scheme, &[hash])?),
        }
    } else {
        Err(Error::unsupported(Capability::Keys, family))
    }
}

/// Returns the content of a new group.
fn begin<S: Pane>(kind: &GroupKind<S>, blocks: &mut Blocks, sketch_bytes: &mut usize) -> Content<S> {
    if kind.is_set()
        && let Some(few) = blocks.new_set()
    {
        return Content::Few(few);
    }
    let sketch = Box::new(kind.empty().clone());
    *sketch_bytes += sketch.memory();
    Content::Sketch(sketch)
}

#[inline]
fn add_hashes<S: Pane>(
    content: &mut Content<S>,
    mut hashes: &[u64],
    kind: &GroupKind<S>,
    blocks: &mut Blocks,
    sketch_bytes: &mut usize,
) -> Result<()> {
    while let (Content::Few(few), Some((&hash, rest))) = (&mut *content, hashes.split_first()) {
        if blocks.insert(few, hash, kind.most_few()) {
            hashes = rest;
        } else {
            make_sketch(content, kind, blocks, sketch_bytes)?;
        }
    }
    if hashes.is_empty() {
        return Ok(());
    }
    let sketch = make_sketch(content, kind, blocks, sketch_bytes)?;
    let before = sketch.memory();
    if let Some(set) = sketch.takes_hashes() {
        set.insert_hashes(hashes);
    }
    *sketch_bytes = sketch_bytes.saturating_sub(before) + sketch.memory();
    Ok(())
}

/// Turns the content into a sketch, if it is not one yet, and returns that sketch.
fn make_sketch<'a, S: Pane>(
    content: &'a mut Content<S>,
    kind: &GroupKind<S>,
    blocks: &mut Blocks,
    sketch_bytes: &mut usize,
) -> Result<&'a mut S> {
    let made = match content {
        Content::Sketch(sketch) => return Ok(sketch),
        Content::Few(few) => {
            let made = kind.sketch_of(blocks.hashes(*few));
            blocks.leave(*few);
            made
        }
        Content::Stored(payload) => {
            *sketch_bytes = sketch_bytes.saturating_sub(payload.len());
            S::read(kind.header(), payload)?
        }
    };
    *sketch_bytes += made.memory();
    *content = Content::Sketch(Box::new(made));
    match content {
        Content::Sketch(sketch) => Ok(sketch),
        _ => Err(Error::contents("group", "a sketch", "none")),
    }
}

// ---- query ----

impl<S: Pane> Groups<S> {
    /// Returns the number of groups.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns true if there is no group.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the sketch of a group, if there is one.
    pub fn get(&self, group: &[u8]) -> Option<S> {
        let number = self.table.find(self.kind.hash(group), group)?;
        Some(self.content(number as usize).into_sketch(&self.kind))
    }

    /// Returns the key and the content of every group, in the order in which they are stored.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], GroupSketch<S>)> {
        let group = |number| (self.table.key(number as usize), self.content(number as usize));
        self.sorted().into_iter().map(group)
    }

    /// Returns the key and the content of the group with that number, if there is one.
    pub fn group(&self, number: u32) -> Option<(&[u8], GroupSketch<S>)> {
        let number = number as usize;
        (number < self.len()).then(|| (self.table.key(number), self.content(number)))
    }

    /// Returns the hash of the key of the group with that number, if there is one.
    pub fn hash_at(&self, number: u32) -> Option<u64> {
        self.table.entries.get(number as usize).map(|entry| entry.hash)
    }

    fn content(&self, number: usize) -> GroupSketch<S> {
        match &self.table.entries[number].value {
            Content::Few(few) => GroupSketch::few(self.blocks.hashes(*few).to_vec()),
            // The payload was checked when it was read from a file, so reading it again cannot
            // fail.
            Content::Stored(payload) => GroupSketch::Sketch(
                S::read(self.kind.header(), payload).unwrap_or_else(|_| self.kind.empty().clone()),
            ),
            Content::Sketch(sketch) => GroupSketch::Sketch((**sketch).clone()),
        }
    }

    /// Returns the payload of a group's sketch.
    fn payload(&self, number: usize) -> Vec<u8> {
        match &self.table.entries[number].value {
            Content::Few(few) => {
                kind::payload_of(&self.kind.sketch_of(self.blocks.hashes(*few)).to_bytes()).to_vec()
            }
            Content::Stored(payload) => payload.to_vec(),
            Content::Sketch(sketch) => kind::payload_of(&sketch.to_bytes()).to_vec(),
        }
    }

    /// Returns the numbers of all groups, in the order in which they are stored.
    pub fn sorted(&self) -> Vec<u32> {
        let Table { entries, .. } = &self.table;
        let mut order: Vec<(u64, u32)> =
            entries.iter().zip(0..).map(|(entry, number)| (entry.hash, number)).collect();
        order.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| self.table.key(a.1 as usize).cmp(self.table.key(b.1 as usize)))
        });
        order.into_iter().map(|(_, number)| number).collect()
    }

    /// Appends the group with that number as bytes that [`GroupKind::unpack`] reads. Returns the
    /// hash of its key.
    ///
    /// # Errors
    /// If no group has that number.
    pub fn pack(&mut self, number: u32, out: &mut Vec<u8>) -> Result<u64> {
        let Self { table, blocks, .. } = self;
        let groups = table.len();
        let Some(entry) = table.entries.get_mut(number as usize) else {
            return Err(no_such_group(number, groups));
        };
        let key = table.names.get(&entry.name);
        match &mut entry.value {
            Content::Few(few) => {
                blocks.compact(few);
                kind::pack_few(key, blocks.hashes(*few), out);
            }
            Content::Stored(payload) => kind::pack_payload(key, payload, out),
            Content::Sketch(sketch) => {
                kind::pack_payload(key, kind::payload_of(&sketch.to_bytes()), out);
            }
        }
        Ok(entry.hash)
    }

    /// Returns what all groups share.
    pub fn kind(&self) -> &GroupKind<S> {
        &self.kind
    }

    /// Returns how the sketches hash their keys.
    pub fn scheme(&self) -> KeyScheme {
        self.kind.empty().scheme()
    }

    /// Returns the bytes of memory in use, the struct itself included.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.table.memory() + self.blocks.memory() + self.sketch_bytes
    }

    /// Returns the sizes that the container was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        let sketch = self.kind.empty();
        let own = vec![
            ("sketch", Parameter::Name(sketch.family().name())),
            ("fields", Parameter::Count(self.kind.fields().into())),
        ];
        [own, sketch.parameters()].concat()
    }

    /// Returns a summary of the container: what `crivo show` prints. Its items are the groups.
    pub fn summary(&self) -> Summary {
        Summary {
            family: Family::Groups,
            parameters: self.parameters(),
            scheme: self.scheme(),
            items: Estimate::exact(self.len() as f64),
            fill: None,
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}

/// Two containers are equal if they have the same groups with the same sketches, in any order.
impl<S: Pane> PartialEq for Groups<S> {
    fn eq(&self, other: &Self) -> bool {
        self.kind.empty() == other.kind.empty()
            && self.kind.fields() == other.kind.fields()
            && self.len() == other.len()
            && self.iter().zip(other.iter()).all(|((key, mine), (other_key, theirs))| {
                key == other_key && mine.into_sketch(&self.kind) == theirs.into_sketch(&other.kind)
            })
    }
}

impl_sketch!(impl [S: Pane] Groups<S>);
