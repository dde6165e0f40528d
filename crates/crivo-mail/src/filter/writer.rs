//! The store as lessons see it: a connection that changes it, one transaction at a time.
//!
//! The connection is opened at the first lesson, because most filters only check. While a store is
//! made, the reader's connection serves for everything and the writer has none, because the file
//! has no name yet under which it could be opened again.

use std::path::{Path, PathBuf};

use super::snapshot::{StoreSnapshot, derive};
use crate::error::Result;
use crate::store::{Change, Changed, Store};

/// The connection that lessons write through.
#[derive(Debug)]
pub(crate) struct StoreWriter {
    /// The folder of the store; `None` while the store is made.
    folder: Option<PathBuf>,
    store: Option<Store>,
    uses_little_memory: bool,
}

impl StoreWriter {
    /// Makes a writer for the store in a folder.
    pub(crate) fn of_folder(folder: &Path) -> Self {
        Self { folder: Some(folder.to_path_buf()), store: None, uses_little_memory: false }
    }

    /// Makes the writer of a store that is being made.
    pub(crate) fn of_unfinished_store() -> Self {
        Self { folder: None, store: None, uses_little_memory: false }
    }

    /// Keeps little of the store in memory, from the next time that the connection is opened.
    pub(crate) fn use_little_memory(&mut self) {
        self.uses_little_memory = true;
    }

    /// Returns the connection and the folder of its store, or `None` while the store is made. Opens
    /// the connection again if another store has replaced the one it led to.
    pub(crate) fn open(&mut self) -> Result<Option<(&Store, &Path)>> {
        let Some(folder) = &self.folder else { return Ok(None) };
        if self.store.as_ref().is_none_or(Store::is_replaced) {
            let mut store = Store::open(folder)?;
            if self.uses_little_memory {
                store.use_little_memory()?;
            }
            self.store = Some(store);
        }
        Ok(self.store.as_ref().map(|store| (store, folder.as_path())))
    }
}

/// Changes messages of a store and derives what follows, in one transaction. `earlier` is used only
/// if no other process has changed the store since.
pub(crate) fn change_messages(
    store: &Store,
    earlier: Option<&StoreSnapshot>,
    work: impl FnOnce(&Store, &mut Change<'_>) -> Result<()>,
) -> Result<Vec<Changed>> {
    let mut change = store.change()?;
    work(store, &mut change)?;
    change.commit(|store, changed| derive(store, changed, earlier))
}
