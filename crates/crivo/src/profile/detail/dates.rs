//! Days in any of the usual formats: which formats, from when to when, and which days are missing
//! between.
//!
//! Every value that can be a day is read as one, and counted by its format. A text with two
//! readings (`03/04/2024`) goes into both, and the reading that all values of the column have is
//! the right one. All is exact, and merging is the union, bit for bit.
//!
//! The days that came are a bit each, from the first to the last. A column whose days are further
//! apart than there is room for keeps its range, and its gaps are not known.

use super::date_format::{DateFormat, Found, LONGEST, parse, parse_compact};
use crate::codec::{Reader, Writer};
use crate::error::{Error, Result};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::profile::column_profile::Parsed;

/// What is known of the days of a column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dates {
    /// How many days may lie between the first and the last for gaps to be known.
    span: u32,
    /// How many values can be read in each format.
    counts: [u64; DateFormat::ALL.len()],
    /// How many values have slashes, or dashes, and one reading or two.
    either: [u64; 2],
    /// The days of formats with one reading, of those with two by either, and of numbers.
    days: [DaySet; SETS],
    /// Whether a number came that is no day: then numbers are not days.
    has_other_numbers: bool,
}

const SETS: usize = 4;
const SURE: usize = 0;
const DAY_FIRST: usize = 1;
const MONTH_FIRST: usize = 2;
const COMPACT: usize = 3;

/// The days that came.
#[derive(Debug, Clone, PartialEq, Default)]
struct DaySet {
    /// The first and the last; none if there are none.
    range: Option<(i32, i32)>,
    /// A bit for each day from that of the first word on; none if they are too far apart.
    words: Vec<u64>,
    /// The number of the first word.
    first: i32,
    is_too_wide: bool,
}

/// What a column of days has: see [`TableColumn::dates`](crate::profile::TableColumn::dates).
#[derive(Debug, Clone, PartialEq)]
pub struct DateFacts {
    /// The formats with the number of values of each, the most frequent first. Where both readings
    /// of `03/04/2024` fit all values, both are there.
    pub formats: Vec<(DateFormat, u64)>,
    /// How many values are days.
    pub dates: u64,
    /// How many values are not.
    pub others: u64,
    /// The first and the last day, counted from 1970-01-01; none if the values have two readings.
    pub range: Option<(i32, i32)>,
    /// The days between them that no value has; none if the first and the last are too far apart,
    /// or have two readings.
    pub gaps: Option<DateGaps>,
}

/// Days that are missing between the first and the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateGaps {
    /// How many days are missing.
    pub missing: u64,
    /// The first and the last day of the longest stretch of missing days, the earliest of several;
    /// none if no day is missing.
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

    /// Takes a value that came `weight` times.
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

    /// Takes numbers until a finite one is no day.
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

    /// Returns what is known of the days, if nearly all of the `values` are days.
    pub(super) fn facts(&self, values: u64) -> Option<DateFacts> {
        let count_of = |format: DateFormat| self.counts[format as usize];
        let mut formats: Vec<(DateFormat, u64)> = Vec::new();
        let mut sets = vec![&self.days[SURE]];
        let mut dates = 0_u64;
        let mut has_two_readings = false;
        for format in &DateFormat::ALL[..=DateFormat::NameDayYear as usize] {
            let count = count_of(*format);
            // A column of numbers and of other days is none of days: the numbers may be anything.
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
            formats.extend(
                readings
                    .map(|format| (format, count_of(format)))
                    .into_iter()
                    .filter(|(_, fits)| *fits == count),
            );
            match readings.map(|format| count_of(format) == count) {
                [true, false] => sets.push(&self.days[DAY_FIRST]),
                [false, true] => sets.push(&self.days[MONTH_FIRST]),
                _ => has_two_readings = true,
            }
        }
        // Slashes and dashes share the sets of days, so that each must have been read alike.
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

    /// The most memory behind the pointers, for days that lie so far apart.
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

    /// Refuses counts without days, days without counts, and readings that are more than the
    /// values.
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

/// Day first and month first, with dashes or with slashes.
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

    /// Makes room for the days of a range, which holds the present one, or gives up the bits.
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

    /// The days that are missing between the first and the last.
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
        // Years 0 to 9999.
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
