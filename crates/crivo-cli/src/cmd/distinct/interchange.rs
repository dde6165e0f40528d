//! `--interchange`: the sketch as the bytes of Apache DataSketches, for Spark, Druid and others.
//!
//! Those systems hash differently, so the sketch is built from the rows: a `.crivo` file cannot be
//! turned into one. Text is hashed as its bytes; `--keys int` is for columns that the other side
//! counts as integers.

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use crivo::Estimate;
use crivo::keys::KeyRef;
use crivo_interchange::{DEFAULT_LG_K, Hll, Theta};
use crivo_rows::Items;

use super::{Args, Counted};
use crate::output::Output;
use crate::pass::Pass;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// HLL: what Spark's hll_* functions read
    Hll,
    /// Theta: what Spark's theta_* functions read, which can also be intersected
    Theta,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Self::Hll => "hll",
            Self::Theta => "theta",
        }
    }

    /// The size whose standard error is at most this.
    fn lg_k_for(self, error: f64) -> u8 {
        let constant = match self {
            Self::Hll => 1.04,
            Self::Theta => 1.0,
        };
        // A size beyond all limits is the constructor's to refuse.
        libm::ceil(libm::log2((constant / error) * (constant / error))).clamp(0.0, 255.0) as u8
    }
}

#[derive(Debug, Clone)]
enum Sketch {
    Hll(Hll),
    Theta(Theta),
}

impl Sketch {
    fn new(form: Form, lg_k: u8) -> crivo_interchange::Result<Self> {
        match form {
            Form::Hll => Hll::new(lg_k).map(Self::Hll),
            Form::Theta => Theta::new(lg_k).map(Self::Theta),
        }
    }

    fn insert(&mut self, key: KeyRef<'_>) {
        match (self, key) {
            (Self::Hll(sketch), KeyRef::Bytes(key)) => sketch.insert_bytes(key),
            (Self::Hll(sketch), KeyRef::Integer(key) | KeyRef::Hash(key)) => sketch.insert_integer(key),
            (Self::Theta(sketch), KeyRef::Bytes(key)) => sketch.insert_bytes(key),
            (Self::Theta(sketch), KeyRef::Integer(key) | KeyRef::Hash(key)) => sketch.insert_integer(key),
        }
    }

    fn merge(&mut self, other: &Self) {
        match (self, other) {
            (Self::Hll(mine), Self::Hll(theirs)) => mine.merge(theirs),
            (Self::Theta(mine), Self::Theta(theirs)) => mine.merge(theirs),
            // All threads begin with a copy of the same sketch.
            _ => {}
        }
    }

    fn estimate(&self) -> Estimate {
        match self {
            Self::Hll(sketch) => sketch.estimate(),
            Self::Theta(sketch) => sketch.estimate(),
        }
    }

    fn encode(&self) -> Vec<u8> {
        match self {
            Self::Hll(sketch) => sketch.encode(),
            Self::Theta(sketch) => sketch.encode(),
        }
    }
}

pub(super) fn count(form: Form, args: &Args, pass: &Pass, out: &Output) -> Result<Counted> {
    let how = &args.how;
    if how.method.is_some() || how.items.is_some() {
        bail!("--interchange {}: says how to count, so neither --method nor --items", form.name());
    }
    if args.window.is_wanted() || args.sketch.to_continue()?.is_some() {
        bail!("--interchange: makes a new file; neither --into nor --window go on with one");
    }
    let Some(destination) = args.sketch.destination(&args.input)? else {
        bail!("--interchange: makes a file for other systems: name it with -o FILE");
    };
    let scheme = args.keys.scheme()?;
    if scheme.seed() != 0 {
        bail!("--seed: DataSketches hashes with a seed of its own, 9001: leave it out with --interchange");
    }
    pass.require_keys(scheme)?;
    let lg_k = match (how.precision, how.error) {
        (Some(precision), _) => precision,
        (None, Some(error)) => form.lg_k_for(error),
        (None, None) => DEFAULT_LG_K,
    };
    let start = Sketch::new(form, lg_k).context("--precision")?;
    let (sketch, counts) = pass.fold_copies(
        scheme,
        out,
        (start, 16 << lg_k),
        |sketch, batch| {
            batch.keys(0)?.iter().for_each(|(key, _)| sketch.insert(key));
            Ok(())
        },
        |sketch, other| {
            sketch.merge(&other);
            Ok(())
        },
    )?;
    let mut estimate = sketch.estimate();
    if pass.items == Items::Values {
        estimate = estimate.limited_to(0.0, counts.rows.saturating_sub(counts.skipped) as f64);
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
