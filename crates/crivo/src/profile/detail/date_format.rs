//! Finds the date that a text represents, and its format.
//!
//! Years have four digits. Dates with two readings, such as `03/04/2024`, keep both here. The
//! values of the whole column decide later.

use crate::keys::calendar::day_of;
use crate::profile::column_profile::is_time;

/// A format of dates. A time may follow the date without changing the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DateFormat {
    /// `2024-12-31`, ISO 8601.
    YearMonthDayDashes = 0,
    /// `2024/12/31`.
    YearMonthDaySlashes = 1,
    /// `2024.12.31`.
    YearMonthDayDots = 2,
    /// `20241231`, if all values of a column are dates in this format.
    Compact = 3,
    /// `31.12.2024`.
    DayMonthYearDots = 4,
    /// `31 Dec 2024` or `31-Dec-2024`, or with the whole name of the month.
    DayNameYear = 5,
    /// `Dec 31, 2024`, with or without the comma, or with the whole name of the month.
    NameDayYear = 6,
    /// `31/12/2024`.
    DayMonthYearSlashes = 7,
    /// `12/31/2024`.
    MonthDayYearSlashes = 8,
    /// `31-12-2024`.
    DayMonthYearDashes = 9,
    /// `12-31-2024`.
    MonthDayYearDashes = 10,
}

impl DateFormat {
    /// Every format, in the order of their numbers.
    pub const ALL: [Self; 11] = [
        Self::YearMonthDayDashes,
        Self::YearMonthDaySlashes,
        Self::YearMonthDayDots,
        Self::Compact,
        Self::DayMonthYearDots,
        Self::DayNameYear,
        Self::NameDayYear,
        Self::DayMonthYearSlashes,
        Self::MonthDayYearSlashes,
        Self::DayMonthYearDashes,
        Self::MonthDayYearDashes,
    ];

    /// Returns the format as it is usually written down: `DD/MM/YYYY`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::YearMonthDayDashes => "YYYY-MM-DD",
            Self::YearMonthDaySlashes => "YYYY/MM/DD",
            Self::YearMonthDayDots => "YYYY.MM.DD",
            Self::Compact => "YYYYMMDD",
            Self::DayMonthYearDots => "DD.MM.YYYY",
            Self::DayNameYear => "DD Mon YYYY",
            Self::NameDayYear => "Mon DD, YYYY",
            Self::DayMonthYearSlashes => "DD/MM/YYYY",
            Self::MonthDayYearSlashes => "MM/DD/YYYY",
            Self::DayMonthYearDashes => "DD-MM-YYYY",
            Self::MonthDayYearDashes => "MM-DD-YYYY",
        }
    }
}

/// The dates that a text can represent. With two readings, one or both may be valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    One(DateFormat, i32),
    /// Day first and month first. At least one of them is valid. The separators are dashes or
    /// slashes.
    Either {
        has_dashes: bool,
        day_first: Option<i32>,
        month_first: Option<i32>,
    },
}

/// The shortest and the longest text that can be a date.
const SHORTEST: usize = 8;
pub(super) const LONGEST: usize = 48;

/// Returns the date that a text represents, if it is one in any format.
#[inline]
pub(super) fn parse(text: &[u8]) -> Option<Found> {
    match text.first()? {
        _ if !(SHORTEST..=LONGEST).contains(&text.len()) => None,
        b'0'..=b'9' => parse_digits(text),
        // No month begins with another letter.
        letter => match letter.to_ascii_lowercase() {
            b'j' | b'f' | b'm' | b'a' | b's' | b'o' | b'n' | b'd' => name_first(text),
            _ => None,
        },
    }
}

fn parse_digits(text: &[u8]) -> Option<Found> {
    let (first, rest) = number(text)?;
    let digits = text.len() - rest.len();
    match (digits, *rest.first()?) {
        (4, separator @ (b'-' | b'/' | b'.')) => {
            let format = match separator {
                b'-' => DateFormat::YearMonthDayDashes,
                b'/' => DateFormat::YearMonthDaySlashes,
                _ => DateFormat::YearMonthDayDots,
            };
            let (month, rest) = short(&rest[1..])?;
            let (day, rest) = short(rest.strip_prefix(&[separator])?)?;
            Some(Found::One(format, day_number(first, month, day).filter(|_| ends(rest))?))
        }
        (1 | 2, separator @ (b'-' | b'/' | b'.' | b' ')) => match rest.get(1)? {
            b'0'..=b'9' if separator != b' ' => two_numbers(first, separator, &rest[1..]),
            _ if separator == b'-' || separator == b' ' => day_name(first, separator, &rest[1..]),
            _ => None,
        },
        _ => None,
    }
}

/// Parses a date of eight digits.
pub(super) fn parse_compact(text: &[u8]) -> Option<i32> {
    let (digits, rest) = number(text)?;
    let year = digits / 10_000;
    let is_compact = text.len() == 8 && rest.is_empty() && (1800..2200).contains(&year);
    day_number(year, digits / 100 % 100, digits % 100).filter(|_| is_compact)
}

/// Parses the rest of `31/12/2024` after its first number.
fn two_numbers(first: u32, separator: u8, rest: &[u8]) -> Option<Found> {
    let (second, rest) = short(rest)?;
    let (year, rest) = year(rest.strip_prefix(&[separator])?)?;
    if !ends(rest) {
        return None;
    }
    let (day_first, month_first) = (day_number(year, second, first), day_number(year, first, second));
    if separator == b'.' {
        return day_first.map(|day| Found::One(DateFormat::DayMonthYearDots, day));
    }
    let has_dashes = separator == b'-';
    (day_first.is_some() || month_first.is_some()).then_some(Found::Either {
        has_dashes,
        day_first,
        month_first,
    })
}

/// Parses the rest of `31 Dec 2024` after its day.
fn day_name(day: u32, separator: u8, rest: &[u8]) -> Option<Found> {
    let (month, rest) = month_name(rest)?;
    let (year, rest) = year(rest.strip_prefix(&[separator])?)?;
    let day = day_number(year, month, day).filter(|_| ends(rest))?;
    Some(Found::One(DateFormat::DayNameYear, day))
}

/// Parses `Dec 31, 2024`.
fn name_first(text: &[u8]) -> Option<Found> {
    let (month, rest) = month_name(text)?;
    let (day, rest) = short(rest.strip_prefix(b" ")?)?;
    let rest = rest.strip_prefix(b",").unwrap_or(rest);
    let (year, rest) = year(rest.strip_prefix(b" ")?)?;
    let day = day_number(year, month, day).filter(|_| ends(rest))?;
    Some(Found::One(DateFormat::NameDayYear, day))
}

/// The first three letters of each month, and the remaining ones.
const MONTHS: [([u8; 3], &str); 12] = [
    (*b"jan", "uary"),
    (*b"feb", "ruary"),
    (*b"mar", "ch"),
    (*b"apr", "il"),
    (*b"may", ""),
    (*b"jun", "e"),
    (*b"jul", "y"),
    (*b"aug", "ust"),
    (*b"sep", "tember"),
    (*b"oct", "ober"),
    (*b"nov", "ember"),
    (*b"dec", "ember"),
];

/// Returns the month at the beginning of a text, by its name or the first three letters of its
/// name, and the remaining text.
fn month_name(text: &[u8]) -> Option<(u32, &[u8])> {
    let start = text.first_chunk::<3>()?.map(|letter| letter.to_ascii_lowercase());
    // Comparing the three letters as one number is faster.
    let letters = u32::from_le_bytes([start[0], start[1], start[2], 0]);
    let month =
        MONTHS.iter().position(|(name, _)| u32::from_le_bytes([name[0], name[1], name[2], 0]) == letters)?;
    let length = text[3..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (ending, rest) = text[3..].split_at(length);
    let is_it = ending.is_empty() || ending.eq_ignore_ascii_case(MONTHS[month].1.as_bytes());
    is_it.then(|| (month as u32 + 1, rest.strip_prefix(b".").unwrap_or(rest)))
}

/// Returns the number that one to eight digits represent, and the remaining text.
fn number(text: &[u8]) -> Option<(u32, &[u8])> {
    let length = text.iter().take(9).take_while(|byte| byte.is_ascii_digit()).count();
    let value = text[..length]
        .iter()
        .fold(0_u32, |value, byte| value.wrapping_mul(10).wrapping_add((byte - b'0').into()));
    (1..=8).contains(&length).then_some((value, &text[length..]))
}

/// Reads a number of one or two digits.
fn short(text: &[u8]) -> Option<(u32, &[u8])> {
    number(text).filter(|(_, rest)| text.len() - rest.len() <= 2)
}

/// Reads a number of four digits.
fn year(text: &[u8]) -> Option<(u32, &[u8])> {
    number(text).filter(|(_, rest)| text.len() - rest.len() == 4)
}

/// Returns true if the text ends here, or if only a time follows.
fn ends(rest: &[u8]) -> bool {
    match rest.split_first() {
        None => true,
        Some((b'T' | b't' | b' ', time)) => is_time(time),
        Some(_) => false,
    }
}

fn day_number(year: u32, month: u32, day: u32) -> Option<i32> {
    day_of(year.into(), month, day).and_then(|day| day.try_into().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_is_read_and_what_is_none_is_not() {
        let day = |year, month, day| day_of(year, month, day).unwrap() as i32;
        let last = day(2024, 12, 31);
        for (format, texts) in [
            (DateFormat::YearMonthDayDashes, &["2024-12-31", "2024-12-31T10:20:30Z", "2024-12-31 23:59"][..]),
            (DateFormat::YearMonthDaySlashes, &["2024/12/31", "2024/12/31 08:00:01.5"]),
            (DateFormat::YearMonthDayDots, &["2024.12.31"]),
            (DateFormat::DayMonthYearDots, &["31.12.2024", "31.12.2024 10:00"]),
            (DateFormat::DayNameYear, &["31 Dec 2024", "31-Dec-2024", "31 december 2024", "31-DEC-2024"]),
            (
                DateFormat::NameDayYear,
                &["Dec 31, 2024", "December 31 2024", "Dec. 31, 2024", "dec 31, 2024 09:30"],
            ),
        ] {
            for text in texts {
                assert_eq!(parse(text.as_bytes()), Some(Found::One(format, last)), "{text}");
            }
        }
        let either =
            |has_dashes, day_first, month_first| Some(Found::Either { has_dashes, day_first, month_first });
        assert_eq!(parse(b"31/12/2024"), either(false, Some(last), None));
        assert_eq!(parse(b"12-31-2024 10:00"), either(true, None, Some(last)));
        assert_eq!(parse(b"3/4/2024"), either(false, Some(day(2024, 4, 3)), Some(day(2024, 3, 4))));
        assert_eq!(parse_compact(b"20241231"), Some(last));
        for text in [
            "",
            "2024-12-32",
            "2023-02-29",
            "31/31/2024",
            "31/12/24",
            "2024-12",
            "31.12-2024",
            "31 Foo 2024",
            "12.50.2024",
            "2024-12-31x",
            "2024-12-31T",
            "20241231",
            "1234567890",
            "May day 2024",
            "31/12/2024/1",
            "0/0/0000",
            "-2024-12-31",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
        for text in ["20241331", "17991231", "2024123", "202412311", "2024123x"] {
            assert_eq!(parse_compact(text.as_bytes()), None, "{text}");
        }
    }
}
