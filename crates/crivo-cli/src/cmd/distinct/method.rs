//! The ways to count, and the sketch that each begins with.
//!
//! A new method is a variant of [`Method`], an arm in [`new_sketch`], in [`emptied`] and in
//! [`add_rows`]; everything else works on [`AnySketch`].

use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use crivo::codec::{AnySketch, Parameter};
use crivo::distinct::HyperLogLog;
use crivo_rows::Counts;

use super::Args;
use crate::kinds;
use crate::output::Output;
use crate::pass::Pass;
use crate::store;

/// An error of 0.8 % in 16 KiB.
const DEFAULT_PRECISION: u8 = 14;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Method {
    /// HyperLogLog: small, merges exactly, exact while small
    Hll,
    /// Every different value in memory
    Exact,
}

impl Method {
    /// As `--method` and the JSON have it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Hll => "hll",
            Self::Exact => "exact",
        }
    }

    /// The method that a sketch belongs to, if it counts different values.
    fn of(sketch: &AnySketch) -> Option<Self> {
        match sketch {
            AnySketch::HyperLogLog(_) => Some(Self::Hll),
            _ => None,
        }
    }
}

/// A sketch with nothing in it, of the size that was asked for.
pub(super) fn new_sketch(method: Method, args: &Args) -> Result<AnySketch> {
    let scheme = args.keys.scheme()?;
    match method {
        Method::Hll => {
            let precision = asked_precision(args)?.unwrap_or(DEFAULT_PRECISION);
            Ok(AnySketch::HyperLogLog(HyperLogLog::with_scheme(precision, scheme).context("--precision")?))
        }
        Method::Exact => bail!("--method exact keeps every value and has no sketch: use --method hll"),
    }
}

/// A sketch of the same size and keys, with nothing in it.
pub(super) fn emptied(sketch: &AnySketch) -> Result<AnySketch> {
    match sketch {
        AnySketch::HyperLogLog(sketch) => {
            let empty = HyperLogLog::with_scheme(sketch.precision(), sketch.scheme())?;
            Ok(AnySketch::HyperLogLog(empty))
        }
        other => bail!("a {} does not count different values", other.family()),
    }
}

/// Adds every row to the sketch, which is empty.
pub(super) fn add_rows(pass: &Pass, empty: AnySketch, out: &Output) -> Result<(AnySketch, Counts)> {
    match empty {
        AnySketch::HyperLogLog(empty) => {
            let (sketch, counts) = pass.sketch(&empty, empty.scheme(), out)?;
            Ok((AnySketch::HyperLogLog(sketch), counts))
        }
        other => bail!("a {} does not count different values", other.family()),
    }
}

/// The sketch in a file, and its method, if it can go on with what was asked for: the sketch's own
/// size, keys and seed rule, and an option that says otherwise is refused naming both.
pub(super) fn open_to_continue(path: &Path, args: &Args) -> Result<(Method, AnySketch)> {
    let name = store::name_of(path);
    let sketch = store::read(path)?.sketch;
    let family = sketch.family();
    let Some(method) = Method::of(&sketch) else {
        let made_by = kinds::of(family).made_by;
        bail!("{name}: this is a {family} made by `{made_by}`, which cannot be continued by counting");
    };
    if let Some(asked) = args.how.method.filter(|asked| *asked != method) {
        bail!("--method {}: {name} is a {family}, and it can only be continued so", asked.name());
    }
    let summary = sketch.summary();
    args.keys.agree_with(summary.scheme, &name)?;
    let found = summary.parameters.iter().find_map(|parameter| match parameter {
        ("precision", Parameter::Count(found)) => Some(*found),
        _ => None,
    });
    if let (Some(asked), Some(found)) = (asked_precision(args)?.map(u64::from), found)
        && asked != found
    {
        bail!("precision {asked} was asked for: that of {name} is {found}, and it can only be continued so");
    }
    Ok((method, sketch))
}

/// The precision that `--error` or `--precision` means.
fn asked_precision(args: &Args) -> Result<Option<u8>> {
    match args.how.error {
        Some(error) => HyperLogLog::precision_for(error).map(Some).context("--error"),
        None => Ok(args.how.precision),
    }
}
