//! How good is a filter? Mail with known answers, and what the filter says about it.

use crate::classic::{Finding, signature};
use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::judgement::{Reason, Verdict};
use crate::message::Message;
use crate::source::Location;

/// The shares of ham at which caught spam is counted.
pub const HAM_RATES: [f64; 3] = [0.0001, 0.001, 0.01];

/// The number of mistakes whose reasons are kept, because the reasons of one take about a kilobyte.
const EXPLAINED: usize = 1000;

/// A message whose class is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownMessage {
    /// The message.
    pub bytes: Vec<u8>,
    /// Its true class.
    pub is_spam: bool,
    /// Where it was read, if it is from a file.
    pub location: Option<Location>,
}

impl From<(Vec<u8>, bool)> for KnownMessage {
    fn from((bytes, is_spam): (Vec<u8>, bool)) -> Self {
        Self { bytes, is_spam, location: None }
    }
}

/// A message that was called the opposite of what it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Mistake {
    /// Its position in the given mail, from 0.
    pub place: u64,
    /// Where it was read, if it is from a file.
    pub location: Option<Location>,
    /// Its date in seconds since 1970, if it has one.
    pub date: Option<i64>,
    /// Its true class.
    pub is_spam: bool,
    /// Its score.
    pub score: f64,
    /// Its subject.
    pub subject: String,
    /// Why it was called so. Empty for all mistakes after the first thousand.
    pub reasons: Vec<Reason>,
}

impl Mistake {
    /// Returns the verdict, which is the opposite of the class.
    pub fn verdict(&self) -> Verdict {
        if self.is_spam { Verdict::Ham } else { Verdict::Spam }
    }
}

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

/// The verdicts about spam and about ham, and how well scores rank them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Evaluation {
    /// About messages that are spam.
    pub spam: Verdicts,
    /// About messages that are ham.
    pub ham: Verdicts,
    /// The share of pairs of a ham and a spam message in which the ham has the higher score; ties
    /// count half.
    pub area_above_roc: f64,
    /// For each of [`HAM_RATES`], the share of spam with a score above that of all ham but this
    /// share.
    pub caught_at: [f64; HAM_RATES.len()],
    /// Messages that were called the opposite of what they are, in the order given.
    pub mistakes: Vec<Mistake>,
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

/// The results of one threshold.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SweepRow {
    /// The threshold: of similarity for the classic method, of the score for the default one.
    pub threshold: f64,
    /// Messages that are spam.
    pub spam: Caught,
    /// Messages that are ham.
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

    /// Returns the share with a score of at least one half.
    pub fn share_at_half(&self) -> f64 {
        self.at_half as f64 / self.total.max(1) as f64
    }
}

/// Returns the thresholds of a sweep: 0.1, 0.2 … 1.0.
fn steps() -> impl Iterator<Item = f64> {
    (1..=10).map(|step| f64::from(step) / 10.0)
}

impl Filter {
    /// Judges mail that is known to be spam or ham.
    ///
    /// # Errors
    /// If mail cannot be read, or the store is damaged.
    pub fn evaluate<M: Into<KnownMessage>>(
        &self,
        mail: impl IntoIterator<Item = Result<M>>,
    ) -> Result<Evaluation> {
        let (mut evaluation, mut scores) = (Evaluation::default(), Vec::new());
        for next in mail {
            let known = next?.into();
            let message = Message::read(&known.bytes);
            let (verdict, score) = self.verdict(&message)?;
            if known.is_spam { &mut evaluation.spam } else { &mut evaluation.ham }.add(verdict, score);
            let place = scores.len() as u64;
            scores.push((score, known.is_spam));
            self.note_mistake(&mut evaluation.mistakes, (place, &known, &message), verdict, score)?;
        }
        (evaluation.area_above_roc, evaluation.caught_at) = ranking(&mut scores);
        Ok(evaluation)
    }

    /// Adds the message to the mistakes if the verdict is the opposite of its class. The message is
    /// explained by the state of the filter that judged it.
    pub(crate) fn note_mistake(
        &self,
        mistakes: &mut Vec<Mistake>,
        (place, known, message): (u64, &KnownMessage, &Message),
        verdict: Verdict,
        score: f64,
    ) -> Result<()> {
        let opposite = if known.is_spam { Verdict::Ham } else { Verdict::Spam };
        if verdict != opposite {
            return Ok(());
        }
        let is_explained = mistakes.len() < EXPLAINED;
        let reasons = if is_explained { self.check(&known.bytes)?.reasons } else { Vec::new() };
        mistakes.push(Mistake {
            place,
            location: known.location.clone(),
            date: message.date,
            is_spam: known.is_spam,
            score,
            subject: message.subject.trim().to_owned(),
            reasons,
        });
        Ok(())
    }

    /// Counts what each of the thresholds 0.1 … 1.0 would call spam.
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

    /// Returns what the classic method finds about a message.
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

/// Returns the area above the ROC curve, and the shares of spam caught at [`HAM_RATES`].
pub(crate) fn ranking(scores: &mut [(f64, bool)]) -> (f64, [f64; HAM_RATES.len()]) {
    scores.sort_by(|a, b| b.0.total_cmp(&a.0));
    let of = |spam: bool| scores.iter().filter(|(_, is_spam)| *is_spam == spam).count() as f64;
    let (spam, ham) = (of(true), of(false));
    if spam == 0.0 || ham == 0.0 {
        return (0.0, [0.0; HAM_RATES.len()]);
    }
    let (mut spam_above, mut ham_above, mut misordered) = (0.0, 0.0, 0.0);
    let mut caught_at = [None; HAM_RATES.len()];
    for same in scores.chunk_by(|a, b| a.0 == b.0) {
        let spam_here = same.iter().filter(|(_, is_spam)| *is_spam).count() as f64;
        let ham_here = same.len() as f64 - spam_here;
        for (caught, rate) in caught_at.iter_mut().zip(HAM_RATES) {
            if caught.is_none() && ham_above + ham_here > ham * rate {
                *caught = Some(spam_above / spam);
            }
        }
        // Spam with this score is below all ham seen before, and ties with the ham of the same
        // score.
        misordered += spam_here * (ham_above + ham_here / 2.0);
        spam_above += spam_here;
        ham_above += ham_here;
    }
    (misordered / (spam * ham), caught_at.map(|caught| caught.unwrap_or(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Label, Policy};

    #[test]
    fn messages_called_the_opposite_are_mistakes_with_reasons() {
        let folder = tempfile::tempdir().unwrap();
        let filter = Filter::open_or_create(folder.path()).unwrap();
        let lesson = |number: u32| {
            let is_spam = number.is_multiple_of(2);
            let (word, label) = if is_spam { ("prize", Label::Spam) } else { ("lunch", Label::Ham) };
            Ok((format!("From: {word}@example.org\n\n{word} number {number}\n").into_bytes(), label))
        };
        filter.train((0..80).map(lesson)).unwrap();
        let wanted = Policy { spam_from: Some(0.5), ham_to: Some(0.49), ..Policy::default() };
        let filter = filter.with_policy(wanted).unwrap();
        let asked = |subject: &str, word: &str, is_spam: bool| {
            let bytes =
                format!("From: {word}@example.org\nSubject: {subject}\n\n{word} again\n").into_bytes();
            let location = Location { path: subject.into(), number: Some(7) };
            Ok(KnownMessage { bytes, is_spam, location: Some(location) })
        };
        let mail = [
            asked("a", "prize", true),
            asked("b", "lunch", true),
            asked("c", "prize", false),
            asked("d", "lunch", false),
        ];
        let found = filter.evaluate(mail).unwrap();
        let listed: Vec<_> =
            found.mistakes.iter().map(|one| (one.place, &*one.subject, one.verdict())).collect();
        assert_eq!(listed, [(1, "b", Verdict::Ham), (2, "c", Verdict::Spam)]);
        for mistake in &found.mistakes {
            assert!(!mistake.reasons.is_empty() && (mistake.score < 0.5) == mistake.is_spam, "{mistake:?}");
            assert_eq!(
                mistake.location.as_ref().unwrap().to_string(),
                format!("{}, message 7", mistake.subject)
            );
        }
        let wrong = found.spam.ham + found.ham.spam;
        assert_eq!(found.mistakes.len() as u64, wrong);
        // The class given is not learned: asking again gives the same answer.
        let again = [(b"From: lunch@example.org\n\nlunch again\n".to_vec(), true)];
        assert_eq!(filter.evaluate(again.map(Ok)).unwrap().mistakes[0].location, None);
    }

    #[test]
    fn ranking_is_that_of_all_pairs() {
        let scores = [(0.9, true), (0.8, false), (0.7, true), (0.7, false), (0.1, false), (0.05, true)];
        let mut pairs = 0.0;
        for (spam, _) in scores.iter().filter(|(_, is_spam)| *is_spam) {
            for (ham, _) in scores.iter().filter(|(_, is_spam)| !is_spam) {
                pairs += if ham > spam {
                    1.0
                } else if ham == spam {
                    0.5
                } else {
                    0.0
                };
            }
        }
        let (area, caught_at) = ranking(&mut scores.to_vec());
        assert!((area - pairs / 9.0).abs() < 1e-12, "{area}");
        assert_eq!(caught_at, [1.0 / 3.0; 3]);
        assert_eq!(ranking(&mut [(0.5, true)]), (0.0, [0.0; 3]));
    }
}
