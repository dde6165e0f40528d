//! [`CounterArray`]: many Morris counters, addressed by index.

use std::fmt;

use crivo::Confidence;
use crivo::counting::CounterArray as Sketch;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::{events_of, seed_of};
use crate::errors::{Failure, Result, setting};
use crate::estimate::Estimate;
use crate::sketch::{Reduced, Shared, common_methods};

/// Counts the events of very many kinds, approximately, with one counter of 4, 8 or 16 bits for
/// each kind. Kinds are numbered from 0.
///
/// Each counter is a `MorrisCounter`, with a relative standard error of √((base − 1)/2). Random
/// draws follow from the seed, so the same calls in the same order give the same array. Arrays that
/// will be merged need different seeds, or their errors add up.
///
/// >>> from crivo import CounterArray
/// >>> views = CounterArray.for_reach(1_000_000, reach=1e10, counter_bits=8, seed=7)
/// >>> views.increment_batch([3, 999_999, 3])
/// >>> views.add(17, 5000)
/// >>> 5000 in views.estimate(17), len(views), views.memory < 1_010_000
/// (True, 1000000, True)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct CounterArray(Shared<Sketch>);

common_methods!(CounterArray, Sketch);

#[pymethods]
impl CounterArray {
    #[new]
    #[pyo3(signature = (len, base, counter_bits, *, seed = None))]
    #[pyo3(text_signature = "(len, base, counter_bits, *, seed=0)")]
    fn new(
        len: &Bound<'_, PyAny>,
        base: f64,
        counter_bits: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        Ok(Self(Shared::new(Sketch::new(len_of(len)?, base, bits_of(counter_bits)?, seed_of(seed)?)?)))
    }

    /// Returns the `len` most precise counters of `counter_bits` bits that each count up to `reach`
    /// events.
    #[staticmethod]
    #[pyo3(signature = (len, reach, counter_bits, *, seed = None))]
    #[pyo3(text_signature = "(len, reach, counter_bits, *, seed=0)")]
    fn for_reach(
        len: &Bound<'_, PyAny>,
        reach: f64,
        counter_bits: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        Ok(Self(Shared::new(Sketch::for_reach(len_of(len)?, reach, bits_of(counter_bits)?, seed_of(seed)?)?)))
    }

    /// The smallest base with which counters of `counter_bits` bits count up to `reach` events.
    ///
    /// >>> round(CounterArray.base_for(1e10, 16), 4)
    /// 1.0002
    #[staticmethod]
    fn base_for(reach: f64, counter_bits: &Bound<'_, PyAny>) -> Result<f64> {
        Ok(Sketch::base_for(reach, bits_of(counter_bits)?)?)
    }

    /// Counts one event of the given index.
    ///
    /// >>> CounterArray(10, 1.1, 8).increment(10)
    /// Traceback (most recent call last):
    /// ...
    /// crivo.errors.InvalidParameterError: index: expected 0 to 9, found 10
    fn increment(&self, py: Python<'_>, index: &Bound<'_, PyAny>) -> Result<()> {
        let index = self.index_of(index)?;
        Ok(self.0.quick(py, |array| array.increment(index))?)
    }

    /// Counts one event of each of the given indexes, which may repeat. Same result as one by one,
    /// but faster.
    ///
    /// `indexes` is a NumPy array of integers, an object that converts to one, or an iterable of
    /// integers. A NumPy array of 64-bit integers is read in place and without the GIL. If an index
    /// has no counter, nothing is counted.
    fn increment_batch(&self, py: Python<'_>, indexes: &Bound<'_, PyAny>) -> Result<()> {
        if indexes.hasattr(intern!(py, "__array__"))? {
            return self.increment_array(indexes);
        }
        let range = self.range(py);
        let indexes = indexes
            .try_iter()?
            .map(|index| setting("index", &index?, range))
            .collect::<Result<Vec<u64>>>()?;
        Ok(self.0.detached(py, |array| array.increment_batch(&indexes))?)
    }

    /// Counts many events of one index. The cost is the number of steps by which its counter rises.
    fn add(&self, py: Python<'_>, index: &Bound<'_, PyAny>, events: &Bound<'_, PyAny>) -> Result<()> {
        let (index, events) = (self.index_of(index)?, events_of(events)?);
        Ok(self.0.quick(py, |array| array.add(index, events))?)
    }

    /// The number of events of an index, with bounds at the given confidence. Zero events are
    /// exact. A saturated counter has no upper bound.
    #[pyo3(signature = (index, confidence = 0.95))]
    fn estimate(&self, py: Python<'_>, index: &Bound<'_, PyAny>, confidence: f64) -> Result<Estimate> {
        let (index, confidence) = (self.index_of(index)?, Confidence::new(confidence)?);
        Ok(self.0.quick(py, |array| array.estimate_at(index, confidence))?.into())
    }

    /// The number of events of all indexes together, with bounds at the given confidence. The
    /// errors of the counters average out: a million counters of 20 % give a sum of 0.02 % if none
    /// of them dominates.
    #[pyo3(signature = (confidence = 0.95))]
    fn total(&self, py: Python<'_>, confidence: f64) -> Result<Estimate> {
        let confidence = Confidence::new(confidence)?;
        Ok(self.0.detached(py, |array| array.total_at(confidence)).into())
    }

    /// The value of a counter: the number of times that it was raised.
    fn value(&self, py: Python<'_>, index: &Bound<'_, PyAny>) -> Result<u16> {
        let index = self.index_of(index)?;
        Ok(self.0.quick(py, |array| array.value(index))?)
    }

    /// The values of all counters, in the order of their indexes, as a NumPy array.
    ///
    /// >>> array = CounterArray(4, 1.1, 8)
    /// >>> array.increment_batch([2, 0])
    /// >>> array.values().tolist()
    /// [1, 0, 1, 0]
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u16>> {
        PyArray1::from_vec(py, self.0.detached(py, |array| array.values().collect()))
    }

    /// The width of a counter in bits.
    #[getter]
    fn counter_bits(&self, py: Python<'_>) -> u8 {
        self.0.quick(py, |array| array.counter_bits())
    }

    /// The base of the scale.
    #[getter]
    fn base(&self, py: Python<'_>) -> f64 {
        self.0.quick(py, |array| array.base())
    }

    /// The highest value of a counter, at which it stays.
    #[getter]
    fn highest(&self, py: Python<'_>) -> u16 {
        self.0.quick(py, |array| array.highest())
    }

    /// The largest estimate of one counter: the estimate at its highest value.
    #[getter]
    fn reach(&self, py: Python<'_>) -> f64 {
        self.0.quick(py, |array| array.reach())
    }

    /// The number of counters at their highest value. They stay there, and have no upper bound.
    #[getter]
    fn saturated(&self, py: Python<'_>) -> u64 {
        self.0.detached(py, |array| array.saturated())
    }

    /// Bytes of memory in use.
    #[getter]
    fn memory(&self, py: Python<'_>) -> usize {
        self.0.quick(py, |array| array.memory())
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.0.quick(py, |array| array.len()) as usize
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (len, bits, base) = (self.__len__(py), self.counter_bits(py), self.base(py));
        let total = self.0.detached(py, |array| array.total());
        format!("<CounterArray len={len}, base={base}, counter_bits={bits}: {total}>")
    }
}

impl CounterArray {
    fn range(&self, py: Python<'_>) -> Indexes {
        Indexes { last: self.0.quick(py, |array| array.len()) - 1 }
    }

    fn index_of(&self, index: &Bound<'_, PyAny>) -> Result<u64> {
        setting("index", index, self.range(index.py()))
    }

    /// Counts the indexes of a NumPy array, or of an object that converts to one.
    fn increment_array(&self, values: &Bound<'_, PyAny>) -> Result<()> {
        let py = values.py();
        let range = self.range(py);
        let numpy = py.import(intern!(py, "numpy"))?;
        let array = numpy.call_method1("asarray", (values,))?;
        let dtype = array.getattr("dtype")?;
        let kind: char = dtype.getattr("kind")?.extract()?;
        let dimensions: usize = array.getattr("ndim")?.extract()?;
        if !matches!(kind, 'i' | 'u') || dimensions != 1 {
            let message = format!(
                "indexes: expected an array of integers of one dimension, found dtype {} and {dimensions} \
                 dimensions (convert it with array.astype and array.ravel)",
                dtype.str()?
            );
            return Err(Failure::Parameter(message));
        }
        // Copies only an array that is strided, byte-swapped or narrower.
        let wide = if kind == 'i' { "i8" } else { "u8" };
        let array = numpy.call_method1("ascontiguousarray", (array, wide))?.call_method1("view", ("u8",))?;
        let array = array.cast::<PyArray1<u64>>().map_err(PyErr::from)?.readonly();
        let indexes = array.as_slice().map_err(PyErr::from)?;
        py.detach(|| {
            // The view turned a negative index into a huge one. That is out of range too, but the
            // error should name the number that the caller gave.
            let negative = indexes.iter().map(|&index| index.cast_signed()).find(|&index| index < 0);
            if let Some(index) = negative.filter(|_| kind == 'i') {
                return Err(Failure::Parameter(format!("index: expected {range}, found {index}")));
            }
            Ok(())
        })?;
        Ok(self.0.detached(py, |array| array.increment_batch(indexes))?)
    }
}

/// The range of valid indexes, as errors show it.
#[derive(Clone, Copy)]
struct Indexes {
    last: u64,
}

impl fmt::Display for Indexes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0 to {}", self.last)
    }
}

fn len_of(len: &Bound<'_, PyAny>) -> Result<u64> {
    setting("len", len, "at least 1 counter")
}

fn bits_of(counter_bits: &Bound<'_, PyAny>) -> Result<u8> {
    setting("counter bits", counter_bits, "4, 8 or 16")
}
