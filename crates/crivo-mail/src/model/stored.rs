//! Loads and stores a model as records.

use super::chain::{self, Chain};
use super::place::{Kind, place};
use super::vectors::{self, load_slots};
use super::{Head, LabelHead, Model};
use crate::combine::{Combiner, PIECES};
use crate::error::Result;
use crate::features::{BITS, SLOTS};
use crate::linear::Weights;
use crate::policy::Policy;
use crate::store::{Bytes, File, Table, put_bytes};
use crate::thresholds::{Limits, RATES, log_odds_of};

/// The base-2 logarithm of the number of slots of a label's weights. It is small because there may
/// be many labels.
const LABEL_BITS: u8 = 18;

/// The number of slots of a label's weights.
pub(crate) const LABEL_SLOTS: usize = 1 << LABEL_BITS;

/// Returns the features with their slots mapped to the fewer slots of labels.
pub(super) fn fold_features(features: &[u32]) -> Vec<u32> {
    let mut folded = features.to_vec();
    fold_in_place(&mut folded);
    folded
}

/// Maps the slots of features to the fewer slots of labels, in place.
pub(super) fn fold_in_place(features: &mut [u32]) {
    for entry in features {
        *entry = *entry >> (BITS - LABEL_BITS + 1) << 1 | *entry & 1;
    }
}

/// Loads a model. If `known` is of the same checkpoint, only the steps after it are read.
pub(super) fn load(file: &File, known: Option<&Model>) -> Result<Model> {
    let head = load_head(file)?;
    let slots = match (head.chain, known.and_then(|known| Some((known, known.head.chain?)))) {
        (None, _) => load_slots(file, Kind::Weights, 0, SLOTS)?,
        (Some(chain), Some((known, before)))
            if chain.written == before.written && chain.later >= before.later =>
        {
            chain::weights_after(file, known.weights.clone(), before.tail(), chain.tail())?.slots
        }
        (Some(chain), _) => {
            let slots = load_slots(file, chain.checkpoint(), vectors::WEIGHTS, SLOTS)?;
            chain::weights_after(file, Weights { slots, bias: 0.0, grouped: head.grouped }, 0, chain.tail())?
                .slots
        }
    };
    let weights = Weights { slots, bias: head.bias, grouped: head.grouped };
    let labels = head.labels.iter().enumerate().map(|(label, found)| {
        Ok(Weights {
            slots: load_slots(file, Kind::Weights, label as u16 + 1, LABEL_SLOTS)?,
            bias: found.bias,
            grouped: head.grouped,
        })
    });
    let labels = labels.collect::<Result<_>>()?;
    let put_aside = load_aside(file, &head)?;
    Ok(Model { head, weights, labels, put_aside })
}

/// Stores the messages that are taken for wrong labels, and the base that they belong to.
pub(super) fn put_aside(file: &File, head: &Head, mut fingerprints: Vec<u64>) -> Result<()> {
    fingerprints.sort_unstable();
    let numbers = [head.base, head.boundary as u64].into_iter().chain(fingerprints);
    file.put(Table::Derived, place(Kind::Aside, 0, 0), numbers.flat_map(u64::to_le_bytes).collect())
}

/// Returns the messages that are taken for wrong labels, in ascending order. An older program
/// derives everything else and leaves this record as it is. The record is then of another base and
/// is ignored.
fn load_aside(file: &File, head: &Head) -> Result<Vec<u64>> {
    let numbers = file.get(Table::Derived, place(Kind::Aside, 0, 0), |record| {
        let (numbers, rest) = record.as_chunks::<8>();
        let numbers: Vec<u64> = numbers.iter().map(|number| u64::from_le_bytes(*number)).collect();
        (rest.is_empty() && numbers.len() >= 2).then_some(numbers)
    })?;
    Ok(match numbers.as_deref() {
        Some([base, boundary, fingerprints @ ..])
            if (*base, *boundary) == (head.base, head.boundary as u64) =>
        {
            fingerprints.to_vec()
        }
        _ => Vec::new(),
    })
}

pub(super) fn load_head(file: &File) -> Result<Head> {
    file.need(Table::Derived, place(Kind::Head, 0, 0), decode_head)
}

pub(super) fn put_head(file: &File, head: &Head) -> Result<()> {
    let mut record = Vec::new();
    record.extend_from_slice(&head.bias.to_le_bytes());
    put_combiner(&mut record, &head.combiner);
    // Versions before the limits of several rates read two probabilities here.
    let usual = head.limits.thresholds(&Policy::default());
    record.extend_from_slice(&usual.spam.to_le_bytes());
    record.extend_from_slice(&usual.ham.to_le_bytes());
    record.push(u8::from(head.knows_both));
    record.extend_from_slice(&head.base.to_le_bytes());
    record.extend_from_slice(&head.boundary.to_le_bytes());
    record.extend_from_slice(&(head.labels.len() as u32).to_le_bytes());
    for label in &head.labels {
        put_bytes(&mut record, label.name.as_bytes());
        put_combiner(&mut record, &label.combiner);
        record.extend_from_slice(&label.bias.to_le_bytes());
    }
    put_limits(&mut record, &head.limits);
    if let Some(chain) = head.chain {
        record.extend_from_slice(&chain.written.to_le_bytes());
        record.extend_from_slice(&chain.later.to_le_bytes());
        record.push(u8::from(head.grouped));
    }
    file.put(Table::Derived, place(Kind::Head, 0, 0), record)
}

fn put_limits(record: &mut Vec<u8>, limits: &Limits) {
    record.extend(limits.spam.iter().chain([&limits.ham]).flat_map(|limit| limit.to_le_bytes()));
    record.extend(limits.put_aside.iter().flat_map(|count| count.to_le_bytes()));
}

fn decode_limits(bytes: &mut Bytes<'_>) -> Option<Limits> {
    let mut spam = [0.0; RATES.len()];
    for limit in &mut spam {
        *limit = bytes.f64()?;
    }
    Some(Limits { spam, ham: bytes.f64()?, put_aside: [bytes.u64()?, bytes.u64()?] })
}

fn put_combiner(record: &mut Vec<u8>, combiner: &Combiner) {
    record.extend(combiner.coefficients.iter().flat_map(|coefficient| coefficient.to_le_bytes()));
}

fn decode_head(record: &[u8]) -> Option<Head> {
    let mut bytes = Bytes(record);
    let bias = f32::from_le_bytes(bytes.array()?);
    let combiner = decode_combiner(&mut bytes)?;
    let (spam, ham) = (bytes.f64()?, bytes.f64()?);
    let [knows_both] = bytes.array()?;
    let (base, boundary) = (bytes.u64()?, i64::from_le_bytes(bytes.array()?));
    let count = u32::from_le_bytes(bytes.array()?);
    let mut labels = Vec::new();
    for _ in 0..count {
        let name = String::from_utf8(bytes.counted()?.to_vec()).ok()?;
        let combiner = decode_combiner(&mut bytes)?;
        labels.push(LabelHead { name, combiner, bias: f32::from_le_bytes(bytes.array()?) });
    }
    let limits = if bytes.0.is_empty() {
        // The record was written before there were limits for several rates. Its thresholds are
        // used until the next lesson.
        Limits { spam: [log_odds_of(spam); RATES.len()], ham: log_odds_of(ham), put_aside: [0, 0] }
    } else {
        decode_limits(&mut bytes)?
    };
    // Version 2 of the store has no checkpoints.
    let chain = match bytes.0 {
        [] => None,
        _ => Some(Chain { written: bytes.u64()?, later: bytes.u64()? }),
    };
    // Up to version 3 features have no groups.
    let grouped = match bytes.0 {
        [] => false,
        _ => bytes.array()? == [1],
    };
    let head =
        Head { combiner, limits, knows_both: knows_both == 1, base, boundary, bias, labels, chain, grouped };
    bytes.0.is_empty().then_some(head)
}

fn decode_combiner(bytes: &mut Bytes<'_>) -> Option<Combiner> {
    let mut coefficients = [0.0; PIECES];
    for coefficient in &mut coefficients {
        *coefficient = bytes.f64()?;
    }
    Some(Combiner { coefficients })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_a_store_of_version_3_has_weights_without_groups() {
        let folder = tempfile::tempdir().unwrap();
        let filter = crate::Filter::open_or_create(folder.path()).unwrap();
        filter.learn(b"Subject: one\n\ntwo words", &crate::Label::Spam).unwrap();
        drop(filter);
        let store = crate::store::Store::open(folder.path()).unwrap();
        let mut record = Vec::new();
        store
            .file()
            .need(Table::Derived, place(Kind::Head, 0, 0), |found| {
                record = found.to_vec();
                Some(())
            })
            .unwrap();
        let head = decode_head(&record).unwrap();
        assert!(head.grouped && head.chain.is_some());
        record.pop();
        let older = decode_head(&record).unwrap();
        assert_eq!(older, Head { grouped: false, ..head });
    }
}
