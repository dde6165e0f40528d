//! Dates of a column in all usual formats: which formats, the first and the last date, and which
//! days are missing between them.
//!
//! Every value that can be a date is parsed and counted by its format. A text with two readings
//! (`03/04/2024`) is counted in both formats. The correct reading is the one that fits all values
//! of the column. All answers are exact, and merging is the union, bit for bit.
//!
//! The days that occur are kept as one bit each, from the first to the last. If the days of a
//! column are too far apart for that, it keeps only the range, and the gaps are not known.

use super::date_format::{DateFormat, Found, LONGEST, parse, parse_compact};
use crate::codec::{Reader, Writer};
use crate::error::{Error, Result};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::profile::column_profile::Parsed;

/// The facts about the dates of a column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dates {
    /// The largest number of days from the first to the last for which gaps are known.
    span: u32,
    /// The number of values that can be read in each format.
    counts: [u64; DateFormat::ALL.len()],
    /// The numbers of values with slashes and with dashes in an ambiguous format, whether one or
    /// two readings are valid.
    either: [u64; 2],
    /// The days of unambiguous formats, of ambiguous formats read day first and month first, and of
    /// numbers.
    days: [DaySet; SETS],
    /// True if a number occurred that is no date. Then numbers are not read as dates.
    has_other_numbers: bool,
}

const SETS: usize = 4;
const SURE: usize = 0;
const DAY_FIRST: usize = 1;
const MONTH_FIRST: usize = 2;
const COMPACT: usize = 3;

/// The days that occur.
#[derive(Debug, Clone, PartialEq, Default)]
struct DaySet {
    /// The first and the last day, or `None` if there are no days.
    range: Option<(i32, i32)>,
    /// A bit for each day, beginning with the days of the first word. Empty if the days are too far
    /// apart.
    words: Vec<u64>,
    /// The number of the first word.
    first: i32,
    is_too_wide: bool,
}

/// The facts about a column of dates; see
/// [`TableColumn::dates`](crate::profile::TableColumn::dates).
#[derive(Debug, Clone, PartialEq)]
pub struct DateFacts {
    /// The formats with the number of values of each, the most frequent first. `03/04/2024` can be
    /// read day first or month first. Both formats are listed if both fit all values written like
    /// that, or if neither does.
    pub formats: Vec<(DateFormat, u64)>,
    /// The number of values that are dates.
    pub dates: u64,
    /// The number of values that are not dates.
    pub others: u64,
    /// The first and the last day, as the number of days since 1970-01-01, or `None` if the reading
    /// of the values is not certain.
    pub range: Option<(i32, i32)>,
    /// The missing days between the first and the last, or `None` if these are too far apart or the
    /// reading of the values is not certain.
    pub gaps: Option<DateGaps>,
}

/// The days that are missing between the first and the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateGaps {
    /// The number of missing days.
    pub missing: u64,
    /// The first and the last day of the longest run of missing days, and of the earliest one among
    /// several. `None` if no day is missing.
    pub longest: Option<(i32, i32)>,
}

impl Dates {
    pub(super) fn new(span: u32) -> Self {
        Self {
            span,
            counts: [0; DateFormat::ALL.len()],
            either: [0; 2],
            days: core::array::from_fn(|_| DaySet::default()),
            has_other_numbers: false,
        }
    }

    /// Adds a value that occurred `weight` times.
    #[inline]
    pub(super) fn add(&mut self, text: &[u8], parsed: Parsed, weight: u64) {
        match parsed {
            Parsed::Date(day) | Parsed::Timestamp(day) if text.len() <= LONGEST => {
                self.count(DateFormat::YearMonthDayDashes, SURE, Some(day), weight);
            }
            Parsed::Text => {
                if let Some(found) = parse(text) {
                    self.add_found(found, weight);
                }
            }
            Parsed::Integer(_) | Parsed::LargeInteger(_) | Parsed::Float(_) if !self.has_other_numbers => {
                self.add_number(text, parsed, weight);
            }
            _ => {}
        }
    }

    fn add_found(&mut self, found: Found, weight: u64) {
        match found {
            Found::One(format, day) => self.count(format, SURE, Some(day), weight),
            Found::Either { has_dashes, day_first, month_first } => {
                let either = &mut self.either[usize::from(has_dashes)];
                *either = either.saturating_add(weight);
                let [day_format, month_format] = two_readings(has_dashes);
                self.count(day_format, DAY_FIRST, day_first, weight);
                self.count(month_format, MONTH_FIRST, month_first, weight);
            }
        }
    }

    #[inline]
    fn count(&mut self, format: DateFormat, set: usize, day: Option<i32>, weight: u64) {
        if let Some(day) = day {
            self.counts[format as usize] = self.counts[format as usize].saturating_add(weight);
            self.days[set].insert(day, self.span);
        }
    }

    /// Adds numbers, until a finite number is no date.
    fn add_number(&mut self, text: &[u8], parsed: Parsed, weight: u64) {
        match parse_compact(text) {
            Some(day) => self.count(DateFormat::Compact, COMPACT, Some(day), weight),
            None if parsed.number().is_some_and(f64::is_finite) => self.forget_numbers(),
            None => {}
        }
    }

    fn forget_numbers(&mut self) {
        self.has_other_numbers = true;
        self.counts[DateFormat::Compact as usize] = 0;
        self.days[COMPACT] = DaySet::default();
    }

    pub(super) fn merge(&mut self, other: &Self) {
        let add = |mine: &mut u64, theirs: &u64| *mine = mine.saturating_add(*theirs);
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| add(mine, theirs));
        self.either.iter_mut().zip(&other.either).for_each(|(mine, theirs)| add(mine, theirs));
        for (mine, theirs) in self.days.iter_mut().zip(&other.days) {
            mine.merge(theirs, self.span);
        }
        if self.has_other_numbers || other.has_other_numbers {
            self.forget_numbers();
        }
    }

    /// Returns the facts about the dates, if nearly all of the `values` are dates.
    pub(super) fn facts(&self, values: u64) -> Option<DateFacts> {
        let count_of = |format: DateFormat| self.counts[format as usize];
        let mut formats: Vec<(DateFormat, u64)> = Vec::new();
        let mut sets = vec![&self.days[SURE]];
        let mut dates = 0_u64;
        let mut has_two_readings = false;
        for format in &DateFormat::ALL[..=DateFormat::NameDayYear as usize] {
            let count = count_of(*format);
            // If only some values are numbers that could be dates, these numbers are not counted as
            // dates, because they may be anything.
            if count > 0 && (*format != DateFormat::Compact || count == values) {
                formats.push((*format, count));
                dates = dates.saturating_add(count);
            }
        }
        if count_of(DateFormat::Compact) == values {
            sets.push(&self.days[COMPACT]);
        }
        for has_dashes in [false, true] {
            let count = self.either[usize::from(has_dashes)];
            let readings = two_readings(has_dashes);
            if count == 0 {
                continue;
            }
            dates = dates.saturating_add(count);
            let fits = readings.map(|format| count_of(format) == count);
            // Of a mixture each reading is listed with the values that it fits.
            let is_mixture = fits == [false; 2];
            let known = readings.into_iter().zip(fits).filter(|(_, fits)| *fits || is_mixture);
            formats.extend(known.map(|(format, _)| (format, count_of(format))));
            match fits {
                [true, false] => sets.push(&self.days[DAY_FIRST]),
                [false, true] => sets.push(&self.days[MONTH_FIRST]),
                _ => has_two_readings = true,
            }
        }
        // Slashes and dashes share the sets of days, so both must have the same reading.
        let is_read = |format: DateFormat| formats.iter().any(|(known, _)| *known == format);
        let [day_slashes, month_slashes] = two_readings(false).map(is_read);
        let [day_dashes, month_dashes] = two_readings(true).map(is_read);
        has_two_readings |= day_slashes && month_dashes || month_slashes && day_dashes;
        // One value in twenty may be something else, such as `n/a`.
        if dates == 0 || dates > values || (values - dates) > values / 20 {
            return None;
        }
        formats.sort_by_key(|(format, count)| (core::cmp::Reverse(*count), *format));
        let mut days = DaySet::default();
        sets.into_iter().for_each(|set| days.merge(set, self.span));
        let range = days.range.filter(|_| !has_two_readings);
        let gaps = range.and_then(|_| days.gaps());
        Some(DateFacts { formats, dates, others: values - dates, range, gaps })
    }

    pub(super) fn memory(&self) -> usize {
        self.days.iter().map(|set| set.words.capacity() * 8).sum()
    }

    /// Returns the most memory behind the pointers, for days that span at most `span` days.
    pub(super) fn most_memory(span: u32) -> usize {
        SETS * 8 * (span as usize / 64 + 2)
    }

    pub(super) fn span(&self) -> u32 {
        self.span
    }

    pub(super) fn encode(&self, writer: &mut Writer) {
        writer.u32(self.span);
        writer.u8(u8::from(self.has_other_numbers));
        writer.u64s(self.counts);
        writer.u64s(self.either);
        self.days.iter().for_each(|set| set.encode(writer));
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self> {
        let span = reader.u32("span of days")?;
        if span % 64 != 0 || span > 1 << 20 {
            return Err(Error::contents("span of days", "a multiple of 64 up to 2^20", span));
        }
        let mut dates = Self::new(span);
        dates.has_other_numbers = match reader.u8("days")? {
            0 => false,
            1 => true,
            other => return Err(Error::contents("days", "0 or 1", other)),
        };
        for (count, read) in dates.counts.iter_mut().zip(reader.u64s("days", DateFormat::ALL.len() as u64)?) {
            *count = read;
        }
        for (count, read) in dates.either.iter_mut().zip(reader.u64s("days", 2)?) {
            *count = read;
        }
        for set in &mut dates.days {
            *set = DaySet::decode(span, reader)?;
        }
        dates.require_counts_of_its_days()?;
        Ok(dates)
    }

    /// Refuses counts without days, days without counts, and more readings than values.
    fn require_counts_of_its_days(&self) -> Result<()> {
        let count_of = |format: DateFormat| self.counts[format as usize];
        let sum = |formats: &[DateFormat]| {
            formats.iter().fold(0_u64, |sum, format| sum.saturating_add(count_of(*format)))
        };
        let sure: Vec<DateFormat> = DateFormat::ALL[..=DateFormat::NameDayYear as usize]
            .iter()
            .copied()
            .filter(|format| *format != DateFormat::Compact)
            .collect();
        let [slashes, dashes] = [false, true].map(two_readings);
        let of_sets = [
            sum(&sure),
            sum(&[slashes[0], dashes[0]]),
            sum(&[slashes[1], dashes[1]]),
            sum(&[DateFormat::Compact]),
        ];
        let fits = |(set, count): (&DaySet, u64)| {
            set.range.is_none_or(|(first, last)| first == last || count > 1)
                && set.range.is_some() == (count > 0)
        };
        let can_be_read =
            [(slashes, self.either[0]), (dashes, self.either[1])].into_iter().all(|(formats, count)| {
                let [one, other] = formats.map(count_of);
                one <= count && other <= count && count <= one.saturating_add(other)
            });
        let has_no_numbers = !self.has_other_numbers || count_of(DateFormat::Compact) == 0;
        if self.days.iter().zip(of_sets).all(fits) && can_be_read && has_no_numbers {
            return Ok(());
        }
        Err(Error::contents("days", "as many as were counted", "others"))
    }
}

/// Returns the formats with the day first and with the month first, for dashes or slashes.
fn two_readings(has_dashes: bool) -> [DateFormat; 2] {
    if has_dashes {
        [DateFormat::DayMonthYearDashes, DateFormat::MonthDayYearDashes]
    } else {
        [DateFormat::DayMonthYearSlashes, DateFormat::MonthDayYearSlashes]
    }
}

impl DaySet {
    #[inline]
    fn insert(&mut self, day: i32, span: u32) {
        let range = self.range.unwrap_or((day, day));
        let wider = (range.0.min(day), range.1.max(day));
        if self.range != Some(wider) {
            self.widen(wider, span);
        }
        if !self.is_too_wide {
            self.words[((day >> 6) - self.first) as usize] |= 1 << (day & 63);
        }
    }

    /// Makes room for the days of a range, which contains the present range, or gives up the bits.
    #[cold]
    fn widen(&mut self, range: (i32, i32), span: u32) {
        self.range = Some(range);
        self.is_too_wide = range.0.abs_diff(range.1) >= span;
        if self.is_too_wide {
            (self.words, self.first) = (Vec::new(), 0);
            return;
        }
        let (first, last) = (range.0 >> 6, range.1 >> 6);
        let before = if self.words.is_empty() { 0 } else { (self.first - first) as usize };
        self.words.splice(0..0, core::iter::repeat_n(0, before));
        self.words.resize((last - first) as usize + 1, 0);
        self.first = first;
    }

    fn merge(&mut self, other: &Self, span: u32) {
        let Some(theirs) = other.range else { return };
        let mine = self.range.unwrap_or(theirs);
        let is_too_wide = self.is_too_wide || other.is_too_wide;
        self.widen((mine.0.min(theirs.0), mine.1.max(theirs.1)), span);
        if is_too_wide {
            (self.words, self.first, self.is_too_wide) = (Vec::new(), 0, true);
        }
        if !self.is_too_wide {
            let at = (other.first - self.first) as usize;
            self.words[at..].iter_mut().zip(&other.words).for_each(|(mine, theirs)| *mine |= theirs);
        }
    }

    /// Returns the days that are missing between the first and the last.
    fn gaps(&self) -> Option<DateGaps> {
        let (from, to) = self.range.filter(|_| !self.is_too_wide)?;
        let came = |day: i32| self.words[((day >> 6) - self.first) as usize] >> (day & 63) & 1 == 1;
        let (mut missing, mut longest, mut last) = (0, None::<(i32, i32)>, from);
        for day in (from..=to).filter(|&day| came(day)) {
            let length = day - last - 1;
            missing += u64::from(length.max(0).unsigned_abs());
            if length > longest.map_or(0, |(first, last)| last - first + 1) {
                longest = Some((last + 1, day - 1));
            }
            last = day;
        }
        Some(DateGaps { missing, longest })
    }

    fn encode(&self, writer: &mut Writer) {
        writer.u8(u8::from(self.range.is_some()) + u8::from(self.is_too_wide));
        if let Some((first, last)) = self.range {
            writer.u32(first as u32);
            writer.u32(last as u32);
            writer.u64s(self.words.iter().copied());
        }
    }

    fn decode(span: u32, reader: &mut Reader<'_>) -> Result<Self> {
        let state = reader.u8("days")?;
        if state == 0 {
            return Ok(Self::default());
        }
        let (first, last) = (reader.u32("days")? as i32, reader.u32("days")? as i32);
        // The limits are the days of the years 0 to 9999.
        if state > 2
            || first > last
            || first < -719_528
            || last > 2_932_896
            || (state == 2) != (first.abs_diff(last) >= span)
        {
            return Err(Error::contents(
                "days",
                "a first and a last one",
                format_args!("{first} and {last}"),
            ));
        }
        let mut set = Self { range: Some((first, last)), is_too_wide: state == 2, ..Self::default() };
        if state == 1 {
            set.first = first >> 6;
            let words = u64::from((last >> 6).abs_diff(set.first)) + 1;
            set.words = reader.u64s("days", words)?.collect();
            let (low, high) = (set.words[0], set.words[words as usize - 1]);
            if low.trailing_zeros() != (first & 63) as u32 || high.leading_zeros() != 63 - (last & 63) as u32
            {
                return Err(Error::contents("days", "bits from the first day to the last", "others"));
            }
        }
        Ok(set)
    }
}
