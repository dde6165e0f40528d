//! Days of the Gregorian calendar, extended to all years, counted from 1970-01-01.
//!
//! Eras of 400 years that begin on 1 March put the leap day last (Hinnant: *chrono-compatible
//! low-level date algorithms*).

/// Returns year, month and day of a day, given as days from 1970-01-01.
///
/// ```
/// use crivo::keys::calendar::{date_of, day_of};
/// assert_eq!(date_of(19_782), (2024, 2, 29));
/// assert_eq!(day_of(2024, 2, 29), Some(19_782));
/// assert_eq!(day_of(2023, 2, 29), None);
/// ```
pub fn date_of(day: i64) -> (i64, u32, u32) {
    let day = day.saturating_add(719_468);
    let era = day.div_euclid(146_097);
    // An era fits in 32 bits, which are divided faster.
    let day_of_era = day.rem_euclid(146_097) as u32;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (i64::from(year_of_era) + era * 400 + i64::from(month <= 2), month, day)
}

/// Returns the number of days from 1970-01-01 to a date. Returns `None` if there is no such date,
/// or if the number does not fit.
pub fn day_of(year: i64, month: u32, day: u32) -> Option<i64> {
    if day == 0 || day > days_in(year, month)? {
        return None;
    }
    let year = if month <= 2 { year.checked_sub(1)? } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = i64::from((153 * ((month + 9) % 12) + 2) / 5 + day - 1);
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era.checked_mul(146_097)?.checked_add(day_of_era)?.checked_sub(719_468)
}

/// Does the same as [`day_of`] for a year of up to four digits, with fewer and shorter divisions.
#[inline]
pub(crate) fn day_of_short_year(year: u32, month: u32, day: u32) -> Option<i32> {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(25) || year.is_multiple_of(16));
    let days = match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    if year > 9999 || day == 0 || day > days {
        return None;
    }
    // One era more, so that the January of year 0 is not negative.
    let year = year + 400 - u32::from(month <= 2);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = 365 * year + year / 4 - year / 100 + year / 400 + day_of_year;
    Some(days as i32 - 146_097 - 719_468)
}

/// Returns how many days a month has. Returns `None` if there is no such month.
pub fn days_in(year: i64, month: u32) -> Option<u32> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        4 | 6 | 9 | 11 => Some(30),
        2 => Some(28 + u32::from(is_leap)),
        1..=12 => Some(31),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Days follow one another as the lengths of months require, over two eras.
    #[test]
    fn every_day_is_the_one_after_the_last() {
        let (mut year, mut month, mut date) = (1600, 1, 1);
        let first = day_of(year, month, date).unwrap();
        assert_eq!(day_of(1970, 1, 1), Some(0));
        for day in first..first + 2 * 146_097 {
            assert_eq!(date_of(day), (year, month, date), "{day}");
            assert_eq!(day_of(year, month, date), Some(day));
            date += 1;
            if date > days_in(year, month).unwrap() {
                (date, month) = (1, month + 1);
            }
            if month > 12 {
                (month, year) = (1, year + 1);
            }
        }
    }

    #[test]
    fn what_is_no_day_has_no_number() {
        for (year, month, day) in
            [(2023, 2, 29), (1900, 2, 29), (2024, 0, 1), (2024, 13, 1), (2024, 1, 0), (2024, 4, 31)]
        {
            assert_eq!(day_of(year, month, day), None, "{year}-{month}-{day}");
        }
        for year in [i64::MIN, i64::MAX] {
            assert_eq!(day_of(year, 1, 1), None);
        }
        let _ = date_of(i64::MAX);
        let _ = date_of(i64::MIN);
    }

    #[test]
    fn years_of_four_digits_have_the_same_days() {
        for year in (0..=10_000_u32).filter(|year| year % 7 == 0 || year % 100 == 0 || *year > 9990) {
            for month in 0..=13 {
                for day in [0, 1, 9, 28, 29, 30, 31, 32] {
                    let expected = day_of(year.into(), month, day).filter(|_| year <= 9999);
                    let found = day_of_short_year(year, month, day);
                    assert_eq!(found.map(i64::from), expected, "{year}-{month}-{day}");
                }
            }
        }
    }
}
