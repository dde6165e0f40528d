//! Parses times in fields, and durations.
//!
//! A time is a number of seconds since 1970 (of milliseconds, if it is too large for seconds), or a
//! time in ISO 8601: `2026-11-16`, `2026-11-16T03:05:42Z`, `2026-11-16 03:05:42.5+01:00`. A time
//! without a zone is UTC.

use crivo::keys::calendar::{date_of, day_of};

/// The greatest number of seconds, in the year 5138. Larger numbers are milliseconds.
const MOST_SECONDS: i64 = 99_999_999_999;
/// The greatest number that is a time: 10,000 years in milliseconds.
const MOST_MILLISECONDS: i64 = 400_000_000_000_000;

/// Returns the seconds since 1970, rounded down, or `None` if the text is not a time.
///
/// ```
/// assert_eq!(crivo_rows::times::seconds(b"2025-11-16T03:05:42.9Z"), Some(1_763_262_342));
/// assert_eq!(crivo_rows::times::seconds(b"soon"), None);
/// ```
pub fn seconds(text: &[u8]) -> Option<i64> {
    milliseconds(text).map(|time| time.div_euclid(1000))
}

/// Returns the milliseconds since 1970, rounded down, or `None` if the text is not a time.
pub fn milliseconds(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text.trim_ascii()).ok()?;
    if let Ok(number) = text.parse::<i64>() {
        if number.unsigned_abs() > MOST_MILLISECONDS.unsigned_abs() {
            return None;
        }
        let is_seconds = number.unsigned_abs() <= MOST_SECONDS.unsigned_abs();
        let time = if is_seconds { number * 1000 } else { number };
        return Some(time);
    }
    if let Ok(number) = text.parse::<f64>()
        && number.abs() <= MOST_MILLISECONDS as f64
    {
        let is_seconds = number.abs() <= MOST_SECONDS as f64;
        // The time 1763262342.123 is exactly that millisecond. The nearest float may be slightly
        // below.
        let scaled = if is_seconds { number * 1000.0 } else { number };
        let nearest = scaled.round();
        let time = if (scaled - nearest).abs() < 1e-3 { nearest } else { scaled.floor() };
        return Some(time as i64);
    }
    iso(text)
}

fn iso(text: &str) -> Option<i64> {
    let (date, rest) = text.split_at_checked(10)?;
    let mut parts = date.split('-').map(digits);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || date.len() != 10 {
        return None;
    }
    let days = day_of(year, u32::try_from(month).ok()?, u32::try_from(day).ok()?)?;
    let Some(clock) = rest.strip_prefix(['T', 't', ' ']) else {
        return rest.is_empty().then_some(days * 86_400_000);
    };
    let zone_at = clock.find(['Z', 'z', '+', '-']).unwrap_or(clock.len());
    let (clock, zone) = clock.split_at(zone_at);
    let (clock, fraction) = clock.split_once(['.', ',']).unwrap_or((clock, ""));
    let seconds = of_day(clock.trim_end())?;
    Some((days * 86_400 + seconds - offset(zone)?) * 1000 + thousandths(fraction.trim_end())?)
}

/// Returns the first three digits after the point. Later digits are ignored.
fn thousandths(fraction: &str) -> Option<i64> {
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(fraction.bytes().chain(*b"000").take(3).fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
}

fn of_day(clock: &str) -> Option<i64> {
    let mut parts = clock.split(':').map(digits);
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next().unwrap_or(Some(0))?);
    let is_time = hours < 24 && minutes < 60 && seconds <= 60 && parts.next().is_none();
    is_time.then_some(hours * 3600 + minutes * 60 + seconds)
}

/// Returns the seconds east of Greenwich, for `Z`, `+01:00`, `-0330`, or no zone.
fn offset(zone: &str) -> Option<i64> {
    let (sign, digits_of) = match zone.chars().next() {
        None | Some('Z' | 'z') => return (zone.len() <= 1).then_some(0),
        Some('-') => (-1, zone.get(1..)?),
        Some(_) => (1, zone.get(1..)?),
    };
    let plain = digits_of.replace(':', "");
    // A character of several bytes may be at the split position.
    let (hours, minutes) = match (plain.len(), plain.split_at_checked(2)) {
        (2, _) => (digits(&plain)?, 0),
        (4, Some((hours, minutes))) => (digits(hours)?, digits(minutes)?),
        _ => return None,
    };
    Some(sign * (hours * 3600 + minutes * 60))
}

fn digits(text: &str) -> Option<i64> {
    let plain = !text.is_empty() && text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

/// Returns a duration in milliseconds, for `500ms`, `90s`, `15m`, `24h`, `7d`, or a number of
/// seconds.
///
/// # Errors
/// If the text is not a duration, or the duration is zero.
pub fn duration(text: &str) -> Result<u64, String> {
    let wrong = || "expected a length of time such as 500ms, 90s, 15m, 24h or 7d".to_string();
    let (digits, unit) = match text.strip_suffix("ms") {
        Some(digits) => (digits, 1),
        None => match text.char_indices().next_back() {
            Some((at, 's')) => (&text[..at], 1000),
            Some((at, 'm')) => (&text[..at], 60_000),
            Some((at, 'h')) => (&text[..at], 3_600_000),
            Some((at, 'd')) => (&text[..at], 86_400_000),
            Some((at, 'w')) => (&text[..at], 7 * 86_400_000),
            _ => (text, 1000),
        },
    };
    let number: u64 = digits.trim_end().parse().map_err(|_| wrong())?;
    // Times are signed, so the duration must fit in an `i64`.
    let is_possible = |time: &u64| *time > 0 && i64::try_from(*time).is_ok();
    number.checked_mul(unit).filter(is_possible).ok_or_else(wrong)
}

/// Formats a duration in milliseconds for users: `500 ms`, `2.5 s`, `1 h`.
pub fn shown_duration(milliseconds: u64) -> String {
    for (unit, name) in [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s")] {
        if milliseconds >= unit && milliseconds.is_multiple_of(unit) {
            return format!("{} {name}", milliseconds / unit);
        }
    }
    if milliseconds < 1000 {
        format!("{milliseconds} ms")
    } else {
        format!("{} s", milliseconds as f64 / 1000.0)
    }
}

/// Formats a time in seconds since 1970 for users: `2026-11-16 03:05:42`.
pub fn shown(time: i64) -> String {
    let (days, seconds) = (time.div_euclid(86_400), time.rem_euclid(86_400));
    let (year, month, day) = date_of(days);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_numbers_or_iso_8601() {
        for (text, expected) in [
            ("0", 0),
            ("1763262342", 1_763_262_342),
            ("1763262342.9", 1_763_262_342),
            ("1763262342123", 1_763_262_342),
            ("1970-01-01", 0),
            ("2000-03-01", 951_868_800),
            ("2025-11-16T03:05:42Z", 1_763_262_342),
            ("2025-11-16 03:05:42", 1_763_262_342),
            ("2025-11-16T04:05:42.75+01:00", 1_763_262_342),
            ("2025-11-15T23:35:42-0330", 1_763_262_342),
            ("2025-11-16T03:05", 1_763_262_300),
            ("1969-12-31T23:59:59Z", -1),
            ("2024-02-29", 1_709_164_800),
        ] {
            assert_eq!(seconds(text.as_bytes()), Some(expected), "{text}");
        }
        for wrong in [
            "",
            "soon",
            "0028-06-05 2:0:03-\u{A1C7}:O",
            "2025-11-16T03:05:42+\u{E9}1\u{E9}",
            "2023-02-29",
            "2025-13-01",
            "2025-1-1",
            "2025-11-16T25:00",
            "2025-11-16T03",
            "2025-11-16X",
            "2025-11-16T03:05Zulu",
            "nan",
            "400000000000001",
            "4.1e14",
            "-9223372036854775808",
        ] {
            assert_eq!(seconds(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn fractions_of_a_second_are_kept() {
        for (text, expected) in [
            ("1763262342.123", 1_763_262_342_123),
            ("1763262342123", 1_763_262_342_123),
            ("2025-11-16T03:05:42.75+00:00", 1_763_262_342_750),
            ("2025-11-16T03:05:42,1234567Z", 1_763_262_342_123),
            ("1969-12-31T23:59:59.5", -500),
            ("-0.5", -500),
        ] {
            assert_eq!(milliseconds(text.as_bytes()), Some(expected), "{text}");
        }
        assert_eq!(milliseconds(b"2025-11-16T03:05:42.x"), None);
    }

    #[test]
    fn times_are_shown_as_they_are_read() {
        for time in [0, -1, 951_868_799, 951_868_800, 1_763_262_342, 4_102_444_800, -2_208_988_800] {
            assert_eq!(seconds(shown(time).as_bytes()), Some(time), "{}", shown(time));
        }
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(duration("24h"), Ok(86_400_000));
        assert_eq!(duration("90"), Ok(90_000));
        assert_eq!(duration("15m"), Ok(900_000));
        assert_eq!(duration("7d"), Ok(604_800_000));
        assert_eq!(duration("500ms"), Ok(500));
        for (time, text) in [(500, "500 ms"), (2500, "2.5 s"), (3_600_000, "1 h"), (90_000, "90 s")] {
            assert_eq!(shown_duration(time), text);
        }
        for wrong in ["", "0", "h", "1.5h", "-3d", "5y", "99999999999999999d"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
