//! The container as bytes: the empty sketch in its envelope, then each group's key and payload.
//!
//! Containers may be larger than memory, so they can also be written piece by piece. [`GroupsHead`]
//! is everything before the groups, and computes the checksum of the whole file.

use super::kind::{GroupKind, payload_of};
use super::table::Table;
use super::{Content, Groups};
use crate::codec::{Decode, Encode, Family, Header, Reader, Writer, open, write_head};
use crate::error::{Error, Result};
use crate::keys::{KeyKind, KeyRef, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::window::Pane;

/// The fewest bytes of a group: the lengths of its key and its payload.
const LEAST_GROUP: usize = 12;

impl<S: Pane> Groups<S> {
    /// Returns the container as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Returns the container that the bytes hold.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of a container of this kind of sketch: see
    /// [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

fn write_kind<S: Pane>(kind: &GroupKind<S>, groups: u64, writer: &mut Writer) {
    writer.u8(kind.fields());
    writer.bytes(&kind.empty().to_bytes());
    writer.u64(groups);
}

fn write_group(key: &[u8], payload: &[u8], writer: &mut Writer) {
    writer.key(KeyRef::Bytes(key));
    writer.u64(payload.len() as u64);
    writer.bytes(payload);
}

impl<S: Pane> Encode for Groups<S> {
    const FAMILY: Family = Family::Groups;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme()
    }

    fn encode_payload(&self, writer: &mut Writer) {
        write_kind(self.kind(), self.len() as u64, writer);
        for number in self.sorted() {
            write_group(self.table.key(number as usize), &self.payload(number as usize), writer);
        }
    }
}

impl<S: Pane> Decode for Groups<S> {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let fields = reader.u8("fields")?;
        let (kind, empty) = open(reader.envelope("empty sketch")?)?;
        if let Some(expected) = kind.family.expected_of_part() {
            return Err(Error::contents("empty sketch", expected, kind.family));
        }
        if kind.scheme != header.scheme {
            let expected = format_args!("keys of {}", header.scheme).to_string();
            return Err(Error::contents("empty sketch", expected, kind.scheme));
        }
        let mut groups = Self::new(S::read(&kind, empty)?, fields)
            .map_err(|error| Error::contents(error.field(), error.expected(), error.found()))?;
        let parameters = groups.kind().empty().parameters();
        let count = reader.u64("groups")?;
        let most = (reader.left() / LEAST_GROUP).min(Table::<Content<S>>::MOST);
        if count > most as u64 {
            return Err(Error::contents("groups", format_args!("at most {most}"), count));
        }
        let mut before: Option<(u64, &[u8])> = None;
        for _ in 0..count {
            let KeyRef::Bytes(key) = reader.key("key of a group", KeyKind::Bytes)? else { continue };
            let next = (groups.kind().hash(key), key);
            if before.is_some_and(|before| before >= next) {
                let expected = "ascending order of hashes and keys";
                return Err(Error::contents("key of a group", expected, "another order"));
            }
            before = Some(next);
            let length = reader.u64("length of a group")?;
            let payload = reader.bytes("group", length)?;
            let sketch = S::read(&kind, payload)?;
            if sketch.parameters() != parameters {
                let expected = format_args!("the parameters of the empty {}", kind.family).to_string();
                return Err(Error::contents("group", expected, "others"));
            }
            // A payload in an older layout is converted to the current one, because that is the
            // layout that is read when the group is queried.
            let stored: Box<[u8]> = if kind.version == kind.family.version() {
                payload.into()
            } else {
                payload_of(&sketch.to_bytes()).into()
            };
            groups.sketch_bytes += stored.len();
            groups.table.add(next.0, key, Content::Stored(stored));
        }
        Ok(groups)
    }
}

// ---- piece by piece ----

/// The part before the groups of a file that is written piece by piece, and the checksum of the
/// bytes so far.
///
/// ```
/// use crivo::counting::Tally;
/// use crivo::groups::{GroupKind, Groups, GroupsHead};
///
/// let mut sales = Groups::new(Tally::new(), 1)?;
/// sales.update(b"PT", |tally| Ok(tally.add(3)))?;
///
/// let mut record = Vec::new();
/// let (key, tally) = sales.iter().next().ok_or("no group")?;
/// GroupsHead::write_group(key, &tally.payload(sales.kind()), &mut record);
/// let mut head = GroupsHead::new(sales.kind(), 1, record.len() as u64);
/// let mut file = head.bytes().to_vec();
/// head.follow(&record);
/// file.extend_from_slice(&record);
/// file.extend_from_slice(&head.checksum());
/// assert_eq!(file, sales.encode());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct GroupsHead {
    bytes: Vec<u8>,
    checksum: crc32fast::Hasher,
}

impl GroupsHead {
    /// Creates the head of a file of `groups` groups, which take `length` bytes together.
    pub fn new<S: Pane>(kind: &GroupKind<S>, groups: u64, length: u64) -> Self {
        let mut payload = Writer::default();
        write_kind(kind, groups, &mut payload);
        let payload = payload.into_bytes();
        let mut writer = Writer::default();
        let scheme = kind.empty().scheme();
        write_head(Family::Groups, scheme, payload.len() as u64 + length, &mut writer);
        writer.bytes(&payload);
        let bytes = writer.into_bytes();
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(&bytes);
        Self { bytes, checksum }
    }

    /// Returns the bytes that a file begins with.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Appends a group to bytes that follow the head. Groups must be in the order of
    /// [`GroupKind::order`].
    pub fn write_group(key: &[u8], payload: &[u8], out: &mut Vec<u8>) {
        let mut writer = Writer::default();
        write_group(key, payload, &mut writer);
        out.extend_from_slice(&writer.into_bytes());
    }

    /// Adds bytes that follow the head to the checksum.
    pub fn follow(&mut self, bytes: &[u8]) {
        self.checksum.update(bytes);
    }

    /// Returns the bytes that the file ends with.
    pub fn checksum(self) -> [u8; 4] {
        self.checksum.finalize().to_le_bytes()
    }
}
