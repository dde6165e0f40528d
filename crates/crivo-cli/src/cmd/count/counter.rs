//! What to count with: exactly, or by tossing coins.

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

/// With these an 16-bit counter of any base counts farther than anyone will.
const MORRIS_BITS: u8 = 16;

/// What `--counter` says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Counter {
    Exact,
    /// One event in this number of events counts.
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

/// As `--counter` has it.
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

/// A counter that is ready.
#[derive(Debug)]
pub(super) enum Begun {
    New(Counter),
    Continued(Box<AnySketch>),
}

impl Counter {
    /// Checks what was asked for, and what is gone on with.
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
    /// Counts a number of events. As many at once leave the same counter as one by one, so it does
    /// not matter which thread saw them.
    ///
    /// Counters of one seed toss the same coins, and would be wrong together when they are merged:
    /// so the input takes part in the seed by what was read of it.
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

/// A seed that the same input always has, and another has not.
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
