//! How good is a filter while it learns? Mail is given in the order it arrived: each message is
//! judged first, and then taught.
//!
//! An evaluation that teaches one half of the mail and judges the other half says nothing about the
//! first weeks, nor about readers who correct mistakes only. This one replays the mail from the
//! beginning. Wrong labels can be mixed in: a share of the lessons, drawn by a seeded generator, is
//! taught with the opposite label. The verdicts are counted by the true labels.
//!
//! The counts are kept for a limited number of [points in time](Progress), from which
//! [`OnlineEvaluation::curve`] computes how the filter gets better.

use crivo::hash::split_mix::mix;

use crate::error::{Error, Result};
use crate::evaluate::{HAM_RATES, KnownMessage, Mistake, Verdicts, ranking};
use crate::filter::Filter;
use crate::judgement::Verdict;
use crate::label::Label;
use crate::message::Message;

/// The number of steps in which learning over time is reported.
const STEPS: usize = 10;

/// The most points of a curve.
const POINTS: usize = 60;

/// The number of points whose messages are counted together in a moving share: a tenth of the mail.
const WINDOW: usize = POINTS / STEPS;

/// Which messages are taught.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Teaching {
    /// Every message.
    Everything,
    /// Messages whose verdict was wrong or unsure.
    Mistakes,
}

/// How mail is taught during an online evaluation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Story {
    /// Which messages are taught.
    pub teaching: Teaching,
    /// The share of lessons with the wrong label.
    pub noise: f64,
    /// The seed of the generator that draws wrong labels.
    pub seed: u64,
    /// The number of messages after which lessons are taught together. With 1 each lesson is taught
    /// before the next message is judged.
    pub every: usize,
}

impl Default for Story {
    fn default() -> Self {
        Self { teaching: Teaching::Everything, noise: 0.0, seed: 0, every: 1 }
    }
}

/// The counts after a part of the mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Verdicts about spam so far.
    pub spam: Verdicts,
    /// Verdicts about ham so far.
    pub ham: Verdicts,
    /// The number of messages that were taught so far.
    pub lessons: u64,
}

/// A point of the curve that shows how the filter learns.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LearningPoint {
    /// The number of messages that were judged so far.
    pub messages: u64,
    /// The number of messages that were taught so far.
    pub lessons: u64,
    /// The share of spam that was called spam, in the last tenth of the mail. `None` if no spam was
    /// in it.
    pub spam_caught: Option<f64>,
    /// The share of all messages that the filter was unsure about, in the last tenth of the mail.
    pub unsure: Option<f64>,
    /// The share of all ham so far that was called spam. `None` if there was no ham yet. Of a tenth
    /// it would be zero nearly always.
    pub ham_called_spam: Option<f64>,
}

/// The result of an online evaluation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OnlineEvaluation {
    /// Verdicts about messages that are spam.
    pub spam: Verdicts,
    /// Verdicts about messages that are ham.
    pub ham: Verdicts,
    /// The number of messages that were taught.
    pub lessons: u64,
    /// The share of pairs of a ham and a spam message in which the ham has the higher score. Ties
    /// count half.
    pub area_above_roc: f64,
    /// For each of [`HAM_RATES`], the share of spam that scores above all ham but this share.
    pub caught_at: [f64; HAM_RATES.len()],
    /// Messages that were called the opposite of what they are.
    pub mistakes: Vec<Mistake>,
    /// The verdicts about spam and about ham, for each tenth of the mail.
    pub steps: Vec<(Verdicts, Verdicts)>,
    /// The counts after equal parts of the mail, 60 at most. The last ones are those of all mail.
    pub progress: Vec<Progress>,
}

impl Progress {
    fn messages(&self) -> u64 {
        self.spam.total + self.ham.total
    }
}

impl OnlineEvaluation {
    /// Returns how the filter got better: a point for each entry of `progress`.
    pub fn curve(&self) -> Vec<LearningPoint> {
        let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        let unsure = |counts: &Progress| counts.spam.unsure + counts.ham.unsure;
        let point = |(at, now): (usize, &Progress)| {
            let before = at.checked_sub(WINDOW).map_or_else(Progress::default, |at| self.progress[at]);
            LearningPoint {
                messages: now.messages(),
                lessons: now.lessons,
                spam_caught: share(now.spam.spam - before.spam.spam, now.spam.total - before.spam.total),
                unsure: share(unsure(now) - unsure(&before), now.messages() - before.messages()),
                ham_called_spam: share(now.ham.spam, now.ham.total),
            }
        };
        self.progress.iter().enumerate().map(point).collect()
    }
}

impl Filter {
    /// Judges each message in the order given, and then teaches it as `story` says.
    ///
    /// # Errors
    /// If the story is impossible, mail cannot be read, or the store cannot be written.
    pub fn evaluate_online(&self, mail: &[KnownMessage], story: Story) -> Result<OnlineEvaluation> {
        if !(0.0..=0.5).contains(&story.noise) || story.every == 0 {
            return Err(Error::Unsuitable(format!(
                "a story needs a share of wrong labels from 0 to 0.5 and lessons after 1 message or more, \
                 found {} and {}",
                story.noise, story.every
            )));
        }
        let mut outcome = OnlineEvaluation { steps: vec![Default::default(); STEPS], ..Default::default() };
        let (mut scores, mut lessons) = (Vec::with_capacity(mail.len()), Vec::new());
        let points = POINTS.min(mail.len());
        for (place, known) in mail.iter().enumerate() {
            let message = Message::read(&known.bytes);
            let (verdict, score) = self.verdict(&message)?;
            scores.push((score, known.is_spam));
            let step = &mut outcome.steps[place * STEPS / mail.len()];
            let (all, of_step) = if known.is_spam {
                (&mut outcome.spam, &mut step.0)
            } else {
                (&mut outcome.ham, &mut step.1)
            };
            all.add(verdict, score);
            of_step.add(verdict, score);
            self.note_mistake(&mut outcome.mistakes, (place as u64, known, &message), verdict, score)?;
            let right = if known.is_spam { Verdict::Spam } else { Verdict::Ham };
            if story.teaching == Teaching::Everything || verdict != right {
                let drawn = (mix(story.seed ^ mix(place as u64)) >> 11) as f64 / (1_u64 << 53) as f64;
                lessons.push((&known.bytes, known.is_spam != (drawn < story.noise)));
            }
            if (place + 1) % story.every == 0 || place + 1 == mail.len() {
                outcome.lessons += self.teach_all(&mut lessons)?;
            }
            if (place + 1) * points / mail.len() > place * points / mail.len() {
                let OnlineEvaluation { spam, ham, lessons, .. } = outcome;
                outcome.progress.push(Progress { spam, ham, lessons });
            }
        }
        (outcome.area_above_roc, outcome.caught_at) = ranking(&mut scores);
        Ok(outcome)
    }

    /// Teaches the lessons: a single one by learning, several by training. Returns their number.
    fn teach_all(&self, lessons: &mut Vec<(&Vec<u8>, bool)>) -> Result<u64> {
        let count = lessons.len() as u64;
        let label = |is_spam: bool| if is_spam { Label::Spam } else { Label::Ham };
        match lessons.as_slice() {
            [] => {}
            [(bytes, is_spam)] => {
                self.learn(bytes, &label(*is_spam))?;
            }
            // The same message may come twice, and draw different labels.
            several => {
                for class in [true, false] {
                    let of_class = several.iter().filter(|(_, is_spam)| *is_spam == class);
                    self.train(of_class.map(|(bytes, is_spam)| Ok(((*bytes).clone(), label(*is_spam)))))?;
                }
            }
        }
        lessons.clear();
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns mail whose spam is told from ham by one word.
    fn mail(count: u32) -> Vec<KnownMessage> {
        let one = |number: u32| {
            let is_spam = number.is_multiple_of(3);
            let word = if is_spam { "prize" } else { "lunch" };
            let text = format!("From: {word}@example.org\n\nthe {word} of day {number}, {}\n", number * 7919);
            (text.into_bytes(), is_spam).into()
        };
        (0..count).map(one).collect()
    }

    fn played(mail: &[KnownMessage], story: Story) -> OnlineEvaluation {
        let folder = tempfile::tempdir().unwrap();
        Filter::open_or_create(folder.path()).unwrap().evaluate_online(mail, story).unwrap()
    }

    #[test]
    fn the_curve_has_moving_shares_that_add_up_to_the_steps() {
        let found = played(&mail(240), Story { every: 8, ..Story::default() });
        let curve = found.curve();
        assert_eq!((curve.len(), curve[0].messages, curve[59].messages), (60, 4, 240));
        assert_eq!((curve[0].lessons, curve[1].lessons, curve[59].lessons), (0, 8, 240));
        assert!(curve.is_sorted_by_key(|point| (point.messages, point.lessons)));
        // Every sixth point ends a tenth of the mail, so its shares are those of the tenth.
        for (step, (spam, ham)) in found.steps.iter().enumerate() {
            let point = curve[6 * step + 5];
            assert_eq!(point.spam_caught, Some(spam.spam as f64 / spam.total as f64), "tenth {step}");
            let unsure = (spam.unsure + ham.unsure) as f64 / (spam.total + ham.total) as f64;
            assert_eq!(point.unsure, Some(unsure), "tenth {step}");
        }
        let share = found.ham.spam as f64 / found.ham.total as f64;
        assert_eq!(curve[59].ham_called_spam, Some(share));
        assert_eq!((curve[0].spam_caught, curve[59].spam_caught), (Some(0.0), Some(1.0)), "it learns");
    }

    #[test]
    fn little_mail_has_a_point_for_each_message_and_none_has_no_point() {
        let found = played(&mail(3), Story { every: 2, ..Story::default() });
        let curve = found.curve();
        assert_eq!(curve.iter().map(|point| point.messages).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(curve.iter().map(|point| point.lessons).collect::<Vec<_>>(), [0, 2, 3]);
        assert_eq!((curve[0].ham_called_spam, curve[1].ham_called_spam), (None, Some(0.0)));
        assert_eq!(played(&[], Story::default()).curve(), []);
    }
}
