//! Which lessons contradict their label?
//!
//! A message that was taught as ham by mistake is most similar to spam. So each learned message is
//! judged by a model that has not learned it. A message is listed if a wrong label is more probable
//! than the label it has. With a share of wrong labels of 1 % ([`crate::thresholds::WRONG_LABELS`])
//! that takes odds of 99 to 1 against the label.

use crate::combine::{Combiner, Evidence};
use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::model::{Unseen, unseen};
use crate::store::Method;
use crate::thresholds::{WRONG_LABELS, log_odds_of, logistic};

/// The lowest similarity at which a learned message is named as a reason.
const ALIKE: f64 = 0.1;

/// What an audit found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Audit {
    /// How many messages were looked at.
    pub messages: u64,
    /// Those that contradict their label, the strongest first.
    pub contradictions: Vec<Contradiction>,
}

/// A learned message that looks like the other class.
#[derive(Debug, Clone, PartialEq)]
pub struct Contradiction {
    /// Whether it was learned as spam; otherwise it was learned as ham.
    pub is_spam: bool,
    /// The beginning of its subject.
    pub subject: String,
    /// Its sender, if it has one.
    pub sender: Option<String>,
    /// When it was learned, in milliseconds since 1970.
    pub time: i64,
    /// The probability of spam by a model that has not learned the message.
    pub score: f64,
    /// Why, in words.
    pub reasons: Vec<String>,
}

impl Filter {
    /// Lists learned messages that contradict their label.
    ///
    /// # Errors
    /// If the store is damaged, or of the classic method.
    pub fn audit(&self) -> Result<Audit> {
        if self.method() == Method::Classic {
            return Err(Error::Unsuitable(
                "the store has the method classic, which does not compare with ham: nothing can contradict"
                    .into(),
            ));
        }
        let Unseen { messages, evidence } = self.with_store(unseen)?;
        let has = |spam: bool| evidence.iter().any(|(_, _, is_spam)| *is_spam == spam);
        let mut audit = Audit { messages: evidence.len() as u64, contradictions: Vec::new() };
        if !has(true) || !has(false) {
            return Ok(audit);
        }
        let examples: Vec<(Evidence, bool)> =
            evidence.iter().map(|(_, found, is_spam)| (*found, *is_spam)).collect();
        let combiner = Combiner::fit(&examples);
        let beyond = log_odds_of(1.0 - WRONG_LABELS);
        for (at, found, is_spam) in &evidence {
            let log_odds = combiner.log_odds(found);
            let against = if *is_spam { -log_odds } else { log_odds };
            if against < beyond {
                continue;
            }
            let learnt = &messages[*at].1;
            audit.contradictions.push(Contradiction {
                is_spam: *is_spam,
                subject: learnt.subject.clone(),
                sender: learnt.sender.clone(),
                time: learnt.time(),
                score: logistic(log_odds),
                reasons: reasons(found, &combiner),
            });
        }
        let strength = |found: &Contradiction| if found.is_spam { 1.0 - found.score } else { found.score };
        audit
            .contradictions
            .sort_by(|a, b| strength(b).total_cmp(&strength(a)).then(a.subject.cmp(&b.subject)));
        Ok(audit)
    }
}

/// Returns the evidence in words.
fn reasons(evidence: &Evidence, combiner: &Combiner) -> Vec<String> {
    let words = evidence.margin * combiner.slope();
    let towards = if words > 0.0 { "spam" } else { "ham" };
    let mut reasons = vec![format!("its words and structure: for {towards} ({words:+.2})")];
    for (similarity, class) in [(evidence.like_spam, "spam"), (evidence.like_ham, "ham")] {
        if similarity >= ALIKE {
            reasons.push(format!("{:.0} % like a learned {class} message", similarity * 100.0));
        }
    }
    if let Some((spam, ham)) = evidence.sender.filter(|counts| *counts != (0, 0)) {
        reasons.push(format!("its sender: {spam} others learned as spam, {ham} as ham"));
    }
    reasons
}
