//! `crivo overlap`: finds the documents that contain items of a benchmark.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use crivo_near::{Benchmark, Cut, Overlaps, cut, overlap};
use crivo_rows::Edit;
use serde::Serialize;

use super::Outcome;
use super::edited::EditedDocuments;
use super::passages::CutName;
use crate::args::share;
use crate::corpus::{Corpus, CorpusArgs, EditText, explained};
use crate::output::{self, Output};
use crate::store::Destination;

/// The memory for hits before they are written to a temporary file.
const MEMORY: u64 = 256 << 20;

/// Find documents that contain items of a benchmark, and remove them
///
/// A document is hit by an item if at least --share of the item's runs of --words words stand in
/// it, word for word; an item with fewer words has to stand there whole. Shares are exact. All
/// items are held in memory, about 35 bytes a word; the corpus is read once, and once more to write
/// what stays.
///
/// With -o the documents that are not hit are written as they stand, in their order. With --cut the
/// words that an item and a document have in common are cut instead, or the sentences or paragraphs
/// they are in.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo overlap corpus.jsonl --with test_questions.jsonl --report hits.tsv
  crivo overlap 'shards/*.parquet' --with 'benchmarks/*.jsonl' --with-field question -o clean.parquet
  crivo overlap corpus.jsonl --with gsm8k.jsonl --words 13 --share 0.2 --cut paragraph -o clean.jsonl")]
pub(crate) struct Args {
    #[command(flatten)]
    corpus: CorpusArgs,

    /// Files with the items, in any format that documents may have
    #[arg(long, value_name = "BENCHMARK", required = true, num_args = 1..)]
    with: Vec<PathBuf>,

    /// The field with the text of an item [default: that of the documents]
    #[arg(long, value_name = "NAME|NUMBER")]
    with_field: Option<String>,

    /// The field with the id of an item [default: id, if there is one; otherwise record numbers
    /// from 1]
    #[arg(long, value_name = "NAME|NUMBER")]
    with_id: Option<String>,

    /// The words of a run that is looked for: 1 to 64
    #[arg(long, value_name = "N", default_value = "8")]
    words: usize,

    /// The least share of an item's runs that a document has to contain
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "0.5")]
    share: f64,

    /// What is cut from documents that are hit
    #[arg(long, value_enum, default_value = "document")]
    cut: CutName,

    /// Write the documents to this file, whose name may choose another format (.jsonl, .parquet,
    /// .csv, .tsv) and compression (.gz, .zst, .xz); for folders, to this folder
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// Write each hit: id of the document, id of the item, share, words of the longest common run
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct OverlapReport {
    documents: u64,
    items: usize,
    documents_hit: u64,
    items_hit: u64,
    skipped: u64,
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let mut files = args.corpus.used_files().and_reading(&args.with);
    let documents = EditedDocuments::prepare(args.output.as_deref(), false, &args.corpus, &mut files)?;
    if args.corpus.is_html() && documents.is_wanted() && args.cut != CutName::Document {
        bail!("--html: what a reader sees has no place in the page that could be cut: use --cut document");
    }
    let report = files.optional_output(args.report.as_ref())?;
    let with = args.corpus.for_files(&args.with, args.with_field.as_ref(), args.with_id.as_ref());
    let items = with.open(out).context("--with")?;
    items.set_stage("benchmark");
    let benchmark = Benchmark::read(&items, args.words).map_err(explained)?;
    let corpus = args.corpus.open(out)?;
    corpus.set_stage("documents");
    let found = overlap(&corpus, &benchmark, args.share, MEMORY).map_err(explained)?;
    corpus.set_stage("writing");
    let hit = hit_places(&found)?;
    let is_hit = |place: u64| hit.binary_search(&place).is_ok();
    if let Some(file) = &report {
        write_report(file, &corpus, &items, &benchmark, &found, &is_hit)?;
    }
    if documents.is_wanted() {
        documents.write(&corpus, &is_hit, &cutter(&benchmark, args.share, args.cut.into(), &is_hit))?;
    }
    let summary = OverlapReport {
        documents: found.documents,
        items: benchmark.items(),
        documents_hit: found.documents_hit,
        items_hit: found.items_hit,
        skipped: corpus.skipped(),
    };
    if args.json {
        out.json(&summary)?;
    } else {
        let count = output::count;
        out.tell(format_args!(
            "{} of {} documents contain {} of {} items",
            count(summary.documents_hit),
            count(summary.documents),
            count(summary.items_hit),
            count(summary.items as u64)
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the places of the documents that are hit, ascending.
fn hit_places(found: &Overlaps) -> Result<Vec<u64>> {
    let mut hit = Vec::new();
    let places = found.for_each(|place, _| {
        if hit.last() != Some(&place) {
            hit.push(place);
        }
        Ok(())
    });
    places.map_err(explained)?;
    Ok(hit)
}

/// Returns an edit that drops hit documents, or cuts the text that they share with items. Whether a
/// document is hit depends on its place only, because the source of a page is not the text that was
/// compared.
fn cutter<'a>(
    benchmark: &'a Benchmark,
    share: f64,
    what: Cut,
    is_hit: &'a (dyn Fn(u64) -> bool + Sync),
) -> Box<EditText<'a>> {
    let matchers = Mutex::new(Vec::new());
    Box::new(move |place, text, new| {
        if what == Cut::None || !is_hit(place) {
            return Ok(Edit::Keep);
        }
        if what == Cut::Document {
            return Ok(Edit::Drop);
        }
        let taken = matchers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut matcher = match taken {
            Some(matcher) => matcher,
            None => benchmark.matcher(share).map_err(explained)?,
        };
        cut(text, &matcher.ranges(text), what, new);
        matchers.lock().unwrap_or_else(PoisonError::into_inner).push(matcher);
        Ok(Edit::Replace)
    })
}

fn write_report(
    file: &Destination,
    corpus: &Corpus<'_>,
    items: &Corpus<'_>,
    benchmark: &Benchmark,
    found: &Overlaps,
    is_hit: &(dyn Fn(u64) -> bool + Sync),
) -> Result<()> {
    let mut names = corpus.names(is_hit)?;
    let mut item_names = items.names(&|_| true)?;
    file.write_with(|to| {
        let mut put = |place: u64, hit: crivo_near::ItemHit| -> Result<()> {
            names.put(place, to)?;
            to.write_all(b"\t")?;
            item_names.put(benchmark.place(hit.item), to)?;
            writeln!(to, "\t{}\t{}", hit.share, hit.run)?;
            Ok(())
        };
        let written =
            found.for_each(|place, hit| put(place, hit).map_err(|e| crivo_near::Error::Documents(e.into())));
        written.map_err(explained)
    })
}
