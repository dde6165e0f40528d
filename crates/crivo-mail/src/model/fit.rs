//! Fits the base: weights, the coefficients of the evidence, and the limits, from messages in
//! memory.
//!
//! Each message is first judged by a model of the other folds. A message that contradicts its label
//! beyond doubt is taken for a wrong label. It is put aside, and everything is fitted without it.
//! It stays in the store, stays comparable by its signature, and is judged anew whenever the base
//! is fitted.
//!
//! A copy of ham that was put aside is ham, because a message that a reader rescued stays rescued.
//! A copy of spam that was put aside is at least unsure, and spam only if the other evidence says
//! so.

use std::collections::BTreeMap;

use super::training_set::{StoredRows, TrainingSet};
use crate::alike::{Crowd, Signer};
use crate::combine::{Combiner, Evidence};
use crate::error::Result;
use crate::features::SLOTS;
use crate::linear::{FeatureRows, Recipe, Weights};
use crate::store::{Learnt, Store};
use crate::thresholds::{Aside, Limits};
use crate::worth::Counts;

/// The recipe of the base, chosen by cross-validation within training mail.
pub(super) const BASE: Recipe = Recipe { cost: 16.0, passes: 2 };

/// With fewer messages than this, every label is taken as right. A filter that has learned little
/// is wrong more often than the reader who corrects it.
const BELIEVED: usize = 200;

/// The result of fitting the base.
pub(super) struct Fitted {
    pub(super) weights: Weights,
    pub(super) counts: Counts,
    pub(super) combiner: Combiner,
    pub(super) limits: Limits,
    /// The numbers of the messages that are taken for wrong labels.
    pub(super) put_aside: Vec<u32>,
}

/// Fits the weights and calibrates their margins. Each example is the number of a message in `all`
/// and `rows`, with whether it is spam.
pub(super) fn fit_base(
    all: &TrainingSet,
    rows: &StoredRows<'_>,
    examples: &[(u32, bool)],
    signer: &mut Signer,
) -> Result<Fitted> {
    let fold_of = |at: u32| all.messages[at as usize].fingerprint >> 16;
    let (margins, mut counts) = unseen_margins(rows, fold_of, examples, &[], SLOTS)?;
    let mut trusted = examples.to_vec();
    let (mut combiner, mut limits, mut put_aside) = (Combiner::default(), Limits::unknown(), Vec::new());
    if examples.iter().any(|(_, is_spam)| *is_spam) && examples.iter().any(|(_, is_spam)| !is_spam) {
        let mut evidence = evidence_of(all, examples, margins, signer)?;
        let wrong = wrong_labels(&evidence);
        let is_aside: Vec<bool> = wrong.iter().map(|probability| *probability > 0.5).collect();
        let mut aside = Aside::default();
        for ((at, is_spam), wrong) in examples.iter().zip(&wrong).filter(|(_, wrong)| **wrong > 0.5) {
            put_aside.push(*at);
            let class = usize::from(!is_spam);
            aside.messages[class] += 1;
            aside.expected_right[class] += 1.0 - wrong;
        }
        if is_aside.contains(&true) {
            let margins;
            (margins, counts) = unseen_margins(rows, fold_of, examples, &is_aside, SLOTS)?;
            evidence.iter_mut().zip(margins).for_each(|((evidence, _), margin)| evidence.margin = margin);
            let mut place = is_aside.iter();
            trusted.retain(|_| place.next() == Some(&false));
            let mut place = is_aside.iter();
            evidence.retain(|_| place.next() == Some(&false));
        }
        let importance: Vec<f64> =
            trusted.iter().map(|(at, _)| rows.importance(*at as usize).into()).collect();
        combiner = Combiner::fit_by_importance(&evidence, &importance);
        let log_odds: Vec<(f64, bool)> =
            evidence.iter().map(|(evidence, is_spam)| (combiner.log_odds(evidence), *is_spam)).collect();
        limits = Limits::beside(&log_odds, &importance, &aside);
    }
    let mut weights = Weights::zero(SLOTS);
    if !trusted.is_empty() {
        weights.fit(rows, &trusted, &counts.squares(rows.text_slots()), BASE)?;
    }
    Ok(Fitted { weights, counts, combiner, limits, put_aside })
}

/// Returns the probability that its label is wrong for each example. It depends on the share of
/// wrong labels that the fit finds.
fn wrong_labels(evidence: &[(Evidence, bool)]) -> Vec<f64> {
    if evidence.len() < BELIEVED {
        return vec![0.0; evidence.len()];
    }
    let (combiner, share) = Combiner::fit_with_wrong_labels(evidence);
    evidence.iter().map(|(evidence, is_spam)| combiner.wrong_label(evidence, *is_spam, share)).collect()
}

/// Returns margins of messages from models that have not seen them, and the counts of all. Examples
/// that are marked in `doubtful` are neither fitted nor counted. If `doubtful` is empty, all
/// examples are.
pub(super) fn unseen_margins(
    rows: &impl FeatureRows,
    fold_of: impl Fn(u32) -> u64,
    examples: &[(u32, bool)],
    doubtful: &[bool],
    slots: usize,
) -> Result<(Vec<f64>, Counts)> {
    if examples.is_empty() {
        return Ok((Vec::new(), Counts::zero(slots)));
    }
    // Few messages are divided into more folds, so that each model still learns from most of them.
    let folds = match examples.len() {
        0..=200 => 10,
        201..=2000 => 5,
        _ => 2,
    };
    let is_out = |at: u32, fold: u64| fold_of(at) % folds == fold;
    let is_trusted = |place: usize| !doubtful.get(place).copied().unwrap_or(false);
    let trusted: Vec<(u32, bool)> = examples
        .iter()
        .enumerate()
        .filter(|(place, _)| is_trusted(*place))
        .map(|(_, found)| *found)
        .collect();
    // The counts of one fold at a time. Those of the first fold are also the start of the counts of
    // all.
    let part_of = |fold: u64| trusted.iter().copied().filter(move |(at, _)| is_out(*at, fold));
    let mut part = Counts::zero(slots);
    part.add(rows, part_of(0))?;
    let mut counts = part.clone();
    counts.add(rows, trusted.iter().copied().filter(|(at, _)| !is_out(*at, 0)))?;
    let mut margins = vec![0.0; examples.len()];
    let mut room = Vec::new();
    for fold in 0..folds {
        let squares = match (fold, folds) {
            (0, _) => counts.squares_without(&part, rows.text_slots()),
            // With two folds, all messages without the second fold are the first fold.
            (1, 2) => part.squares(rows.text_slots()),
            _ => {
                part.clear(rows.text_slots());
                part.add(rows, part_of(fold))?;
                counts.squares_without(&part, rows.text_slots())
            }
        };
        let others: Vec<_> = trusted.iter().copied().filter(|(at, _)| !is_out(*at, fold)).collect();
        let mut weights = Weights::zero(slots);
        weights.fit(rows, &others, &squares, BASE)?;
        for (margin, (at, _)) in margins.iter_mut().zip(examples).filter(|(_, (at, _))| is_out(*at, fold)) {
            *margin = weights.margin(rows.row(*at as usize, &mut room)?).into();
        }
    }
    Ok((margins, counts))
}

/// Every message that is spam or ham, with its evidence from models that have not seen it.
pub(crate) struct Unseen {
    pub(crate) messages: Vec<(u64, Learnt)>,
    /// For each message its place in `messages`, its evidence, and whether it is spam.
    pub(crate) evidence: Vec<(usize, Evidence, bool)>,
}

/// Returns the evidence about every message of a store, as a model that has not learned the message
/// would have it.
pub(crate) fn unseen(store: &Store) -> Result<Unseen> {
    let _moment = store.file().read_transaction()?;
    let mut messages = Vec::new();
    let all = TrainingSet::load(store, |fingerprint, learnt| messages.push((fingerprint, learnt.clone())))?;
    let rows = StoredRows::load(store, all.fingerprints(), &[], |_| ())?;
    let classed = all.messages.iter().enumerate();
    let examples: Vec<(u32, bool)> =
        classed.filter_map(|(at, message)| Some((at as u32, message.is_spam?))).collect();
    let fold_of = |at: u32| all.messages[at as usize].fingerprint >> 16;
    let (margins, _) = unseen_margins(&rows, fold_of, &examples, &[], SLOTS)?;
    let found = evidence_of(&all, &examples, margins, &mut Signer::new()?)?;
    let evidence = examples
        .iter()
        .zip(found)
        .map(|(&(at, is_spam), (evidence, _))| (at as usize, evidence, is_spam))
        .collect();
    Ok(Unseen { messages, evidence })
}

/// Returns the evidence about examples: the similarity to the others, and the counts of senders
/// without the example itself.
fn evidence_of(
    all: &TrainingSet,
    examples: &[(u32, bool)],
    margins: Vec<f64>,
    signer: &mut Signer,
) -> Result<Vec<(Evidence, bool)>> {
    let mut members = Vec::new();
    let mut places = vec![None; examples.len()];
    let mut senders: BTreeMap<u64, (u32, u32)> = BTreeMap::new();
    for (place, &(at, is_spam)) in places.iter_mut().zip(examples) {
        let message = &all.messages[at as usize];
        if let Some(signature) = all.signature(message) {
            *place = Some(members.len());
            members.push((signature, is_spam));
        }
        if let Some(sender) = message.sender {
            let (spam, ham) = senders.entry(sender).or_default();
            *(if is_spam { spam } else { ham }) += 1;
        }
    }
    let crowd = Crowd::new(members, signer)?;
    let mut evidence = Vec::with_capacity(examples.len());
    for ((place, margin), &(at, is_spam)) in places.iter().zip(margins).zip(examples) {
        let (like_spam, like_ham) = match place {
            Some(member) => crowd.nearest_of(*member),
            None => (0.0, 0.0),
        };
        let sender = all.messages[at as usize].sender.and_then(|sender| senders.get(&sender));
        let sender = sender.map(|&(spam, ham)| if is_spam { (spam - 1, ham) } else { (spam, ham - 1) });
        let known = Evidence { margin, like_spam, like_ham, sender, ..Evidence::default() };
        evidence.push((known, is_spam));
    }
    Ok(evidence)
}
