//! [`benchmark_overlap`]: finds the texts that contain items of a benchmark. [`OverlapFinder`] keeps
//! the items for callers that search batch after batch.

use crivo_near::{Benchmark, Cut, cut, overlap, thread_count};
use numpy::PyArray1;
use pyo3::prelude::*;

use super::edits::{Edit, Edits, Positions, PresentTexts, cut_of};
use super::texts::Texts;
use crate::errors::{Result, setting};

/// The memory for hits before they are written to a temporary file, as on the command line.
const MEMORY: u64 = 256 << 20;

/// Finds the texts that contain items of a benchmark: at least a `share` of the item's runs of that
/// many `words`, word for word; an item with fewer words has to stand there whole. Shares are
/// exact.
///
/// `texts` and `items` are lists or other iterables of str or bytes, or Arrow columns of text.
/// `cut` says what is taken out of texts that are hit: the whole "document", the "words" that they
/// share with an item, the "sentence" or "paragraph" these are in, or "none". The items are held in
/// memory. `crivo overlap` gives the same outcome.
///
/// >>> from crivo import benchmark_overlap
/// >>> texts = ["Quiz: what is the capital of France? Paris.", "something else"]
/// >>> found = benchmark_overlap(texts, ["What is the capital of France?"], words=5)
/// >>> found.hits, len(found.kept)
/// ([(0, 0, 1.0, 6)], 1)
#[pyfunction]
#[pyo3(signature = (texts, items, *, words = None, share = 0.5, cut = "document", threads = None))]
#[pyo3(text_signature = "(texts, items, *, words=8, share=0.5, cut='document', threads=0)")]
pub(crate) fn benchmark_overlap(
    texts: &Bound<'_, PyAny>,
    items: &Bound<'_, PyAny>,
    words: Option<&Bound<'_, PyAny>>,
    share: f64,
    cut: &str,
    threads: Option<&Bound<'_, PyAny>>,
) -> Result<BenchmarkOverlap> {
    cut_of(cut)?;
    OverlapFinder::read(items, words, threads)?.find(texts, share, cut, threads)
}

fn threads_of(threads: Option<&Bound<'_, PyAny>>) -> Result<usize> {
    Ok(thread_count(threads.map_or(Ok(0), |threads| setting("threads", threads, "0 or more"))?))
}

/// Finds the texts that contain items of a benchmark, in batch after batch: the items are read once.
/// `items` and `words` are those of `benchmark_overlap`, and what is found is the same.
///
/// >>> from crivo.distributed import OverlapFinder
/// >>> finder = OverlapFinder(["What is the capital of France?"], words=5)
/// >>> finder.find(["Quiz: what is the capital of France? Paris."]).hits
/// [(0, 0, 1.0, 6)]
/// >>> finder.find(["something else"]).hits
/// []
#[allow(rustdoc::broken_intra_doc_links)] // Python's brackets are no links
#[pyclass(module = "crivo.distributed", frozen)]
pub(crate) struct OverlapFinder {
    benchmark: Benchmark,
    /// The positions of the items that are neither missing nor empty.
    positions: Positions,
    words: usize,
}

impl OverlapFinder {
    fn read(
        items: &Bound<'_, PyAny>,
        words: Option<&Bound<'_, PyAny>>,
        threads: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        let words = words.map_or(Ok(8), |words| setting("words", words, "1 to 64"))?;
        let (threads, py) = (threads_of(threads)?, items.py());
        let items = Texts::of(items)?;
        let slices = items.slices()?;
        Ok(py.detach(|| {
            let PresentTexts { texts, positions, .. } = PresentTexts::of(&slices);
            let benchmark = Benchmark::read(&crivo_near::Texts::new(&texts, threads), words)?;
            Ok::<_, crivo_near::Error>(Self { benchmark, positions, words })
        })?)
    }
}

#[pymethods]
impl OverlapFinder {
    #[new]
    #[pyo3(signature = (items, *, words = None, threads = None))]
    #[pyo3(text_signature = "(items, *, words=8, threads=0)")]
    fn new(
        items: &Bound<'_, PyAny>,
        words: Option<&Bound<'_, PyAny>>,
        threads: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        Self::read(items, words, threads)
    }

    /// Which of the texts contain which items. The arguments are those of `benchmark_overlap`.
    #[pyo3(signature = (texts, *, share = 0.5, cut = "document", threads = None))]
    #[pyo3(text_signature = "($self, texts, *, share=0.5, cut='document', threads=0)")]
    fn find(
        &self,
        texts: &Bound<'_, PyAny>,
        share: f64,
        cut: &str,
        threads: Option<&Bound<'_, PyAny>>,
    ) -> Result<BenchmarkOverlap> {
        let (what, threads, py) = (cut_of(cut)?, threads_of(threads)?, texts.py());
        let texts = Texts::of(texts)?;
        let slices = texts.slices()?;
        Ok(py.detach(|| BenchmarkOverlap::search(&slices, self, share, what, threads))?)
    }

    fn __repr__(&self) -> String {
        format!("<OverlapFinder words={}: {} items>", self.words, self.benchmark.items())
    }
}

/// Which texts contain which items: made by `benchmark_overlap`.
///
/// >>> from crivo import benchmark_overlap
/// >>> benchmark_overlap(["two plus two", "three"], ["Two plus two?", "one"])
/// <BenchmarkOverlap 1 of 2 documents contain 1 of 2 items>
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct BenchmarkOverlap {
    hits: Vec<(u64, u64, f64, u32)>,
    edits: Edits,
    documents: u64,
    documents_hit: u64,
    items: usize,
    items_hit: u64,
    missing: usize,
}

impl BenchmarkOverlap {
    fn search(
        slices: &[Option<&[u8]>],
        finder: &OverlapFinder,
        share: f64,
        what: Cut,
        threads: usize,
    ) -> crivo_near::Result<Self> {
        let OverlapFinder { benchmark, positions, .. } = finder;
        let present = PresentTexts::of(slices);
        let texts = crivo_near::Texts::new(&present.texts, threads);
        let found = overlap(&texts, benchmark, share, MEMORY)?;
        let (mut hits, mut is_hit) = (Vec::new(), vec![false; present.texts.len()]);
        found.for_each(|place, hit| {
            if let Some(is_hit) = usize::try_from(place).ok().and_then(|place| is_hit.get_mut(place)) {
                *is_hit = true;
            }
            let item = positions.of(benchmark.place(hit.item));
            hits.push((present.position(place), item, hit.share, hit.run));
            Ok(())
        })?;
        let edits = Edits::of(
            &present,
            threads,
            || benchmark.matcher(share),
            |matcher, place, text| {
                if what == Cut::None || !is_hit[place as usize] {
                    return Ok(Edit::Keep);
                }
                if what == Cut::Document {
                    return Ok(Edit::Drop);
                }
                let mut left = Vec::new();
                cut(text, &matcher.ranges(text), what, &mut left);
                Ok(Edit::Replace(left))
            },
        )?;
        Ok(Self {
            hits,
            edits,
            documents: found.documents,
            documents_hit: found.documents_hit,
            items: benchmark.items(),
            items_hit: found.items_hit,
            missing: present.missing(),
        })
    }
}

#[pymethods]
impl BenchmarkOverlap {
    /// Each hit, in the order of the texts: the positions of the text and of the item, the share of
    /// the item's runs, and the words of the longest run in common.
    #[getter]
    fn hits(&self) -> Vec<(u64, u64, f64, u32)> {
        self.hits.clone()
    }

    /// The positions of the texts that stay, missing ones among them.
    #[getter]
    fn kept<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        self.edits.kept(py)
    }

    /// The positions of the texts that stay and change, and what is left of each: bytes if it is
    /// not UTF-8.
    #[getter]
    fn changed<'py>(&self, py: Python<'py>) -> Result<Vec<(u64, Bound<'py, PyAny>)>> {
        self.edits.changed(py)
    }

    /// How many texts there are, missing and empty ones left out.
    #[getter]
    fn documents(&self) -> u64 {
        self.documents
    }

    /// How many texts contain an item.
    #[getter]
    fn documents_hit(&self) -> u64 {
        self.documents_hit
    }

    /// How many items there are, missing and empty ones left out.
    #[getter]
    fn items(&self) -> usize {
        self.items
    }

    /// How many items some text contains.
    #[getter]
    fn items_hit(&self) -> u64 {
        self.items_hit
    }

    /// How many texts are missing or empty.
    #[getter]
    fn missing(&self) -> usize {
        self.missing
    }

    fn __repr__(&self) -> String {
        let Self { documents, documents_hit, items, items_hit, .. } = self;
        format!(
            "<BenchmarkOverlap {documents_hit} of {documents} documents contain {items_hit} of {items} items>"
        )
    }
}
