//! The later messages: those in whole blocks are fitted block by block, those after the last whole
//! block one by one.
//!
//! A block continues from the weights after the blocks before it, in several passes. The messages
//! after the last whole block (the tail) each add one step. So the result depends on the messages
//! and their order alone, and not on where weights were stored in between. A lesson that comes last
//! reads the weights and counts of its own features, and stores its step. When it fills a block,
//! that block is fitted, and the weights after it are stored as the checkpoint.

use super::Head;
use super::place::{Kind, place, range};
use super::vectors::{self, OF_KIND, OF_OTHERS};
use crate::error::Result;
use crate::features::{SLOTS, TRANSPORT};
use crate::linear::{FeatureRows, Recipe, Rows, Step, Weights};
use crate::store::{Bytes, File, Store, Table, decode_features, encode_features, put_bytes};
use crate::worth::{Counts, squares_of};

/// The number of messages that are fitted together.
pub(super) const BLOCK: usize = 64;

/// How the later messages are fitted.
const LATER: Recipe = Recipe { cost: 16.0, passes: 2 };

/// A later message: when it was learned, its fingerprint, and whether it is spam.
pub(super) type LaterMessage = (i64, u64, bool);

/// The extent of the later messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chain {
    /// The generation of the store in which the base or the checkpoint was written.
    pub(super) written: u64,
    /// The number of later messages.
    pub(super) later: u64,
}

impl Chain {
    /// Returns the number of messages after the last whole block.
    pub(super) fn tail(self) -> usize {
        self.later as usize % BLOCK
    }

    /// Returns the record kind of the weights from which the tail continues.
    pub(super) fn checkpoint(self) -> Kind {
        if self.later as usize >= BLOCK { Kind::Checkpoint } else { Kind::Base }
    }
}

/// Fits all later messages after the base, and stores the state that the next lesson continues
/// from. Returns the bias.
pub(super) fn write(
    file: &File,
    (mut weights, mut counts): (Weights, Counts),
    rows: &impl FeatureRows,
    examples: &[(u32, bool)],
    listed: &[LaterMessage],
) -> Result<f32> {
    for kind in [Kind::Later, Kind::Steps] {
        let (first, last) = range(kind, 0);
        file.remove_range(Table::Derived, first, last)?;
    }
    vectors::remove_state(file, Kind::Checkpoint)?;
    for (number, block) in listed.chunks(BLOCK).enumerate() {
        put_block(file, number, block)?;
    }
    let (blocks, tail) = examples.as_chunks::<BLOCK>();
    let mut room = Vec::new();
    if !blocks.is_empty() {
        let mut squares = vec![0.0; SLOTS];
        for block in blocks {
            let mut block_rows = Rows::default();
            for (at, _) in block {
                block_rows.push(rows.row(*at as usize, &mut room)?);
            }
            let block: Vec<_> = (0..).zip(block).map(|(place, (_, is_spam))| (place, *is_spam)).collect();
            fit_block(&mut weights, &mut counts, &block_rows, &block, &mut squares)?;
        }
        vectors::put_state(file, Kind::Checkpoint, &weights, &counts)?;
    }
    for (number, example) in tail.iter().enumerate() {
        let (at, is_spam) = *example;
        counts.add(rows, [*example])?;
        let features = rows.row(at as usize, &mut room)?;
        let (found, squares) = (weights.at(features), counts.squares_at(features));
        let step = Step::towards(features, is_spam, &found, weights.bias, &squares, LATER.cost);
        weights.take(&step);
        put_step(file, number, &step)?;
    }
    Ok(weights.bias)
}

/// Continues the fit with the messages of a block. Their own features are counted before, because a
/// new word would otherwise have little worth. `squares` has room for all slots, but only the slots
/// of the block are used.
fn fit_block(
    weights: &mut Weights,
    counts: &mut Counts,
    rows: &Rows,
    block: &[(u32, bool)],
    squares: &mut [f32],
) -> Result<()> {
    counts.add(rows, block.iter().copied())?;
    counts.put_squares(rows, block, squares);
    weights.fit(rows, block, squares, LATER)
}

/// Continues with messages that come after all others, in their order. The result is that of
/// [`write()`], bit for bit. `known` are the weights before, if the caller has them.
pub(super) fn append(
    store: &Store,
    head: &mut Head,
    mut chain: Chain,
    new: &[LaterMessage],
    mut known: Option<&Weights>,
) -> Result<()> {
    let file = store.file();
    let mut tail = match chain.tail() {
        0 => Vec::new(),
        _ => load_block(file, chain.later as usize / BLOCK)?,
    };
    let (mut rows, mut features) = (Rows::default(), Vec::new());
    for &(_, fingerprint, _) in &tail {
        features.clear();
        store.features(fingerprint, &mut features)?;
        rows.push(&features);
    }
    for &message in new {
        let (_, fingerprint, is_spam) = message;
        features.clear();
        store.features(fingerprint, &mut features)?;
        rows.push(&features);
        tail.push(message);
        put_block(file, chain.later as usize / BLOCK, &tail)?;
        let checkpoint = chain.checkpoint();
        if tail.len() == BLOCK {
            let (mut weights, mut counts) = vectors::load_state(file, checkpoint)?;
            let block: Vec<(u32, bool)> =
                (0..).zip(&tail).map(|(at, &(_, _, is_spam))| (at, is_spam)).collect();
            fit_block(&mut weights, &mut counts, &rows, &block, &mut vec![0.0; SLOTS])?;
            vectors::put_state(file, Kind::Checkpoint, &weights, &counts)?;
            let (first, last) = range(Kind::Steps, 0);
            file.remove_range(Table::Derived, first, last)?;
            (head.bias, chain.written) = (weights.bias, store.state()?.generation);
            tail.clear();
            (rows, known) = (Rows::default(), None);
        } else {
            let squares = squares_in_tail(file, checkpoint, &rows, &tail)?;
            // The known weights are valid for the first new message only.
            let weights = match known.take() {
                Some(known) => known.at(&features),
                None => weights_in_tail(file, checkpoint, &features, tail.len() - 1)?,
            };
            let step = Step::towards(&features, is_spam, &weights, head.bias, &squares, LATER.cost);
            head.bias += step.bias;
            put_step(file, tail.len() - 1, &step)?;
        }
        chain.later += 1;
    }
    head.chain = Some(chain);
    Ok(())
}

/// Returns the squared worths of the features of a tail's last message. The counts include the
/// whole tail.
fn squares_in_tail(file: &File, checkpoint: Kind, rows: &Rows, tail: &[LaterMessage]) -> Result<Vec<f32>> {
    let last = rows.row(tail.len() - 1);
    // The number of messages with transport headers is read as well.
    let mark = (TRANSPORT as u32) << 1;
    let mut asked = last.to_vec();
    let place_of_mark = asked.partition_point(|entry| *entry < mark);
    asked.insert(place_of_mark, mark);
    let mut counts = [OF_KIND, OF_OTHERS].map(|_| Vec::new());
    for (counts, vector) in counts.iter_mut().zip([OF_KIND, OF_OTHERS]) {
        *counts = vectors::counts_at(file, checkpoint, vector, &asked)?;
    }
    let (_, mut messages) = vectors::load_rest(file, checkpoint)?;
    for (at, &(_, _, is_spam)) in tail.iter().enumerate() {
        let side = usize::from(!is_spam);
        messages[side] += 1.0;
        for_each_common(&asked, rows.row(at), |place, _| counts[side][place] += 1.0);
    }
    let [mut of_kind, mut of_others] = counts;
    let marked = [of_kind.remove(place_of_mark), of_others.remove(place_of_mark)];
    let slots = last.iter().map(|entry| (entry >> 1) as usize);
    let counts = of_kind.into_iter().zip(of_others).map(|(kind, others)| [kind, others]);
    Ok(squares_of(slots.zip(counts), marked, messages))
}

/// Returns the weights of features after a number of steps.
fn weights_in_tail(file: &File, checkpoint: Kind, features: &[u32], steps: usize) -> Result<Vec<f32>> {
    let mut weights = vectors::weights_at(file, checkpoint, features)?;
    for number in 0..steps {
        let step = load_step(file, number)?;
        for_each_common(features, &step.entries, |place, of_step| weights[place] += step.added[of_step]);
    }
    Ok(weights)
}

/// Calls `take` for each pair of places in two ascending lists of entries that have the same slot,
/// in ascending order.
fn for_each_common(one: &[u32], other: &[u32], mut take: impl FnMut(usize, usize)) {
    let mut start = 0;
    for (place, entry) in one.iter().enumerate() {
        let slot = entry >> 1;
        start += other[start..].iter().take_while(|other| *other >> 1 < slot).count();
        let same = other[start..].iter().take_while(|other| *other >> 1 == slot).count();
        (start..start + same).for_each(|found| take(place, found));
    }
}

/// Returns the weights after the steps from number `from` up to, but not including, `to`.
pub(super) fn weights_after(file: &File, mut weights: Weights, from: usize, to: usize) -> Result<Weights> {
    for number in from..to {
        weights.take(&load_step(file, number)?);
    }
    Ok(weights)
}

// ---- records ----

fn put_step(file: &File, number: usize, step: &Step) -> Result<()> {
    let mut record = step.bias.to_le_bytes().to_vec();
    put_bytes(&mut record, &encode_features(&step.entries));
    record.extend(step.added.iter().flat_map(|added| added.to_le_bytes()));
    file.put(Table::Derived, place(Kind::Steps, 0, number as u32), record)
}

fn load_step(file: &File, number: usize) -> Result<Step> {
    file.need(Table::Derived, place(Kind::Steps, 0, number as u32), |record| {
        let mut bytes = Bytes(record);
        let bias = f32::from_le_bytes(bytes.array()?);
        let mut entries = Vec::new();
        decode_features(bytes.counted()?, &mut entries)?;
        let (added, rest) = bytes.0.as_chunks::<4>();
        let added: Vec<f32> = added.iter().map(|added| f32::from_le_bytes(*added)).collect();
        (rest.is_empty() && added.len() == entries.len()).then_some(Step { entries, added, bias })
    })
}

fn put_block(file: &File, number: usize, block: &[LaterMessage]) -> Result<()> {
    let mut record = Vec::with_capacity(block.len() * 17 + 8);
    for (time, fingerprint, is_spam) in block {
        record.extend_from_slice(&time.to_le_bytes());
        record.extend_from_slice(&fingerprint.to_le_bytes());
        record.push(u8::from(*is_spam));
    }
    file.put(Table::Derived, place(Kind::Later, 0, number as u32), record)
}

/// Returns the messages of a block, in their order.
fn load_block(file: &File, number: usize) -> Result<Vec<LaterMessage>> {
    file.need(Table::Derived, place(Kind::Later, 0, number as u32), |record| {
        let mut bytes = Bytes(record);
        let mut block = Vec::with_capacity(record.len() / 17);
        while !bytes.0.is_empty() {
            let time = i64::from_le_bytes(bytes.array()?);
            let fingerprint = bytes.u64()?;
            let [is_spam] = bytes.array()?;
            block.push((time, fingerprint, is_spam == 1));
        }
        Some(block)
    })
}

/// Returns the last of the later messages, or `None` if there are no later messages.
pub(super) fn last(file: &File, chain: Chain) -> Result<Option<LaterMessage>> {
    match (chain.later as usize).checked_sub(1) {
        Some(place) => Ok(load_block(file, place / BLOCK)?.last().copied()),
        None => Ok(None),
    }
}

/// Returns all later messages, in their order.
pub(super) fn load_later(file: &File, chain: Chain) -> Result<Vec<LaterMessage>> {
    let mut later = Vec::with_capacity(chain.later as usize);
    for number in 0..(chain.later as usize).div_ceil(BLOCK) {
        later.extend(load_block(file, number)?);
    }
    Ok(later)
}
