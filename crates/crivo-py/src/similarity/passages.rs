//! [`repeated_passages`]: finds passages that occur in two places.

use crivo_near::{Cut, PassageSettings, count_words, cut, thread_count};
use numpy::PyArray1;
use pyo3::prelude::*;

use super::edits::{Edit, Edits, PresentTexts, cut_of};
use super::near::Signals;
use super::texts::Texts;
use crate::errors::{Result, setting};

/// Finds every run of at least `min_words` words that stands in an earlier text too, word for word.
/// Complete: no such run is missed. With `within` also what stands twice in one text; with
/// `min_count` only what stands that often in all.
///
/// `texts` is a list or other iterable of str or bytes, or an Arrow column of text. `cut` says what
/// is taken out of the later text: the "words" of the passage, the "sentence" or "paragraph" it is
/// in, the whole "document", or "none". A text that was cut and has fewer than `min_left` words
/// left is dropped. About `memory` bytes are used, and temporary files; 0 `threads` are as many as
/// there are processors. `crivo passages` gives the same outcome.
///
/// >>> from crivo import repeated_passages
/// >>> texts = ["It is so: a b c d e f g h. True.", "What? A b c d e f g h! No."]
/// >>> found = repeated_passages(texts, min_words=8)
/// >>> found.passages, found.changed
/// ([(1, 6, 21, 0, 10, 25)], [(1, 'What? ! No.')])
#[pyfunction]
#[pyo3(signature = (
    texts, *, min_words = None, within = false, min_count = None, cut = "words", min_left = 0, memory = None,
    threads = None, seed = None
))]
#[pyo3(text_signature = "(texts, *, min_words=50, within=False, min_count=2, cut='words', min_left=0, \
    memory=268435456, threads=0, seed=0)")]
#[allow(clippy::too_many_arguments)] // they are named by the caller
pub(crate) fn repeated_passages(
    texts: &Bound<'_, PyAny>,
    min_words: Option<&Bound<'_, PyAny>>,
    within: bool,
    min_count: Option<&Bound<'_, PyAny>>,
    cut: &str,
    min_left: usize,
    memory: Option<&Bound<'_, PyAny>>,
    threads: Option<&Bound<'_, PyAny>>,
    seed: Option<&Bound<'_, PyAny>>,
) -> Result<RepeatedPassages> {
    let py = texts.py();
    let what = cut_of(cut)?;
    let usual = PassageSettings::default();
    let settings = PassageSettings {
        min_words: min_words
            .map_or(Ok(usual.min_words), |words| setting("min_words", words, "8 to 50000"))?,
        within,
        min_count: min_count
            .map_or(Ok(usual.min_count), |count| setting("min_count", count, "at least 2"))?,
        seed: seed.map_or(Ok(0), |seed| setting("seed", seed, "0 to 2^64 - 1"))?,
        memory: memory.map_or(Ok(usual.memory), |bytes| setting("memory", bytes, "at least 16 MiB"))?,
        threads: thread_count(threads.map_or(Ok(0), |threads| setting("threads", threads, "0 or more"))?),
        ..usual
    };
    settings.winnow()?;
    let texts = Texts::of(texts)?;
    let slices = texts.slices()?;
    let watch = Signals::default();
    let found = py.detach(|| RepeatedPassages::search(&slices, &settings, what, min_left, &watch));
    if let Some(raised) = watch.into_raised() {
        return Err(raised.into());
    }
    Ok(found?)
}

/// A passage and its first occurrence, each as text, first byte, and the byte after the last.
type PassagePlaces = (u64, u32, u32, u64, u32, u32);

/// The passages of a collection that stand in two places: made by `repeated_passages`.
///
/// >>> from crivo import repeated_passages
/// >>> repeated_passages(["a b c d e f g h i", None, "x a b c d e f g h i"], min_words=9)
/// <RepeatedPassages 1 in 1 of 2 documents>
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct RepeatedPassages {
    passages: Vec<PassagePlaces>,
    edits: Edits,
    documents: u64,
    documents_with_passages: u64,
    missing: usize,
    bytes: u64,
    bytes_repeated: u64,
    guaranteed_words: usize,
}

impl RepeatedPassages {
    fn search(
        slices: &[Option<&[u8]>],
        settings: &PassageSettings,
        what: Cut,
        min_left: usize,
        watch: &Signals,
    ) -> crivo_near::Result<Self> {
        let present = PresentTexts::of(slices);
        let texts = crivo_near::Texts::new(&present.texts, settings.threads);
        let found = crivo_near::repeated_passages(&texts, settings, watch)?;
        let mut passages = Vec::new();
        found.for_each(|passage| {
            let (document, first) = (present.position(passage.place), present.position(passage.first_place));
            passages.push((
                document,
                passage.start,
                passage.end,
                first,
                passage.first_start,
                passage.first_end,
            ));
            Ok(())
        })?;
        let edits = Edits::of(
            &present,
            settings.threads,
            || Ok(found.lookup()),
            |lookup, place, text| {
                let ranges = lookup.ranges(place)?;
                if ranges.is_empty() || what == Cut::None {
                    return Ok(Edit::Keep);
                }
                let mut left = Vec::new();
                cut(text, ranges, what, &mut left);
                let drops = what == Cut::Document || count_words(&left) < min_left;
                Ok(if drops { Edit::Drop } else { Edit::Replace(left) })
            },
        )?;
        Ok(Self {
            passages,
            edits,
            documents: found.documents(),
            documents_with_passages: found.documents_with_passages(),
            missing: present.missing(),
            bytes: found.bytes(),
            bytes_repeated: found.bytes_repeated(),
            guaranteed_words: found.guaranteed_words(),
        })
    }
}

#[pymethods]
impl RepeatedPassages {
    /// Each passage, in the order of the texts: the position of its text, its first byte and the
    /// byte behind its last, and the same three of its first occurrence. Bytes are those of UTF-8.
    #[getter]
    fn passages(&self) -> Vec<PassagePlaces> {
        self.passages.clone()
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

    /// How many texts have a passage that stood before.
    #[getter]
    fn documents_with_passages(&self) -> u64 {
        self.documents_with_passages
    }

    /// How many texts are missing or empty.
    #[getter]
    fn missing(&self) -> usize {
        self.missing
    }

    /// The bytes of all texts.
    #[getter]
    fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The bytes that are in a passage, each counted once.
    #[getter]
    fn bytes_repeated(&self) -> u64 {
        self.bytes_repeated
    }

    /// The words of the shortest run that is sure to be found.
    #[getter]
    fn guaranteed_words(&self) -> usize {
        self.guaranteed_words
    }

    fn __len__(&self) -> usize {
        self.passages.len()
    }

    fn __repr__(&self) -> String {
        let (passages, with) = (self.passages.len(), self.documents_with_passages);
        format!("<RepeatedPassages {passages} in {with} of {} documents>", self.documents)
    }
}
