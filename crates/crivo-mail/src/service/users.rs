//! Whose store? Each user may have one of their own, in a folder beside the shared one.
//!
//! The name comes from the client, so it is never trusted as a path: [`folder_name`] takes names of
//! letters, digits and `. _ - + @` that begin with neither a dot nor a hyphen, and nothing else. A
//! name it does not take has no store of its own, and its mail is judged by the shared one. A name
//! without a folder gets no store either, unless that was allowed: any client could fill the disk
//! with stores. Stores are opened when they are first needed and a few of them stay open; the
//! folder is looked for again at every check, so that a store that appears, or goes, is noticed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::judge::{Judge, OpenStore};
use crate::{Error, Policy, Result};

/// The number of stores that stay open; each holds its model in memory.
const OPEN: usize = 32;

/// The longest name: file systems take 255 bytes, and people have shorter ones.
const LONGEST: usize = 100;

/// How a store is opened; the second argument says whether to make it.
type Open = dyn Fn(&Path, bool) -> Result<Arc<dyn Judge>> + Send + Sync;

/// The stores of users, in a folder.
pub struct Users {
    folder: PathBuf,
    opener: Box<Open>,
    /// Whether a name without a folder gets one with its first lesson.
    creates: bool,
    /// The most recently used last.
    open: Mutex<Vec<(String, Arc<dyn Judge>)>>,
}

impl Users {
    /// The stores below a folder, which need not exist yet, with what is wanted of their verdicts.
    pub fn new(folder: impl Into<PathBuf>, wanted: Policy) -> Self {
        Self::trusting(folder, wanted, Arc::default())
    }

    /// The same with hosts whose `Authentication-Results` are believed.
    pub fn trusting(folder: impl Into<PathBuf>, wanted: Policy, trusted_hosts: Arc<[String]>) -> Self {
        Self::opened_by(folder, move |path, create| {
            let opened = if create { OpenStore::open_or_create(path) } else { OpenStore::open(path) };
            let trusting = opened?.with_trusted_hosts(Arc::clone(&trusted_hosts));
            Ok(Arc::new(trusting.with_policy(wanted)?) as Arc<dyn Judge>)
        })
    }

    /// Stores that are opened in another way.
    pub fn opened_by(
        folder: impl Into<PathBuf>,
        opener: impl Fn(&Path, bool) -> Result<Arc<dyn Judge>> + Send + Sync + 'static,
    ) -> Self {
        Self { folder: folder.into(), opener: Box::new(opener), creates: false, open: Mutex::default() }
    }

    /// Whether a name without a folder gets one with its first lesson. Without that, a user's
    /// folder has to be made first.
    #[must_use]
    pub fn creating(self, creates: bool) -> Self {
        Self { creates, ..self }
    }

    /// The user's own store, if there is one.
    ///
    /// # Errors
    /// If there is one that cannot be opened.
    pub fn existing(&self, user: &str) -> Result<Option<Arc<dyn Judge>>> {
        match folder_name(user) {
            // A folder that was made for a user has no store before the first lesson.
            Some(name) if self.folder.join(name).is_dir() => match self.get(name, false) {
                Err(error) if error.is_missing_store() => Ok(None),
                opened => opened.map(Some),
            },
            _ => Ok(None),
        }
    }

    /// The user's own store, made if there is none and the user has a folder or may get one.
    ///
    /// # Errors
    /// If the name can have no store, has no folder and gets none, or the store cannot be opened or
    /// made.
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

    /// Those that are open now.
    pub fn open(&self) -> Vec<Arc<dyn Judge>> {
        self.lock().iter().map(|(_, store)| Arc::clone(store)).collect()
    }

    fn get(&self, name: &str, create: bool) -> Result<Arc<dyn Judge>> {
        let path = self.folder.join(name);
        // The user may have removed the folder to begin anew.
        let there = path.is_dir();
        if let Some(store) = self.move_to_end(name, there) {
            return Ok(store);
        }
        // Opening takes a while, and others are judged meanwhile. Two who open the same store at
        // once do no harm: it is made for many processes.
        let store = (self.opener)(&path, create)?;
        let mut open = self.lock();
        open.retain(|(open, _)| open != name);
        if open.len() >= OPEN {
            open.remove(0);
        }
        open.push((name.to_owned(), Arc::clone(&store)));
        Ok(store)
    }

    /// The store if it is open, now the most recently used; closed if its folder is gone.
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

/// The folder of a user's store, unless the name could lead elsewhere.
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
