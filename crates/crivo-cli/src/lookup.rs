//! What a sketch says about a key: how often it came, or whether it is in there.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead};

use anyhow::{Result, anyhow, bail};
use crivo::codec::AnySketch;
use crivo::counting::CounterArray;
use crivo::frequency::private::Answers;
use crivo::keys::{KeyKind, KeyRef, KeyScheme};
use crivo::{Confidence, Estimate};

use crate::kinds::{self, Kind};
use crate::numbers;

/// A sketch that answers about keys.
#[derive(Debug)]
pub(crate) struct Lookup<'a> {
    sketch: &'a AnySketch,
    scheme: KeyScheme,
    /// The share of absent keys that a filter takes for members, as it is filled now.
    pub(crate) false_positive_rate: Option<f64>,
    /// The chance that a key shares its counter with another.
    shared: f64,
    /// What the answers of all private reports need.
    private: Option<Answers<'a>>,
}

/// What it says; sketches that know both say both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Answer {
    pub(crate) count: Option<Estimate>,
    pub(crate) member: Option<bool>,
}

impl<'a> Lookup<'a> {
    /// The sketch in the file of that name, if its kind answers about keys.
    pub(crate) fn of(sketch: &'a AnySketch, name: &str) -> Result<Self> {
        let family = sketch.family();
        let answers = matches!(
            sketch,
            AnySketch::CounterArray(_)
                | AnySketch::Bloom(_)
                | AnySketch::BlockedBloom(_)
                | AnySketch::CountingBloom(_)
                | AnySketch::DirectTable(_)
                | AnySketch::CountMin(_)
                | AnySketch::RangeCountMin(_)
                | AnySketch::Majority(_)
                | AnySketch::HeavyHitters(_)
                | AnySketch::PrivateCountMean(_)
        );
        if !answers {
            let Kind { made_by, answers, asked_by } = kinds::of(family);
            bail!(
                "{name}: this is a {family} made by `{made_by}`; it cannot answer about single keys, \
                 only {answers}: {asked_by} {name}"
            );
        }
        let summary = sketch.summary();
        let (scheme, false_positive_rate) = (summary.scheme, summary.false_positive_rate);
        if scheme.kind() == KeyKind::Hash && !matches!(sketch, AnySketch::CounterArray(_)) {
            bail!(
                "{name}: its keys are hashes that its maker computed, and only its maker can ask about them"
            );
        }
        // What is in a table is in it.
        let exact = matches!(sketch, AnySketch::DirectTable(_)).then_some(0.0);
        let shared = if scheme.kind() == KeyKind::Hash { 0.0 } else { summary.fill.unwrap_or(0.0) };
        let private = match sketch {
            AnySketch::PrivateCountMean(reports) => Some(reports.answers()),
            _ => None,
        };
        Ok(Self { sketch, scheme, false_positive_rate: false_positive_rate.or(exact), shared, private })
    }

    /// The key as the sketch has keys.
    fn key<'k>(&self, text: &'k [u8]) -> Result<KeyRef<'k>> {
        match self.scheme.kind() {
            KeyKind::Bytes => Ok(KeyRef::Bytes(text)),
            KeyKind::Integer | KeyKind::Hash => match numbers::integer(text) {
                Some(integer) => Ok(KeyRef::Integer(integer)),
                None => bail!("'{}': the keys of this sketch are integers", numbers::shown(text)),
            },
        }
    }

    /// What the sketch says about a key.
    pub(crate) fn ask(&self, text: &[u8]) -> Result<Answer> {
        let key = self.key(text)?;
        let hash = || self.scheme.hash_ref(key);
        let counted = |estimate| Answer { count: Some(estimate), member: None };
        let member = |found| Answer { count: None, member: Some(found) };
        let wrong = |error: crivo::Error| anyhow!("'{key}': {error}");
        Ok(match (self.sketch, key) {
            (AnySketch::PrivateCountMean(sketch), _) => {
                let answers = self.private.unwrap_or_else(|| sketch.answers());
                counted(answers.frequency_of_hash_at(hash()?, Confidence::P95))
            }
            (AnySketch::CountMin(sketch), _) => counted(sketch.frequency_of_hash(hash()?)),
            (AnySketch::HeavyHitters(sketch), _) => counted(sketch.frequency_ref(key)?),
            (AnySketch::Majority(sketch), _) => counted(sketch.frequency_ref(key)?),
            (AnySketch::RangeCountMin(sketch), KeyRef::Integer(integer)) => {
                counted(sketch.frequency(&integer).map_err(wrong)?)
            }
            (AnySketch::CounterArray(sketch), _) => {
                let index = match (self.scheme.kind(), key) {
                    (KeyKind::Hash, KeyRef::Integer(index)) => index,
                    _ => sketch.index_of(hash()?),
                };
                counted(self.in_counter(sketch, index).map_err(wrong)?)
            }
            (AnySketch::CountingBloom(sketch), _) => {
                let count = sketch.count_hash(hash()?);
                Answer { count: Some(count), member: Some(count.value() > 0.0) }
            }
            (AnySketch::Bloom(sketch), _) => member(sketch.contains_hash(hash()?)),
            (AnySketch::BlockedBloom(sketch), _) => member(sketch.contains_hash(hash()?)),
            (AnySketch::DirectTable(sketch), KeyRef::Integer(integer)) => member(sketch.contains(&integer)?),
            (other, _) => bail!("a {} does not answer about single keys", other.family()),
        })
    }
}

impl Lookup<'_> {
    /// What a counter says about one of the keys that may share it, at 95 %. What others add to it is
    /// part of the 5 % while that is unlikely; then there is no lower bound.
    fn in_counter(&self, sketch: &CounterArray, index: u64) -> crivo::Result<Estimate> {
        let confidence = Confidence::new(Confidence::P95.level() + self.shared).unwrap_or(Confidence::P95);
        let all = sketch.estimate_at(index, confidence)?;
        if self.shared == 0.0 || all.value() == 0.0 {
            return Ok(all);
        }
        let lower = if self.shared < 0.04 { all.lower() } else { 0.0 };
        Ok(Estimate::probable(all.value(), lower, all.upper(), Confidence::P95))
    }
}

/// The keys of the arguments; `-` stands for those on standard input, one a line.
pub(crate) fn each_key(keys: &[OsString], mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    for key in keys {
        if key == OsStr::new("-") {
            each_line(&mut each)?;
        } else {
            each(key.as_encoded_bytes())?;
        }
    }
    Ok(())
}

/// The lines of standard input that are not empty: as everywhere, what is empty is no key.
pub(crate) fn each_line(mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut line = Vec::new();
    let mut input = io::stdin().lock();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let key = line.strip_suffix(b"\n").unwrap_or(&line);
        let key = key.strip_suffix(b"\r").unwrap_or(key);
        if !key.is_empty() {
            each(key)?;
        }
    }
}
