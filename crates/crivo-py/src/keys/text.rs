//! Writes the text of times that are Python objects.
//!
//! The library defines the text (`crivo::keys::text`, docs/keys.md). This module only converts the
//! values. Instants with a known zone are written in UTC with a `Z`, because the zone is part of
//! their display and not of their value.

use arrow_schema::TimeUnit;
use chrono::{Datelike, NaiveDate, NaiveDateTime, NaiveTime, Timelike};
use crivo::keys::text::{push_date, push_time};
use crivo_arrow::push_instant;

/// Appends a day.
pub(super) fn write_day(date: NaiveDate, out: &mut Vec<u8>) {
    const FIRST_OF_1970: i32 = 719_163; // counted as `num_days_from_ce` counts
    push_date(out, (date.num_days_from_ce() - FIRST_OF_1970).into());
}

/// Appends an instant in microseconds, with the nanoseconds beyond them.
pub(super) fn write_instant(value: NaiveDateTime, nanoseconds: i64, universal: bool, out: &mut Vec<u8>) {
    let micros = value.and_utc().timestamp_micros();
    // Only times that can be counted in nanoseconds have nanoseconds.
    match micros.checked_mul(1_000).and_then(|coarse| coarse.checked_add(nanoseconds)) {
        Some(nanos) if nanoseconds != 0 => push_instant(out, nanos, TimeUnit::Nanosecond, universal),
        _ => push_instant(out, micros, TimeUnit::Microsecond, universal),
    }
}

/// Appends a time of day.
pub(super) fn write_time_of_day(time: NaiveTime, out: &mut Vec<u8>) {
    let nanoseconds =
        u64::from(time.num_seconds_from_midnight()) * 1_000_000_000 + u64::from(time.nanosecond());
    push_time(out, nanoseconds);
}
