//! The destinations of a search's results. All are checked before any input is read.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use crivo_near::{Clusters, Outcome as Found};

use super::Args;
use super::against::KnownDocuments;
use crate::corpus::{Corpus, DocumentNames, explained};
use crate::output;
use crate::rows_file::RowsFile;
use crate::store::{Destination, Filled, NewFolder, publish};

/// The requested destinations.
pub(super) struct Results {
    kept: Kept,
    pairs: Option<Destination>,
    clusters: Option<Destination>,
    removed: Option<Destination>,
}

enum Kept {
    Nowhere,
    StandardOutput,
    File(RowsFile),
    Folder(NewFolder),
}

impl Results {
    /// Makes sure that all destinations can be written, and changes nothing yet.
    pub(super) fn prepare(args: &Args) -> Result<Self> {
        let wanted = &args.results;
        let mut files = args.corpus.used_files().and_reading(&args.alike.stop_words);
        if let Some(index) = &wanted.against {
            files = files.and_reading_database(index);
        }
        let kept = match &wanted.output {
            None if wanted.dry_run || wanted.json => Kept::Nowhere,
            None => Kept::StandardOutput,
            Some(path) if args.corpus.files().iter().any(|file| file.is_dir()) => {
                ensure_outside(args, path)?;
                Kept::Folder(args.corpus.new_folder(path, &mut files)?)
            }
            Some(path) => Kept::File(RowsFile::new(path, files.output(path)?)?),
        };
        Ok(Self {
            kept,
            pairs: files.optional_output(wanted.pairs.as_ref())?,
            clusters: files.optional_output(wanted.clusters.as_ref())?,
            removed: files.optional_output(wanted.removed.as_ref())?,
        })
    }

    /// Writes all results. Documents with a near-duplicate in the index are not kept. Files are
    /// renamed into place after all are written, the kept documents last. So if these are new, the
    /// lists are of the same run. Returns the number of lines that name two documents by the same
    /// id.
    pub(super) fn write(
        &self,
        corpus: &Corpus<'_>,
        found: &Found,
        clusters: &Clusters,
        known: &KnownDocuments,
    ) -> Result<u64> {
        let stays = |place: u64| found.member_at(place).is_none_or(|member| clusters.keeps(member));
        let keep = |place: u64| stays(place) && !known.contains(place);
        let (mut files, same_ids) = self.write_lists(corpus, found, clusters, known)?;
        match &self.kept {
            Kept::Nowhere => {}
            Kept::StandardOutput => corpus.copy(&keep, None, &mut output::rows())?,
            Kept::File(file) => {
                let format = file.conversion(corpus.format())?;
                files.push(file.fill(|to| corpus.copy(&keep, format, to))?);
            }
            Kept::Folder(folder) => {
                folder.fill(|to| {
                    corpus.copy_files(&keep, to)?;
                    publish(files)
                })?;
                return Ok(same_ids);
            }
        }
        publish(files)?;
        Ok(same_ids)
    }

    /// Writes the requested lists, without renaming them into place. Returns them, and the number
    /// of lines that name two documents by the same id.
    fn write_lists<'a>(
        &'a self,
        corpus: &Corpus<'_>,
        found: &Found,
        clusters: &Clusters,
        known: &KnownDocuments,
    ) -> Result<(Vec<Filled<'a>>, u64)> {
        let mut files = Vec::new();
        if self.pairs.is_none() && self.clusters.is_none() && self.removed.is_none() {
            return Ok((files, 0));
        }
        let listed = listed_members(found, clusters, self.pairs.is_some())?;
        let is_listed = |place: u64| {
            known.contains(place) || found.member_at(place).is_some_and(|member| listed[member as usize])
        };
        let names = corpus.names(&is_listed)?;
        let mut writer = ResultWriter { found, names, line: Vec::new(), same_ids: 0 };
        if let Some(file) = &self.pairs {
            files.push(file.fill(|to| writer.pairs(to))?);
        }
        if let Some(file) = &self.clusters {
            files.push(file.fill(|to| writer.clusters(clusters, to))?);
        }
        if let Some(file) = &self.removed {
            files.push(file.fill(|to| writer.removed(clusters, known, to))?);
        }
        Ok((files, writer.same_ids))
    }
}

/// Returns which members are named in results: those of clusters, and those of pairs if pairs are
/// requested.
fn listed_members(found: &Found, clusters: &Clusters, with_pairs: bool) -> Result<Vec<bool>> {
    let mut listed = vec![false; found.documents() as usize];
    for (&kept, member) in clusters.kept().iter().zip(0_u32..) {
        if kept != member {
            listed[kept as usize] = true;
            listed[member as usize] = true;
        }
    }
    if with_pairs {
        let marked = found.for_each_pair(|one, other, _| {
            listed[one as usize] = true;
            listed[other as usize] = true;
            Ok(())
        });
        marked.map_err(explained)?;
    }
    Ok(listed)
}

/// Writes lines that name documents.
struct ResultWriter<'a> {
    found: &'a Found,
    names: DocumentNames<'a>,
    // A buffer that each line reuses.
    line: Vec<u8>,
    /// The number of lines that name two documents by the same id.
    same_ids: u64,
}

impl ResultWriter<'_> {
    /// Writes two documents, without a line end.
    fn put_both(&mut self, one: u32, other: u32, to: &mut dyn Write) -> Result<()> {
        let Self { found, names, line, same_ids } = self;
        line.clear();
        names.put(found.place(one), line)?;
        let end = line.len();
        line.push(b'\t');
        names.put(found.place(other), line)?;
        *same_ids += u64::from(one != other && line[..end] == line[end + 1..]);
        Ok(to.write_all(line)?)
    }

    /// Writes two documents and their similarity.
    fn put_line(&mut self, one: u32, other: u32, similarity: f64, to: &mut dyn Write) -> Result<()> {
        self.put_both(one, other, to)?;
        Ok(writeln!(to, "\t{similarity}")?)
    }

    fn pairs(&mut self, to: &mut dyn Write) -> Result<()> {
        let found = self.found;
        let put = |one, other, similarity| self.put_line(one, other, similarity, to).map_err(untold);
        found.for_each_pair(put).map_err(explained)
    }

    fn clusters(&mut self, clusters: &Clusters, to: &mut dyn Write) -> Result<()> {
        let mut clustered = vec![false; clusters.kept().len()];
        clusters.sizes().iter().for_each(|&(kept, _)| clustered[kept as usize] = true);
        for (&kept, member) in clusters.kept().iter().zip(0..).filter(|(kept, _)| clustered[**kept as usize])
        {
            self.put_both(member, kept, to)?;
            to.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Writes the certificate: each removed document, the document that is kept in its place, and
    /// their similarity. Documents with a near-duplicate in the index come first, each with that
    /// document.
    fn removed(&mut self, clusters: &Clusters, known: &KnownDocuments, to: &mut dyn Write) -> Result<()> {
        for (place, found) in known.iter() {
            self.names.put(place, to)?;
            to.write_all(b"\t")?;
            to.write_all(&found.id)?;
            writeln!(to, "\t{}", found.similarity)?;
        }
        let found = self.found;
        let put = |member, kept, similarity| self.put_line(member, kept, similarity, to).map_err(untold);
        clusters.for_each_removed(found, put).map_err(explained)
    }
}

/// Wraps an error so that it can pass through the engine.
fn untold(error: anyhow::Error) -> crivo_near::Error {
    crivo_near::Error::Documents(error.into())
}

/// Makes sure that a new folder is not inside an input folder, because the next run would read it
/// too.
fn ensure_outside(args: &Args, path: &Path) -> Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(parent) = parent.canonicalize() else { return Ok(()) };
    let is_around = |folder: &Path| folder.canonicalize().is_ok_and(|folder| parent.starts_with(folder));
    match args.corpus.files().iter().find(|folder| is_around(folder)) {
        Some(folder) => bail!(
            "{}: is inside of {}, which is read: the next run would read it too; name a folder elsewhere",
            path.display(),
            folder.display()
        ),
        None => Ok(()),
    }
}
