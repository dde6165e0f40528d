//! [`Bands`]: decides which pairs of signatures are candidates.

use crivo::Confidence;
use crivo::similarity::Bands as Library;
use crivo::similarity::MinHash as Sketch;
use numpy::PyArray1;
use pyo3::prelude::*;

use super::MinHash;
use crate::errors::{Result, setting_in};
use crate::estimate::Estimate;
use crate::keys::weights_of;
use crate::sketch::Reduced;

/// A way to cut signatures into `bands` bands of `rows` slots each. Two sets of similarity J meet,
/// in at least one band, with probability 1 − (1 − J^rows)^bands.
///
/// >>> from crivo import Bands
/// >>> bands = Bands.for_threshold(0.8, hashes=128)
/// >>> bands
/// Bands(16, 6)
/// >>> bands.probability(0.8) > 0.99, bands.probability(0.3) < 0.02
/// (True, True)
#[pyclass(module = "crivo", frozen, eq, hash)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Bands(pub(super) Library);

#[allow(clippy::trivially_copy_pass_by_ref)] // Python hands over a reference
#[pymethods]
impl Bands {
    #[new]
    fn new(bands: &Bound<'_, PyAny>, rows: &Bound<'_, PyAny>) -> Result<Self> {
        Ok(Self(Library::new(count_of("bands", bands)?, count_of("rows", rows)?)?))
    }

    /// The bands in which pairs of the threshold's similarity meet with a probability of at least
    /// 99 %, pairs above it more often, and as few pairs below it as that number of hashes allows.
    #[staticmethod]
    #[pyo3(signature = (threshold, hashes = None))]
    #[pyo3(text_signature = "(threshold, hashes=128)")]
    fn for_threshold(threshold: f64, hashes: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        Ok(Self(Library::for_threshold(threshold, hashes_of(hashes)?)?))
    }

    /// The bands in which pairs of the threshold's similarity meet with at least the probability
    /// `recall`, and as few pairs below it as that number of hashes allows.
    ///
    /// >>> Bands.for_recall(0.8, 0.9999)
    /// Bands(24, 5)
    #[staticmethod]
    #[pyo3(signature = (threshold, recall, hashes = None))]
    #[pyo3(text_signature = "(threshold, recall, hashes=128)")]
    fn for_recall(threshold: f64, recall: f64, hashes: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        Ok(Self(Library::for_recall(threshold, recall, hashes_of(hashes)?)?))
    }

    /// The bands that lose least, where a pair above the threshold that does not meet costs
    /// `miss_weight` and one below it that does costs `false_alarm_weight`, all similarities being
    /// equally frequent.
    #[staticmethod]
    #[pyo3(signature = (threshold, miss_weight, false_alarm_weight, hashes = None))]
    #[pyo3(text_signature = "(threshold, miss_weight, false_alarm_weight, hashes=128)")]
    fn for_weights(
        py: Python<'_>,
        threshold: f64,
        miss_weight: f64,
        false_alarm_weight: f64,
        hashes: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        let hashes = hashes_of(hashes)?;
        Ok(Self(py.detach(|| Library::for_weights(threshold, hashes, miss_weight, false_alarm_weight))?))
    }

    /// The bands of fewest slots whose curve passes below one point and above another, each a
    /// similarity and the probability to meet there.
    ///
    /// >>> Bands.for_points((0.6, 0.01), (0.9, 0.99))
    /// Bands(20, 15)
    #[staticmethod]
    fn for_points(py: Python<'_>, low: (f64, f64), high: (f64, f64)) -> Result<Self> {
        Ok(Self(py.detach(|| Library::for_points(low, high))?))
    }

    /// How many bands there are: how many chances a pair has to meet.
    #[getter]
    fn bands(&self) -> u32 {
        self.0.bands()
    }

    /// How many slots have to be equal for a band to be.
    #[getter]
    fn rows(&self) -> u32 {
        self.0.rows()
    }

    /// How many slots of a signature are used: bands times rows.
    #[getter]
    fn slots(&self) -> u32 {
        self.0.slots()
    }

    /// Where the curve is about steepest: (1/bands)^(1/rows).
    #[getter]
    fn approximate_threshold(&self) -> f64 {
        self.0.approximate_threshold()
    }

    /// The probability that a pair of the given similarity meets.
    ///
    /// >>> round(Bands(20, 5).probability(0.8), 4)
    /// 0.9996
    fn probability(&self, similarity: f64) -> f64 {
        self.0.probability(similarity)
    }

    /// The probabilities that pairs of the given similarities meet: the curve, ready to be drawn.
    ///
    /// >>> Bands(20, 5).curve([0, 0.2, 0.4, 0.6, 0.8, 1]).round(3)
    /// array([0.   , 0.006, 0.186, 0.802, 1.   , 1.   ])
    fn curve<'py>(
        &self,
        py: Python<'py>,
        similarities: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyArray1<f64>>> {
        let similarities = weights_of::<f64>(similarities)?;
        let probabilities = similarities.iter().map(|&similarity| self.0.probability(similarity)).collect();
        Ok(PyArray1::from_vec(py, probabilities))
    }

    /// How many pairs exist beside those that were found, from the similarities of all that were
    /// found. Where none was found nothing is known, and the upper bound is infinite.
    ///
    /// >>> missed = Bands(16, 6).expected_missed([0.8] * 1000)
    /// >>> round(missed.value, 1), missed.lower >= 2, missed.upper <= 16
    /// (7.8, True, True)
    #[pyo3(signature = (similarities, confidence = 0.95))]
    fn expected_missed(&self, similarities: &Bound<'_, PyAny>, confidence: f64) -> Result<Estimate> {
        let (similarities, confidence) = (weights_of::<f64>(similarities)?, Confidence::new(confidence)?);
        Ok(self.0.expected_missed_at(similarities, confidence)?.into())
    }

    /// One number for each band of a sketch, equal for those that are equal in all rows of the
    /// band. `IncompatibleError` if the sketch has fewer slots than the bands use, as that of an
    /// empty set.
    fn keys<'py>(&self, py: Python<'py>, sketch: &Bound<'py, MinHash>) -> Result<Bound<'py, PyArray1<u64>>> {
        let (sketch, mut keys) = (sketch.get().sketch(py), Vec::new());
        self.0.keys(sketch.slots(), &mut keys)?;
        Ok(PyArray1::from_vec(py, keys))
    }

    fn __repr__(&self) -> String {
        format!("Bands({}, {})", self.0.bands(), self.0.rows())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Reduced<'py, (u32, u32)> {
        (slf.get_type().into_any(), (slf.get().bands(), slf.get().rows()))
    }
}

fn count_of(name: &'static str, count: &Bound<'_, PyAny>) -> Result<u32> {
    Ok(setting_in(name, count, 1..=u64::from(*Sketch::SIZES.end()))? as u32)
}

/// Reads the length of signatures, by default 128.
pub(super) fn hashes_of(hashes: Option<&Bound<'_, PyAny>>) -> Result<u32> {
    hashes.map_or(Ok(128), |hashes| count_of("hashes", hashes))
}
