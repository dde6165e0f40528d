//! `crivo overlap`: finds the documents that contain items of a benchmark.

mod benchmarks;

use std::cmp::Reverse;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, bail};
use crivo_near::{Benchmark, Cut, Error, ItemHit, Overlaps, cut, overlap};
use crivo_rows::Edit;
use serde::Serialize;

use self::benchmarks::{BenchmarkArgs, BenchmarkFile, BenchmarkReport, reports};
use super::Outcome;
use super::edited::EditedDocuments;
use super::passages::CutName;
use crate::args::share;
use crate::corpus::{CorpusArgs, DocumentNames, EditText, explained};
use crate::output::{self, Output};
use crate::store::publish;

/// The memory for hits before they are written to a temporary file.
const MEMORY: u64 = 256 << 20;

/// The number of benchmarks that the summary lists.
const SHOWN: usize = 10;

/// Find documents that contain items of a benchmark, and remove them
///
/// A document is hit by an item if at least --share of the item's runs of --words words stand in
/// it, word for word; an item with fewer words has to stand there whole. Shares are exact. All
/// items are held in memory, about 35 bytes a word; the corpus is read once, and once more to write
/// what stays.
///
/// Several benchmarks are answered for at once: --with takes any number of files, and --report and
/// --json say which of them an item is of. In a folder each whole file is an item.
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
    /// from 1 in each file]
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

    /// Write each hit: id of the document, id of the item, share, words of the longest common run,
    /// and the file of the item if --with gives several
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
    /// Every file of `--with`, in their order.
    benchmarks: Vec<BenchmarkReport>,
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let mut files = args.corpus.used_files().and_reading(&args.with);
    let documents = EditedDocuments::prepare(args.output.as_deref(), false, &args.corpus, &mut files)?;
    if args.corpus.is_html() && documents.is_wanted() && args.cut != CutName::Document {
        bail!("--html: what a reader sees has no place in the page that could be cut: use --cut document");
    }
    let report = files.optional_output(args.report.as_ref())?;
    let with = BenchmarkArgs::new(args)?;
    let benchmarks = with.open(out)?;
    let benchmark = benchmarks.read(args.words)?;
    let corpus = args.corpus.open(out)?;
    corpus.set_stage("documents");
    let found = overlap(&corpus, &benchmark, args.share, MEMORY).map_err(explained)?;
    corpus.set_stage("writing");
    let hit = hit_places(&found)?;
    let is_hit = |place: u64| hit.binary_search(&place).is_ok();
    let benchmark_files = benchmarks.files(&benchmark)?;
    // The report gets its name when the documents are written too.
    let mut lists = Vec::new();
    if let Some(file) = &report {
        let mut hits = HitWriter {
            names: corpus.names(&is_hit)?,
            item_names: benchmarks.names_of_hit_items(&benchmark, &found)?,
            files: &benchmark_files,
        };
        lists.push(file.fill(|to| hits.write(&found, to))?);
    }
    if documents.is_wanted() {
        documents.write(&corpus, &is_hit, &cutter(&benchmark, args.share, args.cut.into(), &is_hit))?;
    }
    publish(lists)?;
    let summary = OverlapReport {
        documents: found.documents,
        items: benchmark.items(),
        documents_hit: found.documents_hit,
        items_hit: found.items_hit,
        skipped: corpus.skipped(),
        benchmarks: reports(&benchmark_files, &found)?,
    };
    if args.json {
        out.json(&summary)?;
    } else {
        print(summary, out);
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the summary. Of several benchmarks, those that were hit are listed, most hit first.
fn print(summary: OverlapReport, out: &Output) {
    let count = output::count;
    out.tell(format_args!(
        "{} of {} documents contain {} of {} items",
        count(summary.documents_hit),
        count(summary.documents),
        count(summary.items_hit),
        count(summary.items as u64)
    ));
    let mut benchmarks = summary.benchmarks;
    if benchmarks.len() < 2 {
        return;
    }
    benchmarks.retain(|benchmark| benchmark.items_hit > 0);
    benchmarks.sort_by_key(|benchmark| Reverse((benchmark.items_hit, benchmark.documents_hit)));
    for BenchmarkReport { file, items, items_hit, documents_hit } in benchmarks.iter().take(SHOWN) {
        let (hit, items, documents) = (count(*items_hit), count(*items as u64), count(*documents_hit));
        out.tell(format_args!("{file}: {hit} of {items} items, in {documents} documents"));
    }
    if benchmarks.len() > SHOWN {
        let more = count((benchmarks.len() - SHOWN) as u64);
        out.tell(format_args!("{more} more benchmarks were hit: --json lists all"));
    }
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

/// Writes hits, one a line.
struct HitWriter<'a> {
    names: DocumentNames<'a>,
    item_names: Vec<Vec<u8>>,
    files: &'a [BenchmarkFile],
}

impl HitWriter<'_> {
    /// Writes all hits in the order of the documents and items.
    fn write(&mut self, found: &Overlaps, to: &mut dyn Write) -> Result<()> {
        let written =
            found.for_each(|place, hit| self.put(place, hit, to).map_err(|e| Error::Documents(e.into())));
        written.map_err(explained)
    }

    fn put(&mut self, place: u64, hit: ItemHit, to: &mut dyn Write) -> Result<()> {
        let Self { names, item_names, files } = self;
        names.put(place, to)?;
        to.write_all(b"\t")?;
        to.write_all(&item_names[hit.item as usize])?;
        write!(to, "\t{}\t{}", hit.share, hit.run)?;
        if files.len() > 1 {
            let file = &files[files.partition_point(|file| file.items.end <= hit.item)];
            write!(to, "\t{}", file.name.replace(['\t', '\n', '\r'], " "))?;
        }
        Ok(to.write_all(b"\n")?)
    }
}
