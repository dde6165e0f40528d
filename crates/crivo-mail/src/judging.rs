//! Judging a message: a pure function of what was learned and of the evidence about it.
//!
//! The evidence is gathered first: what the linear model says, the nearest learned messages, what was learned from the sender,
//! and, where mail arrives, whether the sender writes a lot just now. Everything else follows from it: asking twice,
//! or with and without reasons, gives the same score.
//!
//! A message that was learned itself is what it was learned as: a user who rescues a message from the junk folder must find it
//! rescued at once. While a store knows one class only, a message that says nearly the same as a learned one is of its
//! class too. If that class is ham, and there are enough messages of it, mail of the same words is ham as well: nothing is
//! lost by that, while spam from one class alone would be a guess. About all others such a store says nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use crate::burst::Bursts;
use crate::cache::Nearest;
use crate::combine::Evidence;
use crate::error::Result;
use crate::filter::{Brain, Filter, Inner, Reader, now};
use crate::judgement::{Judgement, Reason, Thresholds, Verdict};
use crate::lists::Listing;
use crate::message::{Authentication, Message};
use crate::model::Model;
use crate::store::Store;
use crate::thresholds::logistic;

/// How many features are named as reasons.
const FEATURES_NAMED: usize = 6;

/// From which similarity on a learned message is named as a reason.
const ALIKE: f64 = 0.1;

/// From which similarity on a message is of the class of a learned one, in a store that knows one class only.
const NEARLY_THE_SAME: f64 = 0.5;

/// Up to which margin a message is ham, in a store that knows ham only: the words of learned messages have −1, unknown words 0.
const LIKE_ALL_HAM: f32 = -0.5;

/// What is known of a message before it is judged.
struct Known {
    evidence: Evidence,
    /// What this very message was learned as.
    learned: Option<Verdict>,
    nearest: [Option<Nearest>; 2],
    /// The probability of every label the store knows.
    labels: BTreeMap<String, f64>,
    /// The entry of the owner's lists that counts for the sender.
    listed: Option<(String, Listing)>,
    /// Whether its words are those of learned ham, in a store that knows no spam.
    is_like_all_ham: bool,
}

impl Filter {
    /// Judges a message: any bytes.
    ///
    /// # Errors
    /// If the store is damaged.
    pub fn check(&self, message: &[u8]) -> Result<Judgement> {
        self.judge(&Message::read(message), None, true)
    }

    /// Judges a message that arrives just now, and counts it for its sender: one that nothing was learned from and that
    /// writes a lot within an hour is suspicious.
    ///
    /// # Errors
    /// If the store is damaged.
    pub fn check_arriving(&self, message: &[u8]) -> Result<Judgement> {
        let message = Message::read(message);
        let sent = message.sender.as_deref().map(|address| {
            let mut bursts = self.bursts.lock().unwrap_or_else(PoisonError::into_inner);
            bursts.count(address, message.fingerprint, now())
        });
        self.judge(&message, sent, true)
    }

    /// The verdict and the score of [`check`](Self::check), without reasons: for many messages.
    ///
    /// # Errors
    /// If the store is damaged.
    pub fn verdict(&self, message: &Message) -> Result<(Verdict, f64)> {
        self.judge(message, None, false).map(|judgement| (judgement.verdict, judgement.score))
    }

    /// Judges a message, given how many of its sender arrived within the hour, if that is known.
    fn judge(&self, message: &Message, sent: Option<u64>, with_reasons: bool) -> Result<Judgement> {
        let model = match &self.inner().brain {
            Brain::Default(model) => Arc::clone(model),
            Brain::Classic(classic) => return classic.judge(message),
        };
        let mut reader = self.reader()?;
        let known = self.gather(&model, message, sent, &mut reader)?;
        let thresholds = model.head.limits.thresholds(&self.policy());
        let (verdict, score) = decide(&model, thresholds, &known);
        let reasons =
            if with_reasons { self.explain(&model, message, sent, &known, &mut reader)? } else { Vec::new() };
        self.give_back(reader);
        Ok(Judgement { verdict, score, thresholds, reasons, labels: known.labels })
    }

    /// Gathers what is known of a message, with the store as it is now.
    fn gather(
        &self,
        model: &Model,
        message: &Message,
        sent: Option<u64>,
        reader: &mut Reader,
    ) -> Result<Known> {
        let features = reader.featurizer.features(message);
        let margin = model.weights.margin(features);
        let labels = model.labels(features);
        let signature = reader.signer.sign(message)?;

        let mut inner = self.inner();
        let Inner { store, cache, generation, lists, .. } = &mut *inner;
        let (spam, ham) = match &signature {
            Some(signature) => cache.nearest(store, *generation, signature, &mut reader.signer)?,
            None => (None, None),
        };
        let sender = match &message.sender {
            Some(sender) => Some(cache.sender(store, sender)?),
            None => None,
        };
        let learned = store.message(message.fingerprint)?.and_then(|learnt| learnt.is_spam());
        let listed = message.sender.as_deref().and_then(|sender| lists.of(sender));
        let listed = listed.map(|(entry, listing)| (entry.to_owned(), listing));
        drop(inner);

        let like = |nearest: Option<Nearest>| nearest.map_or(0.0, |nearest| nearest.similarity);
        let burst = if sender == Some((0, 0)) { sent.and_then(Bursts::log_odds) } else { None };
        Ok(Known {
            evidence: Evidence {
                margin: if model.head.knows_both { margin.into() } else { 0.0 },
                like_spam: like(spam),
                like_ham: like(ham),
                sender,
                burst: burst.unwrap_or(0.0),
                authentication: self.authentication(message),
            },
            learned: learned.map(|is_spam| if is_spam { Verdict::Spam } else { Verdict::Ham }),
            nearest: [spam, ham],
            labels,
            listed,
            is_like_all_ham: model.knows_ham_alone() && margin <= LIKE_ALL_HAM,
        })
    }

    /// The evidence in words, the strongest first.
    fn explain(
        &self,
        model: &Model,
        message: &Message,
        sent: Option<u64>,
        known: &Known,
        reader: &mut Reader,
    ) -> Result<Vec<Reason>> {
        let (evidence, [spam, ham]) = (&known.evidence, known.nearest);
        let mut reasons = Vec::new();
        if let Some(learned) = known.learned {
            reasons.push(Reason::Note(format!("this very message was learned as {learned}")));
        }
        if let (Some(address), Some((entry, listing))) = (&message.sender, &known.listed) {
            let (address, entry) = (address.clone(), entry.clone());
            reasons.push(Reason::Listed { address, entry, listing: *listing });
        }
        if !model.head.knows_both {
            reasons.push(Reason::Note("spam and ham have to be learned before there is a verdict".into()));
        }
        if let (Some(address), Some(messages), true) = (&message.sender, sent, evidence.burst != 0.0) {
            reasons.push(Reason::Burst { address: address.clone(), messages });
        }
        reasons.extend(self.with_store(|store| name_nearest(store, spam, ham))?);
        if let Some(outcome) = evidence.authentication {
            let is_familiar = evidence.is_familiar();
            reasons.push(Reason::Authentication { outcome, is_familiar });
        }
        if let (Some(address), Some((spam, ham))) = (&message.sender, evidence.sender) {
            reasons.push(Reason::Sender { address: address.clone(), spam: spam.into(), ham: ham.into() });
        }
        if model.head.knows_both {
            let strongest = reader.featurizer.strongest(message, &model.weights.slots, FEATURES_NAMED);
            let slope = model.head.combiner.slope();
            let named =
                strongest.into_iter().map(|(name, weight)| Reason::Feature { name, weight: weight * slope });
            reasons.extend(named);
        }
        Ok(reasons)
    }
}

/// The verdict and the score that follow from the evidence.
fn decide(model: &Model, thresholds: Thresholds, known: &Known) -> (Verdict, f64) {
    let score = logistic(model.head.combiner.log_odds(&known.evidence));
    let [spam, ham] = known.nearest.map(|nearest| nearest.is_some_and(|n| n.similarity >= NEARLY_THE_SAME));
    let nearly = match (model.head.knows_both, spam, ham) {
        (false, true, false) => Some(Verdict::Spam),
        (false, false, true) => Some(Verdict::Ham),
        _ if known.is_like_all_ham => Some(Verdict::Ham),
        _ => None,
    };
    // A familiar name that a trusted host cannot confirm may be anyone's, also one that is allowed.
    let is_unproven =
        matches!(known.evidence.authentication, Some(Authentication::Failed | Authentication::Unknown));
    let listed = match known.listed {
        Some((_, Listing::Blocked)) => Some(Verdict::Spam),
        Some((_, Listing::Allowed)) if !is_unproven => Some(Verdict::Ham),
        _ => None,
    };
    // A score never contradicts its verdict.
    match known.learned.or(listed).or(nearly) {
        Some(Verdict::Spam) => (Verdict::Spam, score.max(thresholds.spam)),
        Some(Verdict::Ham) => (Verdict::Ham, score.min(thresholds.ham)),
        // A familiar name that proves nothing is never an excuse: words alone do not make it ham.
        _ if known.evidence.is_familiar_name_without_proof() => {
            let score = score.max(thresholds.ham.next_up());
            (thresholds.verdict(score), score)
        }
        _ => (thresholds.verdict(score), score),
    }
}

/// The nearest messages in words, nearest first.
fn name_nearest(store: &Store, spam: Option<Nearest>, ham: Option<Nearest>) -> Result<Vec<Reason>> {
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
