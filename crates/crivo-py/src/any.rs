//! Converts sketches of any kind from bytes to their Python class and back.

use crivo::codec::{AnySketch, StoredSketch as _};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors::Result;
use crate::keys::bytes_of;

/// Returns the sketch of any class that the bytes of a `.crivo` file hold. `DecodeError` if they
/// are not the whole and undamaged bytes of one; its `kind` says why.
///
/// >>> from crivo import HyperLogLog, decode
/// >>> decode(bytes(HyperLogLog(12)))
/// <HyperLogLog precision=12, keys='text', seed=0: 0>
#[pyfunction]
pub(crate) fn decode<'py>(data: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    let bytes = bytes_of(data)?;
    let sketch = data.py().detach(|| AnySketch::decode(&bytes))?;
    to_python(data.py(), sketch)
}

/// Returns a copy of a Python sketch of any class as the library's type.
pub(crate) fn from_python(sketch: &Bound<'_, PyAny>) -> Result<AnySketch> {
    let is_sketch = sketch.get_type().module().is_ok_and(|module| module == "crivo");
    if !is_sketch || !sketch.hasattr("to_bytes")? {
        let found = sketch.get_type().name()?;
        return Err(PyTypeError::new_err(format!("expected a sketch, found {found}")).into());
    }
    let bytes = sketch.call_method0("to_bytes")?;
    let bytes = bytes_of(&bytes)?;
    Ok(sketch.py().detach(|| AnySketch::decode(&bytes))?)
}

macro_rules! to_python {
    ($($module:ident: $($class:ident),*;)*) => {
        /// Returns the sketch as an object of its class.
        pub(crate) fn to_python(py: Python<'_>, sketch: AnySketch) -> Result<Bound<'_, PyAny>> {
            $($(let sketch = match crivo::$module::$class::from_any(sketch) {
                Ok(sketch) => return Ok(Bound::new(py, crate::$module::$class::from(sketch))?.into_any()),
                Err(other) => *other,
            };)*)*
            let message = format!("{} has no class in Python yet", sketch.family());
            Err(PyTypeError::new_err(message).into())
        }
    };
}
to_python! {
    counting: SampledCounter, MorrisCounter, CounterArray, Tally;
    distinct: HyperLogLog, ExactDistinct, LinearCounting, KMinValues, ProbabilisticCounting, LogLog, UltraLogLog;
    membership: DirectTable, Bloom, BlockedBloom, CountingBloom, CombinedFilter, BinaryFuse;
    frequency: CountMin, RangeCountMin, Majority, HeavyHitters, PrivateCountMean;
    sampling: Reservoir, RowSample, WeightedReservoir;
    similarity: MinHash;
    window: Panes;
    profile: ColumnProfile, DDSketch, DistinctGrowth, NearDuplicateShare, TableProfile;
    quantiles: NumberQuantiles, KeyQuantiles;
    groups: Groups;
}
