//! The destination of edited documents: a file, a folder, or standard output.

use std::path::Path;

use anyhow::Result;

use crate::corpus::{Corpus, CorpusArgs, EditText};
use crate::output;
use crate::rows_file::RowsFile;
use crate::store::NewFolder;
use crate::used_files::UsedFiles;

/// A destination that is checked before any input is read.
pub(super) enum EditedDocuments {
    Nowhere,
    StandardOutput,
    /// A file whose name may select another format.
    File(RowsFile),
    Folder(NewFolder),
}

impl EditedDocuments {
    /// Makes sure that the destination can be written, and changes nothing yet. Without a path,
    /// documents are written to standard output if `prints` is true.
    pub(super) fn prepare(
        path: Option<&Path>,
        prints: bool,
        corpus: &CorpusArgs,
        files: &mut UsedFiles,
    ) -> Result<Self> {
        Ok(match path {
            None if prints => Self::StandardOutput,
            None => Self::Nowhere,
            Some(path) if corpus.files().iter().any(|file| file.is_dir()) => {
                Self::Folder(corpus.new_folder(path, files)?)
            }
            Some(path) => Self::File(RowsFile::new(path, files.output(path)?)?),
        })
    }

    /// Returns true if documents are written.
    pub(super) fn is_wanted(&self) -> bool {
        !matches!(self, Self::Nowhere)
    }

    /// Writes the documents as `edit` changes them. Documents whose place is not wanted are copied
    /// without reading their texts, so `edit` must keep them too.
    pub(super) fn write(
        &self,
        corpus: &Corpus<'_>,
        wanted: &(dyn Fn(u64) -> bool + Sync),
        edit: &EditText<'_>,
    ) -> Result<()> {
        match self {
            Self::Nowhere => Ok(()),
            Self::StandardOutput => corpus.edit(wanted, edit, None, &mut output::rows()),
            Self::File(file) => {
                let format = file.conversion(corpus.format())?;
                file.write(|to| corpus.edit(wanted, edit, format, to))
            }
            Self::Folder(folder) => folder.fill(|to| corpus.edit_files(edit, to)),
        }
    }
}
