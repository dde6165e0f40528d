//! How good is a filter as it grows? Mail in the order it came: each message is judged, and then taught.
//!
//! An evaluation on one half of the mail after the other was taught says nothing of the first weeks, nor of readers who
//! correct mistakes only. This one plays the whole story. Wrong labels can be mixed in: a share of the lessons, drawn by
//! a seeded generator, is taught as the opposite, and the verdicts are counted by the true labels.

use crivo::hash::split_mix::mix;

use crate::error::{Error, Result};
use crate::evaluate::Verdicts;
use crate::filter::Filter;
use crate::judgement::Verdict;
use crate::label::Label;
use crate::message::Message;

/// The shares of ham at which caught spam is counted.
pub const HAM_RATES: [f64; 3] = [0.0001, 0.001, 0.01];

/// In how many steps learning over time is reported.
const STEPS: usize = 10;

/// Which messages are taught.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Teaching {
    /// Every message.
    Everything,
    /// Messages whose verdict was wrong or unsure.
    Mistakes,
}

/// How the story is played.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Story {
    /// Which messages are taught.
    pub teaching: Teaching,
    /// The share of lessons with the wrong label.
    pub noise: f64,
    /// Of the draw of wrong labels.
    pub seed: u64,
    /// After how many messages lessons are taught together; 1 teaches each before the next is judged.
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
    /// Its place in the story, from 0.
    pub place: u64,
    /// What it is.
    pub is_spam: bool,
    /// Its score.
    pub score: f64,
    /// Its subject.
    pub subject: String,
}

/// What came out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OnlineEvaluation {
    /// About messages that are spam.
    pub spam: Verdicts,
    /// About messages that are ham.
    pub ham: Verdicts,
    /// How many messages were taught.
    pub lessons: u64,
    /// The share of pairs of a ham and a spam message in which the ham has the higher score; ties count half.
    pub area_above_roc: f64,
    /// For each of [`HAM_RATES`] the share of spam with a score above that of all but this share of ham.
    pub caught_at: [f64; HAM_RATES.len()],
    /// Messages that were called the opposite of what they are.
    pub mistakes: Vec<Mistake>,
    /// The verdicts of each tenth of the story: about spam, and about ham.
    pub steps: Vec<(Verdicts, Verdicts)>,
}

impl Filter {
    /// Plays the story of mail in the order it is given: judges each message, and then teaches it.
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

    /// Teaches lessons one by one, or together if they are several; returns how many there were.
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

/// The area above the ROC curve, and the spam caught at fixed shares of ham.
fn ranking(scores: &mut [(f64, bool)]) -> (f64, [f64; HAM_RATES.len()]) {
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
        // Spam from here on is below the ham so far.
        misordered += spam_here * (ham_above + ham_here / 2.0);
        spam_above += spam_here;
        ham_above += ham_here;
    }
    (misordered / (spam * ham), caught_at.map(|caught| caught.unwrap_or(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

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
