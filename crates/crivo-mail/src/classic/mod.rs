//! The classic method: blocked senders, then similarity to learned spam.
//!
//! Kept as it was first described, so that its figures can be compared:
//!
//! - *Learning*: the sender of each spam goes into a counting Bloom filter. The body becomes a set
//!   of stop-word shingles (each of the 100 most frequent English words with the two words after
//!   it), and the set becomes a signature of `k = ⌈1/error²⌉` slots. Ham teaches nothing.
//! - *Check 1*: a sender with at least two spam messages is blocked.
//! - *Check 2*: a body without a shingle is spam. Otherwise the signature's candidates are looked
//!   up in an index of bands, and if one of them has at least the similarity of the threshold, the
//!   message is spam.
//!
//! There is no third answer and no comparison with ham. Short messages ("Ok", "Thank you") are all
//! spam. The [default method](crate) does better in both.

use std::collections::BTreeMap;

use crivo::keys::KeyScheme;
use crivo::membership::{CounterBits, CountingBloom};
use crivo::similarity::shingle::{Shingler, Shingles};
use crivo::similarity::{Bands, LshIndex, MinHash};

use crate::error::Result;
use crate::judgement::{Judgement, Reason, Thresholds, Verdict};
use crate::message::Message;
use crate::store::Store;

/// The error of similarities, from which the length of signatures follows.
const ERROR: f64 = 0.05;

/// The similarity from which a message is spam, unless the policy says otherwise.
pub(crate) const THRESHOLD: f64 = 0.1;

/// The number of spam messages that blocks a sender.
const BLOCKED: f64 = 2.0;

/// The false-positive rate of the filter that holds the senders.
const SENDER_RATE: f64 = 0.001;

/// Why the classic method takes a message for spam or not.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// The sender is blocked, after this number of spam messages.
    Blocked(u64),
    /// The body has no shingle.
    Empty,
    /// A learned spam has this similarity to it.
    Alike(f64),
    /// None of the above: it is ham.
    Nothing,
}

impl Finding {
    /// Returns true if the message is spam.
    pub fn is_spam(&self) -> bool {
        *self != Self::Nothing
    }
}

/// Learned spam in memory.
#[derive(Debug)]
pub(crate) struct Classic {
    senders: CountingBloom,
    signatures: Vec<MinHash>,
    /// The similarity from which a message is spam.
    threshold: f64,
    /// With bands that fit the threshold.
    index: LshIndex,
}

impl Classic {
    /// Returns the stored bytes of a message: its signature, or nothing if it has no shingle.
    pub(crate) fn sign(message: &Message) -> Result<Vec<u8>> {
        Ok(signature(message)?.map(|sketch| sketch.encode()).unwrap_or_default())
    }

    pub(crate) fn load(store: &Store, threshold: f64) -> Result<Self> {
        let (mut senders, mut signatures) = (Vec::new(), Vec::new());
        store.for_each(|fingerprint, learnt| {
            if learnt.is_spam() == Some(true) {
                senders.extend(learnt.sender);
                if !learnt.signature.is_empty() {
                    let sketch = MinHash::decode(&learnt.signature).map_err(|error| {
                        store.file().damaged(format_args!("message {fingerprint:x}: {error}"))
                    })?;
                    signatures.push(sketch);
                }
            }
            Ok(())
        })?;
        Self::new(&senders, signatures, threshold)
    }

    fn new(spam_senders: &[String], signatures: Vec<MinHash>, threshold: f64) -> Result<Self> {
        let items = (spam_senders.len() as u64).max(1000);
        let mut senders = CountingBloom::for_items(items, SENDER_RATE, CounterBits::Eight)?;
        for sender in spam_senders {
            senders.insert(sender.as_str())?;
        }
        let index = index_for(threshold, &signatures)?;
        Ok(Self { senders, signatures, threshold, index })
    }

    /// Returns a copy with another threshold.
    pub(crate) fn with_threshold(&self, threshold: f64) -> Result<Self> {
        let index = index_for(threshold, &self.signatures)?;
        Ok(Self { senders: self.senders.clone(), signatures: self.signatures.clone(), threshold, index })
    }

    /// Returns the number of spam messages that a sender sent, as the filter of senders counts
    /// them.
    pub(crate) fn spam_of(&self, sender: &str) -> Result<f64> {
        Ok(self.senders.count(sender)?.value())
    }

    pub(crate) fn find(&self, message: &Message) -> Result<Finding> {
        self.find_with(&self.index, self.threshold, message, signature(message)?.as_ref())
    }

    fn find_with(
        &self,
        index: &LshIndex,
        threshold: f64,
        message: &Message,
        signature: Option<&MinHash>,
    ) -> Result<Finding> {
        if let Some(sender) = &message.sender {
            let count = self.spam_of(sender)?;
            if count >= BLOCKED {
                return Ok(Finding::Blocked(count as u64));
            }
        }
        let Some(signature) = signature else { return Ok(Finding::Empty) };
        let similars = index.similars_to(signature, threshold)?;
        let nearest = similars.iter().map(|found| found.similarity()).fold(0.0, f64::max);
        Ok(if similars.is_empty() { Finding::Nothing } else { Finding::Alike(nearest) })
    }

    pub(crate) fn judge(&self, message: &Message) -> Result<Judgement> {
        let finding = self.find(message)?;
        let reason = match &finding {
            Finding::Blocked(spam) => {
                Reason::Sender { address: message.sender.clone().unwrap_or_default(), spam: *spam, ham: 0 }
            }
            Finding::Empty => Reason::Note("no shingle can be made of the body".into()),
            Finding::Alike(similarity) => {
                Reason::Alike { class: Verdict::Spam, subject: String::new(), similarity: *similarity }
            }
            Finding::Nothing => Reason::Note("not like any learned spam".into()),
        };
        let (verdict, score) = if finding.is_spam() { (Verdict::Spam, 1.0) } else { (Verdict::Ham, 0.0) };
        let thresholds = Thresholds { spam: 0.5, ham: 0.5 };
        Ok(Judgement { verdict, score, thresholds, reasons: vec![reason], labels: BTreeMap::new() })
    }

    /// Returns the method with another threshold, and with bands that fit it.
    pub(crate) fn at(&self, threshold: f64) -> Result<AtThreshold<'_>> {
        Ok(AtThreshold { classic: self, threshold, index: index_for(threshold, &self.signatures)? })
    }
}

/// The method at one of several thresholds.
pub(crate) struct AtThreshold<'a> {
    classic: &'a Classic,
    threshold: f64,
    index: LshIndex,
}

impl AtThreshold<'_> {
    pub(crate) fn find(&self, message: &Message, signature: Option<&MinHash>) -> Result<Finding> {
        self.classic.find_with(&self.index, self.threshold, message, signature)
    }
}

/// Returns the signature of a body, or `None` if it has no shingle.
pub(crate) fn signature(message: &Message) -> Result<Option<MinHash>> {
    let mut shingler = Shingler::new(Shingles::english_stop_words());
    let shingles = shingler.shingles(message.text.as_bytes());
    if shingles.is_empty() {
        return Ok(None);
    }
    let mut sketch = MinHash::with_scheme(MinHash::k_for(ERROR)?, KeyScheme::hashes())?;
    sketch.insert_hashes(shingles);
    Ok(Some(sketch))
}

fn index_for(threshold: f64, signatures: &[MinHash]) -> Result<LshIndex> {
    let k = MinHash::k_for(ERROR)?;
    let bands = Bands::for_threshold(threshold, k)?;
    let mut index = LshIndex::with_scheme(k, bands, KeyScheme::hashes())?;
    for (id, sketch) in signatures.iter().enumerate() {
        index.insert(id as u64, sketch)?;
    }
    Ok(index)
}
