//! Sketches of quantiles in the formats of other systems.

use crivo::sketch::Quantiles;
use crivo_arrow::numbers::{ExactNumber, Number};
use crivo_interchange::{AnyKll, NumberKind, Req as ReqSketch, TDigest as Digest};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::{Exchanged, exchange_methods};
use crate::errors::{Failure, Result, setting};
use crate::estimate::Estimate;
use crate::keys::{bytes_of, number_of, take_numbers};
use crate::sketch::{INSERT, Reduced, Shared};

fn kind_of(numbers: &str) -> Result<NumberKind> {
    match numbers {
        "double" => Ok(NumberKind::Double),
        "float" => Ok(NumberKind::Float),
        "long" => Ok(NumberKind::Long),
        other => {
            Err(Failure::Parameter(format!("numbers: expected 'double', 'float' or 'long', found '{other}'")))
        }
    }
}

fn size_of(k: Option<&Bound<'_, PyAny>>, default: u16) -> Result<u16> {
    k.map_or(Ok(default), |k| setting("k", k, "a size that the sketch can have"))
}

/// A sketch that numbers of a type are added to.
trait TakesNumber {
    type Number: Number;

    fn put(&mut self, number: Self::Number);
}

impl TakesNumber for AnyKll {
    type Number = ExactNumber;

    fn put(&mut self, number: ExactNumber) {
        match number {
            ExactNumber::Whole(number) => self.insert_whole(number),
            ExactNumber::Float(number) => self.insert(number),
        }
    }
}

impl TakesNumber for ReqSketch {
    type Number = f64;

    fn put(&mut self, number: f64) {
        self.insert(number as f32);
    }
}

impl TakesNumber for Digest {
    type Number = f64;

    fn put(&mut self, number: f64) {
        self.insert(number);
    }
}

/// Defines the methods of sketches of numbers: `number_methods!(Kll, AnyKll)`.
macro_rules! number_methods {
    ($class:ident, $sketch:ty) => {
        exchange_methods!($class);

        impl Exchanged for $class {
            type Sketch = $sketch;

            fn around(&self, sketch: Shared<$sketch>) -> Self {
                Self { sketch }
            }

            fn same(mine: &$sketch, theirs: &$sketch) -> bool {
                mine.encode() == theirs.encode()
            }
        }

        #[pymethods]
        impl $class {
            /// Adds a number. NaN adds nothing.
            fn insert(&self, value: &Bound<'_, PyAny>) -> Result<()> {
                let number = number_of(value)?;
                self.sketch.quick(value.py(), |sketch| sketch.put(number));
                Ok(())
            }

            /// Adds many numbers and returns how many missing values (None, null) were skipped.
            /// `values` is whatever `NumberQuantiles.insert_batch` takes.
            fn insert_batch(&self, values: &Bound<'_, PyAny>) -> Result<u64> {
                let mut take = |numbers: &[<$sketch as TakesNumber>::Number], _: &[usize]| {
                    self.sketch.locked(|sketch| numbers.iter().for_each(|&number| sketch.put(number)));
                    Ok(())
                };
                take_numbers(values, INSERT.so_far, &mut take)
            }

            /// The number at which that share of all is reached, with bounds. None if there are no
            /// numbers.
            fn quantile(&self, py: Python<'_>, share: f64) -> Option<Estimate> {
                let answer = self.sketch.detached(py, |sketch| Quantiles::quantile(sketch, share));
                answer.map(Into::into)
            }

            /// Which share of all numbers is at most a limit, with bounds. None if there are no
            /// numbers.
            fn rank(&self, py: Python<'_>, limit: f64) -> Option<Estimate> {
                self.sketch.detached(py, |sketch| Quantiles::rank(sketch, limit)).map(Into::into)
            }

            /// How many numbers there are.
            #[getter]
            fn count(&self, py: Python<'_>) -> u64 {
                self.sketch.quick(py, |sketch| sketch.count())
            }

            /// The size.
            #[getter]
            fn k(&self, py: Python<'_>) -> u16 {
                self.sketch.quick(py, |sketch| sketch.k())
            }

            fn __repr__(&self, py: Python<'_>) -> String {
                format!(concat!("<", stringify!($class), " k={}: {} values>"), self.k(py), self.count(py))
            }
        }
    };
}

/// Quantiles of numbers, as Apache DataSketches keeps them: its bytes are what Spark's
/// `kll_sketch_*` functions and others write and read. `numbers` is "double", "float" or "long", as
/// the other side has them.
///
/// Bounds are those that DataSketches states, 99 % sure; crivo's `NumberQuantiles` takes the same
/// memory for a smaller error. Its coins are not seeded, so that the same numbers give different
/// bytes every time. Whole numbers of "long" keep all their digits; answers are rounded to doubles.
///
/// >>> from crivo.interchange import Kll
/// >>> prices = Kll()
/// >>> prices.insert_batch([3, 1, None, 2])
/// 1
/// >>> Kll.from_bytes(bytes(prices)).quantile(0.5).value
/// 2.0
#[pyclass(module = "crivo.interchange", frozen)]
#[derive(Debug)]
pub(crate) struct Kll {
    sketch: Shared<AnyKll>,
}

number_methods!(Kll, AnyKll);

#[pymethods]
impl Kll {
    #[new]
    #[pyo3(signature = (k = None, *, numbers = "double"))]
    #[pyo3(text_signature = "(k=200, *, numbers='double')")]
    fn new(k: Option<&Bound<'_, PyAny>>, numbers: &str) -> Result<Self> {
        Ok(Self { sketch: Shared::new(AnyKll::new(size_of(k, 200)?, kind_of(numbers)?)?) })
    }

    /// What its numbers are: "double", "float" or "long".
    #[getter]
    fn numbers(&self, py: Python<'_>) -> &'static str {
        match self.sketch.quick(py, |sketch| sketch.kind()) {
            NumberKind::Double => "double",
            NumberKind::Float => "float",
            NumberKind::Long => "long",
        }
    }

    /// The sketch that the bytes of any system hold. `DecodeError` if they are no such sketch. They
    /// do not say what their numbers are; without `numbers` it is told from their length and from
    /// numbers that no double is.
    #[classmethod]
    #[pyo3(signature = (data, *, numbers = None))]
    fn from_bytes(cls: &Bound<'_, PyType>, data: &Bound<'_, PyAny>, numbers: Option<&str>) -> Result<Self> {
        let (bytes, kind) = (bytes_of(data)?, numbers.map(kind_of).transpose()?);
        let sketch = cls.py().detach(|| match kind {
            None => AnyKll::decode(&bytes),
            Some(kind) => AnyKll::decode_as(&bytes, kind),
        })?;
        Ok(Self { sketch: Shared::new(sketch) })
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<Reduced<'py, (Bound<'py, PyBytes>, &'static str)>> {
        let from_bytes = slf.py().import("crivo.interchange")?.getattr("_kll")?;
        Ok((from_bytes, (slf.get().to_bytes(slf.py()), slf.get().numbers(slf.py()))))
    }
}

/// Quantiles whose error is a share of the distance from one end, as Apache DataSketches keeps
/// them, of floats.
///
/// >>> from crivo.interchange import Req
/// >>> latencies = Req()
/// >>> latencies.insert_batch(range(1000))
/// 0
/// >>> latencies.quantile(1.0).value
/// 999.0
#[pyclass(module = "crivo.interchange", frozen)]
#[derive(Debug)]
pub(crate) struct Req {
    sketch: Shared<ReqSketch>,
}

number_methods!(Req, ReqSketch);

#[pymethods]
impl Req {
    #[new]
    #[pyo3(signature = (k = None, *, high_ranks = true))]
    #[pyo3(text_signature = "(k=12, *, high_ranks=True)")]
    fn new(k: Option<&Bound<'_, PyAny>>, high_ranks: bool) -> Result<Self> {
        Ok(Self { sketch: Shared::new(ReqSketch::new(size_of(k, 12)?, high_ranks)?) })
    }

    /// Whether it is right about high ranks, or about low ones.
    #[getter]
    fn high_ranks(&self, py: Python<'_>) -> bool {
        self.sketch.quick(py, |sketch| sketch.of_high_ranks())
    }

    /// The sketch that the bytes of any system hold. `DecodeError` if they are no such sketch.
    #[classmethod]
    fn from_bytes(cls: &Bound<'_, PyType>, data: &Bound<'_, PyAny>) -> Result<Self> {
        let bytes = bytes_of(data)?;
        Ok(Self { sketch: Shared::new(cls.py().detach(|| ReqSketch::decode(&bytes))?) })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py, (Bound<'py, PyBytes>,)>> {
        let from_bytes = slf.get_type().getattr("from_bytes")?;
        Ok((from_bytes, (slf.get().to_bytes(slf.py()),)))
    }
}

/// Quantiles that are close at both ends, as Apache DataSketches keeps them: a t-digest of doubles.
/// No bound of its error holds for every input, so that its answers are certain to lie between the
/// least and the greatest number only.
///
/// >>> from crivo.interchange import TDigest
/// >>> latencies = TDigest()
/// >>> latencies.insert_batch([3, 1, 2])
/// 0
/// >>> latencies.quantile(0.5).value
/// 2.0
#[pyclass(module = "crivo.interchange", frozen)]
#[derive(Debug)]
pub(crate) struct TDigest {
    sketch: Shared<Digest>,
}

number_methods!(TDigest, Digest);

#[pymethods]
impl TDigest {
    #[new]
    #[pyo3(signature = (k = None))]
    #[pyo3(text_signature = "(k=200)")]
    fn new(k: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        Ok(Self { sketch: Shared::new(Digest::new(size_of(k, 200)?)?) })
    }

    /// The digest that the bytes of any system hold, of doubles or floats. `DecodeError` if they
    /// are no digest.
    #[classmethod]
    fn from_bytes(cls: &Bound<'_, PyType>, data: &Bound<'_, PyAny>) -> Result<Self> {
        let bytes = bytes_of(data)?;
        Ok(Self { sketch: Shared::new(cls.py().detach(|| Digest::decode(&bytes))?) })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py, (Bound<'py, PyBytes>,)>> {
        let from_bytes = slf.get_type().getattr("from_bytes")?;
        Ok((from_bytes, (slf.get().to_bytes(slf.py()),)))
    }
}
