//! What has been decided since the start? Counts, times, and the last decisions.
//!
//! Everything here has a fixed size, however long the service runs: counts, a histogram, a sketch
//! of quantiles, and the last [`DECISIONS`] decisions. The text of a message is kept only if a
//! person gave it to the page, so that they can teach it there; of mail that passes through nothing
//! is kept but verdict, score and size. A user of the page cannot read other users' mail.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crivo::profile::DDSketch;

use crate::{Error, Judgement, Result, Verdict};

/// The number of decisions that are remembered.
pub const DECISIONS: usize = 100;

/// The number of troubles that wait to be told.
const TROUBLES: usize = 32;

/// The number of bytes of messages that are kept in all.
const KEPT: usize = 64 << 20;

/// The number of bars in the histogram of scores.
pub const BARS: usize = 20;

/// Where a message came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Through the spamd protocol.
    Spamd,
    /// Through the milter protocol.
    Milter,
    /// From a person, through the page.
    Page,
}

impl Origin {
    /// `spamd`, `milter` or `page`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Spamd => "spamd",
            Self::Milter => "milter",
            Self::Page => "page",
        }
    }
}

/// A decision and, if a person asked for it, what it was about.
#[derive(Debug, Clone)]
pub struct Decision {
    /// Counted from 1.
    pub number: u64,
    /// When it was made.
    pub at: SystemTime,
    /// Where the message came from.
    pub origin: Origin,
    /// Whose mail it was.
    pub user: Option<String>,
    /// The answer.
    pub verdict: Verdict,
    /// The probability of spam.
    pub score: f64,
    /// How long the message was.
    pub bytes: usize,
    /// What is remembered of a message that a person gave.
    pub given: Option<Given>,
}

/// A message that a person gave, and all that was said about it.
#[derive(Debug, Clone)]
pub struct Given {
    /// The message; `None` once others needed the room.
    pub message: Option<Arc<[u8]>>,
    /// Everything the filter said, by now.
    pub judgement: Judgement,
    /// What it has been taught as here, in order, and whether that changed anything.
    pub taught: Vec<(String, bool)>,
    /// What the filter said first, if it has been taught since.
    pub before: Option<(Verdict, f64)>,
}

/// Everything since the start.
#[derive(Debug, Clone)]
pub struct Journal {
    /// When the service started.
    pub since: SystemTime,
    /// Checks that called a message spam, unsure and ham.
    pub verdicts: [u64; 3],
    /// Checks by score, in bars of equal width.
    pub scores: [u64; BARS],
    /// How long checks took, in seconds.
    pub seconds: DDSketch,
    /// Checks and lessons that failed.
    pub failures: u64,
    /// Messages learned or forgotten.
    pub lessons: u64,
    decisions: VecDeque<Decision>,
    last: u64,
    trouble: VecDeque<String>,
}

impl Journal {
    /// Nothing yet.
    ///
    /// # Errors
    /// None: the sketch's parameters are constants that it takes.
    pub fn new() -> Result<Self> {
        Ok(Self {
            since: SystemTime::now(),
            verdicts: [0; 3],
            scores: [0; BARS],
            seconds: DDSketch::new(0.01, 1024)?,
            failures: 0,
            lessons: 0,
            decisions: VecDeque::with_capacity(DECISIONS),
            last: 0,
            trouble: VecDeque::new(),
        })
    }

    /// Remembers a decision, and returns its number.
    pub(super) fn record(
        &mut self,
        origin: Origin,
        user: Option<&str>,
        judgement: &Judgement,
        message: &[u8],
        took: Duration,
    ) -> u64 {
        self.verdicts[place(judgement.verdict)] += 1;
        let bar = (judgement.score.clamp(0.0, 1.0) * BARS as f64) as usize;
        self.scores[bar.min(BARS - 1)] += 1;
        self.seconds.insert(took.as_secs_f64());
        if self.decisions.len() == DECISIONS {
            self.decisions.pop_front();
        }
        self.last += 1;
        let given = (origin == Origin::Page).then(|| Given {
            message: Some(message.into()),
            judgement: judgement.clone(),
            taught: Vec::new(),
            before: None,
        });
        self.decisions.push_back(Decision {
            number: self.last,
            at: SystemTime::now(),
            origin,
            user: user.map(str::to_owned),
            verdict: judgement.verdict,
            score: judgement.score,
            bytes: message.len(),
            given,
        });
        self.make_room();
        self.last
    }

    /// Remembers what a message was taught as, and what the filter says now.
    pub(super) fn record_lesson(&mut self, number: u64, taught: (String, bool), now: Judgement) {
        let Some(decision) = self.decisions.iter_mut().find(|decision| decision.number == number) else {
            return;
        };
        let Some(given) = &mut decision.given else { return };
        given.before.get_or_insert((decision.verdict, decision.score));
        (decision.verdict, decision.score) = (now.verdict, now.score);
        given.judgement = now;
        given.taught.push(taught);
    }

    /// Remembers that a check or a lesson failed, and why.
    pub(super) fn record_failure(&mut self, error: &Error) {
        self.failures += 1;
        self.record_trouble(error.to_string());
    }

    /// Remembers trouble that the administrator should hear of, unless the same waits to be told.
    /// Of much trouble, the last is kept.
    pub fn record_trouble(&mut self, trouble: String) {
        if self.trouble.contains(&trouble) {
            return;
        }
        if self.trouble.len() == TROUBLES {
            self.trouble.pop_front();
        }
        self.trouble.push_back(trouble);
    }

    /// What went wrong, oldest first; each trouble is told once.
    pub fn take_trouble(&mut self) -> Option<String> {
        self.trouble.pop_front()
    }

    /// The decision of that number, while it is remembered.
    pub fn decision(&self, number: u64) -> Option<&Decision> {
        self.decisions.iter().find(|decision| decision.number == number)
    }

    /// The last decisions, newest first.
    pub fn decisions(&self) -> impl Iterator<Item = &Decision> {
        self.decisions.iter().rev()
    }

    /// All checks.
    pub fn checks(&self) -> u64 {
        self.verdicts.iter().sum()
    }

    /// Lets go of the oldest messages, so that the newest have room.
    fn make_room(&mut self) {
        let mut kept = 0;
        for decision in self.decisions.iter_mut().rev() {
            let Some(given) = &mut decision.given else { continue };
            kept += given.message.as_ref().map_or(0, |message| message.len());
            if kept > KEPT {
                given.message = None;
            }
        }
    }
}

fn place(verdict: Verdict) -> usize {
    match verdict {
        Verdict::Spam => 0,
        Verdict::Unsure => 1,
        Verdict::Ham => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Thresholds;

    fn judgement(verdict: Verdict, score: f64) -> Judgement {
        let thresholds = Thresholds { spam: 0.9, ham: 0.1 };
        Judgement {
            verdict,
            score,
            thresholds,
            reasons: Vec::new(),
            labels: std::collections::BTreeMap::new(),
        }
    }

    #[test]
    fn the_journal_has_a_fixed_size() {
        let mut journal = Journal::new().unwrap();
        let message = vec![b'x'; 10 << 20];
        for _ in 0..20 {
            journal.record(Origin::Page, None, &judgement(Verdict::Spam, 1.0), &message, Duration::ZERO);
        }
        for _ in 0..DECISIONS - 10 {
            journal.record(Origin::Spamd, Some("a"), &judgement(Verdict::Ham, 0.0), &message, Duration::ZERO);
        }
        assert_eq!(journal.decisions().count(), DECISIONS);
        assert_eq!((journal.verdicts, journal.checks()), ([20, 0, 90], 110));
        assert_eq!((journal.scores[0], journal.scores[BARS - 1]), (90, 20));
        let kept = journal.decisions().filter_map(|d| d.given.as_ref()?.message.as_ref()).count();
        assert_eq!(kept, 6, "as many messages of ten megabytes as fit");
        assert!(journal.decision(10).is_none() && journal.decision(11).is_some());
        assert!(journal.decision(110).unwrap().given.is_none(), "mail that passes through is not kept");
    }

    #[test]
    fn a_lesson_changes_what_is_said_and_remembers_what_was() {
        let mut journal = Journal::new().unwrap();
        let number =
            journal.record(Origin::Page, None, &judgement(Verdict::Unsure, 0.5), b"x", Duration::ZERO);
        journal.record_lesson(number, ("spam".into(), true), judgement(Verdict::Spam, 0.99));
        journal.record_lesson(number, ("ham".into(), true), judgement(Verdict::Ham, 0.01));
        let decision = journal.decision(number).unwrap();
        let given = decision.given.as_ref().unwrap();
        assert_eq!((decision.verdict, given.before), (Verdict::Ham, Some((Verdict::Unsure, 0.5))));
        assert_eq!(given.taught, [("spam".into(), true), ("ham".into(), true)]);
    }
}
