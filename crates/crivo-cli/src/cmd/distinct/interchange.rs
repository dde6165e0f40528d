//! `--interchange`: writes the sketch in the format of Apache DataSketches, for Spark, Druid and
//! others.

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use crivo::keys::KeyRef;
use crivo_interchange::{AnyInterchange, Cpc, DEFAULT_LG_K, Hll, Theta};

use super::{Args, Counted};
use crate::foreign_sketch::{self, Told};
use crate::output::Output;
use crate::pass::Pass;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// HLL: what Spark's hll_* functions read
    Hll,
    /// Theta: what Spark's theta_* functions read, which can also be intersected
    Theta,
    /// CPC: the fewest bytes for an error
    Cpc,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Self::Hll => "hll",
            Self::Theta => "theta",
            Self::Cpc => "cpc",
        }
    }

    /// Returns the smallest size whose standard error is at most `error`.
    fn lg_k_for(self, error: f64) -> u8 {
        let constant = match self {
            Self::Hll => 1.04,
            Self::Theta => 1.0,
            Self::Cpc => 0.69,
        };
        // The constructor refuses a size beyond its limits.
        libm::ceil(libm::log2((constant / error) * (constant / error))).clamp(0.0, 255.0) as u8
    }

    fn empty(self, lg_k: u8) -> crivo_interchange::Result<AnyInterchange> {
        match self {
            Self::Hll => Hll::new(lg_k).map(AnyInterchange::Hll),
            Self::Theta => Theta::new(lg_k).map(AnyInterchange::Theta),
            Self::Cpc => Cpc::new(lg_k).map(AnyInterchange::Cpc),
        }
    }
}

fn insert(sketch: &mut AnyInterchange, key: KeyRef<'_>) {
    match (sketch, key) {
        (AnyInterchange::Hll(sketch), KeyRef::Bytes(key)) => sketch.insert_bytes(key),
        (AnyInterchange::Theta(sketch), KeyRef::Bytes(key)) => sketch.insert_bytes(key),
        (AnyInterchange::Cpc(sketch), KeyRef::Bytes(key)) => sketch.insert_bytes(key),
        (AnyInterchange::Hll(sketch), KeyRef::Integer(key) | KeyRef::Hash(key)) => sketch.insert_integer(key),
        (AnyInterchange::Theta(sketch), KeyRef::Integer(key) | KeyRef::Hash(key)) => {
            sketch.insert_integer(key);
        }
        (AnyInterchange::Cpc(sketch), KeyRef::Integer(key) | KeyRef::Hash(key)) => sketch.insert_integer(key),
        // The other families are made by other commands.
        _ => {}
    }
}

pub(super) fn count(form: Form, args: &Args, pass: &Pass, out: &Output) -> Result<Counted> {
    let how = &args.how;
    if how.method.is_some() || how.items.is_some() {
        bail!("--interchange {}: says how to count, so neither --method nor --items", form.name());
    }
    let scheme = args.keys.scheme()?;
    let told = Told {
        sketch: &args.sketch,
        input: &args.input,
        window: &args.window,
        seed: scheme.seed(),
        others: &[],
    };
    let destination = told.destination()?;
    let lg_k = match (how.precision, how.error) {
        (Some(precision), _) => precision,
        (None, Some(error)) => form.lg_k_for(error),
        (None, None) => DEFAULT_LG_K,
    };
    let start = form.empty(lg_k).context("--precision")?;
    let add = |sketch: &mut AnyInterchange, key: KeyRef<'_>, _| {
        insert(sketch, key);
        Ok(())
    };
    let (sketch, counts) =
        foreign_sketch::fill(pass, scheme, false, out, (start, 16 << lg_k), add, AnyInterchange::merge)?;
    let mut estimate = sketch.items();
    if let Some(most) = pass.most_items(counts) {
        estimate = estimate.limited_to(0.0, most as f64);
    }
    let bytes = sketch.encode();
    Ok(Counted {
        method: form.name(),
        estimate,
        counts,
        memory: bytes.len(),
        scheme,
        window: None,
        unwritten: Some((destination, bytes)),
    })
}
