//! The files with the items of benchmarks, and how often the items of each were found.

use std::ops::Range;
use std::path::PathBuf;

use anyhow::{Context, Result};
use crivo_near::{Benchmark, Overlaps, PartHits};
use crivo_rows::Input;
use serde::Serialize;

use super::Args;
use crate::corpus::{Corpus, CorpusArgs, explained};
use crate::output::Output;

/// The options to read each file of `--with`, or all folders.
pub(super) struct BenchmarkArgs(Vec<CorpusArgs>);

impl BenchmarkArgs {
    /// Expands patterns, so that each file is read by itself. Folders are read together, because
    /// each file in them is an item.
    pub(super) fn new(args: &Args) -> Result<Self> {
        let for_files =
            |files: &[PathBuf]| args.corpus.for_files(files, args.with_field.as_ref(), args.with_id.as_ref());
        if args.with.iter().any(|path| path.is_dir()) {
            return Ok(Self(vec![for_files(&args.with)]));
        }
        // All of them together must be a valid input: standard input can be read only once.
        Input::from_args(&args.with).context("--with")?;
        let mut each = Vec::new();
        for name in &args.with {
            if name.as_os_str() == "-" {
                each.push(for_files(std::slice::from_ref(name)));
                continue;
            }
            let found = Input::from_args([name]).context("--with")?;
            each.extend(found.paths().map(|path| for_files(&[path.to_path_buf()])));
        }
        Ok(Self(each))
    }

    /// Opens all files.
    pub(super) fn open<'a>(&'a self, out: &'a Output) -> Result<Benchmarks<'a>> {
        let corpora = self.0.iter().map(|args| args.open(out)).collect::<Result<_>>().context("--with")?;
        Ok(Benchmarks { args: &self.0, corpora })
    }
}

/// The files with items, each as a collection of its own.
pub(super) struct Benchmarks<'a> {
    args: &'a [CorpusArgs],
    corpora: Vec<Corpus<'a>>,
}

/// A file, and its items.
pub(super) struct BenchmarkFile {
    pub(super) name: String,
    pub(super) items: Range<u32>,
}

/// The hits of a file's items. Fields may be added, never renamed.
#[derive(Debug, Serialize)]
pub(super) struct BenchmarkReport {
    pub(super) file: String,
    pub(super) items: usize,
    pub(super) items_hit: u64,
    pub(super) documents_hit: u64,
}

impl Benchmarks<'_> {
    /// Reads all items. `words` is the length of the n-grams.
    pub(super) fn read(&self, words: usize) -> Result<Benchmark> {
        self.corpora.iter().for_each(|corpus| corpus.set_stage("benchmark"));
        Benchmark::read_all(&self.corpora, words).map_err(explained)
    }

    /// Returns the files in their order, named as the user or a pattern named them.
    pub(super) fn files(&self, benchmark: &Benchmark) -> Result<Vec<BenchmarkFile>> {
        if let [corpus @ Corpus::Folder(_)] = self.corpora.as_slice() {
            let mut item = 0;
            let files = corpus.ids(&|_| true)?.unwrap_or_default().into_iter().map(|(place, path)| {
                // A file without text is no item.
                let start = item;
                item += u32::from(benchmark.place(start) == place);
                BenchmarkFile { name: String::from_utf8_lossy(&path).into_owned(), items: start..item }
            });
            return Ok(files.collect());
        }
        let files = self.args.iter().flat_map(CorpusArgs::files);
        let names = files.map(|path| path.to_string_lossy().into_owned());
        Ok(names.zip(benchmark.collections()).map(|(name, items)| BenchmarkFile { name, items }).collect())
    }

    /// Returns the ids of the items that were found. All other items have an empty name, and files
    /// without a hit are not read again.
    pub(super) fn names_of_hit_items(&self, benchmark: &Benchmark, found: &Overlaps) -> Result<Vec<Vec<u8>>> {
        let mut names = vec![Vec::new(); benchmark.items()];
        for (corpus, items) in self.corpora.iter().zip(benchmark.collections()) {
            let hit: Vec<u32> = items.filter(|&item| found.is_item_hit(item)).collect();
            if hit.is_empty() {
                continue;
            }
            let is_hit = |place| hit.binary_search_by_key(&place, |&item| benchmark.place(item)).is_ok();
            let mut ids = corpus.names(&is_hit)?;
            for item in hit {
                ids.put(benchmark.place(item), &mut names[item as usize])?;
            }
        }
        Ok(names)
    }
}

/// Returns the hits of each file.
pub(super) fn reports(files: &[BenchmarkFile], found: &Overlaps) -> Result<Vec<BenchmarkReport>> {
    let parts: Vec<_> = files.iter().map(|file| file.items.clone()).collect();
    let hits = found.of_parts(&parts).map_err(explained)?;
    let report = |(file, PartHits { items_hit, documents_hit }): (&BenchmarkFile, _)| BenchmarkReport {
        file: file.name.clone(),
        items: file.items.len(),
        items_hit,
        documents_hit,
    };
    Ok(files.iter().zip(hits).map(report).collect())
}
