//! The methods of counting, and the empty sketch of each.
//!
//! A new method is a variant of [`Method`], its family in [`Method::family`] and its size in
//! [`new_sketch`]. All other code works on [`AnySketch`].

use anyhow::{Context, Result, anyhow, bail};
use clap::ValueEnum;
use crivo::codec::{AnySketch, Family, Parameter};
use crivo::distinct::{
    ExactDistinct, HyperLogLog, KMinValues, LinearCounting, LogLog, ProbabilisticCounting, UltraLogLog,
};
use crivo::sketch::Sketch as _;
use crivo_rows::Counts;

use super::Args;
use crate::args::Continued;
use crate::kinds;
use crate::output::Output;
use crate::pass::Pass;

/// The base-2 logarithm of the number of registers or smallest hashes: 2^14, for an error of 0.8 %.
const DEFAULT_PRECISION: u8 = 14;
/// For methods whose size follows from an error and a number of items.
const DEFAULT_ERROR: f64 = 0.008;
const DEFAULT_ITEMS: u64 = 10_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Method {
    /// HyperLogLog: small, merges exactly, exact while small
    Hll,
    /// UltraLogLog: the same with a quarter less error
    Ull,
    /// The smallest hashes: sets can be compared too
    Kmv,
    /// The one smallest hash: for study
    Minhash,
    /// A bit for each of about as many values: best for counts known to be small
    Linear,
    /// LogLog: for study
    Loglog,
    /// The longest run of zeros in a hash: for study
    Probabilistic,
    /// Every different value in memory
    Exact,
}

impl Method {
    /// Returns the method's name in `--method` and in JSON.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Hll => "hll",
            Self::Ull => "ull",
            Self::Kmv => "kmv",
            Self::Minhash => "minhash",
            Self::Linear => "linear",
            Self::Loglog => "loglog",
            Self::Probabilistic => "probabilistic",
            Self::Exact => "exact",
        }
    }

    /// Returns the family of the method's sketch.
    fn family(self) -> Family {
        match self {
            Self::Hll => Family::HyperLogLog,
            Self::Ull => Family::UltraLogLog,
            Self::Kmv | Self::Minhash => Family::KMinValues,
            Self::Linear => Family::LinearCounting,
            Self::Loglog => Family::LogLog,
            Self::Probabilistic => Family::ProbabilisticCounting,
            Self::Exact => Family::ExactDistinct,
        }
    }

    /// Returns the method of a sketch, or `None` if the sketch does not count different values.
    fn of(sketch: &AnySketch) -> Option<Self> {
        let keeps_one = sketch.parameters() == [("k", Parameter::Count(1))];
        Self::value_variants()
            .iter()
            .copied()
            .find(|method| method.family() == sketch.family() && (*method == Self::Minhash) == keeps_one)
    }

    /// Returns the name of the parameter that is the sketch's size, if it has one.
    fn size_name(self) -> Option<&'static str> {
        match self {
            Self::Hll | Self::Ull | Self::Loglog => Some("precision"),
            Self::Kmv => Some("k"),
            Self::Linear => Some("bits"),
            Self::Minhash | Self::Probabilistic | Self::Exact => None,
        }
    }

    /// Returns the size that `--error`, `--precision` and `--items` request, or `None` without
    /// them.
    fn asked_size(self, args: &Args) -> Result<Option<u64>> {
        let super::DistinctOptions { error, precision, items, .. } = args.how;
        if items.is_some() && self != Self::Linear {
            bail!("--items: only --method linear is sized by the number of items");
        }
        if let (Self::Kmv | Self::Linear, Some(power)) = (self, precision) {
            // The constructor of each sketch checks its limits.
            return 1_u64
                .checked_shl(power.into())
                .map(Some)
                .ok_or_else(|| anyhow!("--precision {power}: expected at most 36, for 2^36 bits or hashes"));
        }
        let size = match (self, error) {
            (Self::Hll, Some(error)) if args.how.history => {
                HyperLogLog::history_precision_for(error).map(u64::from)
            }
            (Self::Ull, Some(error)) if args.how.history => {
                UltraLogLog::history_precision_for(error).map(u64::from)
            }
            (Self::Hll, Some(error)) => HyperLogLog::precision_for(error).map(u64::from),
            (Self::Ull, Some(error)) => UltraLogLog::precision_for(error).map(u64::from),
            (Self::Loglog, Some(error)) => LogLog::precision_for(error).map(u64::from),
            (Self::Kmv, Some(error)) => KMinValues::k_for(error).map(u64::from),
            (Self::Linear, _) if error.is_some() || items.is_some() => {
                LinearCounting::bits_for(items.unwrap_or(DEFAULT_ITEMS), error.unwrap_or(DEFAULT_ERROR))
            }
            _ => return Ok(precision.map(u64::from)),
        };
        size.map(Some).context(if error.is_some() { "--error" } else { "--items" })
    }
}

/// Refuses options of size if the method has only one size.
pub(super) fn refuse_sizes(method: Method, args: &Args) -> Result<()> {
    let super::DistinctOptions { error, precision, items, .. } = args.how;
    if method.size_name().is_none() && (error.is_some() || precision.is_some() || items.is_some()) {
        bail!(
            "--method {} has one size only, so neither --error nor --precision: use --method hll",
            method.name()
        );
    }
    Ok(())
}

/// Returns an empty sketch of the requested size.
pub(super) fn new_sketch(method: Method, args: &Args) -> Result<AnySketch> {
    refuse_sizes(method, args)?;
    let scheme = args.keys.scheme()?;
    let size = method.asked_size(args)?;
    let precision = || u8::try_from(size.unwrap_or(DEFAULT_PRECISION.into())).unwrap_or(u8::MAX);
    if args.how.history && !matches!(method, Method::Hll | Method::Ull) {
        bail!("--history: --method {} keeps none; hll and ull do", method.name());
    }
    let sketch = match method {
        Method::Hll if args.how.history => HyperLogLog::with_scheme(precision(), scheme)
            .and_then(HyperLogLog::with_history)
            .map(AnySketch::from),
        Method::Ull if args.how.history => UltraLogLog::with_scheme(precision(), scheme)
            .and_then(UltraLogLog::with_history)
            .map(AnySketch::from),
        Method::Hll => HyperLogLog::with_scheme(precision(), scheme).map(AnySketch::from),
        Method::Ull => UltraLogLog::with_scheme(precision(), scheme).map(AnySketch::from),
        Method::Loglog => LogLog::with_scheme(precision(), scheme).map(AnySketch::from),
        Method::Kmv => {
            let k = u32::try_from(size.unwrap_or(1 << DEFAULT_PRECISION)).unwrap_or(u32::MAX);
            KMinValues::with_scheme(k, scheme).map(AnySketch::from)
        }
        Method::Minhash => KMinValues::with_scheme(1, scheme).map(AnySketch::from),
        Method::Linear => {
            let bits = match size {
                Some(bits) => bits,
                None => LinearCounting::bits_for(DEFAULT_ITEMS, DEFAULT_ERROR)?,
            };
            LinearCounting::with_scheme(bits, scheme).map(AnySketch::from)
        }
        Method::Probabilistic => Ok(ProbabilisticCounting::with_scheme(scheme).into()),
        Method::Exact => Ok(ExactDistinct::with_scheme(scheme).into()),
    };
    sketch.context("--precision")
}

/// Adds every row to the sketch. Each thread begins with a copy of `start`. These are sketches of
/// sets, so merging the copies counts nothing twice. A sketch with a history uses one thread,
/// because merging would end the history.
pub(super) fn add_rows(pass: &Pass, start: AnySketch, out: &Output) -> Result<(AnySketch, Counts)> {
    let (scheme, bytes) = (start.scheme(), start.full_memory());
    if keeps_history(&start) {
        return pass.on_threads(1).sketch_of_size(start, bytes, scheme, out);
    }
    pass.sketch_of_size(start, bytes, scheme, out)
}

/// Returns true if the sketch keeps the history of its stream.
fn keeps_history(sketch: &AnySketch) -> bool {
    sketch.summary().parameters.iter().any(|(name, _)| *name == "history")
}

/// Returns the sketch of a file and its method, if they agree with the options. The sketch keeps
/// its own size, keys and seed. An option that contradicts it is refused with an error that names
/// both.
pub(super) fn to_continue(before: Continued, args: &Args) -> Result<(Method, AnySketch)> {
    let Some(method) = Method::of(&before.sketch) else { return Err(before.refusal()) };
    let Continued { name, sketch } = before;
    if let Some(asked) = args.how.method.filter(|asked| *asked != method) {
        let (asked, found) = (asked.name(), kinds::with_article(sketch.family().name()));
        bail!("--method {asked}: {name} is {found}, and it can only be continued so");
    }
    refuse_sizes(method, args)?;
    if args.how.history && !keeps_history(&sketch) {
        bail!("--history: {name} has none, and a history can only begin with the first value");
    }
    let summary = sketch.summary();
    args.keys.agree_with(summary.scheme, &name)?;
    let found = summary.parameters.iter().find_map(|(name, value)| match value {
        Parameter::Count(found) if Some(*name) == method.size_name() => Some((*name, *found)),
        _ => None,
    });
    if let (Some(asked), Some((size, found))) = (method.asked_size(args)?, found)
        && asked != found
    {
        bail!("{size} {asked} was asked for: that of {name} is {found}, and it can only be continued so");
    }
    Ok((method, sketch))
}
