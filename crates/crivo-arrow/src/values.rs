//! Converts values of Arrow's types for the library, which writes their text.

use arrow_array::OffsetSizeTrait;
use arrow_schema::TimeUnit;
use crivo::keys::text::{TimestampTexts, push_i64, push_time, push_timestamp, push_u64};

use crate::error::{Error, ErrorKind, Result};

/// Integers of up to 64 bits, which can also be integer keys.
pub trait IntegerValue: Copy {
    /// The width in bits.
    const BITS: u32;

    /// Returns the integer key: negative integers in two's complement.
    fn key(self) -> u64;

    /// Appends the decimal text.
    fn push_text(self, out: &mut Vec<u8>);
}

macro_rules! integer_value {
    ($push:path as $wide:ty: $($type:ty),*) => {$(
        impl IntegerValue for $type {
            const BITS: u32 = <$type>::BITS;

            #[inline]
            fn key(self) -> u64 {
                self as u64
            }

            #[inline]
            fn push_text(self, out: &mut Vec<u8>) {
                $push(out, <$wide>::from(self));
            }
        }
    )*};
}
integer_value!(push_i64 as i64: i8, i16, i32, i64);
integer_value!(push_u64 as u64: u8, u16, u32, u64);

/// The offsets of texts, which have two widths in Arrow.
pub trait Offset: OffsetSizeTrait {
    /// Returns the offsets if they have 32 bits. The library hashes such texts without a copy.
    fn as_short(offsets: &[Self]) -> Option<&[i32]>;
}

impl Offset for i32 {
    fn as_short(offsets: &[Self]) -> Option<&[i32]> {
        Some(offsets)
    }
}

impl Offset for i64 {
    fn as_short(_: &[Self]) -> Option<&[i32]> {
        None
    }
}

/// Appends a timestamp, counted in units since 1970. If `universal` is true, its time zone is
/// known.
pub fn push_instant(out: &mut Vec<u8>, value: i64, unit: TimeUnit, universal: bool) {
    push_timestamp(out, value, per_second(unit), universal);
}

/// Returns a writer of timestamps in the form of [`push_instant`].
pub(crate) fn instant_texts(unit: TimeUnit, universal: bool) -> TimestampTexts {
    TimestampTexts::new(per_second(unit), universal)
}

/// Appends a time of day, counted in units since midnight. The end of the day is `24:00:00`, as in
/// other engines.
pub(crate) fn push_time_of_day(out: &mut Vec<u8>, value: i64, unit: TimeUnit) -> Result<()> {
    let nanoseconds = (1_000_000_000 / per_second(unit)).unsigned_abs();
    let time = u64::try_from(value).ok().and_then(|value| value.checked_mul(nanoseconds));
    let time = time.ok_or_else(|| {
        Error::new(ErrorKind::InvalidValue, "a time of day", format_args!("{value} {unit:?}"))
    })?;
    push_time(out, time);
    Ok(())
}

fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}
