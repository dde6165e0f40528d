//! Sketch files of Apache DataSketches, which `--interchange` and other systems write: building
//! them from rows, reading and querying them.
//!
//! Those systems use other hash functions. So their sketches are built from rows, and a `.crivo`
//! file cannot be converted into one. Text keys are hashed as their bytes. `--keys int` is for
//! columns that the other system counts as integers.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use crivo::keys::{KeyKind, KeyRef, KeyScheme};
use crivo_interchange::AnyInterchange;
use crivo_rows::{Counts, RowBatch};

use crate::args::{InputArgs, SketchArgs};
use crate::kinds::{Kind, kind};
use crate::output::Output;
use crate::pass::Pass;
use crate::store::{self, Destination};
use crate::tally::Weights;
use crate::window::WindowArgs;

/// The maximum size of a file.
const MOST_BYTES: u64 = 1 << 30;

/// A file that may be a DataSketches sketch.
pub(crate) enum Opened {
    Foreign(AnyInterchange),
    /// Something else, which is read from its beginning. A pipe cannot be opened a second time.
    Other(Box<dyn Read>),
}

/// Opens a file, or standard input for `-`, and reads it if it is a DataSketches sketch.
pub(crate) fn open(path: &Path) -> Result<Opened> {
    if path == Path::new("-") {
        return Ok(Opened::Other(Box::new(io::stdin())));
    }
    let name = store::name_of(path);
    let failed = |error: io::Error| anyhow!("{name}: {}", store::reason(&error));
    let mut file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.by_ref().take(8).read_to_end(&mut bytes).map_err(failed)?;
    if AnyInterchange::may_be(&bytes) {
        file.by_ref().take(MOST_BYTES).read_to_end(&mut bytes).map_err(failed)?;
        match AnyInterchange::decode(&bytes) {
            Ok(sketch) => return Ok(Opened::Foreign(sketch)),
            Err(error) if AnyInterchange::is_certainly(&bytes) => bail!("{name}: {error}"),
            Err(_) => {}
        }
    }
    Ok(Opened::Other(Box::new(Cursor::new(bytes).chain(file))))
}

/// Returns how the kind of the sketch is described to the user.
pub(crate) fn kind_of(sketch: &AnyInterchange) -> Kind {
    let (made_by, answers, asked_by) = match sketch {
        AnyInterchange::Hll(_) | AnyInterchange::Theta(_) | AnyInterchange::Cpc(_) => {
            ("crivo distinct --interchange", "how many different", "crivo ask FILE")
        }
        AnyInterchange::Kll(_) | AnyInterchange::Req(_) | AnyInterchange::TDigest(_) => {
            ("crivo quantile --interchange", "which value has a rank", "crivo ask FILE --quantiles 0.5")
        }
        AnyInterchange::FrequentItems(_) => {
            ("crivo top --interchange", "which come most often, and how often", "crivo ask FILE")
        }
        AnyInterchange::Bloom(_) => {
            ("crivo set build --interchange", "whether a key is in there", "crivo ask FILE")
        }
    };
    kind(made_by, answers, asked_by)
}

/// Returns the kind of keys in a sketch, or `None` if its bytes do not say.
pub(crate) fn key_kind(sketch: &AnyInterchange) -> Option<KeyKind> {
    match sketch {
        AnyInterchange::FrequentItems(sketch) if sketch.is_empty() => None,
        AnyInterchange::FrequentItems(sketch) if sketch.of_integers() => Some(KeyKind::Integer),
        AnyInterchange::FrequentItems(_) => Some(KeyKind::Bytes),
        _ => None,
    }
}

/// The options of a command with `--interchange`.
#[derive(Clone, Copy)]
pub(crate) struct Told<'a> {
    pub(crate) sketch: &'a SketchArgs,
    pub(crate) input: &'a InputArgs,
    pub(crate) window: &'a WindowArgs,
    pub(crate) seed: u64,
    /// Options that have no place in the other system's format, and whether they were given.
    pub(crate) others: &'a [(&'static str, bool)],
}

impl Told<'_> {
    /// Returns where to write the sketch. Fails if an option has no place in the other system's
    /// format.
    pub(crate) fn destination(self) -> Result<Destination> {
        if !cfg!(feature = "interchange") {
            bail!(
                "--interchange: was left out of this build; to have it, build crivo-cli with --features interchange"
            );
        }
        if let Some((option, _)) = self.others.iter().find(|(_, is_given)| *is_given) {
            bail!("{option}: cannot be stored for other systems: leave it out with --interchange");
        }
        if self.window.is_wanted() || self.sketch.to_continue()?.is_some() {
            bail!("--interchange: makes a new file; neither --into nor --window go on with one");
        }
        let Some(destination) = self.sketch.destination(self.input)? else {
            bail!("--interchange: makes a file for other systems: name it with -o FILE");
        };
        if self.seed != 0 {
            bail!(
                "--seed: DataSketches hashes with a seed of its own, 9001: leave it out with --interchange"
            );
        }
        Ok(destination)
    }
}

/// The sketch and the weights of one thread.
#[derive(Clone)]
struct ForeignWorker<S> {
    sketch: S,
    weights: Weights,
}

/// Adds the keys of all rows to a sketch that begins as `start`. `start` must be empty, because
/// each thread begins with a copy of it. The weights are in column 1 if the pass is `weighted`,
/// otherwise they are 1.
pub(crate) fn fill<S: Clone + Send>(
    pass: &Pass,
    scheme: KeyScheme,
    weighted: bool,
    out: &Output,
    (start, bytes): (S, usize),
    add: impl Fn(&mut S, KeyRef<'_>, u64) -> crivo_interchange::Result<()> + Sync,
    merge: impl Fn(&mut S, &S) -> crivo_interchange::Result<()>,
) -> Result<(S, Counts)> {
    let skip_bad = pass.skip_bad;
    pass.require_keys(scheme)?;
    let start = ForeignWorker { sketch: start, weights: Weights::default() };
    let step = |worker: &mut ForeignWorker<S>, batch: &mut RowBatch<'_>| {
        if weighted {
            worker.weights.read(batch, skip_bad)?;
        }
        let ForeignWorker { sketch, weights } = worker;
        let found = batch.keys_with_rows(0)?;
        let refused = found.keys.iter().zip(found.rows).find_map(|((key, _), &row)| {
            let weight = if weighted { weights.of_rows[row as usize] } else { 1 };
            add(sketch, key, weight).err().map(|error| (row as usize, error))
        });
        refused.map_or(Ok(()), |(row, error)| Err(batch.error(row, error)))
    };
    let mut failed = None;
    let (worker, mut counts) = pass.fold_copies(scheme, out, (start, bytes), step, |worker, other| {
        worker.weights.skipped += other.weights.skipped;
        worker.weights.bad += other.weights.bad;
        failed = merge(&mut worker.sketch, &other.sketch).err().or(failed.take());
        Ok(())
    })?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    worker.weights.add_to(&mut counts);
    Ok((worker.sketch, counts))
}
