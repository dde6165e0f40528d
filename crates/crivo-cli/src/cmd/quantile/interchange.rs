//! `crivo quantile --interchange`: writes quantiles in the format of Apache DataSketches.

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use crivo::keys::KeyScheme;
use crivo_interchange::{AnyInterchange, AnyKll, NumberKind, Req, TDigest};
use crivo_rows::{Counts, RowBatch};

use super::Args;
use crate::foreign_sketch::Told;
use crate::numbers::FieldNumbers;
use crate::output::Output;
use crate::pass::Pass;
use crate::store::Destination;

/// The default sizes of other systems.
const KLL_SIZE: u16 = 200;
const REQ_SIZE: u16 = 12;
const DIGEST_SIZE: u16 = 200;
/// The most bytes of any of these sketches, for any input.
const MOST_BYTES: usize = 2 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// KLL of doubles: what Spark's `kll_sketch_*_double` functions read
    Kll,
    /// KLL of floats: what Spark's `kll_sketch_*_float` functions read
    KllFloat,
    /// KLL of whole numbers: what Spark's `kll_sketch_*_bigint` functions read
    KllLong,
    /// REQ of floats: closer at high ranks
    Req,
    /// t-digest: close at both ends, without bounds
    #[value(name = "tdigest")]
    TDigest,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Self::Kll => "kll",
            Self::KllFloat => "kll-float",
            Self::KllLong => "kll-long",
            Self::Req => "req",
            Self::TDigest => "tdigest",
        }
    }

    fn empty(self, error: Option<f64>) -> Result<AnyInterchange> {
        let kll = |kind| -> Result<_> {
            let k = error.map_or(Ok(KLL_SIZE), AnyKll::k_for).context("--error")?;
            Ok(AnyInterchange::Kll(AnyKll::new(k, kind)?))
        };
        match self {
            Self::Kll => kll(NumberKind::Double),
            Self::KllFloat => kll(NumberKind::Float),
            Self::KllLong => kll(NumberKind::Long),
            _ if error.is_some() => {
                bail!("--error: chooses the size of kll; that of {} is fixed: leave it out", self.name())
            }
            Self::Req => Ok(AnyInterchange::Req(Req::new(REQ_SIZE, true)?)),
            Self::TDigest => Ok(AnyInterchange::TDigest(TDigest::new(DIGEST_SIZE)?)),
        }
    }
}

/// The result of reading, and the destination of the sketch.
pub(super) struct ForeignRead {
    pub(super) sketch: AnyInterchange,
    pub(super) counts: Counts,
    pub(super) method: &'static str,
    pub(super) destination: Destination,
}

/// The sketch of one thread, and its buffer.
#[derive(Clone)]
struct ForeignWorker {
    sketch: AnyInterchange,
    numbers: FieldNumbers,
}

pub(super) fn read(form: Form, args: &Args, pass: &Pass, out: &Output) -> Result<ForeignRead> {
    let told = Told {
        sketch: &args.sketch,
        input: &args.input,
        window: &args.window,
        seed: args.seed.number()?,
        others: &[("--texts", args.how.texts), ("--tails", args.how.tails)],
    };
    let destination = told.destination()?;
    let skip_bad = pass.skip_bad;
    let start = ForeignWorker { sketch: form.empty(args.how.error)?, numbers: FieldNumbers::default() };
    let step = |worker: &mut ForeignWorker, batch: &mut RowBatch<'_>| {
        worker.numbers.read(batch, 0, skip_bad)?;
        let numbers = worker.numbers.values.iter();
        match &mut worker.sketch {
            AnyInterchange::Kll(sketch) => numbers.for_each(|&number| sketch.insert(number)),
            AnyInterchange::Req(sketch) => numbers.for_each(|&number| sketch.insert(number as f32)),
            AnyInterchange::TDigest(sketch) => numbers.for_each(|&number| sketch.insert(number)),
            _ => {}
        }
        Ok(())
    };
    let mut failed = None;
    let (worker, mut counts) =
        pass.fold_copies(KeyScheme::bytes(), out, (start, MOST_BYTES), step, |worker, other| {
            worker.numbers.bad += other.numbers.bad;
            failed = worker.sketch.merge(&other.sketch).err().or(failed.take());
            Ok(())
        })?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    counts.bad += worker.numbers.bad;
    counts.rows = counts.rows.saturating_sub(worker.numbers.bad);
    Ok(ForeignRead { sketch: worker.sketch, counts, method: form.name(), destination })
}
