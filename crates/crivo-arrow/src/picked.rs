//! Rows that refer to the values of another array: dictionaries, and runs of equal values.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type, RunEndIndexType};
use arrow_array::{AnyDictionaryArray, Array, ArrayRef, RunArray, UInt32Array};
use arrow_buffer::ArrowNativeType;
use arrow_schema::DataType;
use arrow_select::take::take;

use crate::error::{Error, ErrorKind, Result};

/// The number of rows that are looked up or unfolded at once.
const ROWS_AT_ONCE: usize = 16 * 1024;

/// The values of a dictionary or of runs, and for each row the position of its value.
pub struct PickedValues<'a> {
    values: &'a ArrayRef,
    rows: usize,
    places: Places<'a>,
}

enum Places<'a> {
    Dictionary(&'a dyn AnyDictionaryArray),
    /// The position of the first run, and the row after each run.
    Runs {
        first: usize,
        ends: Vec<usize>,
    },
}

impl<'a> PickedValues<'a> {
    /// Returns the values that an array refers to, or `None` if the array has its values itself.
    pub(crate) fn of(array: &'a dyn Array) -> Result<Option<Self>> {
        let picked = match array.data_type() {
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let values = dictionary.values();
                Self { values, rows: array.len(), places: Places::Dictionary(dictionary) }
            }
            DataType::RunEndEncoded(ends, _) => match ends.data_type() {
                DataType::Int16 => Self::of_runs(array.as_run::<Int16Type>()),
                DataType::Int32 => Self::of_runs(array.as_run::<Int32Type>()),
                _ => Self::of_runs(array.as_run::<Int64Type>()),
            },
            _ => return Ok(None),
        };
        if u32::try_from(picked.values.len()).is_err() {
            let found = picked.values.len();
            return Err(Error::new(ErrorKind::Damaged, "a dictionary of less than 2^32 values", found));
        }
        Ok(Some(picked))
    }

    fn of_runs<R: RunEndIndexType>(array: &'a RunArray<R>) -> Self {
        let runs = array.run_ends();
        let ends = runs.sliced_values().map(ArrowNativeType::as_usize).collect();
        let places = Places::Runs { first: runs.get_start_physical_index(), ends };
        Self { values: array.values(), rows: array.len(), places }
    }

    /// Returns the values, including those that no row refers to.
    pub fn values(&self) -> &'a ArrayRef {
        self.values
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Passes the position of each row's value to `take`, for some thousand rows at a time. A null
    /// row has no position.
    ///
    /// # Errors
    /// The errors of `take`.
    pub fn places<E>(&self, mut take: impl FnMut(&[Option<u32>]) -> Result<(), E>) -> Result<(), E> {
        let mut places = Vec::with_capacity(ROWS_AT_ONCE.min(self.rows));
        match &self.places {
            Places::Dictionary(dictionary) => {
                for start in (0..self.rows).step_by(ROWS_AT_ONCE) {
                    let slice = dictionary.slice(start, ROWS_AT_ONCE.min(self.rows - start));
                    places.clear();
                    if self.values.is_empty() {
                        places.resize(slice.len(), None); // all rows are null
                    } else {
                        let keys = slice.as_any_dictionary().normalized_keys();
                        let place = |(row, key)| slice.is_valid(row).then_some(key as u32);
                        places.extend(keys.into_iter().enumerate().map(place));
                    }
                    take(&places)?;
                }
            }
            Places::Runs { first, ends } => {
                let mut row = 0;
                for (run, &end) in ends.iter().enumerate() {
                    while row < end {
                        let part = (end - row).min(ROWS_AT_ONCE - places.len());
                        places.resize(places.len() + part, Some((first + run) as u32));
                        row += part;
                        if places.len() == ROWS_AT_ONCE {
                            take(&places)?;
                            places.clear();
                        }
                    }
                }
                if !places.is_empty() {
                    take(&places)?;
                }
            }
        }
        Ok(())
    }

    /// Passes the values of all rows to `each`, as arrays of some thousand rows.
    ///
    /// # Errors
    /// The errors of `each` and of Arrow.
    pub fn unfold<E: From<Error>>(&self, mut each: impl FnMut(&dyn Array) -> Result<(), E>) -> Result<(), E> {
        if let Places::Dictionary(dictionary) = &self.places {
            for start in (0..self.rows).step_by(ROWS_AT_ONCE) {
                let keys = dictionary.keys().slice(start, ROWS_AT_ONCE.min(self.rows - start));
                each(&take(self.values, &keys, None).map_err(Error::from)?)?;
            }
            return Ok(());
        }
        self.places(|places| {
            let places: UInt32Array = places.iter().copied().collect();
            each(&take(self.values, &places, None).map_err(Error::from)?)
        })
    }
}
