//! Collections of documents: records of files with a field of text, or folders with a file each.
//!
//! Commands that compare documents read them more than once, and ask for three things: every text
//! with a place that names it ([`Documents`]), the ids of some, and a copy of those that stay. A
//! record without a text is no document: it is counted as skipped, and stays in every copy.

mod files;
mod folder;
mod names;
mod rows;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use crivo_near::{Documents, TakeText};
use crivo_rows::{Edit, Format, Input};

pub(crate) use self::files::InputFiles;
pub(crate) use self::folder::FolderCorpus;
use self::names::IdReader;
pub(crate) use self::rows::{RowCorpus, first_record};
use crate::interrupt::Interrupted;
use crate::layout_args::LayoutArgs;
use crate::output::{Output, RunStage};
use crate::store::Destination;

/// The field that a text is taken from, and the one with its name, unless options say otherwise.
const TEXT_FIELD: &str = "text";
const ID_FIELD: &str = "id";

/// Which documents to read.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Input")]
#[command(
    mut_arg("files", |files| files.value_name("INPUT").help(
        "Files or patterns of JSONL, Parquet, CSV, TSV or lines; folders, where each file is a document; standard input \
         if none, or -",
    )),
    mut_arg("field", |field| field.help(
        "The field with the text, by name or number; in JSON, a.b is a field of an object [default: text; for lines the \
         whole line]",
    )),
    mut_arg("skip_bad", |skip_bad| skip_bad.help(
        "Count bad records, and those without the field, instead of stopping at the first; records whose text is empty or \
         null are always counted, and kept",
    ))
)]
pub(crate) struct CorpusArgs {
    #[command(flatten)]
    layout: LayoutArgs,

    /// The field with the document's id [default: id, if there is one; otherwise record numbers
    /// from 1, or the paths of files in folders]
    #[arg(long, value_name = "NAME|NUMBER")]
    id: Option<String>,

    /// The texts are HTML: compare what a reader would see
    #[arg(long)]
    html: bool,
}

/// The same where `--html` names a page to write: HTML texts are asked for with `--from-html`.
#[derive(Debug)]
pub(crate) struct PlainCorpusArgs(pub(crate) CorpusArgs);

impl clap::FromArgMatches for PlainCorpusArgs {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        CorpusArgs::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl Args for PlainCorpusArgs {
    fn augment_args(command: clap::Command) -> clap::Command {
        CorpusArgs::augment_args(command).mut_arg("html", |html| html.long("from-html"))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        CorpusArgs::augment_args_for_update(command).mut_arg("html", |html| html.long("from-html"))
    }
}

/// Given the place of a document, its text, and room for another text that takes its place.
pub(crate) type EditText<'e> = dyn Fn(u64, &[u8], &mut Vec<u8>) -> Result<Edit> + Sync + 'e;

/// The place of a document, and its id.
pub(crate) type Id = (u64, Vec<u8>);

/// A collection of documents that can be read again and again.
pub(crate) enum Corpus<'a> {
    Rows(Box<RowCorpus<'a>>),
    Folder(FolderCorpus<'a>),
}

impl CorpusArgs {
    /// The threads that were asked for; 0 if none were.
    pub(crate) fn threads(&self) -> usize {
        self.layout.threads()
    }

    /// Other files, read as these are; the fields of the text and of the id may be others.
    pub(crate) fn for_files(&self, files: &[PathBuf], field: Option<&String>, id: Option<&String>) -> Self {
        let mut others = self.clone();
        others.layout.files = files.to_vec();
        others.layout.format = None;
        others.layout.field = field.or(self.layout.field.as_ref()).cloned();
        others.id = id.cloned();
        others
    }

    /// Returns true if texts are HTML.
    pub(crate) fn is_html(&self) -> bool {
        self.html
    }

    /// A place for results, which must not be one of the files to read.
    pub(crate) fn output_beside(&self, path: &Path) -> Result<Destination> {
        self.layout.output_beside(path)
    }

    /// The files as they were named.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.layout.files
    }

    /// The documents, checked: every file is there, options fit each other.
    pub(crate) fn open<'a>(&'a self, out: &'a Output) -> Result<Corpus<'a>> {
        let LayoutArgs { files, field, format, delimiter, no_header, no_quotes, max_record, .. } =
            &self.layout;
        let folders = files.iter().filter(|path| path.is_dir()).count();
        if folders == 0 {
            let input = self.layout.laid_out(Input::from_args(files)?)?;
            return Ok(Corpus::Rows(Box::new(RowCorpus::new(input, self, out)?)));
        }
        if folders < files.len() {
            bail!("folders, whose files are documents, and files with records cannot be mixed: use two runs");
        }
        for (given, option) in [
            (field.is_some(), "--field"),
            (self.id.is_some(), "--id"),
            (format.is_some(), "--format"),
            (delimiter.is_some(), "--delimiter"),
            (*no_header, "--no-header"),
            (*no_quotes, "--no-quotes"),
            (max_record.is_some(), "--max-record"),
        ] {
            if given {
                bail!("{option}: in a folder each whole file is a document, and its path the id");
            }
        }
        Ok(Corpus::Folder(FolderCorpus::new(files, self, out)?))
    }
}

impl Corpus<'_> {
    /// How many records had no text, or could not be read, and were counted instead.
    pub(crate) fn skipped(&self) -> u64 {
        match self {
            Self::Rows(rows) => rows.skipped(),
            Self::Folder(folder) => folder.skipped(),
        }
    }

    /// Returns about how many documents there are, before anything is read.
    pub(crate) fn estimated_documents(&self) -> u64 {
        match self {
            Self::Rows(rows) => rows.estimated_records(),
            Self::Folder(folder) => folder.paths().len() as u64,
        }
    }

    /// Says what the next readings are for, which is shown beside their progress.
    pub(crate) fn set_stage(&self, stage: impl Into<RunStage>) {
        if let Self::Rows(rows) = self {
            rows.set_stage(stage);
        }
    }

    /// The bytes read so far, over all readings.
    pub(crate) fn bytes_read(&self) -> u64 {
        match self {
            Self::Rows(rows) => rows.bytes_read(),
            Self::Folder(folder) => folder.bytes_read(),
        }
    }

    /// What tells this collection from another: its files with their sizes and times, and how they
    /// are read.
    pub(crate) fn identity(&self, args: &CorpusArgs) -> Result<String> {
        let files = match self {
            Self::Rows(rows) => match rows.files() {
                Some(files) => files.to_string(),
                None => bail!("a pipe cannot be read again by a run that continues: name a file"),
            },
            Self::Folder(folder) => InputFiles::of(folder.paths().iter().map(PathBuf::as_path))?.to_string(),
        };
        let CorpusArgs { layout, html, .. } = args;
        let LayoutArgs { format, field, no_header, no_quotes, delimiter, skip_bad, .. } = layout;
        let options = format!("{format:?} {field:?} {no_header} {no_quotes} {delimiter:?} {html} {skip_bad}");
        Ok(format!("{files}options {options}\n"))
    }

    /// Reads everything if that has not happened yet, as in a run that continues another: records
    /// have numbers then, and those without a text are counted.
    pub(crate) fn ensure_read(&self) -> Result<()> {
        let has_read = match self {
            Self::Rows(rows) => rows.has_read(),
            Self::Folder(folder) => folder.bytes_read() > 0,
        };
        if !has_read {
            self.read(&|| (), &|(), _, _| Ok(())).map_err(explained)?;
        }
        Ok(())
    }

    /// Finds the names of the wanted documents for results.
    pub(crate) fn names(&self, wanted: &(dyn Fn(u64) -> bool + Sync)) -> Result<DocumentNames<'_>> {
        let ids = match self {
            Self::Rows(rows) => rows.id_file(wanted)?,
            Self::Folder(_) => None,
        };
        Ok(DocumentNames { corpus: self, ids })
    }

    /// The number of a record from 1, after a reading.
    pub(crate) fn record_number(&self, place: u64) -> Option<u64> {
        match self {
            Self::Rows(rows) => rows.record_number(place),
            Self::Folder(_) => Some(place + 1),
        }
    }

    /// The ids of the documents that are wanted, by their place, ascending.
    pub(crate) fn ids(&self, wanted: &(dyn Fn(u64) -> bool + Sync)) -> Result<Option<Vec<Id>>> {
        match self {
            Self::Rows(rows) => rows.ids(wanted),
            Self::Folder(folder) => Ok(Some(folder.ids(wanted))),
        }
    }

    /// The format of the records, if it is told; folders have none.
    pub(crate) fn format(&self) -> Option<Format> {
        match self {
            Self::Rows(rows) => rows.format(),
            Self::Folder(_) => None,
        }
    }

    /// Writes the documents that are kept, in their order: records as they stand, or in another
    /// format; of folders the paths.
    pub(crate) fn copy(
        &self,
        keep: &(dyn Fn(u64) -> bool + Sync),
        format: Option<Format>,
        to: &mut (dyn Write + Send),
    ) -> Result<()> {
        match self {
            Self::Rows(rows) => rows.copy(keep, format, to),
            Self::Folder(folder) => folder.list(keep, to),
        }
    }
}

impl Corpus<'_> {
    /// Writes the documents in their order, some of them with another text, as they stand or in
    /// another format. Those whose place is not wanted stay as they are; `edit` need not be asked
    /// about them.
    pub(crate) fn edit(
        &self,
        wanted: &(dyn Fn(u64) -> bool + Sync),
        edit: &EditText<'_>,
        format: Option<Format>,
        to: &mut (dyn Write + Send),
    ) -> Result<()> {
        match self {
            Self::Rows(rows) => rows.edit(wanted, edit, format, to),
            Self::Folder(_) => bail!("-o: name a folder for the files of a folder"),
        }
    }

    /// Writes the files of folders into another, some of them with another text.
    pub(crate) fn edit_files(&self, edit: &EditText<'_>, to: &Path) -> Result<()> {
        match self {
            Self::Rows(_) => Ok(()),
            Self::Folder(folder) => folder.edit_to(edit, to),
        }
    }

    /// Copies the kept files of folders into another.
    pub(crate) fn copy_files(&self, keep: &(dyn Fn(u64) -> bool + Sync), to: &Path) -> Result<()> {
        match self {
            Self::Rows(_) => Ok(()),
            Self::Folder(folder) => folder.copy_to(keep, to),
        }
    }
}

/// How documents are called in results: by their id, or by their record's number from 1.
pub(crate) struct DocumentNames<'a> {
    corpus: &'a Corpus<'a>,
    ids: Option<IdReader>,
}

impl DocumentNames<'_> {
    /// Writes the name of the document at a place.
    pub(crate) fn put(&mut self, place: u64, to: &mut dyn Write) -> Result<()> {
        let gone =
            || anyhow!("the documents changed while they were read: run again when nothing writes to them");
        match (&mut self.ids, self.corpus) {
            (Some(ids), _) => {
                to.write_all(ids.get(place).context("reading the ids")?.ok_or_else(gone)?)?;
            }
            (None, Corpus::Folder(folder)) => to.write_all(&folder.id(place).ok_or_else(gone)?)?,
            (None, corpus) => write!(to, "{}", corpus.record_number(place).ok_or_else(gone)?)?,
        }
        Ok(())
    }
}

impl Documents for Corpus<'_> {
    fn read<S: Send>(
        &self,
        make: &(dyn Fn() -> S + Sync),
        take: &TakeText<'_, S>,
    ) -> crivo_near::Result<Vec<S>> {
        match self {
            Self::Rows(rows) => rows.read(make, take),
            Self::Folder(folder) => folder.read(make, take),
        }
    }
}

/// The engine's error, as this program reports errors: those about input name the file and the
/// line.
pub(crate) fn explained(error: crivo_near::Error) -> anyhow::Error {
    match error {
        crivo_near::Error::Stopped => Interrupted.into(),
        crivo_near::Error::Documents(cause) => match cause.downcast::<crivo_rows::Error>() {
            Ok(cause) => (*cause).into(),
            Err(cause) => anyhow!(cause),
        },
        error => error.into(),
    }
}

/// The name of a file in an error about it.
fn about(path: &Path, error: &io::Error) -> anyhow::Error {
    anyhow!("{}: {error}", path.display())
}
