//! The stores of users. Each user may have an own store, in a folder beside the shared one.
//!
//! The user name comes from the client, so it is never trusted as a path. [`folder_name`] accepts
//! only names of letters, digits and `. _ - + @` that begin with neither a dot nor a hyphen. A user
//! with any other name has no store, and the shared store judges the mail. A user without a folder
//! gets no store either, unless the service creates folders, because any client could fill the disk
//! with stores.
//!
//! Stores are opened at their first use, and a limited number stay open. The folder is checked at
//! every use, so that a store that is created or removed is noticed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::judge::{Judge, OpenStore};
use crate::{Error, Policy, Result};

/// The most stores that stay open. Each holds its model in memory.
const OPEN: usize = 32;

/// The longest name. File systems allow 255 bytes, but names of users are shorter.
const LONGEST: usize = 100;

/// Opens a store; the second argument says whether to create it.
type Open = dyn Fn(&Path, bool) -> Result<Arc<dyn Judge>> + Send + Sync;

/// The stores of users, in a folder.
pub struct Users {
    folder: PathBuf,
    opener: Box<Open>,
    /// Whether a user without a folder gets one with the first lesson.
    creates: bool,
    /// The open stores, the most recently used last.
    open: Mutex<Vec<(String, Arc<dyn Judge>)>>,
}

impl Users {
    /// Makes the stores below a folder, which need not exist yet, with a policy of verdicts.
    pub fn new(folder: impl Into<PathBuf>, wanted: Policy) -> Self {
        Self::trusting(folder, wanted, Arc::default())
    }

    /// The same as [`new`](Self::new), with hosts whose `Authentication-Results` are trusted.
    pub fn trusting(folder: impl Into<PathBuf>, wanted: Policy, trusted_hosts: Arc<[String]>) -> Self {
        Self::opened_by(folder, move |path, create| {
            let opened = if create { OpenStore::open_or_create(path) } else { OpenStore::open(path) };
            let trusting = opened?.with_trusted_hosts(Arc::clone(&trusted_hosts));
            Ok(Arc::new(trusting.with_policy(wanted)?) as Arc<dyn Judge>)
        })
    }

    /// Makes stores that `opener` opens.
    pub fn opened_by(
        folder: impl Into<PathBuf>,
        opener: impl Fn(&Path, bool) -> Result<Arc<dyn Judge>> + Send + Sync + 'static,
    ) -> Self {
        Self { folder: folder.into(), opener: Box::new(opener), creates: false, open: Mutex::default() }
    }

    /// Sets whether a user without a folder gets one with the first lesson. Otherwise the
    /// administrator has to create the folder first.
    #[must_use]
    pub fn creating(self, creates: bool) -> Self {
        Self { creates, ..self }
    }

    /// Returns the user's own store, or `None` if there is no such store.
    ///
    /// # Errors
    /// If the store cannot be opened.
    pub fn existing(&self, user: &str) -> Result<Option<Arc<dyn Judge>>> {
        match folder_name(user) {
            // A folder that was created for a user has no store before the first lesson.
            Some(name) if self.folder.join(name).is_dir() => match self.get(name, false) {
                Err(error) if error.is_missing_store() => Ok(None),
                opened => opened.map(Some),
            },
            _ => Ok(None),
        }
    }

    /// Returns the user's own store. It is created if there is none, and the user has a folder or
    /// may get one.
    ///
    /// # Errors
    /// If the name is not allowed, the user has no folder and may not get one, or the store cannot
    /// be opened or created.
    pub fn own(&self, user: &str) -> Result<Arc<dyn Judge>> {
        let name = folder_name(user).ok_or_else(|| {
            Error::Unsuitable(format!(
                "the user {user:?} cannot have a store: expected letters, digits and . _ - + @, beginning with neither a dot nor a hyphen"
            ))
        })?;
        if !self.creates && !self.folder.join(name).is_dir() {
            return Err(Error::Unsuitable(format!(
                "the user {user:?} has no store: the administrator of the server makes the folder {} first",
                self.folder.join(name).display()
            )));
        }
        self.get(name, true)
    }

    /// Returns the stores that are open.
    pub fn open(&self) -> Vec<Arc<dyn Judge>> {
        self.lock().iter().map(|(_, store)| Arc::clone(store)).collect()
    }

    fn get(&self, name: &str, create: bool) -> Result<Arc<dyn Judge>> {
        let path = self.folder.join(name);
        // The folder may have been removed, to begin anew.
        let there = path.is_dir();
        if let Some(store) = self.move_to_end(name, there) {
            return Ok(store);
        }
        // The lock is not held, because opening takes a while and other users' mail is judged
        // meanwhile. Two threads may open the same store, which was made for many processes.
        let store = (self.opener)(&path, create)?;
        let mut open = self.lock();
        open.retain(|(open, _)| open != name);
        if open.len() >= OPEN {
            open.remove(0);
        }
        open.push((name.to_owned(), Arc::clone(&store)));
        Ok(store)
    }

    /// Returns a store if it is open, and marks it as most recently used. Closes it if its folder
    /// is gone.
    fn move_to_end(&self, name: &str, there: bool) -> Option<Arc<dyn Judge>> {
        let mut open = self.lock();
        let at = open.iter().position(|(open, _)| open == name)?;
        let entry = open.remove(at);
        let store = Arc::clone(&entry.1);
        if there {
            open.push(entry);
        }
        there.then_some(store)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(String, Arc<dyn Judge>)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the name of the folder of a user's store, or `None` if the name might lead to another
/// folder.
pub fn folder_name(user: &str) -> Option<&str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '@');
    let safe =
        !user.is_empty() && user.len() <= LONGEST && !user.starts_with(['.', '-']) && user.chars().all(fits);
    safe.then_some(user)
}

#[cfg(test)]
mod tests {
    use std::path::Component;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn people_have_stores_and_paths_do_not() {
        for user in ["alice", "bob.smith@example.org", "x+y", "x-y", "R2_D2"] {
            assert_eq!(folder_name(user), Some(user));
        }
        for user in [
            "",
            ".",
            "..",
            "../x",
            "a/b",
            "/etc",
            "a\\b",
            "a\0",
            ".ssh",
            "-",
            "-rf",
            "c:",
            "ü",
            &"x".repeat(101),
        ] {
            assert_eq!(folder_name(user), None, "{user:?}");
        }
    }

    proptest! {
        #[test]
        fn no_name_leads_out_of_the_folder(user in any::<String>()) {
            if let Some(name) = folder_name(&user) {
                let parts: Vec<_> = Path::new(name).components().collect();
                prop_assert!(matches!(parts[..], [Component::Normal(_)]), "{:?}", parts);
            }
        }
    }
}
