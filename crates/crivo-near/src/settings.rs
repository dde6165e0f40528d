//! What counts as similar, and how much memory and how many threads a run may use.

use crivo::similarity::Bands;
use crivo::similarity::shingle::Shingles;

use crate::error::{Error, Result};
use crate::parallel::thread_count;
use crate::work::WorkFolder;

/// The least memory of a run: buffers of a few kilobytes for every part of the work.
pub(crate) const LEAST_MEMORY: u64 = 16 << 20;

/// The measure of two documents that is compared with the threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Measure {
    /// The Jaccard similarity: the number of shingles that both documents have, as a share of those
    /// that at least one has.
    #[default]
    Jaccard,
    /// The containment: the share of the shorter document's shingles that the longer one has too.
    /// Of equally long documents the later one counts as the shorter. With
    /// [`Keep::Longest`](crate::Keep) a document is removed if its containment in a kept document
    /// is at least the threshold.
    Containment,
}

/// The settings of a search for near-duplicates. The default is what most users want: five-word
/// shingles, a similarity of 0.8, candidates verified exactly.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The least similarity of near-duplicates: above 0, at most 1.
    pub threshold: f64,
    /// The measure of similarity.
    pub measure: Measure,
    /// The parts of a text that are compared. If they are words, texts in scripts without blanks
    /// are cut by characters; see [`TextShingler`](crate::TextShingler).
    pub shingles: Shingles,
    /// Convert texts to Unicode's normal form C before they are cut.
    pub nfc: bool,
    /// The seed of every hash. Only documents with the same seed can be compared.
    pub seed: u64,
    /// The length of a signature.
    pub hashes: u32,
    /// The bands of the signature. By default 99 % of the pairs at the threshold are found.
    pub bands: Option<Bands>,
    /// Trust signatures: report estimated similarities instead of computing each from the
    /// documents. Faster if nearly everything is a duplicate.
    pub fast: bool,
    /// List every pair. By default only the pairs of the first member are listed in very large
    /// clusters, because a million documents have half a billion pairs.
    pub all_pairs: bool,
    /// The approximate number of bytes to use. Data that does not fit is kept in a temporary file.
    /// 24 bytes for each document must fit in three quarters of the memory.
    pub memory: u64,
    /// The number of threads. 0 means one for each processor.
    pub threads: usize,
    /// The folder that keeps stages, so that a killed run can continue. None by default.
    pub work: Option<WorkFolder>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            threshold: 0.8,
            measure: Measure::default(),
            shingles: Shingles::default(),
            nfc: false,
            seed: 0,
            hashes: 128,
            bands: None,
            fast: false,
            all_pairs: false,
            memory: 2 << 30,
            threads: 0,
            work: None,
        }
    }
}

impl Settings {
    /// Returns the bands of the signature.
    ///
    /// # Errors
    /// If threshold, memory or hashes are out of range, the bands need more hashes than there are,
    /// or `fast` is set with containment.
    pub fn bands(&self) -> Result<Bands> {
        if !(self.threshold > 0.0 && self.threshold <= 1.0) {
            return Err(Error::setting("threshold", "above 0 and at most 1", self.threshold));
        }
        if self.memory < LEAST_MEMORY {
            return Err(Error::setting("memory", "at least 16 MiB", format_args!("{} bytes", self.memory)));
        }
        if self.measure == Measure::Containment && self.fast {
            return Err(Error::setting("fast", "off: signatures do not tell the containment", "on"));
        }
        let bands = match self.bands {
            Some(bands) => bands,
            None => Bands::for_threshold(self.threshold, self.hashes)?,
        };
        if bands.slots() > self.hashes {
            return Err(Error::setting(
                "bands",
                format_args!("bands × rows of at most {} hashes", self.hashes),
                format_args!("{} × {}", bands.bands(), bands.rows()),
            ));
        }
        Ok(bands)
    }

    /// Returns true if a small collection's sets are kept in memory from the first reading. A run
    /// with a work folder writes sets to the folder instead.
    pub(crate) fn keeps_sets(&self) -> bool {
        !self.fast && self.work.is_none()
    }

    /// Returns all settings that decide the result of a run, one on each line, for a work folder.
    pub(crate) fn identity(&self) -> Result<String> {
        let bands = self.bands()?;
        Ok(format!(
            "format 2\nthreshold {}\nmeasure {:?}\nshingles {:?}\nnfc {}\nseed {}\nhashes {}\nbands {}x{}\nfast {}\nall pairs {}\n",
            self.threshold,
            self.measure,
            self.shingles,
            self.nfc,
            self.seed,
            self.hashes,
            bands.bands(),
            bands.rows(),
            self.fast,
            self.all_pairs,
        ))
    }

    pub(crate) fn thread_count(&self) -> usize {
        thread_count(self.threads)
    }
}
