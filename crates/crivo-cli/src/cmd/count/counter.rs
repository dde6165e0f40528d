//! The counters to choose from: exact, sampled, or Morris.

use std::fmt;
use std::str::FromStr;

use anyhow::{Result, bail};
use crivo::Estimate;
use crivo::codec::AnySketch;
use crivo::counting::{MorrisCounter, SampledCounter};
use crivo::keys::KeyScheme;
use crivo_rows::Counts;

use super::refuse;
use crate::args::Continued;
use crate::numbers;

/// The width of Morris counters. With 16 bits, any base counts further than ever needed.
const MORRIS_BITS: u8 = 16;

/// The value of `--counter`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Counter {
    Exact,
    /// One in this number of events is counted.
    Sampled(f64),
    Morris(f64),
}

impl FromStr for Counter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| numbers::decimal(text.as_bytes());
        match text.split_once(':') {
            None if text == "exact" => Ok(Self::Exact),
            None if text == "half" => Ok(Self::Sampled(2.0)),
            None if text == "morris" => Ok(Self::Morris(2.0)),
            Some(("sampled", one_in)) => match number(one_in) {
                Some(one_in) if one_in >= 1.0 => Ok(Self::Sampled(one_in)),
                _ => Err("sampled:N counts one event in N, a number from 1 on such as 64".into()),
            },
            Some(("morris", base)) => match number(base) {
                Some(base) => Ok(Self::Morris(base)),
                None => Err("morris:BASE has a base from 1.000001 to 2, such as 1.08".into()),
            },
            _ => Err("expected exact, half, sampled:64, morris or morris:1.08".into()),
        }
    }
}

/// Writes the counter as `--counter` takes it.
impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact => f.write_str("exact"),
            Self::Sampled(2.0) => f.write_str("half"),
            Self::Sampled(one_in) => write!(f, "sampled:{one_in}"),
            Self::Morris(2.0) => f.write_str("morris"),
            Self::Morris(base) => write!(f, "morris:{base}"),
        }
    }
}

/// A counter before the events are added: new, or continued from a file.
#[derive(Debug)]
pub(super) enum Begun {
    New(Counter),
    Continued(Box<AnySketch>),
}

impl Counter {
    /// Checks the options against each other and against the sketch to continue.
    pub(super) fn begin(self, before: Option<Continued>, is_kept: bool) -> Result<Begun> {
        let Some(before) = before else {
            if is_kept && self == Self::Exact {
                bail!(
                    "an exact count is a number and no sketch: use --counter sampled:64 or morris, or --by"
                );
            }
            self.build(0)?;
            return Ok(Begun::New(self));
        };
        let sampled =
            before.sketch.downcast_ref().map(|c: &SampledCounter| Self::Sampled(1.0 / c.probability()));
        let morris = before.sketch.downcast_ref().map(|c: &MorrisCounter| Self::Morris(c.base()));
        let Some(found) = sampled.or(morris) else { return Err(before.refusal()) };
        if self != Self::Exact && self != found {
            bail!("--counter {self}: {} is {found}, and it can only be continued so", before.name);
        }
        Ok(Begun::Continued(Box::new(before.sketch)))
    }

    fn build(self, seed: u64) -> Result<Option<AnySketch>> {
        let built = match self {
            Self::Exact => return Ok(None),
            Self::Sampled(one_in) => SampledCounter::new(1.0 / one_in, seed).map(AnySketch::from),
            Self::Morris(base) => MorrisCounter::new(base, MORRIS_BITS, seed).map(AnySketch::from),
        };
        built.map(Some).map_err(|error| refuse("--counter", &error))
    }
}

impl Begun {
    /// Adds a number of events. Adding them at once leaves the same counter as adding them one by
    /// one, so it does not matter which thread saw them.
    ///
    /// Counters with the same seed draw the same random numbers. Their errors would be correlated
    /// when they are merged. So the seed also depends on the counts of the input.
    pub(super) fn finish(
        self,
        events: u64,
        seed: u64,
        counts: Counts,
    ) -> Result<(Estimate, Option<AnySketch>)> {
        let sketch = match self {
            Self::New(counter) => counter.build(own_seed(seed, counts)?)?,
            Self::Continued(sketch) => Some(*sketch),
        };
        let Some(mut sketch) = sketch else { return Ok((Estimate::exact(events as f64), None)) };
        let counter = sketch.events_mut()?;
        counter.add(events);
        Ok((counter.estimate(), Some(sketch)))
    }
}

/// Returns a seed that depends on the given seed and the counts of the input. The same input always
/// has the same seed.
fn own_seed(seed: u64, counts: Counts) -> Result<u64> {
    let mut bytes = Vec::with_capacity(24);
    for count in [counts.rows, counts.skipped, counts.bytes] {
        bytes.extend(count.to_le_bytes());
    }
    Ok(KeyScheme::bytes().with_seed(seed).hash(&bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_written_as_they_are_read() {
        for text in ["exact", "half", "sampled:64", "morris", "morris:1.08"] {
            assert_eq!(text.parse::<Counter>().unwrap().to_string(), text);
        }
        for wrong in ["", "third", "sampled", "sampled:0", "sampled:x", "morris:", "exact:2"] {
            assert!(wrong.parse::<Counter>().is_err(), "{wrong}");
        }
        assert!(Counter::Morris(3.0).begin(None, false).unwrap_err().to_string().contains("--counter: base"));
    }
}
