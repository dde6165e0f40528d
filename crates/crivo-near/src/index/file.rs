//! The file of an index: three tables in SQLite, and nothing believed without its checksum.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, params};

use super::buckets;
use super::error::{IndexProblem, damaged, explain, trouble};
use super::record::{Document, Place, State, seal, unseal};
use crate::error::{Error, Result};

/// The name of the file in the folder of the index.
pub(super) const FILE_NAME: &str = "index.sqlite";

/// `cvix`, in the header of the file: what it is an application's file of.
const APPLICATION: i32 = 0x6376_6978;

/// How long to wait for somebody else's commit.
const PATIENCE: Duration = Duration::from_secs(10);

/// When the journal is at least so long, it is brought into the file after a commit.
const LONG_JOURNAL: u64 = 64 << 20;

/// The records of the table `head`.
const SETTINGS: i64 = 1;
const STATE: i64 = 2;

const SCHEMA: &str = "
    CREATE TABLE head (number INTEGER PRIMARY KEY, record BLOB NOT NULL);
    CREATE TABLE documents (number INTEGER PRIMARY KEY, record BLOB NOT NULL);
    CREATE TABLE buckets (number INTEGER PRIMARY KEY, record BLOB NOT NULL);
";

/// One connection to the file.
pub(super) struct File {
    connection: Connection,
    path: PathBuf,
}

impl File {
    /// Makes a new file, which appears whole or not at all.
    pub(super) fn create(folder: &Path, settings: &str) -> Result<()> {
        let path = folder.join(FILE_NAME);
        let refused = |error: std::io::Error| trouble(&path, IndexProblem::Refused(error.to_string()));
        std::fs::create_dir_all(folder).map_err(refused)?;
        // SQLite would play the journal of an earlier file into the new one.
        for rest in ["-wal", "-journal"].map(|end| path.with_file_name(format!("{FILE_NAME}{end}"))) {
            if rest.exists() && !path.exists() {
                let rest = rest.display();
                let what = format!("{rest} is left of an earlier index without its file: remove it first");
                return Err(trouble(&path, IndexProblem::Foreign(what)));
            }
        }
        let temporary = tempfile::Builder::new()
            .prefix(".crivo-")
            .suffix(".partial")
            .tempfile_in(folder)
            .map_err(refused)?;
        let new = Self { connection: connect(temporary.path(), &path)?, path: path.clone() };
        new.fill(settings)?;
        new.connection.close().map_err(|(_, error)| explain(&path, &error))?;
        share(&temporary).map_err(refused)?;
        temporary.as_file().sync_all().map_err(refused)?;
        temporary.persist_noclobber(&path).map_err(|refusal| match refusal.error.kind() {
            std::io::ErrorKind::AlreadyExists => trouble(&path, IndexProblem::Exists),
            _ => refused(refusal.error),
        })?;
        if let Ok(folder) = std::fs::File::open(folder) {
            // Where a folder cannot be asked to reach the disk, the file is still whole.
            let _ = folder.sync_all();
        }
        Ok(())
    }

    fn fill(&self, settings: &str) -> Result<()> {
        let transaction = self.write_transaction()?;
        self.run(|connection| {
            connection.execute_batch(SCHEMA)?;
            connection.pragma_update(None, "application_id", APPLICATION)
        })?;
        let mut record = settings.as_bytes().to_vec();
        seal(Place::Settings, &mut record);
        self.put("INSERT INTO head VALUES (?1, ?2)", SETTINGS, &record)?;
        let state = State { buckets: 1, ..State::default() };
        self.put("INSERT INTO head VALUES (?1, ?2)", STATE, &state.encode())?;
        self.put_bucket(0, &buckets::encode(0, &mut []))?;
        self.commit(transaction)?;
        // The header of the file says from now on that it has a journal.
        self.run(|connection| {
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0))
        })
        .map(drop)
    }

    /// Opens the file of a folder.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE_NAME);
        if !path.is_file() {
            return Err(trouble(&path, IndexProblem::Missing));
        }
        let file = Self { connection: connect(&path, &path)?, path };
        let application: i32 =
            file.run(|connection| connection.pragma_query_value(None, "application_id", |row| row.get(0)))?;
        if application != APPLICATION {
            return Err(file.damaged("it is not marked as an index of crivo, or empty"));
        }
        Ok(file)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn set_patience(&self, time: Duration) -> Result<()> {
        self.run(|connection| connection.busy_timeout(time))
    }

    /// The bytes of the file and its journal.
    pub(super) fn bytes(&self) -> u64 {
        let length = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
        length(&self.path) + self.journal_bytes()
    }

    fn journal_bytes(&self) -> u64 {
        let journal = self.path.with_file_name(format!("{FILE_NAME}-wal"));
        std::fs::metadata(journal).map_or(0, |found| found.len())
    }

    pub(super) fn damaged(&self, what: impl fmt::Display) -> Error {
        damaged(&self.path, what)
    }

    fn run<'a, T>(&'a self, work: impl FnOnce(&'a Connection) -> rusqlite::Result<T>) -> Result<T> {
        work(&self.connection).map_err(|error| explain(&self.path, &error))
    }
}

// ---- transactions ----

impl File {
    /// Everything read until this ends is of one moment.
    pub(super) fn read_transaction(&self) -> Result<Transaction<'_>> {
        self.run(Connection::unchecked_transaction)
    }

    /// Nobody else writes until this ends.
    pub(super) fn write_transaction(&self) -> Result<Transaction<'_>> {
        self.run(|connection| {
            Transaction::new_unchecked(connection, rusqlite::TransactionBehavior::Immediate)
        })
    }

    /// Returns when everything is on the disk.
    pub(super) fn commit(&self, transaction: Transaction<'_>) -> Result<()> {
        transaction.commit().map_err(|error| explain(&self.path, &error))
    }

    /// Brings a long journal into the file and empties it. While somebody reads an older state, or
    /// the disk is full, that cannot be done: it is left to the next one, and the journal has all.
    pub(super) fn shorten_journal(&self) {
        if self.journal_bytes() >= LONG_JOURNAL {
            let _ = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
    }
}

// ---- records ----

impl File {
    fn put(&self, statement: &str, number: i64, record: &[u8]) -> Result<()> {
        self.run(|connection| connection.prepare_cached(statement)?.execute(params![number, record]))
            .map(drop)
    }

    /// Hands the bytes of a record to `take`; `None` if there is no such record.
    fn get<T>(&self, statement: &str, number: i64, take: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        self.run(|connection| {
            let mut statement = connection.prepare_cached(statement)?;
            statement.query_row([number], |row| Ok(take(row.get_ref(0)?.as_blob()?))).optional()
        })
    }

    pub(super) fn settings(&self) -> Result<String> {
        let settings = self.get("SELECT record FROM head WHERE number = ?1", SETTINGS, |bytes| {
            unseal(Place::Settings, bytes).map(|record| String::from_utf8_lossy(record).into_owned())
        })?;
        settings.flatten().ok_or_else(|| self.damaged("the record of its settings"))
    }

    pub(super) fn state(&self) -> Result<State> {
        let state = self.get("SELECT record FROM head WHERE number = ?1", STATE, State::decode)?;
        state.flatten().ok_or_else(|| self.damaged("the record of its state"))
    }

    pub(super) fn put_state(&self, state: State) -> Result<()> {
        self.put("UPDATE head SET record = ?2 WHERE number = ?1", STATE, &state.encode())
    }

    /// Hands the postings of a bucket to `take`.
    pub(super) fn bucket<T>(
        &self,
        bucket: u64,
        take: impl FnOnce(&mut dyn Iterator<Item = (u64, u32)>) -> T,
    ) -> Result<T> {
        let taken = self.get("SELECT record FROM buckets WHERE number = ?1", bucket as i64, |bytes| {
            buckets::postings(bucket, bytes).map(|mut postings| take(&mut postings))
        })?;
        taken.flatten().ok_or_else(|| self.damaged(format_args!("the record of bucket {bucket}")))
    }

    pub(super) fn put_bucket(&self, bucket: u64, record: &[u8]) -> Result<()> {
        self.put("INSERT OR REPLACE INTO buckets VALUES (?1, ?2)", bucket as i64, record)
    }

    pub(super) fn document(&self, number: u32) -> Result<Document> {
        let document =
            self.get("SELECT record FROM documents WHERE number = ?1", number.into(), |bytes| {
                Document::decode(number, bytes)
            })?;
        document.flatten().ok_or_else(|| self.damaged(format_args!("the record of document {number}")))
    }

    pub(super) fn put_document(&self, number: u32, record: &[u8]) -> Result<()> {
        self.put("INSERT INTO documents VALUES (?1, ?2)", number.into(), record)
    }

    pub(super) fn remove_document(&self, number: u32) -> Result<()> {
        self.run(|connection| {
            connection.prepare_cached("DELETE FROM documents WHERE number = ?1")?.execute([number])
        })
        .map(drop)
    }

    /// Hands every document to `take`, by number.
    pub(super) fn for_each_document(&self, mut take: impl FnMut(u32, Document) -> Result<()>) -> Result<()> {
        let sql = |error| explain(&self.path, &error);
        let mut statement =
            self.connection.prepare("SELECT number, record FROM documents ORDER BY number").map_err(sql)?;
        let mut rows = statement.query([]).map_err(sql)?;
        while let Some(row) = rows.next().map_err(sql)? {
            let number: u32 = row.get(0).map_err(sql)?;
            let bytes = row.get_ref(1).map_err(sql)?.as_blob().map_err(|error| sql(error.into()))?;
            let document = Document::decode(number, bytes)
                .ok_or_else(|| self.damaged(format_args!("the record of document {number}")))?;
            take(number, document)?;
        }
        Ok(())
    }

    /// How many buckets are stored.
    pub(super) fn stored_buckets(&self) -> Result<u64> {
        let count = |connection: &Connection| {
            connection.query_row("SELECT count(*) FROM buckets", [], |row| row.get::<_, i64>(0))
        };
        self.run(count).map(|count| count as u64)
    }

    /// What SQLite finds wrong with the pages themselves.
    pub(super) fn check_pages(&self) -> Result<()> {
        let found: String =
            self.run(|connection| connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)))?;
        if found == "ok" { Ok(()) } else { Err(self.damaged(found)) }
    }
}

/// A connection to the file at `at`, which errors call `name`.
fn connect(at: &Path, name: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || {
        let connection = Connection::open_with_flags(at, flags)?;
        connection.busy_timeout(PATIENCE)?;
        // A commit is on the disk when it returns, and stays there through a power cut.
        connection.pragma_update(None, "synchronous", "FULL")?;
        // A damaged page is to be refused, not interpreted, and the file never mapped into memory: a
        // page that is cut off would end the process.
        connection.pragma_update(None, "cell_size_check", true)?;
        connection.pragma_update(None, "trusted_schema", false)?;
        connection.pragma_update_and_check(None, "mmap_size", 0, |_| Ok(()))?;
        connection.pragma_update(None, "cache_size", -32 * 1024)?;
        // Only `shorten_journal` does it, and leaves nothing of it: a journal that is in the file
        // already and is damaged later could take parts of the file back to an older state.
        connection.pragma_update_and_check(None, "wal_autocheckpoint", 0, |_| Ok(()))?;
        Ok(connection)
    };
    open().map_err(|error| explain(name, &error))
}

/// Lets others read the new file as any other: temporary files are private.
#[cfg(unix)]
fn share(file: &tempfile::NamedTempFile) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn share(_: &tempfile::NamedTempFile) -> std::io::Result<()> {
    Ok(())
}
