//! Where the results of a search go. All places are tried before anything is read.

use std::io::Write;

use anyhow::Result;
use crivo_near::{Clusters, Outcome as Found};

use super::Args;
use super::against::KnownDocuments;
use crate::corpus::{Corpus, DocumentNames, explained};
use crate::output;
use crate::rows_file::RowsFile;
use crate::store::{Destination, Filled, NewFolder, publish};

/// The places that were asked for.
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
    /// Makes sure that everything can be written, and changes nothing yet.
    pub(super) fn prepare(args: &Args) -> Result<Self> {
        let wanted = &args.results;
        let kept = match &wanted.output {
            None if wanted.dry_run || wanted.json => Kept::Nowhere,
            None => Kept::StandardOutput,
            Some(path) if args.corpus.files().iter().any(|file| file.is_dir()) => {
                Kept::Folder(NewFolder::new(path)?.readable_as(args.corpus.files()))
            }
            Some(path) => Kept::File(RowsFile::new(path, args.corpus.output_beside(path)?)?),
        };
        let place = |path: &Option<std::path::PathBuf>| {
            path.as_deref().map(|path| args.corpus.output_beside(path)).transpose()
        };
        Ok(Self {
            kept,
            pairs: place(&wanted.pairs)?,
            clusters: place(&wanted.clusters)?,
            removed: place(&wanted.removed)?,
        })
    }

    /// Writes everything; documents that an index knows do not stay. Files get their names when all of them are
    /// written, the kept documents last: where these are new, the lists beside them are of the same run.
    pub(super) fn write(
        &self,
        corpus: &Corpus<'_>,
        found: &Found,
        clusters: &Clusters,
        known: &KnownDocuments,
    ) -> Result<()> {
        let stays = |place: u64| found.member_at(place).is_none_or(|member| clusters.keeps(member));
        let keep = |place: u64| stays(place) && !known.contains(place);
        let mut files = self.write_lists(corpus, found, clusters, known)?;
        match &self.kept {
            Kept::Nowhere => {}
            Kept::StandardOutput => corpus.copy(&keep, None, &mut output::rows())?,
            Kept::File(file) => {
                let format = file.conversion(corpus.format())?;
                files.push(file.fill(|to| corpus.copy(&keep, format, to))?);
            }
            Kept::Folder(folder) => {
                return folder.fill(|to| {
                    corpus.copy_files(&keep, to)?;
                    publish(files)
                });
            }
        }
        publish(files)
    }

    /// Writes the lists that were asked for, without giving them their names.
    fn write_lists<'a>(
        &'a self,
        corpus: &Corpus<'_>,
        found: &Found,
        clusters: &Clusters,
        known: &KnownDocuments,
    ) -> Result<Vec<Filled<'a>>> {
        let mut files = Vec::new();
        if self.pairs.is_none() && self.clusters.is_none() && self.removed.is_none() {
            return Ok(files);
        }
        let listed = listed_members(found, clusters, self.pairs.is_some())?;
        let is_listed = |place: u64| {
            known.contains(place) || found.member_at(place).is_some_and(|member| listed[member as usize])
        };
        let names = corpus.names(&is_listed)?;
        let mut writer = ResultWriter { found, names };
        if let Some(file) = &self.pairs {
            files.push(file.fill(|to| writer.pairs(to))?);
        }
        if let Some(file) = &self.clusters {
            files.push(file.fill(|to| writer.clusters(clusters, to))?);
        }
        if let Some(file) = &self.removed {
            files.push(file.fill(|to| writer.removed(clusters, known, to))?);
        }
        Ok(files)
    }
}

/// The members that are named in results: those of clusters, and of pairs if they are asked for.
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
}

impl ResultWriter<'_> {
    fn put(&mut self, member: u32, to: &mut dyn Write) -> Result<()> {
        self.names.put(self.found.place(member), to)
    }

    /// Two documents and their similarity.
    fn put_line(&mut self, one: u32, other: u32, similarity: f64, to: &mut dyn Write) -> Result<()> {
        self.put(one, to)?;
        to.write_all(b"\t")?;
        self.put(other, to)?;
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
            self.put(member, to)?;
            to.write_all(b"\t")?;
            self.put(kept, to)?;
            to.write_all(b"\n")?;
        }
        Ok(())
    }

    /// The certificate: each document that does not stay, which one stays in its place, and how similar they
    /// are. First those that an index knows, each with the document of the index.
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

/// An error on its way through the engine.
fn untold(error: anyhow::Error) -> crivo_near::Error {
    crivo_near::Error::Documents(error.into())
}
