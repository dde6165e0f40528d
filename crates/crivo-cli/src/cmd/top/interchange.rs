//! `crivo top --interchange`: writes the most frequent keys in the format of Apache DataSketches.

use anyhow::{Result, bail};
use clap::ValueEnum;
use crivo::keys::{KeyKind, KeyRef};
use crivo_interchange::{FrequentItem, FrequentItems};
use crivo_rows::Counts;

use super::{Args, Candidate, DEFAULT_COUNTERS, Listed, Totals, Wanted, choose};
use crate::foreign_sketch::{self, Told};
use crate::output::Output;
use crate::pass::Pass;
use crate::store::Destination;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// Frequent items: texts, or integers with --keys int
    FrequentItems,
}

/// The most keys of the DataSketches map: three quarters of its size, which is a power of two.
const LARGEST: u64 = 3 << 14;

fn empty(args: &Args, of_integers: bool) -> Result<FrequentItems> {
    let counters = args.how.counters.map_or(DEFAULT_COUNTERS, std::num::NonZero::get);
    let lg_size = (3..=16).find(|lg| (3_u64 << lg) / 4 >= counters);
    let Some(lg_size) = lg_size else {
        bail!("--counters {counters}: at most {LARGEST} can be stored for other systems");
    };
    Ok(FrequentItems::new(lg_size, of_integers)?)
}

/// The result of counting, and the destination of the sketch.
pub(super) struct ForeignCounted {
    pub(super) sketch: FrequentItems,
    pub(super) counts: Counts,
    pub(super) destination: Destination,
}

pub(super) fn count(args: &Args, pass: &Pass, wanted: &Wanted, out: &Output) -> Result<ForeignCounted> {
    let scheme = args.keys.scheme()?;
    let told = Told {
        sketch: &args.sketch,
        input: &args.input,
        window: &args.window,
        seed: scheme.seed(),
        others: &[
            ("--verify", args.how.verify),
            ("--guarantee", args.how.guarantee.is_some()),
            ("--every", args.every.interval().is_some()),
            ("--min-share or --min-count", !matches!(wanted, Wanted::First(_))),
        ],
    };
    let destination = told.destination()?;
    let start = empty(args, scheme.kind() == KeyKind::Integer)?;
    let (sketch, counts) = foreign_sketch::fill(
        pass,
        scheme,
        args.how.weight.is_some(),
        out,
        (start, 8 << 20),
        |sketch, key, weight| match key {
            KeyRef::Bytes(key) => sketch.add_bytes(key, weight),
            KeyRef::Integer(key) | KeyRef::Hash(key) => sketch.add_integer(key, weight),
        },
        FrequentItems::merge,
    )?;
    Ok(ForeignCounted { sketch, counts, destination })
}

/// Returns the list, and the totals.
pub(super) fn listed(sketch: &FrequentItems, most: usize) -> (Vec<Listed>, Totals) {
    let listed = sketch.top(most).into_iter().map(|FrequentItem { key, lower, upper }| Listed {
        key,
        estimate: choose::estimate(lower, upper),
        exact: None,
    });
    let bytes = sketch.encode().len();
    let totals = Totals {
        total: sketch.total(),
        max_error: sketch.max_error(),
        counters: sketch.len(),
        memory: bytes,
    };
    (listed.collect(), totals)
}

/// Returns the key that may have the majority, and whether it certainly has.
pub(super) fn majority(sketch: &FrequentItems) -> Option<(crivo::keys::OwnedKey, bool)> {
    let candidate = |FrequentItem { key, lower, upper }| Candidate { key, lower, upper };
    let candidates: Vec<Candidate> = sketch.top(2).into_iter().map(candidate).collect();
    choose::majority(&candidates, sketch.total())
}
