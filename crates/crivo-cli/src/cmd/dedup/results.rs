//! Where the results of a search go. All places are tried before anything is read.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use crivo_near::{Clusters, Outcome as Found};
use flate2::write::GzEncoder;
use liblzma::write::XzEncoder;

use super::Args;
use crate::corpus::{Corpus, explained};
use crate::output;
use crate::store::{Destination, NewFolder};

/// The places that were asked for.
pub(super) struct Results {
    kept: Kept,
    pairs: Option<Destination>,
    clusters: Option<Destination>,
}

enum Kept {
    Nowhere,
    StandardOutput,
    File(Destination, Packing),
    Folder(NewFolder),
}

/// How a file is compressed, by its name.
#[derive(Debug, Clone, Copy)]
enum Packing {
    None,
    Gzip,
    Zstd,
    Xz,
}

impl Packing {
    fn of(path: &Path) -> Self {
        match path.extension().and_then(|end| end.to_str()) {
            Some("gz") => Self::Gzip,
            Some("zst") => Self::Zstd,
            Some("xz") => Self::Xz,
            _ => Self::None,
        }
    }

    /// Compresses what `fill` writes.
    fn pack(
        self,
        to: &mut (dyn Write + Send),
        fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>,
    ) -> Result<()> {
        match self {
            Self::None => fill(to)?,
            Self::Gzip => {
                let mut packed = GzEncoder::new(to, flate2::Compression::default());
                fill(&mut packed)?;
                packed.finish()?;
            }
            Self::Zstd => {
                let mut packed = zstd::Encoder::new(to, zstd::DEFAULT_COMPRESSION_LEVEL)?;
                fill(&mut packed)?;
                packed.finish()?;
            }
            Self::Xz => {
                let mut packed = XzEncoder::new(to, 6);
                fill(&mut packed)?;
                packed.finish()?;
            }
        }
        Ok(())
    }
}

impl Results {
    /// Makes sure that everything can be written, and changes nothing yet.
    pub(super) fn prepare(args: &Args) -> Result<Self> {
        let wanted = &args.results;
        let kept = match &wanted.output {
            None if wanted.dry_run || wanted.json => Kept::Nowhere,
            None => Kept::StandardOutput,
            Some(path) if args.corpus.files().iter().any(|file| file.is_dir()) => {
                Kept::Folder(NewFolder::new(path)?)
            }
            Some(path) => Kept::File(beside(args, path)?, Packing::of(path)),
        };
        let place =
            |path: &Option<std::path::PathBuf>| path.as_deref().map(|path| beside(args, path)).transpose();
        Ok(Self { kept, pairs: place(&wanted.pairs)?, clusters: place(&wanted.clusters)? })
    }

    /// Writes everything; the documents at the `known` places, ascending, do not stay.
    pub(super) fn write(
        &self,
        corpus: &Corpus<'_>,
        found: &Found,
        clusters: &Clusters,
        known: &[u64],
    ) -> Result<()> {
        let stays = |place: u64| found.member_at(place).is_none_or(|member| clusters.keeps(member));
        let keep = |place: u64| stays(place) && known.binary_search(&place).is_err();
        match &self.kept {
            Kept::Nowhere => {}
            Kept::StandardOutput => corpus.copy(&keep, &mut output::rows())?,
            Kept::File(file, packing) => {
                file.write_with(|to| packing.pack(to, |packed| corpus.copy(&keep, packed)))?;
            }
            Kept::Folder(folder) => folder.fill(|to| corpus.copy_files(&keep, to))?,
        }
        if self.pairs.is_none() && self.clusters.is_none() {
            return Ok(());
        }
        let names = Names::of(corpus, found, clusters)?;
        if let Some(file) = &self.pairs {
            file.write_with(|to| {
                found
                    .for_each_pair(|one, other, similarity| {
                        names.put(one, to)?;
                        to.write_all(b"\t").map_err(unwritten)?;
                        names.put(other, to)?;
                        writeln!(to, "\t{similarity}").map_err(unwritten)
                    })
                    .map_err(explained)
            })?;
        }
        if let Some(file) = &self.clusters {
            let mut clustered = vec![false; clusters.kept().len()];
            clusters.sizes().iter().for_each(|&(kept, _)| clustered[kept as usize] = true);
            file.write_with(|to| {
                for (&kept, member) in
                    clusters.kept().iter().zip(0..).filter(|(kept, _)| clustered[**kept as usize])
                {
                    names.put(member, to).map_err(explained)?;
                    to.write_all(b"\t")?;
                    names.put(kept, to).map_err(explained)?;
                    to.write_all(b"\n")?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

fn unwritten(cause: std::io::Error) -> crivo_near::Error {
    crivo_near::Error::Documents(Box::new(cause))
}

/// A place for results, which must not be one of the files to read.
fn beside(args: &Args, path: &Path) -> Result<Destination> {
    if let Ok(target) = path.canonicalize()
        && let Some(file) =
            args.corpus.files().iter().find(|file| file.canonicalize().is_ok_and(|f| f == target))
    {
        bail!("{}: is read, and would be replaced: write to another file", file.display());
    }
    Destination::new(path)
}

/// How documents are called in results.
enum Names {
    /// By their number, from 1.
    Numbers,
    /// By the ids that those in pairs have, ascending by member.
    Ids(Vec<(u32, Vec<u8>)>),
}

impl Names {
    /// Reads the ids of those who are in a cluster; the others are in no pair either.
    fn of(corpus: &Corpus<'_>, found: &Found, clusters: &Clusters) -> Result<Self> {
        let mut wanted = vec![false; found.documents() as usize];
        found
            .for_each_pair(|one, other, _| {
                wanted[one as usize] = true;
                wanted[other as usize] = true;
                Ok(())
            })
            .map_err(explained)?;
        for (&kept, member) in clusters.kept().iter().zip(0_usize..) {
            wanted[kept as usize] |= wanted[member];
        }
        let is_wanted = |place: u64| found.member_at(place).is_some_and(|member| wanted[member as usize]);
        Ok(match corpus.ids(&is_wanted)? {
            None => Self::Numbers,
            Some(ids) => {
                let named = ids
                    .into_iter()
                    .filter_map(|(place, id)| found.member_at(place).map(|member| (member, id)));
                Self::Ids(named.collect())
            }
        })
    }

    fn put(&self, member: u32, to: &mut (dyn Write + Send)) -> crivo_near::Result<()> {
        match self {
            Self::Numbers => write!(to, "{}", u64::from(member) + 1).map_err(unwritten),
            Self::Ids(ids) => match ids.binary_search_by_key(&member, |(member, _)| *member) {
                Ok(at) => to.write_all(&ids[at].1).map_err(unwritten),
                Err(_) => Err(crivo_near::Error::Changed),
            },
        }
    }
}
