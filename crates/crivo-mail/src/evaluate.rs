//! How good is a filter? Mail with known answers, and what the filter says about it.

use crate::classic::{Finding, signature};
use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::judgement::Verdict;
use crate::message::Message;

/// The verdicts about messages of one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Verdicts {
    /// All messages.
    pub total: u64,
    /// Those called spam.
    pub spam: u64,
    /// Those the filter was unsure about.
    pub unsure: u64,
    /// Those called ham.
    pub ham: u64,
    /// Those with a score of at least one half.
    pub at_half: u64,
}

/// The verdicts about spam and about ham.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Evaluation {
    /// About messages that are spam.
    pub spam: Verdicts,
    /// About messages that are ham.
    pub ham: Verdicts,
}

/// Messages of one class that are called spam at a threshold, by the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Caught {
    /// All messages.
    pub total: u64,
    /// Those called spam.
    pub caught: u64,
    /// Of them those whose sender is blocked; the classic method only.
    pub blocked: u64,
    /// Of them those without a shingle; the classic method only.
    pub empty: u64,
}

/// What one threshold gives.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SweepRow {
    /// The threshold: of similarity for the classic method, of the score for the default one.
    pub threshold: f64,
    /// Of messages that are spam.
    pub spam: Caught,
    /// Of messages that are ham.
    pub ham: Caught,
}

impl Verdicts {
    pub(crate) fn add(&mut self, verdict: Verdict, score: f64) {
        self.total += 1;
        self.at_half += u64::from(score >= 0.5);
        match verdict {
            Verdict::Spam => self.spam += 1,
            Verdict::Unsure => self.unsure += 1,
            Verdict::Ham => self.ham += 1,
        }
    }

    /// The share with a score of at least one half.
    pub fn share_at_half(&self) -> f64 {
        self.at_half as f64 / self.total.max(1) as f64
    }
}

/// The thresholds of a sweep: 0.1, 0.2 … 1.0.
fn steps() -> impl Iterator<Item = f64> {
    (1..=10).map(|step| f64::from(step) / 10.0)
}

impl Filter {
    /// Judges mail that is known to be spam or ham.
    ///
    /// # Errors
    /// If mail cannot be read, or the store is damaged.
    pub fn evaluate(&self, mail: impl IntoIterator<Item = Result<(Vec<u8>, bool)>>) -> Result<Evaluation> {
        let mut evaluation = Evaluation::default();
        for next in mail {
            let (bytes, is_spam) = next?;
            let (verdict, score) = self.verdict(&Message::read(&bytes))?;
            if is_spam { &mut evaluation.spam } else { &mut evaluation.ham }.add(verdict, score);
        }
        Ok(evaluation)
    }

    /// What each of the thresholds 0.1 … 1.0 gives.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn sweep(&self, mail: impl IntoIterator<Item = Result<(Vec<u8>, bool)>>) -> Result<Vec<SweepRow>> {
        let mut rows: Vec<SweepRow> =
            steps().map(|threshold| SweepRow { threshold, ..SweepRow::default() }).collect();
        let classic = self.classic();
        let at: Vec<_> = match &classic {
            Some(classic) => steps().map(|threshold| classic.at(threshold)).collect::<Result<_>>()?,
            None => Vec::new(),
        };
        for next in mail {
            let (bytes, is_spam) = next?;
            let message = Message::read(&bytes);
            if at.is_empty() {
                let (_, score) = self.verdict(&message)?;
                for row in &mut rows {
                    let caught = if is_spam { &mut row.spam } else { &mut row.ham };
                    caught.total += 1;
                    caught.caught += u64::from(score >= row.threshold);
                }
                continue;
            }
            let signature = signature(&message)?;
            for (row, at) in rows.iter_mut().zip(&at) {
                let finding = at.find(&message, signature.as_ref())?;
                let caught = if is_spam { &mut row.spam } else { &mut row.ham };
                caught.total += 1;
                caught.caught += u64::from(finding.is_spam());
                caught.blocked += u64::from(matches!(finding, Finding::Blocked(_)));
                caught.empty += u64::from(finding == Finding::Empty);
            }
        }
        Ok(rows)
    }

    /// What the classic method finds about a message.
    ///
    /// # Errors
    /// If the store is one of the default method.
    pub fn classic_finding(&self, message: &Message) -> Result<Finding> {
        match self.classic() {
            Some(classic) => classic.find(message),
            None => Err(Error::Unsuitable("the store does not have the method classic".into())),
        }
    }
}
