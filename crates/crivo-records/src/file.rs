//! A file of records: created whole, opened without trust, changed in transactions.
//!
//! A new file is filled under a temporary name and renamed when everything is on the disk, so that
//! a reader never opens an incomplete one. Opening requires the right application letters and
//! version in the header, and SQLite is told to refuse malformed contents. Records get a checksum
//! when they are written, which is verified when they are read. The caller decides whether a record
//! is valid, but the error about an invalid one is made here, so that no caller forgets it.

use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crivo_spill::partial;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior, ffi, params};

use crate::format::Table;
use crate::problem::Problem;
use crate::seal::{seal, unseal};

/// The length in bytes from which a journal is moved into the file after a commit.
const LONG_JOURNAL: u64 = 64 << 20;

/// A connection to the file with the tables `T`.
#[derive(Debug)]
pub struct File<T: Table> {
    connection: Connection,
    path: PathBuf,
    identity: Option<Identity>,
    tables: PhantomData<T>,
}

/// A transaction. If another one is open already, as while a file is created, it is part of that
/// one. Changes that were not committed are rolled back when it is dropped.
#[derive(Debug)]
pub struct Transaction<'a>(Option<rusqlite::Transaction<'a>>);

// ---- construction ----

impl<T: Table> File<T> {
    /// Creates a new file in a folder, and the folder if it does not exist. The file appears whole
    /// or not at all: `fill` writes the first records to a file with a temporary name, in a
    /// transaction that is open already. `fill` may be slow and write much: every record is written
    /// once, without a journal.
    pub fn create<R>(
        folder: &Path,
        fill: impl FnOnce(Self) -> Result<(Self, R), T::Error>,
    ) -> Result<R, T::Error> {
        let is_new = !folder.exists();
        let created = Self::create_in(folder, fill);
        if created.is_err() && is_new {
            // This fails, as it should, if the folder is not empty.
            let _ = std::fs::remove_dir(folder);
        }
        created
    }

    fn create_in<R>(
        folder: &Path,
        fill: impl FnOnce(Self) -> Result<(Self, R), T::Error>,
    ) -> Result<R, T::Error> {
        let path = folder.join(T::FORMAT.file_name);
        let refused = |error: std::io::Error| T::error(&path, Problem::Refused(error.to_string()));
        std::fs::create_dir_all(folder).map_err(refused)?;
        // SQLite would apply the journal of an earlier file to the new one.
        for rest in ["-wal", "-journal"].map(|end| beside(&path, end)) {
            if rest.exists() && !path.exists() {
                let (rest, name) = (rest.display(), T::FORMAT.words.name);
                let what = format!("{rest} is left of an earlier {name} without its file: remove it first");
                return Err(T::error(&path, Problem::Foreign(what)));
            }
        }
        let mode = if T::FORMAT.private { 0o600 } else { 0o644 };
        let temporary = partial::file_in(folder, mode).map_err(refused)?;
        let new = Self::of(
            connect(temporary.path(), OpenFlags::empty(), T::FORMAT.patience),
            temporary.path(),
            &path,
        )?;
        new.run(|connection| {
            connection.pragma_update(None, "page_size", T::FORMAT.page_size)?;
            // After any failure this file is discarded, so it needs no journal. It is synced to the
            // disk before it gets its name.
            connection.pragma_update_and_check(None, "journal_mode", "OFF", |_| Ok(()))?;
            connection.pragma_update(None, "synchronous", "OFF")?;
            connection.execute_batch("BEGIN IMMEDIATE")?;
            for table in T::ALL {
                connection.execute_batch(&creation(*table))?;
            }
            connection.pragma_update(None, "application_id", i32::from_be_bytes(T::FORMAT.application))?;
            connection.pragma_update(None, "user_version", T::FORMAT.version)
        })?;
        let (new, filled) = fill(new)?;
        new.run(|connection| {
            connection.execute_batch("COMMIT")?;
            // From now on the header of the file says that it has a write-ahead journal.
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))
        })?;
        new.connection.close().map_err(|(_, error)| Self::sqlite(&path, &error))?;
        temporary.as_file().sync_all().map_err(refused)?;
        temporary.persist_noclobber(&path).map_err(|refusal| match refusal.error.kind() {
            std::io::ErrorKind::AlreadyExists => T::error(&path, Problem::Exists),
            _ => refused(refusal.error),
        })?;
        if let Ok(folder) = std::fs::File::open(folder) {
            // Where a folder cannot be synced to the disk, the file is still whole.
            let _ = folder.sync_all();
        }
        Ok(filled)
    }

    /// Opens the file in a folder.
    pub fn open(folder: &Path) -> Result<Self, T::Error> {
        let path = folder.join(T::FORMAT.file_name);
        if !path.is_file() {
            return Err(T::error(&path, Problem::Missing));
        }
        let file = match connect(&path, OpenFlags::empty(), T::FORMAT.patience) {
            Err(error) if needs_writing(&error) => Self::open_unchanging(&path)?,
            opened => Self::of(opened, &path, &path)?,
        };
        let pragma = |name: &str| file.run(|connection| number(connection, name));
        let (newest, words) = (T::FORMAT.version, T::FORMAT.words);
        if pragma("application_id")? != i32::from_be_bytes(T::FORMAT.application) {
            let (article, name, program) = (words.article, words.name, words.program);
            let what = format_args!("it is not marked as {article} {name} of {program}, or empty");
            return Err(file.damaged(what));
        }
        let version = pragma("user_version")?;
        if !(T::FORMAT.oldest..=newest).contains(&version) {
            let read = if T::FORMAT.oldest == newest {
                format!("version {newest}")
            } else {
                format!("versions {} to {newest}", T::FORMAT.oldest)
            };
            let what = format!(
                "the {} has version {version}, this program reads {read}: use the one that wrote it",
                words.name
            );
            return Err(T::error(&file.path, Problem::Foreign(what)));
        }
        Ok(file)
    }

    /// Opens a file that does not change, such as one in a snapshot or on a read-only medium. If
    /// another process writes to it nevertheless, the change may look like damage.
    fn open_unchanging(path: &Path) -> Result<Self, T::Error> {
        if std::fs::metadata(beside(path, "-wal")).is_ok_and(|journal| journal.len() > 0) {
            let what = "it has a journal beside it, and cannot be written here: copy both to where it can";
            return Err(T::error(path, Problem::Refused(what.into())));
        }
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-".contains(byte);
        let path_bytes = path.as_os_str().as_encoded_bytes().iter();
        let encoded: String = path_bytes
            .map(|byte| if plain(byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") })
            .collect();
        let uri = format!("file:{encoded}?immutable=1");
        Self::of(connect(Path::new(&uri), OpenFlags::SQLITE_OPEN_URI, T::FORMAT.patience), path, path)
    }

    /// Wraps a connection to the file `at`, which errors call `name`.
    fn of(connection: rusqlite::Result<Connection>, at: &Path, name: &Path) -> Result<Self, T::Error> {
        let connection = connection.map_err(|error| Self::sqlite(name, &error))?;
        Ok(Self { connection, path: name.to_path_buf(), identity: identity(at), tables: PhantomData })
    }

    /// Sets how much of the file this connection keeps in memory, in KiB.
    pub fn set_cache(&self, kibibytes: u32) -> Result<(), T::Error> {
        self.run(|connection| connection.pragma_update(None, "cache_size", -i64::from(kibibytes)))
    }

    /// Sets how long to wait for another writer's commit.
    pub fn set_patience(&self, time: Duration) -> Result<(), T::Error> {
        self.run(|connection| connection.busy_timeout(time))
    }
}

// ---- the file as a whole ----

impl<T: Table> File<T> {
    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true if the file was removed or replaced by another since it was opened. Changes
    /// then go to the file that is gone. Always false on systems where files have no number of
    /// their own.
    pub fn is_replaced(&self) -> bool {
        self.identity.is_some() && identity(&self.path) != self.identity
    }

    /// Returns the size of the file and its journal in bytes.
    pub fn bytes(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |found| found.len()) + self.journal_bytes()
    }

    fn journal_bytes(&self) -> u64 {
        std::fs::metadata(beside(&self.path, "-wal")).map_or(0, |found| found.len())
    }

    /// Marks an older file as one of the current version, within the open transaction. From the
    /// commit on, programs that read only the older version refuse the file.
    pub fn mark_as_current(&self) -> Result<(), T::Error> {
        let version = self.run(|connection| number(connection, "user_version"))?;
        if version == T::FORMAT.version {
            return Ok(());
        }
        self.run(|connection| connection.pragma_update(None, "user_version", T::FORMAT.version))
    }

    /// Checks the pages of the file. Returns an error with the first problem that SQLite finds.
    pub fn check_pages(&self) -> Result<(), T::Error> {
        let found: String =
            self.run(|connection| connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)))?;
        if found == "ok" { Ok(()) } else { Err(self.damaged(found)) }
    }

    /// Returns the error that the file does not contain what was written.
    pub fn damaged(&self, what: impl fmt::Display) -> T::Error {
        T::error(&self.path, Problem::Damaged(what.to_string()))
    }

    fn sqlite(path: &Path, error: &rusqlite::Error) -> T::Error {
        T::error(path, Problem::of(error, &T::FORMAT.words))
    }

    fn run<'a, R>(&'a self, work: impl FnOnce(&'a Connection) -> rusqlite::Result<R>) -> Result<R, T::Error> {
        work(&self.connection).map_err(|error| Self::sqlite(&self.path, &error))
    }
}

// ---- transactions ----

impl<T: Table> File<T> {
    /// Begins a read transaction: everything read until it ends belongs to one committed state.
    pub fn read_transaction(&self) -> Result<Transaction<'_>, T::Error> {
        self.begin(TransactionBehavior::Deferred)
    }

    /// Begins a write transaction: no other writer can write until it ends.
    pub fn write_transaction(&self) -> Result<Transaction<'_>, T::Error> {
        self.begin(TransactionBehavior::Immediate)
    }

    fn begin(&self, behavior: TransactionBehavior) -> Result<Transaction<'_>, T::Error> {
        let alone = self.connection.is_autocommit();
        let begin = |connection| rusqlite::Transaction::new_unchecked(connection, behavior);
        self.run(|connection| alone.then(|| begin(connection)).transpose()).map(Transaction)
    }

    /// Commits a transaction, and returns when everything is on the disk. A transaction inside
    /// another one leaves that to the outer one.
    pub fn commit(&self, transaction: Transaction<'_>) -> Result<(), T::Error> {
        self.run(|_| transaction.0.map_or(Ok(()), rusqlite::Transaction::commit))
    }

    /// Moves a long journal into the file and empties it. This fails while a reader uses an older
    /// state, or if the disk is full. Then the journal keeps everything, and a later call tries
    /// again.
    pub fn shorten_journal(&self) {
        if self.journal_bytes() >= LONG_JOURNAL {
            let _ = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
    }
}

// ---- records ----

impl<T: Table> File<T> {
    /// Stores a record with its checksum under a number, and replaces any record there.
    pub fn put(&self, table: T, number: i64, record: Vec<u8>) -> Result<(), T::Error> {
        self.store("INSERT OR REPLACE INTO ", table, number, record)
    }

    /// Stores a record under a number that has none yet. A record there is reported as damage.
    pub fn add(&self, table: T, number: i64, record: Vec<u8>) -> Result<(), T::Error> {
        self.store("INSERT INTO ", table, number, record)
    }

    fn store(&self, verb: &str, table: T, number: i64, mut record: Vec<u8>) -> Result<(), T::Error> {
        seal(table.seed(number), &mut record);
        let statement = [verb, table.name(), " VALUES (?1, ?2)"].concat();
        self.run(|connection| connection.prepare_cached(&statement)?.execute(params![number, record]))
            .map(drop)
    }

    /// Passes a record to `take`, and returns its result. `take` returns `None` if the bytes are
    /// not a valid record, which is reported as damage. Returns `None` if there is no such record.
    pub fn get<R>(
        &self,
        table: T,
        number: i64,
        take: impl FnOnce(&[u8]) -> Option<R>,
    ) -> Result<Option<R>, T::Error> {
        // Concatenated, not formatted: this runs for every record that is read, and takes less
        // than half the time.
        let statement = ["SELECT record FROM ", table.name(), " WHERE number = ?1"].concat();
        let found = self.run(|connection| {
            let mut statement = connection.prepare_cached(&statement)?;
            let found = statement
                .query_row([number], |row| Ok(record(table, number, row.get_ref(0)?).and_then(take)));
            found.optional()
        })?;
        found.map(|taken| taken.ok_or_else(|| self.damaged(table.describe(number)))).transpose()
    }

    /// Reads a record like [`get`](Self::get), but a missing record is reported as damage.
    pub fn need<R>(
        &self,
        table: T,
        number: i64,
        take: impl FnOnce(&[u8]) -> Option<R>,
    ) -> Result<R, T::Error> {
        self.get(table, number, take)?
            .ok_or_else(|| self.damaged(format_args!("{} is missing", table.describe(number))))
    }

    /// Removes a record.
    pub fn remove(&self, table: T, number: i64) -> Result<(), T::Error> {
        self.remove_range(table, number, number)
    }

    /// Removes all records of a table, whatever the state of its pages. The table is dropped as a
    /// whole, because a search would miss a record whose number is damaged.
    pub fn empty(&self, table: T) -> Result<(), T::Error> {
        let name = table.name();
        let statement = format!("DROP TABLE {name}; {}", creation(table));
        self.run(|connection| connection.execute_batch(&statement))
    }

    /// Removes the records with numbers `from` to `to`, both included.
    pub fn remove_range(&self, table: T, from: i64, to: i64) -> Result<(), T::Error> {
        let statement = format!("DELETE FROM {} WHERE number BETWEEN ?1 AND ?2", table.name());
        self.run(|connection| connection.prepare_cached(&statement)?.execute([from, to])).map(drop)
    }

    /// Passes each record of a table to `take`, in the order of their numbers. `take` returns
    /// `None` if a record is not valid.
    pub fn for_each(
        &self,
        table: T,
        mut take: impl FnMut(i64, &[u8]) -> Result<Option<()>, T::Error>,
    ) -> Result<(), T::Error> {
        self.for_each_between(table, i64::MIN, i64::MAX, &mut take)
    }

    /// Does the same as [`for_each`](Self::for_each) for the numbers `from` to `to`, both included.
    pub fn for_each_between(
        &self,
        table: T,
        from: i64,
        to: i64,
        mut take: impl FnMut(i64, &[u8]) -> Result<Option<()>, T::Error>,
    ) -> Result<(), T::Error> {
        let sql = |error| Self::sqlite(&self.path, &error);
        let name = table.name();
        let statement =
            format!("SELECT number, record FROM {name} WHERE number BETWEEN ?1 AND ?2 ORDER BY number");
        let mut statement = self.connection.prepare_cached(&statement).map_err(sql)?;
        let mut rows = statement.query([from, to]).map_err(sql)?;
        while let Some(row) = rows.next().map_err(sql)? {
            let number: i64 = row.get(0).map_err(sql)?;
            let taken = match record(table, number, row.get_ref(1).map_err(sql)?) {
                Some(record) => take(number, record)?,
                None => None,
            };
            taken.ok_or_else(|| self.damaged(table.describe(number)))?;
        }
        Ok(())
    }
}

/// Returns the statement that creates a table.
fn creation<T: Table>(table: T) -> String {
    format!("CREATE TABLE {} (number INTEGER PRIMARY KEY, record BLOB NOT NULL)", table.name())
}

/// Opens a connection that does not trust the contents of the file.
fn connect(at: &Path, more: OpenFlags, patience: Duration) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
    let connection = Connection::open_with_flags(at, flags)?;
    connection.busy_timeout(patience)?;
    // A commit is on the disk when it returns, and survives a power cut.
    connection.pragma_update(None, "synchronous", "FULL")?;
    // SQLite must refuse a damaged page instead of interpreting it. It must not map the file into
    // memory, because reading a truncated page would end the process.
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update_and_check(None, "mmap_size", 0, |_| Ok(()))?;
    connection.pragma_update(None, "cache_size", -32 * 1024)?;
    // Only `shorten_journal` makes checkpoints, and it empties the journal. A journal that stays
    // after its checkpoint and is damaged later could take parts of the file back to an older
    // state.
    connection.pragma_update_and_check(None, "wal_autocheckpoint", 0, |_| Ok(()))?;
    Ok(connection)
}

/// Returns true if a file cannot be read because it, or its folder, cannot be written: a journal
/// needs files beside it. On a full disk the journal's index cannot grow to its first page.
fn needs_writing(error: &rusqlite::Error) -> bool {
    let extended = error.sqlite_error().map(|error| error.extended_code);
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::DiskFull)
    ) || matches!(
        extended,
        Some(ffi::SQLITE_IOERR_SHMOPEN | ffi::SQLITE_IOERR_SHMSIZE | ffi::SQLITE_IOERR_SHMMAP)
    )
}

/// Returns a number in the header of the file.
fn number(connection: &Connection, name: &str) -> rusqlite::Result<i32> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

/// Returns the record in a column, or `None` if its checksum does not fit its place.
fn record<T: Table>(table: T, number: i64, value: ValueRef<'_>) -> Option<&[u8]> {
    unseal(table.seed(number), value.as_blob().ok()?)
}

/// The identity of a file whatever its name: its device and its number there.
type Identity = (u64, u64);

#[cfg(unix)]
fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(_path: &Path) -> Option<Identity> {
    None
}

/// Returns the path with `end` appended to the name.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}
