//! Which text stands for a value that is not text?
//!
//! The rules are those of docs/keys.md, the same for every input and every surface: integers in
//! decimal; floats in the shortest form that reads back as the same number, never with an
//! exponent and without a fraction if there is none (`1`, `0.1`); `true` and `false`; days,
//! times and instants in ISO 8601, with 0, 3, 6 or 9 digits of the second as needed, and instants
//! of a known zone in UTC with a `Z`, since the zone is how they are shown, not what they are.
//!
//! Each function appends one text and answers whether there was one: NaN stands for a missing
//! value, not for a number.

use std::fmt::Display;
use std::io::Write;

use arrow_schema::TimeUnit;
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime};

use crate::errors::{Failure, Result};

pub(super) fn integer(value: impl itoa::Integer, out: &mut Vec<u8>) -> bool {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    true
}

/// The text of Rust's `Display`. Ryu finds the same digits several times faster, and lays them
/// out the same but for a `.0` that is dropped and an exponent that is not wanted.
pub(super) fn float<F: ryu::Float + Display + Into<f64>>(value: F, out: &mut Vec<u8>) -> bool {
    let wide: f64 = value.into();
    if wide.is_nan() {
        return false;
    }
    let mut buffer = ryu::Buffer::new();
    let text = buffer.format(value);
    if wide.is_infinite() || text.contains('e') {
        return display(value, out);
    }
    out.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
    true
}

pub(super) fn boolean(value: bool, out: &mut Vec<u8>) -> bool {
    out.extend_from_slice(if value { b"true" } else { b"false" });
    true
}

/// A day, as days since 1970.
pub(super) fn days(days: i64, out: &mut Vec<u8>) -> Result<bool> {
    let seconds = days.checked_mul(86_400).ok_or_else(|| beyond_calendar(days, "days"))?;
    let instant = DateTime::from_timestamp(seconds, 0).ok_or_else(|| beyond_calendar(days, "days"))?;
    Ok(date(instant.date_naive(), out))
}

pub(super) fn date(date: NaiveDate, out: &mut Vec<u8>) -> bool {
    display(date, out)
}

/// An instant, as units since the start of 1970; `utc` if its zone is known.
pub(super) fn timestamp(value: i64, unit: TimeUnit, utc: bool, out: &mut Vec<u8>) -> Result<bool> {
    let instant = match unit {
        TimeUnit::Second => DateTime::from_timestamp(value, 0),
        TimeUnit::Millisecond => DateTime::from_timestamp_millis(value),
        TimeUnit::Microsecond => DateTime::from_timestamp_micros(value),
        TimeUnit::Nanosecond => Some(DateTime::from_timestamp_nanos(value)),
    };
    let instant = instant.ok_or_else(|| beyond_calendar(value, unit))?;
    Ok(datetime(instant.naive_utc(), utc, out))
}

pub(super) fn datetime(value: NaiveDateTime, utc: bool, out: &mut Vec<u8>) -> bool {
    date(value.date(), out);
    out.push(b'T');
    time(value.time(), out);
    if utc {
        out.push(b'Z');
    }
    true
}

/// A time of day, as units since midnight.
pub(super) fn time_of_day(value: i64, unit: TimeUnit, out: &mut Vec<u8>) -> Result<bool> {
    let per_second = match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    };
    let (seconds, rest) = (value.div_euclid(per_second), value.rem_euclid(per_second));
    let nanos = rest * (1_000_000_000 / per_second);
    let of_day = u32::try_from(seconds)
        .ok()
        .and_then(|seconds| NaiveTime::from_num_seconds_from_midnight_opt(seconds, nanos as u32))
        .ok_or_else(|| Failure::key("a time of day", format_args!("{value} {unit:?}"), ""))?;
    Ok(time(of_day, out))
}

/// `Display` of a time writes 0, 3, 6 or 9 digits after the second, as many as it needs.
pub(super) fn time(time: NaiveTime, out: &mut Vec<u8>) -> bool {
    display(time, out)
}

fn display(value: impl Display, out: &mut Vec<u8>) -> bool {
    write!(out, "{value}").is_ok() // writing to memory cannot fail
}

#[cold]
fn beyond_calendar(value: i64, unit: impl std::fmt::Debug) -> Failure {
    Failure::key("a time within 262 000 years of 1970", format_args!("{value} {unit:?} since 1970"), "")
}
