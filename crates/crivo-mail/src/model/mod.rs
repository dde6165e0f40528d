//! The model: everything that is derived from the learned messages, and nothing else.
//!
//! | part | home |
//! |---|---|
//! | what makes it, from all messages or after a change | `derive` |
//! | fitting the base, and what is put aside for a wrong label | `fit` |
//! | the messages after the base, in blocks and steps | `chain` |
//! | weights and counts, in pieces with checksums | `vectors` |
//! | the model as a whole | `stored` |
//! | messages by keys, counts by sender | `buckets` |
//! | all messages and their features, while everything is derived | `training_set` |
//!
//! # Quick and exact
//!
//! Weights that were fitted step by step cannot be unlearned. Fitting everything anew after each
//! message would be exact, but takes seconds when there are many. So messages have an order, that
//! of the time they were learned, and the oldest are the *base*: all of them up to 64, and beyond
//! that a number that grows in steps of a quarter.
//!
//! The base is fitted in several passes in the order of fingerprints, and its weights are kept. The
//! later messages continue from there in blocks of 64, and those after the last whole block add a
//! step each. A new message is one of these: it costs a read of the weights of its own features.
//! Unlearning a later message costs a pass over the later messages.
//!
//! Messages that were learned at the same time are never divided. All of this depends on the set of
//! messages only. So the weights after a message was unlearned are the weights without it, bit for
//! bit.

pub(crate) mod buckets;
mod chain;
mod derive;
mod fit;
mod place;
mod stored;
mod training_set;
mod vectors;

pub(crate) use derive::{derive_after, derive_all};
pub(crate) use fit::{Unseen, unseen};

use std::collections::BTreeMap;

use chain::Chain;

use crate::combine::Combiner;
use crate::error::Result;
use crate::linear::Weights;
use crate::store::File;
use crate::thresholds::{Limits, logistic};

/// The number of ham messages from which words of ham are known well enough to recognise ham
/// without any learned spam.
const ENOUGH_HAM: u64 = 20;

/// The derived data that a check needs in memory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Model {
    pub(crate) head: Head,
    pub(crate) weights: Weights,
    /// The weights of each label.
    pub(crate) labels: Vec<Weights>,
    /// The fingerprints of messages that are taken for wrong labels, in ascending order.
    pub(crate) put_aside: Vec<u64>,
}

/// The small part of a model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Head {
    pub(crate) combiner: Combiner,
    pub(crate) limits: Limits,
    /// Whether both spam and ham were learned.
    pub(crate) knows_both: bool,
    /// The number of messages in the base.
    pub(crate) base: u64,
    /// The time up to which messages are in the base.
    pub(crate) boundary: i64,
    /// The bias of the weights.
    pub(crate) bias: f32,
    pub(crate) labels: Vec<LabelHead>,
    /// The messages after the base. `None` in stores of version 2, where the next lesson derives
    /// everything.
    pub(crate) chain: Option<Chain>,
    /// Whether weights are for features in groups. Those of version 3 and before are not, and the
    /// next lesson derives everything.
    pub(crate) grouped: bool,
}

/// A label, and the coefficients that turn its margin into a probability.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LabelHead {
    pub(crate) name: String,
    pub(crate) combiner: Combiner,
    /// The bias of the label's weights.
    pub(crate) bias: f32,
}

impl Model {
    /// Loads the model. If `known` is an earlier model of the same store with the same checkpoint,
    /// only the steps after it are read.
    pub(crate) fn load(file: &File, known: Option<&Self>) -> Result<Self> {
        stored::load(file, known)
    }

    /// Returns true if enough ham and no spam was learned. All weights then speak for ham.
    pub(crate) fn knows_ham_alone(&self) -> bool {
        !self.head.knows_both && self.head.base >= ENOUGH_HAM && self.weights.bias < 0.0
    }

    /// Returns the probability of each label.
    pub(crate) fn labels(&self, features: &[u32]) -> BTreeMap<String, f64> {
        if self.labels.is_empty() {
            return BTreeMap::new();
        }
        let folded = stored::fold_features(features);
        let of = |(head, weights): (&LabelHead, &Weights)| {
            let evidence =
                crate::combine::Evidence { margin: weights.margin(&folded).into(), ..Default::default() };
            (head.name.clone(), logistic(head.combiner.log_odds(&evidence)))
        };
        self.head.labels.iter().zip(&self.labels).map(of).collect()
    }
}
