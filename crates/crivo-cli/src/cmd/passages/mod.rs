//! `crivo passages`: finds passages that occur in two places, and writes a copy without them.

mod page;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use clap::{ValueEnum, value_parser};
use crivo_near::{
    Cut, PassageSettings, Passages, Stage, Watch, WorkFolder, count_words, cut, repeated_passages,
};
use crivo_rows::Edit;
use serde::Serialize;

use super::Outcome;
use super::edited::EditedDocuments;
use crate::corpus::{Corpus, EditText, PlainCorpusArgs, explained};
use crate::interrupt;
use crate::output::{self, Output};
use crate::sizes::memory_size;
use crate::store::{Destination, Filled, publish};

/// Find passages that stand in two places, and cut the later ones
///
/// Finds every run of at least --min-words words that stands in an earlier document too, word for
/// word, whatever stands between the words. Complete by construction: any shared run of at least
/// w + k - 1 words has a common anchor (winnowing: the smallest of w consecutive hashes of k words
/// each), and --min-words is w + k - 1. Every passage is a maximal run.
///
/// The first occurrence stays. Later ones are cut from the text, and every byte around the cut
/// stays as it is. Documents are written to -o, or to standard output unless --json or --cut none
/// is given. Texts in scripts without blanks (Chinese, Japanese, Thai, …) are compared by
/// characters.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo passages crawl.jsonl -o clean.jsonl --report passages.tsv
  crivo passages 'shards/*.parquet' --field body --cut paragraph --min-left 20 -o clean.parquet
  crivo passages site/ --within --min-count 10 --cut none --report boilerplate.tsv --json
  crivo passages crawl.jsonl -o clean.jsonl --work /scratch/run1 --memory 2G")]
pub(crate) struct Args {
    #[command(flatten)]
    corpus: PlainCorpusArgs,

    /// The words of the shortest passage: 8 to 50000
    #[arg(long, value_name = "N", default_value = "50")]
    min_words: usize,

    /// Also find what stands twice in one document
    #[arg(long)]
    within: bool,

    /// How often a passage has to stand in the collection
    #[arg(long, value_name = "N", default_value = "2", value_parser = value_parser!(u32).range(2..))]
    min_count: u32,

    /// What is cut where a passage stands again
    #[arg(long, value_enum, default_value = "words")]
    cut: CutName,

    /// Drop documents that were cut and have fewer words left
    #[arg(long, value_name = "N", default_value = "0")]
    min_left: usize,

    /// Write the documents to this file, whose name may choose another format (.jsonl, .parquet,
    /// .csv, .tsv) and compression (.gz, .zst, .xz); for folders, to this folder
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// Write a line for each repeated passage, separated by tabs: document id, start and end, then
    /// document id, start and end of its first occurrence (positions are bytes of the text)
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Write a page with the passages that cost most bytes: how often, where, and what stands
    /// around them
    #[arg(id = "page", long = "html", value_name = "FILE")]
    page: Option<PathBuf>,

    /// About how much memory to use; words and anchors go to a temporary file
    #[arg(long, value_name = "SIZE", value_parser = memory_size, default_value = "256M")]
    memory: u64,

    /// Keep finished stages in this folder: a run that was killed continues with the same command
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// What is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum CutName {
    /// The words of the passage
    Words,
    /// The sentences it is in
    Sentence,
    /// The paragraphs it is in
    Paragraph,
    /// The whole document
    #[value(alias = "whole-document")]
    Document,
    /// Nothing
    None,
}

impl From<CutName> for Cut {
    fn from(name: CutName) -> Self {
        match name {
            CutName::Words => Self::Words,
            CutName::Sentence => Self::Sentence,
            CutName::Paragraph => Self::Paragraph,
            CutName::Document => Self::Document,
            CutName::None => Self::None,
        }
    }
}

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct PassagesReport {
    documents: u64,
    passages: u64,
    bytes: u64,
    bytes_repeated: u64,
    documents_changed: u64,
    guaranteed_words: usize,
    skipped: u64,
    spilled: u64,
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let corpus_args = &args.corpus.0;
    let mut settings = PassageSettings {
        min_words: args.min_words,
        within: args.within,
        min_count: args.min_count,
        memory: args.memory,
        threads: corpus_args.threads(),
        ..PassageSettings::default()
    };
    settings.winnow()?;
    let prints = !args.json && args.cut != CutName::None;
    let mut files = corpus_args.used_files();
    let documents = EditedDocuments::prepare(args.output.as_deref(), prints, corpus_args, &mut files)?;
    let changes_texts = !matches!(args.cut, CutName::Document | CutName::None);
    if corpus_args.is_html() && documents.is_wanted() && changes_texts {
        bail!(
            "--from-html: what a reader sees has no place in the page that could be cut: use --cut document or none"
        );
    }
    let report = files.optional_output(args.report.as_ref())?;
    let page = files.optional_output(args.page.as_ref())?;
    let corpus = corpus_args.open(out)?;
    if let Some(path) = &args.work {
        let identity = corpus.identity(corpus_args).context("--work")?;
        settings.work = Some(WorkFolder { path: path.clone(), identity });
    }
    let found = repeated_passages(&corpus, &settings, &PassageProgress(&corpus)).map_err(explained)?;
    corpus.set_stage("writing");
    // No file gets its name before all of them are written.
    let mut lists = Vec::new();
    if let Some(file) = &report {
        lists.push(write_report(file, &corpus, &found)?);
    }
    if let Some(file) = &page {
        let page = page::page(&corpus, &found)?;
        lists.push(file.fill(|to| Ok(to.write_all(page.as_bytes())?))?);
    }
    if documents.is_wanted() {
        let wanted = has_passages(&found, args.cut.into());
        documents.write(&corpus, &wanted, &cutter(&found, args.cut.into(), args.min_left))?;
    }
    publish(lists)?;
    settings.work.as_ref().map_or(Ok(()), WorkFolder::clear).map_err(explained)?;
    let summary = PassagesReport {
        documents: found.documents(),
        passages: found.passages(),
        bytes: found.bytes(),
        bytes_repeated: found.bytes_repeated(),
        documents_changed: found.documents_with_passages(),
        guaranteed_words: found.guaranteed_words(),
        skipped: corpus.skipped(),
        spilled: found.spilled(),
    };
    if args.json {
        out.json(&summary)?;
    } else {
        print(&summary, out);
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns a function that says whether a document has passages to cut.
fn has_passages(found: &Passages, what: Cut) -> impl Fn(u64) -> bool + Sync {
    let lookups = Mutex::new(Vec::new());
    move |place| {
        if what == Cut::None {
            return false;
        }
        let taken = lookups.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut lookup = taken.unwrap_or_else(|| found.lookup());
        // If the document cannot be looked up, cutting its text reports the error.
        let has_some = lookup.ranges(place).map_or(true, |ranges| !ranges.is_empty());
        lookups.lock().unwrap_or_else(PoisonError::into_inner).push(lookup);
        has_some
    }
}

/// Returns an edit that cuts the passages out of each text.
fn cutter(found: &Passages, what: Cut, min_left: usize) -> Box<EditText<'_>> {
    // Each thread takes a lookup of its own, because a lookup remembers its position in the
    // collection.
    let lookups = Mutex::new(Vec::new());
    Box::new(move |place, text, new| {
        let taken = lookups.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut lookup = taken.unwrap_or_else(|| found.lookup());
        let ranges = lookup.ranges(place).map_err(explained)?;
        let edit = if ranges.is_empty() || what == Cut::None {
            Edit::Keep
        } else {
            cut(text, ranges, what, new);
            if what == Cut::Document || count_words(new) < min_left { Edit::Drop } else { Edit::Replace }
        };
        lookups.lock().unwrap_or_else(PoisonError::into_inner).push(lookup);
        Ok(edit)
    })
}

/// Writes the report, without giving it its name.
fn write_report<'a>(file: &'a Destination, corpus: &Corpus<'_>, found: &Passages) -> Result<Filled<'a>> {
    let mut names = corpus.names(&|_| true)?;
    file.fill(|to| {
        let mut put = |passage: crivo_near::Passage| -> Result<()> {
            names.put(passage.place, to)?;
            write!(to, "\t{}\t{}\t", passage.start, passage.end)?;
            names.put(passage.first_place, to)?;
            writeln!(to, "\t{}\t{}", passage.first_start, passage.first_end)?;
            Ok(())
        };
        let written = found
            .for_each(|passage| put(passage).map_err(|error| crivo_near::Error::Documents(error.into())));
        written.map_err(explained)
    })
}

/// Prints the summary to standard error, because the documents may be on standard output.
fn print(report: &PassagesReport, out: &Output) {
    let bytes = |bytes: u64| output::bytes(usize::try_from(bytes).unwrap_or(usize::MAX));
    out.tell(format_args!(
        "{} passages in {} of {} documents",
        output::count(report.passages),
        output::count(report.documents_changed),
        output::count(report.documents)
    ));
    let share = 100.0 * report.bytes_repeated as f64 / report.bytes.max(1) as f64;
    out.tell(format_args!(
        "{} of {} repeat what stood before ({share:.1} %)",
        bytes(report.bytes_repeated),
        bytes(report.bytes)
    ));
    out.tell(format_args!("every run of at least {} words was found", report.guaranteed_words));
    if report.skipped > 0 {
        out.tell(format_args!("{} records without a text kept as they are", output::count(report.skipped)));
    }
}

/// Shows the stages, and stops the search when the user interrupts it.
pub(super) struct PassageProgress<'a>(pub(super) &'a Corpus<'a>);

impl Watch for PassageProgress<'_> {
    fn begin(&self, stage: Stage) {
        self.0.set_stage(match stage {
            Stage::Signing => "1/3 reading",
            Stage::Pairing => "2/3 matching",
            Stage::Gathering | Stage::Comparing => "3/3 locating",
        });
    }

    fn stopped(&self) -> bool {
        interrupt::is_requested()
    }
}
