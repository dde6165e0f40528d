//! The steps of [`repeated_passages`](super::repeated_passages), for callers that distribute them
//! over machines.

use crivo::keys::KeyRef;
use crivo_near::{Cut, PassageSteps, SharedWindow, count_words};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use super::edits::cut_of;
use super::texts::{Texts, bytes_of_text};
use crate::errors::{Failure, Result, setting};
use crate::keys::to_python;

/// Makes of texts what has to travel to find passages that stand in two of them. Each step is that
/// of `repeated_passages`, and so are the passages that come of it.
///
/// `anchors` of all texts meet by their hashes. Of those that stand in several places, `windows`
/// meet by anchor and key; the first of equal ones is the first occurrence of the others.
/// `passages` extends them to whole passages, and `cut` takes those out of a text.
///
/// >>> from crivo.distributed import PassageFinder
/// >>> finder = PassageFinder(8)
/// >>> texts = ["So: a b c d e f g h i.", "And a b c d e f g h i?"]
/// >>> starts, hashes, positions = finder.anchors(texts)
/// >>> starts, windows, anchors, keys = finder.windows(texts, starts, positions)
/// >>> starts, windows
/// (array([0, 3, 6]), array([0, 1, 2, 0, 1, 2], dtype=uint32))
/// >>> bool((keys[1:3] == keys[4:]).all())
/// True
/// >>> import numpy as np
/// >>> one, none = np.array([1], "u4"), np.array([0], "u4")
/// >>> found = finder.passages(texts[1], texts[:1], one, none, one)
/// >>> found
/// [(4, 21, 0, 4, 21)]
/// >>> finder.cut(texts[1], [(start, end) for start, end, *_ in found])
/// 'And ?'
#[allow(rustdoc::broken_intra_doc_links)] // Python's brackets are no links
#[pyclass(module = "crivo.distributed", frozen)]
#[derive(Debug)]
pub(crate) struct PassageFinder {
    min_words: usize,
    seed: u64,
}

/// The start of the anchors of each text, with the end of the last; their hashes and positions.
type Anchors<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u32>>);

/// The start of the windows of each text, with the end of the last; their first words, anchors and
/// keys.
type Windows<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u64>>,
);

/// A passage as first byte and end, the earlier text that has it, and first byte and end there.
type FoundPassage = (usize, usize, u32, usize, usize);

#[pymethods]
impl PassageFinder {
    #[new]
    #[pyo3(signature = (min_words = None, *, seed = None))]
    #[pyo3(text_signature = "(min_words=50, *, seed=0)")]
    fn new(min_words: Option<&Bound<'_, PyAny>>, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        let min_words = min_words.map_or(Ok(50), |words| setting("min_words", words, "8 to 50000"))?;
        let seed = seed.map_or(Ok(0), |seed| setting("seed", seed, "0 to 2^64 - 1"))?;
        PassageSteps::new(min_words, seed)?;
        Ok(Self { min_words, seed })
    }

    /// For each text where its anchors begin, with the end of the last; the hash of each anchor and
    /// the number of its first word. A missing text has none. `texts` are as for `Signer.sign`.
    fn anchors<'py>(&self, py: Python<'py>, texts: &Bound<'py, PyAny>) -> Result<Anchors<'py>> {
        let texts = Texts::of(texts)?;
        let slices = texts.slices()?;
        let (starts, hashes, positions) = py.detach(|| {
            let mut steps = PassageSteps::new(self.min_words, self.seed)?;
            let (mut starts, mut hashes, mut positions) = (vec![0], Vec::new(), Vec::new());
            for text in &slices {
                for anchor in steps.anchors(text.unwrap_or_default()) {
                    hashes.push(anchor.hash);
                    positions.push(anchor.position as u32);
                }
                starts.push(hashes.len() as i64);
            }
            Ok::<_, crivo_near::Error>((starts, hashes, positions))
        })?;
        Ok((
            PyArray1::from_vec(py, starts),
            PyArray1::from_vec(py, hashes),
            PyArray1::from_vec(py, positions),
        ))
    }

    /// The windows that select some anchors of each text: where those of each text begin, with the
    /// end of the last; the number of each window's first word, the hash of its anchor, and its
    /// key. `starts` and `positions` are as `anchors` gives them, those of each text ascending.
    #[allow(clippy::needless_pass_by_value)] // how PyO3 hands over arrays
    fn windows<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        starts: PyReadonlyArray1<'py, i64>,
        positions: PyReadonlyArray1<'py, u32>,
    ) -> Result<Windows<'py>> {
        let texts = Texts::of(texts)?;
        let slices = texts.slices()?;
        let (starts, positions) = (contiguous("starts", &starts)?, contiguous("positions", &positions)?);
        let lists: Option<Vec<&[u32]>> = starts
            .windows(2)
            .map(|pair| positions.get(usize::try_from(pair[0]).ok()?..usize::try_from(pair[1]).ok()?))
            .collect();
        let lists = lists.filter(|lists| lists.len() == slices.len()).ok_or_else(|| {
            let texts = slices.len();
            let message =
                format!("starts: expected ascending places for {texts} texts, and the end of the last");
            Failure::Parameter(message)
        })?;
        let (starts, windows, anchors, keys) = py.detach(|| {
            let mut steps = PassageSteps::new(self.min_words, self.seed)?;
            let (mut starts, mut windows) = (vec![0], Vec::new());
            let (mut anchors, mut keys) = (Vec::new(), Vec::new());
            for (text, positions) in slices.iter().zip(lists) {
                steps.windows(text.unwrap_or_default(), positions, |window, anchor, key| {
                    windows.push(window);
                    anchors.push(anchor);
                    keys.push(key);
                });
                starts.push(windows.len() as i64);
            }
            Ok::<_, crivo_near::Error>((starts, windows, anchors, keys))
        })?;
        Ok((
            PyArray1::from_vec(py, starts),
            PyArray1::from_vec(py, windows),
            PyArray1::from_vec(py, anchors),
            PyArray1::from_vec(py, keys),
        ))
    }

    /// The passages of a text, from left to right: first byte, byte behind the last, which of the
    /// `earlier` texts has it, and the same bytes there. `windows` are the first words of windows
    /// that stood before; `places` says in which of the earlier texts each stands first, and
    /// `firsts` with which word it begins there. `RuntimeError` if one differs: the texts changed
    /// meanwhile.
    #[allow(clippy::needless_pass_by_value)] // how PyO3 hands over arrays
    fn passages<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        earlier: &Bound<'py, PyAny>,
        windows: PyReadonlyArray1<'py, u32>,
        places: PyReadonlyArray1<'py, u32>,
        firsts: PyReadonlyArray1<'py, u32>,
    ) -> Result<Vec<FoundPassage>> {
        let (text, earlier) = (bytes_of_text(text)?, Texts::of(earlier)?);
        let earlier: Vec<&[u8]> = earlier.slices()?.into_iter().map(Option::unwrap_or_default).collect();
        let windows = contiguous("windows", &windows)?;
        let (places, firsts) = (contiguous("places", &places)?, contiguous("firsts", &firsts)?);
        if [places.len(), firsts.len()] != [windows.len(); 2] {
            let count = windows.len();
            return Err(Failure::Parameter(format!(
                "places and firsts: expected {count}, one for each window"
            )));
        }
        let shared = windows.iter().zip(places).zip(firsts);
        let shared: Vec<SharedWindow> =
            shared.map(|((&window, &text), &first)| SharedWindow { window, text, first }).collect();
        let found =
            py.detach(|| PassageSteps::new(self.min_words, self.seed)?.passages(text, &earlier, &shared))?;
        let places = found.into_iter();
        Ok(places.map(|one| (one.start, one.end, one.text, one.first_start, one.first_end)).collect())
    }

    /// What is left of a text without some bytes; None if it goes. `cut` and `min_left` are as for
    /// `repeated_passages`; `ranges` may overlap.
    #[pyo3(signature = (text, ranges, cut = "words", min_left = 0))]
    #[allow(clippy::unused_self)] // a step like the others, called where those are
    fn cut<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        mut ranges: Vec<(usize, usize)>,
        cut: &str,
        min_left: usize,
    ) -> Result<Option<Bound<'py, PyAny>>> {
        let (bytes, what) = (bytes_of_text(text)?, cut_of(cut)?);
        ranges.retain(|(start, end)| start < end && *end <= bytes.len());
        ranges.sort_unstable();
        let mut merged: Vec<std::ops::Range<usize>> = Vec::new();
        for (start, end) in ranges {
            match merged.last_mut() {
                Some(last) if start <= last.end => last.end = last.end.max(end),
                _ => merged.push(start..end),
            }
        }
        if merged.is_empty() || what == Cut::None {
            return Ok(Some(text.clone()));
        }
        let mut left = Vec::new();
        crivo_near::cut(bytes, &merged, what, &mut left);
        if what == Cut::Document || count_words(&left) < min_left {
            return Ok(None);
        }
        Ok(Some(to_python(text.py(), KeyRef::Bytes(&left))?))
    }

    fn __repr__(&self) -> String {
        format!("<PassageFinder min_words={}>", self.min_words)
    }
}

fn contiguous<'a, T: numpy::Element>(name: &str, array: &'a PyReadonlyArray1<'_, T>) -> Result<&'a [T]> {
    array.as_slice().map_err(|_| Failure::Parameter(format!("{name}: expected a contiguous array")))
}
