//! Derives the model from all messages, or updates it after a few of them changed.

use std::collections::{BTreeMap, BTreeSet};

use super::buckets::{Filling, hash_of_sender};
use super::chain::{self, Chain, LaterMessage};
use super::fit::{BASE, Fitted, fit_base, unseen_margins};
use super::place::{Kind, place, range};
use super::stored::{self, LABEL_SLOTS, fold_in_place};
use super::training_set::{StoredRows, TrainingMessage, TrainingSet};
use super::{Head, LabelHead, Model, vectors};
use crate::alike::{self, Signer};
use crate::combine::{Combiner, Evidence};
use crate::error::Result;
use crate::label::Label;
use crate::linear::{FeatureRows, Rows, Weights};
use crate::store::{Changed, Learnt, Mark, Store, Table};

/// Up to this number of messages, all of them are in the base.
const SMALL: usize = 64;

/// Whether a message is spam, and the time it was learned; `None` if it is neither spam nor ham.
type Class = Option<(bool, i64)>;

/// Returns the number of messages in the base.
fn base_size(messages: usize) -> usize {
    let mut size = SMALL;
    if messages <= size {
        return messages;
    }
    while size + size / 4 <= messages {
        size += size / 4;
    }
    size
}

/// Derives everything from all messages after some of them changed.
pub(crate) fn derive_all(store: &Store, changed: &[Changed]) -> Result<()> {
    let file = store.file();
    let mut labels = Vec::new();
    let all = TrainingSet::load(store, |fingerprint, learnt| {
        labels.push((fingerprint, labels_of(Some(learnt))));
    })?;
    let mut rows = StoredRows::load(store, all.fingerprints(), changed, |_| ())?;
    let mut signer = Signer::new()?;

    let messages = &all.messages;
    let time = |at: u32| messages[at as usize].time;
    let mut by_time: Vec<u32> =
        (0..messages.len() as u32).filter(|at| messages[*at as usize].is_spam.is_some()).collect();
    by_time.sort_by_key(|&at| (time(at), messages[at as usize].fingerprint));
    let boundary = match base_size(by_time.len()) {
        0 => i64::MIN,
        size => time(by_time[size - 1]),
    };
    let later = by_time.split_off(by_time.partition_point(|&at| time(at) <= boundary));
    let mut base = by_time;
    base.sort_unstable();
    let decay = store.decay()?;
    if decay.is_on() {
        let age = |message: &TrainingMessage| boundary.saturating_sub(message.time);
        rows.set_importance(messages.iter().map(|message| decay.importance(age(message))).collect());
    }

    let example = |at: u32| (at, messages[at as usize].is_spam == Some(true));
    let examples: Vec<(u32, bool)> = base.iter().map(|&at| example(at)).collect();
    let renumbering = rows.renumber(base.iter().copied());
    let fitted = fit_base(&all, &rows, &examples, &mut signer)?;
    let Fitted { mut weights, mut counts, combiner, limits, put_aside } = fitted;
    if let Some(renumbering) = renumbering {
        for found in [&mut weights.slots, &mut counts.of_kind, &mut counts.of_others] {
            *found = renumbering.restored(found);
        }
    }
    file.mark_as_current()?;
    let (first, last) = range(Kind::Weights, 0);
    file.remove_range(Table::Derived, first, last)?;
    vectors::put_state(file, Kind::Base, &weights, &counts)?;
    let later: Vec<(u32, bool)> = later.into_iter().map(example).collect();
    let listed: Vec<LaterMessage> =
        later.iter().map(|&(at, is_spam)| (time(at), messages[at as usize].fingerprint, is_spam)).collect();
    let bias = chain::write(file, (weights, counts), &rows, &later, &listed)?;
    drop(rows);

    let mut filling = Filling::default();
    for message in messages.iter().filter(|message| message.is_spam.is_some()) {
        if let Some(signature) = all.signature(message) {
            filling.keys(message.fingerprint, signer.keys(signature)?, true);
        }
        if let (Some(sender), Some(is_spam)) = (message.sender, message.is_spam) {
            filling.sender(sender, is_spam, true);
        }
    }
    filling.write_all(file)?;

    let kinds = |spam: bool| examples.iter().chain(&later).any(|(_, is_spam)| *is_spam == spam);
    let mut head = Head {
        combiner,
        limits,
        knows_both: kinds(true) && kinds(false),
        base: examples.len() as u64,
        boundary,
        bias,
        labels: Vec::new(),
        chain: Some(Chain { written: store.state()?.generation, later: later.len() as u64 }),
        grouped: true,
    };
    let put_aside = put_aside.iter().map(|at| messages[*at as usize].fingerprint).collect();
    derive_labels(store, labels, &mut head)?;
    stored::put_aside(file, &head, put_aside)?;
    stored::put_head(file, &head)
}

/// Derives what changes with a few messages. The result is that of [`derive_all`], bit for bit. If
/// `known` is the model of the state before, its weights are not read again.
pub(crate) fn derive_after(store: &Store, changed: &[Changed], known: Option<&Model>) -> Result<()> {
    let file = store.file();
    // Another message may have been fitted after it, from weights of its old features.
    if changed.iter().any(|change| change.is_replaced) {
        return derive_all(store, changed);
    }
    let mut head = stored::load_head(file)?;
    let class =
        |learnt: &Option<Learnt>| learnt.as_ref().and_then(|learnt| Some((learnt.is_spam()?, learnt.time())));
    let moved: Vec<(u64, Class, Class)> = changed
        .iter()
        .map(|change| (change.fingerprint, class(&change.before), class(&change.after)))
        .filter(|(_, before, after)| before != after)
        .collect();

    let Some(chain) = head.chain.filter(|_| head.grouped) else { return derive_all(store, changed) };
    let count = head.base + chain.later;
    let comes = moved.iter().filter(|(_, _, after)| after.is_some()).count();
    let goes = moved.iter().filter(|(_, before, _)| before.is_some()).count();
    let count_after = (count as usize + comes).saturating_sub(goes);
    // The base may have more than `base_size`, because messages of one time are not divided.
    let same_base = count as usize > SMALL && base_size(count as usize) == base_size(count_after);
    let labels_change =
        changed.iter().any(|change| labels_of(change.before.as_ref()) != labels_of(change.after.as_ref()));
    if moved.is_empty() && !labels_change {
        return Ok(());
    }
    if !(moved.is_empty() || same_base && fit_after(store, &mut head, chain, &moved, known)?) {
        return derive_all(store, changed);
    }

    let (mut signer, mut filling) = (Signer::new()?, Filling::default());
    for change in changed {
        if let Some(before) = &change.before {
            fill(&mut filling, &mut signer, change.fingerprint, before, false)?;
        }
        if let Some(after) = &change.after {
            fill(&mut filling, &mut signer, change.fingerprint, after, true)?;
        }
    }
    filling.write_changes(file)?;
    let state = store.state()?;
    head.knows_both = state.spam > 0 && state.ham > 0;
    // A single label is fitted against all other messages, several labels against each other.
    if labels_change || head.labels.len() == 1 {
        let mut labelled = Vec::new();
        store.for_each(|fingerprint, learnt| {
            labelled.push((fingerprint, labels_of(Some(&learnt))));
            Ok(())
        })?;
        derive_labels(store, labelled, &mut head)?;
    }
    stored::put_head(file, &head)
}

/// Fits the later messages after some of them were added, removed or changed. Returns false and
/// changes nothing if one of the moved messages is in the base.
fn fit_after(
    store: &Store,
    head: &mut Head,
    chain: Chain,
    moved: &[(u64, Class, Class)],
    known: Option<&Model>,
) -> Result<bool> {
    let file = store.file();
    let is_new = |(_, before, after): &(u64, Class, Class)| before.is_none() && after.is_some();
    let key = |(time, fingerprint, _): &LaterMessage| (*time, *fingerprint);
    let mut new: Vec<LaterMessage> = moved
        .iter()
        .filter_map(|(fingerprint, _, after)| after.map(|(is_spam, time)| (time, *fingerprint, is_spam)))
        .collect();
    new.sort_unstable_by_key(key);
    if new.iter().any(|(time, ..)| *time <= head.boundary) {
        return Ok(false);
    }
    let last = chain::last(file, chain)?;
    if moved.iter().all(is_new) && new.first().map(key) > last.as_ref().map(key) {
        let known = known.filter(|known| known.head.chain == Some(chain));
        chain::append(store, head, chain, &new, known.map(|known| &known.weights))?;
        return Ok(true);
    }
    let known = chain::load_later(file, chain)?;
    let mut later: BTreeMap<(i64, u64), bool> = known.iter().map(|found| (key(found), found.2)).collect();
    for (fingerprint, before, _) in moved {
        if let Some((_, time)) = before
            && later.remove(&(*time, *fingerprint)).is_none()
        {
            return Ok(false);
        }
    }
    later.extend(new.iter().map(|found| (key(found), found.2)));
    let (mut rows, mut examples, mut features) = (Rows::default(), Vec::new(), Vec::new());
    for (&(_, fingerprint), &is_spam) in &later {
        features.clear();
        store.features(fingerprint, &mut features)?;
        examples.push((rows.len() as u32, is_spam));
        rows.push(&features);
    }
    let listed: Vec<LaterMessage> =
        later.iter().map(|(&(time, fingerprint), &is_spam)| (time, fingerprint, is_spam)).collect();
    head.bias = chain::write(file, vectors::load_state(file, Kind::Base)?, &rows, &examples, &listed)?;
    head.chain = Some(Chain { written: store.state()?.generation, later: listed.len() as u64 });
    Ok(true)
}

/// Adds or removes the keys and the sender of a message, if it is spam or ham.
fn fill(
    filling: &mut Filling,
    signer: &mut Signer,
    fingerprint: u64,
    learnt: &Learnt,
    comes: bool,
) -> Result<()> {
    let Some(is_spam) = learnt.is_spam() else { return Ok(()) };
    if let Some(signature) = alike::from_bytes(&learnt.signature) {
        filling.keys(fingerprint, signer.keys(&signature)?, comes);
    }
    if let Some(sender) = &learnt.sender {
        filling.sender(hash_of_sender(sender), is_spam, comes);
    }
    Ok(())
}

// ---- labels ----

/// Returns the user's own labels of a message.
fn labels_of(learnt: Option<&Learnt>) -> Vec<String> {
    let marks = learnt.map(|learnt| learnt.marks.as_slice()).unwrap_or_default();
    let named = |mark: &Mark| match &mark.label {
        Label::Named(name) => Some(name.clone()),
        Label::Spam | Label::Ham => None,
    };
    marks.iter().filter_map(named).collect()
}

/// Derives the models of labels. Each is fitted against the messages with other labels, or against
/// all other messages if it is the only label.
fn derive_labels(store: &Store, mut messages: Vec<(u64, Vec<String>)>, head: &mut Head) -> Result<()> {
    let file = store.file();
    let names: BTreeSet<String> = messages.iter().flat_map(|(_, labels)| labels.iter().cloned()).collect();
    // Removes the weights of labels that no longer exist.
    file.remove_range(Table::Derived, place(Kind::Weights, 1, 0), place(Kind::Weights, u16::MAX, u32::MAX))?;
    head.labels.clear();
    if names.is_empty() {
        return Ok(());
    }
    if names.len() > 1 {
        messages.retain(|(_, labels)| !labels.is_empty());
    }
    let fingerprints = messages.iter().map(|(fingerprint, _)| *fingerprint).collect();
    let rows = StoredRows::load(store, fingerprints, &[], fold_in_place)?;
    for (number, name) in names.into_iter().enumerate() {
        let examples: Vec<(u32, bool)> = messages
            .iter()
            .enumerate()
            .map(|(at, (_, labels))| (at as u32, labels.contains(&name)))
            .collect();
        let mut weights = Weights::zero(LABEL_SLOTS);
        let mut combiner = Combiner::without_others();
        if examples.iter().any(|(_, has)| !has) {
            let fold_of = |at: u32| messages[at as usize].0 >> 16;
            let (margins, counts) = unseen_margins(&rows, fold_of, &examples, &[], LABEL_SLOTS)?;
            let evidence: Vec<(Evidence, bool)> = margins
                .into_iter()
                .zip(&examples)
                .map(|(margin, (_, has))| (Evidence { margin, ..Evidence::default() }, *has))
                .collect();
            weights.fit(&rows, &examples, &counts.squares(rows.text_slots()), BASE)?;
            combiner = Combiner::fit(&evidence);
        }
        vectors::put_slots(file, Kind::Weights, number as u16 + 1, &weights.slots)?;
        head.labels.push(LabelHead { name, combiner, bias: weights.bias });
    }
    Ok(())
}
