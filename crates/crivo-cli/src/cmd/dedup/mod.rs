//! `crivo dedup`: finds near-duplicate documents, and writes a copy without them.

mod against;
mod results;
mod units;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use crivo::similarity::Bands;
use crivo::similarity::shingle::{Shingles, StopWords};
use crivo_near::{
    Clusters, Keep, Linking, Measure, Outcome as Found, Settings, UnitKind, WorkFolder, least_memory,
    near_duplicates,
};
use serde::Serialize;

use self::against::KnownDocuments;
use self::results::Results;
use self::units::{UnitArgs, UnitName};
use super::Outcome;
use crate::args::share;
use crate::corpus::{Corpus, CorpusArgs, explained};
use crate::output::{self, Interval, Output};
use crate::sizes::memory_size;
use crate::watch::SearchProgress;

/// Find near-duplicates, and keep one of each
///
/// Compares documents by the word sequences they share (Jaccard similarity of their shingles) and
/// keeps one document of each cluster of near-duplicates. Candidates are found by MinHash
/// signatures and then compared exactly; the summary says how many pairs that may have missed.
///
/// With --measure containment a document goes if that share of its own word sequences stands in a
/// longer one that stays: a page goes where the same page with comments is kept.
///
/// A document goes only if it is itself a near-duplicate of the one that stays in its place;
/// --removed writes a certificate of that. Documents are read twice, whatever their number, and
/// once if their shingles fit in an eighth of --memory; 24 bytes of each have to fit in three
/// quarters of it. Empty texts are no documents: they stay, and are counted as skipped.
///
/// The kept records are written as they stand, in their order: to -o, or to standard output unless
/// --json or --dry-run is given. All files get their names when all of them are written: first
/// --pairs, --clusters and --removed, last -o.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo dedup corpus.jsonl -o clean.jsonl
  crivo dedup 'shards/*.parquet' --field body --threshold 0.7 -o clean.parquet --clusters clusters.tsv
  crivo dedup corpus.jsonl -o clean.jsonl --removed removed.tsv --work /scratch/run1 --memory 8G
  crivo dedup notes/ --shingle chars:5 --dry-run
  crivo dedup pages.jsonl --measure containment --threshold 0.9 -o clean.jsonl --removed removed.tsv
  crivo dedup crawl.jsonl --unit paragraph --ignore case,blanks --most-frequent boilerplate.tsv -o clean.jsonl
  zcat dump.jsonl.gz | crivo dedup --format jsonl --memory 512M > clean.jsonl")]
pub(crate) struct Args {
    #[command(flatten)]
    corpus: CorpusArgs,

    #[command(flatten)]
    alike: AlikeArgs,

    #[command(flatten)]
    results: ResultArgs,

    #[command(flatten)]
    units: UnitArgs,
}

/// What counts as alike.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Comparing")]
pub(crate) struct AlikeArgs {
    /// From which similarity on two documents are near-duplicates: above 0, at most 1
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "0.8")]
    pub(crate) threshold: f64,

    /// What is compared: words:N, chars:N, or stopwords; with words, texts in scripts without
    /// blanks (Chinese, Japanese, Thai, …) are cut into chars:5, each text by itself
    #[arg(long, value_name = "KIND", default_value = "words:5")]
    pub(crate) shingle: Shingles,

    /// Bring texts to Unicode's normal form C before they are compared
    #[arg(long)]
    pub(crate) nfc: bool,

    /// Stop words of your own, one a line, for --shingle stopwords
    #[arg(long, value_name = "FILE")]
    pub(crate) stop_words: Option<PathBuf>,

    /// The length of a signature
    #[arg(long, value_name = "K", default_value = "128")]
    pub(crate) hashes: u32,

    /// How to cut the signature, bands times rows [default: found from the threshold]
    #[arg(long, value_name = "BxR", value_parser = bands)]
    pub(crate) bands: Option<Bands>,

    /// Trust signatures: similarities are estimates, and documents are read once
    #[arg(long)]
    pub(crate) fast: bool,

    /// About how much memory to use; what does not fit goes to a temporary file
    #[arg(long, value_name = "SIZE", value_parser = memory_size, default_value = "2G")]
    pub(crate) memory: u64,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Results")]
struct ResultArgs {
    /// What is held against the threshold
    #[arg(long, value_enum, default_value = "jaccard", conflicts_with_all = ["fast", "against"])]
    measure: MeasureName,

    /// Which document of a cluster stays [default: first; with --measure containment, longest]
    #[arg(long, value_enum)]
    keep: Option<KeepName>,

    /// What holds a cluster together
    #[arg(long, value_enum, default_value = "kept")]
    linking: LinkingName,

    /// List every pair, also of very large clusters: a million documents have half a billion
    #[arg(long)]
    all_pairs: bool,

    /// Drop also those that are like a document of this index; see crivo similar index
    #[arg(long, value_name = "INDEX_DIR")]
    against: Option<PathBuf>,

    /// Write nothing but what is asked for: how many would stay
    #[arg(long, conflicts_with = "output")]
    dry_run: bool,

    /// Write the kept documents to this file, compressed if its name ends in .gz, .zst or .xz; for
    /// folders, copy the kept files to this folder
    #[arg(short, value_name = "OUT")]
    output: Option<PathBuf>,

    /// Write each pair of near-duplicates: id, id, similarity
    #[arg(long, value_name = "FILE")]
    pairs: Option<PathBuf>,

    /// Write who is in which cluster: id, and the id of the document that stays
    #[arg(long, value_name = "FILE")]
    clusters: Option<PathBuf>,

    /// Write what does not stay: id, the id that stays in its place, their exact similarity
    #[arg(long, value_name = "FILE")]
    removed: Option<PathBuf>,

    /// Keep finished stages in this folder: a run that was killed continues with the same command
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MeasureName {
    /// What both documents have, as a share of what either has
    Jaccard,
    /// What of the shorter document is in the longer, as a share of the shorter
    Containment,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum KeepName {
    /// The first
    First,
    /// The longest; of equally long ones the first
    Longest,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LinkingName {
    /// Each document that goes is a near-duplicate of the one that stays in its place
    #[value(alias = "representative")]
    Kept,
    /// Chains of near-duplicates: the ends of a long one may have little in common
    Chains,
}

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct DedupReport {
    documents: u32,
    kept: usize,
    too_short: u64,
    skipped: u64,
    clusters: usize,
    largest_cluster: u32,
    pairs: u64,
    expected_missed: Interval,
    measure: &'static str,
    /// The division of signatures into bands. These three are 0 with containment, which needs no
    /// signatures.
    bands: u32,
    rows_per_band: u32,
    hashes: u32,
    /// The pairs of very large clusters that are not listed, and are in no result.
    not_listed: Interval,
    removed: usize,
    compared: u64,
    /// The bytes read in all passes, and the bytes written to temporary files.
    bytes_read: u64,
    bytes_spilled: u64,
    /// How many more documents would be kept without --against.
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<usize>,
}

impl AlikeArgs {
    /// Returns the settings, checked.
    pub(crate) fn settings(&self, threads: usize) -> Result<Settings> {
        let shingles = match (&self.shingle, &self.stop_words) {
            (shingle, None) => shingle.clone(),
            (Shingles::StopWords(_), Some(path)) => {
                let list = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
                let words = list.lines().map(str::trim).filter(|line| !line.is_empty());
                Shingles::StopWords(StopWords::new(words).with_context(|| path.display().to_string())?)
            }
            (_, Some(_)) => bail!("--stop-words: only --shingle stopwords uses them"),
        };
        let settings = Settings {
            threshold: self.threshold,
            shingles,
            nfc: self.nfc,
            hashes: self.hashes,
            bands: self.bands,
            fast: self.fast,
            memory: self.memory,
            threads,
            ..Settings::default()
        };
        settings.bands()?;
        Ok(settings)
    }
}

impl ResultArgs {
    /// Returns which document of a cluster is kept. A document that is contained in another is the
    /// shorter one, so with containment the longest is kept.
    fn keep(&self, measure: Measure) -> Result<Keep> {
        match (self.keep, measure) {
            (Some(KeepName::First), Measure::Containment) => {
                bail!(
                    "--keep first: with --measure containment the longer document stays; use --keep longest"
                )
            }
            (Some(KeepName::First), Measure::Jaccard) => Ok(Keep::First),
            (Some(KeepName::Longest), _) => Ok(Keep::Longest),
            (None, _) => Ok(Keep::default_for(measure)),
        }
    }
}

/// Parses bands and rows, such as `21x6`.
pub(super) fn bands(text: &str) -> Result<Bands, String> {
    let expected = || "expected bands times rows, such as 21x6".to_string();
    let (bands, rows) = text.split_once(['x', '×']).ok_or_else(expected)?;
    let number = |text: &str| text.trim().parse().map_err(|_| expected());
    Bands::new(number(bands)?, number(rows)?).map_err(|error| error.to_string())
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    match args.units.unit {
        UnitName::Document => {}
        UnitName::Line => return units::run(args, UnitKind::Line, out),
        UnitName::Paragraph => return units::run(args, UnitKind::Paragraph, out),
    }
    let mut settings = args.alike.settings(args.corpus.threads())?;
    settings.all_pairs = args.results.all_pairs;
    settings.measure = match args.results.measure {
        MeasureName::Jaccard => Measure::Jaccard,
        MeasureName::Containment => Measure::Containment,
    };
    let keep = args.results.keep(settings.measure)?;
    let linking = match args.results.linking {
        LinkingName::Chains => Linking::Chains,
        LinkingName::Kept => Linking::Kept,
    };
    if args.results.removed.is_some() && linking == Linking::Chains {
        bail!(
            "--removed: in chains a document may go without being compared with the one that stays; use --linking kept"
        );
    }
    if args.results.removed.is_some() && settings.fast {
        bail!(
            "--removed: lists exact similarities, and --fast only estimates them; leave one of the two out"
        );
    }
    if settings.measure == Measure::Containment && linking == Linking::Chains {
        bail!(
            "--measure containment: a document goes only if it stands in one that is kept; use --linking kept"
        );
    }
    let results = Results::prepare(args)?;
    let against = args.results.against.as_deref();
    let against = against.map(|folder| against::open(folder, &settings, out)).transpose()?;
    let corpus = args.corpus.open(out)?;
    if let Some(path) = &args.results.work {
        let identity = corpus.identity(&args.corpus).context("--work")?;
        settings.work = Some(WorkFolder { path: path.clone(), identity });
    }
    warn_of_little_memory(&corpus, settings.memory, out);
    let watch = SearchProgress::new(&corpus, out);
    let found = near_duplicates(&corpus, &settings, &watch).map_err(explained)?;
    drop(watch);
    corpus.ensure_read()?;
    corpus.set_stage("writing");
    let known = against.as_ref().map(|index| KnownDocuments::find(index, &corpus, &settings));
    let (known, has_index) = (known.transpose()?.unwrap_or_default(), against.is_some());
    let is_known = |member| known.contains(found.place(member));
    let clusters = Clusters::of_unknown(&found, linking, keep, &is_known).map_err(explained)?;
    let same_ids = results.write(&corpus, &found, &clusters, &known)?;
    if same_ids > 0 {
        let lines = output::count(same_ids);
        out.warn(format_args!(
            "{lines} lines of the lists name two documents by the same id: --id chooses a field that is different for each"
        ));
    }
    settings.work.as_ref().map_or(Ok(()), WorkFolder::clear).map_err(explained)?;
    let mut report = report(&corpus, &settings, &found, &clusters);
    if has_index {
        let stays = |place| found.member_at(place).is_some_and(|member| clusters.keeps(member));
        let more = known.iter().filter(|(place, _)| stays(*place)).count();
        report.kept -= more;
        report.removed += more;
        let without = Clusters::of(&found, linking, keep).map_err(explained)?.kept_count();
        report.against = Some(without.saturating_sub(report.kept));
    }
    if args.results.json {
        out.json(&report)?;
    } else {
        print(&report, &found, &clusters, out);
    }
    Ok(ExitCode::SUCCESS)
}

/// Warns before the first pass if the documents will probably not fit into memory. The engine
/// refuses them if they do not.
fn warn_of_little_memory(corpus: &Corpus<'_>, memory: u64, out: &Output) {
    let documents = corpus.estimated_documents();
    let least = least_memory(documents);
    if least > memory {
        let bytes = |bytes: u64| output::bytes(usize::try_from(bytes).unwrap_or(usize::MAX));
        let (documents, memory, least) = (output::count(documents), bytes(memory), bytes(least));
        out.warn(format_args!(
            "about {documents} documents need at least --memory {least}, and {memory} are given"
        ));
    }
}

fn report(corpus: &Corpus<'_>, settings: &Settings, found: &Found, clusters: &Clusters) -> DedupReport {
    let sizes = clusters.sizes();
    let kept = clusters.kept_count();
    let has_bands = found.measure() == Measure::Jaccard;
    DedupReport {
        documents: found.documents(),
        kept,
        too_short: found.too_short(),
        skipped: corpus.skipped(),
        clusters: sizes.len(),
        largest_cluster: sizes.first().map_or(found.documents().min(1), |&(_, size)| size),
        pairs: found.pairs(),
        expected_missed: found.expected_missed().into(),
        measure: if has_bands { "jaccard" } else { "containment" },
        bands: if has_bands { found.bands().bands() } else { 0 },
        rows_per_band: if has_bands { found.bands().rows() } else { 0 },
        hashes: if has_bands { settings.hashes } else { 0 },
        not_listed: found.not_listed().into(),
        removed: found.documents() as usize - kept,
        compared: found.compared(),
        bytes_read: corpus.bytes_read(),
        bytes_spilled: found.spilled(),
        against: None,
    }
}

/// Prints the summary to standard error, because the documents may be on standard output.
fn print(report: &DedupReport, found: &Found, clusters: &Clusters, out: &Output) {
    let count = |number: usize| output::count(number as u64);
    let documents = count(report.documents as usize);
    out.tell(format_args!("{} of {documents} documents kept", count(report.kept)));
    if let Some(known) = report.against {
        out.tell(format_args!("{} more are like documents of the index, and were dropped", count(known)));
    }
    out.tell(format_args!("{} clusters, {} pairs", count(report.clusters), output::count(report.pairs)));
    let largest: Vec<String> =
        clusters.sizes().iter().take(3).map(|&(_, size)| count(size as usize)).collect();
    if !largest.is_empty() {
        out.tell(format_args!("largest clusters: {} documents", largest.join(", ")));
    }
    if report.not_listed.upper > 0.0 {
        let [value, lower, upper] =
            [report.not_listed.value, report.not_listed.lower, report.not_listed.upper]
                .map(|pairs| output::count(pairs as u64));
        out.tell(format_args!(
            "{value} more pairs ({lower} to {upper}) of very large clusters are not listed: --all-pairs lists them"
        ));
    }
    if report.too_short > 0 {
        let short = output::count(report.too_short);
        out.tell(format_args!("{short} too short for one shingle: kept, unless the same byte for byte"));
    }
    if report.skipped > 0 {
        out.tell(format_args!("{} records without a text kept as they are", output::count(report.skipped)));
    }
    let missed = found.expected_missed();
    let (value, upper) =
        (output::count(missed.value().round() as u64), output::count(missed.upper().ceil() as u64));
    let how = match found.measure() {
        Measure::Jaccard => format!("{} bands of {}", report.bands, report.rows_per_band),
        Measure::Containment => "by containment".into(),
    };
    out.tell(format_args!("about {value} pairs missed, at most {upper} (95 % sure); {how}"));
    let bytes = |bytes: u64| output::bytes(usize::try_from(bytes).unwrap_or(usize::MAX));
    let (read, spilled) = (bytes(report.bytes_read), bytes(report.bytes_spilled));
    let compared = output::count(report.compared);
    out.tell(format_args!("{read} read, {spilled} spilled, {compared} pairs compared"));
}
