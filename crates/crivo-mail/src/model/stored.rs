//! A model in records.

use super::place::{Kind, place};
use super::{Head, LabelHead, Model};
use crate::combine::{Combiner, PIECES};
use crate::error::Result;
use crate::features::{BITS, SLOTS, TRANSPORT};
use crate::linear::Weights;
use crate::policy::Policy;
use crate::store::{Bytes, File, Table, put_bytes};
use crate::thresholds::{Limits, RATES, log_odds_of};
use crate::worth::Counts;

/// The base-2 logarithm of the number of slots of a label's weights: there may be many labels.
const LABEL_BITS: u8 = 18;

/// How many slots the weights of a label have.
pub(crate) const LABEL_SLOTS: usize = 1 << LABEL_BITS;

/// How many weights are in a record.
const PIECE: usize = 1 << 14;

/// Features in the fewer slots of labels.
pub(crate) fn fold_features(features: &[u32]) -> Vec<u32> {
    features.iter().map(|entry| entry >> (BITS - LABEL_BITS + 1) << 1 | entry & 1).collect()
}

pub(super) fn load(file: &File) -> Result<Model> {
    let head = load_head(file)?;
    let weights = Weights { slots: load_slots(file, Kind::Weights, 0, SLOTS)?, bias: head.bias };
    let labels = head.labels.iter().enumerate().map(|(label, found)| {
        Ok(Weights {
            slots: load_slots(file, Kind::Weights, label as u16 + 1, LABEL_SLOTS)?,
            bias: found.bias,
        })
    });
    let labels = labels.collect::<Result<_>>()?;
    Ok(Model { head, weights, labels })
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
        // Written before there were limits for several rates: its thresholds hold until the next lesson.
        Limits { spam: [log_odds_of(spam); RATES.len()], ham: log_odds_of(ham), put_aside: [0, 0] }
    } else {
        decode_limits(&mut bytes)?
    };
    let head = Head { combiner, limits, knows_both: knows_both == 1, base, boundary, bias, labels };
    bytes.0.is_empty().then_some(head)
}

fn decode_combiner(bytes: &mut Bytes<'_>) -> Option<Combiner> {
    let mut coefficients = [0.0; PIECES];
    for coefficient in &mut coefficients {
        *coefficient = bytes.f64()?;
    }
    Some(Combiner { coefficients })
}

// ---- weights ----

/// Stores weights in pieces: those that are not zero with their numbers, or all, whichever is shorter.
pub(super) fn put_slots(file: &File, kind: Kind, model: u16, slots: &[f32]) -> Result<()> {
    for (index, piece) in slots.chunks(PIECE).enumerate() {
        let few: Vec<(u16, f32)> = piece
            .iter()
            .enumerate()
            .filter(|(_, w)| w.to_bits() != 0)
            .map(|(at, w)| (at as u16, *w))
            .collect();
        let mut record = Vec::new();
        if few.len() * 6 < piece.len() * 4 {
            record.push(0);
            for (at, weight) in few {
                record.extend_from_slice(&at.to_le_bytes());
                record.extend_from_slice(&weight.to_le_bytes());
            }
        } else {
            record.reserve(piece.len() * 4 + 16);
            record.push(1);
            record.extend(piece.iter().flat_map(|weight| weight.to_le_bytes()));
        }
        file.put(Table::Derived, place(kind, model, index as u32), record)?;
    }
    Ok(())
}

pub(super) fn load_slots(file: &File, kind: Kind, model: u16, count: usize) -> Result<Vec<f32>> {
    let mut slots = vec![0.0; count];
    for (index, piece) in slots.chunks_mut(PIECE).enumerate() {
        let number = place(kind, model, index as u32);
        if index * PIECE < TRANSPORT {
            file.need(Table::Derived, number, |record| fill_piece(piece, record))?;
        } else {
            // Stores that were written before transport headers had slots have no such piece.
            file.get(Table::Derived, number, |record| fill_piece(piece, record))?;
        }
    }
    Ok(slots)
}

fn fill_piece(piece: &mut [f32], record: &[u8]) -> Option<()> {
    let (form, weights) = record.split_first()?;
    match form {
        0 => {
            let (entries, rest) = weights.as_chunks::<6>();
            for [a, b, weight @ ..] in entries {
                *piece.get_mut(usize::from(u16::from_le_bytes([*a, *b])))? = f32::from_le_bytes(*weight);
            }
            rest.is_empty().then_some(())
        }
        1 => {
            let (all, rest) = weights.as_chunks::<4>();
            if all.len() != piece.len() || !rest.is_empty() {
                return None;
            }
            for (slot, weight) in piece.iter_mut().zip(all) {
                *slot = f32::from_le_bytes(*weight);
            }
            Some(())
        }
        _ => None,
    }
}

// ---- the later messages ----

/// The messages after the base, with their time and class, in their order.
pub(super) fn put_later(file: &File, later: &[(i64, u64, bool)]) -> Result<()> {
    let mut record = Vec::with_capacity(later.len() * 17 + 8);
    for (time, fingerprint, is_spam) in later {
        record.extend_from_slice(&time.to_le_bytes());
        record.extend_from_slice(&fingerprint.to_le_bytes());
        record.push(u8::from(*is_spam));
    }
    file.put(Table::Derived, place(Kind::Later, 0, 0), record)
}

pub(super) fn load_later(file: &File) -> Result<Vec<(i64, u64, bool)>> {
    file.need(Table::Derived, place(Kind::Later, 0, 0), |record| {
        let mut bytes = Bytes(record);
        let mut later = Vec::with_capacity(record.len() / 17);
        while !bytes.0.is_empty() {
            let time = i64::from_le_bytes(bytes.array()?);
            let fingerprint = bytes.u64()?;
            let [is_spam] = bytes.array()?;
            later.push((time, fingerprint, is_spam == 1));
        }
        Some(later)
    })
}

// ---- the base ----

/// Which vectors of the base are where.
const WEIGHTS: u16 = 0;
const REST: u16 = 1;
const OF_KIND: u16 = 2;
const OF_OTHERS: u16 = 3;

/// The base's weights, and what they were fitted with.
pub(super) fn put_base(file: &File, weights: &Weights, counts: &Counts) -> Result<()> {
    put_slots(file, Kind::Base, WEIGHTS, &weights.slots)?;
    put_slots(file, Kind::Base, OF_KIND, &counts.of_kind)?;
    put_slots(file, Kind::Base, OF_OTHERS, &counts.of_others)?;
    let [of_kind, of_others] = counts.messages;
    let rest = [weights.bias, of_kind, of_others].iter().flat_map(|number| number.to_le_bytes()).collect();
    file.put(Table::Derived, place(Kind::Base, REST, 0), rest)
}

pub(super) fn load_base(file: &File) -> Result<(Weights, Counts)> {
    let [bias, messages @ ..] = file.need(Table::Derived, place(Kind::Base, REST, 0), |record| {
        let (numbers, rest) = record.as_chunks::<4>();
        let numbers: [[u8; 4]; 3] = numbers.try_into().ok()?;
        rest.is_empty().then_some(numbers.map(f32::from_le_bytes))
    })?;
    let slots = |which| load_slots(file, Kind::Base, which, SLOTS);
    let counts = Counts { of_kind: slots(OF_KIND)?, of_others: slots(OF_OTHERS)?, messages };
    Ok((Weights { slots: slots(WEIGHTS)?, bias }, counts))
}
