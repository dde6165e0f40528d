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
//!
//! The description has no labels. Here a label is a class of its own, which is learned and asked as
//! spam is: a message has the label if its sender has sent two messages with it, or if one of them
//! is similar enough. A body without a shingle has none.

use std::collections::BTreeMap;

use crivo::keys::KeyScheme;
use crivo::membership::{CounterBits, CountingBloom};
use crivo::similarity::shingle::{Shingler, Shingles};
use crivo::similarity::{Bands, LshIndex, MinHash};

use crate::error::Result;
use crate::judgement::{Judgement, Reason, Thresholds, Verdict};
use crate::label::Label;
use crate::message::Message;
use crate::store::{Mark, Store};

/// The error of similarities, from which the length of signatures follows.
const ERROR: f64 = 0.05;

/// The similarity from which a message is spam, unless the policy says otherwise.
pub(crate) const THRESHOLD: f64 = 0.1;

/// The number of messages of a class from which on a sender's mail is of this class.
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

/// What was learned, in memory.
#[derive(Debug)]
pub(crate) struct Classic {
    spam: LearnedClass,
    labels: BTreeMap<String, LearnedClass>,
    /// The similarity from which a message is of a class.
    threshold: f64,
}

/// The learned messages of one class: of spam, or of a label.
#[derive(Debug)]
struct LearnedClass {
    senders: CountingBloom,
    signatures: Vec<MinHash>,
    /// With bands that fit the threshold.
    index: LshIndex,
}

/// The senders and signatures of one class, as they are read from the store.
#[derive(Debug, Default)]
struct ReadClass {
    senders: Vec<String>,
    signatures: Vec<MinHash>,
}

impl ReadClass {
    fn add(&mut self, sender: Option<&String>, signature: Option<&MinHash>) {
        self.senders.extend(sender.cloned());
        self.signatures.extend(signature.cloned());
    }
}

impl LearnedClass {
    fn new(read: ReadClass, threshold: f64) -> Result<Self> {
        let items = (read.senders.len() as u64).max(1000);
        let mut senders = CountingBloom::for_items(items, SENDER_RATE, CounterBits::Eight)?;
        for sender in &read.senders {
            senders.insert(sender.as_str())?;
        }
        let index = index_for(threshold, &read.signatures)?;
        Ok(Self { senders, signatures: read.signatures, index })
    }

    /// Returns a copy with another threshold.
    fn with_threshold(&self, threshold: f64) -> Result<Self> {
        let index = index_for(threshold, &self.signatures)?;
        Ok(Self { senders: self.senders.clone(), signatures: self.signatures.clone(), index })
    }

    /// Returns why a message is of this class. `index` has bands that fit the threshold.
    fn find(
        &self,
        index: &LshIndex,
        threshold: f64,
        message: &Message,
        signature: Option<&MinHash>,
    ) -> Result<Finding> {
        if let Some(sender) = &message.sender {
            let count = self.senders.count(sender.as_str())?.value();
            if count >= BLOCKED {
                return Ok(Finding::Blocked(count as u64));
            }
        }
        let Some(signature) = signature else { return Ok(Finding::Empty) };
        let similars = index.similars_to(signature, threshold)?;
        let nearest = similars.iter().map(|found| found.similarity()).fold(0.0, f64::max);
        Ok(if similars.is_empty() { Finding::Nothing } else { Finding::Alike(nearest) })
    }
}

impl Classic {
    /// Returns the stored bytes of a message: its signature, or nothing if it has no shingle.
    pub(crate) fn sign(message: &Message) -> Result<Vec<u8>> {
        Ok(signature(message)?.map(|sketch| sketch.encode()).unwrap_or_default())
    }

    pub(crate) fn load(store: &Store, threshold: f64) -> Result<Self> {
        let mut spam = ReadClass::default();
        let mut labels: BTreeMap<String, ReadClass> = BTreeMap::new();
        store.for_each(|fingerprint, learnt| {
            let teaches = |mark: &Mark| mark.label != Label::Ham;
            if !learnt.marks.iter().any(teaches) {
                return Ok(());
            }
            let sketch = if learnt.signature.is_empty() {
                None
            } else {
                let damaged = |error| store.file().damaged(format_args!("message {fingerprint:x}: {error}"));
                Some(MinHash::decode(&learnt.signature).map_err(damaged)?)
            };
            for mark in &learnt.marks {
                let class = match &mark.label {
                    Label::Spam => &mut spam,
                    Label::Ham => continue,
                    Label::Named(name) => labels.entry(name.clone()).or_default(),
                };
                class.add(learnt.sender.as_ref(), sketch.as_ref());
            }
            Ok(())
        })?;
        let labels = labels.into_iter().map(|(name, read)| Ok((name, LearnedClass::new(read, threshold)?)));
        Ok(Self {
            spam: LearnedClass::new(spam, threshold)?,
            labels: labels.collect::<Result<_>>()?,
            threshold,
        })
    }

    /// Returns a copy with another threshold.
    pub(crate) fn with_threshold(&self, threshold: f64) -> Result<Self> {
        let labels = self.labels.iter();
        let labels = labels.map(|(name, class)| Ok((name.clone(), class.with_threshold(threshold)?)));
        Ok(Self {
            spam: self.spam.with_threshold(threshold)?,
            labels: labels.collect::<Result<_>>()?,
            threshold,
        })
    }

    pub(crate) fn find(&self, message: &Message) -> Result<Finding> {
        self.spam.find(&self.spam.index, self.threshold, message, signature(message)?.as_ref())
    }

    pub(crate) fn judge(&self, message: &Message) -> Result<Judgement> {
        let signature = signature(message)?;
        let find =
            |class: &LearnedClass| class.find(&class.index, self.threshold, message, signature.as_ref());
        let finding = find(&self.spam)?;
        let labels = self.labels.iter().map(|(name, class)| {
            let has_it = matches!(find(class)?, Finding::Blocked(_) | Finding::Alike(_));
            Ok((name.clone(), f64::from(u8::from(has_it))))
        });
        let labels = labels.collect::<Result<_>>()?;
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
        Ok(Judgement { verdict, score, thresholds, reasons: vec![reason], labels })
    }

    /// Returns the method with another threshold, and with bands that fit it.
    pub(crate) fn at(&self, threshold: f64) -> Result<AtThreshold<'_>> {
        Ok(AtThreshold { classic: self, threshold, index: index_for(threshold, &self.spam.signatures)? })
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
        self.classic.spam.find(&self.index, self.threshold, message, signature)
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

#[cfg(test)]
mod tests {
    use crate::{Filter, Label, Method, Policy};

    const HERON: &str = "the heron stood by the river at dusk and it was on the other side of the bridge";
    const BUDGET: &str =
        "the budget of the year is in the minutes and we have to talk about it at the office";

    fn message(sender: &str, text: &str) -> Vec<u8> {
        format!("From: {sender}\nSubject: x\n\n{text}\n").into_bytes()
    }

    #[test]
    fn a_label_is_a_class_that_is_asked_as_spam_is() {
        let folder = tempfile::tempdir().unwrap();
        let filter = Filter::open_or_create_with(folder.path(), Method::Classic).unwrap();
        let [birds, work] = ["birds", "work"].map(|name| Label::named(name).unwrap());
        filter.learn(&message("a@birds.example", HERON), &birds).unwrap();
        filter.learn(&message("a@birds.example", "no shingle"), &birds).unwrap();
        filter.learn(&message("b@work.example", BUDGET), &work).unwrap();
        let asked = |filter: &Filter, sender: &str, text: &str| {
            let labels = filter.check(&message(sender, text)).unwrap().labels;
            assert_eq!(labels.keys().collect::<Vec<_>>(), ["birds", "work"]);
            (labels["birds"], labels["work"])
        };
        assert_eq!(asked(&filter, "c@new.example", HERON), (1.0, 0.0), "by its text");
        assert_eq!(asked(&filter, "c@new.example", &BUDGET.to_uppercase()), (0.0, 1.0), "by its text");
        assert_eq!(asked(&filter, "a@birds.example", "short"), (1.0, 0.0), "by its sender, who has two");
        assert_eq!(asked(&filter, "b@work.example", "short"), (0.0, 0.0), "no shingle is no label");
        // Labels are neither spam nor ham, and change no verdict.
        assert_eq!(filter.check(&message("c@new.example", HERON)).unwrap().score, 0.0);
        assert_eq!(filter.stats().unwrap().labels["birds"], 2);

        // Half of the text: the threshold decides.
        let half = format!("{HERON} {BUDGET}");
        assert_eq!(asked(&filter, "c@new.example", &half), (1.0, 1.0));
        let strict = Policy { spam_from: Some(0.9), ..Policy::default() };
        let strict = Filter::open(folder.path()).unwrap().with_policy(strict).unwrap();
        assert_eq!(asked(&strict, "c@new.example", &half), (0.0, 0.0));
        assert_eq!(asked(&strict, "c@new.example", HERON), (1.0, 0.0));

        filter.unlearn(&message("b@work.example", BUDGET), Some(&work)).unwrap();
        let labels = filter.check(&message("c@new.example", BUDGET)).unwrap().labels;
        assert_eq!(labels.keys().collect::<Vec<_>>(), ["birds"], "a label without messages is gone");
    }

    #[test]
    fn a_message_may_have_a_class_and_a_label() {
        let folder = tempfile::tempdir().unwrap();
        let filter = Filter::open_or_create_with(folder.path(), Method::Classic).unwrap();
        let birds = Label::named("birds").unwrap();
        let mail = |label: Label| [(message("a@birds.example", HERON), label)].map(Ok);
        for label in [Label::Spam, birds] {
            assert_eq!(filter.train(mail(label)).unwrap().learned, 1);
        }
        let judged = filter.check(&message("c@new.example", HERON)).unwrap();
        assert_eq!((judged.score, judged.labels["birds"]), (1.0, 1.0));
        filter.train(mail(Label::Ham)).unwrap();
        let judged = filter.check(&message("c@new.example", HERON)).unwrap();
        assert_eq!((judged.score, judged.labels["birds"]), (0.0, 1.0));
    }
}
