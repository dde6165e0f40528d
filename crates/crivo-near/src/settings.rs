//! What counts as alike, and what it may cost.

use crivo::similarity::Bands;
use crivo::similarity::shingle::Shingles;

use crate::error::{Error, Result};
use crate::parallel::thread_count;
use crate::work::WorkFolder;

/// The least memory a run can be given: buffers of a few kilobytes for every part of the work.
pub(crate) const LEAST_MEMORY: u64 = 16 << 20;

/// What of two documents is held against the threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Measure {
    /// The Jaccard similarity: the shingles that both have, as a share of those that either has.
    #[default]
    Jaccard,
    /// The containment: the shingles of the shorter document that the longer has too, as a share of
    /// its own. Of equally long ones the later counts as the shorter. With
    /// [`Keep::Longest`](crate::Keep) a document goes if the threshold of it stands in one that is
    /// kept.
    Containment,
}

/// How near-duplicates are looked for. The default is what most people want: five-word shingles, a
/// similarity of 0.8, candidates verified exactly.
#[derive(Debug, Clone)]
pub struct Settings {
    /// From which similarity on two documents are near-duplicates: above 0, at most 1.
    pub threshold: f64,
    /// What similarity is.
    pub measure: Measure,
    /// What of a text is compared. Where words are, texts in scripts without blanks are cut by
    /// characters; see [`TextShingler`](crate::TextShingler).
    pub shingles: Shingles,
    /// Bring texts to Unicode's normal form C before they are cut.
    pub nfc: bool,
    /// Of every hash. Documents compare only under the same seed.
    pub seed: u64,
    /// The length of a signature.
    pub hashes: u32,
    /// How the signature is cut; by default so that 99 % of the pairs at the threshold are found.
    pub bands: Option<Bands>,
    /// Trust signatures: report estimated similarities instead of computing each from the
    /// documents. Quicker where nearly everything is a duplicate.
    pub fast: bool,
    /// List every pair. By default very large clusters have only the pairs of their first member
    /// with each other one, because a million documents have half a billion pairs.
    pub all_pairs: bool,
    /// About how many bytes to use; what does not fit is kept in a temporary file. 24 bytes a
    /// document have to fit in three quarters of it.
    pub memory: u64,
    /// On how many threads; 0 means as many as there are processors.
    pub threads: usize,
    /// Where stages are kept, so that a killed run continues; nowhere by default.
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
    /// How the signature is cut.
    ///
    /// # Errors
    /// If threshold or hashes are out of range, or the bands need more hashes than there are.
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

    /// Returns true if a small collection's sets are kept from the first reading. A run with a work
    /// folder writes them there.
    pub(crate) fn keeps_sets(&self) -> bool {
        !self.fast && self.work.is_none()
    }

    /// Returns all settings that decide the outcome of a run, one on each line, for a work folder.
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
