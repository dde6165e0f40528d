//! Reads every file as a table. Its columns come from the cache, from a saved profile, or from one
//! pass.

use std::path::{Path, PathBuf};

use anyhow::Result;
use crivo::keys::KeyScheme;
use crivo::profile::join_search::JoinSearch;
use crivo::profile::{TableColumnSizes, TableProfile};
use crivo_rows::{Format, Input, Items, Select, thread_count};

use super::cache::{Cache, CacheKey};
use crate::cmd::profile::{self, saved};
use crate::interrupt::{self, Interrupted};
use crate::layout_args::LayoutArgs;
use crate::output::{Meter, Output};
use crate::pass::Pass;
use crate::store;

/// The most memory for the columns of one table while it is read. Wider tables keep fewer hashes.
const MOST_OF_A_TABLE: usize = 256 << 20;
/// The fewest hashes of a column. With fewer, no pair could be decided.
const LEAST_HASHES: u32 = 16;

/// The tables that were read.
#[derive(Debug, Default)]
pub(super) struct ReadTables {
    /// The names of the tables, by their number in the search.
    pub(super) names: Vec<String>,
    /// The files that could not be read, with the reasons.
    pub(super) unreadable: Vec<(String, String)>,
    /// The number of tables that were found in the cache.
    pub(super) cached: u64,
    pub(super) rows: u64,
}

/// Adds the columns of every file to the search.
pub(super) fn read_all(
    layout: &LayoutArgs,
    (hashes, seed): (u32, u64),
    cache: Option<&Cache>,
    search: &mut JoinSearch,
    out: &Output,
) -> Result<ReadTables> {
    interrupt::watch(false);
    let scheme = KeyScheme::bytes().with_seed(seed);
    let mut read = ReadTables::default();
    let files = files(layout, &mut read, out)?;
    let meter = Meter::of_stage("reading tables", out);
    for (at, path) in files.iter().enumerate() {
        if interrupt::is_requested() {
            return Err(Interrupted.into());
        }
        meter.show_parts(at as u64, files.len() as u64);
        let name = store::name_of(path);
        let table = profile_of(path, layout, (hashes, scheme), cache, out);
        match table.and_then(|(profile, is_cached)| {
            search.add_profile(&profile).map_err(|error| anyhow::anyhow!("{name}: {error}"))?;
            Ok((profile.rows(), is_cached))
        }) {
            Ok((rows, is_cached)) => {
                read.rows = read.rows.saturating_add(rows);
                read.cached += u64::from(is_cached);
                read.names.push(name);
            }
            Err(error) if error.is::<Interrupted>() => return Err(error),
            Err(error) => {
                out.error(&error);
                read.unreadable.push((name, format!("{error:#}")));
            }
        }
    }
    Ok(read)
}

/// Returns the files that names and patterns match, each once. A name without a match is added to
/// the unreadable files, and the others are still read. No file at all is an error.
fn files(layout: &LayoutArgs, read: &mut ReadTables, out: &Output) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut failed = None;
    for argument in &layout.files {
        match Input::from_args([argument]) {
            Ok(input) => files.extend(input.paths().map(Path::to_path_buf)),
            Err(error) => {
                read.unreadable.push((store::name_of(argument), error.to_string()));
                failed.get_or_insert(error);
            }
        }
    }
    if let (true, Some(error)) = (files.is_empty(), failed) {
        return Err(error.into());
    }
    for (_, error) in &read.unreadable {
        out.error(&anyhow::anyhow!("{error}"));
    }
    let mut seen = std::collections::HashSet::new();
    files.retain(|file| seen.insert(file.clone()));
    Ok(files)
}

/// Returns the profile of a file, and whether it was in the cache.
fn profile_of(
    path: &Path,
    layout: &LayoutArgs,
    (hashes, scheme): (u32, KeyScheme),
    cache: Option<&Cache>,
    out: &Output,
) -> Result<(TableProfile, bool)> {
    if saved::is_sketch(path) {
        return Ok((saved::open(path)?, false));
    }
    let format = layout.format_of(&path.to_string_lossy());
    let key = match cache {
        Some(cache) => Some(cache.key_of(path, &layout_text(layout, format), hashes, scheme)?),
        None => None,
    };
    if let Some(profile) = key.as_ref().and_then(CacheKey::get) {
        return Ok((profile, true));
    }
    let profile = read(path, layout, (hashes, scheme), out)?;
    if let Some(key) = &key {
        key.put(&profile)?;
    }
    Ok((profile, false))
}

fn read(
    path: &Path,
    layout: &LayoutArgs,
    (hashes, scheme): (u32, KeyScheme),
    out: &Output,
) -> Result<TableProfile> {
    let input = layout.laid_out(Input::file(path))?;
    let columns = input.field_names()?.first().map_or(0, Vec::len).max(1);
    let fits = |hashes: u32| TableColumnSizes::for_joins(hashes).most_memory() * columns <= MOST_OF_A_TABLE;
    let hashes = std::iter::successors(Some(hashes), |hashes| Some(hashes / 2))
        .take_while(|hashes| *hashes > LEAST_HASHES)
        .find(|hashes| fits(*hashes))
        .unwrap_or(LEAST_HASHES);
    let sizes = TableColumnSizes::for_joins(hashes);
    // Each thread has its own columns.
    let room = MOST_OF_A_TABLE / (sizes.most_memory() * columns).max(1);
    let pass = Pass {
        input,
        select: Select::All,
        items: Items::Values,
        condition: None,
        threads: thread_count(layout.threads()).min(room).max(1),
        repeatable: true,
        skip_bad: layout.skip_bad,
        follow: false,
        numbers_rows: true,
        column_filters: None,
    };
    profile::read_for_joins(pass, sizes, scheme, out)
}

/// Returns a text of all options that decide how the bytes of a file become values.
fn layout_text(layout: &LayoutArgs, format: Format) -> String {
    let LayoutArgs { no_header, delimiter, no_quotes, skip_bad, max_record, .. } = layout;
    match format {
        Format::Jsonl | Format::Parquet => format!("{format:?} {skip_bad} {max_record:?}"),
        Format::Lines | Format::Csv | Format::Tsv => {
            format!("{format:?} {no_header} {delimiter:?} {no_quotes} {skip_bad} {max_record:?}")
        }
    }
}
