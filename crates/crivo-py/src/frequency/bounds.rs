//! [`frequency_bounds`]: the frequency of each value of a column, by any sketch that estimates it.

use crivo::codec::AnySketch;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use super::FREQUENCY;
use crate::any;
use crate::errors::Result;
use crate::keys::{Stretch, take_keys};

/// Returns the frequency of each of many values, by any sketch that estimates it. There is one row
/// for each value, in their order: the estimate, its lower and its upper bound. `values` is
/// whatever `insert_batch` takes. The row of a missing value is NaN.
///
/// >>> from crivo import HeavyHitters
/// >>> from crivo.distributed import frequency_bounds
/// >>> pages = HeavyHitters(10)
/// >>> pages.insert_batch(["/home", "/about", "/home"])
/// 0
/// >>> frequency_bounds(pages, ["/home", None, "/none"])
/// array([[ 2.,  2.,  2.],
///        [nan, nan, nan],
///        [ 0.,  0.,  0.]])
#[pyfunction]
pub(crate) fn frequency_bounds<'py>(
    sketch: &Bound<'py, PyAny>,
    values: &Bound<'py, PyAny>,
) -> Result<Bound<'py, PyArray2<f64>>> {
    let py = values.py();
    let sketch: AnySketch = any::from_python(sketch)?;
    sketch.frequency()?;
    let mut rows: Vec<Row> = Vec::new();
    let mut take = |stretch: Stretch<'_>| {
        let known = sketch.frequency()?;
        let mut of_keys = Vec::with_capacity(stretch.keys.len());
        for (key, _) in stretch.keys.iter() {
            let estimate = known.frequency_ref(key)?;
            of_keys.push(Row([estimate.value(), estimate.lower(), estimate.upper()]));
        }
        stretch.spread(&of_keys, &mut rows);
        Ok(())
    };
    take_keys(values, sketch.scheme(), &FREQUENCY, &mut take)?;
    let flat: Vec<f64> = rows.iter().flat_map(|row| row.0).collect();
    Ok(PyArray1::from_vec(py, flat).reshape([rows.len(), 3])?)
}

/// An estimate and its bounds. All three are NaN for a missing value.
#[derive(Clone, Copy)]
struct Row([f64; 3]);

impl Default for Row {
    fn default() -> Self {
        Self([f64::NAN; 3])
    }
}
