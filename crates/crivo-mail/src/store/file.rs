//! The file of a store: four tables in SQLite, and nothing believed without its checksum.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, params};

use super::record::{Table, seal, unseal};
use crate::error::{Error, Problem, Result};

/// The name of the file in the folder of the store.
pub(crate) const FILE_NAME: &str = "mail.sqlite";

/// `cvml`, in the header of the file: what it is an application's file of.
const APPLICATION: i32 = 0x6376_6D6C;

/// The version of everything that is stored; another one is refused.
const VERSION: i32 = 2;

/// How long to wait for somebody else's commit.
const PATIENCE: Duration = Duration::from_secs(30);

/// When the journal is at least so long, it is brought into the file after a commit.
const LONG_JOURNAL: u64 = 64 << 20;

/// One connection to the file.
#[derive(Debug)]
pub(crate) struct File {
    connection: Connection,
    path: PathBuf,
}

impl File {
    /// Makes a new file, which appears whole or not at all; `fill` puts the first records into it.
    pub(crate) fn create(folder: &Path, fill: impl FnOnce(Self) -> Result<Self>) -> Result<()> {
        let path = folder.join(FILE_NAME);
        let refused = |error: std::io::Error| Error::store(&path, Problem::Refused(error.to_string()));
        std::fs::create_dir_all(folder).map_err(refused)?;
        // SQLite would play the journal of an earlier file into the new one.
        for rest in ["-wal", "-journal"].map(|end| path.with_file_name(format!("{FILE_NAME}{end}"))) {
            if rest.exists() && !path.exists() {
                let rest = rest.display();
                let what = format!("{rest} is left of an earlier store without its file: remove it first");
                return Err(Error::store(&path, Problem::Foreign(what)));
            }
        }
        let temporary = tempfile::Builder::new()
            .prefix(".crivo-")
            .suffix(".partial")
            .tempfile_in(folder)
            .map_err(refused)?;
        let new = Self { connection: connect(temporary.path(), &path)?, path: path.clone() };
        new.run(|connection| {
            // Weights and buckets are long: fewer, larger pages.
            connection.pragma_update(None, "page_size", 16384)?;
            for table in Table::ALL {
                let name = table.name();
                connection.execute_batch(&format!(
                    "CREATE TABLE {name} (number INTEGER PRIMARY KEY, record BLOB NOT NULL)"
                ))?;
            }
            connection.pragma_update(None, "application_id", APPLICATION)?;
            connection.pragma_update(None, "user_version", VERSION)
        })?;
        let new = fill(new)?;
        // The header of the file says from now on that it has a journal.
        new.run(|connection| {
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0))
        })?;
        new.connection.close().map_err(|(_, error)| Error::sqlite(&path, &error))?;
        temporary.as_file().sync_all().map_err(refused)?;
        match temporary.persist_noclobber(&path) {
            Ok(_) => {}
            // Somebody else was faster: theirs is as good.
            Err(refusal) if refusal.error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(refusal) => return Err(refused(refusal.error)),
        }
        if let Ok(folder) = std::fs::File::open(folder) {
            // Where a folder cannot be asked to reach the disk, the file is still whole.
            let _ = folder.sync_all();
        }
        Ok(())
    }

    /// Opens the file of a folder.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE_NAME);
        if !path.is_file() {
            return Err(Error::store(&path, Problem::Missing));
        }
        let file = Self { connection: connect(&path, &path)?, path };
        let pragma = |name: &str| {
            file.run(|connection| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0)))
        };
        if pragma("application_id")? != APPLICATION {
            return Err(file.damaged("it is not marked as a store of crivo mail, or empty"));
        }
        let version = pragma("user_version")?;
        if version != VERSION {
            let what = format!(
                "the store has version {version}, this program reads version {VERSION}: use the one that wrote it"
            );
            return Err(Error::store(&file.path, Problem::Foreign(what)));
        }
        Ok(file)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The bytes of the file and its journal.
    pub(crate) fn bytes(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |found| found.len()) + self.journal_bytes()
    }

    fn journal_bytes(&self) -> u64 {
        let journal = self.path.with_file_name(format!("{FILE_NAME}-wal"));
        std::fs::metadata(journal).map_or(0, |found| found.len())
    }

    pub(crate) fn damaged(&self, what: impl fmt::Display) -> Error {
        Error::damaged(&self.path, what)
    }

    fn run<'a, T>(&'a self, work: impl FnOnce(&'a Connection) -> rusqlite::Result<T>) -> Result<T> {
        work(&self.connection).map_err(|error| Error::sqlite(&self.path, &error))
    }

    /// Everything read until this ends is of one moment.
    pub(crate) fn read_transaction(&self) -> Result<Transaction<'_>> {
        self.run(Connection::unchecked_transaction)
    }

    /// Nobody else writes until this ends.
    pub(crate) fn write_transaction(&self) -> Result<Transaction<'_>> {
        self.run(|connection| {
            Transaction::new_unchecked(connection, rusqlite::TransactionBehavior::Immediate)
        })
    }

    /// Returns when everything is on the disk.
    pub(crate) fn commit(&self, transaction: Transaction<'_>) -> Result<()> {
        transaction.commit().map_err(|error| Error::sqlite(&self.path, &error))
    }

    /// Brings a long journal into the file and empties it. While somebody reads an older state, or the disk is full,
    /// that cannot be done: it is left to the next one, and the journal has all.
    pub(crate) fn shorten_journal(&self) {
        if self.journal_bytes() >= LONG_JOURNAL {
            let _ = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
    }

    /// What SQLite finds wrong with the pages themselves.
    pub(crate) fn check_pages(&self) -> Result<()> {
        let found: String =
            self.run(|connection| connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)))?;
        if found == "ok" { Ok(()) } else { Err(self.damaged(found)) }
    }
}

// ---- records ----

impl File {
    /// Stores a record in its place, sealed.
    pub(crate) fn put(&self, table: Table, number: i64, mut record: Vec<u8>) -> Result<()> {
        seal(table, number, &mut record);
        let statement = match table {
            Table::Head => "INSERT OR REPLACE INTO head VALUES (?1, ?2)",
            Table::Messages => "INSERT OR REPLACE INTO messages VALUES (?1, ?2)",
            Table::Features => "INSERT OR REPLACE INTO features VALUES (?1, ?2)",
            Table::Derived => "INSERT OR REPLACE INTO derived VALUES (?1, ?2)",
        };
        self.run(|connection| connection.prepare_cached(statement)?.execute(params![number, record]))
            .map(drop)
    }

    /// Hands a record to `take`; none if there is no such record.
    pub(crate) fn get<T>(
        &self,
        table: Table,
        number: i64,
        take: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<Option<T>> {
        let statement = match table {
            Table::Head => "SELECT record FROM head WHERE number = ?1",
            Table::Messages => "SELECT record FROM messages WHERE number = ?1",
            Table::Features => "SELECT record FROM features WHERE number = ?1",
            Table::Derived => "SELECT record FROM derived WHERE number = ?1",
        };
        let found = self.run(|connection| {
            let mut statement = connection.prepare_cached(statement)?;
            statement
                .query_row([number], |row| {
                    Ok(unseal(table, number, row.get_ref(0)?.as_blob()?).and_then(take))
                })
                .optional()
        })?;
        match found {
            None => Ok(None),
            Some(Some(taken)) => Ok(Some(taken)),
            Some(None) => Err(self.damaged(format_args!("record {number} of its {}", table.name()))),
        }
    }

    /// As [`get`](Self::get), for a record that has to be there.
    pub(crate) fn need<T>(
        &self,
        table: Table,
        number: i64,
        take: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<T> {
        self.get(table, number, take)?
            .ok_or_else(|| self.damaged(format_args!("record {number} of its {} is missing", table.name())))
    }

    pub(crate) fn remove(&self, table: Table, number: i64) -> Result<()> {
        let statement = format!("DELETE FROM {} WHERE number = ?1", table.name());
        self.run(|connection| connection.prepare_cached(&statement)?.execute([number])).map(drop)
    }

    /// Removes the records from one number to another, both included.
    pub(crate) fn remove_range(&self, table: Table, from: i64, to: i64) -> Result<()> {
        let statement = format!("DELETE FROM {} WHERE number BETWEEN ?1 AND ?2", table.name());
        self.run(|connection| connection.prepare_cached(&statement)?.execute([from, to])).map(drop)
    }

    /// Hands the records of a table to `take`, by number.
    pub(crate) fn for_each(
        &self,
        table: Table,
        mut take: impl FnMut(i64, &[u8]) -> Result<Option<()>>,
    ) -> Result<()> {
        let sql = |error| Error::sqlite(&self.path, &error);
        let statement = format!("SELECT number, record FROM {} ORDER BY number", table.name());
        let mut statement = self.connection.prepare(&statement).map_err(sql)?;
        let mut rows = statement.query([]).map_err(sql)?;
        while let Some(row) = rows.next().map_err(sql)? {
            let number: i64 = row.get(0).map_err(sql)?;
            let bytes = row.get_ref(1).map_err(sql)?.as_blob().map_err(|error| sql(error.into()))?;
            let taken = match unseal(table, number, bytes) {
                Some(record) => take(number, record)?,
                None => None,
            };
            taken.ok_or_else(|| self.damaged(format_args!("record {number} of its {}", table.name())))?;
        }
        Ok(())
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
        // Only `shorten_journal` does it, and leaves nothing of it: a journal that is in the file already and is
        // damaged later could take parts of the file back to an older state.
        connection.pragma_update_and_check(None, "wal_autocheckpoint", 0, |_| Ok(()))?;
        Ok(connection)
    };
    open().map_err(|error| Error::sqlite(name, &error))
}
