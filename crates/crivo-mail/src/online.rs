//! How good is a filter while it learns? Mail is given in the order it arrived: each message is
//! judged first, and then taught.
//!
//! An evaluation that teaches one half of the mail and judges the other half says nothing about the
//! first weeks, nor about readers who correct mistakes only. This one replays the mail from the
//! beginning. Wrong labels can be mixed in: a share of the lessons, drawn by a seeded generator, is
//! taught with the opposite label. The verdicts are counted by the true labels.

use crivo::hash::split_mix::mix;

use crate::error::{Error, Result};
use crate::evaluate::{HAM_RATES, Verdicts, ranking};
use crate::filter::Filter;
use crate::judgement::Verdict;
use crate::label::Label;
use crate::message::Message;

/// The number of steps in which learning over time is reported.
const STEPS: usize = 10;

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

/// A message that was called the opposite of what it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Mistake {
    /// Its position in the given mail, from 0.
    pub place: u64,
    /// Its true class.
    pub is_spam: bool,
    /// Its score.
    pub score: f64,
    /// Its subject.
    pub subject: String,
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
}

impl Filter {
    /// Judges each message in the order given, and then teaches it as `story` says.
    ///
    /// # Errors
    /// If the story is impossible, mail cannot be read, or the store cannot be written.
    pub fn evaluate_online(&self, mail: &[(Vec<u8>, bool)], story: Story) -> Result<OnlineEvaluation> {
        if !(0.0..=0.5).contains(&story.noise) || story.every == 0 {
            return Err(Error::Unsuitable(format!(
                "a story needs a share of wrong labels from 0 to 0.5 and lessons after 1 message or more, \
                 found {} and {}",
                story.noise, story.every
            )));
        }
        let mut outcome = OnlineEvaluation { steps: vec![Default::default(); STEPS], ..Default::default() };
        let (mut scores, mut lessons) = (Vec::with_capacity(mail.len()), Vec::new());
        for (place, (bytes, is_spam)) in mail.iter().enumerate() {
            let message = Message::read(bytes);
            let (verdict, score) = self.verdict(&message)?;
            scores.push((score, *is_spam));
            let step = &mut outcome.steps[place * STEPS / mail.len()];
            let (all, of_step) =
                if *is_spam { (&mut outcome.spam, &mut step.0) } else { (&mut outcome.ham, &mut step.1) };
            all.add(verdict, score);
            of_step.add(verdict, score);
            let right = if *is_spam { Verdict::Spam } else { Verdict::Ham };
            if verdict != right && verdict != Verdict::Unsure {
                let (place, subject) = (place as u64, message.subject.trim().to_owned());
                outcome.mistakes.push(Mistake { place, is_spam: *is_spam, score, subject });
            }
            if story.teaching == Teaching::Everything || verdict != right {
                let drawn = (mix(story.seed ^ mix(place as u64)) >> 11) as f64 / (1_u64 << 53) as f64;
                lessons.push((bytes, *is_spam != (drawn < story.noise)));
            }
            if (place + 1) % story.every == 0 {
                outcome.lessons += self.teach_all(&mut lessons)?;
            }
        }
        outcome.lessons += self.teach_all(&mut lessons)?;
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
