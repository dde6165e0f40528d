//! Judging a message: a pure function of a snapshot and of the evidence about the message.
//!
//! A check has three steps. [`Filter::gather`] collects the evidence: the linear model's margin,
//! the nearest learned messages, the lessons about the sender and, where mail arrives, whether the
//! sender writes a lot just now. [`judge`] derives verdict and score from it, and reads nothing
//! else. [`explain`] puts the evidence into words, after the verdict. So asking twice, or with and
//! without reasons, gives the same score.
//!
//! A message that was learned itself gets the class it was learned as: a user who moves a message
//! out of the junk folder must see the change at once. It is the same message if its fingerprint
//! and the signature of its text are those of the lesson. One exception is spam that was [put
//! aside](crate::model) because its label is taken for wrong. A slip must not lose ham. So a copy
//! of such a message is unsure, unless the rest of the evidence says spam.
//!
//! While a store knows only one class, a message that says nearly the same as a learned one gets
//! its class. If that class is ham, and there are enough messages of it, mail of the same words is
//! ham as well: nothing is lost by that, while spam from one class alone would be a guess. Such a
//! store is unsure about all other mail.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use crate::burst::Bursts;
use crate::cache::Nearest;
use crate::combine::Evidence;
use crate::error::Result;
use crate::filter::{CheckBuffers, Filter, ModelSnapshot, StoreEvidence, StoreSnapshot, now};
use crate::judgement::{Judgement, Reason, Verdict};
use crate::lists::Listing;
use crate::message::{Authentication, Message};
use crate::store::Store;
use crate::thresholds::logistic;

/// The number of features that are named as reasons.
const FEATURES_NAMED: usize = 6;

/// The lowest similarity at which a learned message is named as a reason.
const ALIKE: f64 = 0.1;

/// The similarity from which a message gets the class of a learned one, in a store that knows only
/// one class.
const NEARLY_THE_SAME: f64 = 0.5;

/// The highest margin of ham in a store that knows only ham. Words of learned messages give −1,
/// unknown words 0.
const LIKE_ALL_HAM: f32 = -0.5;

/// Everything that is known about a message before it is judged.
#[derive(Debug, Clone)]
pub(crate) struct MessageEvidence {
    /// The evidence that has a weight in the probability.
    weighed: Evidence,
    /// What this very message was learned as; `None` if it was learned as neither spam nor ham.
    learned: Option<Verdict>,
    /// Whether it was learned as spam, and that label is taken for wrong.
    is_wrong_spam: bool,
    /// The most similar learned spam, and the most similar learned ham.
    nearest: [Option<Nearest>; 2],
    /// The probability of every label the store knows.
    labels: BTreeMap<String, f64>,
    /// The entry of the owner's lists that applies to the sender.
    listed: Option<(String, Listing)>,
    /// Whether its words are those of learned ham, in a store that knows no spam.
    is_like_all_ham: bool,
    /// The number of messages of its sender within the hour; `None` if the message does not arrive
    /// now.
    sent_within_hour: Option<u64>,
}

impl Filter {
    /// Judges a message. It may be any bytes.
    ///
    /// # Errors
    /// If the store is damaged.
    pub fn check(&self, message: &[u8]) -> Result<Judgement> {
        self.judge_message(&Message::read(message), None, true)
    }

    /// Judges a message that arrives just now, and counts it for its sender. A sender is suspicious
    /// if it writes a lot within an hour and nothing was ever learned from it.
    ///
    /// # Errors
    /// If the store is damaged.
    pub fn check_arriving(&self, message: &[u8]) -> Result<Judgement> {
        let message = Message::read(message);
        let sent = message.sender.as_deref().map(|address| {
            let mut bursts = self.bursts.lock().unwrap_or_else(PoisonError::into_inner);
            bursts.count(address, message.fingerprint, now())
        });
        self.judge_message(&message, sent, true)
    }

    /// Returns the verdict and the score of [`check`](Self::check) without reasons, which is faster
    /// for many messages.
    ///
    /// # Errors
    /// If the store is damaged.
    pub fn verdict(&self, message: &Message) -> Result<(Verdict, f64)> {
        self.judge_message(message, None, false).map(|judgement| (judgement.verdict, judgement.score))
    }

    /// Judges a message. `sent` is the number of messages of its sender within the hour, if known.
    fn judge_message(&self, message: &Message, sent: Option<u64>, with_reasons: bool) -> Result<Judgement> {
        let snapshot = match self.snapshot() {
            StoreSnapshot::Default(snapshot) => snapshot,
            StoreSnapshot::Classic(snapshot) => return snapshot.classic.judge(message),
        };
        self.buffers.lend(|buffers| {
            let evidence = self.gather(&snapshot, message, sent, buffers)?;
            let (verdict, score) = judge(&snapshot, &evidence);
            let reasons = if with_reasons {
                let nearest = self.with_store(|store| name_nearest(store, evidence.nearest))?;
                explain(&snapshot, message, &evidence, nearest, buffers)
            } else {
                Vec::new()
            };
            let (thresholds, labels) = (snapshot.thresholds(), evidence.labels);
            Ok(Judgement { verdict, score, thresholds, reasons, labels })
        })
    }

    /// Returns the evidence that has a weight in the probability, or `None` with the classic
    /// method.
    pub(crate) fn weigh(&self, message: &Message) -> Result<Option<Evidence>> {
        match self.snapshot() {
            StoreSnapshot::Default(snapshot) => {
                self.buffers.lend(|buffers| Ok(Some(self.gather(&snapshot, message, None, buffers)?.weighed)))
            }
            StoreSnapshot::Classic(_) => Ok(None),
        }
    }

    /// Collects the evidence about a message from the snapshot and from the store.
    fn gather(
        &self,
        snapshot: &ModelSnapshot,
        message: &Message,
        sent: Option<u64>,
        buffers: &mut CheckBuffers,
    ) -> Result<MessageEvidence> {
        let model = &snapshot.model;
        let features = buffers.featurizer.features(message);
        let margin = model.weights.margin(features);
        let labels = model.labels(features);
        let signature = buffers.signer.sign(message)?;
        let StoreEvidence { nearest_spam, nearest_ham, sender, learned_as_spam } =
            self.reader().look_up(snapshot.generation, message, signature.as_ref(), &mut buffers.signer)?;

        let like = |nearest: Option<Nearest>| nearest.map_or(0.0, |nearest| nearest.similarity);
        let burst = if sender == Some((0, 0)) { sent.and_then(Bursts::log_odds) } else { None };
        let listed = message.sender.as_deref().and_then(|sender| snapshot.lists.of(sender));
        Ok(MessageEvidence {
            weighed: Evidence {
                margin: if model.head.knows_both { margin.into() } else { 0.0 },
                like_spam: like(nearest_spam),
                like_ham: like(nearest_ham),
                sender,
                burst: burst.unwrap_or(0.0),
                authentication: self.authentication(message),
            },
            is_wrong_spam: learned_as_spam == Some(true)
                && model.put_aside.binary_search(&message.fingerprint).is_ok(),
            learned: learned_as_spam.map(|is_spam| if is_spam { Verdict::Spam } else { Verdict::Ham }),
            nearest: [nearest_spam, nearest_ham],
            labels,
            listed: listed.map(|(entry, listing)| (entry.to_owned(), listing)),
            is_like_all_ham: model.knows_ham_alone() && margin <= LIKE_ALL_HAM,
            sent_within_hour: sent,
        })
    }
}

/// Returns the verdict and the score that follow from the snapshot and the evidence, and from
/// nothing else.
pub(crate) fn judge(snapshot: &ModelSnapshot, evidence: &MessageEvidence) -> (Verdict, f64) {
    let (head, thresholds) = (&snapshot.model.head, snapshot.thresholds());
    let score = logistic(head.combiner.log_odds(&evidence.weighed));
    let [spam, ham] =
        evidence.nearest.map(|nearest| nearest.is_some_and(|n| n.similarity >= NEARLY_THE_SAME));
    let nearly = match (head.knows_both, spam, ham) {
        (false, true, false) => Some(Verdict::Spam),
        (false, false, true) => Some(Verdict::Ham),
        _ if evidence.is_like_all_ham => Some(Verdict::Ham),
        _ => None,
    };
    // Anyone may write a familiar address that trusted hosts do not confirm, also one that is
    // allowed.
    let is_unproven =
        matches!(evidence.weighed.authentication, Some(Authentication::Failed | Authentication::Unknown));
    let listed = match evidence.listed {
        Some((_, Listing::Blocked)) => Some(Verdict::Spam),
        Some((_, Listing::Allowed)) if !is_unproven => Some(Verdict::Ham),
        _ => None,
    };
    let decided = match evidence.learned {
        // A lesson that all other mail contradicts does not make a copy of the message spam. But
        // the lesson still counts: the copy is never ham.
        Some(_) if evidence.is_wrong_spam => listed.filter(|listed| *listed == Verdict::Spam),
        learned => learned.or(listed).or(nearly),
    };
    // A score never contradicts its verdict.
    match decided {
        Some(Verdict::Spam) => (Verdict::Spam, score.max(thresholds.spam)),
        Some(Verdict::Ham) => (Verdict::Ham, score.min(thresholds.ham)),
        // A familiar name without proof is suspicious. So the words alone do not make the message
        // ham.
        _ if evidence.is_wrong_spam || evidence.weighed.is_familiar_name_without_proof() => {
            let score = score.max(thresholds.ham.next_up());
            (thresholds.verdict(score), score)
        }
        _ => (thresholds.verdict(score), score),
    }
}

/// Returns the evidence in words, the strongest first. `nearest` has the nearest learned messages.
fn explain(
    snapshot: &ModelSnapshot,
    message: &Message,
    evidence: &MessageEvidence,
    nearest: Vec<Reason>,
    buffers: &mut CheckBuffers,
) -> Vec<Reason> {
    let (model, weighed) = (&snapshot.model, &evidence.weighed);
    let mut reasons = Vec::new();
    if let Some(learned) = evidence.learned {
        let doubt = if evidence.is_wrong_spam { ", which all other mail contradicts" } else { "" };
        reasons.push(Reason::Note(format!("this very message was learned as {learned}{doubt}")));
    }
    if let (Some(address), Some((entry, listing))) = (&message.sender, &evidence.listed) {
        let (address, entry) = (address.clone(), entry.clone());
        reasons.push(Reason::Listed { address, entry, listing: *listing });
    }
    if !model.head.knows_both {
        reasons.push(Reason::Note("spam and ham have to be learned before there is a verdict".into()));
    }
    let sent = evidence.sent_within_hour;
    if let (Some(address), Some(messages), true) = (&message.sender, sent, weighed.burst != 0.0) {
        reasons.push(Reason::Burst { address: address.clone(), messages });
    }
    reasons.extend(nearest);
    if let Some(outcome) = weighed.authentication {
        let is_familiar = weighed.is_familiar();
        reasons.push(Reason::Authentication { outcome, is_familiar });
    }
    if let (Some(address), Some((spam, ham))) = (&message.sender, weighed.sender) {
        reasons.push(Reason::Sender { address: address.clone(), spam: spam.into(), ham: ham.into() });
    }
    if model.head.knows_both {
        let strongest = buffers.featurizer.strongest(message, &model.weights.slots, FEATURES_NAMED);
        let slope = model.head.combiner.slope();
        let named =
            strongest.into_iter().map(|(name, weight)| Reason::Feature { name, weight: weight * slope });
        reasons.extend(named);
    }
    reasons
}

/// Returns the nearest learned messages in words, the nearest first.
fn name_nearest(store: &Store, [spam, ham]: [Option<Nearest>; 2]) -> Result<Vec<Reason>> {
    let mut reasons = Vec::new();
    for (nearest, class) in [(spam, Verdict::Spam), (ham, Verdict::Ham)] {
        let Some(Nearest { fingerprint, similarity }) = nearest.filter(|nearest| nearest.similarity >= ALIKE)
        else {
            continue;
        };
        let subject = store.message(fingerprint)?.map(|learnt| learnt.subject).unwrap_or_default();
        reasons.push((similarity, Reason::Alike { class, subject, similarity }));
    }
    reasons.sort_by(|a, b| b.0.total_cmp(&a.0));
    Ok(reasons.into_iter().map(|(_, reason)| reason).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::Label;

    /// The score is the same with and without reasons, also while a sender writes a lot.
    #[test]
    fn reasons_do_not_change_the_score_of_mail_that_arrives() {
        let folder = tempfile::tempdir().unwrap();
        let filter = Filter::open_or_create(folder.path()).unwrap();
        let mail = (0..40_u32).map(|number| {
            let (word, label) = if number % 2 == 0 { ("prize", Label::Spam) } else { ("lunch", Label::Ham) };
            Ok((format!("From: {word}@example.org\n\n{word} number {number}\n").into_bytes(), label))
        });
        filter.train(mail).unwrap();
        let message = Message::read(b"From: new@example.com\n\nthe prize for lunch\n");
        let judged = |sent, with_reasons| filter.judge_message(&message, sent, with_reasons).unwrap();
        for sent in [None, Some(1), Some(10), Some(1000)] {
            let (with, without) = (judged(sent, true), judged(sent, false));
            assert_eq!((with.verdict, with.score), (without.verdict, without.score), "{sent:?}");
            assert!(!with.reasons.is_empty() && without.reasons.is_empty());
        }
        assert!(judged(Some(1000), false).score > judged(Some(1), false).score);
    }

    #[test]
    fn equal_evidence_gives_equal_judgements_of_one_snapshot() {
        let folder = tempfile::tempdir().unwrap();
        let filter = Filter::open_or_create(folder.path()).unwrap();
        let StoreSnapshot::Default(snapshot) = filter.snapshot() else {
            panic!("a store of the usual method")
        };
        let message = Message::read(b"From: ana@example.org\n\nsee you at lunch tomorrow\n");
        let gathered = || filter.buffers.lend(|buffers| filter.gather(&snapshot, &message, None, buffers));
        let before = gathered().unwrap();
        filter.learn(b"From: ana@example.org\n\nsee you at lunch tomorrow\n", &Label::Ham).unwrap();
        let after = gathered().unwrap();
        // The snapshot is the one before the lesson. Equal evidence gives an equal judgement.
        assert_eq!(judge(&snapshot, &before), judge(&snapshot, &before.clone()));
        assert_eq!(judge(&snapshot, &before).0, Verdict::Unsure);
        assert_eq!(judge(&snapshot, &after).0, Verdict::Ham, "the store has learned this very message");
    }
}
