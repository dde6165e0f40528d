//! `crivo dedup --unit line|paragraph`: removes repeated units from documents.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::bail;
use clap::{ValueEnum, value_parser};
use crivo::Estimate;
use crivo_near::{Documents, FrequentUnit, RepeatedUnits, UnitKind, UnitSettings, UnitsLeft, repeated_units};
use crivo_rows::Edit;
use serde::Serialize;

use super::Args;
use crate::cmd::Outcome;
use crate::cmd::edited::EditedDocuments;
use crate::corpus::explained;
use crate::output::{self, Interval, Output};

/// What is compared as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum UnitName {
    /// Documents, by their similarity
    Document,
    /// Paragraphs that are the same, up to an empty line
    Paragraph,
    /// Lines that are the same
    Line,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum IgnoreName {
    /// Upper and lower case
    Case,
    /// How many blanks there are, and those at either end
    Blanks,
    /// Which digits a number has
    Digits,
}

/// Repeated lines and paragraphs.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Lines and paragraphs")]
pub(crate) struct UnitArgs {
    /// What is compared: whole documents by similarity, or lines or paragraphs that are the same
    #[arg(long, value_enum, default_value = "document")]
    pub(super) unit: UnitName,

    /// How many occurrences of a line or paragraph stay
    #[arg(long, value_name = "N", default_value = "1", value_parser = value_parser!(u64).range(1..))]
    max_repeats: u64,

    /// Lines or paragraphs of fewer bytes always stay
    #[arg(long, value_name = "BYTES", default_value = "1")]
    min_length: usize,

    /// What makes no difference between lines or paragraphs
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT")]
    ignore: Vec<IgnoreName>,

    /// Write the most frequent lines or paragraphs: count, id of the first document, text
    #[arg(long, value_name = "FILE")]
    most_frequent: Option<PathBuf>,
}

/// The number of the most frequent units that are shown.
const SHOWN: usize = 5;

/// The number of the most frequent units that are written.
const WRITTEN: usize = 1000;

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct UnitReport {
    documents: u64,
    /// The documents with at least one unit left.
    kept: u64,
    skipped: u64,
    units: u64,
    #[serde(flatten)]
    search: NoSearch,
    removed: u64,
    bytes: u64,
    bytes_removed: u64,
    documents_changed: u64,
    most_frequent: Vec<ShownUnit>,
}

/// The fields about the search for similar documents. Repeated units are found without one: no
/// documents are compared with each other, and no unit is missed.
#[derive(Debug, Serialize)]
struct NoSearch {
    too_short: u64,
    clusters: u64,
    /// As for any collection without clusters: 1 if there is a document.
    largest_cluster: u64,
    pairs: u64,
    expected_missed: Interval,
    bands: u32,
    rows_per_band: u32,
    hashes: u32,
}

impl NoSearch {
    fn among(documents: u64) -> Self {
        Self {
            too_short: 0,
            clusters: 0,
            largest_cluster: documents.min(1),
            pairs: 0,
            expected_missed: Estimate::exact(0.0).into(),
            bands: 0,
            rows_per_band: 0,
            hashes: 0,
        }
    }
}

#[derive(Debug, Serialize)]
struct ShownUnit {
    count: u64,
    text: String,
}

/// Counts of the changes.
#[derive(Default)]
struct Tally {
    removed: AtomicU64,
    changed: AtomicU64,
    emptied: AtomicU64,
}

pub(super) fn run(args: &Args, kind: UnitKind, out: &Output) -> Outcome {
    let results = &args.results;
    for (given, option) in [
        (results.pairs.is_some(), "--pairs"),
        (results.clusters.is_some(), "--clusters"),
        (results.removed.is_some(), "--removed"),
        (results.against.is_some(), "--against"),
        (results.work.is_some(), "--work"),
        (args.corpus.is_html(), "--html"),
    ] {
        if given {
            bail!("{option}: only --unit document has it");
        }
    }
    let units = &args.units;
    let settings = UnitSettings {
        kind,
        max_repeats: units.max_repeats,
        min_length: units.min_length,
        ignore_case: units.ignore.contains(&IgnoreName::Case),
        ignore_blanks: units.ignore.contains(&IgnoreName::Blanks),
        ignore_digits: units.ignore.contains(&IgnoreName::Digits),
        most_frequent: if units.most_frequent.is_some() { WRITTEN } else { SHOWN },
        memory: args.alike.memory,
        threads: args.corpus.threads(),
    };
    let prints = !(results.json || results.dry_run);
    let mut files = args.corpus.used_files();
    let documents = EditedDocuments::prepare(results.output.as_deref(), prints, &args.corpus, &mut files)?;
    let frequent = files.optional_output(units.most_frequent.as_ref())?;
    let corpus = args.corpus.open(out)?;
    corpus.set_stage("1/2 reading");
    let found = repeated_units(&corpus, &settings).map_err(explained)?;
    corpus.set_stage("2/2 writing");
    let tally = Tally::default();
    let is_wanted = changed_documents(&found);
    let (lookups, frequent_texts) = (Mutex::new(Vec::new()), FrequentTexts::new(&found));
    let cut = |place: u64, text: &[u8], new: &mut Vec<u8>| {
        let taken = lookups.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut lookup = taken.unwrap_or_else(|| found.lookup());
        let left = lookup.cut(place, text, new)?;
        lookups.lock().unwrap_or_else(PoisonError::into_inner).push(lookup);
        frequent_texts.take(place, text);
        if left == UnitsLeft::All {
            return Ok(Edit::Keep);
        }
        tally.removed.fetch_add((text.len() - new.len()) as u64, Ordering::Relaxed);
        tally.changed.fetch_add(1, Ordering::Relaxed);
        tally.emptied.fetch_add(u64::from(left == UnitsLeft::None), Ordering::Relaxed);
        Ok(if left == UnitsLeft::None { Edit::Drop } else { Edit::Replace })
    };
    if documents.is_wanted() {
        let wanted = |place| is_wanted(place) || frequent_texts.has_one_of(place);
        documents.write(&corpus, &wanted, &|place, text, new| cut(place, text, new).map_err(explained))?;
    } else {
        let read = corpus.read(&Vec::new, &|new, place, text| cut(place, text, new).map(drop));
        read.map_err(explained)?;
    }
    let shown = frequent_texts.finish();
    if let Some(file) = &frequent {
        let mut names = corpus.names(&|place| found.most_frequent.iter().any(|unit| unit.place == place))?;
        file.write_with(|to| {
            for (unit, text) in &shown {
                write!(to, "{}\t", unit.count)?;
                names.put(unit.place, to)?;
                writeln!(to, "\t{}", text.replace(['\t', '\n', '\r'], " "))?;
            }
            Ok(())
        })?;
    }
    let get = |number: &AtomicU64| number.load(Ordering::Relaxed);
    let report = UnitReport {
        documents: found.documents,
        kept: found.documents - get(&tally.emptied),
        skipped: corpus.skipped(),
        units: found.units,
        search: NoSearch::among(found.documents),
        removed: found.repeated,
        bytes: found.bytes,
        bytes_removed: get(&tally.removed),
        documents_changed: get(&tally.changed),
        most_frequent: (shown.into_iter().take(SHOWN))
            .map(|(unit, text)| ShownUnit { count: unit.count, text })
            .collect(),
    };
    if results.json {
        out.json(&report)?;
    } else {
        print(&report, kind, out);
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns a function that says whether some units of a document are removed.
fn changed_documents(found: &RepeatedUnits) -> impl Fn(u64) -> bool + Sync {
    let lookups = Mutex::new(Vec::new());
    move |place| {
        let taken = lookups.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut lookup = taken.unwrap_or_else(|| found.lookup());
        // If a document cannot be looked up, cutting its text reports the error.
        let changes = lookup.changes(place).unwrap_or(true);
        lookups.lock().unwrap_or_else(PoisonError::into_inner).push(lookup);
        changes
    }
}

/// The texts of the most frequent units, which are collected while documents are cut.
struct FrequentTexts<'a> {
    found: &'a RepeatedUnits,
    /// The places of the documents with the first occurrence of a unit, in ascending order, each
    /// with the index of the unit.
    places: Vec<(u64, usize)>,
    texts: Mutex<Vec<String>>,
}

impl<'a> FrequentTexts<'a> {
    fn new(found: &'a RepeatedUnits) -> Self {
        let units = found.most_frequent.iter().enumerate();
        let mut places: Vec<(u64, usize)> = units.map(|(at, unit)| (unit.place, at)).collect();
        places.sort_unstable();
        Self { found, places, texts: Mutex::new(vec![String::new(); found.most_frequent.len()]) }
    }

    /// Returns true if this document has the first occurrence of a unit.
    fn has_one_of(&self, place: u64) -> bool {
        self.places.binary_search_by_key(&place, |known| known.0).is_ok()
    }

    /// Stores the texts of the units whose first occurrence is in this document.
    fn take(&self, place: u64, text: &[u8]) {
        let first = self.places.partition_point(|known| known.0 < place);
        for &(_, at) in self.places[first..].iter().take_while(|known| known.0 == place) {
            let unit = self.found.unit_of(text, self.found.most_frequent[at].number).unwrap_or_default();
            let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
            texts[at] = String::from_utf8_lossy(unit).into_owned();
        }
    }

    /// Returns the units with their texts, the most frequent first.
    fn finish(self) -> Vec<(FrequentUnit, String)> {
        let texts = self.texts.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.found.most_frequent.iter().copied().zip(texts).collect()
    }
}

fn print(report: &UnitReport, kind: UnitKind, out: &Output) {
    let name = if kind == UnitKind::Line { "lines" } else { "paragraphs" };
    let (count, bytes) =
        (output::count, |bytes: u64| output::bytes(usize::try_from(bytes).unwrap_or(usize::MAX)));
    out.tell(format_args!("{} of {} {name} removed", count(report.removed), count(report.units)));
    out.tell(format_args!(
        "{} of {} removed, from {} of {} documents; {} have nothing left and were dropped",
        bytes(report.bytes_removed),
        bytes(report.bytes),
        count(report.documents_changed),
        count(report.documents),
        count(report.documents - report.kept)
    ));
    for unit in &report.most_frequent {
        let text: String = unit.text.chars().take(60).map(|c| if c.is_control() { ' ' } else { c }).collect();
        out.tell(format_args!("{:>10} × {text}", count(unit.count)));
    }
}
