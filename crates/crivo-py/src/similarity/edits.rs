//! The result of cutting passages from texts: which texts are kept, changed or dropped.

use crivo::keys::KeyRef;
use crivo_near::{Cut, deal};
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::errors::{Failure, Result};
use crate::keys::to_python;

/// The texts that are neither missing nor empty, and the position of each.
pub(super) struct PresentTexts<'a> {
    pub(super) texts: Vec<&'a [u8]>,
    pub(super) positions: Positions,
    all: usize,
}

/// The positions of the present texts among all.
pub(super) struct Positions(Vec<u64>);

impl Positions {
    /// Returns the position of a text from its index among the present texts.
    pub(super) fn of(&self, place: u64) -> u64 {
        usize::try_from(place).ok().and_then(|place| self.0.get(place)).copied().unwrap_or(u64::MAX)
    }
}

impl<'a> PresentTexts<'a> {
    pub(super) fn of(slices: &[Option<&'a [u8]>]) -> Self {
        let (positions, texts) = (0..)
            .zip(slices)
            .filter_map(|(position, text)| Some((position, (*text)?)))
            .filter(|(_, text)| !text.is_empty())
            .unzip();
        Self { texts, positions: Positions(positions), all: slices.len() }
    }

    /// Returns the position of a text from its index among the present texts.
    pub(super) fn position(&self, place: u64) -> u64 {
        self.positions.of(place)
    }

    pub(super) fn missing(&self) -> usize {
        self.all - self.texts.len()
    }
}

/// The effect of an edit on a text.
#[derive(Debug)]
pub(super) enum Edit {
    Keep,
    Replace(Vec<u8>),
    Drop,
}

/// The effects on all texts.
#[derive(Debug, Default)]
pub(super) struct Edits {
    /// The positions of the dropped texts, in ascending order.
    dropped: Vec<u64>,
    /// The positions of the changed texts, in ascending order, with their new contents.
    changed: Vec<(u64, Vec<u8>)>,
    all: usize,
}

/// The number of texts that a thread takes at once. It is large because most texts take little
/// time.
const TEXTS_AT_ONCE: usize = 256;

impl Edits {
    /// Calls `edit` for each text. `make` makes the state of each thread.
    pub(super) fn of<S: Send>(
        present: &PresentTexts<'_>,
        threads: usize,
        make: impl Fn() -> crivo_near::Result<S> + Sync,
        edit: impl Fn(&mut S, u64, &[u8]) -> crivo_near::Result<Edit> + Sync,
    ) -> crivo_near::Result<Self> {
        let tasks = present.texts.len().div_ceil(TEXTS_AT_ONCE);
        let parts = deal(
            threads,
            tasks,
            || (None, Self::default()),
            |(state, edits), task| {
                let state = match state {
                    Some(state) => state,
                    None => state.insert(make()?),
                };
                let first = task * TEXTS_AT_ONCE;
                for (index, text) in present.texts[first..].iter().take(TEXTS_AT_ONCE).enumerate() {
                    let place = (first + index) as u64;
                    match edit(state, place, text)? {
                        Edit::Keep => {}
                        Edit::Replace(left) => edits.changed.push((present.position(place), left)),
                        Edit::Drop => edits.dropped.push(present.position(place)),
                    }
                }
                Ok(())
            },
        )?;
        let mut all = Self { all: present.all, ..Self::default() };
        for (_, mut edits) in parts {
            all.dropped.append(&mut edits.dropped);
            all.changed.append(&mut edits.changed);
        }
        all.dropped.sort_unstable();
        all.changed.sort_unstable_by_key(|change| change.0);
        Ok(all)
    }

    /// Returns the positions of the texts that are not dropped.
    pub(super) fn kept<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        let mut dropped = self.dropped.iter().copied().peekable();
        let stays = |position: &u64| dropped.next_if_eq(position).is_none();
        PyArray1::from_vec(py, (0..self.all as u64).filter(stays).collect())
    }

    /// Returns the positions of the changed texts, with their new contents: `str`, or `bytes` if it
    /// is not UTF-8.
    pub(super) fn changed<'py>(&self, py: Python<'py>) -> Result<Vec<(u64, Bound<'py, PyAny>)>> {
        let change = |(position, left): &(u64, Vec<u8>)| Ok((*position, to_python(py, KeyRef::Bytes(left))?));
        self.changed.iter().map(change).collect()
    }
}

/// Returns the extent of a cut from its name on the command line.
pub(super) fn cut_of(name: &str) -> Result<Cut> {
    match name {
        "words" => Ok(Cut::Words),
        "sentence" => Ok(Cut::Sentence),
        "paragraph" => Ok(Cut::Paragraph),
        "document" => Ok(Cut::Document),
        "none" => Ok(Cut::None),
        _ => {
            let expected = "'words', 'sentence', 'paragraph', 'document' or 'none'";
            Err(Failure::Parameter(format!("cut: expected {expected}, found '{name}'")))
        }
    }
}
