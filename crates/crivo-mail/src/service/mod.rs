//! One filter for all clients: mail programs through spamd's protocol or as a milter, people
//! through the page.
//!
//! A [`Service`] has the shared store, the stores of users beside it, and a [`Journal`] of its
//! decisions. Any number of threads may use it.
//!
//! # Which store decides
//! A user's own store is asked first, because what is spam to one user is a newsletter to another.
//! If it is unsure, as it is for a long time after the first lesson, the shared store decides.
//! Labels of both are shown; the user's own take precedence. A user's lessons go to the user's own
//! store and change no other user's mail. Without a folder for users there is only the shared
//! store. A user's store that cannot be read is skipped, and the administrator is told
//! ([`Journal::take_trouble`]).

mod decision_log;
mod journal;
mod judge;
mod metrics;
mod users;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub use self::journal::{BARS, DECISIONS, Decision, Given, Journal, Origin};
pub use self::judge::{Judge, OpenStore};
pub use self::users::{Users, folder_name};
use crate::{Error, Judgement, Label, Learned, Reason, Result, Stats, Unlearned, Verdict};

/// How long counts of the store are reused, because counting reads all of it.
const COUNTED: Duration = Duration::from_secs(5);

/// Takes a line of the decision log.
type DecisionLog = dyn Fn(&str) + Send + Sync;

/// A filter that many clients and threads share.
pub struct Service {
    shared: Arc<dyn Judge>,
    users: Option<Users>,
    read_only: bool,
    journal: Mutex<Journal>,
    /// Takes one line for each decision.
    log: Option<Box<DecisionLog>>,
    /// The time of the last count of the store, the number of lessons then, and the result.
    counted: Mutex<Option<(Instant, u64, Stats)>>,
}

impl Service {
    /// Makes a service with only a shared store.
    ///
    /// # Errors
    /// Currently none; see [`Journal::new`].
    pub fn new(shared: Arc<dyn Judge>) -> Result<Self> {
        Ok(Self {
            shared,
            users: None,
            read_only: false,
            journal: Mutex::new(Journal::new()?),
            log: None,
            counted: Mutex::default(),
        })
    }

    /// Adds stores of users beside the shared one.
    #[must_use]
    pub fn with_users(mut self, users: Users) -> Self {
        self.users = Some(users);
        self
    }

    /// Sets whether lessons are refused.
    #[must_use]
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// Sets a log of decisions. Each is one line with Message-ID, verdict, points and milliseconds.
    #[must_use]
    pub fn with_log(mut self, log: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.log = Some(Box::new(log));
        self
    }

    /// Returns true if lessons are refused.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Returns true if users may have stores of their own.
    pub fn has_users(&self) -> bool {
        self.users.is_some()
    }

    /// Judges a message for a user.
    ///
    /// # Errors
    /// If a store is damaged.
    pub fn check(&self, user: Option<&str>, message: &[u8], origin: Origin) -> Result<Judgement> {
        self.check_and_number(user, message, origin).map(|(judgement, _)| judgement)
    }

    /// Judges a message, and also returns its number in the journal.
    ///
    /// # Errors
    /// If a store is damaged.
    pub fn check_and_number(
        &self,
        user: Option<&str>,
        message: &[u8],
        origin: Origin,
    ) -> Result<(Judgement, u64)> {
        let start = Instant::now();
        let judged = self.judge(user, message);
        let took = start.elapsed();
        if let (Some(log), Ok(judgement)) = (&self.log, &judged) {
            log(&decision_log::line(origin, user, message, judgement, took));
        }
        let mut journal = self.journal();
        match judged {
            Ok(judgement) => {
                let number = journal.record(origin, user, &judgement, message, took);
                Ok((judgement, number))
            }
            Err(error) => {
                journal.record_failure(&error);
                Err(error)
            }
        }
    }

    /// Judges a message for several recipients, once with each store that decides. The mildest
    /// judgement is returned, because a message that one recipient wants is not spam for all.
    ///
    /// # Errors
    /// If the shared store is damaged.
    pub fn check_for_all(&self, users: &[String], message: &[u8], origin: Origin) -> Result<Judgement> {
        let has_own = |user: &&String| {
            // A store that cannot be read counts here. Its error is recorded when it judges.
            self.users.as_ref().is_some_and(|users| !matches!(users.existing(user), Ok(None)))
        };
        let with_stores: Vec<&String> = users.iter().filter(has_own).collect();
        let needs_shared = with_stores.len() < users.len() || users.is_empty();
        let askers = with_stores.into_iter().map(|user| Some(user.as_str()));
        let mut mildest: Option<Judgement> = None;
        for user in needs_shared.then_some(None).into_iter().chain(askers) {
            let judgement = self.check(user, message, origin)?;
            if mildest.as_ref().is_none_or(|other| is_milder(&judgement, other)) {
                mildest = Some(judgement);
            }
        }
        mildest.map_or_else(|| self.check(None, message, origin), Ok)
    }

    /// Learns a message, in the user's own store if users have stores.
    ///
    /// # Errors
    /// If the service is read-only, the user cannot have a store, or the store cannot be written.
    pub fn learn(&self, user: Option<&str>, message: &[u8], label: &Label) -> Result<Learned> {
        self.lesson(|| self.store_to_teach(user)?.learn(message, label))
    }

    /// Forgets a label of a message or all of them, in the user's own store if users have stores.
    ///
    /// # Errors
    /// The errors of [`learn`](Self::learn).
    pub fn unlearn(&self, user: Option<&str>, message: &[u8], label: Option<&Label>) -> Result<Unlearned> {
        self.lesson(|| self.store_to_teach(user)?.unlearn(message, label))
    }

    /// Learns a message of the journal with a label, or forgets it if `label` is `None`. Returns
    /// whether that changed anything, or `None` if the journal no longer has the message.
    ///
    /// # Errors
    /// The errors of [`learn`](Self::learn).
    pub fn teach(&self, number: u64, label: Option<&Label>) -> Result<Option<bool>> {
        let found = self.journal().decision(number).and_then(|decision| {
            let message = decision.given.as_ref()?.message.clone()?;
            Some((decision.user.clone(), message))
        });
        let Some((user, message)) = found else { return Ok(None) };
        let user = user.as_deref();
        let (changed, taught) = match label {
            Some(label) => (self.learn(user, &message, label)? != Learned::Already, label.to_string()),
            None => (self.unlearn(user, &message, None)? == Unlearned::Removed, "forget".to_owned()),
        };
        let now = self.judge(user, &message)?;
        self.journal().record_lesson(number, (taught, changed), now);
        Ok(Some(changed))
    }

    /// Reads what other processes have learned since, in all open stores.
    ///
    /// # Errors
    /// If a store is damaged. The other stores are refreshed all the same.
    pub fn refresh(&self) -> Result<()> {
        let mut outcome = self.shared.refresh();
        for store in self.users.iter().flat_map(Users::open) {
            outcome = store.refresh().and(outcome);
        }
        outcome
    }

    /// Returns counts of the shared store's content.
    ///
    /// # Errors
    /// If the store is damaged.
    pub fn stats(&self) -> Result<Stats> {
        let lessons = self.journal().lessons;
        // The lock is held while counting, so that a second caller waits for this count.
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, _, stats)) =
            counted.as_ref().filter(|(at, then, _)| at.elapsed() < COUNTED && *then == lessons)
        {
            return Ok(stats.clone());
        }
        let stats = self.shared.stats()?;
        *counted = Some((Instant::now(), lessons, stats.clone()));
        Ok(stats)
    }

    /// Locks and returns the journal. Callers hold the lock briefly, because every check writes to
    /// the journal.
    pub fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn judge(&self, user: Option<&str>, message: &[u8]) -> Result<Judgement> {
        let (Some(users), Some(user)) = (&self.users, user) else { return self.shared.check(message) };
        let own = users.existing(user).and_then(|own| own.map(|own| own.check(message)).transpose());
        match own {
            Ok(None) => self.shared.check(message),
            Ok(Some(mut own)) if own.verdict != Verdict::Unsure => {
                own.reasons.push(Reason::Note(format!("decided by the own store of {user}")));
                Ok(own)
            }
            Ok(Some(mut own)) => {
                let mut shared = self.shared.check(message)?;
                shared.labels.append(&mut own.labels);
                Ok(shared)
            }
            // The shared store judges the mail, and the administrator is told.
            Err(error) => {
                let mut shared = self.shared.check(message)?;
                self.journal().record_failure(&error);
                let note = format!("the own store of {user} cannot be read: the shared one decided alone");
                shared.reasons.push(Reason::Note(note));
                Ok(shared)
            }
        }
    }

    fn store_to_teach(&self, user: Option<&str>) -> Result<Arc<dyn Judge>> {
        match (&self.users, user) {
            (Some(users), Some(user)) => users.own(user),
            _ => Ok(Arc::clone(&self.shared)),
        }
    }

    fn lesson<T>(&self, learn: impl FnOnce() -> Result<T>) -> Result<T> {
        if self.read_only {
            return Err(Error::Unsuitable("this service only reads, and learns nothing".into()));
        }
        let outcome = learn();
        let mut journal = self.journal();
        match &outcome {
            Ok(_) => journal.lessons += 1,
            Err(error) => journal.record_failure(error),
        }
        drop(journal);
        outcome
    }
}

/// Returns true if a judgement is further from spam than another.
fn is_milder(judgement: &Judgement, other: &Judgement) -> bool {
    let rank = |verdict: Verdict| match verdict {
        Verdict::Ham => 0,
        Verdict::Unsure => 1,
        Verdict::Spam => 2,
    };
    let (one, two) = (rank(judgement.verdict), rank(other.verdict));
    one < two || one == two && judgement.score < other.score
}
