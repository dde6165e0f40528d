//! The decisions since the start: counts, times, and the last decisions.
//!
//! Everything here has a bounded size, however long the service runs: counts, a histogram, a sketch
//! of quantiles, and the last [`DECISIONS`] decisions. The text of a message is kept only if a
//! person gave it to the page, so that the person can teach it there. Of mail that passes through,
//! only verdict, score and size are kept. A user of the page cannot read other users' mail.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crivo::profile::DDSketch;

use crate::{Error, Judgement, Result, Verdict};

/// The number of decisions that are kept.
pub const DECISIONS: usize = 100;

/// The most troubles that are kept until they are reported.
const TROUBLES: usize = 32;

/// The most bytes of messages that are kept in all.
const KEPT: usize = 64 << 20;

/// The number of bars in the histogram of scores.
pub const BARS: usize = 20;

/// The way by which a message came.
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
    /// Returns `spamd`, `milter` or `page`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Spamd => "spamd",
            Self::Milter => "milter",
            Self::Page => "page",
        }
    }
}

/// A decision and, if a person asked for it, its message and explanation.
#[derive(Debug, Clone)]
pub struct Decision {
    /// Counted from 1.
    pub number: u64,
    /// The time of the decision.
    pub at: SystemTime,
    /// The way by which the message came.
    pub origin: Origin,
    /// The user whose mail it was.
    pub user: Option<String>,
    /// The answer.
    pub verdict: Verdict,
    /// The probability of spam.
    pub score: f64,
    /// The length of the message in bytes.
    pub bytes: usize,
    /// The message and its explanation, if a person gave the message.
    pub given: Option<Given>,
}

/// A message that a person gave, and the filter's answers about it.
#[derive(Debug, Clone)]
pub struct Given {
    /// The message; `None` once its room was needed for newer messages.
    pub message: Option<Arc<[u8]>>,
    /// The filter's latest judgement.
    pub judgement: Judgement,
    /// What the message was taught as on the page, in order, and whether each lesson changed
    /// anything.
    pub taught: Vec<(String, bool)>,
    /// The filter's first answer, if the message was taught since.
    pub before: Option<(Verdict, f64)>,
}

/// The counts and decisions since the start.
#[derive(Debug, Clone)]
pub struct Journal {
    /// When the service started.
    pub since: SystemTime,
    /// The number of messages judged spam, unsure and ham.
    pub verdicts: [u64; 3],
    /// The number of checks by score, in bars of equal width.
    pub scores: [u64; BARS],
    /// The time that checks took, in seconds.
    pub seconds: DDSketch,
    /// The number of checks and lessons that failed.
    pub failures: u64,
    /// The number of messages learned or forgotten.
    pub lessons: u64,
    decisions: VecDeque<Decision>,
    last: u64,
    trouble: VecDeque<String>,
}

impl Journal {
    /// Makes an empty journal.
    ///
    /// # Errors
    /// None, because the parameters of the sketch are constants within its limits.
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

    /// Records a decision, and returns its number.
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

    /// Records what a message was taught as, and the filter's judgement after the lesson.
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

    /// Records that a check or a lesson failed, and why.
    pub(super) fn record_failure(&mut self, error: &Error) {
        self.failures += 1;
        self.record_trouble(error.to_string());
    }

    /// Records trouble to report to the administrator, unless the same trouble still waits. If too
    /// many wait, the oldest is dropped.
    pub fn record_trouble(&mut self, trouble: String) {
        if self.trouble.contains(&trouble) {
            return;
        }
        if self.trouble.len() == TROUBLES {
            self.trouble.pop_front();
        }
        self.trouble.push_back(trouble);
    }

    /// Removes and returns the oldest trouble that was not reported yet.
    pub fn take_trouble(&mut self) -> Option<String> {
        self.trouble.pop_front()
    }

    /// Returns the decision of that number, while it is kept.
    pub fn decision(&self, number: u64) -> Option<&Decision> {
        self.decisions.iter().find(|decision| decision.number == number)
    }

    /// Returns the last decisions, newest first.
    pub fn decisions(&self) -> impl Iterator<Item = &Decision> {
        self.decisions.iter().rev()
    }

    /// Returns the number of all checks.
    pub fn checks(&self) -> u64 {
        self.verdicts.iter().sum()
    }

    /// Drops the oldest messages until those that remain fit into [`KEPT`] bytes.
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
