//! Maps the place of a member to its number and back.
//!
//! Members are numbered from 0 in the order of the collection. Places ascend in the same order and
//! have gaps, but nearly always come in runs without a gap. So only the beginning of each run is
//! stored.

use crate::error::{Error, Result};

/// A run of consecutive places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlaceRun {
    /// The place of the first member.
    pub(crate) place: u64,
    /// The number of members.
    pub(crate) members: u32,
}

/// Appends a place. It extends the last run if it is the next place.
pub(crate) fn push_place(runs: &mut Vec<PlaceRun>, place: u64) {
    match runs.last_mut() {
        Some(last)
            if last.place.wrapping_add(u64::from(last.members)) == place && last.members < u32::MAX =>
        {
            last.members += 1;
        }
        _ => runs.push(PlaceRun { place, members: 1 }),
    }
}

/// The places of all members, ascending.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// The place of the first member of each run.
    starts_at: Vec<u64>,
    /// The number of the first member of each run.
    first_members: Vec<u32>,
    members: u32,
}

impl Places {
    /// Collects the places of runs, which must be in ascending order.
    ///
    /// # Errors
    /// If there are more than 2^32 − 1 members.
    pub(crate) fn new(runs: impl Iterator<Item = PlaceRun>) -> Result<Self> {
        let mut all = Self::default();
        for run in runs {
            // A run is split where the parts of two threads meet.
            let continues =
                all.starts_at.last().zip(all.first_members.last()).is_some_and(|(place, number)| {
                    place.wrapping_add(u64::from(all.members - number)) == run.place
                });
            if !continues {
                all.starts_at.push(run.place);
                all.first_members.push(all.members);
            }
            all.members = all.members.checked_add(run.members).ok_or(Error::TooMany)?;
        }
        Ok(all)
    }

    /// Returns the number of members.
    pub(crate) fn len(&self) -> u32 {
        self.members
    }

    /// Returns the number of bytes in memory.
    pub(crate) fn bytes(&self) -> u64 {
        self.starts_at.len() as u64 * 12
    }

    /// Returns the runs, ascending.
    pub(crate) fn runs(&self) -> impl Iterator<Item = PlaceRun> {
        let ends = self.first_members.iter().skip(1).copied().chain([self.members]);
        let starts = self.starts_at.iter().zip(&self.first_members);
        starts.zip(ends).map(|((&place, &number), end)| PlaceRun { place, members: end - number })
    }

    /// Returns the number of the member at a place. `last` is the run of the previous look-up,
    /// which is tried first.
    pub(crate) fn number_near(&self, place: u64, last: &mut usize) -> Option<u32> {
        let in_run = |run: usize| {
            let (start, number) = (*self.starts_at.get(run)?, *self.first_members.get(run)?);
            let end = self.first_members.get(run + 1).copied().unwrap_or(self.members);
            let ahead = u32::try_from(place.checked_sub(start)?).ok()?;
            (ahead < end - number).then(|| number + ahead)
        };
        if let Some(number) = in_run(*last) {
            return Some(number);
        }
        *last = self.starts_at.partition_point(|&start| start <= place).checked_sub(1)?;
        in_run(*last)
    }

    /// Returns the number of the member at a place.
    pub(crate) fn number(&self, place: u64) -> Option<u32> {
        self.number_near(place, &mut usize::MAX.wrapping_sub(1))
    }

    /// Returns the place of a member.
    pub(crate) fn place(&self, number: u32) -> u64 {
        let run = self.first_members.partition_point(|&start| start <= number).saturating_sub(1);
        self.starts_at[run] + u64::from(number - self.first_members[run])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_numbers_lead_to_each_other() {
        let all = [3, 4, 5, 9, 10, 1 << 40, (1 << 40) + 1, u64::MAX];
        let mut runs = Vec::new();
        all.iter().for_each(|&place| push_place(&mut runs, place));
        assert_eq!(runs.len(), 4);
        let places = Places::new(runs.iter().copied()).unwrap();
        assert_eq!(places.runs().collect::<Vec<_>>(), runs);
        let mut last = 0;
        for (&place, number) in all.iter().zip(0..) {
            assert_eq!(places.number(place), Some(number));
            assert_eq!(places.number_near(place, &mut last), Some(number));
            assert_eq!(places.place(number), place);
        }
        for absent in [0, 6, 8, 11, u64::MAX - 1] {
            assert_eq!(places.number(absent), None);
            assert_eq!(places.number_near(absent, &mut last), None);
        }
        assert_eq!(Places::default().number(0), None);
    }
}
