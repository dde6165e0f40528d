//! Learning by moving: in a Maildir, a reader moves messages to the junk folder and back.
//!
//! Dovecot reports when a message is moved; other servers and mail programs do not. So the
//! mailboxes are listed repeatedly, and a message is recognised by its fingerprint wherever it
//! appears:
//!
//! | it was seen | and is now | lesson |
//! |---|---|---|
//! | in any other mailbox | in the junk folder | spam |
//! | in the junk folder | in any other mailbox but the bin | ham |
//! | in the junk folder | in the bin | none |
//! | nowhere | anywhere | none: it was delivered there |
//!
//! So a message that a filter delivers to the junk folder is no lesson, because the filter would
//! teach itself. Messages moved before the first look are not noticed either.
//!
//! A lesson that fails, because the disk is full for example, is tried again at the next look. So
//! is a message that cannot be read. Neither keeps other messages from teaching.
//!
//! Messages are read one at a time. Of each, a fingerprint and a name stay in memory.
//!
//! **Replies** (only if requested). A reader who answers a message wants it. So when a message
//! appears among the sent ones, the message it answers is learned as ham, unless it was learned
//! before or is in the junk folder or the bin.
//!
//! **Sent messages** (only if requested). A message that a reader writes is wanted mail in the
//! reader's own words. When it appears among the sent ones, it is learned as ham, unless it was
//! learned before. It has no transport headers, and none are learned from it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::label::Label;
use crate::message::{Message, header};
use crate::source::READ;

/// How deep mailboxes may be nested.
const DEPTH: usize = 8;

/// The granularity of modification times. A folder that changed less than this long ago may change
/// again and keep its modification time.
const GRAIN: Duration = Duration::from_secs(3);

/// After this number of looks, messages that no longer exist are forgotten.
const LOOKS: u64 = 500;

/// Names of mailboxes with a special role, in lower case.
const JUNK: [&str; 4] = ["junk", "spam", "junk e-mail", "junk email"];
const BIN: [&str; 4] = ["trash", "deleted items", "deleted messages", "bin"];
const SENT: [&str; 3] = ["sent", "sent items", "sent messages"];
const DRAFTS: [&str; 1] = ["drafts"];

/// The role of the mailbox that a message is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Wanted,
    Junk,
    Bin,
    Sent,
}

/// A Maildir, and where its messages were at the last look.
#[derive(Debug)]
pub struct Watch {
    maildir: PathBuf,
    /// The name of the junk folder; `None` for the usual names.
    junk: Option<String>,
    learns_replies: bool,
    learns_sent: bool,
    mailboxes: BTreeMap<PathBuf, Mailbox>,
    /// The place of each message, by fingerprint.
    places: HashMap<u64, Place>,
    /// The file of each wanted message by its `Message-ID`, if replies are lessons.
    ids: HashMap<String, (PathBuf, OsString)>,
    looks: u64,
    /// Messages that were missing when [`forget_gone`](Self::forget_gone) last ran.
    gone: HashSet<u64>,
}

/// The state of a mailbox at the last look.
#[derive(Debug, Default)]
struct Mailbox {
    /// Fingerprints by the part of the file name that flags do not change.
    seen: HashMap<OsString, u64>,
    /// The modification times of `cur` and `new`; `None` if the mailbox has to be listed.
    changed: Option<[Option<SystemTime>; 2]>,
}

/// A lesson that was learned from a move or a reply, or from a sent message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchedLesson {
    /// What was learned.
    pub label: Label,
    /// The subject of the message.
    pub subject: String,
    /// Why it was learned.
    pub cause: LessonCause,
}

/// The cause of a lesson.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LessonCause {
    /// The message was moved.
    Moved,
    /// The message was answered.
    Answered,
    /// The message was sent.
    Sent,
}

/// A message that appeared in a mailbox.
struct Arrival {
    mailbox: PathBuf,
    base: OsString,
    place: Place,
    file: PathBuf,
}

impl Watch {
    /// Looks at a Maildir for the first time. The messages in it are no lessons. Mailboxes and
    /// messages that cannot be read are tried again at each look.
    ///
    /// # Errors
    /// If it is no Maildir, or its folders cannot be listed.
    pub fn begin(maildir: &Path, junk: Option<&str>, learns_replies: bool) -> Result<Self> {
        if !is_mailbox(maildir) {
            let path = maildir.display();
            return Err(Error::Unsuitable(format!("{path} is no Maildir: it has neither cur nor new")));
        }
        let mut watch = Self {
            maildir: maildir.to_path_buf(),
            junk: junk.map(str::to_lowercase),
            learns_replies,
            learns_sent: false,
            mailboxes: BTreeMap::new(),
            places: HashMap::new(),
            ids: HashMap::new(),
            looks: 0,
            gone: HashSet::new(),
        };
        for arrival in watch.arrivals()?.0 {
            match read(&arrival.file) {
                Ok(Some(bytes)) => {
                    let fingerprint = Message::read(&bytes).fingerprint;
                    watch.settle(&arrival, &bytes, fingerprint, arrival.place);
                }
                Ok(None) | Err(_) => watch.list_again(&arrival.mailbox),
            }
        }
        Ok(watch)
    }

    /// Learns messages that are sent from now on, too.
    #[must_use]
    pub fn with_sent_messages(mut self) -> Self {
        self.learns_sent = true;
        self
    }

    /// Returns true if there is a junk folder. Without it, no message can be moved to it.
    pub fn has_junk(&self) -> bool {
        self.mailboxes.keys().any(|mailbox| self.place_of(mailbox) == Some(Place::Junk))
    }

    /// Looks again, and teaches the lessons of the messages that appeared. Returns the lessons, and
    /// the first error if a lesson failed or a message could not be read. Both are tried again at
    /// the next look.
    ///
    /// # Errors
    /// If the folders of the Maildir cannot be listed.
    pub fn look(&mut self, filter: &Filter) -> Result<(Vec<WatchedLesson>, Option<Error>)> {
        let (arrivals, mut trouble) = self.arrivals()?;
        let mut lessons = Vec::new();
        for arrival in arrivals {
            let taught = match read(&arrival.file) {
                Ok(Some(bytes)) => self.teach(filter, &arrival, &bytes),
                // A file that no longer exists was renamed, and is found at the next look.
                Ok(None) => {
                    self.list_again(&arrival.mailbox);
                    continue;
                }
                Err(error) => Err(error),
            };
            match taught {
                Ok(taught) => lessons.extend(taught),
                Err(error) => {
                    // The message is not marked as seen, so it arrives again at the next look.
                    self.list_again(&arrival.mailbox);
                    trouble = trouble.or(Some(error));
                }
            }
        }
        self.looks += 1;
        if self.looks.is_multiple_of(LOOKS) {
            self.forget_gone();
        }
        Ok((lessons, trouble))
    }

    /// Teaches the lessons of a message that appeared.
    fn teach(&mut self, filter: &Filter, arrival: &Arrival, bytes: &[u8]) -> Result<Vec<WatchedLesson>> {
        let message = Message::read(bytes);
        let before = self.places.get(&message.fingerprint).copied();
        let label = match (before, arrival.place) {
            (Some(Place::Wanted | Place::Bin | Place::Sent), Place::Junk) => Some(Label::Spam),
            (Some(Place::Junk), Place::Wanted | Place::Sent) => Some(Label::Ham),
            _ => None,
        };
        let mut lessons = Vec::new();
        if let Some(label) = label {
            filter.learn(bytes, &label)?;
            let subject = message.subject.trim().to_owned();
            lessons.push(WatchedLesson { label, subject, cause: LessonCause::Moved });
        } else if self.learns_sent
            && (before, arrival.place) == (None, Place::Sent)
            && filter.learned_as(message.fingerprint)?.is_none()
        {
            filter.learn(bytes, &Label::Ham)?;
            let subject = message.subject.trim().to_owned();
            lessons.push(WatchedLesson { label: Label::Ham, subject, cause: LessonCause::Sent });
        }
        if arrival.place == Place::Sent && self.learns_replies {
            lessons.extend(self.learn_answered(filter, &header(bytes, "in-reply-to"))?);
        }
        // Junk in the bin is still junk. If it is moved out of the bin later, it is wanted.
        let place = match (before, arrival.place) {
            (Some(Place::Junk), Place::Bin) => Place::Junk,
            (_, place) => place,
        };
        self.settle(arrival, bytes, message.fingerprint, place);
        Ok(lessons)
    }

    /// Learns the answered message as ham, if it is in a wanted place and was not learned before.
    fn learn_answered(&self, filter: &Filter, answered: &str) -> Result<Option<WatchedLesson>> {
        let Some((mailbox, base)) = self.ids.get(answered).filter(|_| !answered.is_empty()) else {
            return Ok(None);
        };
        let Some(bytes) = find(mailbox, base).and_then(|path| read(&path).transpose()).transpose()? else {
            return Ok(None);
        };
        let message = Message::read(&bytes);
        let is_wanted = self.places.get(&message.fingerprint) == Some(&Place::Wanted);
        if !is_wanted || filter.learned_as(message.fingerprint)?.is_some() {
            return Ok(None);
        }
        filter.learn(&bytes, &Label::Ham)?;
        let subject = message.subject.trim().to_owned();
        Ok(Some(WatchedLesson { label: Label::Ham, subject, cause: LessonCause::Answered }))
    }

    /// Records where a message is.
    fn settle(&mut self, arrival: &Arrival, bytes: &[u8], fingerprint: u64, place: Place) {
        self.places.insert(fingerprint, place);
        if let Some(mailbox) = self.mailboxes.get_mut(&arrival.mailbox) {
            mailbox.seen.insert(arrival.base.clone(), fingerprint);
        }
        if self.learns_replies && place == Place::Wanted {
            let id = header(bytes, "message-id");
            self.ids.insert(id, (arrival.mailbox.clone(), arrival.base.clone()));
        }
    }

    /// Lists a mailbox at the next look, whether it changes until then or not.
    fn list_again(&mut self, mailbox: &Path) {
        if let Some(mailbox) = self.mailboxes.get_mut(mailbox) {
            mailbox.changed = None;
        }
    }

    /// Lists the mailboxes that have changed. Returns their new messages, and the first error if a
    /// mailbox could not be listed.
    fn arrivals(&mut self) -> Result<(Vec<Arrival>, Option<Error>)> {
        let mut found = Vec::new();
        mailboxes(&self.maildir, DEPTH, &mut found)?;
        self.mailboxes.retain(|path, _| found.contains(path));
        let (mut arrivals, mut trouble) = (Vec::new(), None);
        for path in found {
            let Some(place) = self.place_of(&path) else { continue };
            let mailbox = self.mailboxes.entry(path.clone()).or_default();
            let changed = ["cur", "new"]
                .map(|part| fs::metadata(path.join(part)).and_then(|found| found.modified()).ok());
            if mailbox.changed == Some(changed) {
                continue;
            }
            let listed = match messages(&path) {
                Ok(listed) => listed,
                Err(error) => {
                    mailbox.changed = None;
                    trouble = trouble.or(Some(error));
                    continue;
                }
            };
            let is_settled = |time: &SystemTime| time.elapsed().is_ok_and(|elapsed| elapsed > GRAIN);
            mailbox.changed = changed.iter().flatten().all(is_settled).then_some(changed);
            mailbox.seen.retain(|base, _| listed.contains_key(base));
            let new = listed.into_iter().filter(|(base, _)| !mailbox.seen.contains_key(base));
            arrivals.extend(new.map(|(base, file)| Arrival { mailbox: path.clone(), base, place, file }));
        }
        Ok((arrivals, trouble))
    }

    /// Returns the role of a mailbox, or `None` if its messages are not watched.
    fn place_of(&self, mailbox: &Path) -> Option<Place> {
        if mailbox == self.maildir {
            return Some(Place::Wanted);
        }
        let name = mailbox.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let name = name.trim_start_matches('.');
        let is_junk = match &self.junk {
            Some(junk) => name == junk,
            None => JUNK.contains(&name),
        };
        match name {
            _ if is_junk => Some(Place::Junk),
            name if DRAFTS.contains(&name) => None,
            name if BIN.contains(&name) => Some(Place::Bin),
            name if SENT.contains(&name) => Some(Place::Sent),
            _ => Some(Place::Wanted),
        }
    }

    /// Forgets messages that were also missing at the last call. One miss is not enough, because a
    /// move may remove a message before it adds it elsewhere.
    fn forget_gone(&mut self) {
        let there: HashSet<u64> =
            self.mailboxes.values().flat_map(|mailbox| mailbox.seen.values().copied()).collect();
        let gone: HashSet<u64> =
            self.places.keys().copied().filter(|message| !there.contains(message)).collect();
        self.places.retain(|message, _| !(gone.contains(message) && self.gone.contains(message)));
        let mailboxes = &self.mailboxes;
        self.ids.retain(|_, (mailbox, base)| {
            mailboxes.get(mailbox).is_some_and(|mailbox| mailbox.seen.contains_key(base))
        });
        self.gone = gone;
    }
}

impl Filter {
    /// Returns whether a message was learned as spam (true) or ham (false), or `None` if neither.
    pub(crate) fn learned_as(&self, fingerprint: u64) -> Result<Option<bool>> {
        self.with_store(|store| Ok(store.message(fingerprint)?.and_then(|learnt| learnt.is_spam())))
    }
}

fn trouble(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_path_buf();
    move |cause| Error::Mail { path, cause }
}

fn is_mailbox(folder: &Path) -> bool {
    ["cur", "new"].iter().any(|part| folder.join(part).is_dir())
}

/// Collects the mailboxes in a folder and below it, however they are nested.
fn mailboxes(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<()> {
    if is_mailbox(folder) {
        found.push(folder.to_path_buf());
    }
    let entries = match fs::read_dir(folder) {
        // A mailbox may be removed at any time.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(trouble(folder))?,
    };
    for entry in entries {
        let entry = entry.map_err(trouble(folder))?;
        let name = entry.file_name();
        let is_part = ["cur", "new", "tmp"].iter().any(|part| name == OsStr::new(part));
        if depth > 0 && !is_part && entry.path().is_dir() {
            mailboxes(&entry.path(), depth - 1, found)?;
        }
    }
    Ok(())
}

/// Returns the files of a mailbox by the part of their name that flags do not change.
fn messages(mailbox: &Path) -> Result<BTreeMap<OsString, PathBuf>> {
    let mut found = BTreeMap::new();
    for part in ["new", "cur"] {
        let folder = mailbox.join(part);
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries.map_err(trouble(&folder))?,
        };
        for entry in entries {
            let path = entry.map_err(trouble(&folder))?.path();
            if let Some(name) = path.file_name().filter(|name| !name.as_encoded_bytes().starts_with(b".")) {
                found.insert(base_of(name), path);
            }
        }
    }
    Ok(found)
}

/// Returns the part of a file name before its flags.
fn base_of(name: &OsStr) -> OsString {
    let text = name.to_string_lossy();
    text.split_once(":2,").map_or_else(|| name.to_owned(), |(base, _)| base.into())
}

/// Returns the file of a message, whatever its flags are now.
fn find(mailbox: &Path, base: &OsStr) -> Option<PathBuf> {
    messages(mailbox).ok()?.remove(base)
}

/// Reads as much of a message as the filter uses. Returns `None` if the file no longer exists.
fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(READ as u64).read_to_end(&mut bytes));
    match read {
        Ok(_) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(trouble(path)(error)),
    }
}

#[cfg(test)]
mod tests;
