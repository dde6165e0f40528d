//! `crivo uniq`: copies the first occurrence of each row, in input order.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use crivo::codec::AnySketch;
use crivo::keys::{KeyKind, KeyScheme};
use crivo::membership::{BlockedBloom, Bloom};
use crivo::sketch::Membership;
use crivo_rows::{Items, Predicate};
use xxhash_rust::xxh3::Xxh3;

use super::Outcome;
use super::set::count_items;
use crate::args::{Continued, InputArgs, KeyArgs, OnFull, share, whole};
use crate::filter::Filter;
use crate::kinds;
use crate::lookup::each_line;
use crate::output::Output;
use crate::pass::Pass;
use crate::store::{self, Destination};
use crate::turn::{Turn, WaitArgs};

/// The default false-positive rate: one in a thousand new rows is taken for a repeated one.
const DEFAULT_RATE: f64 = 0.001;
const LEAST_BLOCKED_RATE: f64 = 1e-6;
/// The default number of items if the input cannot be read twice. The filter takes 20 MB.
const DEFAULT_ITEMS: u64 = 10_000_000;

/// Print each row, or each value of a field, the first time it comes
///
/// Remembers what came in a filter of about two bytes a value, and keeps the order. It never prints
/// a value twice, and leaves out a new one with the probability --fpr. Without --items a file is
/// read twice, once to see how many different values it has. Rows without a value are no repetition
/// of each other: all are printed.
#[derive(Debug, clap::Args)]
// Rows are told apart by whole values.
#[command(mut_arg("words", |words| words.hide(true)))]
#[command(after_help = "\
Examples:
  crivo uniq access.log > once.log
  tail -F queue.txt | crivo uniq --items 50M --state seen.crivo
  crivo uniq --files --state pages.crivo 'crawl/*.html'")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    keys: KeyArgs,

    #[command(flatten)]
    how: UniqOptions,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Filter")]
struct UniqOptions {
    /// Remember in this file what came, over several runs; made if it is not there
    #[arg(long, value_name = "SKETCH")]
    state: Option<PathBuf>,

    /// How many different values to remember; counted in a first pass if not given, or 10 million
    #[arg(long, value_name = "N", value_parser = whole)]
    items: Option<u64>,

    /// The share of new values that may be left out: 0.001 or 0.1% [default: 0.1%]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    fpr: Option<f64>,

    /// Each file is one item by its content, whatever its name: print the paths of the first
    #[arg(long = "files")]
    by_content: bool,

    #[command(flatten)]
    wait: WaitArgs,

    /// What to do when there are more values than are remembered well
    #[arg(long, value_enum, value_name = "WHAT", default_value = "warn")]
    on_full: OnFull,
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let pass = args.input.pass()?;
    if pass.items != Items::Values {
        bail!("--words: a row is told from others by its field, not by its words");
    }
    if args.how.by_content {
        return by_content(args, &pass, out);
    }
    let state = UniqState::open(args, || {
        if pass.input.is_rereadable() {
            count_items(&pass, args.keys.scheme()?, out)
        } else {
            Ok(DEFAULT_ITEMS)
        }
    })?;
    let UniqState { mut filter, destination, turn: _turn } = state;
    let scheme = filter.scheme();
    pass.require_keys(scheme)?;
    let mut inserted = Ok(());
    pass.copy(
        scheme,
        out,
        Predicate::Hashes(&mut |hashes, keep| {
            inserted = filter.insert_fresh(hashes, keep);
            if inserted.is_err() {
                keep.clear();
                keep.resize(hashes.len(), false);
            }
        }),
    )?;
    inserted?;
    filter.report_if_full(args.how.on_full, out)?;
    if let Some(destination) = destination {
        destination.write(&filter.encode())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The filter of earlier runs, and its destination.
struct UniqState {
    filter: Filter,
    destination: Option<Destination>,
    /// Prevents other processes from writing the same file meanwhile.
    turn: Option<Turn>,
}

impl UniqState {
    /// Opens the filter of earlier runs, or makes a new one for the number of items that `count`
    /// returns.
    fn open(args: &Args, count: impl FnOnce() -> Result<u64>) -> Result<Self> {
        let UniqOptions { state, items, fpr, .. } = &args.how;
        let (destination, turn) = match state {
            Some(path) => (Some(args.input.output_beside(path)?), Some(args.how.wait.take_turn(path)?)),
            None => (None, None),
        };
        let rate = fpr.unwrap_or(DEFAULT_RATE);
        if !(rate > 0.0 && rate < 1.0) {
            bail!("--fpr {rate}: expected a share between 0 and 1, such as 0.1%");
        }
        let filter = match state {
            Some(path) if path.exists() => {
                let name = store::name_of(path);
                let before = Continued { name: name.clone(), sketch: store::read(path)?.sketch };
                let capacity = before.sketch.membership().ok().and_then(Membership::capacity);
                if let (true, Some(items)) = (items.is_some() || fpr.is_some(), items.or(capacity)) {
                    before.require_same_sizes(&new_filter(items, rate, before.sketch.scheme())?)?;
                }
                let filter = Filter::of(before.sketch, &name)?;
                args.keys.agree_with(filter.scheme(), &name)?;
                if filter.sketch().clone().hashes_mut().is_err() {
                    let family = kinds::with_article(filter.sketch().family().name());
                    bail!("{name}: this is {family}: use a filter made by crivo uniq or crivo set build");
                }
                filter
            }
            _ => {
                let items = match items {
                    Some(items) => *items,
                    None => count()?,
                };
                Filter::of(new_filter(items, rate, args.keys.scheme()?)?, "the new filter")?
            }
        };
        Ok(Self { filter, destination, turn })
    }
}

/// Returns an empty filter for a number of items.
fn new_filter(items: u64, rate: f64, scheme: KeyScheme) -> Result<AnySketch> {
    // A filter with one cache line for each key is fastest, but a line is too short for the
    // smallest rates.
    let filter = if rate >= LEAST_BLOCKED_RATE {
        BlockedBloom::for_items_with_scheme(items, rate, scheme).map(AnySketch::from)
    } else {
        Bloom::for_items_with_scheme(items, rate, scheme).map(AnySketch::from)
    };
    filter.context("--items and --fpr")
}

/// Copies whole files instead of rows. The item is the content of a file.
fn by_content(args: &Args, pass: &Pass, out: &Output) -> Outcome {
    if args.input.has_field() || args.keys.are_integers() {
        bail!("--files: an item is the whole content of a file, which has neither fields nor integers");
    }
    let mut paths: Vec<PathBuf> = pass.input.paths().map(Path::to_path_buf).collect();
    if paths.is_empty() {
        each_line(|line| {
            let path =
                std::str::from_utf8(line).map_err(|_| anyhow!("a path on standard input is not UTF-8"))?;
            paths.push(path.into());
            Ok(())
        })?;
    }
    let UniqState { mut filter, destination, turn: _turn } =
        UniqState::open(args, || Ok((paths.len() as u64).max(1000)))?;
    let scheme = filter.scheme();
    if scheme.kind() != KeyKind::Bytes {
        bail!("--files: the keys of the state are not text, and contents are");
    }
    let mut fresh = Vec::new();
    for path in &paths {
        let hash = hash_of_content(path, scheme.seed())
            .map_err(|error| anyhow!("{}: {}", path.display(), store::reason(&error)))?;
        filter.insert_fresh(&[hash], &mut fresh)?;
        if fresh[0] {
            out.line(path.display())?;
        }
    }
    filter.report_if_full(args.how.on_full, out)?;
    if let Some(destination) = destination {
        destination.write(&filter.encode())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the hash of a file's bytes as a key. The file is read in pieces, because it may be
/// larger than memory.
fn hash_of_content(path: &Path, seed: u64) -> std::io::Result<u64> {
    let mut file = File::open(path)?;
    let mut hasher = Xxh3::with_seed(seed);
    let mut piece = vec![0; 64 << 10];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hasher.digest()),
            length => hasher.update(&piece[..length]),
        }
    }
}

#[cfg(test)]
mod tests {
    use crivo::keys::KeyScheme;

    use super::*;

    #[test]
    fn content_is_hashed_as_the_key_of_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page");
        for (length, seed) in [(0, 0), (10, 5), (200, 0), (200_000, 9)] {
            let bytes: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            std::fs::write(&path, &bytes).unwrap();
            let expected = KeyScheme::bytes().with_seed(seed).hash(&bytes).unwrap();
            assert_eq!(hash_of_content(&path, seed).unwrap(), expected, "{length} bytes");
        }
    }
}
