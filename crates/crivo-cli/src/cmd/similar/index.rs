// This file is long because the verbs of an index share its options and its settings.

//! `crivo similar index`: finds the documents of an index that are similar to given ones.

use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use crivo::similarity::Bands;
use crivo::similarity::shingle::Shingles;
use crivo_near::index::Match;
use crivo_near::{Documents, Index, Settings};
use serde::Serialize;

use super::super::Outcome;
use super::super::dedup::{AlikeArgs, bands};
use crate::args::share;
use crate::corpus::{Corpus, CorpusArgs, explained};
use crate::form::FormArgs;
use crate::output::{self, Cell, Form, Listing, Output};
use crate::sizes::memory_size;

/// An index on disk: add documents, and ask which of them others are like
///
/// The index is a file in a folder. Documents are added under their ids; one that has the id
/// already is replaced, unless it is the same. Every similarity is exact, as with crivo dedup.
/// Several processes can ask while one adds; a kill, or a power cut, loses nothing that was
/// committed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo similar index seen/ add monday.jsonl
  crivo similar index seen/ query tuesday.jsonl --threshold 0.9
  crivo similar index seen/ remove doc-17 doc-18
  crivo dedup tuesday.jsonl --against seen/ -o new.jsonl")]
pub(crate) struct Args {
    /// The folder of the index
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Add(AddArgs),
    Remove(RemoveArgs),
    Query(QueryArgs),
    Stats(StatsArgs),
    Check(CheckArgs),
}

/// Add documents; the first of them make the index
#[derive(Debug, clap::Args)]
struct AddArgs {
    #[command(flatten)]
    corpus: CorpusArgs,

    #[command(flatten)]
    made: MadeArgs,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// What an index is made with. Of one that is there, it has to be the same.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Settings of a new index")]
struct MadeArgs {
    /// The similarity that 99 % are found at [default: 0.8]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    threshold: Option<f64>,

    /// What is compared: words:N, chars:N, or stopwords [default: words:5]
    #[arg(long, value_name = "KIND")]
    shingle: Option<Shingles>,

    /// Stop words of your own, one a line, for --shingle stopwords
    #[arg(long, value_name = "FILE")]
    stop_words: Option<PathBuf>,

    /// Bring texts to Unicode's normal form C before they are compared
    #[arg(long)]
    nfc: bool,

    /// The length of a signature [default: 128]
    #[arg(long, value_name = "K")]
    hashes: Option<u32>,

    /// How to cut the signature, bands times rows [default: found from the threshold]
    #[arg(long, value_name = "BxR", value_parser = bands)]
    bands: Option<Bands>,

    /// The seed of every hash [default: 0]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

/// Remove documents by their ids; exit code 1 if one was not there
#[derive(Debug, clap::Args)]
struct RemoveArgs {
    /// The ids
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// Which documents of the index is each of these like: id, id in the index, similarity
#[derive(Debug, clap::Args)]
struct QueryArgs {
    #[command(flatten)]
    corpus: CorpusArgs,

    /// From which similarity on: above 0, at most 1 [default: that of the index]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    threshold: Option<f64>,

    /// About how much memory to use; what does not fit goes to a temporary file
    #[arg(long, value_name = "SIZE", value_parser = memory_size, default_value = "2G")]
    memory: u64,

    #[command(flatten)]
    form: FormArgs,
}

/// What the index holds, and what it was made with
#[derive(Debug, clap::Args)]
struct StatsArgs {
    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// Read the whole index and make sure that nothing is damaged
#[derive(Debug, clap::Args)]
struct CheckArgs {}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    match &args.action {
        Action::Add(add) => add.run(&args.folder, out),
        Action::Remove(remove) => remove.run(&args.folder, out),
        Action::Query(query) => query.run(&args.folder, out),
        Action::Stats(stats) => stats.run(&args.folder, out),
        Action::Check(_) => {
            let mut index = Index::open(&args.folder).map_err(explained)?;
            index.check().map_err(explained)?;
            let documents = output::count(index.stats().map_err(explained)?.documents);
            out.remark(format_args!("{documents} documents, nothing damaged"))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

// ---- add ----

#[derive(Debug, Serialize)]
struct AddReport {
    added: u64,
    replaced: u64,
    unchanged: u64,
    skipped: u64,
    documents: u64,
}

impl AddArgs {
    fn run(&self, folder: &Path, out: &Output) -> Outcome {
        let settings = self.made.settings(folder)?;
        let corpus = self.corpus.open(out)?;
        let names = Names::of_all(&corpus)?;
        let mut index = Index::open_or_create(folder, &settings).map_err(explained)?;
        let before = index.stats().map_err(explained)?.documents;
        let added = index.add_all(&corpus, &|place| names.of(place).map(Some));
        let documents = index.stats().map_err(explained)?.documents;
        if added.is_err() && documents > before {
            let more = output::count(documents - before);
            out.warn(format_args!("{more} documents were added before: add again, and they are left alone"));
        }
        let changes = added.map_err(explained)?;
        if matches!(names, Names::Numbers(_)) && changes.replaced > 0 {
            out.warn("there are no ids: documents took the place of others with the same number; name a field with --id");
        }
        let report = AddReport {
            added: changes.added,
            replaced: changes.replaced,
            unchanged: changes.unchanged,
            skipped: corpus.skipped(),
            documents,
        };
        if self.json {
            out.json(&report)?;
        } else {
            let [added, replaced, unchanged, documents] =
                [report.added, report.replaced, report.unchanged, documents].map(output::count);
            out.remark(format_args!(
                "{added} added, {replaced} replaced, {unchanged} unchanged; {documents} documents in the index"
            ))?;
            if report.skipped > 0 {
                out.tell(format_args!("{} records left out", output::count(report.skipped)));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl MadeArgs {
    /// Returns the requested settings. Others are those of the index, or the defaults in a new
    /// index.
    fn settings(&self, folder: &Path) -> Result<Settings> {
        let base = if Index::is_in(folder) {
            Index::open(folder).map_err(explained)?.settings().clone()
        } else {
            Settings::default()
        };
        let (threshold, hashes) =
            (self.threshold.unwrap_or(base.threshold), self.hashes.unwrap_or(base.hashes));
        let same = (threshold, hashes) == (base.threshold, base.hashes);
        let alike = AlikeArgs {
            threshold,
            shingle: self.shingle.clone().unwrap_or(base.shingles),
            stop_words: self.stop_words.clone(),
            nfc: self.nfc || base.nfc,
            hashes,
            bands: self.bands.or(base.bands.filter(|_| same)),
            fast: false,
            memory: base.memory,
        };
        Ok(Settings { seed: self.seed.unwrap_or(base.seed), ..alike.settings(0)? })
    }
}

// ---- remove ----

#[derive(Debug, Serialize)]
struct RemoveReport<'a> {
    removed: u64,
    missing: Vec<&'a str>,
}

impl RemoveArgs {
    fn run(&self, folder: &Path, out: &Output) -> Outcome {
        let mut index = Index::open(folder).map_err(explained)?;
        let (mut writer, mut missing) = (index.writer(), Vec::new());
        for id in &self.ids {
            if !writer.remove(id.as_bytes()).map_err(explained)? {
                missing.push(id.as_str());
            }
        }
        let removed = writer.finish().map_err(explained)?.removed;
        let code = if missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) };
        if self.json {
            out.json(&RemoveReport { removed, missing })?;
        } else {
            missing.iter().for_each(|id| out.warn(format_args!("{id}: there is no such document")));
            out.remark(format_args!("{} removed", output::count(removed)))?;
        }
        Ok(code)
    }
}

// ---- query ----

#[derive(Debug, Serialize)]
struct QueryReport<'a> {
    queries: u64,
    skipped: u64,
    matches: Vec<MatchReport<'a>>,
}

#[derive(Debug, Serialize)]
struct MatchReport<'a> {
    query: Cow<'a, str>,
    id: Cow<'a, str>,
    similarity: f64,
}

impl QueryArgs {
    fn run(&self, folder: &Path, out: &Output) -> Outcome {
        let index = Index::open(folder).map_err(explained)?;
        let threshold = self.threshold.unwrap_or(index.settings().threshold);
        warn_if_few_are_found(&index, threshold, out)?;
        let corpus = self.corpus.open(out)?;
        let answers = index.query_all(&corpus, threshold, self.memory, &|_| true).map_err(explained)?;
        let names = Names::of_answered(&corpus, &answers.found)?;
        let queries = answers.found.iter().map(|(place, _)| names.of(*place));
        let queries: Vec<Vec<u8>> = queries.collect::<Result<_, _>>().map_err(explained)?;
        let matches = || {
            answers.found.iter().zip(&queries).flat_map(|((_, found), query)| {
                found.iter().map(move |found| (query, &found.id, found.similarity))
            })
        };
        let form = self.form.get();
        if !matches!(form, Form::Json | Form::Table) {
            let mut listing = Listing::named(["query", "id", "similarity"]);
            for (query, id, similarity) in matches() {
                listing.push([
                    ("query", Cell::Text(output::key_text(query))),
                    ("id", Cell::Text(output::key_text(id))),
                    ("similarity", Cell::Number(similarity)),
                ]);
            }
            out.listing(&listing, form)?;
        } else if form == Form::Json {
            let text = |bytes: &[u8]| Cow::Owned(String::from_utf8_lossy(bytes).into_owned());
            let matches = matches().map(|(query, id, similarity)| MatchReport {
                query: text(query),
                id: text(id),
                similarity,
            });
            let report =
                QueryReport { queries: answers.asked, skipped: corpus.skipped(), matches: matches.collect() };
            out.json(&report)?;
        } else {
            let mut lines = std::io::BufWriter::new(output::rows());
            for (query, id, similarity) in matches() {
                lines.write_all(query)?;
                lines.write_all(b"\t")?;
                lines.write_all(id)?;
                writeln!(lines, "\t{similarity}")?;
            }
            lines.flush()?;
            let [alike, queries] = [answers.found.len() as u64, answers.asked].map(output::count);
            out.tell(format_args!("{alike} of {queries} documents are like one in the index"));
        }
        Ok(if answers.found.is_empty() { ExitCode::from(1) } else { ExitCode::SUCCESS })
    }
}

/// Warns if the threshold is below that of the index, because bands for a higher similarity miss
/// more pairs at a lower one.
pub(in crate::cmd) fn warn_if_few_are_found(index: &Index, threshold: f64, out: &Output) -> Result<()> {
    if !(threshold > 0.0 && threshold <= 1.0) {
        bail!("--threshold {threshold}: expected above 0 and at most 1");
    }
    let settings = index.settings();
    if threshold < settings.threshold {
        let share = output::percent(settings.bands().map_err(explained)?.probability(threshold));
        out.warn(format_args!(
            "the index was made for a similarity of {}: of those at {threshold} it finds {share}",
            settings.threshold
        ));
    }
    Ok(())
}

// ---- stats ----

#[derive(Debug, Serialize)]
struct StatsReport {
    documents: u64,
    too_short: u64,
    bytes: u64,
    /// The size on disk, sets and names included.
    bytes_per_document: f64,
    threshold: f64,
    shingle: String,
    seed: u64,
    hashes: u32,
    bands: u32,
    rows_per_band: u32,
}

impl StatsArgs {
    fn run(&self, folder: &Path, out: &Output) -> Outcome {
        let index = Index::open(folder).map_err(explained)?;
        let (stats, settings) = (index.stats().map_err(explained)?, index.settings());
        let bands = settings.bands().map_err(explained)?;
        let report = StatsReport {
            documents: stats.documents,
            too_short: stats.too_short,
            bytes: stats.bytes,
            bytes_per_document: stats.bytes as f64 / stats.documents.max(1) as f64,
            threshold: settings.threshold,
            shingle: settings.shingles.to_string(),
            seed: settings.seed,
            hashes: settings.hashes,
            bands: bands.bands(),
            rows_per_band: bands.rows(),
        };
        if self.json {
            out.json(&report)?;
            return Ok(ExitCode::SUCCESS);
        }
        out.answer(output::count(report.documents), "documents")?;
        let on_disk = output::bytes(usize::try_from(report.bytes).unwrap_or(usize::MAX));
        let each = output::count(report.bytes_per_document.round() as u64);
        out.table(&[
            ("too short for a shingle", output::count(report.too_short)),
            ("on disk", format!("{on_disk}, {each} bytes a document")),
            ("threshold", report.threshold.to_string()),
            ("shingles", report.shingle),
            ("hashes", format!("{}, seed {}", report.hashes, report.seed)),
            ("bands", format!("{} of {} rows", report.bands, report.rows_per_band)),
        ])?;
        Ok(ExitCode::SUCCESS)
    }
}

// ---- names ----

/// The names of documents, by their places.
enum Names<'a> {
    /// The number of the record, from 1.
    Numbers(&'a Corpus<'a>),
    Ids(Vec<(u64, Vec<u8>)>),
}

impl<'a> Names<'a> {
    /// Returns the names of all documents. Duplicate names are an error, because a name identifies
    /// one document in an index.
    fn of_all(corpus: &'a Corpus<'a>) -> Result<Self> {
        let Some(ids) = corpus.ids(&|_| true)? else {
            // Record numbers are known after the records were read.
            corpus.read(&|| (), &|(), _, _| Ok(())).map_err(explained)?;
            return Ok(Self::Numbers(corpus));
        };
        let mut sorted: Vec<&[u8]> = ids.iter().map(|(_, id)| id.as_slice()).collect();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|two| two[0] == two[1]) {
            let id = String::from_utf8_lossy(twice[0]);
            bail!(
                "two documents have the id {id:?}: in an index it names one; another field can be named with --id"
            );
        }
        Ok(Self::Ids(ids))
    }

    /// Returns the names of the documents that have matches.
    fn of_answered(corpus: &'a Corpus<'a>, answers: &[(u64, Vec<Match>)]) -> Result<Self> {
        let is_wanted = |place: u64| answers.binary_search_by_key(&place, |(place, _)| *place).is_ok();
        Ok(corpus.ids(&is_wanted)?.map_or(Self::Numbers(corpus), Self::Ids))
    }

    /// Returns the name of the document at a place. Only a document that was not there when the
    /// names were read has none.
    fn of(&self, place: u64) -> crivo_near::Result<Vec<u8>> {
        let name = match self {
            Self::Numbers(corpus) => {
                corpus.record_number(place).map(|number| number.to_string().into_bytes())
            }
            Self::Ids(ids) => {
                ids.binary_search_by_key(&place, |(place, _)| *place).ok().map(|at| ids[at].1.clone())
            }
        };
        name.ok_or(crivo_near::Error::Changed)
    }
}
