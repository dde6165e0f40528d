//! The text of a value, for values as Python and Arrow hold them.
//!
//! What the text is, the library decides (`crivo::keys::text`, docs/keys.md); this only brings the
//! values into its terms. Instants of a known zone are written in UTC with a `Z`, since the zone
//! is how they are shown, not what they are.
//!
//! Each function appends one text and answers whether there was one: NaN stands for a missing
//! value, not for a number.

use arrow_schema::TimeUnit;
use chrono::{Datelike, NaiveDate, NaiveDateTime, NaiveTime, Timelike};
use crivo::keys::text;

use crate::errors::{Failure, Result};

pub(super) fn signed(value: i64, out: &mut Vec<u8>) -> bool {
    text::push_i64(out, value);
    true
}

pub(super) fn unsigned(value: u64, out: &mut Vec<u8>) -> bool {
    text::push_u64(out, value);
    true
}

pub(super) fn double(value: f64, out: &mut Vec<u8>) -> bool {
    text::push_f64(out, value)
}

pub(super) fn single(value: f32, out: &mut Vec<u8>) -> bool {
    text::push_f32(out, value)
}

pub(super) fn boolean(value: bool, out: &mut Vec<u8>) -> bool {
    text::push_boolean(out, value);
    true
}

/// A decimal number by its unscaled digits.
pub(super) fn decimal(unscaled: &str, scale: i8, out: &mut Vec<u8>) -> bool {
    text::push_decimal(out, unscaled, scale.into());
    true
}

/// A day, as days since 1970.
pub(super) fn days(days: i64, out: &mut Vec<u8>) -> bool {
    text::push_date(out, days);
    true
}

pub(super) fn date(date: NaiveDate, out: &mut Vec<u8>) -> bool {
    const FIRST_OF_1970: i32 = 719_163; // counted as `num_days_from_ce` counts
    days((date.num_days_from_ce() - FIRST_OF_1970).into(), out)
}

/// An instant, as units since the start of 1970; `utc` if its zone is known.
pub(super) fn timestamp(value: i64, unit: TimeUnit, utc: bool, out: &mut Vec<u8>) -> bool {
    text::push_timestamp(out, value, per_second(unit), utc);
    true
}

/// An instant to the microsecond, and the nanoseconds beyond it.
pub(super) fn datetime(value: NaiveDateTime, nanoseconds: i64, utc: bool, out: &mut Vec<u8>) -> bool {
    let micros = value.and_utc().timestamp_micros();
    // Only times near enough to be counted in nanoseconds have any.
    match micros.checked_mul(1_000).and_then(|coarse| coarse.checked_add(nanoseconds)) {
        Some(nanos) if nanoseconds != 0 => timestamp(nanos, TimeUnit::Nanosecond, utc, out),
        _ => timestamp(micros, TimeUnit::Microsecond, utc, out),
    }
}

/// A time of day, as units since midnight.
pub(super) fn time_of_day(value: i64, unit: TimeUnit, out: &mut Vec<u8>) -> Result<bool> {
    const DAY: u64 = 86_400 * 1_000_000_000;
    let nanoseconds = u64::try_from(value)
        .ok()
        .and_then(|value| value.checked_mul((1_000_000_000 / per_second(unit)).unsigned_abs()))
        .filter(|&nanoseconds| nanoseconds < DAY)
        .ok_or_else(|| Failure::key("a time of day", format_args!("{value} {unit:?}"), ""))?;
    text::push_time(out, nanoseconds);
    Ok(true)
}

pub(super) fn time(time: NaiveTime, out: &mut Vec<u8>) -> bool {
    let nanoseconds =
        u64::from(time.num_seconds_from_midnight()) * 1_000_000_000 + u64::from(time.nanosecond());
    text::push_time(out, nanoseconds);
    true
}

fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}
