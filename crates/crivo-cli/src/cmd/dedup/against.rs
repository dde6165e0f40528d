//! Documents that an index knows already.

use std::path::Path;

use anyhow::{Result, bail};
use crivo_near::{Clusters, Index, Outcome as Found, Settings};

use crate::cmd::similar::warn_if_few_are_found;
use crate::corpus::{Corpus, explained};
use crate::output::Output;

/// Opens the index, and makes sure that it compares the same things.
pub(super) fn open(folder: &Path, settings: &Settings, out: &Output) -> Result<Index> {
    let index = Index::open(folder).map_err(explained)?;
    let own = index.settings();
    if own.shingles != settings.shingles {
        let (folder, own, asked) = (folder.display(), &own.shingles, &settings.shingles);
        bail!(
            "--against {folder}: the index compares {own}, and --shingle says {asked} (or other stop words)"
        );
    }
    warn_if_few_are_found(&index, settings.threshold, out)?;
    Ok(index)
}

/// The places of those documents that would stay, but are like one of the index: ascending.
pub(super) fn known(
    index: &Index,
    corpus: &Corpus<'_>,
    found: &Found,
    clusters: &Clusters,
    threshold: f64,
) -> Result<Vec<u64>> {
    let stays = |place: u64| found.member_at(place).is_some_and(|member| clusters.keeps(member));
    let answers = index.query_all(corpus, threshold, &stays).map_err(explained)?;
    Ok(answers.into_iter().filter(|(_, alike)| !alike.is_empty()).map(|(place, _)| place).collect())
}
