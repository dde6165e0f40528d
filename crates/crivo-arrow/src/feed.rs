//! Collects keys in batches and passes them on, with the places of missing values.

use std::ops::Range;

use arrow_array::types::ByteViewType;
use arrow_array::{Array, FixedSizeBinaryArray, GenericByteViewArray};
use arrow_buffer::NullBuffer;
use crivo::keys::{KeyBatch, KeyBuffer, KeyDictionary, KeyKind, KeyRef, KeyScheme, Span};

use crate::error::{Error, ErrorKind, Result};
use crate::gathered::Gathered;
use crate::picked::PickedValues;
use crate::text_buffer::{TextBuffer, ranges};
use crate::values::{IntegerValue, Offset};
use crate::walk::{ColumnVisitor, has_text, is_valid, no_text, value_type, walk};

/// A function that takes batches of keys, for a sketch or for its answers.
pub type Take<'t, E = Error> = &'t mut (dyn FnMut(Stretch<'_>) -> Result<(), E> + Send);

/// A batch of keys, and the places of missing values among them.
#[derive(Debug, Clone, Copy)]
pub struct Stretch<'a> {
    /// The keys.
    pub keys: KeyBatch<'a>,
    gaps: &'a [usize],
}

impl Stretch<'_> {
    /// Returns the number of values of the stretch, including missing ones.
    pub fn values(&self) -> usize {
        self.keys.len() + self.gaps.len()
    }

    /// Returns, for each missing value, the number of keys before it. The numbers ascend.
    pub fn gaps(&self) -> &[usize] {
        self.gaps
    }

    /// Replaces the content of `out` by the rows of the keys, if the first value has the row
    /// `first`. Returns the row after the last value.
    pub fn rows(&self, first: u64, out: &mut Vec<u64>) -> u64 {
        let all: Vec<u64> = (first..).take(self.values()).collect();
        self.gather(&all, out);
        first + self.values() as u64
    }

    /// Appends an answer for every value: the given answers for the keys, and `T::default()` for
    /// missing values.
    pub fn spread<T: Copy + Default>(&self, answers: &[T], out: &mut Vec<T>) {
        let mut done = 0;
        for &before in self.gaps {
            out.extend_from_slice(&answers[done..before]);
            out.push(T::default());
            done = before;
        }
        out.extend_from_slice(&answers[done..]);
    }

    /// Replaces the content of `out` by the entries of `given` for present values. `given` has an
    /// entry for each value.
    pub fn gather<T: Copy>(&self, given: &[T], out: &mut Vec<T>) {
        gather(self.gaps, given, out);
    }
}

/// Replaces the content of `out` by the entries of `given` for present values. `given` has an entry
/// for each value, and `gaps` has for each missing value the number of present values before it.
pub fn gather<T: Copy>(gaps: &[usize], given: &[T], out: &mut Vec<T>) {
    out.clear();
    let mut rest = given;
    for &before in gaps {
        let (present, missing) = rest.split_at(before - out.len());
        out.extend_from_slice(present);
        rest = &missing[1..];
    }
    out.extend_from_slice(rest);
}

/// A [`ColumnVisitor`] that makes batches of keys from columns, for a sketch.
pub struct Feed<'t, E = Error> {
    scheme: KeyScheme,
    buffer: KeyBuffer,
    take: Take<'t, E>,
    /// The name of the column that is read, for errors.
    column: String,
    /// The gaps of the next [`Stretch`].
    gaps: Vec<usize>,
    missing: u64,
}

impl<'t, E: From<Error>> Feed<'t, E> {
    /// The most missing values that are collected before they are passed on, with or without keys.
    const MOST_GAPS: usize = KeyBatch::TARGET_LEN;

    /// Creates a feed that makes keys of a scheme and passes them to `take`.
    pub fn new(scheme: KeyScheme, take: Take<'t, E>) -> Self {
        let (column, gaps) = (String::new(), Vec::new());
        Self { scheme, buffer: KeyBuffer::new(scheme), take, column, gaps, missing: 0 }
    }

    /// Returns the kind of the keys.
    pub fn kind(&self) -> KeyKind {
        self.scheme.kind()
    }

    /// Returns the number of missing values.
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// Passes the keys of an array to `take`. `name` is the column's name for errors, and may be
    /// empty.
    ///
    /// # Errors
    /// If values of the array's type have no text or cannot be keys of the scheme's kind, or if a
    /// value is invalid for its type; and the errors of `take`.
    pub fn column(&mut self, name: &str, array: &dyn Array) -> Result<(), E> {
        name.clone_into(&mut self.column);
        let data_type = value_type(array.data_type());
        if !has_text(data_type) {
            return Err(no_text(array.data_type()).in_column(name).into());
        }
        if !data_type.is_integer() && !data_type.is_null() {
            self.require_text(data_type)?;
        }
        walk(array, self)
    }

    /// Refuses values that are not integers if the sketch takes only integers or hashes.
    ///
    /// # Errors
    /// If the keys of the sketch are not text.
    pub fn require_text(&self, found: impl std::fmt::Display) -> Result<()> {
        let error = match self.kind() {
            KeyKind::Bytes => return Ok(()),
            KeyKind::Integer => Error::new(ErrorKind::NotIntegers, "integers", found),
            KeyKind::Hash => Error::new(ErrorKind::NotHashes, "64-bit hashes", found),
        };
        Err(error.in_column(&self.column))
    }

    /// Passes on the keys at ascending `ranges` of `bytes`. An empty range is a missing value,
    /// because docs/keys.md counts empty text among the missing values of a column. Spans count
    /// from the first key of their batch, so `bytes` may be larger than a batch can address.
    pub(crate) fn ranges(
        &mut self,
        bytes: &[u8],
        ranges: impl IntoIterator<Item = Range<usize>>,
    ) -> Result<(), E> {
        let mut start = 0;
        for range in ranges {
            if range.is_empty() {
                if self.gaps.len() == Self::MOST_GAPS {
                    self.flush(&bytes[start..])?;
                }
                self.gaps.push(self.buffer.len());
                continue;
            }
            let too_far = range.end - start > u32::MAX as usize;
            if self.buffer.len() == KeyBatch::TARGET_LEN || too_far {
                self.flush(&bytes[start..])?;
            }
            if self.buffer.is_empty() {
                start = range.start;
            }
            self.buffer.push_span(Span::new(range.start - start..range.end - start).map_err(Error::from)?);
        }
        self.flush(&bytes[start..])
    }

    /// Passes on the texts between each offset and the next, without creating spans.
    fn short_offsets(&mut self, bytes: &[u8], offsets: &[i32]) -> Result<(), E> {
        let mut rest = offsets;
        while rest.len() > 1 {
            let batch = &rest[..rest.len().min(KeyBatch::TARGET_LEN + 1)];
            if batch.windows(2).any(|pair| pair[0] == pair[1]) {
                // Empty keys are left out, so the other keys need spans.
                self.ranges(bytes, ranges(batch))?;
            } else {
                let keys = self.buffer.hash_offsets(batch, bytes).map_err(Error::from)?;
                (self.take)(Stretch { keys, gaps: &[] })?;
            }
            rest = &rest[batch.len() - 1..];
        }
        Ok(())
    }

    /// Passes on keys that are not in one buffer. An empty key is a missing value.
    fn slices<'a>(&mut self, slices: impl IntoIterator<Item = &'a [u8]>) -> Result<(), E> {
        let mut batch: Vec<&[u8]> = Vec::with_capacity(KeyBatch::TARGET_LEN);
        for slice in slices {
            if slice.is_empty() {
                self.gaps.push(batch.len());
            } else {
                batch.push(slice);
            }
            if batch.len() == KeyBatch::TARGET_LEN || self.gaps.len() == Self::MOST_GAPS {
                self.flush_slices(&batch)?;
                batch.clear();
            }
        }
        self.flush_slices(&batch)
    }

    /// Passes on the values of a dictionary. Each distinct value is hashed once.
    fn dictionary(&mut self, picked: &PickedValues<'_>, texts: &TextBuffer) -> Result<(), E> {
        let dictionary = KeyDictionary::new(self.scheme, &texts.spans, &texts.bytes).map_err(Error::from)?;
        let mut present: Vec<u32> = Vec::with_capacity(KeyBatch::TARGET_LEN);
        picked.places(|places| {
            for batch in places.chunks(KeyBatch::TARGET_LEN) {
                present.clear();
                for place in batch {
                    match place.filter(|&place| !texts.spans[place as usize].range().is_empty()) {
                        Some(place) => present.push(place),
                        None => self.gaps.push(present.len()),
                    }
                }
                let keys = self.buffer.pick(&dictionary, &present).map_err(Error::from)?;
                (self.take)(Stretch { keys, gaps: &self.gaps })?;
                self.forget_gaps();
            }
            Ok::<(), E>(())
        })?;
        self.buffer.clear();
        Ok(())
    }

    /// Passes on integer keys, or hashes if the sketch takes hashes. `gaps` has for each missing
    /// value the number of integers before it.
    pub(crate) fn integer_keys(&mut self, integers: &[u64], mut gaps: &[usize]) -> Result<(), E> {
        let mut done = 0;
        // The empty batch at the end has the missing values after the last integer.
        for batch in integers.chunks(KeyBatch::TARGET_LEN).chain([&[][..]]) {
            let end = if batch.is_empty() { usize::MAX } else { done + batch.len() };
            let (here, later) = gaps.split_at(gaps.partition_point(|&before| before < end));
            self.gaps.extend(here.iter().map(|before| before - done));
            let keys = match self.kind() {
                KeyKind::Hash => KeyBatch::from_hashes(self.scheme, batch),
                KeyKind::Integer | KeyKind::Bytes => self.buffer.hash_integers(batch),
            };
            (self.take)(Stretch { keys: keys.map_err(Error::from)?, gaps: &self.gaps })?;
            self.forget_gaps();
            (done, gaps) = (end, later);
        }
        Ok(())
    }

    fn flush_slices(&mut self, slices: &[&[u8]]) -> Result<(), E> {
        let keys = self.buffer.hash_slices(slices).map_err(Error::from)?;
        (self.take)(Stretch { keys, gaps: &self.gaps })?;
        self.forget_gaps();
        Ok(())
    }

    fn flush(&mut self, bytes: &[u8]) -> Result<(), E> {
        let keys = self.buffer.hash_spans(bytes).map_err(Error::from)?;
        (self.take)(Stretch { keys, gaps: &self.gaps })?;
        self.buffer.clear();
        self.forget_gaps();
        Ok(())
    }

    /// Counts and clears the gaps that were passed on.
    fn forget_gaps(&mut self) {
        self.missing += self.gaps.len() as u64;
        self.gaps.clear();
    }

    /// Collects the key of each row. `push` adds the key of one row.
    fn gather(
        &mut self,
        rows: usize,
        mut push: impl FnMut(usize, &mut Gathered) -> Result<()>,
    ) -> Result<(), E> {
        let mut gathered = Gathered::new(self.kind());
        for row in 0..rows {
            push(row, &mut gathered).map_err(|error| error.in_column(&self.column))?;
            if gathered.is_full() {
                gathered.deliver(self)?;
            }
        }
        gathered.deliver(self)
    }
}

impl<E: From<Error>> ColumnVisitor for Feed<'_, E> {
    type Error = E;

    fn offsets<O: Offset>(
        &mut self,
        bytes: &[u8],
        offsets: &[O],
        nulls: Option<&NullBuffer>,
    ) -> Result<(), E> {
        match (nulls, O::as_short(offsets)) {
            (None, Some(offsets)) => self.short_offsets(bytes, offsets),
            (None, None) => self.ranges(bytes, ranges(offsets)),
            // A null may have bytes, so it is recognized by its bit.
            (Some(nulls), _) => {
                let rows = ranges(offsets).zip(nulls);
                self.ranges(bytes, rows.map(|(range, is_valid)| if is_valid { range } else { 0..0 }))
            }
        }
    }

    fn written(
        &mut self,
        rows: usize,
        mut write: impl FnMut(usize, &mut Vec<u8>) -> Result<bool>,
    ) -> Result<(), E> {
        self.gather(rows, |row, gathered| gathered.push_written(|out| write(row, out)))
    }

    fn fixed_size(&mut self, array: &FixedSizeBinaryArray) -> Result<(), E> {
        let width = array.value_size();
        let range = |row: usize| if array.is_valid(row) { row * width..(row + 1) * width } else { 0..0 };
        self.ranges(array.value_data(), (0..array.len()).map(range))
    }

    fn views<T: ByteViewType>(&mut self, array: &GenericByteViewArray<T>) -> Result<(), E> {
        let bytes = |row: usize| -> &[u8] { array.value(row).as_ref() };
        match array.nulls() {
            None => self.slices((0..array.len()).map(bytes)),
            Some(nulls) => {
                let rows = nulls.iter().enumerate();
                self.slices(rows.map(|(row, is_valid)| if is_valid { bytes(row) } else { &[] }))
            }
        }
    }

    fn integers<T: IntegerValue>(&mut self, values: &[T], nulls: Option<&NullBuffer>) -> Result<(), E> {
        if self.kind() == KeyKind::Hash && T::BITS < 64 {
            self.require_text(format_args!("{}-bit integers", T::BITS))?;
        }
        if self.kind() == KeyKind::Bytes {
            return self.written(values.len(), |row, out| {
                Ok(is_valid(nulls, row) && {
                    values[row].push_text(out);
                    true
                })
            });
        }
        let Some(nulls) = nulls else {
            let mut keys = Vec::with_capacity(Gathered::VALUES.min(values.len()));
            for part in values.chunks(Gathered::VALUES) {
                keys.clear();
                keys.extend(part.iter().map(|value| value.key()));
                self.integer_keys(&keys, &[])?;
            }
            return Ok(());
        };
        self.gather(values.len(), |row, gathered| {
            if nulls.is_valid(row) {
                gathered.push(KeyRef::Integer(values[row].key()));
            } else {
                gathered.push_missing();
            }
            Ok(())
        })
    }

    fn missing(&mut self, rows: usize) -> Result<(), E> {
        self.gather(rows, |_, gathered| {
            gathered.push_missing();
            Ok(())
        })
    }

    fn picked(&mut self, picked: &PickedValues<'_>) -> Result<(), E> {
        // A slice of a long column has the whole dictionary, so a dictionary longer than the slice
        // is unfolded. A dictionary too large for spans is unfolded too.
        const LONGEST_WRITTEN: usize = 128;
        let values = picked.values();
        let is_short =
            || values.get_buffer_memory_size() + values.len() * LONGEST_WRITTEN < u32::MAX as usize;
        if self.kind() != KeyKind::Bytes || values.len() > picked.rows() || !is_short() {
            return picked.unfold(|values| walk(values, self));
        }
        let mut texts = TextBuffer::default();
        walk(values, &mut texts).map_err(|error| error.in_column(&self.column))?;
        self.dictionary(picked, &texts)
    }
}
