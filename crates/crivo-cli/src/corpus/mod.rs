//! Collections of documents: records of files with a text field, or folders in which each file is a
//! document.
//!
//! Commands that compare documents read them more than once. They request three things: every text
//! with its place ([`Documents`]), the ids of some documents, and a copy of the documents that are
//! kept. A record without text is not a document: it is counted as skipped, and is kept in every
//! copy.

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
use crate::store::NewFolder;
use crate::used_files::UsedFiles;

/// The default text field, and the default id field.
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

/// [`CorpusArgs`] for commands where `--html` names a page to write. There `--from-html` says that
/// texts are HTML.
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

/// Receives the place of a document, its text, and a buffer for a replacement text.
pub(crate) type EditText<'e> = dyn Fn(u64, &[u8], &mut Vec<u8>) -> Result<Edit> + Sync + 'e;

/// The place and the id of a document.
pub(crate) type Id = (u64, Vec<u8>);

/// A collection of documents that can be read again and again.
pub(crate) enum Corpus<'a> {
    Rows(Box<RowCorpus<'a>>),
    Folder(FolderCorpus<'a>),
}

impl CorpusArgs {
    /// Returns the requested number of threads, or 0 if the user gave none.
    pub(crate) fn threads(&self) -> usize {
        self.layout.threads()
    }

    /// Returns the options to read other files in the same way, with other fields for the text and
    /// the id.
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

    /// Returns the files of a run that reads these documents, to which outputs are added.
    pub(crate) fn used_files(&self) -> UsedFiles {
        self.layout.used_files()
    }

    /// Returns a new folder for the files of folders.
    pub(crate) fn new_folder(&self, path: &Path, files: &mut UsedFiles) -> Result<NewFolder> {
        folder::ensure_different_names(&self.layout.files)?;
        files.new_folder(path)
    }

    /// The files as the user named them.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.layout.files
    }

    /// Opens the documents. Fails if a file is missing or options contradict each other.
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
    /// Returns the number of records that had no text, or were bad and skipped.
    pub(crate) fn skipped(&self) -> u64 {
        match self {
            Self::Rows(rows) => rows.skipped(),
            Self::Folder(folder) => folder.skipped(),
        }
    }

    /// Estimates the number of documents before they are read.
    pub(crate) fn estimated_documents(&self) -> u64 {
        match self {
            Self::Rows(rows) => rows.estimated_records(),
            Self::Folder(folder) => folder.paths().len() as u64,
        }
    }

    /// Sets the stage that the progress of the next readings shows.
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

    /// Returns a text that identifies this collection: its files with their sizes and modification
    /// times, and the options that they are read with.
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

    /// Reads all documents unless they have been read, for example in a run that continues another.
    /// Afterwards records have numbers, and records without text are counted.
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

    /// Returns the names of the wanted documents for results.
    pub(crate) fn names(&self, wanted: &(dyn Fn(u64) -> bool + Sync)) -> Result<DocumentNames<'_>> {
        let ids = match self {
            Self::Rows(rows) => rows.id_file(wanted)?,
            Self::Folder(_) => None,
        };
        Ok(DocumentNames { corpus: self, ids })
    }

    /// Returns the number of a record, counted from 1. The documents must have been read before.
    pub(crate) fn record_number(&self, place: u64) -> Option<u64> {
        match self {
            Self::Rows(rows) => rows.record_number(place),
            Self::Folder(_) => Some(place + 1),
        }
    }

    /// Returns the ids of the wanted documents, in ascending order of their places.
    pub(crate) fn ids(&self, wanted: &(dyn Fn(u64) -> bool + Sync)) -> Result<Option<Vec<Id>>> {
        match self {
            Self::Rows(rows) => rows.ids(wanted),
            Self::Folder(folder) => Ok(Some(folder.ids(wanted))),
        }
    }

    /// Returns the format of the records, if it is known. Folders have none.
    pub(crate) fn format(&self) -> Option<Format> {
        match self {
            Self::Rows(rows) => rows.format(),
            Self::Folder(_) => None,
        }
    }

    /// Writes the kept documents in their order. Records are written unchanged or in another
    /// format. For folders, writes the paths.
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
    /// Writes the documents in their order, unchanged or in another format, some of them with
    /// another text. Documents whose place is not wanted stay as they are. `edit` is not
    /// necessarily called for them.
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

    /// Writes the files of folders into another folder, some of them with another text. Does
    /// nothing for records.
    pub(crate) fn edit_files(&self, edit: &EditText<'_>, to: &Path) -> Result<()> {
        match self {
            Self::Rows(_) => Ok(()),
            Self::Folder(folder) => folder.edit_to(edit, to),
        }
    }

    /// Copies the kept files of folders into another folder. Does nothing for records.
    pub(crate) fn copy_files(&self, keep: &(dyn Fn(u64) -> bool + Sync), to: &Path) -> Result<()> {
        match self {
            Self::Rows(_) => Ok(()),
            Self::Folder(folder) => folder.copy_to(keep, to),
        }
    }
}

/// The names of documents in results: the id, or the number of the record from 1.
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

/// Converts an error of the engine into an error of this program. Errors about input name the file
/// and the line.
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

/// Returns an error that names the file.
fn about(path: &Path, error: &io::Error) -> anyhow::Error {
    anyhow!("{}: {error}", path.display())
}
