//! Finds documents that are near-duplicates of documents in an index.

use std::path::Path;

use anyhow::{Result, bail};
use crivo_near::index::Match;
use crivo_near::{Index, Settings};

use crate::cmd::similar::warn_if_few_are_found;
use crate::corpus::{Corpus, explained};
use crate::output::Output;

/// Opens the index, and makes sure that it compares the same shingles.
pub(super) fn open(folder: &Path, settings: &Settings, out: &Output) -> Result<Index> {
    let index = Index::open(folder).map_err(explained)?;
    let own = index.settings();
    if own.shingles != settings.shingles {
        let (folder, own, asked) = (folder.display(), &own.shingles, &settings.shingles);
        bail!(
            "--against {folder}: the index compares {own}, and --shingle says {asked} (or other stop words)"
        );
    }
    if own.nfc != settings.nfc {
        let (folder, own) = (folder.display(), if own.nfc { "normal form C" } else { "texts as they stand" });
        bail!("--against {folder}: the index compares {own}, and --nfc says otherwise");
    }
    warn_if_few_are_found(&index, settings.threshold, out)?;
    Ok(index)
}

/// Documents that are near-duplicates of one in an index, each with the most similar of those.
#[derive(Debug, Default)]
pub(super) struct KnownDocuments(Vec<(u64, Match)>);

impl KnownDocuments {
    /// Looks up every document in the index. Documents with a near-duplicate there are removed.
    /// They do not cause other documents to be removed. So a removed document is always similar to
    /// one that is kept, here or in the index.
    pub(super) fn find(index: &Index, corpus: &Corpus<'_>, settings: &Settings) -> Result<Self> {
        let answers = index.nearest_of_all(corpus, settings.threshold, settings.memory).map_err(explained)?;
        let first = |(place, alike): (u64, Vec<Match>)| Some((place, alike.into_iter().next()?));
        Ok(Self(answers.found.into_iter().filter_map(first).collect()))
    }

    /// Returns true if the index has a near-duplicate of the document at a place.
    pub(super) fn contains(&self, place: u64) -> bool {
        !self.0.is_empty() && self.0.binary_search_by_key(&place, |(place, _)| *place).is_ok()
    }

    /// Returns the places of these documents in ascending order, each with its match in the index.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &Match)> {
        self.0.iter().map(|(place, found)| (*place, found))
    }
}
