//! A linear model of messages: how much each feature speaks for spam or against it.
//!
//! The model is a support vector machine with squared hinge loss: weights `w` that minimise
//!
//! ```text
//! ½‖w‖² + C·Σ max(0, 1 − y·⟨w, x⟩)²
//! ```
//!
//! over the messages `x` with `y = ±1`. Features count as much as they are worth
//! ([`crate::worth`]). The problem is solved in the dual, one message after the other: each has a
//! multiplier `α ≥ 0`, which a step sets to its best value while all others stay as they are. There
//! is no learning rate to choose, and two passes are enough. The result depends on nothing but the
//! messages, their order and the numbers above. All sums are made in one order, so it is the same
//! to the last bit everywhere.
//!
//! **Source.** Hsieh, Chang, Lin, Keerthi, Sundararajan: *A dual coordinate descent method for
//! large-scale linear SVM* (2008). They shuffle the messages before each pass. Here each pass takes
//! the order of fingerprints, which is random.

use crate::error::Result;
use crate::features::{Scales, TRANSPORT, signed, with_sign};

/// Where the features of messages come from while a model is fitted: memory, or the store. The
/// model is the same.
pub(crate) trait FeatureRows {
    /// Returns the features of a message, ascending. Those that are not in memory are read into
    /// `room`.
    fn row<'a>(&'a self, at: usize, room: &'a mut Vec<u32>) -> Result<&'a [u32]>;

    /// Returns how much a message counts.
    fn importance(&self, at: usize) -> f32;

    /// Returns a slot above all slots of text that messages have.
    fn text_slots(&self) -> usize;
}

/// The features of many messages in memory, one after the other.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rows {
    ends: Vec<usize>,
    entries: Vec<u32>,
}

impl Rows {
    /// Adds a message.
    pub(crate) fn push(&mut self, features: &[u32]) {
        self.entries.extend_from_slice(features);
        self.ends.push(self.entries.len());
    }

    /// Returns the features of a message.
    #[inline]
    pub(crate) fn row(&self, at: usize) -> &[u32] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.entries[start..self.ends[at]]
    }

    /// Returns the features of a message for changes.
    pub(crate) fn row_mut(&mut self, at: usize) -> &mut [u32] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &mut self.entries[start..self.ends[at]]
    }

    /// Returns the number of messages.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the number of bytes of all features.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.entries.as_slice())
    }
}

/// All messages count the same.
impl FeatureRows for Rows {
    #[inline]
    fn row<'a>(&'a self, at: usize, _: &'a mut Vec<u32>) -> Result<&'a [u32]> {
        Ok(self.row(at))
    }

    #[inline]
    fn importance(&self, _: usize) -> f32 {
        1.0
    }

    fn text_slots(&self) -> usize {
        TRANSPORT
    }
}

/// How a model is fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Recipe {
    /// The cost of a mistake.
    pub(crate) cost: f32,
    /// The number of passes over the messages.
    pub(crate) passes: u32,
}

/// The weights of a model: one for each slot, and the bias, a feature which all messages have.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Weights {
    /// One for each slot.
    pub(crate) slots: Vec<f32>,
    /// The weight of the feature which all messages have.
    pub(crate) bias: f32,
    /// Whether text and structure each have a length of their own ([`Scales`]).
    pub(crate) grouped: bool,
}

/// The value of the bias as a feature. It is small, so that the bias does not outweigh the
/// features.
const BIAS: f32 = 0.05;

impl Weights {
    /// Returns weights that are all zero.
    pub(crate) fn zero(slots: usize) -> Self {
        Self { slots: vec![0.0; slots], bias: 0.0, grouped: true }
    }

    /// Returns the margin of a message, which is above zero for spam.
    #[inline]
    pub(crate) fn margin(&self, features: &[u32]) -> f32 {
        let scales = Scales::of(features, self.grouped);
        let (text, structure) = features.split_at(scales.text_features);
        let of = |part: &[u32]| sum(part, |entry| signed(&self.slots, entry));
        of(text) * scales.text + of(structure) * scales.structure + self.bias * BIAS
    }

    /// Moves the weights towards a message, further for features that are worth more.
    #[inline]
    fn add(&mut self, features: &[u32], step: f32, squares: &[f32]) {
        let scales = Scales::of(features, self.grouped);
        let (text, structure) = features.split_at(scales.text_features);
        for (part, scale) in [(text, scales.text), (structure, scales.structure)] {
            let each = step * scale;
            for &entry in part {
                let slot = (entry >> 1) as usize;
                if let (Some(weight), Some(square)) = (self.slots.get_mut(slot), squares.get(slot)) {
                    *weight += with_sign(each * square, entry);
                }
            }
        }
        self.bias += step * BIAS;
    }

    /// Adds a step to the weights.
    pub(crate) fn take(&mut self, step: &Step) {
        for (entry, added) in step.entries.iter().zip(&step.added) {
            if let Some(weight) = self.slots.get_mut((entry >> 1) as usize) {
                *weight += added;
            }
        }
        self.bias += step.bias;
    }

    /// Returns the weights of the slots of features, one for each.
    pub(crate) fn at(&self, features: &[u32]) -> Vec<f32> {
        features.iter().map(|entry| self.slots.get((entry >> 1) as usize).copied().unwrap_or(0.0)).collect()
    }

    /// Fits the weights to messages. Each is given as a place in `rows`, with whether it is of the
    /// class looked for. `squares` has the square of what each slot is worth.
    ///
    /// # Errors
    /// If features cannot be read.
    pub(crate) fn fit(
        &mut self,
        rows: &impl FeatureRows,
        examples: &[(u32, bool)],
        squares: &[f32],
        recipe: Recipe,
    ) -> Result<()> {
        let mut room = Vec::new();
        let mut multipliers = vec![0.0_f32; examples.len()];
        // Messages that had no influence when they were visited last. They are skipped in later
        // passes.
        let mut clear = vec![false; examples.len()];
        for _ in 0..recipe.passes {
            for ((&(at, is_kind), multiplier), clear) in examples.iter().zip(&mut multipliers).zip(&mut clear)
            {
                if *clear {
                    continue;
                }
                let features = rows.row(at as usize, &mut room)?;
                let soft = 1.0 / (2.0 * recipe.cost * rows.importance(at as usize));
                let sign = if is_kind { 1.0 } else { -1.0 };
                let gradient = sign * self.margin(features) - 1.0 + soft * *multiplier;
                *clear = *multiplier == 0.0 && gradient >= 0.0;
                if *clear {
                    continue;
                }
                let next =
                    (*multiplier - gradient / (length_of(features, squares, self.grouped) + soft)).max(0.0);
                self.add(features, (next - *multiplier) * sign, squares);
                *multiplier = next;
            }
        }
        Ok(())
    }
}

/// A step towards one message: what it adds to the weight of each of its features, and to the bias.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Step {
    pub(crate) entries: Vec<u32>,
    /// One for each entry.
    pub(crate) added: Vec<f32>,
    pub(crate) bias: f32,
}

impl Step {
    /// Returns the best step towards a message that had no influence yet. `weights` are those of
    /// its features, and `squares` the squares of what they are worth. It is the first step of
    /// [`Weights::fit`], and empty if the message is on its side with a margin of at least 1.
    pub(crate) fn towards(
        features: &[u32],
        is_kind: bool,
        weights: &[f32],
        bias: f32,
        squares: &[f32],
        cost: f32,
    ) -> Self {
        let scales = Scales::of(features, true);
        let signed: Vec<f32> = features.iter().zip(weights).map(|(entry, w)| with_sign(*w, *entry)).collect();
        let (text, structure) = signed.split_at(scales.text_features);
        let of = |part: &[f32]| sum(part, |weight| weight);
        let margin = of(text) * scales.text + of(structure) * scales.structure + bias * BIAS;
        let sign = if is_kind { 1.0 } else { -1.0 };
        let gradient = sign * margin - 1.0;
        if gradient >= 0.0 {
            return Self::default();
        }
        let (text, structure) = squares.split_at(scales.text_features);
        let step = -gradient / (length(of(text), of(structure), scales) + 1.0 / (2.0 * cost)) * sign;
        let scale = |place: usize| if place < scales.text_features { scales.text } else { scales.structure };
        let added = features.iter().zip(squares).enumerate();
        let added = added.map(|(place, (entry, square))| with_sign(step * scale(place) * square, *entry));
        Self { entries: features.to_vec(), added: added.collect(), bias: step * BIAS }
    }
}

/// Returns the square of a message's length, where features count as much as they are worth.
fn length_of(features: &[u32], squares: &[f32], grouped: bool) -> f32 {
    let scales = Scales::of(features, grouped);
    let (text, structure) = features.split_at(scales.text_features);
    let of =
        |part: &[u32]| sum(part, |entry| squares.get((entry >> 1) as usize).copied().unwrap_or_default());
    length(of(text), of(structure), scales)
}

/// Returns the same from the sums of the squares of both groups.
fn length(text: f32, structure: f32, scales: Scales) -> f32 {
    text * scales.text * scales.text + structure * scales.structure * scales.structure + BIAS * BIAS
}

/// Returns a sum over features, made of eight partial sums that a processor adds up in parallel.
/// The order is fixed, and so is the result.
#[inline(always)]
fn sum<T: Copy>(features: &[T], term: impl Fn(T) -> f32) -> f32 {
    let mut lanes = [0.0_f32; 8];
    let (whole, rest) = features.as_chunks::<8>();
    for entries in whole {
        for (lane, &entry) in lanes.iter_mut().zip(entries) {
            *lane += term(entry);
        }
    }
    for (lane, &entry) in lanes.iter_mut().zip(rest) {
        *lane += term(entry);
    }
    lanes.iter().sum()
}
