//! Typed values in memory, with or without a validity bitmap: what NumPy and Arrow columns are
//! once their type is known. Nothing here needs Python, so all of it runs without the GIL.

use arrow_buffer::NullBuffer;
use crivo::keys::{KeyKind, KeyRef};

use super::feed::{Feed, Gathered};
use super::text;
use crate::errors::{Failure, Result};

/// Integers that are keys: up to 64 bits, negative ones in two's complement.
pub(super) trait Whole: Copy {
    const BITS: u32;
    fn key(self) -> u64;
    fn write(self, out: &mut Vec<u8>) -> bool;
}

macro_rules! whole {
    ($write:path as $wide:ty: $($type:ty),*) => {$(
        impl Whole for $type {
            const BITS: u32 = <$type>::BITS;
            #[inline]
            fn key(self) -> u64 {
                self as u64
            }
            #[inline]
            fn write(self, out: &mut Vec<u8>) -> bool {
                $write(<$wide>::from(self), out)
            }
        }
    )*};
}
whole!(text::signed as i64: i8, i16, i32, i64);
whole!(text::unsigned as u64: u8, u16, u32, u64);

/// Integers: as text, as integer keys or as hashes, whichever the sketch takes.
pub(super) fn integers<T: Whole>(
    feed: &mut Feed<'_>,
    values: &[T],
    nulls: Option<&NullBuffer>,
) -> Result<()> {
    match feed.kind() {
        KeyKind::Bytes => texts(feed, "integers", values, nulls, |value, out| Ok(value.write(out))),
        KeyKind::Hash if T::BITS < 64 => {
            let found = format_args!("{}-bit integers", T::BITS);
            Err(Failure::key("64-bit hashes", found, "a hash must be uniform over all 64 bits"))
        }
        KeyKind::Integer | KeyKind::Hash => each(feed, values, nulls, |gathered, value| {
            gathered.push(KeyRef::Integer(value.key()));
            Ok(())
        }),
    }
}

/// Values that `write` turns into text; `what` names them if the sketch does not take text.
pub(super) fn texts<T: Copy>(
    feed: &mut Feed<'_>,
    what: &str,
    values: &[T],
    nulls: Option<&NullBuffer>,
    write: impl Fn(T, &mut Vec<u8>) -> Result<bool>,
) -> Result<()> {
    require_text(feed, what)?;
    each(feed, values, nulls, |gathered, value| gathered.push_written(|out| write(value, out)))
}

/// Refuses a column whose values are no integers for a sketch that takes only those.
pub(super) fn require_text(feed: &Feed<'_>, found: &str) -> Result<()> {
    let (expected, advice) = match feed.kind() {
        KeyKind::Bytes => return Ok(()),
        KeyKind::Integer => ("integers", "convert the column, or build the sketch with keys='text'"),
        KeyKind::Hash => ("64-bit hashes", "hash the column first, or build the sketch with keys='text'"),
    };
    Err(Failure::key(expected, found, advice))
}

/// Calls `push` for every value that is not null.
fn each<T: Copy>(
    feed: &mut Feed<'_>,
    values: &[T],
    nulls: Option<&NullBuffer>,
    mut push: impl FnMut(&mut Gathered, T) -> Result<()>,
) -> Result<()> {
    let mut gathered = Gathered::for_keys_of(feed);
    let mut step = |value: T, is_valid: bool| -> Result<()> {
        if is_valid {
            push(&mut gathered, value)?;
        } else {
            gathered.push_missing();
        }
        if gathered.is_full() { gathered.deliver(feed) } else { Ok(()) }
    };
    match nulls {
        None => values.iter().try_for_each(|&value| step(value, true))?,
        Some(nulls) => values.iter().zip(nulls).try_for_each(|(&value, is_valid)| step(value, is_valid))?,
    }
    gathered.deliver(feed)
}
