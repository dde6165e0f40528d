//! What a sketch knows about a key: its frequency, its membership in a set, or both.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead};

use anyhow::{Result, anyhow, bail};
use crivo::Estimate;
use crivo::codec::AnySketch;
use crivo::keys::text::parse_integer;
use crivo::keys::{KeyKind, KeyRef, KeyScheme};
use crivo::membership::CombinedFilter;
use crivo::sketch::{Frequency, Membership, Sketch as _};
use crivo_interchange::AnyInterchange;

use crate::args::AskedKeyArgs;
use crate::foreign_sketch;
use crate::kinds::{self, Kind};
use crate::numbers;
use crate::output;

/// Returns true if a key may be in a set.
type Contains<'a> = Box<dyn Fn(KeyRef<'_>) -> crivo::Result<bool> + 'a>;

/// A sketch that answers queries about keys.
pub(crate) struct Lookup<'a> {
    scheme: KeyScheme,
    frequency: Option<Box<dyn Frequency + 'a>>,
    membership: Option<Contains<'a>>,
    /// The share of absent keys that a filter reports as members at its present fill.
    pub(crate) false_positive_rate: Option<f64>,
}

/// The answer about one key. A sketch that knows both count and membership gives both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Answer {
    pub(crate) count: Option<Estimate>,
    pub(crate) member: Option<bool>,
}

impl<'a> Lookup<'a> {
    /// Returns a lookup in the sketch of a file. The error for a sketch without keys says what it
    /// answers instead.
    pub(crate) fn of(sketch: &'a AnySketch, name: &str) -> Result<Self> {
        let (frequency, membership) = (sketch.answers_frequency(), sketch.answers_membership());
        let scheme = sketch.scheme();
        if frequency.is_none() && membership.is_none() {
            let kind = kinds::of(sketch);
            let (Kind { made_by, answers, .. }, query) = (kind, kind.query_of(name));
            let family = kinds::with_article(sketch.family().name());
            bail!(
                "{name}: this is {family} made by `{made_by}`; it cannot answer about single keys, \
                 only {answers}: {query}"
            );
        }
        // An array of counters without keys is queried by index.
        let by_index = membership.is_none() && sketch.clone().takes_weights().is_none();
        if scheme.kind() == KeyKind::Hash && !by_index {
            bail!(
                "{name}: its keys are hashes that its maker computed, and only its maker can ask about them"
            );
        }
        let false_positive_rate = membership.map(Membership::false_positive_rate);
        let membership =
            membership.map(|filter| -> Contains<'a> { Box::new(|key| filter.contains_ref(key)) });
        Ok(Self { scheme, frequency, membership, false_positive_rate })
    }

    /// Returns a lookup in a sketch of DataSketches.
    pub(crate) fn of_foreign(sketch: &'a AnyInterchange, keys: &AskedKeyArgs, name: &str) -> Result<Self> {
        let (mut frequency, mut membership, mut false_positive_rate) = (None, None, None);
        match sketch {
            AnyInterchange::Bloom(filter) => {
                false_positive_rate = Some(filter.false_positive_rate());
                membership =
                    Some(Box::new(|key: KeyRef<'_>| Ok(foreign_contains(filter, key))) as Contains<'a>);
            }
            AnyInterchange::FrequentItems(_) => {
                frequency = Some(Box::new(ForeignCounts(sketch)) as Box<dyn Frequency + 'a>);
            }
            _ => {
                let kind = foreign_sketch::kind_of(sketch);
                let (family, answers, query) = (sketch.name(), kind.answers, kind.query_of(name));
                bail!(
                    "{name}: this is a {family}, which cannot answer about single keys, only {answers}: {query}"
                );
            }
        }
        let kind = match (foreign_sketch::key_kind(sketch), keys.are_integers()) {
            (None, Some(true)) => KeyKind::Integer,
            (kind, _) => kind.unwrap_or(KeyKind::Bytes),
        };
        let scheme = KeyScheme::of(kind);
        keys.agree_with(scheme, name)?;
        Ok(Self { scheme, frequency, membership, false_positive_rate })
    }

    /// Converts a text to a key of the sketch's kind.
    fn key<'k>(&self, text: &'k [u8]) -> Result<KeyRef<'k>> {
        match self.scheme.kind() {
            KeyKind::Bytes => Ok(KeyRef::Bytes(text)),
            KeyKind::Integer | KeyKind::Hash => match parse_integer(text) {
                Some(integer) => Ok(KeyRef::Integer(integer)),
                None => bail!("'{}': the keys of this sketch are integers", numbers::shown(text)),
            },
        }
    }

    /// Returns the answer about a key.
    pub(crate) fn ask(&self, text: &[u8]) -> Result<Answer> {
        let key = self.key(text)?;
        let wrong = |error: crivo::Error| anyhow!("'{key}': {error}");
        let count = self.frequency.as_ref().map(|sketch| sketch.frequency_ref(key)).transpose();
        let member = self.membership.as_ref().map(|contains| contains(key)).transpose();
        Ok(Answer { count: count.map_err(wrong)?, member: member.map_err(wrong)? })
    }
}

/// The frequencies in a sketch of DataSketches.
struct ForeignCounts<'a>(&'a AnyInterchange);

impl Frequency for ForeignCounts<'_> {
    fn frequency_ref(&self, key: KeyRef<'_>) -> crivo::Result<Estimate> {
        Ok(match (self.0, key) {
            (AnyInterchange::FrequentItems(sketch), KeyRef::Bytes(key)) => sketch.frequency_bytes(key),
            (AnyInterchange::FrequentItems(sketch), KeyRef::Integer(key) | KeyRef::Hash(key)) => {
                sketch.frequency_integer(key)
            }
            _ => Estimate::exact(0.0),
        })
    }
}

fn foreign_contains(filter: &crivo_interchange::Bloom, key: KeyRef<'_>) -> bool {
    match key {
        KeyRef::Bytes(key) => filter.contains_bytes(key),
        KeyRef::Integer(key) | KeyRef::Hash(key) => filter.contains_integer(key),
    }
}

/// Describes the false-positive rate of a filter, one line for each kind of keys.
pub(crate) fn about_rate(sketch: &AnySketch) -> Vec<String> {
    let Some(filter) = sketch.answers_membership() else { return Vec::new() };
    let rate = output::percent(filter.false_positive_rate());
    let Some(combined) = sketch.downcast_ref::<CombinedFilter>() else {
        return vec![rate_in_words(filter.false_positive_rate())];
    };
    let mut lines = vec![format!("at most {rate} of keys that are in none of the sets get a yes")];
    lines.extend(combined.rate_for_some().map(|some| {
        format!("up to {} of keys that are in one set, and not in all, get a yes", output::percent(some))
    }));
    lines
}

/// Describes a false-positive rate.
pub(crate) fn rate_in_words(rate: f64) -> String {
    format!("{} of absent keys get a yes", output::percent(rate))
}

/// Calls `each` with the keys of the arguments. `-` stands for the keys on standard input, one a
/// line.
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

/// Calls `each` with the lines of standard input. Skips empty lines, because an empty text is never
/// a key.
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
