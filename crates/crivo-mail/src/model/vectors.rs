//! Vectors with a number for each slot, in pieces with checksums: weights, and counts of messages.
//!
//! A lesson reads the slots of one message directly from the stored pieces. Decoding whole vectors
//! of a million numbers would take longer than the rest of the lesson.

use super::place::{Kind, place, range};
use crate::error::Result;
use crate::features::{SLOTS, TRANSPORT};
use crate::linear::Weights;
use crate::store::{File, Table};
use crate::worth::Counts;

/// The number of slots in a record.
const PIECE: usize = 1 << 14;

/// The model numbers under which the vectors of a state are stored.
pub(super) const WEIGHTS: u16 = 0;
const REST: u16 = 1;
pub(super) const OF_KIND: u16 = 2;
pub(super) const OF_OTHERS: u16 = 3;

/// How a piece is stored: the first byte of its record.
const FEW_WEIGHTS: u8 = 0;
const ALL_WEIGHTS: u8 = 1;
const FEW_COUNTS: u8 = 2;
const ALL_COUNTS: u8 = 3;

/// The byte that marks a count too large for one byte. The count itself is at the end of the
/// record.
const LARGE: u8 = u8::MAX;

/// Stores weights in pieces. Each has either only the weights that are not zero, with their slots,
/// or all weights, whichever is shorter.
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
            record.push(FEW_WEIGHTS);
            for (at, weight) in few {
                record.extend_from_slice(&at.to_le_bytes());
                record.extend_from_slice(&weight.to_le_bytes());
            }
        } else {
            record.reserve(piece.len() * 4 + 16);
            record.push(ALL_WEIGHTS);
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
    match *form {
        FEW_WEIGHTS => {
            let (entries, rest) = weights.as_chunks::<6>();
            for [a, b, weight @ ..] in entries {
                *piece.get_mut(usize::from(u16::from_le_bytes([*a, *b])))? = f32::from_le_bytes(*weight);
            }
            rest.is_empty().then_some(())
        }
        ALL_WEIGHTS => {
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

// ---- counts ----

/// Stores counts in pieces, one byte for each count. A piece has either only the counts that are
/// not zero, with their slots, or all counts, whichever is shorter. The few counts that do not fit
/// into a byte follow at the end.
fn put_counts(file: &File, kind: Kind, model: u16, counts: &[f32]) -> Result<()> {
    for (index, piece) in counts.chunks(PIECE).enumerate() {
        file.put(Table::Derived, place(kind, model, index as u32), encode_counts(piece))?;
    }
    Ok(())
}

fn encode_counts(piece: &[f32]) -> Vec<u8> {
    let byte = |count: f32| if count < f32::from(LARGE) { count as u8 } else { LARGE };
    let used = piece.iter().filter(|count| **count > 0.0).count();
    let mut record = Vec::with_capacity(piece.len() + 64);
    if used * 3 + 2 < piece.len() {
        record.push(FEW_COUNTS);
        record.extend_from_slice(&(used as u16).to_le_bytes());
        for (at, count) in piece.iter().enumerate().filter(|(_, count)| **count > 0.0) {
            record.extend_from_slice(&(at as u16).to_le_bytes());
            record.push(byte(*count));
        }
    } else {
        record.push(ALL_COUNTS);
        record.extend(piece.iter().map(|count| byte(*count)));
    }
    for (at, count) in piece.iter().enumerate().filter(|(_, count)| byte(**count) == LARGE) {
        record.extend_from_slice(&(at as u16).to_le_bytes());
        record.extend_from_slice(&(*count as u32).to_le_bytes());
    }
    record
}

/// Returns the count at a place of a piece of this many slots.
fn count_at(record: &[u8], at: usize, slots: usize) -> Option<f32> {
    let (form, rest) = record.split_first()?;
    let (byte, large) = match *form {
        FEW_COUNTS => {
            let (used, rest) = rest.split_first_chunk::<2>()?;
            let (few, large) = rest.split_at_checked(usize::from(u16::from_le_bytes(*used)) * 3)?;
            let (few, _) = few.as_chunks::<3>();
            let found = few.binary_search_by_key(&at, |[a, b, _]| u16::from_le_bytes([*a, *b]).into());
            (found.map_or(0, |found| few[found][2]), large)
        }
        ALL_COUNTS => {
            let (all, large) = rest.split_at_checked(slots)?;
            (*all.get(at)?, large)
        }
        _ => return None,
    };
    if byte < LARGE {
        return Some(byte.into());
    }
    let (large, rest) = large.as_chunks::<6>();
    let found = large.binary_search_by_key(&at, |[a, b, ..]| u16::from_le_bytes([*a, *b]).into()).ok()?;
    let [_, _, count @ ..] = large[found];
    rest.is_empty().then_some(u32::from_le_bytes(count) as f32)
}

fn load_counts(file: &File, kind: Kind, model: u16) -> Result<Vec<f32>> {
    let mut counts = vec![0.0; SLOTS];
    for (index, piece) in counts.chunks_mut(PIECE).enumerate() {
        let fill = |record: &[u8]| {
            let slots = piece.len();
            piece.iter_mut().enumerate().try_for_each(|(at, count)| {
                *count = count_at(record, at, slots)?;
                Some(())
            })
        };
        file.need(Table::Derived, place(kind, model, index as u32), fill)?;
    }
    Ok(counts)
}

// ---- whole states ----

/// Stores weights, and the counts with which they were fitted.
pub(super) fn put_state(file: &File, kind: Kind, weights: &Weights, counts: &Counts) -> Result<()> {
    put_slots(file, kind, WEIGHTS, &weights.slots)?;
    put_counts(file, kind, OF_KIND, &counts.of_kind)?;
    put_counts(file, kind, OF_OTHERS, &counts.of_others)?;
    let [of_kind, of_others] = counts.messages;
    let rest = [weights.bias, of_kind, of_others].iter().flat_map(|number| number.to_le_bytes()).collect();
    file.put(Table::Derived, place(kind, REST, 0), rest)
}

pub(super) fn load_state(file: &File, kind: Kind) -> Result<(Weights, Counts)> {
    let (bias, messages) = load_rest(file, kind)?;
    let counts = Counts {
        of_kind: load_counts(file, kind, OF_KIND)?,
        of_others: load_counts(file, kind, OF_OTHERS)?,
        messages,
    };
    Ok((Weights { slots: load_slots(file, kind, WEIGHTS, SLOTS)?, bias, grouped: true }, counts))
}

/// Returns the bias of a state, and the number of messages of each side in its counts.
pub(super) fn load_rest(file: &File, kind: Kind) -> Result<(f32, [f32; 2])> {
    let [bias, messages @ ..] = file.need(Table::Derived, place(kind, REST, 0), |record| {
        let (numbers, rest) = record.as_chunks::<4>();
        let numbers: [[u8; 4]; 3] = numbers.try_into().ok()?;
        rest.is_empty().then_some(numbers.map(f32::from_le_bytes))
    })?;
    Ok((bias, messages))
}

pub(super) fn remove_state(file: &File, kind: Kind) -> Result<()> {
    [WEIGHTS, REST, OF_KIND, OF_OTHERS].into_iter().try_for_each(|vector| {
        let (first, last) = range(kind, vector);
        file.remove_range(Table::Derived, first, last)
    })
}

// ---- a few slots ----

/// Returns the weight of each feature. Features are in ascending order.
pub(super) fn weights_at(file: &File, kind: Kind, features: &[u32]) -> Result<Vec<f32>> {
    at(file, kind, WEIGHTS, features, weight_at)
}

/// Returns the count of each feature. Features are in ascending order.
pub(super) fn counts_at(file: &File, kind: Kind, vector: u16, features: &[u32]) -> Result<Vec<f32>> {
    at(file, kind, vector, features, count_at)
}

fn weight_at(record: &[u8], at: usize, slots: usize) -> Option<f32> {
    let (form, weights) = record.split_first()?;
    match *form {
        FEW_WEIGHTS => {
            let (few, rest) = weights.as_chunks::<6>();
            let found = few.binary_search_by_key(&at, |[a, b, ..]| u16::from_le_bytes([*a, *b]).into());
            let weight = found.map_or(0.0, |found| {
                let [_, _, weight @ ..] = few[found];
                f32::from_le_bytes(weight)
            });
            rest.is_empty().then_some(weight)
        }
        ALL_WEIGHTS if weights.len() == slots * 4 => {
            let (all, _) = weights.as_chunks::<4>();
            all.get(at).map(|weight| f32::from_le_bytes(*weight))
        }
        _ => None,
    }
}

fn at(
    file: &File,
    kind: Kind,
    vector: u16,
    features: &[u32],
    number_at: impl Fn(&[u8], usize, usize) -> Option<f32>,
) -> Result<Vec<f32>> {
    let piece_of = |entry: &u32| (entry >> 1) as usize / PIECE;
    let mut numbers = Vec::with_capacity(features.len());
    for group in features.chunk_by(|one, next| piece_of(one) == piece_of(next)) {
        let index = piece_of(&group[0]);
        if index * PIECE >= SLOTS {
            numbers.extend(group.iter().map(|_| 0.0));
            continue;
        }
        let slots = PIECE.min(SLOTS - index * PIECE);
        file.need(Table::Derived, place(kind, vector, index as u32), |record| {
            group.iter().try_for_each(|entry| {
                numbers.push(number_at(record, (entry >> 1) as usize % PIECE, slots)?);
                Some(())
            })
        })?;
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_come_back_from_both_forms() {
        for used in [0, 1, 100, 5000, 6000, PIECE] {
            let count = |at: usize| match at % 50 {
                _ if at * used / PIECE == (at + 1) * used / PIECE => 0.0,
                7 => 255.0,
                8 => 254.0,
                9 => 100_000.0,
                other => other as f32,
            };
            let piece: Vec<f32> = (0..PIECE).map(count).collect();
            let record = encode_counts(&piece);
            assert!(record.len() <= PIECE + 1 + PIECE.div_ceil(50) * 12, "{used}: {}", record.len());
            for (at, count) in piece.iter().enumerate() {
                assert_eq!(count_at(&record, at, PIECE), Some(*count), "{used}, {at}");
            }
            assert_eq!(
                count_at(&record[..record.len() / 2], PIECE - 1, PIECE).filter(|_| used == PIECE),
                None
            );
        }
    }
}
