//! Makes one sketch of each list of a column, such as the groups of a query.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use crivo::codec::AnySketch;
use crivo::sketch::{InsertKeys as _, Sketch as _};
use crivo_near::thread_count;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::any;
use crate::errors::{Failure, Result, broken_stream, setting};
use crate::keys::{self, Stretch};
use crate::sketch::INSERT;

/// The sketch of each list of an Arrow column of lists, as `group_by` of polars makes them: each
/// begins as the empty `sketch` that is given. None for a list that is null. 0 `threads` are as
/// many as there are processors.
///
/// Each has the bytes that its `insert_batch` of the list would give, whatever the number of
/// threads.
///
/// >>> import pyarrow as pa
/// >>> from crivo import HyperLogLog
/// >>> from crivo.distributed import sketch_lists
/// >>> visitors = pa.array([["ana", "rui", "ana"], [], None])
/// >>> [sketch and sketch.estimate().value for sketch in sketch_lists(visitors, HyperLogLog(12))]
/// [2.0, 0.0, None]
#[pyfunction]
#[pyo3(signature = (lists, sketch, *, threads = None))]
#[pyo3(text_signature = "(lists, sketch, *, threads=0)")]
pub(crate) fn sketch_lists<'py>(
    lists: &Bound<'py, PyAny>,
    sketch: &Bound<'py, PyAny>,
    threads: Option<&Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyList>> {
    let py = lists.py();
    let threads = thread_count(threads.map_or(Ok(0), |threads| setting("threads", threads, "0 or more"))?);
    let empty = any::from_python(sketch)?;
    if !empty.is_empty() {
        return Err(Failure::Parameter("sketch: expected an empty one, found one with values".into()));
    }
    let Some(chunks) = keys::arrow_chunks(lists)? else {
        return Err(Failure::key("an Arrow column of lists", lists.get_type().name()?, ""));
    };
    let sketches = py.detach(|| {
        let mut sketches = Vec::new();
        for chunk in chunks {
            let chunk = chunk.map_err(broken_stream)?;
            sketches.append(&mut Lists::of(&chunk)?.sketches(&empty, threads)?);
        }
        Ok::<_, Failure>(sketches)
    })?;
    let list = PyList::empty(py);
    for sketch in sketches {
        match sketch {
            Some(sketch) => list.append(any::to_python(py, sketch)?)?,
            None => list.append(py.None())?,
        }
    }
    Ok(list)
}

/// The number of values that is worth a thread of its own.
const VALUES_A_THREAD: usize = 1 << 16;

/// The values of all lists, and the range of each list; `None` for a null.
struct Lists {
    values: ArrayRef,
    ranges: Vec<Option<Range<usize>>>,
}

impl Lists {
    fn of(array: &ArrayRef) -> Result<Self> {
        let between = |offsets: &mut dyn Iterator<Item = usize>| {
            let mut start = offsets.next().unwrap_or(0);
            let range = |(index, end): (usize, usize)| {
                let range = std::mem::replace(&mut start, end)..end;
                array.is_valid(index).then_some(range)
            };
            offsets.enumerate().map(range).collect()
        };
        let (values, ranges) = match array.data_type() {
            DataType::List(_) => {
                let lists = array.as_list::<i32>();
                (lists.values(), between(&mut lists.value_offsets().iter().map(|&offset| offset as usize)))
            }
            DataType::LargeList(_) => {
                let lists = array.as_list::<i64>();
                (lists.values(), between(&mut lists.value_offsets().iter().map(|&offset| offset as usize)))
            }
            DataType::FixedSizeList(_, width) => {
                let (lists, width) = (array.as_fixed_size_list(), *width as usize);
                (lists.values(), between(&mut (0..=array.len()).map(|index| index * width)))
            }
            other => return Err(Failure::key("a column of lists", format_args!("{other}"), "")),
        };
        Ok(Self { values: values.clone(), ranges })
    }

    fn sketches(&self, empty: &AnySketch, threads: usize) -> Result<Vec<Option<AnySketch>>> {
        let threads = threads.min(self.values.len() / VALUES_A_THREAD).max(1);
        if let [Some(only)] = &self.ranges[..]
            && threads > 1
            && merges_exactly(empty)
        {
            return Ok(vec![Some(self.cut_sketch(only, empty, threads)?)]);
        }
        let parts = self.balanced(threads);
        let sketch =
            |range: &Option<Range<usize>>| range.clone().map(|range| self.sketch(range, empty)).transpose();
        let work = |part: &[Option<Range<usize>>]| part.iter().map(sketch).collect::<Result<Vec<_>>>();
        Ok(in_parallel(&parts, &|part| work(part))?.into_iter().flatten().collect())
    }

    /// Divides the lists into parts with about the same number of values.
    fn balanced(&self, parts: usize) -> Vec<&[Option<Range<usize>>]> {
        let each = self.values.len().div_ceil(parts).max(1);
        let mut seen = 0;
        let part_of = |range: &Option<Range<usize>>| {
            let part = seen / each;
            seen += range.as_ref().map_or(0, Range::len);
            part
        };
        let numbers: Vec<usize> = self.ranges.iter().map(part_of).collect();
        let starts = (0..=parts).map(|part| numbers.partition_point(|&number| number < part));
        let starts: Vec<usize> = starts.collect();
        let mut cut: Vec<_> = starts.windows(2).map(|pair| &self.ranges[pair[0]..pair[1]]).collect();
        // Nulls and empty lists after the last value have a number beyond the last part.
        cut.push(&self.ranges[starts[parts]..]);
        cut
    }

    fn sketch(&self, range: Range<usize>, empty: &AnySketch) -> Result<AnySketch> {
        let mut sketch = empty.clone();
        let values = self.values.slice(range.start, range.len());
        if sketch.takes_numbers().is_some() {
            keys::take_numbers_of(&values, &mut |numbers, _| {
                sketch.numbers_mut()?.insert_numbers(numbers);
                Ok(())
            })?;
        } else {
            let scheme = sketch.scheme();
            let mut take = |stretch: Stretch<'_>| Ok(sketch.insert_batch(&stretch.keys)?);
            keys::take_keys_of(&values, scheme, &INSERT, &mut take)?;
        }
        Ok(sketch)
    }

    /// Makes the sketch of one list on several threads.
    fn cut_sketch(&self, range: &Range<usize>, empty: &AnySketch, threads: usize) -> Result<AnySketch> {
        let each = range.len().div_ceil(threads).max(1);
        let parts: Vec<_> = range.clone().step_by(each).map(|at| at..(at + each).min(range.end)).collect();
        let mut sketches = in_parallel(&parts, &|part| self.sketch(part.clone(), empty))?.into_iter();
        let mut all = sketches.next().unwrap_or_else(|| empty.clone());
        sketches.try_for_each(|other| all.merge(&other))?;
        Ok(all)
    }
}

/// Returns true if merging sketches of the parts of a stream gives the bytes of the whole. That
/// holds for sketches of sets, which need only hashes.
fn merges_exactly(empty: &AnySketch) -> bool {
    empty.answers_cardinality().is_some() && empty.clone().takes_hashes().is_some()
}

/// Calls `work` for each part, on several threads. Returns the first error in the order of the
/// parts.
fn in_parallel<P: Sync, R: Send>(parts: &[P], work: &(dyn Fn(&P) -> Result<R> + Sync)) -> Result<Vec<R>> {
    let results: Vec<_> = parts.iter().map(|_| Mutex::new(None)).collect();
    crivo_near::deal(
        parts.len(),
        parts.len(),
        || (),
        |(), number| {
            let result = work(&parts[number]);
            *results[number].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            Ok(())
        },
    )?;
    results
        .into_iter()
        .filter_map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect()
}
