//! Whole stores as sets: forgetting what is old, taking messages elsewhere, joining two stores.
//!
//! An export is a file of its own: a line that says what it is, one entry for each message, and a
//! checksum over all of it. An import joins the file to a store as a merge does. So exporting and
//! importing again, or importing twice, changes nothing.

use std::io::{Read, Write};
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::store::{Bytes, Learnt, Store, decode_features, encode_bytes, put_bytes};

/// The first line of an export, before the name of the method.
const MAGIC: &str = "crivo mail export 1 ";

/// The most bytes of an entry of an export.
const LONGEST: usize = 1 << 20;

/// What joining did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Joined {
    /// Messages in the other store or file.
    pub read: u64,
    /// The number of them that changed something.
    pub changed: u64,
}

impl Filter {
    /// Forgets all marks that are older than a time, in milliseconds since 1970. Returns the number
    /// of messages that changed.
    ///
    /// # Errors
    /// If the store is damaged or cannot be written: nothing is forgotten then.
    pub fn expire(&self, before: i64) -> Result<u64> {
        let changed = self.change_store(|store, change| {
            let mut old = Vec::new();
            store.for_each(|fingerprint, learnt| {
                if learnt.marks.iter().any(|mark| mark.time < before) {
                    old.push(fingerprint);
                }
                Ok(())
            })?;
            old.into_iter().try_for_each(|fingerprint| {
                let rest = |learnt: Option<&Learnt>| learnt.cloned()?.since(before);
                change.update(fingerprint, rest, || Ok(Vec::new()))
            })
        })?;
        Ok(changed.len() as u64)
    }

    /// Writes all messages to `to`. Returns their number.
    ///
    /// # Errors
    /// If the store is damaged. An error of writing is returned as the inner result.
    pub fn export(&self, to: &mut dyn Write) -> Result<std::io::Result<u64>> {
        self.with_store(|store| write_export(store, to))
    }

    /// Writes all messages of the store in a folder. It reads messages only, so that a store with
    /// damaged derived records can be exported too.
    ///
    /// # Errors
    /// If there is no store, and as [`export`](Self::export).
    pub fn export_from(dir: &Path, to: &mut dyn Write) -> Result<std::io::Result<u64>> {
        write_export(&Store::open(dir)?, to)
    }

    /// Joins an export to the store. Errors call the export `name`.
    ///
    /// # Errors
    /// If it is not an export, is damaged or was made by the other method, and as
    /// [`expire`](Self::expire): nothing changes then.
    pub fn import(&self, from: &mut dyn Read, name: &Path) -> Result<Joined> {
        let mut joined = Joined::default();
        let changed = self.change_store(|store, change| {
            let mut import = Import { from, name, sum: Xxh3::new() };
            import.check_first_line(store)?;
            while let Some(entry) = import.entry()? {
                let mut bytes = Bytes(&entry);
                let mut decode = || {
                    let fingerprint = bytes.u64()?;
                    let learnt = Learnt::decode(bytes.counted()?)?;
                    let mut features = Vec::new();
                    decode_features(bytes.counted()?, &mut features)?;
                    let ascends = features.is_sorted_by(|one, next| one < next);
                    ascends.then_some((fingerprint, learnt, features))
                };
                let (fingerprint, learnt, features) = decode().ok_or_else(|| import.damaged("an entry"))?;
                change.join(fingerprint, learnt, &features)?;
                joined.read += 1;
            }
            Ok(())
        })?;
        joined.changed = changed.len() as u64;
        Ok(joined)
    }

    /// Joins another store to this one; the other stays as it is.
    ///
    /// # Errors
    /// If the other is missing, damaged or of the other method, and as [`expire`](Self::expire):
    /// nothing changes then.
    pub fn merge(&self, other: &Path) -> Result<Joined> {
        let other = Store::open(other)?;
        let _moment = other.file().read_transaction()?;
        let mut joined = Joined::default();
        let changed = self.change_store(|store, change| {
            if store.method() != other.method() {
                return Err(other_method(store, other.method().name()));
            }
            let mut features = Vec::new();
            other.for_each(|fingerprint, learnt| {
                joined.read += 1;
                features.clear();
                other.features(fingerprint, &mut features)?;
                change.join(fingerprint, learnt, &features)
            })
        })?;
        joined.changed = changed.len() as u64;
        Ok(joined)
    }
}

fn write_export(store: &Store, to: &mut dyn Write) -> Result<std::io::Result<u64>> {
    let _moment = store.file().read_transaction()?;
    let (mut sum, mut count, mut refusal) = (Xxh3::new(), 0, None);
    let mut write = |bytes: &[u8], sum: &mut Xxh3| {
        sum.update(bytes);
        if refusal.is_none() {
            refusal = to.write_all(bytes).err();
        }
    };
    write(format!("{MAGIC}{}\n", store.method().name()).as_bytes(), &mut sum);
    let mut features = Vec::new();
    store.for_each(|fingerprint, learnt| {
        features.clear();
        store.features(fingerprint, &mut features)?;
        let mut entry = fingerprint.to_le_bytes().to_vec();
        put_bytes(&mut entry, &learnt.encode());
        put_bytes(&mut entry, &encode_bytes(&features));
        write(&(entry.len() as u32).to_le_bytes(), &mut sum);
        write(&entry, &mut sum);
        count += 1;
        Ok(())
    })?;
    write(&0_u32.to_le_bytes(), &mut sum);
    let digest = sum.digest().to_le_bytes();
    write(&digest, &mut Xxh3::new());
    Ok(refusal.map_or(Ok(count), Err))
}

fn other_method(store: &Store, found: &str) -> Error {
    Error::Unsuitable(format!(
        "this store learns by the {} method, the other by the {found} one: their messages cannot be joined",
        store.method().name()
    ))
}

/// An export that is being read.
struct Import<'a> {
    from: &'a mut dyn Read,
    name: &'a Path,
    sum: Xxh3,
}

impl Import<'_> {
    fn check_first_line(&mut self, store: &Store) -> Result<()> {
        let mut line = Vec::new();
        while line.last() != Some(&b'\n') && line.len() < 80 {
            line.extend(self.bytes(1)?);
        }
        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
        match line.strip_prefix(MAGIC) {
            Some(method) if method == store.method().name() => Ok(()),
            Some(method) => Err(other_method(store, method)),
            None => Err(self.damaged("it does not begin as an export of crivo mail does")),
        }
    }

    /// Returns the next entry, or `None` after the last if the checksum is right.
    fn entry(&mut self) -> Result<Option<Vec<u8>>> {
        let length = self.bytes(4)?.try_into().map_or(0, u32::from_le_bytes) as usize;
        if length > LONGEST {
            return Err(self.damaged("an entry that is too long"));
        }
        if length > 0 {
            return self.bytes(length).map(Some);
        }
        let expected = self.sum.digest().to_le_bytes();
        if self.bytes(8)? != expected {
            return Err(self.damaged("its checksum is wrong"));
        }
        // Without this check, of two exports in one file only the first would be imported.
        let mut more = Vec::new();
        let read = (&mut *self.from).take(1).read_to_end(&mut more);
        read.map_err(|cause| Error::Mail { path: self.name.to_path_buf(), cause })?;
        if !more.is_empty() {
            let name = self.name.display();
            return Err(Error::Unsuitable(format!(
                "{name}: more bytes follow where the export ends; nothing was imported: import each export from a file of its own"
            )));
        }
        Ok(None)
    }

    fn bytes(&mut self, count: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; count];
        self.from.read_exact(&mut bytes).map_err(|cause| match cause.kind() {
            std::io::ErrorKind::UnexpectedEof => self.damaged("it ends too early"),
            _ => Error::Mail { path: self.name.to_path_buf(), cause },
        })?;
        self.sum.update(&bytes);
        Ok(bytes)
    }

    fn damaged(&self, what: &str) -> Error {
        let name = self.name.display();
        Error::Unsuitable(format!("{name}: {what}; export the store again, nothing was imported"))
    }
}
